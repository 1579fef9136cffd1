//! Models for other programs and from them: what goes out and comes back predicts the same.

use lineal::{
    CalibrateKind, Dataset, LossKind, Matrix, Model, ModelFormat, ReadOptions, Source, Strategy,
    TargetKind, Task, Threshold, TrainSpec, read, train,
};
use proptest::prelude::*;

/// Points around as many centres as there are names, in LIBSVM's format.
fn rows(names: &[&str], n: usize, label: impl Fn(usize, usize) -> String) -> String {
    let coordinate = |i: usize, j: usize| {
        let noise = ((i * 7919 + j * 104_729) % 1000) as f64 / 250.0 - 2.0;
        noise + if i % names.len() == j % names.len() { 1.5 } else { 0.0 }
    };
    (0..n)
        .map(|i| {
            let x: Vec<String> =
                (0..5).map(|j| format!("{}:{:.3}", j + 1, coordinate(i, j))).collect();
            format!("{} {}\n", label(i, i % names.len()), x.join(" "))
        })
        .collect()
}

fn data(text: String, target: TargetKind) -> Dataset {
    let source = Source::Memory { name: "a.svm".into(), bytes: text.into_bytes() };
    read(source, &ReadOptions { target, ..ReadOptions::default() }).unwrap()
}

fn of_classes(names: &[&str]) -> Dataset {
    data(rows(names, 90, |_, c| names[c].to_owned()), TargetKind::Classes)
}

/// Writes, reads and compares answers, scores and probabilities; gives what was noted.
fn there_and_back(model: &Model, x: &Matrix, format: ModelFormat, tolerance: f64) -> Vec<String> {
    let exported = model.export(format).unwrap();
    assert_eq!(ModelFormat::of_bytes(&exported.bytes), Some(format));
    let again = Model::import("theirs", &exported.bytes).unwrap();
    let what = format!("{format}, {:?} by {:?}", model.spec().loss, model.spec().strategy);
    let names = |model: &Model| {
        model.predict_names(x).unwrap().iter().map(|a| format!("{a:?}")).collect::<Vec<_>>()
    };
    let (ours, theirs) = (names(model), names(&again));
    if model.task() == Task::Regress {
        let (ours, theirs) = (model.scores(x).unwrap(), again.scores(x).unwrap());
        assert_close(&ours.values, &theirs.values, tolerance, &what);
    } else {
        assert_eq!(ours, theirs, "{what}");
    }
    if again.has_proba() {
        // The order of two classes may be another.
        let order: Vec<usize> = model
            .classes()
            .iter()
            .map(|c| again.classes().iter().position(|a| a == c).unwrap())
            .collect();
        let (ours, theirs) = (model.proba(x).unwrap(), again.proba(x).unwrap());
        let theirs: Vec<f64> = (0..theirs.n_rows)
            .flat_map(|i| order.iter().map(move |&c| (i, c)))
            .map(|(i, c)| theirs.row(i)[c])
            .collect();
        assert_close(&ours.values, &theirs, tolerance, &what);
    }
    // What was read can be saved and loaded like any other model.
    let saved = Model::from_bytes(&again.to_bytes().unwrap()).unwrap();
    assert_eq!(names(&saved), theirs, "{what}");
    exported.notes
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let far = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(far <= tolerance, "{what}: {far}");
}

const BOTH: [(ModelFormat, f64); 2] = [(ModelFormat::Liblinear, 1e-12), (ModelFormat::Onnx, 1e-5)];

#[test]
fn classes_of_every_loss_and_strategy() {
    for names in [&["1", "-1"][..], &["7", "3", "12"]] {
        let data = of_classes(names);
        for loss in
            [LossKind::Logistic, LossKind::Hinge, LossKind::SquaredHinge, LossKind::Perceptron]
        {
            for strategy in [Strategy::Joint, Strategy::Ova] {
                let spec = TrainSpec { loss: Some(loss), strategy, ..TrainSpec::default() };
                let Ok((model, _)) = train(&data, &spec) else { continue };
                for (format, tolerance) in BOTH {
                    let notes = there_and_back(&model, &data.x, format, tolerance);
                    // LIBLINEAR has logistic classes one by one, and not together.
                    let is_softmax = names.len() > 2
                        && (loss, strategy) == (LossKind::Logistic, Strategy::Joint);
                    let lost = notes.iter().any(|note| note.contains("without probabilities"));
                    assert_eq!(lost, is_softmax && format == ModelFormat::Liblinear, "{notes:?}");
                }
            }
        }
    }
}

