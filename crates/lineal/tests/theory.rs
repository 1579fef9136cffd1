//! The theory that this project implements, one fact a test.
#![allow(missing_docs, reason = "a test")]

use lineal::erm::{Dually, Erm, Rows};
use lineal::linalg::special::{sigmoid, softmax};
use lineal::linalg::{Dense, Matrix, Row};
use lineal::loss::{DualLoss, Hinge, Logistic, Loss, SumHinge, SumPerceptron};
use lineal::solver::{Dual, Stop, dual, silent};
use lineal::space::{Binary, Classes, OutputSpace};
use lineal::{
    Bias, ClassWeight, CostMatrix, Dataset, Format, LossKind, Model, Penalty, Precision, Predicted,
    Report, ScheduleKind, Schema, SgdSpec, SolverKind, Standardize, TargetKind, Targets, Task,
    TrainSpec, Training, train, with_threads,
};
use lineal_model::cost::{NoCost, ZeroOne};
use lineal_model::{Linear, Model as _};
use proptest::prelude::*;

/// Dense rows with classes called a, b, c, ….
fn classes(k: usize, rows: &[Vec<f32>], y: &[u32]) -> Dataset {
    let names = (0..k).map(|c| char::from(b'a' + c as u8).to_string()).collect();
    dataset(rows, Targets::Classes(y.to_vec()), TargetKind::Classes, names)
}

fn dataset(rows: &[Vec<f32>], y: Targets, target: TargetKind, classes: Vec<String>) -> Dataset {
    let n_features = rows[0].len();
    Dataset {
        x: Matrix::Dense(Dense::new(rows.len(), n_features, rows.concat()).expect("even rows")),
        y,
        weights: None,
        queries: None,
        schema: Schema {
            format: Some(Format::Csv),
            target,
            classes,
            n_features,
            columns: None,
            feature_ids: None,
            n_computed: 0,
            image: None,
            no_header: false,
            delimiter: None,
            decimal_comma: false,
            encoding: None,
        },
        warnings: Vec::new(),
        source: "memory".into(),
    }
}

/// Entries in [−1, 1), the same every time.
fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Random rows whose classes follow the features but for some noise.
fn random_classes(n: usize, d: usize, k: usize, seed: u64) -> Dataset {
    let values = noise(n * d, seed);
    let rows: Vec<Vec<f32>> =
        values.chunks(d).map(|r| r.iter().map(|&v| v as f32).collect()).collect();
    let off = noise(n, seed ^ 0xfeed);
    let class = |(row, off): (&Vec<f32>, &f64)| {
        let sum = f64::from(row[0] + 0.5 * row[1]) + 0.4 * off;
        (((sum + 1.5) / 3.0).clamp(0.0, 0.999) * k as f64) as u32
    };
    let y: Vec<u32> = rows.iter().zip(&off).map(class).collect();
    classes(k, &rows, &y)
}

fn gold(data: &Dataset) -> &[u32] {
    let Targets::Classes(y) = &data.y else { panic!("classes") };
    y
}

fn predicted(model: &Model, data: &Dataset) -> Vec<u32> {
    let Predicted::Classes(y) = model.predict(data).unwrap() else { panic!("classes") };
    y
}

fn value_grad<L: Loss<f64, S>, S: OutputSpace<f64>>(
    loss: &L,
    space: S,
    scores: &[f64],
    y: S::Output,
) -> (f64, Vec<f64>) {
    let mut grad = vec![0.0; scores.len()];
    let value = loss.value_grad(space, &mut scores.to_vec(), y, &mut grad);
    (value, grad)
}

/// One pass of plain SGD in the order of the rows, without penalty or bias.
fn plain_sgd(loss: LossKind) -> TrainSpec {
    TrainSpec {
        loss: Some(loss),
        solver: SolverKind::Sgd,
        penalty: Penalty::L2(0.0),
        bias: Bias::None,
        precision: Precision::F64,
        sgd: SgdSpec {
            epochs: 1,
            rate: Some(1.0),
            schedule: Some(ScheduleKind::Constant),
            shuffle: false,
            ..SgdSpec::default()
        },
        ..TrainSpec::default()
    }
}

