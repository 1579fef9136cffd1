//! The ends of the range, by hand, and what is refused.

use lineal_calibrate::couple::{self, CodeColumns, Pairs, Paths, Scratch};
use lineal_calibrate::{
    Aim, Answers, Calibration, Error, Held, Isotonic, Kind, NEVER, Platt, Temperature, Truth,
    threshold, thresholds,
};

#[test]
fn separable_scores_have_a_finite_slope() {
    let answers = [false, false, true, true];
    let map = Platt::fit(&Answers::new(&[-2.0, -1.0, 1.0, 2.0], &answers, None).unwrap());
    // Targets are 1/4 and 3/4; the closest to them, by symmetry, has b = 0.
    assert!(map.a > 0.5 && map.a < 2.0 && map.b.abs() < 1e-9, "{map:?}");
    let one = Platt::fit(&Answers::new(&[1.0, 2.0, 3.0], &[true; 3], None).unwrap());
    assert!((one.proba(-1e300) - 0.8).abs() < 1e-9, "{one:?}"); // (3 + 1)/(3 + 2), whatever the score
    let step = Isotonic::fit(&Answers::new(&[-2.0, -1.0, 1.0, 2.0], &answers, None).unwrap());
    assert_eq!(step.knots(), (&[-2.0, -1.0, 1.0, 2.0][..], &[0.0, 0.0, 1.0, 1.0][..]));
    assert_eq!(step.proba(0.5), 0.75);
}

#[test]
fn temperatures_end_where_scores_separate_or_mislead() {
    let scores = [1.0, 0.0, 0.0, 1.0];
    let fit = |y: &[u32]| Temperature::fit(&Held::new(2, &scores, Truth::Classes(y)).unwrap()).t;
    // Two of two right: as sure as the rule of succession, 3/4.
    let sure = 1.0 / (1.0 + (-1.0 / fit(&[0, 1])).exp());
    assert!((sure - 0.75).abs() < 1e-6, "{sure}");
    assert!((fit(&[1, 0]).ln() - 10.0).abs() < 1e-6);
    let flat = Held::new(2, &[3.0; 4], Truth::Classes(&[0, 1])).unwrap();
    assert_eq!(Temperature::fit(&flat).t, 1.0);
}

#[test]
fn a_column_that_nobody_is_asked_knows_nothing() {
    // Class 2 has no rows, so that the pairs (0,2) and (1,2) have one side each, and no row of class 0 or 1 is in none.
    let code = [1, 1, 0, -1, 0, 0, 0, -1, 0];
    let held = Held::new(3, &[1.0; 6], Truth::Coded { y: &[0, 1], code: &code }).unwrap();
    for kind in [Kind::Platt, Kind::Isotonic, Kind::Temperature] {
        let calibration = Calibration::fit(kind, &held);
        assert_eq!(calibration.n_columns(), (kind != Kind::Temperature).then_some(3));
        assert_eq!((calibration.kind(), kind.to_string().parse()), (kind, Ok(kind)));
        let mut p = [0.0; 3];
        calibration.columns(&[0.0; 3], &mut p);
        assert_eq!(p[2], 0.5, "{calibration:?}");
    }
}

#[test]
fn thresholds_by_hand() {
    let scores = [0.9, 0.8, 0.6, 0.4, 0.2];
    let cut =
        |aim, yes: &[bool]| threshold(aim, &Answers::new(&scores, yes, None).unwrap()).unwrap();
    let f1 = Aim::F1 { floor: 0.0 };
    assert_eq!(cut(f1, &[true, true, false, false, false]), 0.7);
    assert_eq!(cut(f1, &[true; 5]), 0.2);
    assert_eq!(cut(f1, &[false; 5]), NEVER);
    // Firing on all five finds the one that counts: F1 1/3, unless that is too little.
    let last = [false, false, false, false, true];
    assert_eq!(cut(f1, &last), 0.2);
    assert_eq!(cut(Aim::F1 { floor: 0.4 }, &last), 0.9);
    let cost = |false_positive, false_negative| Aim::Cost { false_positive, false_negative };
    assert_eq!(cut(cost(1.0, 10.0), &last), 0.2);
    assert_eq!(cut(cost(1.0, 3.0), &last), NEVER);
    // As good to fire on two as on none: none.
    assert_eq!(cut(cost(1.0, 1.0), &[false, true, false, false, false]), NEVER);
    // Rows of equal score fire together, and neighbours without a number between them are told apart.
    let near = [1.0, 1.0f64.next_down(), 1.0, 0.0];
    let answers = Answers::new(&near, &[true, false, false, false], None).unwrap();
    assert_eq!(threshold(f1, &answers), Ok(1.0));
}

