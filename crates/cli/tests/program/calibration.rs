//! Probabilities from any strategy and loss.

use crate::world::World;

fn plane() -> World {
    let world = World::new();
    world.run(&["demo", "four-classes", "--write", "."]).done();
    world
}

const TRAIN: [&str; 7] =
    ["train", "four-classes-train.csv", "--label", "class", "-o", "m.lineal", "--loss"];

#[test]
fn every_strategy_and_map_gives_probabilities_that_sum_to_one() {
    let world = plane();
    for strategy in ["joint", "ova", "ovo", "ecoc", "tree"] {
        for map in ["platt", "isotonic", "temperature"] {
            let flags =
                ["hinge", "--strategy", strategy, "--calibrate", map, "--folds", "3", "--json"];
            let run = world.run(&[&TRAIN[..], &flags].concat()).done();
            let json = run.json();
            assert_eq!(json["calibration"], serde_json::json!({"kind": map, "folds": 3}));
            run.says(&[
                "training 3 more times, each time without one of 3 folds, to fit probabilities",
                "calibrating: fold 3 of 3",
                &format!("calibration: {map}"),
                "fitted in 3 folds",
            ]);
            let predict = ["predict", "m.lineal", "four-classes-test.csv", "--proba"];
            for line in world.run(&predict).done().out.lines() {
                let cells = line.split('\t').skip(1);
                let values =
                    cells.map(|cell| cell.rsplit_once(':').unwrap().1.parse::<f64>().unwrap());
                let values: Vec<f64> = values.collect();
                assert!(values.iter().all(|p| (0.0..=1.0).contains(p)), "{line}");
                assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-6, "{line}");
            }
            let draw = ["predict", "m.lineal", "four-classes-test.csv", "--sample", "--seed", "1"];
            assert_eq!(world.run(&draw).done().out.lines().count(), 100);
        }
    }
}

#[test]
fn a_calibrated_model_is_measured_and_drawn() {
    let world = plane();
    world
        .run(&[&TRAIN[..], &["hinge", "-q", "--strategy", "ovo", "--calibrate", "platt"]].concat())
        .done();
    let eval = ["eval", "m.lineal", "four-classes-test.csv", "--json", "--report", "e.html"];
    let json = world.run(&eval).done().json();
    for key in ["log_loss", "brier", "ece"] {
        assert!(json[key].is_number(), "{key}");
    }
    let bins = json["reliability"].as_array().unwrap();
    assert_eq!(bins.iter().map(|bin| bin["count"].as_u64().unwrap()).sum::<u64>(), 100);
    assert!(bins.iter().all(|bin| bin["confidence"].is_number() && bin["accuracy"].is_number()));
    let page = String::from_utf8(world.bytes("e.html")).unwrap();
    for part in ["Reliability", "calibration: platt, 6 maps fitted in 5 folds", "strategy: ovo"] {
        assert!(page.contains(part), "{part}");
    }
    let inspect = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(inspect.contains("calibration  platt, 6 maps fitted in 5 folds"), "{inspect}");
    let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    assert_eq!(json["calibration"]["kind"], "platt");
}

#[test]
fn two_classes_calibrate_too() {
    let world = World::new();
    let rows: String = (0..60)
        .map(|i| format!("{} 1:{}\n", if i % 3 == 0 { -1 } else { 1 }, (i % 7) as f64 - 3.0))
        .collect();
    world.file("a.svm", rows);
    for map in ["platt", "isotonic", "temperature"] {
        world
            .run(&["train", "a.svm", "-o", "m.lineal", "--loss", "hinge", "--calibrate", map])
            .done();
        let json = world.run(&["eval", "m.lineal", "a.svm", "--json"]).done().json();
        assert!(json["ece"].as_f64().unwrap() < 0.2, "{json}");
    }
}

#[test]
fn too_few_rows_to_calibrate() {
    let world = World::new();
    world.file("a.svm", crate::world::TINY);
    world
        .run(&["train", "a.svm", "-o", "m.lineal", "--calibrate", "platt"])
        .failed(1, &["4 rows", "5 folds", "--folds"]);
    assert!(!world.has("m.lineal"));
}

#[test]
fn the_number_of_passes_does_not_depend_on_calibration() {
    let world = plane();
    let method = |calibrate: &str| {
        let run = world.run(&[&TRAIN[..], &["logistic", "--calibrate", calibrate]].concat()).done();
        run.err.lines().find(|line| line.contains(" loss by ")).unwrap().to_string()
    };
    assert_eq!(method("none"), method("platt"));
}