#[test]
fn one_softmax_step_from_zero_moves_by_two_thirds_and_minus_a_third() {
    let mut p = [0.0; 3];
    softmax(&[0.0; 3], &mut p);
    assert_eq!(p, [1.0 / 3.0; 3]);
    let data = classes(3, &[vec![1.0, 1.0, 0.0]], &[0]);
    let (model, report) = train(&data, &plain_sgd(LossKind::Logistic)).unwrap();
    assert_eq!(report.updates, Some(1));
    for (class, wanted) in [(0, 2.0 / 3.0), (1, -1.0 / 3.0), (2, -1.0 / 3.0)] {
        assert!(
            (model.weight(0, class) - wanted).abs() <= f64::EPSILON,
            "{}",
            model.weight(0, class)
        );
        assert_eq!(model.weight(1, class), model.weight(0, class));
        assert_eq!(model.weight(2, class), 0.0);
    }
}

#[test]
fn scores_are_inner_products_with_the_rows_of_w() {
    let w = [[2.0, 5.6, -3.0], [1.2, -3.1, 5.7], [1.0, 1.2, -0.5]];
    let feature_major: Vec<f64> = (0..3).flat_map(|j| w.map(|row| row[j])).collect();
    let model = Linear::new(3, Classes(3), Bias::None);
    let mut scores = [0.0; 3];
    model.scores(Row::Dense(&[1.0, 1.0, 0.0]), &feature_major, &mut scores);
    for (score, wanted) in scores.iter().zip([7.6, -1.9, 2.2]) {
        assert!((score - wanted).abs() < 1e-12, "{scores:?}");
    }
    assert_eq!(Classes(3).decode(&scores), 0);
}

/// The optimum of mean loss + (l2/2)‖w‖².
fn optimum<S: OutputSpace<f64>, L: DualLoss<f64, S>>(
    space: S,
    loss: &L,
    rows: Rows<'_, S::Output>,
    bias: Bias,
    l2: f64,
) -> (Vec<f64>, f64) {
    let model = Linear::new(2, space, bias);
    let penalty = lineal::erm::Penalty { l2, l1: 0.0 };
    let mut erm = Erm::new(&model, loss, rows, penalty);
    let mut problem = Dually::new(&mut erm);
    let mut w = vec![0.0; lineal_model::Model::<f64>::dim(&model)];
    let mut mu = vec![0.0; problem.n_dual()];
    let config = Dual { stop: Stop { tol: 1e-10, max_passes: 100_000 }, ..Dual::default() };
    let outcome = dual(&config, &mut problem, &mut mu, &mut w, &mut silent());
    assert!(outcome.converged, "{outcome:?}");
    (w, outcome.value)
}

#[test]
fn binary_hinge_is_multiclass_hinge_with_opposite_halves() {
    let data = random_classes(30, 2, 2, 1);
    let rows = Rows::new(&data.x, gold(&data), None);
    for bias in [Bias::Free, Bias::Penalised, Bias::None] {
        // ½‖(−w/2, w/2)‖² = ¼‖w‖²: twice the λ is the same penalty.
        let (w, one) = optimum(Binary, &Hinge(ZeroOne), rows, bias, 0.05);
        let (halves, two) = optimum(Classes(2), &Hinge(ZeroOne), rows, bias, 0.1);
        assert!((one - two).abs() < 1e-9, "{one} {two}");
        for j in 0..2 {
            assert!((halves[2 * j] + 0.5 * w[j]).abs() < 1e-3, "{halves:?} {w:?}");
            assert!((halves[2 * j + 1] - 0.5 * w[j]).abs() < 1e-3, "{halves:?} {w:?}");
        }
    }
}

