//! Strategies, labels, calibration and costs: the one-pass trainer against the black box, and what each promises.
#![allow(missing_docs, reason = "a test")]

use lineal::linalg::{Csr, Dense, Matrix};
use lineal::reduce::{Code, Examples, OneVsAll, OneVsOne, OutputCode};
use lineal::{
    Bias, CalibrateKind, CodeKind, CostMatrix, Dataset, Format, Labels, LinearLearner, LossKind,
    Metrics, Model, PairKind, Penalty, Predicted, Report, Schema, SolverKind, Strategy, TargetKind,
    Targets, Task, Threshold, TrainSpec, TreeKind, train, with_threads,
};

fn schema(target: TargetKind, k: usize, n_features: usize) -> Schema {
    Schema {
        format: Some(Format::Svmlight),
        target,
        classes: (0..k).map(|c| format!("c{c}")).collect(),
        n_features,
        columns: None,
        feature_ids: None,
        n_computed: 0,
        image: None,
        no_header: false,
        delimiter: None,
        decimal_comma: false,
        encoding: None,
    }
}

fn of_classes(x: Matrix, y: Vec<u32>, k: usize) -> Dataset {
    let schema = schema(TargetKind::Classes, k, x.n_cols());
    let source = "memory".into();
    Dataset {
        x,
        y: Targets::Classes(y),
        weights: None,
        queries: None,
        schema,
        warnings: Vec::new(),
        source,
    }
}

/// Numbers in [0, 1), the same every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Sparse rows of `d` features, three of which lean towards the row's class.
fn sparse(n: usize, d: usize, k: usize, seed: u64) -> Dataset {
    let mut random = Random(seed);
    let (mut indptr, mut idx, mut val, mut y) = (vec![0], Vec::new(), Vec::new(), Vec::new());
    for _ in 0..n {
        let class = (random.next() * k as f64) as usize;
        let mut row: Vec<u32> = (0..5).map(|_| (random.next() * d as f64) as u32).collect();
        row.extend((0..3).map(|f| ((class * 3 + f) % d) as u32).filter(|_| random.next() < 0.7));
        row.sort_unstable();
        row.dedup();
        for j in row {
            idx.push(j);
            val.push((0.5 + random.next()) as f32);
        }
        indptr.push(idx.len());
        y.push(class as u32);
    }
    of_classes(Matrix::Sparse(Csr::new(d, indptr, idx, val).unwrap()), y, k)
}

fn spec(strategy: Strategy, loss: LossKind) -> TrainSpec {
    TrainSpec { strategy, loss: Some(loss), tol: 1e-7, ..TrainSpec::default() }
}

fn predicted(model: &Model, data: &Dataset) -> Vec<u32> {
    let Predicted::Classes(y) = model.predict(data).unwrap() else { panic!("classes") };
    y
}

fn errors(model: &Model, data: &Dataset) -> usize {
    let Targets::Classes(gold) = &data.y else { panic!("classes") };
    predicted(model, data).iter().zip(gold).filter(|(a, b)| a != b).count()
}

const LOSSES: [LossKind; 3] = [LossKind::Hinge, LossKind::SquaredHinge, LossKind::Logistic];
const BIASES: [Bias; 3] = [Bias::Free, Bias::Penalised, Bias::None];

/// Objective and gap of a black-box reduction over the same linear learner, summed over its problems.
fn sum<'r>(reports: impl Iterator<Item = &'r Report>) -> [f64; 2] {
    reports.fold([0.0; 2], |s, r| [s[0] + r.objective, s[1] + r.gap.unwrap_or(f64::NAN)])
}

