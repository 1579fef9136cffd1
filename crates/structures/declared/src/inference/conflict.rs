//! Which rules contradict each other.
//!
//! Rules are left out one after the other as long as what is left stays impossible (the deletion filter, Chinneck and Dravnieks 1991): the rest is irreducible, for without
//! any one of its rules there is an output. Where that is affordable smaller sets are tried as well, so that the answer is a smallest one.

use super::program::{Domains, Program};
use super::solve::{NoSolution, Scratch, SolveOptions, solve};

/// At most this many smaller sets are tried.
const MOST_SETS: usize = 400;

/// The numbers of rules, in order, that no output within the allowed labels can keep together, or `None` if there is an output (or the search for one was cut off). Nothing is in the
/// list if the allowed labels alone are impossible. The rules are irreducible; they are as few as possible where few sets had to be tried.
pub fn conflict(
    program: &Program,
    domains: Option<&Domains>,
    options: &SolveOptions,
) -> Option<Vec<usize>> {
    let mut rules: Vec<usize> = program.constraints().iter().map(|c| c.rule).collect();
    rules.sort_unstable();
    rules.dedup();
    let mut s = Scratch::default();
    let theta = vec![0.0; program.n_parts()];
    let mut is_impossible = |rules: &[usize]| {
        let some = program.with_constraints(&|c| rules.contains(&c.rule));
        solve(&some, &theta, domains, options, &mut s) == Err(NoSolution::Infeasible)
    };
    if !is_impossible(&rules) {
        return None;
    }
    let every = rules.clone();
    for &rule in &every {
        let fewer: Vec<usize> = rules.iter().copied().filter(|&other| other != rule).collect();
        if is_impossible(&fewer) {
            rules = fewer;
        }
    }
    let mut n_sets = 0;
    for size in 0..rules.len() {
        n_sets += choose(every.len(), size);
        if n_sets > MOST_SETS {
            break;
        }
        let mut places: Vec<usize> = (0..size).collect();
        loop {
            let set: Vec<usize> = places.iter().map(|&at| every[at]).collect();
            if is_impossible(&set) {
                return Some(set);
            }
            let last = (0..size).rev().find(|&i| places[i] < every.len() - size + i);
            let Some(i) = last else { break };
            places[i] += 1;
            for j in i + 1..size {
                places[j] = places[j - 1] + 1;
            }
        }
    }
    Some(rules)
}

fn choose(n: usize, k: usize) -> usize {
    (0..k).fold(1usize, |product, i| product.saturating_mul(n - i) / (i + 1))
}
