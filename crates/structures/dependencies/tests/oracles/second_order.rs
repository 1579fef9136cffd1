//! Projective trees of second order.

use crate::enumeration::{Problem, Truth, assert_close, differences, problems, random, sparse};
use lineal_dependencies::{Arcs, Projective, SecondOrder, SecondOrderProjective, tree};
use lineal_linalg::{Rng, Scalar};
use proptest::prelude::*;

/// The parts of a tree, found by looking at all parts.
fn parts_of(parts: &SecondOrder, heads: &[u32]) -> Vec<usize> {
    let arcs = parts.arcs();
    let has = |arc: usize| heads[arcs.modifier(arc) - 1] == arcs.head(arc) as u32;
    (0..parts.len())
        .filter(|&part| {
            if part < arcs.len() {
                return has(part);
            }
            if parts.all_grandparents().contains(&part) {
                let arc =
                    (0..arcs.len()).find(|&arc| parts.grandparents(arc).contains(&part)).unwrap();
                return has(arc) && has(parts.upper(part));
            }
            let outer = parts.outer(part);
            let (head, modifier) = (arcs.head(outer), arcs.modifier(outer));
            let side: Vec<usize> = (head.min(modifier) + 1..head.max(modifier))
                .filter(|&word| heads[word - 1] == head as u32)
                .collect();
            let nearest = if head < modifier { side.last() } else { side.first() };
            has(outer) && parts.inner(part).map(|inner| arcs.modifier(inner)) == nearest.copied()
        })
        .collect()
}

/// An oracle whose buffers are full of another sentence.
fn used<F: Scalar>() -> SecondOrderProjective<F> {
    let mut oracle = SecondOrderProjective::default();
    let parts = build(&Arcs::full(7, false));
    let theta = random(parts.len(), 100.0, 1);
    oracle.max(&parts, &theta, &mut Vec::new()).unwrap();
    oracle.expect(&parts, &theta, &mut vec![F::ZERO; parts.len()]).unwrap();
    oracle.k_best(&parts, &theta, 3).unwrap();
    oracle
}

fn build(arcs: &Arcs) -> SecondOrder {
    let mut parts = SecondOrder::default();
    parts.build(&Arcs::full(4, false));
    parts.build(arcs);
    parts
}

