//! Problems of many counts: assignments against the Hungarian algorithm and enumeration, sudokus against an integer program.

use crate::common::{below, enumerate};
use lineal_declared::inference::{
    Constraint, Counter, Domains, Kind, Method, NoSolution, Program, Scratch, SolveOptions, k_best,
    solve,
};
use lineal_linalg::Rng;
use lineal_model::assignment::assign;

/// `low` ≤ how many of these variables have this label ≤ `high`.
fn count(sizes: &[u32], scope: Vec<u32>, label: u32, low: i64, high: i64) -> Constraint {
    let amounts: Vec<Vec<i32>> = scope
        .iter()
        .map(|&v| (0..sizes[v as usize]).map(|l| i32::from(l == label)).collect())
        .collect();
    Constraint { rule: 0, scope, kind: Kind::Counter(Counter::new(&amounts, low, high)) }
}

/// n people with n jobs as labels, or n² pairs that are there or not.
fn jobs(n: u32, by_pairs: bool) -> Program {
    let mut constraints = Vec::new();
    if !by_pairs {
        let sizes = vec![n; n as usize];
        for job in 0..n {
            constraints.push(count(&sizes, (0..n).collect(), job, 1, 1));
        }
        return Program::new(sizes, Vec::new(), constraints);
    }
    let sizes = vec![2; (n * n) as usize];
    for i in 0..n {
        constraints.push(count(&sizes, (0..n).map(|j| i * n + j).collect(), 1, 1, 1));
        constraints.push(count(&sizes, (0..n).map(|j| j * n + i).collect(), 1, 1, 1));
    }
    Program::new(sizes, Vec::new(), constraints)
}

#[test]
fn people_and_jobs_are_those_of_the_hungarian_algorithm() {
    let mut rng = Rng::new(1);
    let mut s = Scratch::default();
    for n in [1u32, 2, 3, 5, 12, 30] {
        let size = n as usize;
        let values: Vec<f64> = (0..size * size).map(|_| 4.0 * rng.unit() - 2.0).collect();
        let value = |person: usize, job: usize| values[person * size + job];
        let best: f64 =
            assign(size, &value).iter().zip(0..).map(|(&p, job)| value(p as usize, job)).sum();
        for by_pairs in [false, true] {
            let program = jobs(n, by_pairs);
            let theta: Vec<f64> = match by_pairs {
                true => values.iter().flat_map(|&value| [0.0, value]).collect(),
                false => values.clone(),
            };
            let found = solve(&program, &theta, None, &SolveOptions::default(), &mut s).unwrap();
            assert!((found.score - best).abs() < 1e-9, "{n} {by_pairs} {} {best}", found.score);
            assert!(program.is_legal(&found.labels) && found.upper == found.score);
        }
    }
}

/// Variables and pairs with capacities, some of which nothing fulfils.
fn random_network(rng: &mut Rng) -> Program {
    let (people, jobs) = (1 + below(rng, 4) as u32, 1 + below(rng, 3) as u32);
    let bounds = |rng: &mut Rng| {
        let low = below(rng, 3) as i64;
        [(low, low), (low, i64::MAX), (i64::MIN, low), (low, low + 1)][below(rng, 4)]
    };
    let mut constraints = Vec::new();
    let by_pairs = below(rng, 2) == 0;
    let sizes = match by_pairs {
        true => vec![2; (people * jobs) as usize],
        // One more label than is counted, and variables of different sizes.
        false => (0..people + 2).map(|_| jobs + below(rng, 2) as u32).collect::<Vec<u32>>(),
    };
    for job in 0..jobs {
        let scope: Vec<u32> = match by_pairs {
            true => (0..people).map(|i| i * jobs + job).collect(),
            false => (0..sizes.len() as u32).collect(),
        };
        let (low, high) = bounds(rng);
        let label = if by_pairs { 1 } else { job };
        constraints.push(count(&sizes, scope, label, low, high));
    }
    if by_pairs {
        for i in 0..people {
            let (low, high) = bounds(rng);
            constraints.push(count(
                &sizes,
                (0..jobs).map(|j| i * jobs + j).collect(),
                1,
                low,
                high,
            ));
        }
    }
    Program::new(sizes, Vec::new(), constraints)
}

