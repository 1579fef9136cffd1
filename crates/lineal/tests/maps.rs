//! Maps and interactions through the façade: what no hyperplane separates, in the model and its file.
#![allow(missing_docs, reason = "a test")]

use lineal::map::{Interaction, MapSpec};
use lineal::{
    Dataset, FeatureSpec, Features, LossKind, Model, Penalty, Predicted, ReadOptions, Source,
    Standardize, Targets, TrainSpec, Training, read_features,
};

fn source(text: &str) -> Source {
    Source::Memory { name: "points.csv".into(), bytes: text.as_bytes().to_vec() }
}

/// Points on two circles.
fn circles() -> String {
    let mut text = String::from("a,b,label\n");
    for i in 0..60 {
        let (sin, cos) = (i as f64).sin_cos();
        let (radius, name) = if i % 2 == 0 { (1.0, "inner") } else { (2.0, "outer") };
        text += &format!("{:.4},{:.4},{name}\n", radius * cos, radius * sin);
    }
    text
}

fn xor() -> String {
    let mut text = String::from("a,b,label\n");
    for i in 0..40 {
        let (x, y) = (0.3 + 0.07 * f64::from(i % 10), 0.3 + 0.05 * f64::from(i % 7));
        let (x, y) = (if i % 2 == 0 { x } else { -x }, if i % 4 < 2 { y } else { -y });
        text += &format!("{x:.3},{y:.3},{}\n", if x * y > 0.0 { "same" } else { "different" });
    }
    text
}

fn read(text: &str, map: Option<&str>, interact: &[&str]) -> (Dataset, Features) {
    let spec = FeatureSpec {
        map: map.map(|map| map.parse::<MapSpec>().unwrap()),
        interact: interact.iter().map(|i| i.parse::<Interaction>().unwrap()).collect(),
        seed: 1,
        ..FeatureSpec::default()
    };
    read_features(source(text), &ReadOptions::default(), &spec).unwrap()
}

fn fit(data: &Dataset, features: &Features, loss: LossKind) -> Model {
    let spec = TrainSpec { loss: Some(loss), penalty: Penalty::C(1e4), ..TrainSpec::default() };
    Training::new(data, &spec).features(features).run().unwrap().0
}

fn n_wrong(model: &Model, data: &Dataset) -> usize {
    let (Predicted::Classes(y_hat), Targets::Classes(y)) = (model.predict(data).unwrap(), &data.y)
    else {
        panic!("classes");
    };
    y_hat.iter().zip(y).filter(|(a, b)| a != b).count()
}

#[test]
fn circles_and_xor_become_separable() {
    for text in [circles(), xor()] {
        for loss in [LossKind::Logistic, LossKind::Hinge] {
            for map in ["poly:2", "rff:200", "rff:200:1.5"] {
                let (data, features) = read(&text, Some(map), &[]);
                assert_eq!(n_wrong(&fit(&data, &features, loss), &data), 0, "{map} {loss}");
            }
            let (data, features) = read(&text, None, &[]);
            assert!(n_wrong(&fit(&data, &features, loss), &data) > 5, "{loss}");
        }
    }
    // Xor is nothing but an interaction.
    let (data, features) = read(&xor(), None, &["a*b"]);
    assert_eq!(n_wrong(&fit(&data, &features, LossKind::Hinge), &data), 0);
}

#[test]
fn the_file_keeps_the_map() {
    for map in ["poly:3", "rff:40"] {
        let (data, features) = read(&circles(), Some(map), &["a*b"]);
        let model = fit(&data, &features, LossKind::Logistic);
        let again = Model::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let raw = "b,a\n0.5,0.5\n1.9,-0.3\n";
        let [a, b] = [&model, &again].map(|model| {
            model.scores(&model.read(source(raw), &ReadOptions::default()).unwrap()).unwrap()
        });
        assert_eq!(a, b);
        assert_eq!(again.features().map(), model.features().map());
        assert_eq!(model.to_bytes().unwrap(), again.to_bytes().unwrap());
    }
}

#[test]
fn made_features_have_names() {
    let text =
        "age,city,job,label\n30,Rome,cook,a\n40,Oslo,cook,b\n50,Rome,smith,a\n35,Oslo,smith,b\n";
    let spec = FeatureSpec {
        map: "poly:2".parse().ok(),
        interact: ["age*city", "city*job"].iter().map(|i| i.parse().unwrap()).collect(),
        standardize: Standardize::Never,
        ..FeatureSpec::default()
    };
    let (data, features) = read_features(source(text), &ReadOptions::default(), &spec).unwrap();
    let model = fit(&data, &features, LossKind::Logistic);
    let names: Vec<String> = (5..model.n_features()).map(|j| model.feature_name(j)).collect();
    let want = "age*city=Oslo age*city=Rome city=Oslo*job=cook city=Oslo*job=smith city=Rome*job=cook \
                city=Rome*job=smith age^2";
    assert_eq!(names.join(" "), want);
    let row: Vec<f32> = {
        let mut row = vec![0.0; data.n_features()];
        data.x.row(0).for_each(|j, v| row[j] = v);
        row
    };
    assert_eq!(row, [30.0, 0.0, 1.0, 1.0, 0.0, 0.0, 30.0, 0.0, 0.0, 1.0, 0.0, 900.0]);
}

#[test]
fn numbers_of_svmlight_interact_by_index() {
    let text = "0 1:1 2:1\n1 1:-1 2:1\n1 1:1 2:-1\n0 1:-1 2:-1\n";
    let source = Source::Memory { name: "xor.svm".into(), bytes: text.as_bytes().to_vec() };
    let interact = vec!["1*2".parse().unwrap()];
    let spec = FeatureSpec { interact, ..FeatureSpec::default() };
    let (data, features) = read_features(source, &ReadOptions::default(), &spec).unwrap();
    let model = fit(&data, &features, LossKind::Hinge);
    assert_eq!(n_wrong(&model, &data), 0);
    assert_eq!(model.top_features(1, 1)[0].0, "1*2");
}

#[test]
fn what_cannot_be_mapped_is_refused_in_words() {
    let refuse = |text: &str, map: Option<&str>, interact: &str| {
        let spec = FeatureSpec {
            map: map.map(|map| map.parse().unwrap()),
            interact: Some(interact)
                .filter(|i| !i.is_empty())
                .map(|i| i.parse().unwrap())
                .into_iter()
                .collect(),
            ..FeatureSpec::default()
        };
        read_features(source(text), &ReadOptions::default(), &spec).unwrap_err().to_string()
    };
    let text = "age,city,label\n30,Rome,a\n40,Oslo,b\n";
    let message = refuse(text, None, "age*town");
    assert_eq!(
        message,
        "points.csv: spec.interact = age*town: there is no column `town`; the columns are age, city, label"
    );
    assert!(refuse(text, None, "city*city").contains("says nothing new"));
    assert!(refuse(text, None, "age*label").contains("is the label"));
    let message = refuse("city,label\nRome,a\nOslo,b\n", Some("poly:2"), "");
    assert_eq!(
        message,
        "points.csv: spec.map = poly:2: there is no column of numbers to map; see options.numeric"
    );
}