#[test]
fn names_of_classes_are_numbers_for_liblinear_and_names_for_onnx() {
    let data = of_classes(&["red", "green", "blue"]);
    let (model, _) = train(&data, &TrainSpec::default()).unwrap();
    let exported = model.export(ModelFormat::Liblinear).unwrap();
    assert!(
        exported.notes.iter().any(|note| note.contains("1 blue, 2 green, 3 red")),
        "{:?}",
        exported.notes
    );
    let again = Model::import("a.model", &exported.bytes).unwrap();
    assert_eq!(again.classes(), ["1", "2", "3"]);
    there_and_back(&model, &data.x, ModelFormat::Onnx, 1e-5);
}

#[test]
fn numbers_and_labels() {
    let text =
        rows(&["a", "b"], 60, |i, c| format!("{:.2}", c as f64 * 3.0 + (i % 7) as f64 / 3.0));
    let numbers = data(text, TargetKind::Real);
    let spec = TrainSpec::for_task(Task::Regress);
    let (model, _) = train(&numbers, &spec).unwrap();
    for (format, tolerance) in BOTH {
        there_and_back(&model, &numbers.x, format, tolerance.max(1e-4));
    }
    let text = rows(&["a", "b", "c"], 90, |i, c| {
        if i % 4 == 0 { format!("{c},{}", (c + 1) % 3) } else { c.to_string() }
    });
    let labels = data(text, TargetKind::Labels);
    for threshold in [Threshold::Auto, Threshold::Fixed(0.3)] {
        let spec = TrainSpec { threshold, ..TrainSpec::for_task(Task::Multilabel) };
        let (model, _) = train(&labels, &spec).unwrap();
        there_and_back(&model, &labels.x, ModelFormat::Onnx, 1e-5);
        let why = model.export(ModelFormat::Liblinear).unwrap_err().to_string();
        assert!(why.contains("several labels"), "{why}");
    }
}

#[test]
fn thresholds_and_temperatures_are_part_of_the_weights() {
    let data = of_classes(&["1", "2"]);
    let spec = TrainSpec { threshold: Threshold::Fixed(0.2), ..TrainSpec::default() };
    let (model, _) = train(&data, &spec).unwrap();
    for (format, tolerance) in BOTH {
        let notes = there_and_back(&model, &data.x, format, tolerance);
        assert!(
            notes.iter().any(|note| note.contains("threshold is part of the bias")),
            "{notes:?}"
        );
    }
    for names in [&["1", "2"][..], &["1", "2", "3"]] {
        let data = of_classes(names);
        let (loss, calibrate) = (Some(LossKind::Hinge), Some(CalibrateKind::Temperature));
        let spec = TrainSpec { loss, calibrate, ..TrainSpec::default() };
        let (model, _) = train(&data, &spec).unwrap();
        let exported = model.export(ModelFormat::Onnx).unwrap();
        assert!(Model::import("a.onnx", &exported.bytes).unwrap().has_proba());
        there_and_back(&model, &data.x, ModelFormat::Onnx, 1e-4);
    }
}

#[test]
fn what_has_no_form_elsewhere_is_refused() {
    let data = of_classes(&["1", "2", "3", "4"]);
    for strategy in [Strategy::Ovo, Strategy::Ecoc, Strategy::Tree] {
        let (model, _) = train(&data, &TrainSpec { strategy, ..TrainSpec::default() }).unwrap();
        for (format, _) in BOTH {
            let why = model.export(format).unwrap_err().to_string();
            assert!(why.contains(&strategy.to_string()) && why.contains("ova"), "{why}");
        }
    }
}

