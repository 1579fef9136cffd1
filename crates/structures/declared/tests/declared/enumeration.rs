//! Argmax, k best, forced labels, bounds and conflicts of thousands of random problems, against all their outputs.

use crate::common::{below, enumerate};
use lineal_declared::inference::{
    Constraint, Counter, DEAD, Dfa, Domains, Kind, Method, NoSolution, Program, Scratch,
    SolveOptions, conflict, k_best, max_marginals, solve,
};
use lineal_linalg::Rng;
use std::sync::Arc;

/// Some distinct variables, in a random order.
fn scope(rng: &mut Rng, n: usize, most: usize) -> Vec<u32> {
    let mut all: Vec<u32> = (0..n as u32).collect();
    let len = 1 + below(rng, most.min(n));
    for i in 0..len {
        let j = i + below(rng, n - i);
        all.swap(i, j);
    }
    all.truncate(len);
    all
}

/// Up to six variables of up to four labels, tables, clauses, counts, inequalities and patterns.
fn random_program(rng: &mut Rng) -> (Program, Vec<f64>) {
    let n = 1 + below(rng, 6);
    let same = 2 + below(rng, 2) as u32;
    let sizes: Vec<u32> =
        (0..n).map(|_| if below(rng, 3) == 0 { 1 + below(rng, 4) as u32 } else { same }).collect();
    let scopes: Vec<Vec<u32>> = (0..below(rng, 5)).map(|_| scope(rng, n, 3)).collect();
    let mut constraints = Vec::new();
    for rule in 0..below(rng, 6) {
        let mut scope = scope(rng, n, n);
        let kind = match below(rng, 3) {
            0 => {
                let holds: Vec<Vec<bool>> = scope
                    .iter()
                    .map(|&v| (0..sizes[v as usize]).map(|_| below(rng, 3) == 0).collect())
                    .collect();
                Kind::Counter(Counter::clause(&holds))
            }
            1 => {
                let amount = |rng: &mut Rng, sign: bool| below(rng, 3) as i32 - i32::from(sign);
                let sign = below(rng, 2) == 0;
                let amounts: Vec<Vec<i32>> = scope
                    .iter()
                    .map(|&v| (0..sizes[v as usize]).map(|_| amount(rng, sign)).collect())
                    .collect();
                let k = below(rng, 4) as i64 - 1;
                let (low, high) = [(k, i64::MAX), (i64::MIN, k), (k, k), (k, k + 1)][below(rng, 4)];
                Kind::Counter(Counter::new(&amounts, low, high))
            }
            _ => {
                let n_labels = sizes.iter().copied().max().unwrap_or(1) as usize;
                let n_states = 1 + below(rng, 3);
                let next = (0..n_states * n_labels)
                    .map(|_| if below(rng, 4) == 0 { DEAD } else { below(rng, n_states) as u32 })
                    .collect();
                let accepting = (0..n_states).map(|_| below(rng, 2) == 0).collect();
                if below(rng, 2) == 0 {
                    scope.sort_unstable();
                }
                Kind::Pattern(Arc::new(Dfa { n_labels, start: 0, next, accepting }))
            }
        };
        constraints.push(Constraint { rule, scope, kind });
    }
    let program = Program::new(sizes, scopes, constraints);
    let theta = (0..program.n_parts()).map(|_| 4.0 * rng.unit() - 2.0).collect();
    (program, theta)
}

fn random_domains(rng: &mut Rng, program: &Program) -> Domains {
    let mut domains = Domains::full(program);
    for v in 0..program.n_variables() {
        for label in 0..program.n_labels(v) {
            if below(rng, 8) == 0 {
                domains.exclude(program, v, label);
            }
        }
    }
    domains
}

#[test]
fn argmaxes_are_those_of_enumeration() {
    let mut rng = Rng::new(1);
    let mut s = Scratch::default();
    let (mut n_infeasible, mut n_feasible) = (0, 0);
    for round in 0..6000 {
        let (program, theta) = random_program(&mut rng);
        let domains = if round % 2 == 0 {
            Domains::full(&program)
        } else {
            random_domains(&mut rng, &program)
        };
        let all = enumerate(&program, &theta, &domains);
        for method in [Method::Auto, Method::Search] {
            let options = SolveOptions { method, ..SolveOptions::default() };
            let found = solve(&program, &theta, Some(&domains), &options, &mut s);
            match all.first() {
                None => assert_eq!(found, Err(NoSolution::Infeasible), "{round} {method:?}"),
                Some((_, best)) => {
                    let found = found.unwrap();
                    assert!(program.is_legal(&found.labels), "{round} {method:?}");
                    assert!(
                        (found.score - best).abs() < 1e-7,
                        "{round} {method:?} {found:?} {best}"
                    );
                    assert!(found.upper >= best - 1e-9, "{round} {method:?} {found:?} {best}");
                }
            }
        }
        if all.is_empty() { n_infeasible += 1 } else { n_feasible += 1 }
    }
    assert!(n_infeasible > 500 && n_feasible > 2000, "{n_infeasible} {n_feasible}");
}