#[test]
fn one_pass_equals_the_black_box_column_by_column() {
    let (n, d, k) = (150, 30, 5);
    let data = sparse(n, d, k, 7);
    let Targets::Classes(y) = &data.y else { panic!("classes") };
    let examples = Examples::new(&data.x, y, k).unwrap();
    let code_spec = || {
        let mut s = spec(Strategy::Ecoc, LossKind::Hinge);
        s.reduction.code = CodeKind::Sparse;
        s
    };
    for (loss, bias, penalty) in LOSSES
        .iter()
        .flat_map(|l| BIASES.map(|b| (*l, b)))
        .flat_map(|(l, b)| [Penalty::C(1.0), Penalty::L2(0.02)].map(|p| (l, b, p)))
    {
        let with = |s: TrainSpec| TrainSpec { loss: Some(loss), bias, penalty, ..s };
        let learner = LinearLearner::new(with(spec(Strategy::Joint, loss)));
        let close = |name: &str, one_pass: &Report, [objective, gap]: [f64; 2]| {
            let (own, own_gap) = (one_pass.objective, one_pass.gap.unwrap());
            assert!(one_pass.converged, "{name} {loss} {bias:?}");
            assert!(
                (own - objective).abs() <= own_gap + gap + 1e-9,
                "{name} {loss} {bias:?} {penalty:?}: {own} ± {own_gap} and {objective} ± {gap}"
            );
            assert!(own_gap <= 2e-7 * own && gap <= 2e-7 * objective);
        };
        let weights_agree = |name: &str, model: &Model, column: usize, w: &[f64]| {
            for (j, &w) in w.iter().enumerate() {
                let own = model.weight(j, column);
                // Strong convexity: ‖w − w*‖² ≤ 2 gap / λ.
                assert!((own - w).abs() < 5e-3, "{name} {loss} {bias:?}, {column}: {own} and {w}");
            }
        };

        let (model, report) = train(&data, &with(spec(Strategy::Ova, loss))).unwrap();
        let black = OneVsAll::fit(&learner, &examples).unwrap();
        let scorers: Vec<_> = (0..k).map(|c| black.scorer(c).unwrap()).collect();
        close("ova", &report, sum(scorers.iter().map(|s| &s.report)));
        scorers.iter().enumerate().for_each(|(c, s)| weights_agree("ova", &model, c, &s.w));
        assert_eq!((report.problems, report.rows_touched), (k, (k * n) as u64));

        let (_, report) = train(&data, &with(spec(Strategy::Ovo, loss))).unwrap();
        let black = OneVsOne::fit(&learner, &examples).unwrap();
        let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
        close("ovo", &report, sum(pairs.map(|(a, b)| &black.scorer(a, b).unwrap().report)));
        assert_eq!((report.problems, report.rows_touched), (k * (k - 1) / 2, ((k - 1) * n) as u64));

        let spec = with(code_spec());
        let (model, report) = train(&data, &spec).unwrap();
        let length = Code::usual_sparse_columns(k);
        let code = Code::random_sparse(k, length, spec.seed).unwrap();
        let black = OutputCode::fit(&learner, &examples, code.clone()).unwrap();
        let scorers: Vec<_> = (0..length).map(|l| black.scorer(l).unwrap()).collect();
        close("ecoc", &report, sum(scorers.iter().map(|s| &s.report)));
        scorers.iter().enumerate().for_each(|(l, s)| weights_agree("ecoc", &model, l, &s.w));
        let told = report.code.unwrap();
        assert_eq!((told.min_distance, told.corrects), (code.min_distance(), code.corrects()));
    }
}

/// With 11 classes a square of pairs sees few of the rows and few of the features.
#[test]
fn pairs_over_few_rows_equal_the_black_box() {
    let (n, d, k) = (330, 200, 11);
    let data = sparse(n, d, k, 3);
    let Targets::Classes(y) = &data.y else { panic!("classes") };
    let examples = Examples::new(&data.x, y, k).unwrap();
    for bias in BIASES {
        let with = |strategy| TrainSpec { bias, ..spec(strategy, LossKind::SquaredHinge) };
        let (model, report) = train(&data, &with(Strategy::Ovo)).unwrap();
        let learner = LinearLearner::new(with(Strategy::Joint));
        let black = OneVsOne::fit(&learner, &examples).unwrap();
        let pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
        let scorers: Vec<_> = pairs.map(|(a, b)| black.scorer(a, b).unwrap()).collect();
        let [objective, gap] = sum(scorers.iter().map(|s| &s.report));
        assert!(report.converged);
        assert!((report.objective - objective).abs() <= report.gap.unwrap() + gap + 1e-9);
        // The model has an order of the pairs of its own: compare each feature's weights as a set.
        for j in 0..d + usize::from(bias != Bias::None) {
            let own: f64 = (0..scorers.len()).map(|l| model.weight(j, l).powi(2)).sum();
            let other: f64 = scorers.iter().map(|s| s.w.get(j).unwrap_or(&s.bias).powi(2)).sum();
            assert!((own - other).abs() < 5e-3 * (1.0 + other), "{bias:?}, {j}: {own} and {other}");
        }
    }
}

