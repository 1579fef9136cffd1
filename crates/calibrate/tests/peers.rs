//! Maps against scikit-learn 1.9.1 and SciPy 1.17.1, on numbers rounded to one place.

use lineal_calibrate::{Answers, Calibration, Held, Isotonic, Kind, Platt, Temperature, Truth};

const S: [f64; 24] = [
    0.1, 2.7, 2.4, -1.0, -0.6, -1.1, 1.1, -0.1, 1.5, -3.7, 3.1, -0.2, 1.4, -0.3, -0.8, 0.9, 1.6,
    -0.4, -0.3, 1.4, -1.7, -3.0, 0.8, -1.3,
];
const Y: [u8; 24] = [1, 1, 1, 0, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 0, 1, 0, 0, 1, 1];
const W: [f32; 24] = [
    1.0, 0.5, 0.5, 3.0, 0.5, 1.0, 3.0, 2.0, 3.0, 0.5, 1.0, 0.5, 0.5, 3.0, 0.5, 2.0, 0.5, 1.0, 3.0,
    1.0, 1.0, 0.5, 3.0, 0.5,
];

#[track_caller]
fn close(a: f64, b: f64, tolerance: f64) {
    assert!((a - b).abs() <= tolerance, "{a} ≠ {b}");
}

#[test]
fn platt_agrees_with_scikit_learn() {
    let yes = Y.map(|y| y == 1);
    // _sigmoid_calibration(S, Y) stops at a gradient of 1e-6, and its slope and offset have the other sign.
    let map = Platt::fit(&Answers::new(&S, &yes, None).unwrap());
    close(map.a, 1.0642521094636261, 1e-6);
    close(map.b, 1.1579741508430723, 1e-6);
    // _sigmoid_calibration(S, Y, sample_weight=W)
    let map = Platt::fit(&Answers::new(&S, &yes, Some(&W)).unwrap());
    close(map.a, 1.5824707842310404, 1e-6);
    close(map.b, 1.1532073032522694, 1e-6);
}

#[test]
fn isotonic_agrees_with_scikit_learn() {
    let yes = Y.map(|y| y == 1);
    let x = [-3.7, -1.7, -1.3, -0.6, -0.4, -0.3, -0.2, 3.1];
    let third = 2.0 / 3.0;
    // IsotonicRegression(out_of_bounds="clip").fit(S, Y), then X_thresholds_ and y_thresholds_; and with sample_weight=W
    for (weights, y) in [
        (None, [0.0, 0.0, 0.4, 0.4, third, third, 1.0, 1.0]),
        (Some(&W[..]), [0.0, 0.0, 3.0 / 11.0, 3.0 / 11.0, 4.0 / 7.0, 4.0 / 7.0, 1.0, 1.0]),
    ] {
        let map = Isotonic::fit(&Answers::new(&S, &yes, weights).unwrap());
        let (xs, ys) = map.knots();
        assert_eq!(xs, x);
        ys.iter().zip(y).for_each(|(&a, b)| close(a, b, 1e-15));
        close(map.proba(-1.5), y[2] / 2.0, 1e-15);
        assert_eq!((map.proba(-9.0), map.proba(9.0)), (0.0, 1.0));
    }
}

#[test]
fn temperature_agrees_with_scikit_learn_and_scipy() {
    #[rustfmt::skip]
    let scores = [
        -0.8, 2.3, -1.3, -0.1, 1.0, -2.6, 1.8, -0.3, 1.5, -1.6, 3.3, 1.8, -0.5, 1.9, 3.8, 5.4, -4.7, 2.6,
        1.4, -0.3, -3.0, 3.8, -3.8, 1.7, 3.9, -4.8, -0.9, -3.9, 0.7, 4.5, 6.1, -5.3, -1.7, 2.1, 4.7, 1.3,
    ];
    let y = [2, 0, 2, 1, 2, 0, 1, 2, 0, 2, 0, 2];
    let held = Held::new(3, &scores, Truth::Classes(&y)).unwrap();
    // 1 / _TemperatureScaling().fit(scores.reshape(12, 3), y).beta_
    close(Temperature::fit(&held).t, 2.9314899755358645, 1e-7);
    // scipy.optimize.minimize_scalar of the weighted log loss in ln T, weights W[:12]
    let held = held.with_weights(&W[..12]).unwrap();
    close(Temperature::fit(&held).t, 2.642130410370636, 1e-7);
    // One column: minimize_scalar of logaddexp(0, -(2Y-1)·S/T).sum()
    let y: Vec<u32> = Y.iter().map(|&y| y.into()).collect();
    let held = Held::new(1, &S, Truth::Classes(&y)).unwrap();
    close(Temperature::fit(&held).t, 0.7556265749705924, 1e-7);
    let mut p = [0.0; 2];
    Calibration::fit(Kind::Temperature, &held).classes(&[0.7556265749705924], &mut p);
    close(p[1], 1.0 / (1.0 + (-1f64).exp()), 1e-7);
}
