//! Projective trees, scored by their arcs.

use crate::enumeration::{Problem, Truth, assert_close, differences, problems, random, sparse};
use lineal_dependencies::{Arcs, Projective, tree};
use lineal_linalg::{Rng, Scalar};
use proptest::prelude::*;

/// An oracle whose buffers are full of another sentence.
fn used<F: Scalar>() -> Projective<F> {
    let mut oracle = Projective::default();
    let arcs = Arcs::full(7, false);
    let theta = random(arcs.len(), 100.0, 1);
    oracle.max(&arcs, &theta, &mut Vec::new()).unwrap();
    oracle.expect(&arcs, &theta, &mut vec![F::ZERO; arcs.len()]).unwrap();
    oracle.k_best(&arcs, &theta, 3).unwrap();
    oracle
}

fn check<F: Scalar>(problem: &Problem) {
    let arcs = &problem.arcs;
    let theta: Vec<F> = problem.scores(arcs.len());
    let (mut oracle, mut heads) = (used(), vec![9]);
    let mut mu = vec![F::ONE; arcs.len()];
    match oracle.max(arcs, &theta, &mut heads) {
        Ok(score) => {
            let truth = Truth::new(problem, |tree| arcs.score(&theta, tree));
            truth.check_max(&heads, score);
            for k in [1, 7, 20_000] {
                truth.check_k_best(&oracle.k_best(arcs, &theta, k).unwrap(), k);
            }
            let log_partition = oracle.expect(arcs, &theta, &mut mu).unwrap();
            assert_eq!(oracle.log_partition(arcs, &theta), Ok(log_partition));
            if size_of::<F>() == size_of::<f64>() {
                let mu: Vec<f64> = mu.iter().map(|mu| mu.to_f64()).collect();
                truth.check_sums(log_partition, &mu, |tree| arcs.of_tree(tree).flatten().collect());
            }
        }
        Err(infeasible) => {
            problem.check_infeasible(infeasible.at);
            assert_eq!(oracle.log_partition(arcs, &theta), Err(infeasible));
            assert_eq!(oracle.expect(arcs, &theta, &mut mu), Err(infeasible));
            assert_eq!(oracle.k_best(arcs, &theta, 2), Err(infeasible));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn against_enumeration(problem in problems(true, 6)) {
        check::<f64>(&problem);
        check::<f32>(&problem);
    }

    #[test]
    fn samples(problem in problems(true, 4)) {
        let theta: Vec<f64> = random(problem.arcs.len(), 1.0, 5);
        let mut oracle = used();
        if let Ok(log_partition) = oracle.log_partition(&problem.arcs, &theta) {
            let samples = oracle.samples(&problem.arcs, &theta, 500, &mut Rng::new(3)).unwrap();
            let truth = Truth::new(&problem, |tree| problem.arcs.score(&theta, tree));
            truth.check_samples(log_partition, &samples);
        }
    }
}

#[test]
fn marginals_are_the_gradient() {
    for arcs in [Arcs::full(12, true), Arcs::full(9, false), sparse(30, 6, 2)] {
        let theta = random(arcs.len(), 3.0, 4);
        let mut oracle = Projective::default();
        let mut mu = vec![0.0; arcs.len()];
        oracle.expect(&arcs, &theta, &mut mu).unwrap();
        let gradient = differences(&theta, |theta| oracle.log_partition(&arcs, theta).unwrap());
        assert_close(&mu, &gradient, 1e-8);
    }
}

fn extreme<F: Scalar>() {
    let arcs = Arcs::full(200, true);
    let theta: Vec<F> = random(arcs.len(), 1e4, 7);
    let (mut oracle, mut heads) = (Projective::default(), Vec::new());
    let score = oracle.max(&arcs, &theta, &mut heads).unwrap();
    assert!(arcs.allows(&heads) && tree::is_projective(&heads));
    let mut mu = vec![F::ZERO; arcs.len()];
    let log_partition = oracle.expect(&arcs, &theta, &mut mu).unwrap();
    assert!(log_partition.is_finite() && log_partition >= score - 1e-6);
    let total: f64 = mu.iter().map(|mu| mu.to_f64()).sum();
    assert!((total - 200.0).abs() < 1e-3);
    let best = &oracle.k_best(&arcs, &theta, 1).unwrap()[0];
    assert!((best.score - score).abs() <= 1e-6 * score, "{} and {score}", best.score);
}

#[test]
fn long_sentences_with_extreme_scores() {
    extreme::<f32>();
    extreme::<f64>();
}

/// A word without candidates was blamed although the words before it had no tree either.
#[test]
fn first_conflict_comes_before_a_word_without_candidates() {
    let mut arcs = Arcs::default();
    arcs.reset(3, true);
    arcs.push(0, 1);
    arcs.push(0, 2);
    let infeasible = Projective::default().log_partition(&arcs, &[0.0, 0.0]).unwrap_err();
    assert_eq!(infeasible.at, 1);
}