#[test]
fn every_solver_reaches_the_same_columns() {
    let data = sparse(120, 20, 4, 3);
    for loss in [LossKind::SquaredHinge, LossKind::Logistic] {
        for strategy in [Strategy::Ova, Strategy::Ovo] {
            let base = TrainSpec { penalty: Penalty::L2(0.05), ..spec(strategy, loss) };
            let (_, dual) = train(&data, &base).unwrap();
            for solver in [SolverKind::Newton, SolverKind::Lbfgs] {
                let (_, other) = train(&data, &TrainSpec { solver, ..base.clone() }).unwrap();
                let off = (dual.objective - other.objective).abs();
                assert!(off < 1e-6 * dual.objective, "{loss} {strategy} {solver}: {off}");
                assert!(other.gap.unwrap() < 1e-5 * other.objective);
            }
            let mut sgd = TrainSpec { solver: SolverKind::Sgd, ..base.clone() };
            sgd.sgd.epochs = 200;
            let (_, sgd) = train(&data, &sgd).unwrap();
            assert!(sgd.objective < 1.01 * dual.objective, "{} {}", sgd.objective, dual.objective);
        }
    }
}

/// The method of multipliers against the dual, and requests that it is not for.
#[test]
fn the_hinge_by_newton_is_that_of_the_dual() {
    let many = sparse(200, 20, 4, 5);
    let two = sparse(200, 20, 2, 6);
    for bias in [Bias::Free, Bias::Penalised, Bias::None] {
        for (data, strategy) in [(&many, Strategy::Ova), (&two, Strategy::Joint)] {
            let base = TrainSpec { bias, tol: 1e-5, ..spec(strategy, LossKind::Hinge) };
            let solved = |solver| train(data, &TrainSpec { solver, ..base.clone() }).unwrap().1;
            let (newton, dual) = (solved(SolverKind::Newton), solved(SolverKind::Dual));
            assert_eq!(newton.solver, SolverKind::Newton, "{bias:?} {strategy}");
            assert!(newton.converged && dual.converged, "{bias:?} {strategy}");
            let apart = (newton.objective - dual.objective).abs();
            let most = newton.gap.unwrap().max(dual.gap.unwrap());
            assert!(apart <= most, "{bias:?} {strategy}: {apart:e} of {most:e}");
        }
    }
    let newton = TrainSpec { solver: SolverKind::Newton, ..spec(Strategy::Ovo, LossKind::Hinge) };
    let early = TrainSpec { patience: Some(2), validation: 0.2, ..newton.clone() };
    let refused = [
        (&many, newton.clone()),
        (&many, TrainSpec { strategy: Strategy::Joint, ..newton.clone() }),
        (&many, TrainSpec { loss: Some(LossKind::Perceptron), strategy: Strategy::Ova, ..newton }),
        (&two, TrainSpec { strategy: Strategy::Joint, ..early }),
    ];
    for (data, spec) in refused {
        let why = train(data, &spec).unwrap_err().to_string();
        assert!(why.contains("newton needs a smooth loss"), "{why}");
    }
}

/// With a weak penalty the dual takes hundreds of passes; with many features a Hessian is too large.
#[test]
fn auto_takes_newton_for_the_hinge_where_the_dual_is_slow() {
    let solver = |data: &Dataset, c: f64, validation: f64| {
        let penalty = Penalty::C(c);
        let base =
            TrainSpec { penalty, validation, tol: 1e-3, ..spec(Strategy::Joint, LossKind::Hinge) };
        train(data, &TrainSpec { solver: SolverKind::Auto, ..base }).unwrap().1.solver
    };
    let (tall, wide) = (sparse(3000, 6, 2, 6), sparse(300, 1200, 2, 6));
    for c in [10.0, 100.0, 1000.0] {
        assert_eq!(solver(&tall, c, 0.0), SolverKind::Newton, "C = {c}");
    }
    assert_eq!(solver(&tall, 1e-4, 0.0), SolverKind::Dual);
    assert_eq!(solver(&wide, 100.0, 0.0), SolverKind::Dual);
    // Held-out rows are looked at after every pass over all weights.
    assert_eq!(solver(&tall, 100.0, 0.2), SolverKind::Dual);
}

