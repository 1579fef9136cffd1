//! The linear relaxation, and branch and bound on top of it, where the dual ascent stalls.
//!
//! ```text
//! max Σ θᵢ(l) xᵢₗ + Σ θ_t(j) z_tj     Σₗ xᵢₗ = 1,  x, z ≥ 0
//! ```
//!
//! with the tables, counters and patterns as rows, as in the [integer program](super::integer), but over the labels that the search has not removed yet. Coordinate ascent on its dual can
//! stop short of the best bound; the simplex method does not, and for assignments with something beside them its optimum is often whole. What is not is divided by microlp, which keeps one
//! basis from node to node.
//!
//! Labels a of one variable that exclude labels b of another are a row Σₐ x₁ₐ + Σᵦ x₂ᵦ ≤ 1, without columns of their own.

use super::constraint::{Constraint, DEAD, Kind};
use super::dual::{Beliefs, FactorKind, Graph};
use super::search::{Incumbent, SearchLimits};
use microlp::{
    ComparisonOp, Error, OptimizationDirection, Problem, SolutionStatus, SolveOptions,
    SolveOutcome, Variable,
};
use std::time::Instant;

/// More coefficients than this, and the simplex method is no gain.
const MOST_COEFFICIENTS: usize = 30_000;
/// Larger amounts of a sum, and its digits run out.
const LARGEST_AMOUNT: i32 = 100_000;
/// What the simplex method leaves open, as a share of the score.
const TOLERANCE: f64 = 1e-7;

/// What came out.
pub(crate) enum Relaxed {
    /// The best output that was met is in the incumbent, and nothing scores more than this.
    Bound(f64),
    /// No output is legal.
    Infeasible,
    /// The problem is too large, or the numbers were too bad.
    Unknown,
}

/// Looks for something better than `best` within the labels that `node` allows. `max_nodes` counts divisions.
pub(crate) fn solve(
    graph: &Graph<'_>,
    node: &Beliefs,
    limits: &SearchLimits,
    max_nodes: usize,
    best: &mut Incumbent,
) -> Relaxed {
    let is_empty = |v: usize| node.beliefs[graph.labels(v)].iter().all(|&b| b == f64::NEG_INFINITY);
    if (0..graph.n_variables()).any(is_empty) {
        return Relaxed::Bound(best.score);
    }
    let Some(mut lp) = Program::new(graph, node) else { return Relaxed::Unknown };
    for factor in &graph.factors {
        let done = match factor.kind {
            FactorKind::Table(entries) => lp.add_table(graph, &factor.scope, entries),
            FactorKind::Constraint(constraint) => match &constraint.kind {
                Kind::Counter(_) => lp.add_counter(graph, &factor.scope, constraint),
                Kind::Pattern(_) => lp.add_pattern(graph, &factor.scope, constraint),
            },
        };
        match done {
            Added::Row => {}
            Added::Contradiction => return Relaxed::Infeasible,
            Added::TooMuch => return Relaxed::Unknown,
        }
        if lp.n_coefficients > MOST_COEFFICIENTS {
            return Relaxed::Unknown;
        }
    }
    let now = Instant::now();
    let mut options = SolveOptions::default();
    options.node_limit = Some(max_nodes as u64);
    options.time_limit = limits.deadline.map(|deadline| deadline.saturating_duration_since(now));
    if !best.y.is_empty() {
        let start = (0..graph.n_variables()).filter_map(|v| lp.labels[graph.starts[v] + best.y[v]]);
        options.warm_start = Some(start.map(|x| (x, 1.0)).collect());
    }
    let outcome = match lp.problem.solve_with(options) {
        Ok(outcome) => outcome,
        // An output that is there says otherwise.
        Err(Error::Infeasible) if best.y.is_empty() => return Relaxed::Infeasible,
        Err(_) => return Relaxed::Unknown,
    };
    let mut is_whole = false;
    if let SolveOutcome::Solution(solution) = &outcome {
        let label = |v: usize| {
            let of = graph
                .labels(v)
                .map(|part| lp.labels[part].map_or(0.0, |x| solution.var_value_raw(x)));
            super::solve::best(&of.collect::<Vec<f64>>()).0
        };
        let label = |v: usize| lp.fixed[v].unwrap_or_else(|| label(v));
        let y: Vec<usize> = (0..graph.n_variables()).map(label).collect();
        let score = graph.score(&y);
        let told = solution.objective() * lp.scale + lp.constant;
        // An output that is as good as the optimum says: there is nothing better.
        is_whole = solution.status() == SolutionStatus::Optimal
            && score >= told - TOLERANCE * (1.0 + told.abs());
        if score > best.score {
            *best = Incumbent { y, score };
        }
    }
    match outcome.stats().best_bound {
        _ if is_whole => Relaxed::Bound(best.score),
        Some(bound) if bound.is_finite() => {
            let bound = bound * lp.scale + lp.constant;
            Relaxed::Bound(bound + TOLERANCE * (1.0 + bound.abs()))
        }
        _ => Relaxed::Bound(node.bound),
    }
}

