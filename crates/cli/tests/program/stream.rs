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
        .failed(1, &["goes on as the model began", "--update adagrad"]);
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
    assert_eq!(run.json()["features"], 1 << 18);
    let top = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(top.contains("invoice"), "{top}");
}

#[test]
fn flags_that_need_all_rows() {
    let world = World::new();
    world.file("a.svm", TINY);
    let train =
        |flags: &[&str]| world.run(&[&["train", "a.svm", "-o", "m.lineal"], flags].concat());
    train(&["--stream", "-C", "1"]).failed(2, &["does not take -C", "--l2"]);
    train(&["--stream", "--calibrate", "platt"]).failed(2, &["--calibrate"]);
    train(&["--stream", "--strategy", "ovo"]).failed(2, &["--strategy"]);
    train(&["--update", "plain"]).failed(2, &["--update is a choice of --stream"]);
    world
        .run_with_input(&["train", "-", "--format", "libsvm", "-o", "m.lineal", "--stream"], TINY)
        .failed(1, &["can be walked once"]);
    world.file("one.svm", "1 1:1\n1 1:2\n");
    world.run(&["train", "one.svm", "-o", "m.lineal", "--stream"]).failed(1, &["every row"]);
    assert_eq!(world.names(), ["a.svm", "one.svm"]);
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