#[test]
fn one_threshold_for_all_labels() {
    // Label 0 is true at 3 and 2, label 1 at 1; 0.5 is the best cut for both together, 2.5 and … for each.
    let scores = [3.0, 1.0, 2.0, 0.0, -1.0, 0.0];
    let labels = Truth::Labels { start: &[0, 2, 3, 3], ids: &[1, 0, 0] };
    let held = Held::new(2, &scores, labels).unwrap();
    assert_eq!(thresholds(Aim::MicroF1, &held).unwrap(), [0.5, 0.5]);
    assert_eq!(thresholds(Aim::F1 { floor: 0.0 }, &held).unwrap(), [0.5, 0.5]);
    let held = Held::new(2, &scores, Truth::Labels { start: &[0; 4], ids: &[] }).unwrap();
    assert_eq!(thresholds(Aim::MicroF1, &held).unwrap(), [NEVER, NEVER]);
}

#[test]
fn couplings_by_hand() {
    let mut scratch = Scratch::default();
    let mut p = [0.0, 0.0, 0.0, 0.0];
    couple::one_vs_all(&mut p);
    assert_eq!(p, [0.25; 4]);
    couple::pairwise(&[], &mut p[..1], &mut scratch);
    assert_eq!(p[0], 1.0);
    couple::pairwise(&[], &mut [], &mut scratch);
    // Nobody is paired; then 0 and 2 alone.
    Pairs::new(4, &[]).unwrap().couple(&[], &mut p, &mut scratch);
    assert_eq!(p, [0.25; 4]);
    Pairs::new(4, &[(2, 0)]).unwrap().couple(&[0.75], &mut p, &mut scratch);
    let expected = [0.25, 0.0, 0.75, 0.0];
    assert!(p.iter().zip(expected).all(|(p, q)| (p - q).abs() < 1e-9), "{p:?}");
    // A wide node of three whose children answer each for itself, the first of them split in two.
    let mut tree = [f64::NAN, 0.9, 0.6, 0.3, 0.25, 0.75];
    Paths::new(&[0, 0, 0, 0, 1, 1]).unwrap().couple(&mut tree, &mut scratch);
    let expected = [1.0, 0.5, 1.0 / 3.0, 1.0 / 6.0, 0.125, 0.375];
    assert!(tree.iter().zip(expected).all(|(p, q)| (p - q).abs() < 1e-12), "{tree:?}");
}

/// As many classes as one-vs-one is used for.
#[test]
fn three_hundred_classes_couple() {
    let k = 300;
    let weights: Vec<f64> = (0..k).map(|i| 1.0 / (1.0 + f64::from(i))).collect();
    let sum: f64 = weights.iter().sum();
    let at = |a: i32, b: i32| weights[a as usize] / (weights[a as usize] + weights[b as usize]);
    let r: Vec<f64> =
        (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b))).map(|(a, b)| at(a, b)).collect();
    let mut p = vec![0.0; k as usize];
    couple::pairwise(&r, &mut p, &mut Scratch::default());
    assert!(p.iter().zip(&weights).all(|(p, w)| (p - w / sum).abs() < 1e-9));
}