enum Added {
    Row,
    Contradiction,
    TooMuch,
}

struct Program {
    problem: Problem,
    /// By label of the graph: its column, if it is allowed and not the only one.
    labels: Vec<Option<Variable>>,
    /// By variable: its label, if only one is left.
    fixed: Vec<Option<usize>>,
    /// Scores are divided by the largest of them.
    scale: f64,
    constant: f64,
    n_coefficients: usize,
}

/// A sum of columns and a constant.
#[derive(Clone, Default)]
struct Sum {
    terms: Vec<(Variable, f64)>,
    constant: f64,
}

impl Program {
    fn new(graph: &Graph<'_>, node: &Beliefs) -> Option<Self> {
        let entries = graph.factors.iter().flat_map(|factor| match factor.kind {
            FactorKind::Table(entries) => entries,
            FactorKind::Constraint(_) => &[],
        });
        let finite = graph.unary.iter().chain(entries).filter(|score| **score > f64::NEG_INFINITY);
        let scale = finite.fold(0.0f64, |most, score| most.max(score.abs()));
        let scale = if scale > 0.0 { scale } else { 1.0 };
        if !(1e-100..1e100).contains(&scale) {
            return None;
        }
        let mut lp = Self {
            problem: Problem::new(OptimizationDirection::Maximize),
            labels: vec![None; graph.unary.len()],
            fixed: vec![None; graph.n_variables()],
            scale,
            constant: 0.0,
            n_coefficients: 0,
        };
        for v in 0..graph.n_variables() {
            let parts = graph.labels(v);
            let allowed = parts.clone().filter(|&part| node.beliefs[part] > f64::NEG_INFINITY);
            let allowed: Vec<usize> = allowed.collect();
            if let [only] = allowed[..] {
                lp.fixed[v] = Some(only - parts.start);
                lp.constant += graph.unary[only];
                continue;
            }
            let mut one = Sum::default();
            for part in allowed {
                let x = lp.problem.add_binary_var(graph.unary[part] / scale);
                lp.labels[part] = Some(x);
                one.terms.push((x, 1.0));
            }
            lp.row(one, ComparisonOp::Eq, 1.0);
        }
        Some(lp)
    }

    /// `false` if the row has no columns and does not hold.
    fn row(&mut self, sum: Sum, compare: ComparisonOp, bound: f64) -> bool {
        let bound = bound - sum.constant;
        if sum.terms.is_empty() {
            return match compare {
                ComparisonOp::Eq => bound == 0.0,
                ComparisonOp::Le => 0.0 <= bound,
                ComparisonOp::Ge => 0.0 >= bound,
            };
        }
        self.n_coefficients += sum.terms.len();
        self.problem.add_constraint(sum.terms, compare, bound);
        true
    }

