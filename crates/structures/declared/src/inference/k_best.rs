//! The k best outputs, and the best output with each label.
//!
//! The outputs without the best one fall into disjoint sets (Lawler 1972): those that have its first i labels and another label at variable i. Each set is a problem with
//! fewer labels, and a bound on its best output is cheap. Sets wait in a queue by their bound, and only those that come to the front are solved.

use super::program::{Domains, Program};
use super::solve::{NoSolution, Scratch, Solution, SolveOptions, solve};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

struct Waiting {
    /// No output of the set scores more.
    bound: f64,
    /// The best output, once it is known.
    solution: Option<Solution>,
    domains: Domains,
    /// Variables before this one have one label.
    n_fixed: usize,
    number: usize,
}

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Waiting {}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        // Solved sets come first among equals, then older ones.
        let solved = |waiting: &Waiting| waiting.solution.is_some();
        let by_bound = self.bound.total_cmp(&other.bound);
        by_bound.then(solved(self).cmp(&solved(other))).then(other.number.cmp(&self.number))
    }
}

/// The `k` best outputs, best first; fewer if there are no more. Exact as far as the single argmaxes are.
pub fn k_best(
    program: &Program,
    theta: &[f64],
    domains: Option<&Domains>,
    k: usize,
    options: &SolveOptions,
    s: &mut Scratch,
) -> Result<Vec<Solution>, NoSolution> {
    let all = domains.cloned().unwrap_or_else(|| Domains::full(program));
    let first = solve(program, theta, Some(&all), options, s)?;
    let mut queue = BinaryHeap::new();
    queue.push(Waiting {
        bound: first.score,
        solution: Some(first),
        domains: all,
        n_fixed: 0,
        number: 0,
    });
    let mut number = 0;
    let mut found: Vec<Solution> = Vec::new();
    while found.len() < k {
        let Some(mut waiting) = queue.pop() else { break };
        let Some(solution) = waiting.solution.take() else {
            match solve(program, theta, Some(&waiting.domains), options, s) {
                Ok(solution) => {
                    waiting.bound = solution.score;
                    waiting.solution = Some(solution);
                    queue.push(waiting);
                }
                Err(NoSolution::Infeasible | NoSolution::Limit) => {}
            }
            continue;
        };
        let mut prefix = waiting.domains.clone();
        for v in waiting.n_fixed..program.n_variables() {
            let label = solution.labels[v] as usize;
            let mut others = prefix.clone();
            others.exclude(program, v, label);
            let bound = loose_bound(program, theta, &others).min(solution.upper);
            if bound > f64::NEG_INFINITY {
                number += 1;
                queue.push(Waiting { bound, solution: None, domains: others, n_fixed: v, number });
            }
            prefix.keep_only(program, v, label);
        }
        found.push(solution);
    }
    Ok(found)
}

/// Labels and tables at their best, each alone.
pub(crate) fn loose_bound(program: &Program, theta: &[f64], domains: &Domains) -> f64 {
    let of_variable = |v: usize| {
        let parts = program.start(v)..program.start(v + 1);
        let allowed = parts.filter(|&part| domains.allowed[part]);
        allowed.map(|part| theta[part]).fold(f64::NEG_INFINITY, f64::max)
    };
    let of_table = |table: &super::Table| {
        theta[table.start..table.start + table.len]
            .iter()
            .copied()
            .fold(f64::NEG_INFINITY, f64::max)
    };
    (0..program.n_variables()).map(of_variable).sum::<f64>()
        + program.tables().iter().map(of_table).sum::<f64>()
}

/// For each label of each variable the score of the best output that has it, or a bound above it where a limit struck; −∞ where there is none. How far the second label is
/// below the best one says how sure the answer is.
pub fn max_marginals(
    program: &Program,
    theta: &[f64],
    domains: Option<&Domains>,
    options: &SolveOptions,
    s: &mut Scratch,
) -> Result<Vec<f64>, NoSolution> {
    let all = domains.cloned().unwrap_or_else(|| Domains::full(program));
    let best = solve(program, theta, Some(&all), options, s)?;
    let mut marginals = vec![f64::NEG_INFINITY; program.n_unary()];
    for v in 0..program.n_variables() {
        for label in 0..program.n_labels(v) {
            let part = program.start(v) + label;
            if best.labels[v] as usize == label {
                marginals[part] = best.score;
            } else if all.allowed[part] {
                let mut forced = all.clone();
                forced.keep_only(program, v, label);
                marginals[part] = match solve(program, theta, Some(&forced), options, s) {
                    Ok(solution) => solution.upper,
                    Err(NoSolution::Infeasible) => f64::NEG_INFINITY,
                    // Nothing is known of it: it may be as good.
                    Err(NoSolution::Limit) => best.score,
                };
            }
        }
    }
    Ok(marginals)
}
