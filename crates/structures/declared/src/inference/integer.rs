//! The argmax as an integer linear program, for comparison and for solvers that are made for it.
//!
//! ```text
//! max Σ θᵢ(l) xᵢₗ + Σ θ_t(j) z_tj     Σₗ xᵢₗ = 1,  xᵢₗ ∈ {0, 1},  Σ over j with label l at i of z_tj = xᵢₗ,  z ≥ 0
//! ```
//!
//! A counter is an inequality of x. A pattern is a flow of 1 from the start of its automaton to an accepting state, one layer for each variable, and the flow along
//! the arcs with label l in layer i is xᵢₗ.

use super::constraint::{Constraint, DEAD, Kind};
use super::program::{Domains, Program};
use super::solve::{NoSolution, Solution};
use good_lp::{
    Expression, ProblemVariables, Solution as _, SolverModel, Variable, constraint, variable,
};

/// The best output by an integer program.
pub(crate) fn solve(
    program: &Program,
    theta: &[f64],
    domains: Option<&Domains>,
) -> Result<Solution, NoSolution> {
    let mut variables = ProblemVariables::new();
    let mut objective = Expression::from(0.0);
    let mut rules = Vec::new();
    let allowed = |part: usize| domains.is_none_or(|domains| domains.allowed[part]);
    let x: Vec<Variable> = (0..program.n_unary())
        .map(|part| {
            let most = if allowed(part) { 1.0 } else { 0.0 };
            variables.add(variable().integer().min(0.0).max(most))
        })
        .collect();
    for (part, &x) in x.iter().enumerate() {
        objective.add_mul(theta[part], x);
    }
    for v in 0..program.n_variables() {
        let sum: Expression = x[program.start(v)..program.start(v + 1)].iter().sum();
        rules.push(constraint::eq(sum, 1.0));
    }
    for table in program.tables() {
        let sizes: Vec<usize> = table.scope.iter().map(|&v| program.n_labels(v as usize)).collect();
        let mut sums: Vec<Vec<Expression>> =
            sizes.iter().map(|&size| vec![Expression::from(0.0); size]).collect();
        for entry in 0..table.len {
            let z = variables.add(variable().min(0.0).max(1.0));
            objective.add_mul(theta[table.start + entry], z);
            let mut rest = entry;
            for (at, &size) in sizes.iter().enumerate().rev() {
                sums[at][rest % size].add_mul(1.0, z);
                rest /= size;
            }
        }
        for (&v, sums) in table.scope.iter().zip(sums) {
            for (label, mut sum) in sums.into_iter().enumerate() {
                sum.add_mul(-1.0, x[program.start(v as usize) + label]);
                rules.push(constraint::eq(sum, 0.0));
            }
        }
    }
    for constraint in program.constraints().iter().filter(|c| !c.scope.is_empty()) {
        add(program, constraint, &x, &mut variables, &mut rules);
    }
    let found = variables.maximise(objective).using(solver).with_all(rules).solve();
    let found = found.map_err(|error| match error {
        good_lp::ResolutionError::Infeasible => NoSolution::Infeasible,
        _ => NoSolution::Limit,
    })?;
    let label = |v: usize| {
        let values: Vec<f64> =
            x[program.start(v)..program.start(v + 1)].iter().map(|&x| found.value(x)).collect();
        super::solve::best(&values).0 as u32
    };
    let labels: Vec<u32> = (0..program.n_variables()).map(label).collect();
    if !program.is_legal(&labels) {
        return Err(NoSolution::Limit);
    }
    let score = program.score(theta, &labels);
    Ok(Solution { labels, score, upper: score })
}

#[cfg(feature = "highs")]
use good_lp::highs as solver;
#[cfg(not(feature = "highs"))]
use good_lp::microlp as solver;

fn add(
    program: &Program,
    rule: &Constraint,
    x: &[Variable],
    variables: &mut ProblemVariables,
    rules: &mut Vec<good_lp::Constraint>,
) {
    let label = |at: usize, label: usize| x[program.start(rule.scope[at] as usize) + label];
    let n_labels = |at: usize| program.n_labels(rule.scope[at] as usize);
    match &rule.kind {
        Kind::Counter(counter) => {
            let mut sum = Expression::from(0.0);
            for at in 0..rule.scope.len() {
                for l in 0..n_labels(at) {
                    sum.add_mul(f64::from(counter.amount(at, l)), label(at, l));
                }
            }
            let (low, high) = counter.bounds();
            if low > i64::MIN {
                rules.push(constraint::geq(sum.clone(), low as f64));
            }
            if high < i64::MAX {
                rules.push(constraint::leq(sum, high as f64));
            }
        }
        Kind::Pattern(_) => {
            // What flows into each state less what flows out of it.
            let mut inflow: Vec<Expression> = vec![Expression::from(0.0); rule.n_states()];
            inflow[rule.start() as usize] = Expression::from(1.0);
            for at in 0..rule.scope.len() {
                let mut next: Vec<Expression> = vec![Expression::from(0.0); rule.n_states()];
                let mut by_label: Vec<Expression> = vec![Expression::from(0.0); n_labels(at)];
                for (state, balance) in inflow.into_iter().enumerate() {
                    let mut balance = balance;
                    for (l, of_label) in by_label.iter_mut().enumerate() {
                        let to = rule.step(at, state as u32, l);
                        if to != DEAD {
                            let flow = variables.add(variable().min(0.0).max(1.0));
                            balance.add_mul(-1.0, flow);
                            of_label.add_mul(1.0, flow);
                            next[to as usize].add_mul(1.0, flow);
                        }
                    }
                    rules.push(constraint::eq(balance, 0.0));
                }
                for (l, mut flow) in by_label.into_iter().enumerate() {
                    flow.add_mul(-1.0, label(at, l));
                    rules.push(constraint::eq(flow, 0.0));
                }
                inflow = next;
            }
            for (state, flow) in inflow.into_iter().enumerate() {
                if !rule.accepts(state as u32) {
                    rules.push(constraint::eq(flow, 0.0));
                }
            }
        }
    }
}
