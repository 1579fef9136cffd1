//! Gradients and Hessians against finite differences.

use crate::case::{At, Random, at, wide};
use crate::registry;
use proptest::prelude::*;

/// (f(t) − f(0))/t and (f(0) − f(−t))/t, or `None` where they disagree: a kink lies between.
fn slope(f: impl Fn(f64) -> f64, t: f64) -> Option<f64> {
    let (after, here, before) = (f(t), f(0.0), f(-t));
    let (right, left) = ((after - here) / t, (here - before) / t);
    let agree = (right - left).abs() <= 1e-3 * (1.0 + right.abs());
    (agree || right.is_nan() || left.is_nan()).then_some((after - before) / (2.0 * t))
}

fn moved(scores: &[f64], dir: &[f64], t: f64) -> Vec<f64> {
    scores.iter().zip(dir).map(|(s, d)| s + t * d).collect()
}

fn direction(n: usize, random: &mut Random) -> Vec<f64> {
    (0..n).map(|_| 2.0 * random.unit() - 1.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn gradients_match_finite_differences(at in at(5.0)) {
        for case in registry::<f64>(&|k| at.cost(k)) {
            if case.is_constraint() {
                continue;
            }
            let (scores, gold) = (at.scores(&case), at.gold(&case));
            let grad = case.grad(&scores, gold);
            for c in 0..scores.len() {
                let mut unit = vec![0.0; scores.len()];
                unit[c] = 1.0;
                let along = |t: f64| case.value(&moved(&scores, &unit, t), gold);
                if let Some(slope) = slope(along, 1e-6) {
                    prop_assert!((slope - grad[c]).abs() <= 1e-5 * (1.0 + slope.abs()),
                        "{}: part {c}: {slope} by differences, gradient {grad:?}", case.name);
                }
            }
        }
    }

    #[test]
    fn hessian_products_match_finite_differences(at in at(5.0)) {
        let mut random = Random(at.seed);
        for case in registry::<f64>(&|k| at.cost(k)) {
            let Some(hessian) = &case.hessian else { continue };
            let (scores, gold) = (at.scores(&case), at.gold(&case));
            let n = scores.len();
            let dir = direction(n, &mut random);
            let (mut product, mut diag) = (vec![0.0; n], vec![0.0; n]);
            hessian(&scores, gold, &dir, &mut product, &mut diag);
            for c in 0..n {
                let along = |t: f64| case.grad(&moved(&scores, &dir, t), gold)[c];
                if let Some(slope) = slope(along, 1e-5) {
                    prop_assert!((slope - product[c]).abs() <= 1e-5,
                        "{}: part {c}: {slope} by differences, product {product:?}", case.name);
                }
            }
        }
    }

    #[test]
    fn hessians_are_symmetric_positive_and_agree_with_their_diagonal(at in at(20.0)) {
        let mut random = Random(at.seed);
        for case in registry::<f64>(&|k| at.cost(k)) {
            let Some(hessian) = &case.hessian else { continue };
            let (scores, gold) = (at.scores(&case), at.gold(&case));
            let n = scores.len();
            let (u, v) = (direction(n, &mut random), direction(n, &mut random));
            let multiply = |dir: &[f64]| {
                let (mut out, mut diag) = (vec![0.0; n], vec![0.0; n]);
                hessian(&scores, gold, dir, &mut out, &mut diag);
                (out, diag)
            };
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let ((h_u, diag), (h_v, _)) = (multiply(&u), multiply(&v));
            prop_assert!((dot(&v, &h_u) - dot(&u, &h_v)).abs() <= 1e-12, "{}", case.name);
            prop_assert!(dot(&u, &h_u) >= -1e-12, "{}", case.name);
            for c in 0..n {
                let mut unit = vec![0.0; n];
                unit[c] = 1.0;
                let entry = multiply(&unit).0[c];
                prop_assert!((entry - diag[c]).abs() <= 1e-14, "{}: part {c}", case.name);
            }
        }
    }

    #[test]
    fn single_precision_agrees_with_double(at in at(20.0)) {
        let mut random = Random(at.seed);
        let at = At { scores: at.scores.iter().map(|&s| f64::from(s as f32)).collect(), ..at };
        let (doubles, singles) = (registry::<f64>(&|k| at.cost(k)), registry::<f32>(&|k| at.cost(k)));
        for (double, single) in doubles.iter().zip(&singles) {
            let gold = at.gold(double);
            let (scores, scores_32) = (at.scores(double), at.scores(single));
            let (value, value_32) = (double.value(&scores, gold), single.value(&scores_32, gold));
            if !double.is_constraint() {
                prop_assert!((value - value_32).abs() <= 1e-4 * (1.0 + value), "{}: {value} {value_32}", double.name);
            }
            let (Some(hessian), Some(hessian_32)) = (&double.hessian, &single.hessian) else { continue };
            let n = scores.len();
            let dir: Vec<f32> = direction(n, &mut random).iter().map(|&d| d as f32).collect();
            let (mut out, mut diag) = (vec![0.0; n], vec![0.0; n]);
            let (mut out_32, mut diag_32) = (vec![0.0; n], vec![0.0; n]);
            hessian(&scores, gold, &wide(&dir), &mut out, &mut diag);
            hessian_32(&scores_32, gold, &dir, &mut out_32, &mut diag_32);
            for (wanted, got) in out.iter().chain(&diag).zip(out_32.iter().chain(&diag_32)) {
                prop_assert!((wanted - f64::from(*got)).abs() <= 1e-4, "{}: {wanted} {got}", double.name);
            }
        }
    }
}