/// Rows in the order of their classes, of which Newton's method first sees an eighth.
#[test]
fn a_start_from_some_rows_ends_at_the_optimum_of_all() {
    let (n, k) = (8000, 3);
    let mut random = Random(8);
    let y: Vec<u32> = (0..n).map(|i| (i * k / n) as u32).collect();
    let value = |class: u32, j: usize, noise: f64| f64::from(u8::from(class as usize == j)) + noise;
    let x: Vec<f32> =
        (0..n * k).map(|at| value(y[at / k], at % k, 3.0 * random.next()) as f32).collect();
    let data = of_classes(Matrix::Dense(Dense::new(n, k, x).unwrap()), y, k);
    for loss in [LossKind::Logistic, LossKind::SquaredHinge] {
        let base = TrainSpec { sum: loss == LossKind::SquaredHinge, ..spec(Strategy::Joint, loss) };
        let solved = |solver| train(&data, &TrainSpec { solver, ..base.clone() }).unwrap().1;
        let (newton, lbfgs) = (solved(SolverKind::Newton), solved(SolverKind::Lbfgs));
        assert!(newton.converged, "{loss}");
        assert!((newton.objective - lbfgs.objective).abs() < 1e-6 * lbfgs.objective, "{loss}");
    }
}

#[test]
fn perceptron_columns_separate_what_can_be_separated() {
    // One feature a class, and no penalty: updates stop.
    let k = 3;
    let x = Dense::new(
        9,
        k,
        (0..9).flat_map(|i| (0..k).map(move |j| f32::from(u8::from(i % k == j)))).collect(),
    );
    let data = of_classes(Matrix::Dense(x.unwrap()), (0..9).map(|i| i % 3).collect(), k);
    for strategy in [Strategy::Ova, Strategy::Ovo, Strategy::Ecoc] {
        let spec = TrainSpec { penalty: Penalty::L2(0.0), ..spec(strategy, LossKind::Perceptron) };
        let (model, report) = train(&data, &spec).unwrap();
        assert_eq!((errors(&model, &data), report.solver), (0, SolverKind::Sgd));
    }
}

/// Three corners of a triangle, and its middle.
const TRIANGLE: [[f32; 2]; 4] = [[6.0, 0.0], [-3.0, 5.0], [-3.0, -5.0], [0.0, 0.0]];
/// Two ends, and two classes between them.
const LINE: [[f32; 2]; 4] = [[0.0, 0.0], [4.0, 0.0], [8.0, 0.0], [12.0, 0.0]];

/// Four points around each of the first `k` centres.
fn crosses(centres: [[f32; 2]; 4], k: usize) -> Dataset {
    let arms = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
    let points = centres[..k].iter().flat_map(|c| arms.map(|a| [c[0] + a[0], c[1] + a[1]]));
    let x = Dense::new(4 * k, 2, points.flatten().collect()).unwrap();
    of_classes(Matrix::Dense(x), (0..k as u32).flat_map(|c| [c; 4]).collect(), k)
}