proptest! {
    #[test]
    fn binary_losses_are_those_of_two_classes(f in -30.0..30.0f64, y in 0..2u32) {
        let (one, halves) = ([f], [-0.5 * f, 0.5 * f]);
        let sign = Binary::sign::<f64>(y);
        let (hinge, grad) = value_grad(&Hinge(ZeroOne), Binary, &one, y);
        let (twin, twin_grad) = value_grad(&Hinge(ZeroOne), Classes(2), &halves, y);
        prop_assert!((hinge - (1.0 - sign * f).max(0.0)).abs() <= 1e-12);
        prop_assert!((hinge - twin).abs() <= 1e-12);
        prop_assert!((grad[0] - 0.5 * (twin_grad[1] - twin_grad[0])).abs() <= 1e-12);
    }

    #[test]
    fn softmax_of_f_and_minus_f_is_sigmoid_of_twice_f(f in -400.0..400.0f64) {
        let mut p = [0.0; 2];
        softmax(&[f, -f], &mut p);
        prop_assert!((p[0] - sigmoid(2.0 * f)).abs() <= 1e-14);
        prop_assert!((p[1] - sigmoid(-2.0 * f)).abs() <= 1e-14);
    }

    #[test]
    fn softmax_of_two_classes_is_binary_logistic(a in -30.0..30.0f64, b in -30.0..30.0f64, y in 0..2u32) {
        // Class 1 is the positive one: w = w₁ − w₀.
        let (softmax, two) = value_grad(&Logistic(NoCost), Classes(2), &[a, b], y);
        let (logistic, one) = value_grad(&Logistic(NoCost), Binary, &[b - a], y);
        prop_assert!((softmax - logistic).abs() <= 1e-12 * (1.0 + softmax));
        prop_assert!((two[1] - one[0]).abs() <= 1e-12 && (two[0] + one[0]).abs() <= 1e-12);
    }

    #[test]
    fn a_constant_on_all_scores_changes_no_loss_and_no_prediction(
        scores in prop::collection::vec(-5.0..5.0f64, 4),
        c in -1e4..1e4f64,
        y in 0..4u32,
    ) {
        let moved: Vec<f64> = scores.iter().map(|s| s + c).collect();
        prop_assert_eq!(Classes(4).decode(&scores), Classes(4).decode(&moved));
        for (a, b) in [
            (value_grad(&Logistic(NoCost), Classes(4), &scores, y), value_grad(&Logistic(NoCost), Classes(4), &moved, y)),
            (value_grad(&Hinge(ZeroOne), Classes(4), &scores, y), value_grad(&Hinge(ZeroOne), Classes(4), &moved, y)),
            (value_grad(&SumHinge(ZeroOne), Classes(4), &scores, y), value_grad(&SumHinge(ZeroOne), Classes(4), &moved, y)),
        ] {
            prop_assert!((a.0 - b.0).abs() <= 1e-10);
            prop_assert!(a.1.iter().zip(&b.1).all(|(a, b)| (a - b).abs() <= 1e-10));
        }
    }

    #[test]
    fn losses_bound_mistakes_from_above(
        scores in prop::collection::vec(prop_oneof![-3.0..3.0f64, Just(0.0)], 5),
        costs in prop::collection::vec(0.0..4.0f64, 25),
        y in 0..5u32,
    ) {
        let y_hat = Classes(5).decode(&scores);
        let mistake = f64::from(u8::from(y_hat != y));
        let (max_hinge, _) = value_grad(&Hinge(ZeroOne), Classes(5), &scores, y);
        let (sum_hinge, _) = value_grad(&SumHinge(ZeroOne), Classes(5), &scores, y);
        let (log_loss, _) = value_grad(&Logistic(NoCost), Classes(5), &scores, y);
        prop_assert!(mistake <= max_hinge && max_hinge <= sum_hinge + 1e-12);
        prop_assert!(mistake <= log_loss / 2f64.ln() + 1e-12);
        // A randomised prediction errs with probability 1 − p_y ≤ −ln p_y.
        let mut p = vec![0.0; 5];
        softmax(&scores, &mut p);
        prop_assert!(1.0 - p[y as usize] <= log_loss + 1e-12);

        let off_diagonal = |i: usize| if i.is_multiple_of(6) { 0.0 } else { costs[i] };
        let cost = CostMatrix::new(5, (0..25).map(off_diagonal).collect()).unwrap();
        let (with_costs, _) = value_grad(&Hinge(&cost), Classes(5), &scores, y);
        prop_assert!(cost.row(y)[y_hat as usize] <= with_costs + 1e-12);
        let (sum_with_costs, _) = value_grad(&SumHinge(&cost), Classes(5), &scores, y);
        prop_assert!(with_costs <= sum_with_costs + 1e-12);
    }

    #[test]
    fn binary_losses_bound_mistakes_from_above(f in prop_oneof![-3.0..3.0f64, Just(0.0)], y in 0..2u32) {
        let mistake = f64::from(u8::from(Binary.decode(&[f]) != y));
        prop_assert!(mistake <= value_grad(&Hinge(ZeroOne), Binary, &[f], y).0);
        prop_assert!(mistake <= value_grad(&Logistic(NoCost), Binary, &[f], y).0 / 2f64.ln() + 1e-12);
    }
}

