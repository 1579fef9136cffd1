//! Trees whose arcs may cross, scored by their arcs.

use crate::enumeration::{Problem, Truth, assert_close, differences, problems, random, sparse};
use lineal_dependencies::{Arcs, NonProjective};
use lineal_linalg::Scalar;
use proptest::prelude::*;

/// An oracle whose buffers are full of another sentence.
fn used() -> NonProjective {
    let mut oracle = NonProjective::default();
    let arcs = Arcs::full(7, false);
    let theta = random(arcs.len(), 100.0, 1);
    oracle.max(&arcs, &theta, &mut Vec::new()).unwrap();
    oracle.expect(&arcs, &theta, &mut vec![0.0; arcs.len()]).unwrap();
    oracle
}

fn check<F: Scalar>(problem: &Problem, scale: f64) {
    let arcs = &problem.arcs;
    let theta: Vec<F> = problem.scores(arcs.len());
    let theta: Vec<F> = theta.iter().map(|&theta| theta * F::from_f64(scale)).collect();
    let (mut oracle, mut heads) = (used(), vec![9]);
    let mut mu = vec![F::ONE; arcs.len()];
    match oracle.max(arcs, &theta, &mut heads) {
        Ok(score) => {
            let truth = Truth::new(problem, |tree| arcs.score(&theta, tree));
            truth.check_max(&heads, score);
            for k in [1, 7, 40] {
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
    fn against_enumeration(problem in problems(false, 6)) {
        check::<f64>(&problem, 1.0);
        check::<f32>(&problem, 1.0);
    }

    /// Differences of thousands: sums are taken in logarithms.
    #[test]
    fn extreme_scores_against_enumeration(problem in problems(false, 5)) {
        check::<f64>(&problem, 128.0);
    }

    #[test]
    fn all_trees_in_order(problem in problems(false, 4)) {
        let theta: Vec<f64> = problem.scores(problem.arcs.len());
        if let Ok(ranked) = used().k_best(&problem.arcs, &theta, 1000) {
            let truth = Truth::new(&problem, |tree| problem.arcs.score(&theta, tree));
            truth.check_k_best(&ranked, 1000);
        }
    }
}

#[test]
fn marginals_are_the_gradient() {
    for arcs in [Arcs::full(12, true), Arcs::full(9, false), sparse(30, 6, 2)] {
        for scale in [3.0, 400.0] {
            let theta = random(arcs.len(), scale, 4);
            let mut oracle = NonProjective::default();
            let mut mu = vec![0.0; arcs.len()];
            oracle.expect(&arcs, &theta, &mut mu).unwrap();
            let gradient = differences(&theta, |theta| oracle.log_partition(&arcs, theta).unwrap());
            assert_close(&mu, &gradient, 1e-6);
        }
    }
}

/// Cayley: n words and a root have (n + 1)ⁿ⁻¹ trees, nⁿ⁻¹ of them with one root.
#[test]
fn numbers_of_trees() {
    for n in [1, 2, 10, 60] {
        let words = n as f64;
        for (single_root, base) in [(false, words + 1.0), (true, words)] {
            let arcs = Arcs::full(n, single_root);
            let log_partition =
                NonProjective::default().log_partition(&arcs, &vec![0.0; arcs.len()]).unwrap();
            let truth = (words - 1.0) * base.ln();
            assert!((log_partition - truth).abs() < 1e-10, "{n}: {log_partition}, not {truth}");
        }
    }
}

fn extreme<F: Scalar>() {
    for single_root in [true, false] {
        let arcs = Arcs::full(200, single_root);
        let theta: Vec<F> = random(arcs.len(), 1e4, 7);
        let (mut oracle, mut heads) = (NonProjective::default(), Vec::new());
        let score = oracle.max(&arcs, &theta, &mut heads).unwrap();
        assert!(arcs.allows(&heads));
        let mut mu = vec![F::ZERO; arcs.len()];
        let log_partition = oracle.expect(&arcs, &theta, &mut mu).unwrap();
        assert!(log_partition.is_finite() && log_partition >= score - 1e-6);
        let total: f64 = mu.iter().map(|mu| mu.to_f64()).sum();
        assert!((total - 200.0).abs() < 1e-3, "{total}");
        let ranked = oracle.k_best(&arcs, &theta, 5).unwrap();
        assert_eq!((ranked[0].score, ranked.len()), (score, 5));
    }
}

#[test]
fn long_sentences_with_extreme_scores() {
    extreme::<f32>();
    extreme::<f64>();
}
