//! Streams: the same rows give the same weights however they are cut, interrupted and taken up again.
#![allow(missing_docs, reason = "a test")]

use lineal::text::TextSpec;
use lineal::{
    Bias, ClassWeight, FeatureSpec, LossKind, Model, NamedCost, Predicted, ReadOptions,
    ScheduleKind, Source, Strategy, StreamPoint, StreamSpec, Streaming, Task, UpdateKind, read,
    with_threads,
};
use std::ops::ControlFlow;
use std::time::Duration;

fn memory(name: &str, text: &str) -> Source {
    Source::Memory { name: name.to_owned(), bytes: text.into() }
}

/// LIBSVM rows of `k` classes with a feature each, and noise.
fn rows(n: usize, k: usize, seed: u64) -> String {
    let mut state = seed;
    let mut next = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut text = String::new();
    for _ in 0..n {
        let class = next(k);
        let noise = k + 1 + next(20);
        text.push_str(&format!("c{class} {}:1.5 {noise}:0.{}\n", class + 1, next(9) + 1));
    }
    text
}

fn spec(update: UpdateKind) -> StreamSpec {
    StreamSpec { update: Some(update), rows_per_chunk: Some(64), ..StreamSpec::default() }
}

const UPDATES: [UpdateKind; 3] = [UpdateKind::Plain, UpdateKind::AdaGrad, UpdateKind::Normalised];

fn run(text: &str, spec: &StreamSpec, passes: usize) -> Model {
    let source = memory("a.svm", text);
    Streaming::new(source, &ReadOptions::default(), spec).passes(passes).run().unwrap().0
}

fn accuracy(model: &Model, text: &str) -> f64 {
    let data = model.read(memory("a.svm", text), &ReadOptions::default()).unwrap();
    let (Predicted::Classes(y_hat), lineal::Targets::Classes(y)) =
        (model.predict(&data).unwrap(), &data.y)
    else {
        panic!("classes")
    };
    y_hat.iter().zip(y).filter(|(a, b)| a == b).count() as f64 / y.len() as f64
}

#[test]
fn every_rule_and_loss_learns() {
    use LossKind::{Hinge, Logistic, Perceptron, Squared, SquaredHinge};
    for update in UPDATES {
        for loss in [Perceptron, Hinge, SquaredHinge, Logistic, Squared] {
            for (k, sum) in [(2, false), (4, false), (4, true)] {
                if sum && matches!(loss, Logistic | Squared) {
                    continue;
                }
                let text = rows(600, k, 1);
                let spec = StreamSpec { loss: Some(loss), sum, ..spec(update) };
                let model = run(&text, &spec, 2);
                let right = accuracy(&model, &rows(300, k, 9));
                assert!(right > 0.95, "{update} {loss} {k} {sum}: {right}");
            }
        }
    }
}

