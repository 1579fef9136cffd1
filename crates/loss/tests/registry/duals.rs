//! Conjugates and exact dual steps. Everything is judged in f64, whatever took the step.

use crate::case::{At, Case, Feasible, Gap, Kind, Random, at, wide};
use crate::registry;
use lineal_linalg::Scalar;
use lineal_linalg::special::{sigmoid, softmax};
use proptest::prelude::*;

/// How exact each precision has to be, relative to the size of what is added up.
const F64: f64 = 1e-9;
const F32: f64 = 1e-4;

fn fenchel_young<F: Scalar>(at: &At, tol: f64) -> Result<(), TestCaseError> {
    let mut random = Random(at.seed);
    let (judges, cases) = (registry::<f64>(&|k| at.cost(k)), registry::<F>(&|k| at.cost(k)));
    for (judge, case) in judges.iter().zip(&cases) {
        let (scores, gold) = (at.scores(case), at.gold(case));
        let scores_64 = wide(&scores);
        for size in [0.1, 1.0, 10.0, 100.0] {
            let g = wide(&case.feasible_block(gold, size, &mut random));
            let (gap, terms) = judge.fenchel_young(&scores_64, gold, &g);
            prop_assert!(gap >= -tol * terms, "{}: {gap} at {g:?}", case.name);
        }
        if case.is_constraint() {
            continue;
        }
        let grad = case.grad(&scores, gold);
        let outside = case.outside(gold, &grad);
        prop_assert!(outside <= tol, "{}: the gradient {grad:?} is {outside} outside", case.name);
        let (gap, terms) = judge.fenchel_young(&scores_64, gold, &wide(&grad));
        prop_assert!(gap.abs() <= tol * terms, "{}: {gap} at the gradient {grad:?}", case.name);
    }
    Ok(())
}

/// ℓ*(g') − ⟨θ, g'⟩ + (q/2)‖g' − g‖², and the size of what was added up.
fn step_objective(
    judge: &Case<f64>,
    at: (&[f64], f64, f64),
    from: &[f64],
    to: &[f64],
) -> (f64, f64) {
    let (scores, gold, q) = at;
    let conjugate = (judge.conjugate)(gold, to);
    let products = scores.iter().zip(to).map(|(s, g)| s * g);
    let (mut sum, mut size) = (conjugate, 1.0 + conjugate.abs());
    for p in products {
        sum -= p;
        size += p.abs();
    }
    let moved = 0.5 * q * from.iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
    (sum + moved, size + moved)
}

fn exact_steps<F: Scalar>(at: &At, tol: f64, tries: usize) -> Result<(), TestCaseError> {
    let mut random = Random(at.seed);
    let (judges, cases) = (registry::<f64>(&|k| at.cost(k)), registry::<F>(&|k| at.cost(k)));
    let q = F::from_f64(10f64.powf(at.log_q));
    for (judge, case) in judges.iter().zip(&cases) {
        let (scores, gold) = (at.scores(case), at.gold(case));
        let start = case.feasible_block(gold, 1.0 + 10.0 * random.unit(), &mut random);
        let (mut g, mut delta) = (start.clone(), vec![F::ZERO; scores.len()]);
        let told = (case.dual_step)(gold, &scores, q, &mut g, &mut delta);

        let outside = case.outside(gold, &g);
        prop_assert!(outside <= tol, "{}: {g:?} is {outside} outside", case.name);
        let (from, to, d) = (wide(&start), wide(&g), wide(&delta));
        for c in 0..to.len() {
            let size = 1.0 + from[c].abs() + to[c].abs();
            prop_assert!(
                (from[c] + d[c] - to[c]).abs() <= tol * size,
                "{}: {from:?} + {d:?} is not {to:?}",
                case.name
            );
        }

        let (gap, terms) = judge.fenchel_young(&wide(&scores), gold, &from);
        prop_assert!(told >= -tol * terms, "{}: a gap of {told}", case.name);
        if case.gap == Gap::Exact {
            let same = told == gap || (told - gap).abs() <= tol * terms;
            prop_assert!(same, "{}: a gap of {told}, not {gap}", case.name);
        }

        let place = (wide(&scores), gold, q.to_f64());
        let value = |g: &[f64]| step_objective(judge, (&place.0, place.1, place.2), &from, g);
        let (reached, terms) = value(&to);
        prop_assert!(
            reached <= value(&from).0 + tol * terms,
            "{}: worse than not to move",
            case.name
        );
        let size = 1.0 + to.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        for i in 0..tries {
            // Far away, or close by along a feasible direction: first-order optimality.
            let other = wide(&case.feasible_block(gold, size, &mut random));
            let near = [1.0, 1e-1, 1e-2, 1e-3][i % 4];
            let tried: Vec<f64> = to.iter().zip(&other).map(|(a, b)| a + near * (b - a)).collect();
            let better = value(&tried).0;
            prop_assert!(
                reached <= better + tol * terms,
                "{}: q {q}: {reached} at {to:?} from {from:?}, but {better} at {tried:?}",
                case.name
            );
        }
    }
    Ok(())
}