#[test]
fn integer_programs_agree() {
    let mut rng = Rng::new(2);
    let mut s = Scratch::default();
    let options = SolveOptions { method: Method::Integer, ..SolveOptions::default() };
    for round in 0..300 {
        let (program, theta) = random_program(&mut rng);
        let domains = Domains::full(&program);
        let all = enumerate(&program, &theta, &domains);
        let found = solve(&program, &theta, None, &options, &mut s);
        match all.first() {
            None => assert_eq!(found, Err(NoSolution::Infeasible), "{round}"),
            Some((_, best)) => assert!((found.unwrap().score - best).abs() < 1e-6, "{round}"),
        }
    }
}

#[test]
fn the_k_best_and_forced_labels_are_those_of_enumeration() {
    let mut rng = Rng::new(3);
    let mut s = Scratch::default();
    let options = SolveOptions::default();
    for round in 0..1500 {
        let (program, theta) = random_program(&mut rng);
        let domains = random_domains(&mut rng, &program);
        let all = enumerate(&program, &theta, &domains);
        let found = k_best(&program, &theta, Some(&domains), 7, &options, &mut s);
        let marginals = max_marginals(&program, &theta, Some(&domains), &options, &mut s);
        let (Ok(found), Ok(marginals)) = (found, marginals) else {
            assert!(all.is_empty(), "{round}");
            continue;
        };
        assert_eq!(found.len(), all.len().min(7), "{round}");
        for (found, (_, score)) in found.iter().zip(&all) {
            assert!((found.score - score).abs() < 1e-7, "{round}");
        }
        for (at, one) in found.iter().enumerate() {
            assert!(found[..at].iter().all(|other| other.labels != one.labels), "{round}");
        }
        for v in 0..program.n_variables() {
            for label in 0..program.n_labels(v) {
                let best = all.iter().find(|(labels, _)| labels[v] as usize == label);
                let best = best.map_or(f64::NEG_INFINITY, |one| one.1);
                let found = marginals[program.start(v) + label];
                assert!(found == best || (found - best).abs() < 1e-7, "{round} {found} {best}");
            }
        }
    }
}

#[test]
fn conflicts_are_smallest() {
    let mut rng = Rng::new(4);
    let options = SolveOptions::default();
    let mut n_conflicts = 0;
    for round in 0..1500 {
        let (program, theta) = random_program(&mut rng);
        let domains = random_domains(&mut rng, &program);
        let is_impossible = |rules: &[usize]| {
            let some = program.with_constraints(&|c| rules.contains(&c.rule));
            enumerate(&some, &theta, &domains).is_empty()
        };
        let n_rules = program.constraints().len();
        let every: Vec<usize> = (0..n_rules).collect();
        let found = conflict(&program, Some(&domains), &options);
        assert_eq!(found.is_some(), is_impossible(&every), "{round}");
        let Some(found) = found else { continue };
        assert!(is_impossible(&found), "{round}");
        for set in 0..1usize << n_rules {
            let rules: Vec<usize> = every.iter().copied().filter(|r| set >> r & 1 == 1).collect();
            assert!(
                rules.len() >= found.len() || !is_impossible(&rules),
                "{round} {found:?} {rules:?}"
            );
        }
        n_conflicts += 1;
    }
    assert!(n_conflicts > 200);
}

/// A dense graph with a parity rule, on which one node does not suffice.
fn hard_program(seed: u64) -> (Program, Vec<f64>) {
    let mut rng = Rng::new(seed);
    let n = 9;
    let scopes = (0..n).flat_map(|i| (0..i).map(move |j| vec![j, i])).collect();
    let even = Dfa { n_labels: 2, start: 0, next: vec![0, 1, 1, 0], accepting: vec![true, false] };
    let scope = (0..n).collect();
    let parity = Constraint { rule: 0, scope, kind: Kind::Pattern(Arc::new(even)) };
    let program = Program::new(vec![2; n as usize], scopes, vec![parity]);
    let theta = (0..program.n_parts()).map(|_| 2.0 * rng.unit() - 1.0).collect();
    (program, theta)
}

#[test]
fn a_limit_leaves_a_legal_output_and_a_true_bound() {
    let mut s = Scratch::default();
    let mut n_open = 0;
    for seed in 0..40 {
        let (program, theta) = hard_program(seed);
        let all = enumerate(&program, &theta, &Domains::full(&program));
        for (max_nodes, seconds) in [(1, None), (3, None), (1_000_000, Some(0.0))] {
            let options = SolveOptions { method: Method::Search, max_nodes, seconds };
            let found = solve(&program, &theta, None, &options, &mut s).unwrap();
            assert!(program.is_legal(&found.labels));
            assert!(
                found.score <= all[0].1 + 1e-9 && found.upper >= all[0].1 - 1e-9,
                "{found:?} {}",
                all[0].1
            );
            n_open += usize::from(found.upper > found.score + 1e-6);
        }
        let options = SolveOptions { method: Method::Search, ..SolveOptions::default() };
        let found = solve(&program, &theta, None, &options, &mut s).unwrap();
        assert!(
            (found.score - all[0].1).abs() < 1e-9 && found.upper - found.score < 1e-9,
            "{seed} {found:?}"
        );
    }
    assert!(n_open > 10, "{n_open}");
}