fn check<F: Scalar>(problem: &Problem) {
    let parts = build(&problem.arcs);
    let theta: Vec<F> = problem.scores(parts.len());
    let (mut oracle, mut heads) = (used(), vec![9]);
    let mut mu = vec![F::ONE; parts.len()];
    match oracle.max(&parts, &theta, &mut heads) {
        Ok(score) => {
            let truth = Truth::new(problem, |tree| parts.score(&theta, tree));
            truth.check_max(&heads, score);
            for k in [1, 7, 20_000] {
                truth.check_k_best(&oracle.k_best(&parts, &theta, k).unwrap(), k);
            }
            let log_partition = oracle.expect(&parts, &theta, &mut mu).unwrap();
            assert_eq!(oracle.log_partition(&parts, &theta), Ok(log_partition));
            if size_of::<F>() == size_of::<f64>() {
                let mu: Vec<f64> = mu.iter().map(|mu| mu.to_f64()).collect();
                truth.check_sums(log_partition, &mu, |tree| parts_of(&parts, tree));
            }
        }
        Err(infeasible) => {
            problem.check_infeasible(infeasible.at);
            assert_eq!(oracle.log_partition(&parts, &theta), Err(infeasible));
            assert_eq!(oracle.expect(&parts, &theta, &mut mu), Err(infeasible));
            assert_eq!(oracle.k_best(&parts, &theta, 2), Err(infeasible));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn parts_of_trees(problem in problems(true, 5)) {
        let parts = build(&problem.arcs);
        for heads in problem.trees() {
            let mut found = Vec::new();
            prop_assert!(parts.each_part(&heads, |part| found.push(part)));
            found.sort_unstable();
            prop_assert_eq!(found, parts_of(&parts, &heads));
        }
    }

    #[test]
    fn against_enumeration(problem in problems(true, 6)) {
        check::<f64>(&problem);
        check::<f32>(&problem);
    }

    #[test]
    fn samples(problem in problems(true, 4)) {
        let parts = build(&problem.arcs);
        let theta: Vec<f64> = random(parts.len(), 1.0, 5);
        let mut oracle = used();
        if let Ok(log_partition) = oracle.log_partition(&parts, &theta) {
            let samples = oracle.samples(&parts, &theta, 500, &mut Rng::new(3)).unwrap();
            let truth = Truth::new(&problem, |tree| parts.score(&theta, tree));
            truth.check_samples(log_partition, &samples);
        }
    }
}

#[test]
fn first_order_if_other_parts_score_nothing() {
    for arcs in [Arcs::full(15, true), Arcs::full(10, false), sparse(40, 8, 3)] {
        let parts = build(&arcs);
        let mut theta: Vec<f64> = random(parts.len(), 2.0, 6);
        theta[arcs.len()..].fill(0.0);
        let (mut second, mut first) = (SecondOrderProjective::default(), Projective::default());
        let (mut heads, mut expected) = (Vec::new(), Vec::new());
        second.max(&parts, &theta, &mut heads).unwrap();
        first.max(&arcs, &theta[..arcs.len()], &mut expected).unwrap();
        assert_eq!(heads, expected);
        let (mut mu, mut of_arcs) = (vec![0.0; parts.len()], vec![0.0; arcs.len()]);
        let log_partition = second.expect(&parts, &theta, &mut mu).unwrap();
        let expected = first.expect(&arcs, &theta[..arcs.len()], &mut of_arcs).unwrap();
        assert!((log_partition - expected).abs() < 1e-9);
        assert_close(&mu[..arcs.len()], &of_arcs, 1e-9);
    }
}

/// More trees than f64 has numbers.
#[test]
fn sums_of_very_long_sentences() {
    let n = 700;
    let mut arcs = Arcs::default();
    arcs.reset(n, true);
    for modifier in 1..=n as u32 {
        for head in modifier.saturating_sub(4)..=(modifier + 4).min(n as u32) {
            if head != modifier {
                arcs.push(head, modifier);
            }
        }
    }
    let parts = build(&arcs);
    let (mut mu, mut of_arcs) = (vec![0.0; parts.len()], vec![0.0; arcs.len()]);
    let log_partition =
        SecondOrderProjective::default().expect(&parts, &vec![0.0; parts.len()], &mut mu).unwrap();
    let expected =
        Projective::default().expect(&arcs, &vec![0.0; arcs.len()], &mut of_arcs).unwrap();
    assert!(log_partition > f64::MAX.ln());
    assert!((log_partition - expected).abs() < 1e-7);
    assert_close(&mu[..arcs.len()], &of_arcs, 1e-9);
}

#[test]
fn marginals_are_the_gradient() {
    for arcs in [Arcs::full(7, true), Arcs::full(6, false), sparse(20, 5, 2)] {
        let parts = build(&arcs);
        let theta = random(parts.len(), 3.0, 4);
        let mut oracle = SecondOrderProjective::default();
        let mut mu = vec![0.0; parts.len()];
        oracle.expect(&parts, &theta, &mut mu).unwrap();
        let gradient = differences(&theta, |theta| oracle.log_partition(&parts, theta).unwrap());
        assert_close(&mu, &gradient, 1e-8);
    }
}

fn extreme<F: Scalar>() {
    let parts = build(&sparse(200, 8, 9));
    let theta: Vec<F> = random(parts.len(), 1e4, 7);
    let (mut oracle, mut heads) = (SecondOrderProjective::default(), Vec::new());
    let score = oracle.max(&parts, &theta, &mut heads).unwrap();
    assert!(parts.arcs().allows(&heads) && tree::is_projective(&heads));
    let mut mu = vec![F::ZERO; parts.len()];
    let log_partition = oracle.expect(&parts, &theta, &mut mu).unwrap();
    assert!(log_partition.is_finite() && log_partition >= score - 1e-6);
    let total: f64 = mu[..parts.arcs().len()].iter().map(|mu| mu.to_f64()).sum();
    assert!((total - 200.0).abs() < 1e-3);
    let best = &oracle.k_best(&parts, &theta, 1).unwrap()[0];
    assert!((best.score - score).abs() <= 1e-6 * score, "{} and {score}", best.score);
}

#[test]
fn long_sentences_with_extreme_scores() {
    extreme::<f32>();
    extreme::<f64>();
}
