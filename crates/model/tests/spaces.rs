//! Every oracle of a space against enumeration of its outputs.
#![allow(missing_docs, reason = "a test")]

use lineal_linalg::Scalar;
use lineal_model::cost::{Cost, CostMatrix, NoCost, ZeroOne};
use lineal_model::space::{Binary, Classes, Discrete, Marginals, OutputSpace, Real};
use proptest::prelude::*;

/// ⟨θ, μ(y)⟩ and μ(y) for every output, by `add_parts` alone.
fn outputs<F: Scalar, S: Discrete<F, Output = u32>>(
    space: S,
    n_outputs: u32,
    scores: &[F],
) -> Vec<(f64, Vec<f64>)> {
    (0..n_outputs)
        .map(|y| {
            let mut parts = vec![F::ZERO; space.n_parts()];
            space.add_parts(y, F::ONE, &mut parts);
            let score = scores.iter().zip(&parts).map(|(s, p)| s.to_f64() * p.to_f64()).sum();
            (score, parts.iter().map(|p| p.to_f64()).collect())
        })
        .collect()
}

fn check<F: Scalar, S: Marginals<F, Output = u32>>(
    space: S,
    n_outputs: u32,
    scores: &[f64],
    dir: &[f64],
    tol: f64,
) -> Result<(), TestCaseError> {
    let n = space.n_parts();
    let narrow = |v: &[f64]| -> Vec<F> { v[..n].iter().map(|&v| F::from_f64(v)).collect() };
    let (scores, dir) = (narrow(scores), narrow(dir));
    let close = |got: F, wanted: f64, what: &str| {
        let ok = (got.to_f64() - wanted).abs() <= tol * (1.0 + wanted.abs());
        if ok { Ok(()) } else { Err(TestCaseError::fail(format!("{what}: {got}, not {wanted}"))) }
    };
    let all = outputs(space, n_outputs, &scores);
    for (y, (score, _)) in all.iter().enumerate() {
        close(space.score(&scores, y as u32), *score, "score")?;
    }

    let best = all.iter().map(|(s, _)| *s).fold(f64::NEG_INFINITY, f64::max);
    let mut parts = vec![F::ONE; n];
    close(space.max(&scores, &mut parts), best, "max")?;
    let y_hat = space.decode(&scores);
    close(space.score(&scores, y_hat), best, "the decoded output's score")?;
    for c in 0..n {
        prop_assert_eq!(parts[c].to_f64(), all[y_hat as usize].1[c], "parts of the best");
    }

    let weights: Vec<f64> = all.iter().map(|(s, _)| (s - best).exp()).collect();
    let total: f64 = weights.iter().sum();
    let mean = |c: usize| -> f64 {
        all.iter().zip(&weights).map(|((_, mu), p)| p * mu[c]).sum::<f64>() / total
    };
    let mut marginals = vec![F::ONE; n];
    close(space.log_sum_exp(&scores, &mut marginals), best + total.ln(), "log-sum-exp")?;
    for c in 0..n {
        close(marginals[c], mean(c), "marginal")?;
    }

    let covariance = |a: usize, b: usize| -> f64 {
        let both =
            all.iter().zip(&weights).map(|((_, mu), p)| p * mu[a] * mu[b]).sum::<f64>() / total;
        both - mean(a) * mean(b)
    };
    let (mut product, mut diagonal) = (vec![F::ONE; n], vec![F::ONE; n]);
    space.cov_vec(&marginals, &dir, &mut product);
    space.cov_diag(&marginals, &mut diagonal);
    for a in 0..n {
        let wanted = (0..n).map(|b| covariance(a, b) * dir[b].to_f64()).sum();
        close(product[a], wanted, "covariance times a vector")?;
        close(diagonal[a], covariance(a, a), "variance")?;
    }
    Ok(())
}

/// Scores that tie now and then.
fn scores() -> impl Strategy<Value = Vec<f64>> {
    let score = prop_oneof![3 => -20.0..20.0f64, 1 => (-2..3i32).prop_map(f64::from)];
    prop::collection::vec(score, 7)
}

