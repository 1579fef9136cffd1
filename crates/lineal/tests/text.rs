//! Text through the library: what the model keeps, and that it is the same everywhere.

use lineal::text::TextSpec;
use lineal::{
    FeatureSpec, Model, Predicted, ReadOptions, Source, Strategy, TrainSpec, Training,
    read_features, with_threads,
};
use lineal_model::file::{ModelFile, encode};
use serde_json::{Value, json};

fn source(name: &str, n: usize) -> Source {
    let mut text = "note,age,colour,label\n".to_owned();
    for i in 0..n {
        let (word, label) = [("sun", "day"), ("moon", "night"), ("rain", "storm")][i % 3];
        let colour = ["red", "blue"][i % 2];
        text += &format!("\"the {word}, word{} and {word}\",{},{colour},{label}\n", i % 7, i % 11);
    }
    Source::Memory { name: name.into(), bytes: text.into_bytes() }
}

fn options() -> ReadOptions {
    ReadOptions { text: vec!["note".into()], ..ReadOptions::default() }
}

fn trained(spec: &TrainSpec, features: &FeatureSpec) -> Model {
    let (data, features) = read_features(source("a.csv", 60), &options(), features).unwrap();
    Training::new(&data, spec).features(&features).run().unwrap().0
}

#[test]
fn every_strategy_predicts_raw_text_before_and_after_saving() {
    for strategy in Strategy::ALL {
        let spec = TrainSpec { strategy: *strategy, ..TrainSpec::for_text(3) };
        let model = trained(&spec, &FeatureSpec::default());
        let new = model.read(source("b.csv", 12), &options()).unwrap();
        let Predicted::Classes(answers) = model.predict(&new).unwrap() else { panic!("classes") };
        let names: Vec<&str> =
            answers.iter().map(|&y| model.classes()[y as usize].as_str()).collect();
        assert_eq!(names, ["day", "night", "storm"].repeat(4), "{strategy}");
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let read = again.read(source("b.csv", 12), &options()).unwrap();
        assert_eq!(again.scores(&read).unwrap(), model.scores(&new).unwrap(), "{strategy}");
        let top = again.top_features(0, 100);
        assert!(top.iter().any(|(name, _)| name == "sun"), "{strategy}: {top:?}");
    }
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let mut hashed = FeatureSpec::default();
    hashed.text.hash_bits = Some(8);
    for features in [FeatureSpec::default(), hashed] {
        let bytes = |threads| {
            with_threads(Some(threads), || {
                trained(&TrainSpec::for_text(3), &features).to_bytes().unwrap()
            })
        };
        assert_eq!(bytes(1), bytes(3));
    }
}

#[test]
fn features_must_come_with_their_data() {
    let (data, features) =
        read_features(source("a.csv", 9), &options(), &FeatureSpec::default()).unwrap();
    let error = lineal::train(&data, &TrainSpec::default()).unwrap_err();
    assert!(error.to_string().contains("features that were returned with the data"), "{error}");
    let (model, _) =
        Training::new(&data, &TrainSpec::for_text(3)).features(&features).run().unwrap();
    // It has numbers and names beside the text.
    assert!(model.texts(&["sun"]).is_err());
}

/// The file with another description or other tensors, and a checksum that is right.
fn rewritten(bytes: &[u8], change: impl Fn(&mut Value), leave_out: &str) -> Vec<u8> {
    let file = ModelFile::from_bytes(bytes).unwrap();
    let mut about = file.model().clone();
    change(&mut about);
    let names = file.names();
    let kept = names.into_iter().filter(|name| *name != leave_out);
    let tensors: Vec<_> = kept
        .map(|name| (name, file.shape(name).unwrap().to_vec(), file.tensor(name).unwrap().unwrap()))
        .collect();
    encode(&about, &tensors).unwrap()
}

#[test]
fn features_that_contradict_themselves_are_refused() {
    let model = trained(&TrainSpec::for_text(3), &FeatureSpec::default());
    let bytes = model.to_bytes().unwrap();
    assert!(Model::from_bytes(&rewritten(&bytes, |_| {}, "")).is_ok());
    let refused = |change: &dyn Fn(&mut Value), leave_out: &str| {
        let damaged = rewritten(&bytes, change, leave_out);
        assert!(Model::from_bytes(&damaged).is_err(), "without {leave_out:?}");
    };
    for tensor in ["text.names", "text.ends", "text.idf", "weights"] {
        refused(&|_| {}, tensor);
    }
    refused(&|about| about["schema"]["n_computed"] = 3.into(), "");
    refused(&|about| about["features"] = Value::Null, "");
    refused(&|about| about["features"]["text"]["slots"] = json!(["a", "b"]), "");
    refused(&|about| about["features"]["text"]["ngrams"] = json!([9, 2]), "");
    refused(&|about| about["features"]["text"]["hash_bits"] = json!(4), "");
    refused(&|about| about["features"]["numbers"][0]["at"] = json!(4_000_000), "");
    // Of hashed words the file holds some rows of weights, and must say which.
    let text = TextSpec { hash_bits: Some(16), ..TextSpec::default() };
    let hashed = FeatureSpec { text, ..FeatureSpec::default() };
    let bytes = trained(&TrainSpec::for_text(3), &hashed).to_bytes().unwrap();
    assert!(Model::from_bytes(&rewritten(&bytes, |_| {}, "")).is_ok());
    assert!(Model::from_bytes(&rewritten(&bytes, |_| {}, "rows")).is_err());
}

/// Where no column is named as text, those that look like it are, as in the program.
#[test]
fn text_is_guessed_where_none_is_named() {
    let mut csv = String::from("id,note,plan,label\n");
    for i in 0..40 {
        let (word, label) = if i % 2 == 0 { ("invoice", "money") } else { ("password", "access") };
        let note = format!("ticket {i} says that the {word} was wrong again on day {}", i * 7);
        csv.push_str(&format!("{i},{note},{},{label}\n", ["basic", "gold"][i % 2]));
    }
    let source = Source::Memory { name: "tickets.csv".into(), bytes: csv.into_bytes() };
    let (data, features) =
        read_features(source, &ReadOptions::default(), &FeatureSpec::default()).unwrap();
    assert_eq!(data.schema.text_columns().collect::<Vec<_>>().len(), 1);
    assert!(features.text().is_some_and(|text| text.n_features() > 10));
}