#[test]
fn sparse_indices_keep_their_numbers() {
    // Indices that are mostly unused have columns of their own; LIBLINEAR's file counts all of them.
    let text: String =
        (0..40).map(|i| format!("{} 2:{} {}:1\n", i % 2, i % 3, 140_000 + (i % 2))).collect();
    let data = data(text, TargetKind::Classes);
    assert!(data.schema.feature_ids.is_some());
    let (model, _) = train(&data, &TrainSpec::default()).unwrap();
    let text = String::from_utf8(model.export(ModelFormat::Liblinear).unwrap().bytes).unwrap();
    assert!(text.contains("nr_feature 140001\n"));
    let weights: Vec<&str> = text.lines().skip_while(|line| *line != "w").skip(1).collect();
    assert_eq!(weights.len(), 140_002); // and the bias
    assert!(weights[139_999] != "0.0 " && weights[140_000] != "0.0 " && weights[5] == "0.0 ");
}

#[test]
fn liblinear_files_that_are_damaged() {
    let good =
        "solver_type L2R_LR\nnr_class 2\nlabel 1 -1\nnr_feature 2\nbias 1\nw\n0.5 \n-1 \n0.25 \n";
    let model = Model::import("a.model", good.as_bytes()).unwrap();
    assert_eq!(model.predict_one(&[1.0, 0.0]).unwrap(), "1");
    assert_eq!(model.predict_one(&[0.0, 1.0]).unwrap(), "-1");
    for (from, to, says) in [
        ("L2R_LR", "ONECLASS_SVM", "line 1"),
        ("nr_class 2", "nr_class 999999999999", "labels"),
        ("nr_feature 2", "nr_feature 4000000000", "3 lines of weights"),
        ("nr_feature 2", "nr_feature 18446744073709551615", "3 lines of weights"),
        ("nr_feature 2", "nr_feature x", "line 4"),
        ("bias 1\n", "", "no line bias"),
        ("bias 1", "bias nan", "line 5"),
        ("-1 \n0.25", "-1 3 \n0.25", "line 8: 2 weights"),
        ("-1 \n0.25", "inf \n0.25", "line 8"),
        ("label 1 -1\n", "label 1\n", "1 labels"),
        ("nr_class", "nr_clas", "line 2"),
    ] {
        let why =
            Model::import("a.model", good.replace(from, to).as_bytes()).unwrap_err().to_string();
        assert!(why.contains(says) && why.starts_with("a.model: "), "{from} → {to}: {why}");
    }
}

#[test]
fn onnx_files_of_other_operators_are_refused_by_name() {
    let (model, _) = train(&of_classes(&["1", "2", "3"]), &TrainSpec::default()).unwrap();
    let bytes = model.export(ModelFormat::Onnx).unwrap().bytes;
    let at = bytes.windows(16).rposition(|w| w == b"LinearClassifier").unwrap();
    let mut other = bytes.clone();
    other[at..at + 16].copy_from_slice(b"TreeEnsembleTest");
    let why = Model::import("a.onnx", &other).unwrap_err().to_string();
    assert!(why.contains("TreeEnsembleTest") && why.contains("LinearClassifier"), "{why}");
    assert!(Model::import("a.onnx", b"hello").unwrap_err().to_string().contains("not a model"));
}

proptest! {
    #[test]
    fn damaged_onnx_files_never_panic(cut in 0usize..2000, at in 0usize..2000, byte: u8) {
        let data = of_classes(&["1", "2", "3"]);
        let spec = TrainSpec { strategy: Strategy::Ova, max_passes: Some(1), ..TrainSpec::default() };
        let (model, _) = train(&data, &spec).unwrap();
        let mut bytes = model.export(ModelFormat::Onnx).unwrap().bytes;
        let n = bytes.len();
        bytes[at % n] = byte;
        let _ = Model::import("a.onnx", &bytes);
        bytes.truncate(cut % n);
        let _ = Model::import("a.onnx", &bytes);
    }
}
