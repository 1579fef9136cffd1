//! Convexity, sign and symmetry.

use crate::case::{At, Case, Kind, MAX_PARTS, Random, at};
use crate::registry;
use proptest::prelude::*;

/// A random order of the classes.
fn order(k: usize, random: &mut Random) -> Vec<usize> {
    let mut order: Vec<usize> = (0..k).collect();
    for i in (1..k).rev() {
        order.swap(i, (random.unit() * (i + 1) as f64) as usize);
    }
    order
}

/// The same point with class c called `to[c]`.
fn renamed(at: &At, to: &[usize]) -> At {
    let mut out = at.clone();
    for (y, &y_to) in to.iter().enumerate() {
        out.scores[y_to] = at.scores[y];
        for (r, &r_to) in to.iter().enumerate() {
            out.costs[y_to * MAX_PARTS + r_to] = at.costs[y * MAX_PARTS + r];
        }
    }
    out.gold = to[at.gold];
    out
}

fn of_kind(at: &At, kind: Kind) -> Vec<Case<f64>> {
    registry::<f64>(&|k| at.cost(k)).into_iter().filter(|case| case.kind == kind).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn losses_are_convex_and_never_negative(at in at(20.0), t in 0.0..1.0f64) {
        for case in registry::<f64>(&|k| at.cost(k)) {
            let (a, b, gold) = (at.scores(&case), at.other(&case), at.gold(&case));
            let between: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (1.0 - t) * a + t * b).collect();
            let (at_a, at_b, middle) = (case.value(&a, gold), case.value(&b, gold), case.value(&between, gold));
            prop_assert!(at_a >= 0.0, "{}: {at_a}", case.name);
            let chord = (1.0 - t) * at_a + t * at_b;
            prop_assert!(middle <= chord || (middle - chord) <= 1e-11 * (1.0 + chord), "{}: {middle} above {chord}", case.name);
        }
    }

    #[test]
    fn classes_have_no_order(at in at(5.0)) {
        let mut random = Random(at.seed);
        for k in [2, 3, 7] {
            let to = order(k, &mut random);
            let at = At { gold: at.gold % k, ..at.clone() };
            let other = renamed(&at, &to);
            for (case, twin) in of_kind(&at, Kind::Classes(k)).iter().zip(&of_kind(&other, Kind::Classes(k))) {
                let (value, twin_value) = (case.value(&at.scores(case), at.gold(case)), twin.value(&other.scores(twin), other.gold(twin)));
                prop_assert!(value == twin_value || (value - twin_value).abs() <= 1e-12 * (1.0 + value), "{}", case.name);
                let grad = case.grad(&at.scores(case), at.gold(case));
                let twin_grad = twin.grad(&other.scores(twin), other.gold(twin));
                for c in 0..k {
                    prop_assert!((grad[c] - twin_grad[to[c]]).abs() <= 1e-12 * (1.0 + value), "{}: {grad:?} {twin_grad:?}", case.name);
                }
            }
        }
    }

    #[test]
    fn the_two_classes_of_binary_are_mirror_images(at in at(5.0)) {
        let at = At { gold: at.gold % 2, ..at };
        let mut other = renamed(&at, &[1, 0]);
        other.scores[0] = -at.scores[0];
        for (case, twin) in of_kind(&at, Kind::Binary).iter().zip(&of_kind(&other, Kind::Binary)) {
            let (scores, twin_scores) = (at.scores(case), other.scores(twin));
            let (gold, twin_gold) = (at.gold(case), other.gold(twin));
            let (value, twin_value) = (case.value(&scores, gold), twin.value(&twin_scores, twin_gold));
            prop_assert!(value == twin_value || (value - twin_value).abs() <= 1e-12, "{}: {value} {twin_value}", case.name);
            let (grad, twin_grad) = (case.grad(&scores, gold)[0], twin.grad(&twin_scores, twin_gold)[0]);
            prop_assert!((grad + twin_grad).abs() <= 1e-12, "{}: {grad} {twin_grad}", case.name);
        }
    }

    #[test]
    fn a_constant_on_all_scores_changes_nothing(at in at(5.0), shift in -1e3..1e3f64) {
        let moved = At { scores: at.scores.iter().map(|s| s + shift).collect(), ..at.clone() };
        for k in [2, 3, 7] {
            for case in of_kind(&at, Kind::Classes(k)) {
                if case.name.starts_with("Squared on") {
                    continue;
                }
                let gold = at.gold(&case);
                let (scores, moved) = (at.scores(&case), moved.scores(&case));
                let (value, value_moved) = (case.value(&scores, gold), case.value(&moved, gold));
                prop_assert!(value == value_moved || (value - value_moved).abs() <= 1e-9 * (1.0 + value), "{}", case.name);
                let (grad, grad_moved) = (case.grad(&scores, gold), case.grad(&moved, gold));
                for (g, g_moved) in grad.iter().zip(&grad_moved) {
                    prop_assert!((g - g_moved).abs() <= 1e-9 * (1.0 + g.abs()), "{}", case.name);
                }
            }
        }
    }
}
