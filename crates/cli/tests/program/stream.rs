//! `lineal train --stream`: rows that go by, and runs that go on.

use crate::world::{FRUIT, TINY, World};

#[test]
fn a_stream_says_how_it_does_on_rows_that_are_new_to_it() {
    let world = World::new();
    world.file("a.svm", TINY.repeat(2000));
    let run = world
        .run(&["train", "a.svm", "-o", "m.lineal", "--stream", "--test", "a.svm", "--json"])
        .done()
        .says(&["pass 1, 4,096 rows: loss ", "pass 1, 8,000 rows", "accuracy", "not learnt from"]);
    let json = run.json();
    assert_eq!((&json["examples"], &json["rows"]), (&8000.into(), &8000.into()));
    assert_eq!((&json["solver"], &json["update"]), (&"sgd".into(), &"normalised".into()));
    assert!(json["objective"].is_null() && json["gap"].is_null());
    assert!(json["progressive"]["accuracy"].as_f64().unwrap() > 0.99);
    assert_eq!(json["test"]["accuracy"], 1.0);
    assert_eq!(world.run(&["predict", "m.lineal", "a.svm"]).done().out.lines().count(), 8000);
    let facts = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(facts.contains("in a stream"), "{facts}");
    assert!(world.run(&["inspect", "m.lineal", "--json"]).done().json()["objective"].is_null());
    assert!(
        world.run(&["explain", "m.lineal", "a.svm", "--rows", "1"]).done().out.contains("bias")
    );
}

#[test]
fn resume_goes_on_with_new_classes() {
    let world = World::new();
    world.file("a.csv", FRUIT);
    world.file("b.csv", FRUIT.replace("banana", "lemon"));
    let train = |data: &str, flags: &[&str]| {
        let command = ["train", data, "--label", "fruit", "-o", "m.lineal"];
        world.run(&[&command, flags].concat())
    };
    train("a.csv", &["--stream", "--epochs", "3", "--update", "adagrad", "-q"]).done();
    let run = train("b.csv", &["--resume", "m.lineal", "--json"]).done();
    assert_eq!(run.json()["new_classes"], serde_json::json!(["lemon"]));
    assert_eq!(run.json()["passes"], 4);
    assert_eq!(run.json()["update"], "adagrad");
    run.says(&["new on the way: lemon"]);
    train("b.csv", &["--resume", "m.lineal", "--update", "plain"])
        .failed(1, &["continues with the settings of the model", "--update adagrad"]);
    train("a.csv", &["-q"]).done();
    train("b.csv", &["--resume", "m.lineal"]).failed(1, &["not trained with --stream"]);
}

#[test]
fn text_goes_by_as_well() {
    let world = World::new();
    let lines = "__label__money the invoice is wrong\n__label__access cannot log in\n";
    world.file("t.ft", lines.repeat(100));
    let run = world
        .run(&["train", "t.ft", "--format", "fasttext", "-o", "m.lineal", "--stream", "--json"])
        .done();
    assert!(run.json()["progressive"]["accuracy"].as_f64().unwrap() > 0.9);
    // One column of weights leaves room for the most bits that are taken without asking.
    assert_eq!(run.json()["features"], 1 << 20);
    assert_eq!(
        (&run.json()["loss"], &run.json()["strategy"]),
        (&"squared-hinge".into(), &"ova".into())
    );
    let top = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(top.contains("invoice"), "{top}");
}

#[test]
fn columns_beside_text_go_by_as_well() {
    let world = World::new();
    // Only all three columns together tell the label.
    let row = |i: usize| {
        let (note, size, colour) = (i % 2, i / 2 % 2, i / 4 % 2);
        let words = ["the parcel has arrived here on day", "a letter was lost on day"][note];
        let label = ["none", "one", "two", "three"][note + size + colour];
        format!("{words} {i},{},{},{label}\n", 10 * size, ["red", "blue"][colour])
    };
    let rows: String = (0..800).map(row).collect();
    world.file("t.csv", format!("note,size,colour,label\n{rows}"));
    let train = ["train", "t.csv", "-o", "m.lineal", "--stream", "--epochs", "5", "--json"];
    let json = world.run(&train).done().json();
    assert_eq!(json["features"], (1 << 20) + 1 + 2);
    let json = world.run(&["eval", "m.lineal", "t.csv", "--json"]).done().json();
    assert!(json["accuracy"].as_f64().unwrap() > 0.9, "{json}");
    let top = world.run(&["inspect", "m.lineal", "--top", "20"]).done().out;
    assert!(top.contains("size") && top.contains("colour=red"), "{top}");
    world.run(&["train", "t.csv", "-o", "n.lineal", "--resume", "m.lineal", "-q"]).done();
}