    /// Adds a multiple of [label], which is a column, 0 or 1.
    fn push(&self, graph: &Graph<'_>, sum: &mut Sum, v: usize, label: usize, factor: f64) {
        match (self.fixed[v], self.labels[graph.starts[v] + label]) {
            (Some(only), _) => sum.constant += if only == label { factor } else { 0.0 },
            (None, Some(x)) => sum.terms.push((x, factor)),
            (None, None) => {}
        }
    }

    fn is_allowed(&self, graph: &Graph<'_>, v: usize, label: usize) -> bool {
        match self.fixed[v] {
            Some(only) => only == label,
            None => self.labels[graph.starts[v] + label].is_some(),
        }
    }

    fn add_counter(
        &mut self,
        graph: &Graph<'_>,
        scope: &[usize],
        constraint: &Constraint,
    ) -> Added {
        let Kind::Counter(counter) = &constraint.kind else { return Added::Row };
        let mut sum = Sum::default();
        for (at, &v) in scope.iter().enumerate() {
            for label in 0..graph.labels(v).len() {
                let amount = counter.amount(at, label);
                if amount.abs() > LARGEST_AMOUNT {
                    return Added::TooMuch;
                }
                if amount != 0 {
                    self.push(graph, &mut sum, v, label, f64::from(amount));
                }
            }
        }
        let (low, high) = counter.bounds();
        let holds = match (low, high) {
            (low, high) if low == high => self.row(sum, ComparisonOp::Eq, low as f64),
            (low, i64::MAX) => self.row(sum, ComparisonOp::Ge, low as f64),
            (i64::MIN, high) => self.row(sum, ComparisonOp::Le, high as f64),
            (low, high) => {
                self.row(sum.clone(), ComparisonOp::Ge, low as f64)
                    && self.row(sum, ComparisonOp::Le, high as f64)
            }
        };
        if holds { Added::Row } else { Added::Contradiction }
    }

    fn add_table(&mut self, graph: &Graph<'_>, scope: &[usize], entries: &[f64]) -> Added {
        let is_hard = entries.iter().all(|&entry| entry == 0.0 || entry == f64::NEG_INFINITY);
        if let ([v, w], true) = (scope, is_hard) {
            return self.add_forbidden(graph, *v, *w, entries);
        }
        let sizes: Vec<usize> = scope.iter().map(|&v| graph.labels(v).len()).collect();
        let mut sums: Vec<Vec<Sum>> = sizes.iter().map(|&n| vec![Sum::default(); n]).collect();
        let mut labels = vec![0; scope.len()];
        for (number, &entry) in entries.iter().enumerate() {
            let mut rest = number;
            for (label, &size) in labels.iter_mut().zip(&sizes).rev() {
                *label = rest % size;
                rest /= size;
            }
            let allowed = scope.iter().zip(&labels).all(|(&v, &l)| self.is_allowed(graph, v, l));
            if entry == f64::NEG_INFINITY || !allowed {
                continue;
            }
            let z = self.problem.add_var(entry / self.scale, (0.0, 1.0));
            self.n_coefficients += scope.len();
            sums.iter_mut().zip(&labels).for_each(|(of, &label)| of[label].terms.push((z, 1.0)));
            if self.n_coefficients > MOST_COEFFICIENTS {
                return Added::TooMuch;
            }
        }
        for (&v, sums) in scope.iter().zip(sums) {
            for (label, mut sum) in sums.into_iter().enumerate() {
                self.push(graph, &mut sum, v, label, -1.0);
                if !self.row(sum, ComparisonOp::Eq, 0.0) {
                    return Added::Contradiction;
                }
            }
        }
        Added::Row
    }