#[test]
fn interrupted_and_resumed_is_the_same_as_in_one_go() {
    let text = rows(500, 3, 2);
    for update in UPDATES {
        for (average, l2) in [(false, 0.0), (true, 0.0), (true, 1e-3)] {
            let spec = StreamSpec { average, l2, ..spec(update) };
            let whole = run(&text, &spec, 1).to_bytes().unwrap();
            let mut stop_at = |point: &StreamPoint| match point.pass.rows {
                256.. => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
            let source = memory("a.svm", &text);
            let options = ReadOptions::default();
            let (half, report) = Streaming::new(source.clone(), &options, &spec)
                .monitor(&mut stop_at)
                .run()
                .unwrap();
            assert!(report.interrupted && report.rows == 256);
            // Through the file and back.
            let half = Model::from_bytes(&half.to_bytes().unwrap()).unwrap();
            let (resumed, report) = Streaming::resume(half, source, &options).run().unwrap();
            assert_eq!((report.rows, report.passes.len()), (244, 1));
            assert_eq!(resumed.to_bytes().unwrap(), whole, "{update} {average} {l2}");
        }
    }
}

#[test]
fn checkpoints_change_nothing_and_go_on() {
    let text = rows(400, 3, 3);
    let spec = StreamSpec { average: true, ..spec(UpdateKind::Normalised) };
    let whole = run(&text, &spec, 2).to_bytes().unwrap();
    let mut kept: Vec<Vec<u8>> = Vec::new();
    let mut save = |model: &Model| {
        kept.push(model.to_bytes()?);
        Ok(())
    };
    let options = ReadOptions::default();
    let (model, _) = Streaming::new(memory("a.svm", &text), &options, &spec)
        .passes(2)
        .checkpoint(Duration::ZERO, &mut save)
        .run()
        .unwrap();
    assert_eq!(model.to_bytes().unwrap(), whole);
    assert_eq!(kept.len(), 14);
    let third = Model::from_bytes(&kept[2]).unwrap();
    let (first_pass, report) =
        Streaming::resume(third, memory("a.svm", &text), &options).run().unwrap();
    assert_eq!(report.rows, 400 - 3 * 64);
    assert_eq!(first_pass.to_bytes().unwrap(), run(&text, &spec, 1).to_bytes().unwrap());
}

#[test]
fn same_bytes_at_any_thread_count_and_another_seed_another_order() {
    let text = rows(400, 3, 4);
    let spec = spec(UpdateKind::AdaGrad);
    let one = with_threads(Some(1), || run(&text, &spec, 2).to_bytes().unwrap());
    let four = with_threads(Some(4), || run(&text, &spec, 2).to_bytes().unwrap());
    assert_eq!(one, four);
    let other = StreamSpec { seed: 1, ..spec.clone() };
    assert_ne!(run(&text, &other, 2).to_bytes().unwrap(), one);
    let in_order = StreamSpec { shuffle: false, ..spec.clone() };
    let moved = StreamSpec { shuffle: false, rows_per_chunk: Some(7), ..spec };
    let weights = |m: &Model| (0..10).map(|j| m.weight(j, 0)).collect::<Vec<_>>();
    assert_eq!(weights(&run(&text, &in_order, 2)), weights(&run(&text, &moved, 2)));
}

#[test]
fn classes_and_features_come_as_they_like() {
    // Two classes, then a third, then a fourth; larger and larger indices.
    let text = format!(
        "{}{}{}",
        rows(200, 2, 5),
        "c2 500:1\nc0 1:1\n".repeat(100),
        "c3 9000:1\nc1 2:1\nc2 500:1\n".repeat(100)
    );
    for update in UPDATES {
        let spec = StreamSpec { sample_rows: 10, average: true, ..spec(update) };
        let source = memory("a.svm", &text);
        let (model, report) = Streaming::new(source, &ReadOptions::default(), &spec).run().unwrap();
        assert_eq!(model.classes(), ["c0", "c1", "c2", "c3"]);
        assert_eq!(report.new_classes, ["c2", "c3"]);
        assert_eq!(model.n_features(), 9000);
        assert!(accuracy(&model, "c2 500:1\nc3 9000:1\nc0 1:1\nc1 2:1\n") == 1.0, "{update}");
        // New data, new classes, also through the file.
        let model = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let more = memory("b.svm", &"c4 9001:1\nc3 9000:1\nc0 1:1\n".repeat(200));
        let (model, report) =
            Streaming::resume(model, more, &ReadOptions::default()).run().unwrap();
        assert_eq!(
            (report.new_classes.as_slice(), report.passes.len()),
            (&["c4".to_owned()][..], 2)
        );
        assert_eq!(accuracy(&model, "c4 9001:1\nc3 9000:1\nc0 1:1\n"), 1.0, "{update}");
    }
}

#[test]
fn progressive_validation_judges_before_learning() {
    // One row a class, each seen for the first time: nothing can be right by learning.
    let text: String = (0..50).map(|i| format!("c{} {}:1\n", i % 2, i + 1)).collect();
    let spec = StreamSpec { bias: Bias::None, shuffle: false, ..spec(UpdateKind::AdaGrad) };
    let source = memory("a.svm", &text);
    let (_, report) =
        Streaming::new(source, &ReadOptions::default(), &spec).passes(2).run().unwrap();
    // A score of 0 is the first class, and a loss of ln 2.
    let [first, second] = report.passes[..] else { panic!("{:?}", report.passes) };
    assert_eq!((first.rows, first.metric), (50, 0.5));
    assert!((first.loss - 2f64.ln()).abs() < 1e-6);
    assert_eq!(second.metric, 1.0);
}

#[test]
fn numbers_labels_weights_and_tables() {
    let options = |target| ReadOptions { target, ..ReadOptions::default() };
    let csv: String =
        (0..400).map(|i| format!("{},{},{}\n", i % 7, i % 3, i % 7 + 2 * (i % 3))).collect();
    let csv = format!("a,b,y\n{csv}");
    for loss in [LossKind::Squared, LossKind::Huber, LossKind::Epsilon] {
        let spec =
            StreamSpec { task: Task::Regress, loss: Some(loss), ..spec(UpdateKind::Normalised) };
        let source = memory("a.csv", &csv);
        let options = options(lineal::TargetKind::Real);
        let (model, report) = Streaming::new(source, &options, &spec).passes(20).run().unwrap();
        let last = report.passes.last().unwrap();
        assert!(-last.metric < 0.3, "{loss}: {last:?}");
        assert_eq!(model.task(), Task::Regress);
    }
    let labels = "0,1 1:1 2:1\n1 2:1\n0 1:1\n 3:1\n".repeat(100);
    let multi = StreamSpec { task: Task::Multilabel, ..spec(UpdateKind::AdaGrad) };
    let source = memory("l.svm", &labels);
    let (model, report) =
        Streaming::new(source, &options(lineal::TargetKind::Labels), &multi).run().unwrap();
    assert!(report.passes[0].metric > 0.95);
    let data =
        model.read(memory("l.svm", "0,1 1:1 2:1\n 3:1\n"), &options(lineal::TargetKind::Labels));
    let Predicted::Labels(labels) = model.predict(&data.unwrap()).unwrap() else {
        panic!("labels")
    };
    assert_eq!((labels.row(0), labels.row(1)), (&[0, 1][..], &[][..]));
    // A class that weighs nothing is not learnt.
    let named = ClassWeight::Named(vec![("c1".into(), 0.0)]);
    let weighed = StreamSpec { class_weight: named, ..spec(UpdateKind::Plain) };
    let model = run(&rows(300, 2, 6), &weighed, 1);
    assert!(accuracy(&model, "c0 1:1\n") == 1.0 && accuracy(&model, "c1 2:1\n") == 0.0);
}

#[test]
fn plain_updates_in_order_are_those_of_sgd() {
    let text = rows(200, 3, 7);
    let stream = StreamSpec {
        bias: Bias::None,
        rate: Some(0.3),
        schedule: Some(ScheduleKind::Constant),
        l2: 0.01,
        shuffle: false,
        ..spec(UpdateKind::Plain)
    };
    let streamed = run(&text, &stream, 2);
    let data = read(memory("a.svm", &text), &ReadOptions::default()).unwrap();
    let sgd = lineal::TrainSpec {
        bias: Bias::None,
        solver: lineal::SolverKind::Sgd,
        penalty: lineal::Penalty::L2(0.01),
        precision: lineal::Precision::F64,
        sgd: lineal::SgdSpec {
            epochs: 2,
            rate: Some(0.3),
            schedule: Some(ScheduleKind::Constant),
            shuffle: false,
            ..lineal::SgdSpec::default()
        },
        ..lineal::TrainSpec::default()
    };
    let (model, _) = lineal::train(&data, &sgd).unwrap();
    for j in 0..model.n_features() {
        for c in 0..3 {
            let (a, b) = (streamed.weight(j, c), model.weight(j, c));
            assert!((a - b).abs() < 1e-4, "{j} {c}: {a} {b}");
        }
    }
}

#[test]
fn text_is_hashed_and_has_names() {
    let csv = "text,label\nthe invoice is wrong,money\ncannot log in,access\nmy invoice never came,money\nlog in fails again,access\n";
    let csv = format!("{csv}{}", csv["text,label\n".len()..].repeat(60));
    let options = ReadOptions { text: vec!["text".into()], ..ReadOptions::default() };
    let features = FeatureSpec {
        text: TextSpec { hash_bits: Some(12), ..TextSpec::default() },
        ..FeatureSpec::default()
    };
    let (model, report) =
        Streaming::new(memory("t.csv", &csv), &options, &spec(UpdateKind::Normalised))
            .features(&features)
            .run()
            .unwrap();
    assert!(report.passes[0].metric > 0.9);
    // 4,096 values of idf, but not as many weights and sums of squares.
    let bytes = model.to_bytes().unwrap();
    assert!(bytes.len() < 4096 * 8, "{}", bytes.len());
    let model = Model::from_bytes(&bytes).unwrap();
    assert_eq!(model.n_features(), 4096);
    assert!(model.to_bytes().unwrap() == bytes);
    let new = model.texts(&["where is my invoice?", "I cannot log in"]).unwrap();
    assert_eq!(model.predict(&new).unwrap(), Predicted::Classes(vec![1, 0]));
    let names: Vec<String> = model.top_features(1, 4).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"invoice".to_owned()), "{names:?}");
    let more = memory("t.csv", "text,label\nthe sky is blue,weather\n");
    let (model, _) = Streaming::resume(model, more, &options).run().unwrap();
    assert_eq!(model.classes(), ["access", "money", "weather"]);
}