#[test]
fn scores_of_ten_thousand_give_no_nan() {
    let data = classes(3, &[vec![1e4], vec![-1e4], vec![0.0], vec![5e3]], &[0, 1, 2, 0]);
    for solver in [SolverKind::Newton, SolverKind::Lbfgs, SolverKind::Dual] {
        let spec = TrainSpec { solver, tol: 1e-6, ..TrainSpec::default() };
        let (model, report) = train(&data, &spec).unwrap();
        assert!(
            report.objective.is_finite() && report.converged,
            "{solver}: {}",
            report.certificate()
        );
        let proba = model.proba(&data).unwrap();
        assert!(proba.values.iter().all(|p| (0.0..=1.0).contains(p)), "{solver}: {proba:?}");
    }
    for y in 0..3 {
        let (value, grad) = value_grad(&Logistic(NoCost), Classes(3), &[1e4, -1e4, 1e4], y);
        assert!(value.is_finite() && grad.iter().all(|g| g.is_finite()), "{value} {grad:?}");
    }
}

#[test]
fn a_randomised_prediction_errs_no_more_than_the_log_loss() {
    let data = random_classes(200, 3, 3, 2);
    let (model, _) = train(&data, &TrainSpec::default()).unwrap();
    let proba = model.proba(&data).unwrap();
    let y = gold(&data);
    let p = |i: usize| proba.row(i)[y[i] as usize];
    let n = y.len() as f64;
    let log_loss = (0..y.len()).map(|i| -p(i).ln()).sum::<f64>() / n;
    let expected = (0..y.len()).map(|i| 1.0 - p(i)).sum::<f64>() / n;
    let draws = 200;
    let errors = |seed| model.sample(&proba, seed).iter().zip(y).filter(|(a, b)| a != b).count();
    let mistakes = (0..draws).map(|seed| errors(seed) as f64).sum::<f64>() / n / draws as f64;
    assert!(mistakes <= log_loss, "{mistakes} {log_loss}");
    // Five standard deviations of the mean of 40,000 draws.
    assert!(
        (mistakes - expected).abs() <= 5.0 * 0.5 / (n * draws as f64).sqrt(),
        "{mistakes} {expected}"
    );
    assert_eq!(model.sample(&proba, 7), model.sample(&proba, 7));
}