proptest! {
    #[test]
    fn oracles_agree_with_enumeration(scores in scores(), dir in scores()) {
        check::<f64, _>(Binary, 2, &scores, &dir, 1e-12)?;
        check::<f32, _>(Binary, 2, &scores, &dir, 1e-4)?;
        for k in [2, 3, 7] {
            check::<f64, _>(Classes(k), k as u32, &scores, &dir, 1e-12)?;
            check::<f32, _>(Classes(k), k as u32, &scores, &dir, 1e-4)?;
        }
    }

    #[test]
    fn the_lowest_class_wins_a_tie(mut scores in prop::collection::vec(-3..3i32, 7)) {
        let first_best = |s: &[i32]| s.iter().position(|v| v == s.iter().max().unwrap()).unwrap() as u32;
        for k in [2, 3, 7] {
            let real: Vec<f64> = scores[..k].iter().map(|&s| f64::from(s)).collect();
            prop_assert_eq!(Classes(k).decode(&real), first_best(&scores[..k]));
        }
        scores.fill(1);
        let tied = [1.0f64; 7];
        prop_assert_eq!(Classes(7).decode(&tied), 0);
        prop_assert_eq!(Binary.decode(&[0.0f64]), 0);
        prop_assert_eq!(Binary.decode(&[-0.0f64]), 0);
        prop_assert_eq!(Binary.decode(&[f64::MIN_POSITIVE]), 1);
    }

    /// With w₁ = −w₀ = w/2 the class scores are (−f/2, f/2), and parts come back as f's: half the difference.
    #[test]
    fn binary_is_two_classes_with_opposite_halves(f in -20.0..20.0f64, dir in -2.0..2.0f64, y in 0..2u32) {
        let (one, two, dirs) = ([f], [-0.5 * f, 0.5 * f], [-0.5 * dir, 0.5 * dir]);
        let back = |parts: &[f64]| 0.5 * (parts[1] - parts[0]);
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
        let (mut p, mut pp) = ([0.0], [0.0; 2]);

        prop_assert_eq!(Binary.decode(&one), Classes(2).decode(&two));
        prop_assert!(close(Binary.score(&one, y), Classes(2).score(&two, y)));
        prop_assert!(close(Binary.max(&one, &mut p), Classes(2).max(&two, &mut pp)));
        prop_assert!(close(p[0], back(&pp)));
        prop_assert!(close(Binary.log_sum_exp(&one, &mut p), Classes(2).log_sum_exp(&two, &mut pp)));
        prop_assert!(close(p[0], back(&pp)));

        let (mut out, mut outs) = ([0.0], [0.0; 2]);
        Binary.cov_vec(&p, &[dir], &mut out);
        Classes(2).cov_vec(&pp, &dirs, &mut outs);
        prop_assert!(close(out[0], back(&outs)));
        Binary.cov_diag(&p, &mut out);
        Classes(2).cov_vec(&pp, &[-0.5, 0.5], &mut outs);
        prop_assert!(close(out[0], back(&outs)));

        let (mut p, mut pp) = ([0.5], [0.0, 1.0]);
        Binary.add_parts(y, 3.0, &mut p);
        Classes(2).add_parts(y, 3.0, &mut pp);
        prop_assert!(close(p[0], back(&pp)));
    }

    /// Augmented scores differ between outputs by exactly the costs.
    #[test]
    fn costs_augment_scores_up_to_a_constant(
        scores in scores(),
        costs in prop::collection::vec(0.0..3.0f64, 49),
        y in 0..42u32,
    ) {
        for k in [2usize, 3, 7] {
            let y = y % k as u32;
            let off_diagonal = |i: usize| if i / k == i % k { 0.0 } else { costs[i] };
            let table = CostMatrix::new(k, (0..k * k).map(off_diagonal).collect()).unwrap();
            check_cost(Classes(k), k as u32, &table, y, &scores)?;
            check_cost(Classes(k), k as u32, &ZeroOne, y, &scores)?;
            check_cost(Classes(k), k as u32, &NoCost, y, &scores)?;
            if k == 2 {
                check_cost(Binary, 2, &table, y, &scores)?;
                check_cost(Binary, 2, &ZeroOne, y, &scores)?;
                check_cost(Binary, 2, &NoCost, y, &scores)?;
            }
        }
    }
}

fn check_cost<S: Discrete<f64, Output = u32>, C: Cost<f64, S>>(
    space: S,
    n_outputs: u32,
    cost: &C,
    y: u32,
    scores: &[f64],
) -> Result<(), TestCaseError> {
    let scores = &scores[..space.n_parts()];
    let mut augmented = scores.to_vec();
    cost.augment(space, y, &mut augmented);
    for y_hat in 0..n_outputs {
        let gained = space.score(&augmented, y_hat) - space.score(scores, y_hat);
        let gold_gained = space.score(&augmented, y) - space.score(scores, y);
        let wanted = cost.cost(y, y_hat);
        prop_assert!(
            (gained - gold_gained - wanted).abs() <= 1e-12 * (1.0 + wanted + scores[0].abs())
        );
    }
    Ok(())
}

#[test]
fn a_real_number_is_its_own_score() {
    assert_eq!(OutputSpace::<f64>::n_parts(&Real), 1);
    assert_eq!(Real.decode(&[-2.5f64]), -2.5);
    assert_eq!(Real.decode(&[0.5f32]), 0.5);
}