#[test]
fn files_that_lie_are_refused() {
    let refused = |text: &str| serde_json::from_str::<Calibration>(text).is_err();
    assert!(!refused(r#"{"isotonic":[{"x":[0.0,1.0],"y":[0.2,0.7]}]}"#));
    assert!(!refused(r#"{"platt":[{"a":1.0,"b":0.0}]}"#));
    for bad in [
        r#"{"isotonic":[{"x":[],"y":[]}]}"#,
        r#"{"isotonic":[{"x":[0.0,1.0],"y":[0.2]}]}"#,
        r#"{"isotonic":[{"x":[1.0,0.0],"y":[0.2,0.7]}]}"#,
        r#"{"isotonic":[{"x":[0.0,1.0],"y":[0.7,0.2]}]}"#,
        r#"{"isotonic":[{"x":[0.0,1.0],"y":[0.2,1.7]}]}"#,
        r#"{"temperature":{"t":0.0}}"#,
        r#"{"temperature":{"t":-1.0}}"#,
        r#"{"platt":[{"a":null,"b":0.0}]}"#,
    ] {
        assert!(refused(bad), "{bad}");
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let said = |e: Error| e.to_string();
    assert_eq!(Answers::new(&[], &[], None).unwrap_err(), Error::Empty);
    assert!(said(Answers::new(&[1.0], &[], None).unwrap_err()).contains("1 answers"));
    let infinite = Answers::new(&[0.0, f64::NEG_INFINITY], &[true, false], None).unwrap_err();
    assert_eq!(said(infinite), "score 1 is -inf; it must be finite");
    let weigh = |w: &[f32]| Answers::new(&[0.0, 1.0], &[true, false], Some(w)).map(|_| ());
    assert_eq!(weigh(&[0.0, 0.0]), Err(Error::Empty));
    assert!(said(weigh(&[1.0, -1.0]).unwrap_err()).contains("not negative"));
    assert!(weigh(&[1.0]).is_err() && weigh(&[1.0, f32::NAN]).is_err());

    let held = |l, s: &'static [f64], truth| Held::new(l, s, truth).map(|_| ());
    assert_eq!(held(0, &[], Truth::Classes(&[0])), Err(Error::Empty));
    assert_eq!(held(1, &[], Truth::Classes(&[])), Err(Error::Empty));
    assert_eq!(held(1, &[], Truth::Labels { start: &[], ids: &[] }), Err(Error::Empty));
    assert!(held(1, &[0.0], Truth::Classes(&[1])).is_ok());
    let wrong = held(2, &[0.0; 4], Truth::Classes(&[0, 2])).unwrap_err();
    assert_eq!(said(wrong), "row 1 has class 2, but there are 2 of them, counted from 0");
    assert!(held(2, &[0.0; 2], Truth::Coded { y: &[0], code: &[1, 0, 1] }).is_err());
    assert!(held(2, &[0.0; 2], Truth::Coded { y: &[0], code: &[1, 2] }).is_err());
    assert!(held(2, &[0.0; 2], Truth::Coded { y: &[1], code: &[1, -1] }).is_err());
    // Labels that there are no columns for are passed over: they were not seen in training.
    assert!(held(1, &[0.0], Truth::Labels { start: &[0, 1], ids: &[u32::MAX] }).is_ok());
    for start in [&[0, 2][..], &[1, 1], &[0, 0]] {
        assert!(Held::new(1, &[0.0], Truth::Labels { start, ids: &[0] }).is_err());
    }

    let ok = Answers::new(&[1.0], &[true], None).unwrap();
    for aim in [
        Aim::F1 { floor: 2.0 },
        Aim::Cost { false_positive: -1.0, false_negative: 0.0 },
        Aim::Cost { false_positive: 1.0, false_negative: f64::NAN },
    ] {
        assert!(threshold(aim, &ok).is_err());
    }
    assert!(Pairs::new(2, &[(0, 2)]).is_err() && Pairs::new(2, &[(1, 1)]).is_err());
    assert!(Paths::new(&[]).is_err() && Paths::new(&[0, 1]).is_err() && Paths::new(&[7]).is_ok());
    assert!(CodeColumns::new(2, 1, &[1]).is_err() && CodeColumns::new(2, 1, &[1, 3]).is_err());
    assert!("sigmoid".parse::<Kind>().is_err());
}
