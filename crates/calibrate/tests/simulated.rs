//! Data of known probabilities, large enough that what is fitted must be near.

use lineal_calibrate::couple::{CodeColumns, Scratch};
use lineal_calibrate::{Answers, Calibration, Held, Isotonic, Kind, Platt, Truth};
use lineal_linalg::special::{sigmoid, softmax};

/// Uniform numbers in [0, 1): Knuth's linear congruences, high bits.
struct Draw(u64);

impl Draw {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }

    fn class(&mut self, p: &[f64]) -> u32 {
        let mut left = self.uniform();
        let class = p.iter().position(|p| {
            left -= p;
            left < 0.0
        });
        class.unwrap_or(p.len() - 1) as u32
    }
}

#[test]
fn platt_recovers_slope_and_offset() {
    let mut draw = Draw(1);
    for (a, b) in [(1.0, 0.0), (2.5, -1.0), (0.3, 2.0), (-1.5, 0.5)] {
        let scores: Vec<f64> = (0..40_000).map(|_| 2.0 * draw.normal()).collect();
        let yes: Vec<bool> = scores.iter().map(|s| draw.uniform() < sigmoid(a * s + b)).collect();
        let map = Platt::fit(&Answers::new(&scores, &yes, None).unwrap());
        // Some four standard errors of a logistic regression on as many rows.
        assert!((map.a - a).abs() < 0.03 * (1.0 + a.abs()), "{map:?} for {a}, {b}");
        assert!((map.b - b).abs() < 0.12, "{map:?} for {a}, {b}");
        // In other units of the score the map is the same.
        for unit in [1e-200, 1e-3, 1e6, 1e250] {
            let scaled: Vec<f64> = scores.iter().map(|s| s * unit).collect();
            let scaled = Platt::fit(&Answers::new(&scaled, &yes, None).unwrap());
            assert!((scaled.a * unit - map.a).abs() < 1e-9 && (scaled.b - map.b).abs() < 1e-9);
        }
    }
}

#[test]
fn isotonic_follows_a_curve_that_no_sigmoid_has() {
    let mut draw = Draw(2);
    let truth = |s: f64| if s < 0.3 { 0.1 } else { 0.1 + 0.8 * ((s - 0.3) / 0.7).powi(2) };
    let scores: Vec<f64> = (0..40_000).map(|_| draw.uniform()).collect();
    let yes: Vec<bool> = scores.iter().map(|&s| draw.uniform() < truth(s)).collect();
    let answers = Answers::new(&scores, &yes, None).unwrap();
    let (map, platt) = (Isotonic::fit(&answers), Platt::fit(&answers));
    let error = |p: &dyn Fn(f64) -> f64| {
        let at = (5..96).map(|i| f64::from(i) / 100.0);
        at.map(|s| (p(s) - truth(s)).abs()).fold(0.0, f64::max)
    };
    assert!(error(&|s| map.proba(s)) < 0.06);
    assert!(error(&|s| platt.proba(s)) > 0.07);
}

/// Scores that are log-probabilities times 3: too sure by a factor, which a temperature of 3 undoes.
#[test]
fn a_temperature_undoes_a_factor_and_all_maps_lower_the_loss() {
    let (mut draw, k, n) = (Draw(3), 4, 20_000);
    let (mut scores, mut y) = (Vec::new(), Vec::new());
    for _ in 0..n {
        let logits: Vec<f64> = (0..k).map(|_| draw.normal()).collect();
        let mut p = vec![0.0; k];
        softmax(&logits, &mut p);
        y.push(draw.class(&p));
        scores.extend(logits.iter().map(|s| 3.0 * s));
    }
    let held = Held::new(k, &scores, Truth::Classes(&y)).unwrap();
    let loss = |map: &dyn Fn(&[f64], &mut [f64])| {
        let mut p = vec![0.0; k];
        let rows = scores.chunks(k).zip(&y);
        let total: f64 = rows
            .map(|(s, &y)| {
                map(s, &mut p);
                -p[y as usize].max(1e-15).ln()
            })
            .sum();
        total / n as f64
    };
    let raw = loss(&|s, p| {
        softmax(s, p);
    });
    for kind in [Kind::Platt, Kind::Isotonic, Kind::Temperature] {
        let calibration = Calibration::fit(kind, &held);
        assert!(loss(&|s, p| calibration.classes(s, p)) < raw - 0.1, "{kind}");
        if let Calibration::Temperature(temperature) = calibration {
            assert!((temperature.t - 3.0).abs() < 0.1, "{temperature:?}");
        }
    }
}

/// Why codes are coupled by a Bradley–Terry model and not by the product of their bits' probabilities.
#[test]
fn coupled_codes_have_the_loss_of_the_truth_and_products_are_too_sure() {
    let (k, l, n) = (8, 24, 1500);
    let mut draw = Draw(4);
    let code: Vec<i8> =
        (0..k * l).map(|_| [1, -1, 0, 1, -1][(5.0 * draw.uniform()) as usize]).collect();
    let columns = CodeColumns::new(k, l, &code).unwrap();
    for (noise, most) in [(0.0, 0.02), (1.0, 0.12)] {
        let (mut truth, mut coupled, mut product) = (0.0, 0.0, 0.0);
        let (mut p, mut q) = (vec![0.0; k], vec![0.0; k]);
        let mut scratch = Scratch::default();
        for _ in 0..n {
            let logits: Vec<f64> = (0..k).map(|_| 2.0 * draw.normal()).collect();
            softmax(&logits, &mut p);
            let y = draw.class(&p) as usize;
            truth -= p[y].ln();
            let answers: Vec<f64> = (0..l)
                .map(|l_| {
                    let mass = |sign: i8| {
                        (0..k).filter(|c| code[c * l + l_] == sign).map(|c| p[c]).sum::<f64>()
                    };
                    sigmoid((mass(1) / mass(-1)).ln() + noise * draw.normal())
                })
                .collect();
            columns.couple(&answers, &mut q, &mut scratch);
            coupled -= q[y].ln();
            let bit = |c: usize, l_: usize| match code[c * l + l_] {
                1 => answers[l_].ln(),
                -1 => (1.0 - answers[l_]).ln(),
                _ => 0.5f64.ln(),
            };
            let logs: Vec<f64> = (0..k).map(|c| (0..l).map(|l_| bit(c, l_)).sum()).collect();
            softmax(&logs, &mut q);
            product -= q[y].max(1e-15).ln();
        }
        let n = n as f64;
        let (truth, coupled, product) = (truth / n, coupled / n, product / n);
        assert!(coupled < truth + most, "{truth} {coupled} {product}");
        assert!(product > coupled + 0.5, "{truth} {coupled} {product}");
    }
}
