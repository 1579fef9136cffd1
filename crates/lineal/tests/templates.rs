//! Joint features by templates: a part-of-speech tagger of single words, through the façade.
#![allow(missing_docs, reason = "a test")]

use lineal::templates::Templates;
use lineal::{
    Dataset, FeatureSpec, Features, LossKind, Model, Penalty, Predicted, ReadOptions, SolverKind,
    Source, Strategy, Targets, Task, TrainSpec, Training, read_features,
};

/// Words with tags. Endings tell most of them, shape tells names, and -s is said of nouns and verbs alike.
const WORDS: &str = "word\ttag
running\tVB-G
walking\tVB-G
talking\tVB-G
walked\tVB-D
talked\tVB-D
jumped\tVB-D
house\tNN-S
tree\tNN-S
river\tNN-S
houses\tNN-P
trees\tNN-P
rivers\tNN-P
Rome\tNNP
Oslo\tNNP
Paris\tNNP
42\tCD
1999\tCD
3.5\tCD
";

const TEMPLATES: &str = "\
word                              # the word itself
suffix:1-3(word)                  # endings
prefix:2(word)
shape(word)                       # Xx, d
suffix:2(word) * before:-(class)  # verbs as such
shape(word) * before:-(class)
";

fn source(text: &str) -> Source {
    Source::Memory { name: "words.tsv".into(), bytes: text.as_bytes().to_vec() }
}

fn read(templates: &str, bits: u8) -> (Dataset, Features) {
    let templates = Templates::parse(templates, bits).unwrap();
    let options = ReadOptions {
        label: Some("tag".into()),
        text: templates.columns().to_vec(),
        ..ReadOptions::default()
    };
    let spec = FeatureSpec { templates: Some(templates), ..FeatureSpec::default() };
    read_features(source(WORDS), &options, &spec).unwrap()
}

fn fit(data: &Dataset, features: &Features, spec: &TrainSpec) -> Model {
    Training::new(data, spec).features(features).run().unwrap().0
}

#[test]
fn a_tagger_learns_from_endings_and_shapes() {
    let (data, features) = read(TEMPLATES, 14);
    let options = ReadOptions::default();
    for loss in [
        LossKind::Logistic,
        LossKind::Hinge,
        LossKind::SquaredHinge,
        LossKind::Squared,
        LossKind::Perceptron,
    ] {
        let mut spec = TrainSpec { loss: Some(loss), ..TrainSpec::default() };
        if loss == LossKind::Perceptron {
            spec.penalty = Penalty::L2(0.0);
        }
        let model = fit(&data, &features, &spec);
        let (Predicted::Classes(y_hat), Targets::Classes(y)) =
            (model.predict(&data).unwrap(), &data.y)
        else {
            panic!("classes");
        };
        assert_eq!(&y_hat, y, "{loss}");
        if loss == LossKind::Perceptron {
            continue;
        }
        assert!(model.report().converged, "{loss}");
        let new = model.read(source("word\nsinging\ncars\nBerlin\n7\n"), &options).unwrap();
        let Predicted::Classes(tags) = model.predict(&new).unwrap() else { panic!("classes") };
        let tags: Vec<&str> = tags.iter().map(|&t| model.classes()[t as usize].as_str()).collect();
        assert_eq!(tags, ["VB-G", "NN-P", "NNP", "CD"], "{loss}");
    }
}

#[test]
fn the_file_keeps_templates_and_names() {
    let (data, features) = read(TEMPLATES, 14);
    let model = fit(&data, &features, &TrainSpec::default());
    let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_eq!(model.to_bytes().unwrap(), again.to_bytes().unwrap());
    let new = again.read(source("word\nsinging\n\n7\n"), &ReadOptions::default()).unwrap();
    assert_eq!(model.scores(&new).unwrap(), again.scores(&new).unwrap());
    let at_hand = again.texts(&["singing", "7"]).unwrap();
    assert_eq!(model.scores(&at_hand).unwrap().row(0), model.scores(&new).unwrap().row(0));
    let top: Vec<String> = again.top_features(4, 20).into_iter().map(|(name, _)| name).collect();
    assert!(top.contains(&"suffix:1-3(word)=ed".to_owned()), "{top:?}");
    assert!(top.contains(&"suffix:2(word)=ed * before:-(class)".to_owned()), "{top:?}");
}

#[test]
fn every_solver_ends_at_the_same_objective() {
    let (data, features) = read(TEMPLATES, 8);
    let objective = |solver| {
        let spec = TrainSpec { solver, tol: 1e-6, ..TrainSpec::default() };
        fit(&data, &features, &spec).report().objective
    };
    let dual = objective(SolverKind::Dual);
    for solver in [SolverKind::Newton, SolverKind::Lbfgs] {
        assert!((objective(solver) - dual).abs() < 1e-5 * dual, "{solver}");
    }
}

#[test]
fn templates_with_whole_classes_are_the_multivector_model() {
    let (data, features) = read("word\nsuffix:1-3(word)\nshape(word)", 14);
    // Named, as `auto` has a Newton's method for one of the two only.
    let spec = TrainSpec { tol: 1e-6, solver: SolverKind::Dual, ..TrainSpec::default() };
    let joint = fit(&data, &features, &spec);
    let mut plain = data.clone();
    plain.schema.n_computed = 0;
    plain.schema.columns = None;
    let multivector = Training::new(&plain, &spec).run().unwrap().0;
    assert_eq!(joint.report().objective, multivector.report().objective);
    assert_eq!(joint.scores(&data).unwrap(), multivector.scores(&plain).unwrap());
}

#[test]
fn what_templates_cannot_do_is_refused() {
    let (data, features) = read(TEMPLATES, 8);
    let refuse = |spec: TrainSpec| {
        Training::new(&data, &spec).features(&features).run().unwrap_err().to_string()
    };
    let plain = TrainSpec::default;
    assert!(
        refuse(TrainSpec { strategy: Strategy::Ova, ..plain() }).contains("spec.strategy = ova")
    );
    assert!(refuse(TrainSpec { task: Task::Regress, ..plain() }).contains("regress"));
    assert!(refuse(TrainSpec { hard_margin: true, ..plain() }).contains("spec.hard_margin"));
    let templates = Templates::parse("wrod", 8).unwrap();
    let options = ReadOptions {
        text: vec!["word".into()],
        label: Some("tag".into()),
        ..ReadOptions::default()
    };
    let spec = FeatureSpec { templates: Some(templates), ..FeatureSpec::default() };
    let message = read_features(source(WORDS), &options, &spec).unwrap_err().to_string();
    assert!(message.contains("`wrod`"), "{message}");
}