#[test]
fn flags_that_need_all_rows() {
    let world = World::new();
    world.file("a.svm", TINY);
    let train =
        |flags: &[&str]| world.run(&[&["train", "a.svm", "-o", "m.lineal"], flags].concat());
    train(&["--stream", "-C", "1"]).failed(2, &["does not take -C", "--l2"]);
    train(&["--stream", "--calibrate", "platt"]).failed(2, &["--calibrate"]);
    train(&["--stream", "--strategy", "tree"]).failed(2, &["take joint, ova or ovo"]);
    train(&["--stream", "--pairs", "votes"]).failed(2, &["--strategy ovo"]);
    train(&["--update", "plain"]).failed(2, &["--update is a choice of --stream"]);
    let piped = ["train", "-", "--format", "libsvm", "-o", "m.lineal", "--stream"];
    world
        .run_with_input(&[&piped[..], &["--epochs", "2"]].concat(), TINY)
        .failed(1, &["can be read only once", "--epochs"]);
    world.file("one.svm", "1 1:1\n1 1:2\n");
    world.run(&["train", "one.svm", "-o", "m.lineal", "--stream"]).failed(1, &["every row"]);
    assert_eq!(world.names(), ["a.svm", "one.svm"]);
}

/// Cities that come late, and quoted cells with line breaks.
fn trips() -> String {
    let early = "\"Rome,\nItaly\",3,warm\nOslo,4,cold\nBonn,5,mild\n".repeat(300);
    let late = "Lima,3,warm\nNome,4,cold\nBern,5,mild\n".repeat(300);
    format!("city,nights,climate\n{early}{late}")
}

#[test]
fn standard_input_is_a_stream_in_every_strategy() {
    let world = World::new();
    world.file("trips.csv", trips());
    world.file("new.csv", "city,nights\nLima,9\nNome,9\nBern,9\n");
    let flags = ["--label", "climate", "--stream", "--hash", "10", "--sample", "50", "-q"];
    for strategy in ["joint", "ova", "ovo"] {
        let train = |data: &str, out: &str| {
            let command = ["train", data, "--format", "csv", "-o", out, "--strategy", strategy];
            world.run_with_input(&[&command[..], &flags].concat(), &trips()).done();
            world.run(&["predict", out, "new.csv", "--scores"]).done().out
        };
        let (piped, read) = (train("-", "a.lineal"), train("trips.csv", "b.lineal"));
        assert_eq!(piped, read, "{strategy}");
        // The sample had none of these cities.
        let labels: Vec<&str> = read.lines().filter_map(|l| l.split('\t').next()).collect();
        assert_eq!(labels, ["warm", "cold", "mild"], "{strategy}");
    }
    let shown = world.run(&["inspect", "a.lineal"]).done().out;
    assert!(shown.contains("ovo") && shown.contains("city=Oslo"), "{shown}");
    world
        .run(&["train", "trips.csv", "-o", "b.lineal", "--resume", "b.lineal", "--strategy", "ova"])
        .failed(1, &["continues with the settings of the model, here --strategy ovo"]);
}

#[test]
fn a_stream_knows_costs() {
    let world = World::new();
    world.file("trips.csv", trips());
    world.file("cost.csv", ",warm,cold,mild\nwarm,0,1,1\ncold,9,0,9\nmild,1,1,0\n");
    let train = |more: &[&str]| {
        let command = ["train", "trips.csv", "--label", "climate", "-o", "m.lineal", "--stream"];
        world.run(&[&command[..], &["--cost", "cost.csv"], more].concat())
    };
    for strategy in ["joint", "ova", "ovo"] {
        train(&["--strategy", strategy, "--hash", "10"]).done();
        let proba = ["predict", "m.lineal", "trips.csv", "--min-cost"];
        assert_eq!(world.run(&proba).done().out.lines().count(), 1800);
    }
    train(&["--loss", "perceptron"]).failed(1, &["no place for a cost"]);
    world.file("cost.csv", ",warm,cold\nwarm,0,1\ncold,9,0\n");
    train(&["--sample", "1"]).failed(1, &["the class `mild` has no costs"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_learnt() {
    use std::io::{BufRead, BufReader, Read};
    let world = World::new();
    world.file("a.svm", TINY.repeat(5000));
    let mut child = world
        .child()
        .args(["train", "a.svm", "-o", "m.lineal", "--stream", "--epochs", "1000000000"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("pass 2") {
        line.clear();
        assert!(err.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let mut text = String::new();
    err.read_to_string(&mut text).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{text}");
    assert!(text.contains("interrupted after") && text.contains("--resume m.lineal"), "{text}");
    assert_eq!(world.names(), ["a.svm", "m.lineal"]);
    let run = world.run(&["train", "a.svm", "-o", "m.lineal", "--resume", "m.lineal", "--json"]);
    let json = run.done().json();
    let rows = json["rows"].as_u64().unwrap();
    // The pass that was interrupted is finished.
    assert!(rows > 0 && rows < 20_000 || json["by_pass"][0]["rows"] == 20_000, "{json}");
}