#[test]
fn capacities_are_those_of_enumeration() {
    let mut rng = Rng::new(2);
    let mut s = Scratch::default();
    let options = SolveOptions::default();
    let mut n_found = 0;
    for round in 0..2000 {
        let program = random_network(&mut rng);
        let theta: Vec<f64> = (0..program.n_parts()).map(|_| 4.0 * rng.unit() - 2.0).collect();
        let mut domains = Domains::full(&program);
        for v in 0..program.n_variables() {
            if below(&mut rng, 6) == 0 {
                domains.exclude(&program, v, below(&mut rng, program.n_labels(v)));
            }
        }
        let all = enumerate(&program, &theta, &domains);
        match (all.first(), k_best(&program, &theta, Some(&domains), 4, &options, &mut s)) {
            (None, found) => assert_eq!(found, Err(NoSolution::Infeasible), "{round}"),
            (Some(_), found) => {
                let found = found.unwrap();
                assert_eq!(found.len(), all.len().min(4), "{round}");
                for (found, (_, best)) in found.iter().zip(&all) {
                    assert!((found.score - best).abs() < 1e-9, "{round} {found:?} {best}");
                }
                n_found += 1;
            }
        }
    }
    assert!(n_found > 500, "{n_found}");
}

/// Rows, columns and boxes of side² cells.
fn sudoku(side: u32) -> Program {
    let n = side * side;
    let sizes = vec![n; (n * n) as usize];
    let mut constraints = Vec::new();
    for i in 0..n {
        let (top, left) = (i / side * side, i % side * side);
        for scope in [
            (0..n).map(|j| i * n + j).collect::<Vec<u32>>(),
            (0..n).map(|j| j * n + i).collect(),
            (0..n).map(|j| (top + j / side) * n + left + j % side).collect(),
        ] {
            constraints.extend((0..n).map(|label| count(&sizes, scope.clone(), label, 1, 1)));
        }
    }
    Program::new(sizes, Vec::new(), constraints)
}

#[test]
fn sudokus_are_solved() {
    let program = sudoku(3);
    let mut rng = Rng::new(3);
    let mut s = Scratch::default();
    // Shifted rows are a solution; some of its cells are given.
    let solution = |cell: usize| (cell / 9 * 3 + cell / 27 + cell % 9) % 9;
    for n_given in [45, 30] {
        let mut domains = Domains::full(&program);
        for _ in 0..n_given {
            let cell = below(&mut rng, 81);
            domains.keep_only(&program, cell, solution(cell));
        }
        let theta: Vec<f64> = (0..program.n_parts()).map(|_| rng.unit()).collect();
        let found =
            solve(&program, &theta, Some(&domains), &SolveOptions::default(), &mut s).unwrap();
        assert!(program.is_legal(&found.labels) && found.upper == found.score);
        let options = SolveOptions { method: Method::Integer, ..SolveOptions::default() };
        let best = solve(&program, &theta, Some(&domains), &options, &mut s).unwrap();
        assert!((found.score - best.score).abs() < 1e-6, "{} {}", found.score, best.score);
    }
}

#[test]
fn a_small_sudoku_without_hints_is_that_of_an_integer_program() {
    let program = sudoku(2);
    let mut rng = Rng::new(4);
    let mut s = Scratch::default();
    for _ in 0..10 {
        let theta: Vec<f64> = (0..program.n_parts()).map(|_| rng.unit()).collect();
        let found = solve(&program, &theta, None, &SolveOptions::default(), &mut s).unwrap();
        let options = SolveOptions { method: Method::Integer, ..SolveOptions::default() };
        let best = solve(&program, &theta, None, &options, &mut s).unwrap();
        assert!((found.score - best.score).abs() < 1e-6, "{} {}", found.score, best.score);
    }
}