fn no_nan<F: Scalar>(at: &At, tol: f64) -> Result<(), TestCaseError> {
    let mut random = Random(at.seed);
    let q = F::from_f64(10f64.powf(at.log_q));
    for case in registry::<F>(&|k| at.cost(k)) {
        let gold = at.gold(&case);
        let scores: Vec<F> = at.scores(&case).iter().map(|s| huge(s.to_f64())).collect();
        let (value, grad) = (case.value(&scores, gold), case.grad(&scores, gold));
        prop_assert!(
            value >= 0.0 && (case.is_constraint() || value.is_finite()),
            "{}: {value}",
            case.name
        );
        prop_assert!(grad.iter().all(|g| g.is_finite()), "{}: {grad:?}", case.name);
        let mut g = case.feasible_block(gold, 10.0, &mut random);
        let mut delta = vec![F::ZERO; g.len()];
        let told = (case.dual_step)(gold, &scores, q, &mut g, &mut delta);
        prop_assert!(!told.is_nan(), "{}: the gap is not a number", case.name);
        prop_assert!(delta.iter().all(|d| d.is_finite()), "{}: {delta:?}", case.name);
        prop_assert!(case.outside(gold, &g) <= tol, "{}: {g:?} at {scores:?}", case.name);
    }
    Ok(())
}

/// −10⁴, 0 or 10⁴.
fn huge<F: Scalar>(score: f64) -> F {
    F::from_f64(if score.abs() < 0.3 { 0.0 } else { 1e4 * score.signum() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn fenchel_young_holds_and_is_tight_at_the_gradient(at in at(30.0)) {
        fenchel_young::<f64>(&at, F64)?;
        fenchel_young::<f32>(&at, F32)?;
    }

    #[test]
    fn scores_of_ten_thousand_give_no_nan(at in at(1.0)) {
        no_nan::<f64>(&at, F64)?;
        no_nan::<f32>(&at, F32)?;
    }

    #[test]
    fn nothing_is_the_conjugate_of_zero(at in at(1.0)) {
        // ℓ*(0) = −inf ℓ, and every loss here falls to 0 when the gold wins by enough.
        for case in registry::<f64>(&|k| at.cost(k)) {
            let gold = at.gold(&case);
            let mut scores = vec![0.0; case.n_parts()];
            match case.kind {
                Kind::Real => scores[0] = gold,
                Kind::Binary => scores[0] = 1e3 * (2.0 * gold - 1.0),
                Kind::Classes(_) => scores[gold as usize] = 1e3,
            }
            if case.name.starts_with("Squared on") {
                scores.iter_mut().for_each(|s| *s = if *s == 0.0 { -1.0 } else { s.signum() });
                if case.kind == Kind::Real {
                    scores[0] = gold;
                }
            }
            prop_assert_eq!(case.value(&scores, gold), 0.0, "{}", &case.name);
            prop_assert_eq!((case.conjugate)(gold, &vec![0.0; scores.len()]), 0.0, "{}", &case.name);
        }
    }

    #[test]
    fn a_logistic_step_estimates_a_small_gap(at in at(8.0)) {
        let mut random = Random(at.seed);
        for case in registry::<f64>(&|k| at.cost(k)) {
            if case.gap != Gap::Estimate {
                continue;
            }
            prop_assert_eq!(case.feasible, Feasible::FlowTotal);
            // A block whose probabilities are all within a third of those of the scores.
            let (scores, gold) = (at.scores(&case), at.gold(&case));
            let mut g = case.grad(&scores, gold);
            let off = |random: &mut Random| 1.0 + 0.3 * (2.0 * random.unit() - 1.0);
            if case.kind == Kind::Binary {
                let target = g[0].abs();
                let odds = (target / (1.0 - target)).ln() + off(&mut random).ln();
                g[0] = g[0].signum() * sigmoid(odds);
            } else {
                g[gold as usize] += 1.0;
                let logs: Vec<f64> = g.iter().map(|p| p.ln() + off(&mut random).ln()).collect();
                softmax(&logs, &mut g);
                g[gold as usize] -= 1.0;
            }
            let (gap, _) = case.fenchel_young(&scores, gold, &g);
            let mut delta = vec![0.0; g.len()];
            let told = (case.dual_step)(gold, &scores, 1.0, &mut g, &mut delta);
            let noise = 1e-12;
            prop_assert!(told <= 4.0 * gap + noise && gap <= 4.0 * told + noise,
                "{}: {told} for a gap of {gap}", case.name);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn dual_steps_are_exact(at in at(100.0)) {
        exact_steps::<f64>(&at, F64, 1000)?;
    }

    #[test]
    fn dual_steps_are_exact_at_ordinary_scores(at in at(3.0)) {
        exact_steps::<f64>(&at, F64, 1000)?;
    }

    #[test]
    fn dual_steps_are_exact_in_single_precision(at in at(100.0)) {
        exact_steps::<f32>(&at, F32, 100)?;
    }
}