#[test]
fn rows_that_come_grouped_by_class_are_told() {
    let warned = |text: &str| {
        let spec = StreamSpec { rows_per_chunk: Some(300), ..StreamSpec::default() };
        let source = memory("a.svm", text);
        let (_, report) = Streaming::new(source, &ReadOptions::default(), &spec).run().unwrap();
        report.warnings.iter().any(|w| w.contains("grouped by class"))
    };
    let grouped: String = (1..5).map(|c| format!("c{c} {c}:1\n").repeat(300)).collect();
    assert!(warned(&grouped));
    assert!(!warned(&"c1 1:1\nc2 2:1\nc3 3:1\nc4 4:1\n".repeat(300)));
}

#[test]
fn what_streams_refuse() {
    let refused = |text: &str, spec: &StreamSpec| {
        let source = memory("a.svm", text);
        Streaming::new(source, &ReadOptions::default(), spec).run().unwrap_err().to_string()
    };
    assert!(
        refused("1 1:1\n1 1:2\n", &StreamSpec::default()).contains("every row has the label `1`")
    );
    let balanced = StreamSpec { class_weight: ClassWeight::Balanced, ..StreamSpec::default() };
    assert!(refused("1 1:1\n2 1:2\n", &balanced).contains("balanced"));
    let huber = StreamSpec { loss: Some(LossKind::Huber), ..StreamSpec::default() };
    assert!(refused("1 1:1\n2 1:2\n", &huber).contains("for numbers"));
    let wild = StreamSpec {
        task: Task::Regress,
        rate: Some(1e30),
        update: Some(UpdateKind::Plain),
        ..StreamSpec::default()
    };
    let source = memory("a.svm", &"1 1:1e9\n2 1:2e9\n".repeat(50));
    let options = ReadOptions { target: lineal::TargetKind::Real, ..ReadOptions::default() };
    let diverged = Streaming::new(source, &options, &wild).run().unwrap_err().to_string();
    assert!(diverged.contains("spec.sgd.rate"), "{diverged}");
    // A model that was not streamed has nothing to go on from.
    let data = read(memory("a.svm", "1 1:1\n2 1:-1\n"), &ReadOptions::default()).unwrap();
    let (model, _) = lineal::train(&data, &lineal::TrainSpec::default()).unwrap();
    let source = memory("a.svm", "1 1:1\n");
    let error = Streaming::resume(model, source, &ReadOptions::default()).run().unwrap_err();
    assert!(error.to_string().contains("not trained with lineal::Streaming"), "{error}");
}

