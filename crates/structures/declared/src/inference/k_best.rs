//! The k best outputs, and the best output with each label.
//!
//! The outputs without the best one fall into disjoint sets (Lawler 1972): those that have its first i labels and another label at variable i. Each set is a problem with
//! fewer labels, and a bound on its best output is cheap. Sets wait in a queue by their bound, and only those that come to the front are solved.

use super::program::{Domains, Program};
use super::search::SearchLimits;
use super::solve::{NoSolution, Scratch, Solution, SolveOptions, solve};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::rc::Rc;

struct Waiting {
    /// No output of the set scores more.
    bound: f64,
    /// Where it comes from: the outputs of another set without its best one. The first set comes from nowhere.
    origin: Option<(Rc<Solved>, usize)>,
    /// The best output, once it is known.
    solved: Option<Rc<Solved>>,
    number: usize,
}

/// A set with its best output. Its parts are described by one number each, so that memory is linear in the variables.
struct Solved {
    domains: Domains,
    solution: Solution,
    /// Variables before this one have one label.
    n_fixed: usize,
}

impl Solved {
    /// Outputs that agree with the best one before variable `v`, and not there.
    fn part(&self, program: &Program, v: usize) -> Domains {
        let mut domains = self.domains.clone();
        for u in self.n_fixed..v {
            domains.keep_only(program, u, self.solution.labels[u] as usize);
        }
        domains.exclude(program, v, self.solution.labels[v] as usize);
        domains
    }
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
        let solved = |waiting: &Waiting| waiting.solved.is_some();
        let by_bound = self.bound.total_cmp(&other.bound);
        by_bound.then(solved(self).cmp(&solved(other))).then(other.number.cmp(&self.number))
    }
}

/// The `k` best outputs, best first; fewer if there are no more, or if the limit of seconds strikes, which is one for all of them. Exact as far as the single argmaxes are.
pub fn k_best(
    program: &Program,
    theta: &[f64],
    domains: Option<&Domains>,
    k: usize,
    options: &SolveOptions,
    s: &mut Scratch,
) -> Result<Vec<Solution>, NoSolution> {
    let all = domains.cloned().unwrap_or_else(|| Domains::full(program));
    let limits = SearchLimits::new(options.max_nodes, options.seconds);
    let first = solve(program, theta, Some(&all), options, s)?;
    let mut queue = BinaryHeap::new();
    let bound = first.score;
    let first = Rc::new(Solved { domains: all, solution: first, n_fixed: 0 });
    queue.push(Waiting { bound, origin: None, solved: Some(first), number: 0 });
    let mut number = 0;
    let mut found: Vec<Solution> = Vec::new();
    while found.len() < k {
        let Some(waiting) = queue.pop() else { break };
        let Some(solved) = waiting.solved else {
            let Some((origin, v)) = waiting.origin else { continue };
            if limits.is_over(|| true) {
                break;
            }
            let domains = origin.part(program, v);
            match solve(program, theta, Some(&domains), options, s) {
                Ok(solution) => {
                    let bound = solution.score;
                    let solved = Some(Rc::new(Solved { domains, solution, n_fixed: v }));
                    queue.push(Waiting { bound, origin: None, solved, number: waiting.number });
                }
                Err(NoSolution::Infeasible | NoSolution::Limit) => {}
            }
            continue;
        };
        for (v, bound) in bounds_of_parts(program, theta, &solved) {
            number += 1;
            let bound = bound.min(solved.solution.upper);
            let origin = Some((solved.clone(), v));
            queue.push(Waiting { bound, origin, solved: None, number });
        }
        found.push(solved.solution.clone());
    }
    Ok(found)
}

/// For each part of a set that may have outputs its variable, and a bound: labels and tables at their best, each alone.
fn bounds_of_parts(program: &Program, theta: &[f64], solved: &Solved) -> Vec<(usize, f64)> {
    let (n, labels) = (program.n_variables(), &solved.solution.labels);
    let most = |v: usize, without: Option<usize>| {
        let parts = (program.start(v)..program.start(v + 1)).enumerate();
        let allowed = parts.filter(|&(l, part)| solved.domains.allowed[part] && Some(l) != without);
        allowed.map(|(_, part)| theta[part]).fold(f64::NEG_INFINITY, f64::max)
    };
    // What follows each variable, from the last to the first.
    let mut after = vec![best_of_tables(program, theta); n + 1];
    for v in (0..n).rev() {
        after[v] = after[v + 1] + most(v, None);
    }
    let mut before: f64 = (0..solved.n_fixed).map(|v| most(v, None)).sum();
    let mut bounds = Vec::new();
    for v in solved.n_fixed..n {
        let label = labels[v] as usize;
        let other = most(v, Some(label));
        if other > f64::NEG_INFINITY {
            bounds.push((v, before + other + after[v + 1]));
        }
        before += theta[program.start(v) + label];
    }
    bounds
}

fn best_of_tables(program: &Program, theta: &[f64]) -> f64 {
    let of = |table: &super::Table| {
        let entries = &theta[table.start..table.start + table.len];
        entries.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    };
    program.tables().iter().map(of).sum()
}

/// Labels and tables at their best, each alone.
pub(crate) fn loose_bound(program: &Program, theta: &[f64], domains: &Domains) -> f64 {
    let of_variable = |v: usize| {
        let parts = program.start(v)..program.start(v + 1);
        let allowed = parts.filter(|&part| domains.allowed[part]);
        allowed.map(|part| theta[part]).fold(f64::NEG_INFINITY, f64::max)
    };
    (0..program.n_variables()).map(of_variable).sum::<f64>() + best_of_tables(program, theta)
}

/// For each label of each variable the score of the best output that has it, or a bound above it where a limit struck; −∞ where there is none. How far the second label is
/// below the best one says how sure the answer is. The limit of seconds is one for all labels: those that it leaves out may be as good as the best.
pub fn max_marginals(
    program: &Program,
    theta: &[f64],
    domains: Option<&Domains>,
    options: &SolveOptions,
    s: &mut Scratch,
) -> Result<Vec<f64>, NoSolution> {
    let all = domains.cloned().unwrap_or_else(|| Domains::full(program));
    let limits = SearchLimits::new(options.max_nodes, options.seconds);
    let best = solve(program, theta, Some(&all), options, s)?;
    let mut marginals = vec![f64::NEG_INFINITY; program.n_unary()];
    for v in 0..program.n_variables() {
        for label in 0..program.n_labels(v) {
            let part = program.start(v) + label;
            let is_best = best.labels[v] as usize == label;
            // Without time left nothing is known of the others: they may be as good.
            if is_best || (all.allowed[part] && limits.is_over(|| true)) {
                marginals[part] = best.score;
            } else if all.allowed[part] {
                let mut forced = all.clone();
                forced.keep_only(program, v, label);
                marginals[part] = match solve(program, theta, Some(&forced), options, s) {
                    Ok(solution) => solution.upper,
                    Err(NoSolution::Infeasible) => f64::NEG_INFINITY,
                    Err(NoSolution::Limit) => best.score,
                };
            }
        }
    }
    Ok(marginals)
}