    /// Pairs of labels that exclude each other: rows of labels of which there is at most one, as long as they get.
    fn add_forbidden(&mut self, graph: &Graph<'_>, v: usize, w: usize, entries: &[f64]) -> Added {
        let (k, m) = (graph.labels(v).len(), graph.labels(w).len());
        let never = |a: usize, b: usize| entries[a * m + b] == f64::NEG_INFINITY;
        let allowed = |v: usize, n: usize| -> Vec<usize> {
            (0..n).filter(|&label| self.is_allowed(graph, v, label)).collect()
        };
        let (of_v, of_w) = (allowed(v, k), allowed(w, m));
        // Labels that exclude the same ones share a row.
        let mut cliques: Vec<[Vec<usize>; 2]> = Vec::new();
        let mut add = |side: usize, label: usize, others: Vec<usize>| match cliques
            .iter_mut()
            .find(|clique| clique[1 - side] == others)
        {
            _ if others.is_empty() => {}
            Some(clique) if !clique[side].contains(&label) => clique[side].push(label),
            Some(_) => {}
            None if side == 0 => cliques.push([vec![label], others]),
            None => cliques.push([others, vec![label]]),
        };
        for &a in &of_v {
            add(0, a, of_w.iter().copied().filter(|&b| never(a, b)).collect());
        }
        for &b in &of_w {
            add(1, b, of_v.iter().copied().filter(|&a| never(a, b)).collect());
        }
        let is_within = |a: &[Vec<usize>; 2], b: &[Vec<usize>; 2]| {
            (0..2).all(|side| a[side].iter().all(|label| b[side].contains(label)))
        };
        for (at, clique) in cliques.iter().enumerate() {
            let others = cliques.iter().enumerate().filter(|(other, _)| *other != at);
            let is_more = |(other, of): (usize, &[Vec<usize>; 2])| {
                is_within(clique, of) && (other < at || !is_within(of, clique))
            };
            if others.into_iter().any(is_more) {
                continue;
            }
            let mut sum = Sum::default();
            clique[0].iter().for_each(|&label| self.push(graph, &mut sum, v, label, 1.0));
            clique[1].iter().for_each(|&label| self.push(graph, &mut sum, w, label, 1.0));
            if !self.row(sum, ComparisonOp::Le, 1.0) {
                return Added::Contradiction;
            }
        }
        Added::Row
    }

    /// A flow of 1 through the states, layer by layer.
    fn add_pattern(
        &mut self,
        graph: &Graph<'_>,
        scope: &[usize],
        constraint: &Constraint,
    ) -> Added {
        let mut inflow: Vec<Option<Sum>> = vec![None; constraint.n_states()];
        inflow[constraint.start() as usize] = Some(Sum { terms: Vec::new(), constant: 1.0 });
        for (at, &v) in scope.iter().enumerate() {
            let n_labels = graph.labels(v).len();
            let mut next: Vec<Option<Sum>> = vec![None; constraint.n_states()];
            let mut by_label = vec![Sum::default(); n_labels];
            for (state, balance) in inflow.into_iter().enumerate() {
                let Some(mut balance) = balance else { continue };
                for (label, of_label) in by_label.iter_mut().enumerate() {
                    let to = constraint.step(at, state as u32, label);
                    if to == DEAD || !self.is_allowed(graph, v, label) {
                        continue;
                    }
                    let flow = self.problem.add_var(0.0, (0.0, 1.0));
                    self.n_coefficients += 3;
                    balance.terms.push((flow, -1.0));
                    of_label.terms.push((flow, 1.0));
                    next[to as usize].get_or_insert_default().terms.push((flow, 1.0));
                }
                if !self.row(balance, ComparisonOp::Eq, 0.0) {
                    return Added::Contradiction;
                }
            }
            for (label, mut flow) in by_label.into_iter().enumerate() {
                self.push(graph, &mut flow, v, label, -1.0);
                if !self.row(flow, ComparisonOp::Eq, 0.0) {
                    return Added::Contradiction;
                }
            }
            if self.n_coefficients > MOST_COEFFICIENTS {
                return Added::TooMuch;
            }
            inflow = next;
        }
        for (state, flow) in inflow.into_iter().enumerate() {
            let Some(flow) = flow.filter(|_| !constraint.accepts(state as u32)) else { continue };
            if !self.row(flow, ComparisonOp::Eq, 0.0) {
                return Added::Contradiction;
            }
        }
        Added::Row
    }
}