#[test]
fn the_sum_form_perceptron_lowers_only_those_that_outscore_the_gold() {
    let loss: SumPerceptron = SumHinge(NoCost);
    let (value, grad) = value_grad(&loss, Classes(3), &[65.1, 101.4, 24.9], 0);
    assert!((value - 36.3).abs() < 1e-12);
    // W ← W − grad·xᵀ: the gold's row is raised, the first other lowered, the second untouched.
    assert_eq!(grad, [-1.0, 1.0, 0.0]);

    // The same through training.
    let data = classes(3, &[vec![1.0, 0.0], vec![1.0, 1.0]], &[1, 0]);
    let spec = TrainSpec { sum: true, ..plain_sgd(LossKind::Perceptron) };
    let (model, report) = train(&data, &spec).unwrap();
    assert_eq!(report.updates, Some(2));
    // Step 1 (gold b; a ties and is lower, so it counts as outscoring): a −1, b +1. Step 2 (gold a at −1): b and c outscore it.
    let w = |j| [0, 1, 2].map(|c| model.weight(j, c));
    assert_eq!((w(0), w(1)), ([1.0, 0.0, -1.0], [2.0, -1.0, -1.0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_perceptron_makes_at_most_one_over_margin_squared_updates(
        seed in any::<u64>(),
        margin in 0.05..0.4f64,
        d in 2..6usize,
    ) {
        let unit = |v: &[f64]| {
            let norm = v.iter().map(|v| v * v).sum::<f64>().sqrt();
            v.iter().map(|v| v / norm).collect::<Vec<f64>>()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let separator = unit(&noise(d, seed));
        let directions = noise(400 * d, seed ^ 1);
        let kept: Vec<Vec<f64>> = directions.chunks(d).map(unit).filter(|x| dot(&separator, x).abs() >= margin).collect();
        prop_assume!(kept.len() >= 10);
        let rows: Vec<Vec<f32>> = kept.iter().map(|x| x.iter().map(|&v| v as f32).collect()).collect();
        let y: Vec<u32> = kept.iter().map(|x| u32::from(dot(&separator, x) > 0.0)).collect();
        // As stored: rounding to f32 moves the margin in the eighth digit.
        let wide: Vec<Vec<f64>> = rows.iter().map(|x| x.iter().map(|&v| f64::from(v)).collect()).collect();
        let gamma = wide.iter().map(|x| dot(&separator, x).abs()).fold(f64::INFINITY, f64::min);
        let radius_sq = wide.iter().map(|x| dot(x, x)).fold(0.0, f64::max);

        let mut spec = plain_sgd(LossKind::Perceptron);
        spec.sgd = SgdSpec { epochs: 100_000, shuffle: true, ..spec.sgd };
        let (model, report) = train(&classes(2, &rows, &y), &spec).unwrap();
        let updates = report.updates.unwrap();
        prop_assert!(updates as f64 <= radius_sq / (gamma * gamma), "{updates} updates at a margin of {gamma}");
        prop_assert!(updates > 0);
        prop_assert!(report.converged && report.passes < 100_000, "it still changes after {} passes", report.passes);
        prop_assert_eq!(predicted(&model, &classes(2, &rows, &y)), y);
    }
}

/// W ← W − ηλW − η∇ with η = 1/(λt), a free bias not shrunk; every iterate, as W[class][feature], the bias last.
fn pegasos_by_hand(
    data: &Dataset,
    k: usize,
    order: &[usize],
    l2: f64,
    bias: Bias,
) -> Vec<Vec<Vec<f64>>> {
    let d = data.x.n_cols();
    let mut w = vec![vec![0.0; d + 1]; k];
    let mut iterates = Vec::new();
    for (t, &i) in order.iter().enumerate() {
        let Row::Dense(x) = data.x.row(i) else { panic!("dense rows") };
        let mut x: Vec<f64> = x.iter().map(|&v| f64::from(v)).collect();
        x.push(if bias == Bias::None { 0.0 } else { 1.0 });
        let y = gold(data)[i] as usize;
        let score = |c: usize| w[c].iter().zip(&x).map(|(w, x)| w * x).sum::<f64>();
        let margin = |c: usize| score(c) - score(y) + f64::from(u8::from(c != y));
        let worst = (0..k).fold(0, |best, c| if margin(c) > margin(best) { c } else { best });
        let eta = 1.0 / (l2 * (t + 1) as f64);
        for (c, row) in w.iter_mut().enumerate() {
            let grad = f64::from(u8::from(c == worst)) - f64::from(u8::from(c == y));
            for (j, w) in row.iter_mut().enumerate() {
                let shrink = if j < d || bias == Bias::Penalised { eta * l2 * *w } else { 0.0 };
                *w -= shrink + eta * grad * x[j];
            }
        }
        iterates.push(w.clone());
    }
    iterates
}

fn pegasos(l2: f64, bias: Bias, epochs: usize, shuffle: bool, average: bool) -> TrainSpec {
    TrainSpec {
        loss: Some(LossKind::Hinge),
        solver: SolverKind::Sgd,
        penalty: Penalty::L2(l2),
        bias,
        precision: Precision::F64,
        sgd: SgdSpec {
            epochs,
            schedule: Some(ScheduleKind::Pegasos),
            shuffle,
            average: Some(average),
            ..SgdSpec::default()
        },
        ..TrainSpec::default()
    }
}

fn assert_weights(model: &Model, wanted: &[Vec<f64>], what: &str) {
    let d = model.n_features();
    let bias = model.bias();
    for (c, row) in wanted.iter().enumerate() {
        for (j, wanted) in row[..d].iter().enumerate() {
            let got = model.weight(j, c);
            assert!(
                (got - wanted).abs() <= 1e-10 * (1.0 + wanted.abs()),
                "{what}: {got}, not {wanted}"
            );
        }
        if let Some(got) = bias.get(c) {
            assert!(
                (got - row[d]).abs() <= 1e-10 * (1.0 + row[d].abs()),
                "{what}: bias {got}, not {}",
                row[d]
            );
        }
    }
}

#[test]
fn pegasos_follows_its_rule_step_by_step() {
    let data = random_classes(6, 3, 3, 3);
    let three_epochs: Vec<usize> = (0..3).flat_map(|_| 0..6).collect();
    for bias in [Bias::Free, Bias::Penalised, Bias::None] {
        let iterates = pegasos_by_hand(&data, 3, &three_epochs, 0.25, bias);
        assert!(iterates.windows(2).filter(|w| w[0] != w[1]).count() > 10, "a run that moves");
        for t in 1..=three_epochs.len() {
            // The first t steps are one epoch over the first t rows, repeated as they come.
            let seen = data.select(&three_epochs[..t]);
            let (model, _) = train(&seen, &pegasos(0.25, bias, 1, false, false)).unwrap();
            assert_weights(&model, &iterates[t - 1], &format!("bias {bias:?}, step {t}"));
        }
        let (model, _) = train(&data, &pegasos(0.25, bias, 3, false, false)).unwrap();
        assert_weights(&model, &iterates[17], &format!("bias {bias:?}, three epochs"));
    }
}

/// All orders of 0..n.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let shorter = permutations(n - 1);
    let insert = |p: &Vec<usize>, at: usize| {
        let mut p = p.clone();
        p.insert(at, n - 1);
        p
    };
    shorter.iter().flat_map(|p| (0..n).map(move |at| insert(p, at))).collect()
}

#[test]
fn shuffled_pegasos_takes_every_row_once_an_epoch() {
    let data = random_classes(4, 3, 3, 4);
    let mut order: Vec<usize> = Vec::new();
    for epochs in 1..=3 {
        let (model, _) = train(&data, &pegasos(0.25, Bias::Free, epochs, true, false)).unwrap();
        // Which order was it? The one that gives the same weights without shuffling.
        let same = |next: &Vec<usize>| {
            let tried = [order.as_slice(), next].concat();
            let spec = pegasos(0.25, Bias::Free, 1, false, false);
            let (twin, _) = train(&data.select(&tried), &spec).unwrap();
            (0..3).all(|c| {
                (0..3).all(|j| model.weight(j, c) == twin.weight(j, c))
                    && model.bias()[c] == twin.bias()[c]
            })
        };
        let found = permutations(4).into_iter().find(same);
        order.extend(found.expect("a permutation of the rows"));
        let iterates = pegasos_by_hand(&data, 3, &order, 0.25, Bias::Free);
        assert_weights(&model, iterates.last().unwrap(), &format!("epoch {epochs} of {order:?}"));
    }
    assert!(order.chunks(4).any(|epoch| epoch != [0, 1, 2, 3]), "nothing was shuffled: {order:?}");
}

#[test]
fn averaging_returns_the_mean_of_the_iterates() {
    let data = random_classes(6, 3, 3, 5);
    let order: Vec<usize> = (0..3).flat_map(|_| 0..6).collect();
    for bias in [Bias::Free, Bias::None] {
        let iterates = pegasos_by_hand(&data, 3, &order, 0.25, bias);
        for (epochs, averaged) in [(1, &iterates[..6]), (3, &iterates[..18])] {
            // The t-th iterate counts t times.
            let total: f64 = (1..=averaged.len()).map(|t| t as f64).sum();
            let mean = |c: usize, j: usize| {
                averaged.iter().zip(1..).map(|(w, t)| f64::from(t) * w[c][j]).sum::<f64>() / total
            };
            let wanted: Vec<Vec<f64>> =
                (0..3).map(|c| (0..4).map(|j| mean(c, j)).collect()).collect();
            let (model, _) = train(&data, &pegasos(0.25, bias, epochs, false, true)).unwrap();
            assert_weights(&model, &wanted, &format!("bias {bias:?}, {epochs} epochs"));
        }
    }
}

/// Every loss with every solver that takes it.
fn runs() -> Vec<(LossKind, bool, SolverKind)> {
    use LossKind::{Hinge, Logistic, Squared, SquaredHinge};
    use SolverKind::{Dual, Exact, Gd, Lbfgs, Newton};
    let smooth = [Gd, Newton, Lbfgs, Dual];
    let mut runs = vec![
        (Hinge, false, Dual),
        (Hinge, true, Dual),
        (SquaredHinge, false, Dual),
        (Squared, false, Exact),
    ];
    runs.extend(smooth.map(|solver| (Logistic, false, solver)));
    runs.extend(smooth.map(|solver| (SquaredHinge, true, solver)));
    runs.extend(smooth.map(|solver| (Squared, false, solver)));
    runs
}

fn certified(
    data: &Dataset,
    loss: LossKind,
    sum: bool,
    solver: SolverKind,
    more: TrainSpec,
) -> (Model, Report) {
    let spec =
        TrainSpec { loss: Some(loss), sum, solver, tol: 1e-8, max_passes: Some(100_000), ..more };
    let (model, report) = train(data, &spec).unwrap();
    assert!(report.converged, "{loss} by {solver}: {}", report.certificate());
    (model, report)
}

#[test]
fn weights_equal_duplication() {
    for k in [2, 3] {
        let mut data = random_classes(30, 3, k, 6);
        let weights: Vec<usize> = noise(30, 7).iter().map(|v| (4.0 * v.abs()) as usize).collect();
        assert!((0..4).all(|w| weights.contains(&w)), "{weights:?}");
        let rows: Vec<usize> = (0..30).flat_map(|i| std::iter::repeat_n(i, weights[i])).collect();
        let repeated = data.select(&rows);
        data.weights = Some(weights.iter().map(|&w| w as f32).collect());
        for (loss, sum, solver) in runs() {
            for penalty in [Penalty::C(1.0), Penalty::L2(0.05)] {
                let more = TrainSpec { penalty, ..TrainSpec::default() };
                let (model, report) = certified(&data, loss, sum, solver, more.clone());
                let (twin, twin_report) = certified(&repeated, loss, sum, solver, more);
                let off = (report.objective / twin_report.objective - 1.0).abs();
                assert!(off < 3e-8, "{loss} by {solver}, K = {k}: {off:e}");
                assert!((report.l2 / twin_report.l2 - 1.0).abs() < 1e-12);
                assert_eq!(
                    predicted(&model, &data),
                    predicted(&twin, &data),
                    "{loss} by {solver}, K = {k}"
                );
            }
        }
    }
}

#[test]
fn class_weights_are_example_weights() {
    let data = random_classes(40, 3, 3, 8);
    let count = |c: u32| gold(&data).iter().filter(|&&y| y == c).count() as f32;
    let balanced: Vec<f32> = (0..3).map(|c| 40.0 / (3.0 * count(c))).collect();
    let named = ClassWeight::Named(vec![("b".into(), 2.5), ("c".into(), 0.5)]);
    for (class_weight, factors) in [(named, vec![1.0, 2.5, 0.5]), (ClassWeight::Balanced, balanced)]
    {
        let weights = gold(&data).iter().map(|&y| factors[y as usize]).collect();
        let weighted = Dataset { weights: Some(weights), ..data.clone() };
        for (loss, sum, solver) in runs() {
            let more = TrainSpec { class_weight: class_weight.clone(), ..TrainSpec::default() };
            let (_, by_class) = certified(&data, loss, sum, solver, more);
            let (_, by_example) = certified(&weighted, loss, sum, solver, TrainSpec::default());
            let off = (by_class.objective / by_example.objective - 1.0).abs();
            assert!(off < 3e-7, "{loss} by {solver}, {class_weight:?}: {off:e}");
        }
    }
}

/// Larger metric, then smaller loss, then earlier.
fn best_pass(report: &Report) -> usize {
    let mut best = &report.curve[0];
    for point in &report.curve {
        let (metric, best_metric) = (point.held_out_metric.unwrap(), best.held_out_metric.unwrap());
        let (loss, best_loss) = (point.held_out_loss.unwrap(), best.held_out_loss.unwrap());
        if metric > best_metric || (metric == best_metric && loss < best_loss) {
            best = point;
        }
    }
    best.pass
}

#[test]
fn early_stopping_keeps_the_best_pass() {
    let (data, held_out) = (random_classes(60, 4, 3, 9), random_classes(50, 4, 3, 10));
    let mut kept_an_earlier_one = 0;
    for seed in 0..8 {
        let mut spec = plain_sgd(LossKind::Logistic);
        spec.sgd = SgdSpec { epochs: 200, shuffle: true, rate: Some(2.0), ..spec.sgd };
        spec = TrainSpec { patience: Some(3), seed, ..spec };
        let (model, report) = Training::new(&data, &spec).held_out(&held_out).run().unwrap();
        let best = best_pass(&report);
        assert_eq!(report.best_pass.unwrap_or(report.passes), best);
        assert!(
            report.passes == 200 || report.passes == best + 3,
            "{} passes, best {best}",
            report.passes
        );
        kept_an_earlier_one += usize::from(report.best_pass.is_some());

        let right = predicted(&model, &held_out)
            .iter()
            .zip(gold(&held_out))
            .filter(|(a, b)| a == b)
            .count();
        let metric = report.curve[best - 1].held_out_metric.unwrap();
        assert!(
            (right as f64 / 50.0 - metric).abs() < 1e-12,
            "{right} of 50, but {metric} in pass {best}"
        );
        // The weights are those of a run that ends there.
        let short = TrainSpec { patience: None, sgd: SgdSpec { epochs: best, ..spec.sgd }, ..spec };
        let (twin, _) = train(&data, &short).unwrap();
        assert_eq!(model.weight(0, 0), twin.weight(0, 0));
    }
    assert!(kept_an_earlier_one > 0);
}

#[test]
fn a_validation_share_is_held_out_of_training() {
    let data = random_classes(60, 4, 3, 11);
    let mut spec = plain_sgd(LossKind::Logistic);
    spec.sgd = SgdSpec { epochs: 50, shuffle: true, ..spec.sgd };
    spec = TrainSpec { validation: 0.25, patience: Some(2), ..spec };
    let (_, report) = train(&data, &spec).unwrap();
    assert_eq!(report.examples, 45);
    assert_eq!(report.best_pass.unwrap_or(report.passes), best_pass(&report));
    for point in &report.curve {
        let right = point.held_out_metric.unwrap() * 15.0;
        assert!((right - right.round()).abs() < 1e-9, "{point:?}");
    }
}

#[test]
fn the_same_model_bytes_on_one_thread_and_on_two() {
    let mut all = vec![
        (LossKind::Logistic, false, SolverKind::Auto),
        (LossKind::Logistic, false, SolverKind::Sgd),
    ];
    all.push((LossKind::Perceptron, true, SolverKind::Sgd));
    all.extend(runs());
    for k in [2, 4] {
        let data = random_classes(500, 6, k, 12);
        for &(loss, sum, solver) in &all {
            for standardize in [Standardize::Never, Standardize::Numbers, Standardize::All] {
                let spec = TrainSpec {
                    loss: Some(loss),
                    sum,
                    solver,
                    standardize,
                    ..TrainSpec::default()
                };
                let bytes = |threads| {
                    with_threads(Some(threads), || {
                        train(&data, &spec).unwrap().0.to_bytes().unwrap()
                    })
                };
                assert!(
                    bytes(1) == bytes(2),
                    "{loss} by {solver}, K = {k}, standardize {standardize}"
                );
            }
        }
    }
    let data = random_classes(500, 6, 2, 13);
    let y = Targets::Real(noise(500, 14));
    let data = dataset_of_numbers(&data, y);
    for loss in [LossKind::Squared, LossKind::Huber, LossKind::Epsilon] {
        let spec = TrainSpec { task: Task::Regress, loss: Some(loss), ..TrainSpec::default() };
        let bytes = |threads| {
            with_threads(Some(threads), || train(&data, &spec).unwrap().0.to_bytes().unwrap())
        };
        assert!(bytes(1) == bytes(2), "{loss}");
    }
}

fn dataset_of_numbers(data: &Dataset, y: Targets) -> Dataset {
    let schema = Schema { target: TargetKind::Real, classes: Vec::new(), ..data.schema.clone() };
    Dataset { y, schema, ..data.clone() }
}