/// The scores of a class.
fn class_scores(model: &Model, text: &str, class: usize) -> Vec<f64> {
    let data = model.read(memory("a.svm", text), &ReadOptions::default()).unwrap();
    let table = model.scores(&data).unwrap();
    (0..table.n_rows).map(|i| table.row(i)[class]).collect()
}

#[test]
fn one_vs_all_is_a_stream_for_each_class() {
    let text = rows(400, 4, 5);
    for update in [UpdateKind::Plain, UpdateKind::AdaGrad] {
        let plain = StreamSpec {
            rate: Some(0.1),
            schedule: Some(ScheduleKind::Constant),
            shuffle: false,
            ..spec(update)
        };
        let ova = run(&text, &StreamSpec { strategy: Some(Strategy::Ova), ..plain.clone() }, 1);
        assert_eq!((ova.classes().len(), ova.report().problems), (4, 4));
        for class in 0..4 {
            let named = |line: &str| {
                let (label, rest) = line.split_once(' ').unwrap();
                let yes = label == ova.classes()[class];
                format!("{} {rest}\n", if yes { "yes" } else { "no" })
            };
            let two = run(&text.lines().map(named).collect::<String>(), &plain, 1);
            let side = if two.classes()[1] == "yes" { 1 } else { 0 };
            let scores = class_scores(&ova, &text, class).into_iter();
            for (of_ova, alone) in scores.zip(class_scores(&two, &text, side)) {
                assert!((of_ova - alone).abs() < 1e-4, "{class}: {of_ova} {alone}");
            }
        }
    }
}

