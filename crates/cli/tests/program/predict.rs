//! Forms of prediction.

use serde_json::Value;

use crate::world::{FRUIT, TINY, World};

fn predict(world: &World, flags: &[&str]) -> Vec<String> {
    let out = world.run(&[&["predict", "m.lineal", "fruit.csv"], flags].concat()).done().out;
    out.lines().map(str::to_owned).collect()
}

#[test]
fn text_is_the_label_alone() {
    let world = World::with_model(&["--standardize"]);
    let lines = predict(&world, &[]);
    assert_eq!(lines.len(), 9);
    assert!(lines.iter().all(|line| ["apple", "banana", "orange"].contains(&line.as_str())));
}

#[test]
fn text_with_numbers_has_them_after_tabs() {
    let world = World::with_model(&[]);
    for flags in [&["--proba"][..], &["--scores"], &["--top", "3"]] {
        for line in predict(&world, flags) {
            let cells: Vec<&str> = line.split('\t').collect();
            assert_eq!(cells.len(), 4, "{line}");
            let value = |cell: &&str| cell.rsplit_once(':').unwrap().1.parse::<f64>().unwrap();
            let values: Vec<f64> = cells[1..].iter().map(value).collect();
            if flags[0] == "--proba" {
                assert!((values.iter().sum::<f64>() - 1.0).abs() < 1e-6);
            }
            if flags[0] == "--top" {
                assert!(values.is_sorted_by(|a, b| a >= b), "{line}");
                assert!(cells[1].starts_with(&format!("{}:", cells[0])));
            }
        }
    }
}

#[test]
fn csv_has_a_header() {
    let world = World::with_model(&[]);
    assert_eq!(predict(&world, &["--output", "csv"])[0], "label");
    let lines = predict(&world, &["--output", "csv", "--proba"]);
    assert_eq!((lines.len(), lines[0].as_str()), (10, "label,apple,banana,orange"));
    assert!(lines[1..].iter().all(|line| line.split(',').count() == 4));
    assert_eq!(
        predict(&world, &["--output", "csv", "--top", "2"])[0],
        "label,top1,value1,top2,value2"
    );
}

#[test]
fn jsonl_has_the_keys_asked_for() {
    let world = World::with_model(&[]);
    let first = |flags: &[&str]| -> Value {
        serde_json::from_str(&predict(&world, &[flags, &["--output", "jsonl"]].concat())[0])
            .unwrap()
    };
    let keys = |row: &Value| row.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&first(&[])), ["label"]);
    let row = first(&["--scores", "--proba", "--top", "2"]);
    assert_eq!(keys(&row), ["label", "scores", "proba", "top"]);
    assert_eq!(row["top"].as_array().unwrap().len(), 2);
    assert_eq!(row["top"][0][0], row["label"]);
    assert_eq!(row["top"][0][1], row["proba"][row["label"].as_str().unwrap()]);
}

#[test]
fn sampling_follows_the_seed() {
    let world = World::with_model(&["--l2", "10"]);
    let draw = |seed: &str| predict(&world, &["--sample", "--seed", seed]);
    assert_eq!(draw("1"), draw("1"));
    let drawn: std::collections::BTreeSet<Vec<String>> = ["1", "2", "3", "4"].map(draw).into();
    assert!(drawn.len() > 1);
}

#[test]
fn numbers_read_back_as_they_were() {
    let world = World::new();
    world.file("h.csv", "area,price\n50,100\n60,130\n80,160\n90,210\n");
    world
        .run(&["train", "h.csv", "--label", "price", "--task", "regress", "-o", "h.lineal", "-q"])
        .done();
    let text = world.run(&["predict", "h.lineal", "h.csv"]).done().out;
    let json = world.run(&["predict", "h.lineal", "h.csv", "--output", "jsonl"]).done().out;
    for (text, json) in text.lines().zip(json.lines()) {
        let row: Value = serde_json::from_str(json).unwrap();
        assert_eq!(text.parse::<f64>().unwrap(), row["label"].as_f64().unwrap());
    }
}

#[test]
fn rows_without_features_get_a_prediction() {
    let world = World::new();
    world.file("a.svm", "1 1:1\n2 2:1\n3\n3\n");
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q", "-C", "100"]).done();
    world.file("b.svm", "1\n2 1:1\n");
    let out = world.run(&["predict", "m.lineal", "b.svm"]).done().out;
    assert_eq!(out, "3\n1\n");
}

#[test]
fn an_output_file_is_whole_and_inputs_are_safe() {
    let world = World::with_model(&[]);
    assert_eq!(predict(&world, &["-o", "out.txt"]), Vec::<String>::new());
    assert_eq!(String::from_utf8(world.bytes("out.txt")).unwrap().lines().count(), 9);
    world
        .run(&["predict", "m.lineal", "fruit.csv", "-o", "fruit.csv"])
        .failed(2, &["also an input"]);
    world
        .run(&["predict", "m.lineal", "fruit.csv", "-o", "m.lineal"])
        .failed(2, &["also an input"]);
    assert_eq!(world.bytes("fruit.csv"), FRUIT.as_bytes());
    assert_eq!(world.names(), ["fruit.csv", "m.lineal", "out.txt"]);
}

#[test]
fn labels_of_rows_to_predict_are_not_looked_at() {
    let world = World::with_model(&[]);
    world.file("new.csv", FRUIT.replace("apple", "?"));
    let run = world.run(&["predict", "m.lineal", "new.csv"]).done();
    assert_eq!(run.err, "");
    world.file("new.csv", FRUIT.replace("yellow", "blue"));
    world.run(&["predict", "m.lineal", "new.csv"]).done().says(&["warning: new.csv", "blue"]);
}

#[test]
fn samples_do_not_depend_on_how_rows_come() {
    let world = World::new();
    let rows = TINY.repeat(2000);
    world.file("many.svm", &rows);
    world.run(&["train", "many.svm", "-o", "m.lineal", "-C", "1e-6", "-q"]).done();
    let predict = |data: &str| {
        let command =
            ["predict", "m.lineal", data, "--format", "libsvm", "--sample", "--seed", "7"];
        world.run_with_input(&command, &rows).done().out
    };
    let from_file = predict("many.svm");
    assert_eq!(from_file.lines().count(), rows.lines().count());
    assert_eq!(predict("-"), from_file);
}