#[test]
fn a_class_in_the_middle_defeats_linear_one_vs_all_alone() {
    for loss in LOSSES {
        let fit = |strategy, centres, k| {
            let data = crosses(centres, k);
            let spec = TrainSpec { penalty: Penalty::C(100.0), ..spec(strategy, loss) };
            (train(&data, &spec).unwrap().0, data)
        };
        let run = |strategy, centres, k| {
            let (model, data) = fit(strategy, centres, k);
            errors(&model, &data)
        };
        assert_eq!(
            run(Strategy::Ova, TRIANGLE, 3),
            0,
            "three corners are each apart from the rest"
        );
        // The middle of a triangle and the classes between two others are not: with the hinge such a class says no to its own centre.
        if loss == LossKind::Hinge {
            for (centres, middle) in [(TRIANGLE, 3), (LINE, 1), (LINE, 2)] {
                let (model, _) = fit(Strategy::Ova, centres, 4);
                let weight = |j| model.weight(j, middle);
                let [x, y] = centres[middle].map(f64::from);
                assert!(weight(0) * x + weight(1) * y + weight(2) < -0.9);
            }
        }
        for centres in [TRIANGLE, LINE] {
            assert_eq!(run(Strategy::Joint, centres, 4), 0, "{loss}");
            assert_eq!(run(Strategy::Ovo, centres, 4), 0, "{loss}");
        }
    }
}

#[test]
fn one_vs_all_and_one_vs_one_are_codes() {
    let data = sparse(100, 24, 4, 11);
    for (strategy, code) in [(Strategy::Ova, CodeKind::Ova), (Strategy::Ovo, CodeKind::Ovo)] {
        let direct = spec(strategy, LossKind::Hinge);
        let mut coded = spec(Strategy::Ecoc, LossKind::Hinge);
        coded.reduction.code = code;
        let ((_, a), (_, b)) = (train(&data, &direct).unwrap(), train(&data, &coded).unwrap());
        assert_eq!(a.problems, b.problems);
        assert!((a.objective - b.objective).abs() <= 2e-7 * a.objective);
    }
}

#[test]
fn a_balanced_tree_has_the_depth_of_its_logarithm() {
    for k in [3, 5, 8, 17] {
        let data = sparse(20 * k, 3 * k, k, 5);
        let mut spec = TrainSpec { tol: 1e-3, ..spec(Strategy::Tree, LossKind::Logistic) };
        spec.reduction.tree = TreeKind::Random;
        let (model, report) = train(&data, &spec).unwrap();
        let depth = k.next_power_of_two().trailing_zeros() as usize;
        assert_eq!(report.tree.map(|t| (t.nodes, t.depth)), Some((k - 1, depth)));
        assert_eq!(report.problems, k - 1);
        assert!(errors(&model, &data) < data.n_rows() / 2);
        // Classes of one wide node are the same as one-vs-all.
        spec.reduction.leaf_size = Some(k);
        let (_, wide) = train(&data, &TrainSpec { tol: 1e-6, ..spec.clone() }).unwrap();
        let (_, ova) =
            train(&data, &TrainSpec { tol: 1e-6, ..self::spec(Strategy::Ova, LossKind::Logistic) })
                .unwrap();
        assert!((wide.objective - ova.objective).abs() < 1e-5 * ova.objective);
    }
}

fn labels(n: usize, d: usize, k: usize, seed: u64) -> Dataset {
    let data = sparse(n, d, k, seed);
    let Targets::Classes(y) = &data.y else { panic!("classes") };
    let mut random = Random(seed ^ 1);
    let (mut start, mut ids) = (vec![0], Vec::new());
    for &class in y {
        // One in eight rows has no label, one in three has two.
        if random.next() > 0.125 {
            let other = (class + 1) % k as u32;
            let mut own = if random.next() < 0.33 { vec![class, other] } else { vec![class] };
            own.sort_unstable();
            ids.extend(own);
        }
        start.push(ids.len());
    }
    let y = Targets::Labels(Labels::new(start, ids).unwrap());
    let schema = schema(TargetKind::Labels, k, d);
    Dataset { y, schema, ..data }
}

fn multilabel(strategy: Strategy, threshold: Threshold) -> TrainSpec {
    let base = spec(strategy, LossKind::Logistic);
    TrainSpec { task: Task::Multilabel, threshold, tol: 1e-3, penalty: Penalty::C(5.0), ..base }
}

fn micro_macro(model: &Model, data: &Dataset) -> (f64, f64) {
    let Metrics::Multilabel(m) = model.evaluate(data).unwrap() else { panic!("labels") };
    assert!(m.p_at_1 >= m.p_at_3 && (0.0..=1.0).contains(&m.hamming_loss));
    (m.micro_f1, m.macro_f1)
}