#[test]
fn one_vs_one_is_a_stream_for_each_pair() {
    let text = rows(400, 4, 5);
    let plain = StreamSpec {
        rate: Some(0.1),
        schedule: Some(ScheduleKind::Constant),
        shuffle: false,
        strategy: Some(Strategy::Ovo),
        ..spec(UpdateKind::Plain)
    };
    let ovo = run(&text, &plain, 1);
    assert_eq!((ovo.classes().len(), ovo.report().problems), (4, 6));
    for (column, pair) in [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]].into_iter().enumerate() {
        let names = pair.map(|class| ovo.classes()[class].as_str());
        let own = |line: &&str| names.iter().any(|name| line.split(' ').next() == Some(name));
        let rows: Vec<&str> = text.lines().filter(own).collect();
        let two = run(&(rows.join("\n") + "\n"), &plain, 1);
        assert_eq!(two.classes(), names);
        for j in 0..ovo.n_features().min(two.n_features()) {
            // A column is for the first of its classes, and one weight vector for the second of two.
            let (of_pair, alone) = (ovo.weight(j, column), -two.weight(j, 0));
            assert!((of_pair - alone).abs() < 1e-5, "{names:?} {j}: {of_pair} {alone}");
        }
    }
}

#[test]
fn one_vs_one_and_one_vs_all_grow_with_classes() {
    // The third and the fourth class come after the look at the first rows.
    let text = rows(200, 2, 5) + &rows(200, 3, 6) + &rows(400, 4, 7);
    for strategy in [Strategy::Ova, Strategy::Ovo] {
        let grows =
            StreamSpec { strategy: Some(strategy), sample_rows: 100, ..spec(UpdateKind::AdaGrad) };
        let early = run(&rows(200, 2, 5), &grows, 1);
        let options = ReadOptions::default();
        let (model, report) =
            Streaming::resume(early, memory("b.svm", &text), &options).run().unwrap();
        assert_eq!(report.new_classes, ["c2", "c3"]);
        assert_eq!(model.report().strategy, strategy);
        assert!(accuracy(&model, &text) > 0.95, "{strategy}");
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        assert_eq!(accuracy(&again, &text), accuracy(&model, &text));
    }
}

#[test]
fn costs_of_one_change_nothing_and_others_do() {
    let text = rows(400, 3, 9);
    let classes = ["c0", "c1", "c2"].map(str::to_owned).to_vec();
    let cost = |of: &dyn Fn(usize, usize) -> f64| {
        let all = (0..9).map(|at| of(at / 3, at % 3)).collect();
        let matrix = lineal::CostMatrix::new(3, all).unwrap();
        Some(NamedCost { classes: classes.clone(), matrix })
    };
    for strategy in [Strategy::Joint, Strategy::Ova, Strategy::Ovo] {
        let plain = StreamSpec {
            strategy: Some(strategy),
            loss: Some(LossKind::Hinge),
            ..spec(UpdateKind::AdaGrad)
        };
        let of = |cost| {
            let model = run(&text, &StreamSpec { cost, ..plain.clone() }, 1);
            (0..3).map(|class| class_scores(&model, &text, class)).collect::<Vec<_>>()
        };
        let equal = of(cost(&|y, y_hat| f64::from(u8::from(y != y_hat))));
        assert_eq!(equal, of(None), "{strategy}");
        let other = of(cost(&|y, y_hat| if y == y_hat { 0.0 } else { 1.0 + 4.0 * y as f64 }));
        assert_ne!(equal, other, "{strategy}");
    }
}
