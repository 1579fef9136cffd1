//! What holds for any scores.

use lineal_calibrate::couple::{self, CodeColumns, Pairs, Paths, Scratch};
use lineal_calibrate::{
    Aim, Answers, Calibration, Held, Isotonic, Kind, NEVER, Platt, Temperature, Truth, threshold,
    thresholds,
};
use proptest::prelude::*;

const KINDS: [Kind; 3] = [Kind::Platt, Kind::Isotonic, Kind::Temperature];
const HARD: [f64; 11] = [
    f64::NEG_INFINITY,
    f64::MIN,
    -1e300,
    -1e-320,
    -0.0,
    0.0,
    1.0,
    1e300,
    f64::MAX,
    f64::INFINITY,
    f64::NAN,
];

/// A score now and then as large as can be.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -3.0..3.0f64,
        4 => (-4i8..4).prop_map(|s| f64::from(s) / 2.0),
        1 => prop::sample::select(vec![-1e300, f64::MIN, 1e-310, 1e300, 0.0]),
    ]
}

/// Rows of three scores with a class and a weight.
fn rows() -> impl Strategy<Value = (Vec<f64>, Vec<u32>, Vec<f32>)> {
    let row = (
        prop::array::uniform3(score()),
        0..3u32,
        prop::sample::select(vec![0.0f32, 0.5, 1.0, 3.0]),
    );
    prop::collection::vec(row, 1..30).prop_map(|rows| {
        let scores = rows.iter().flat_map(|row| row.0).collect();
        let mut weights: Vec<f32> = rows.iter().map(|row| row.2).collect();
        weights[0] = 1.0;
        (scores, rows.iter().map(|row| row.1).collect(), weights)
    })
}

fn is_distribution(p: &[f64]) -> bool {
    p.iter().all(|p| (0.0..=1.0).contains(p)) && (p.iter().sum::<f64>() - 1.0).abs() < 1e-9
}

/// Probabilities of K classes, none very small.
fn distribution(k: std::ops::Range<usize>) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.01..1.0f64, k).prop_map(|mut p| {
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        p
    })
}