#[test]
fn labels_are_learnt_alone_or_in_a_tree() {
    let (data, test) = (labels(600, 40, 9, 1), labels(300, 40, 9, 2));
    for strategy in [Strategy::Ova, Strategy::Tree] {
        let (model, report) = train(&data, &multilabel(strategy, Threshold::Half)).unwrap();
        assert!(report.converged);
        let (half, _) = micro_macro(&model, &test);
        assert!(half > 0.5, "{strategy}: {half}");
        let Predicted::Labels(found) = model.predict(&data).unwrap() else { panic!("labels") };
        assert!(found.iter().any(<[u32]>::is_empty), "a row without labels is an answer");
        let (tuned, _) = train(&data, &multilabel(strategy, Threshold::F1)).unwrap();
        let (_, macro_f1) = micro_macro(&tuned, &test);
        let (_, macro_half) = micro_macro(&model, &test);
        assert!(macro_f1 > macro_half - 0.02, "{strategy}: {macro_half} became {macro_f1}");
        // Missing a label is dear: more of them are predicted.
        let dear = Threshold::Cost { false_positive: 1.0, false_negative: 20.0 };
        let (dear, _) = train(&data, &multilabel(strategy, dear)).unwrap();
        let count = |m: &Model| match m.predict(&test).unwrap() {
            Predicted::Labels(l) => l.n_labels_total(),
            _ => panic!("labels"),
        };
        assert!(count(&dear) > count(&model), "{strategy}");
    }
    // Binary relevance is one binary problem a label.
    let (_, report) = train(&data, &multilabel(Strategy::Ova, Threshold::Half)).unwrap();
    assert_eq!((report.problems, report.rows_touched), (9, 9 * 600));
}

#[test]
fn probabilities_sum_to_one_for_every_strategy_and_map() {
    let (data, test) = (sparse(1000, 40, 6, 21), sparse(3000, 40, 6, 22));
    for strategy in [Strategy::Joint, Strategy::Ova, Strategy::Ovo, Strategy::Ecoc, Strategy::Tree]
    {
        for calibrate in [
            None,
            Some(CalibrateKind::Platt),
            Some(CalibrateKind::Isotonic),
            Some(CalibrateKind::Temperature),
        ] {
            let loss = if calibrate.is_none() { LossKind::Logistic } else { LossKind::Hinge };
            let spec = TrainSpec { calibrate, tol: 1e-3, folds: 4, ..spec(strategy, loss) };
            let (model, _) = train(&data, &spec).unwrap();
            let proba = model.proba(&test).unwrap();
            for i in 0..proba.n_rows {
                let row = proba.row(i);
                assert!(row.iter().all(|p| (0.0..=1.0).contains(p)), "{strategy} {calibrate:?}");
                assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{strategy} {calibrate:?}");
            }
            // The file keeps all of it.
            let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
            assert_eq!(again.proba(&test).unwrap(), proba);
            assert_eq!(again.predict(&test).unwrap(), model.predict(&test).unwrap());
            let Metrics::Classify(m) = model.evaluate(&test).unwrap() else { panic!("classes") };
            assert!(
                calibrate.is_none() || m.ece.unwrap() < 0.06,
                "{strategy} {calibrate:?}: {:?}",
                m.ece
            );
        }
        let hinge = train(&data, &TrainSpec { tol: 1e-3, ..spec(strategy, LossKind::Hinge) });
        assert!(hinge.unwrap().0.proba(&test).is_err(), "{strategy}: a margin is no probability");
    }
}