fn largest_difference(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).map(|(p, q)| (p - q).abs()).fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn probabilities_are_probabilities((scores, y, weights) in rows()) {
        let code = [1, -1, 0, 0, 1, -1, -1, 0, 1];
        let start: Vec<usize> = (0..=y.len()).collect();
        for truth in [
            Truth::Classes(&y),
            Truth::Coded { y: &y, code: &code },
            Truth::Labels { start: &start, ids: &y },
        ] {
            let held = Held::new(3, &scores, truth).unwrap().with_weights(&weights).unwrap();
            for kind in KINDS {
                let calibration = Calibration::fit(kind, &held);
                let mut p = [0.0; 3];
                for row in scores.chunks(3).chain(HARD.windows(3)) {
                    calibration.columns(row, &mut p);
                    prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{calibration:?} {row:?} {p:?}");
                    calibration.classes(row, &mut p);
                    prop_assert!(is_distribution(&p), "{calibration:?} {row:?} {p:?}");
                }
                let text = serde_json::to_string(&calibration).unwrap();
                prop_assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), calibration);
            }
        }
    }

    #[test]
    fn isotonic_maps_rise_and_have_the_least_error(
        rows in prop::collection::vec((score(), any::<bool>(), prop::sample::select(vec![0.5f32, 1.0, 2.0])), 1..30),
    ) {
        let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let yes: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f32> = rows.iter().map(|row| row.2).collect();
        let map = Isotonic::fit(&Answers::new(&scores, &yes, Some(&weights)).unwrap());
        let (x, y) = map.knots();
        prop_assert!(x.windows(2).all(|p| p[0] < p[1]) && y.windows(2).all(|p| p[0] <= p[1]));
        // No knot in the middle of a flat stretch.
        prop_assert!(y.windows(3).all(|p| p[0] < p[1] || p[1] < p[2]));
        let mut at: Vec<f64> = scores.iter().flat_map(|s| [*s, s / 2.0, s.next_up(), 1.1 * s]).collect();
        at.sort_by(f64::total_cmp);
        prop_assert!(at.windows(2).all(|s| map.proba(s[0]) <= map.proba(s[1])));
        // The conditions of the least squares: residuals of the rows from any score up sum to at most 0, in all to 0.
        let residual = |from: f64| {
            let rows = rows.iter().filter(|row| row.0 >= from);
            rows.map(|row| f64::from(row.2) * (f64::from(u8::from(row.1)) - map.proba(row.0))).sum::<f64>()
        };
        prop_assert!(scores.iter().all(|&s| residual(s) <= 1e-9));
        prop_assert!(residual(f64::NEG_INFINITY).abs() < 1e-9);
    }

    /// A weight of 2 is a row that stands there twice, and one of 0 a row that does not.
    #[test]
    fn weights_are_repetitions(rows in prop::collection::vec((-3.0..3.0f64, any::<bool>(), 0..3u8), 1..20)) {
        prop_assume!(rows.iter().any(|row| row.2 > 0));
        let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let yes: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f32> = rows.iter().map(|row| row.2.into()).collect();
        let repeated: Vec<_> = rows.iter().flat_map(|row| vec![(row.0, row.1); row.2.into()]).collect();
        let (scores2, yes2): (Vec<f64>, Vec<bool>) = repeated.into_iter().unzip();
        let (a, b) = (Answers::new(&scores, &yes, Some(&weights)).unwrap(), Answers::new(&scores2, &yes2, None).unwrap());
        let (platt, platt2) = (Platt::fit(&a), Platt::fit(&b));
        for s in [-2.0, 0.0, 0.7] {
            prop_assert!((platt.proba(s) - platt2.proba(s)).abs() < 1e-7, "{platt:?} {platt2:?}");
        }
        let (curve, curve2) = (Isotonic::fit(&a), Isotonic::fit(&b));
        prop_assert_eq!(curve.knots().0, curve2.knots().0);
        for aim in [Aim::F1 { floor: 0.0 }, Aim::Cost { false_positive: 1.0, false_negative: 2.0 }] {
            prop_assert_eq!(threshold(aim, &a), threshold(aim, &b));
        }
    }

    #[test]
    fn coupling_recovers_what_pairs_agree_on(p in distribution(1..12)) {
        let k = p.len();
        let mut scratch = Scratch::default();
        let mut out = vec![f64::NAN; k];
        let pairs: Vec<(u32, u32)> = (0..k as u32).flat_map(|a| (a + 1..k as u32).map(move |b| (a, b))).collect();
        let r: Vec<f64> = pairs.iter().map(|&(a, b)| p[a as usize] / (p[a as usize] + p[b as usize])).collect();
        couple::pairwise(&r, &mut out, &mut scratch);
        prop_assert!(largest_difference(&p, &out) < 1e-9, "{p:?} {out:?}");
        Pairs::new(k, &pairs).unwrap().couple(&r, &mut out, &mut scratch);
        prop_assert!(largest_difference(&p, &out) < 1e-9, "{p:?} {out:?}");
        // A chain of pairs, some the other way round, is enough.
        let chain: Vec<(u32, u32)> = (1..k as u32).map(|b| if b % 2 == 0 { (b, b - 1) } else { (b - 1, b) }).collect();
        let r: Vec<f64> = chain.iter().map(|&(a, b)| p[a as usize] / (p[a as usize] + p[b as usize])).collect();
        Pairs::new(k, &chain).unwrap().couple(&r, &mut out, &mut scratch);
        prop_assert!(largest_difference(&p, &out) < 1e-7, "{p:?} {out:?}");
        // So are one-vs-all and the columns of a code, up to its prior.
        let mut all = p.clone();
        couple::one_vs_all(&mut all);
        prop_assert!(largest_difference(&p, &all) < 1e-12);
        if k > 1 {
            let code: Vec<i8> = (0..k * k).map(|i| if i / k == i % k { 1 } else { -1 }).collect();
            CodeColumns::new(k, k, &code).unwrap().couple(&p, &mut out, &mut scratch);
            prop_assert!(largest_difference(&p, &out) < 0.01, "{p:?} {out:?}");
        }
    }

    /// The paper's conditions of an optimum: (Qp)_a is the same for all a, and p ≥ 0.
    #[test]
    fn coupling_is_optimal_where_pairs_disagree(
        (k, r) in (2usize..10).prop_flat_map(|k| (Just(k), prop::collection::vec(0.0..=1.0f64, k * (k - 1) / 2))),
    ) {
        let (mut p, mut scratch) = (vec![0.0; k], Scratch::default());
        couple::pairwise(&r, &mut p, &mut scratch);
        prop_assert!(is_distribution(&p));
        // What is solved for pairs agrees with what is iterated for all of them.
        let all: Vec<(u32, u32)> = (0..k as u32).flat_map(|a| (a + 1..k as u32).map(move |b| (a, b))).collect();
        let mut solved = vec![0.0; k];
        Pairs::new(k, &all).unwrap().couple(&r, &mut solved, &mut scratch);
        prop_assert!(largest_difference(&p, &solved) < 1e-7, "{p:?} {solved:?}");
        let mut product = vec![0.0; k];
        let mut at = r.iter().map(|r| r.clamp(1e-7, 1.0 - 1e-7));
        for a in 0..k {
            for b in a + 1..k {
                let r = at.next().unwrap();
                let term = (1.0 - r) * p[a] - r * p[b];
                product[a] += term * (1.0 - r);
                product[b] -= term * r;
            }
        }
        let spread = product.iter().copied().fold(f64::MIN, f64::max) - product.iter().copied().fold(f64::MAX, f64::min);
        prop_assert!(spread < 1e-8, "{product:?} {p:?}");
    }

    /// At the maximum p_k ∂/∂p_k of the log-likelihood, prior included, is 0 for every class, and a step of the algorithm
    /// stays where it is.
    #[test]
    fn coupled_codes_are_stationary(
        r in prop::collection::vec(0.01..0.99f64, 12),
        code in prop::collection::vec(-1i8..=1, 5 * 12),
    ) {
        let (mut p, mu) = (vec![0.0; 5], 1e-3);
        CodeColumns::new(5, 12, &code).unwrap().couple(&r, &mut p, &mut Scratch::default());
        let mut slope: Vec<f64> = p.iter().map(|p| mu * (1.0 - 5.0 * p)).collect();
        let mut scale = [5.0 * mu; 5];
        for (l, r) in r.iter().enumerate() {
            let mass = |sign: i8| (0..5).filter(|k| code[k * 12 + l] == sign).map(|k| p[k]).sum::<f64>();
            let (plus, minus) = (mass(1), mass(-1));
            if plus == 0.0 || minus == 0.0 {
                continue;
            }
            for k in 0..5 {
                let gain = match code[k * 12 + l] {
                    1 => r / plus,
                    -1 => (1.0 - r) / minus,
                    _ => continue,
                };
                slope[k] += p[k] * (gain - 1.0 / (plus + minus));
                scale[k] += 1.0 / (plus + minus);
            }
        }
        let mut moved: Vec<f64> = (0..5).map(|k| p[k] + slope[k] / scale[k]).collect();
        let sum: f64 = moved.iter().sum();
        moved.iter_mut().for_each(|p| *p /= sum);
        prop_assert!(largest_difference(&p, &moved) < 2e-6, "{slope:?} {p:?} {moved:?}");
    }

    #[test]
    fn any_answers_couple_to_a_distribution(
        answers in prop::collection::vec(prop_oneof![4 => 0.0..=1.0f64, 1 => prop::sample::select(HARD.to_vec())], 15),
        pick in prop::collection::vec(0..15usize, 0..10),
        parents in prop::collection::vec(any::<prop::sample::Index>(), 14),
        code in prop::collection::vec(-1i8..=1, 6 * 15),
    ) {
        let mut scratch = Scratch::default();
        let mut p = vec![f64::NAN; 6];
        couple::pairwise(&answers, &mut p, &mut scratch);
        prop_assert!(is_distribution(&p), "{p:?}");
        let all: Vec<(u32, u32)> = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b))).collect();
        let some: Vec<(u32, u32)> = pick.iter().map(|&i| all[i]).collect();
        Pairs::new(6, &some).unwrap().couple(&answers[..some.len()], &mut p, &mut scratch);
        prop_assert!(is_distribution(&p), "{p:?}");
        prop_assert!(some.is_empty() || (0..6u32).all(|a| some.iter().any(|s| s.0 == a || s.1 == a) || p[a as usize] == 0.0));
        CodeColumns::new(6, 15, &code).unwrap().couple(&answers, &mut p, &mut scratch);
        prop_assert!(is_distribution(&p), "{p:?}");
        let mut p = answers[..6].to_vec();
        couple::one_vs_all(&mut p);
        prop_assert!(is_distribution(&p), "{p:?}");

        let parent: Vec<u32> = [0].into_iter().chain((1..15).map(|i| parents[i - 1].index(i) as u32)).collect();
        let mut p = answers.clone();
        Paths::new(&parent).unwrap().couple(&mut p, &mut scratch);
        let leaves: Vec<f64> = (0..15).filter(|&i| parent[1..].iter().all(|&q| q != i as u32)).map(|i| p[i]).collect();
        prop_assert!(is_distribution(&leaves), "{leaves:?}");
    }

    /// The safe and slow twin: try a threshold at every score.
    #[test]
    fn no_threshold_does_better(
        rows in prop::collection::vec((score(), any::<bool>(), prop::sample::select(vec![0.5f32, 1.0, 2.0])), 1..25),
        costs in (0.0..3.0f64, 0.0..3.0f64),
    ) {
        let scores: Vec<f64> = rows.iter().map(|row| row.0).collect();
        let yes: Vec<bool> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f32> = rows.iter().map(|row| row.2).collect();
        let answers = Answers::new(&scores, &yes, Some(&weights)).unwrap();
        let sum = |cut: f64, fires: bool, yes: bool| {
            let of = rows.iter().filter(|row| (row.0 >= cut) == fires && row.1 == yes);
            of.map(|row| f64::from(row.2)).sum::<f64>()
        };
        let f1 = |cut: f64| {
            let (tp, fp, missed) = (sum(cut, true, true), sum(cut, true, false), sum(cut, false, true));
            if tp == 0.0 { 0.0 } else { 2.0 * tp / (2.0 * tp + fp + missed) }
        };
        let both_f1 = |cut: f64| {
            let (tn, fp, missed) = (sum(cut, false, false), sum(cut, true, false), sum(cut, false, true));
            f1(cut) + if tn == 0.0 { 0.0 } else { 2.0 * tn / (2.0 * tn + fp + missed) }
        };
        let cost = |cut: f64| costs.0 * sum(cut, true, false) + costs.1 * sum(cut, false, true);
        let by_macro_f1 = threshold(Aim::MacroF1, &answers).unwrap();
        let by_f1 = threshold(Aim::F1 { floor: 0.0 }, &answers).unwrap();
        let aim = Aim::Cost { false_positive: costs.0, false_negative: costs.1 };
        let by_cost = threshold(aim, &answers).unwrap();
        for &cut in scores.iter().chain([&f64::INFINITY]) {
            prop_assert!(f1(by_f1) >= f1(cut) - 1e-12);
            prop_assert!(both_f1(by_macro_f1) >= both_f1(cut) - 1e-12);
            prop_assert!(cost(by_cost) <= cost(cut) + 1e-12);
        }
        prop_assert!(by_f1.is_finite() && by_cost.is_finite());
        if !yes.contains(&true) {
            prop_assert_eq!((by_f1, by_cost), (NEVER, NEVER));
        }
        // One label: micro F1 is its F1.
        let start: Vec<usize> = yes.iter().scan(0, |n, &y| { *n += usize::from(y); Some(*n) }).collect();
        let start: Vec<usize> = [0].into_iter().chain(start).collect();
        let ids = vec![0; start[yes.len()]];
        let held = Held::new(1, &scores, Truth::Labels { start: &start, ids: &ids }).unwrap();
        let held = held.with_weights(&weights).unwrap();
        prop_assert_eq!(thresholds(Aim::MicroF1, &held).unwrap(), vec![by_f1]);
        prop_assert_eq!(thresholds(Aim::F1 { floor: 0.0 }, &held).unwrap(), vec![by_f1]);
    }

    #[test]
    fn temperatures_stay_positive_and_keep_the_order((scores, y, weights) in rows()) {
        let held = Held::new(3, &scores, Truth::Classes(&y)).unwrap().with_weights(&weights).unwrap();
        let temperature = Temperature::fit(&held);
        prop_assert!(temperature.t > 0.0 && temperature.t.is_finite());
        let mut p = [0.0; 3];
        for row in scores.chunks(3) {
            temperature.softmax(row, &mut p);
            for (a, b) in [(0, 1), (1, 2), (2, 0)] {
                prop_assert!(row[a] > row[b] || p[a] <= p[b]);
            }
        }
    }
}