#[test]
fn costs_change_what_is_predicted() {
    // Two classes that look alike, and a third: calling 0 a 1 is dear.
    let data = sparse(600, 9, 3, 31);
    let cost = CostMatrix::new(3, vec![0.0, 10.0, 10.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0]).unwrap();
    let Targets::Classes(gold) = &data.y else { panic!("classes") };
    for strategy in [Strategy::Ova, Strategy::Ovo, Strategy::Ecoc, Strategy::Tree] {
        let base = TrainSpec { tol: 1e-3, ..spec(strategy, LossKind::Logistic) };
        let costed = TrainSpec { cost: Some(cost.clone()), ..base.clone() };
        let (plain, _) = train(&data, &base).unwrap();
        let (costed, _) = train(&data, &costed).unwrap();
        let paid =
            |y: &[u32]| -> f64 { y.iter().zip(gold).map(|(&p, &g)| cost.row(g)[p as usize]).sum() };
        let (before, after) = (paid(&predicted(&plain, &data)), paid(&predicted(&costed, &data)));
        assert!(after < before, "{strategy}: {before} became {after}");
        let proba = plain.proba(&data).unwrap();
        assert!(
            paid(&plain.least_cost_with(&proba, &cost)) < before,
            "{strategy}: least expected cost"
        );
    }
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    let (data, lists) = (sparse(300, 50, 21, 41), labels(300, 50, 21, 42));
    let mut specs: Vec<(&Dataset, TrainSpec)> = Vec::new();
    for strategy in [Strategy::Ova, Strategy::Ovo, Strategy::Ecoc, Strategy::Tree] {
        for loss in LOSSES {
            specs.push((&data, TrainSpec { tol: 1e-3, ..spec(strategy, loss) }));
        }
        let calibrate = Some(CalibrateKind::Isotonic);
        specs.push((&data, TrainSpec { calibrate, tol: 1e-2, ..spec(strategy, LossKind::Hinge) }));
    }
    specs.push((
        &data,
        TrainSpec { solver: SolverKind::Sgd, ..spec(Strategy::Ova, LossKind::Hinge) },
    ));
    specs.push((&lists, multilabel(Strategy::Ova, Threshold::F1)));
    specs.push((&lists, multilabel(Strategy::Tree, Threshold::MicroF1)));
    for (data, spec) in specs {
        let bytes = |threads| {
            with_threads(Some(threads), || train(data, &spec).unwrap().0.to_bytes().unwrap())
        };
        assert!(bytes(1) == bytes(2) && bytes(1) == bytes(3), "{} {:?}", spec.strategy, spec.loss);
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let (data, lists) = (sparse(60, 20, 4, 1), labels(60, 20, 4, 1));
    let refused = |data: &Dataset, spec: TrainSpec, why: &str| {
        let error = train(data, &spec).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    };
    refused(&data, spec(Strategy::Ova, LossKind::Squared), "least squares");
    refused(&data, TrainSpec { sum: true, ..spec(Strategy::Ovo, LossKind::Hinge) }, "spec.sum");
    let sgd = TrainSpec { solver: SolverKind::Sgd, ..spec(Strategy::Tree, LossKind::Hinge) };
    refused(&data, sgd, "spec.solver = dual");
    let early =
        TrainSpec { validation: 0.2, patience: Some(2), ..spec(Strategy::Ova, LossKind::Hinge) };
    refused(&data, early, "spec.solver = sgd");
    refused(&lists, multilabel(Strategy::Ovo, Threshold::Half), "multilabel");
    refused(&lists, spec(Strategy::Ova, LossKind::Hinge), "spec.task = multilabel");
    let mut exhaustive = spec(Strategy::Ecoc, LossKind::Hinge);
    exhaustive.reduction.code = CodeKind::File;
    exhaustive.reduction.code_text = Some("+-\n-+\n".into());
    refused(&data, exhaustive, "spec.reduction.code");
    let regress = TrainSpec {
        calibrate: Some(CalibrateKind::Platt),
        folds: 40,
        ..spec(Strategy::Ova, LossKind::Hinge)
    };
    refused(&data, regress, "too few");
}

#[test]
fn a_tournament_needs_one_duel_less_than_classes() {
    let data = sparse(200, 30, 5, 9);
    let mut one = spec(Strategy::Ovo, LossKind::Hinge);
    let (votes, _) = train(&data, &one).unwrap();
    one.reduction.pairs = PairKind::Tournament;
    let (tournament, _) = train(&data, &one).unwrap();
    let same = predicted(&votes, &data);
    let agree = predicted(&tournament, &data).iter().zip(&same).filter(|(a, b)| a == b).count();
    // A class that wins all its duels wins both; only circles differ.
    assert!(agree * 100 >= 95 * same.len(), "{agree}");
}
