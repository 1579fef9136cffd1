//! `lineal compare`.

use serde_json::{Value, json};

use crate::world::{TINY, World};

const KEYS: [&str; 11] = [
    "strategy",
    "loss",
    "problems",
    "rows_touched",
    "train_seconds",
    "predict_seconds_per_row",
    "accuracy",
    "macro_f1",
    "objective",
    "gap",
    "converged",
];

fn plane() -> World {
    let world = World::new();
    world.run(&["demo", "four-classes", "--write", "."]).done();
    world
}

const COMPARE: [&str; 4] = ["compare", "four-classes-train.csv", "--label", "class"];

fn names(json: &Value) -> Vec<String> {
    let name = |row: &Value| {
        format!("{} {}", row["strategy"].as_str().unwrap(), row["loss"].as_str().unwrap())
    };
    json["rows"].as_array().unwrap().iter().map(name).collect()
}

#[test]
fn every_strategy_by_every_loss() {
    let world = plane();
    let run =
        world.run(&[&COMPARE[..], &["--json", "--test", "four-classes-test.csv"]].concat()).done();
    let json = run.json();
    let rows = json["rows"].as_array().unwrap();
    // 5 × 4, but a label tree needs a penalty and the perceptron has none.
    assert_eq!(rows.len(), 19);
    assert_eq!(
        json["left_out"],
        json!([{
            "strategy": "tree",
            "loss": "perceptron",
            "reason": "a label tree is trained in the dual, which needs a penalty",
        }])
    );
    for row in rows {
        let keys: Vec<&String> = row.as_object().unwrap().keys().collect();
        assert_eq!(keys[..11], KEYS);
        assert!(row["error"].is_null() && row["accuracy"].as_f64().unwrap() > 0.5, "{row}");
        assert!(row["train_seconds"].as_f64().unwrap() > 0.0);
        assert!(row["predict_seconds_per_row"].as_f64().unwrap() > 0.0);
        let problems = match row["strategy"].as_str().unwrap() {
            "joint" => 1,
            "ova" => 4,
            "ovo" => 6,
            "ecoc" => 7,
            _ => 3,
        };
        assert_eq!(row["problems"], problems, "{row}");
    }
    assert_eq!((&json["examples"], &json["test_examples"]), (&json!(200), &json!(100)));
    assert_eq!((&json["task"], &json["classes"]), (&json!("classify"), &json!(4)));
    run.says(&["1 of 19: joint perceptron: ", "19 of 19: tree logistic: ", "accuracy"]);
    assert_eq!(world.names().len(), 2);
}

#[test]
fn the_table_marks_the_best() {
    let world = plane();
    let flags = ["--strategies", "joint,ova,ovo", "--losses", "hinge", "-C", "100", "-q"];
    let run = world.run(&[&COMPARE[..], &flags].concat()).done();
    assert_eq!(run.err, "");
    let lines: Vec<&str> = run.out.lines().collect();
    for head in [
        "strategy",
        "loss",
        "problems",
        "rows touched",
        "train s",
        "predict µs/row",
        "accuracy",
        "macro F1",
    ] {
        assert!(lines[0].contains(head), "{}", lines[0]);
    }
    assert!(lines[1].starts_with("joint     hinge") && lines[1].contains("1.0000*"), "{}", run.out);
    assert!(lines[2].starts_with("ova       hinge") && !lines[2].contains("1.0000"), "{}", run.out);
    assert!(lines[3].contains("1.0000*"), "{}", run.out);
    assert!(run.out.contains("* the best of its column; 3 runs in "), "{}", run.out);
}

#[test]
fn the_split_follows_the_seed() {
    let world = plane();
    let run = |flags: &[&str]| {
        let all = [&COMPARE[..], &["--strategies", "ova", "--losses", "logistic", "--json"], flags]
            .concat();
        world.run(&all).done().json()
    };
    let (a, b) =
        (run(&["--holdout", "0.3", "--seed", "1"]), run(&["--holdout", "0.3", "--seed", "1"]));
    assert_eq!((&a["examples"], &a["test_examples"]), (&json!(140), &json!(60)));
    assert_eq!(a["rows"][0]["objective"], b["rows"][0]["objective"]);
    assert_ne!(
        a["rows"][0]["objective"],
        run(&["--holdout", "0.3", "--seed", "2"])["rows"][0]["objective"]
    );
    assert_eq!(run(&[])["test_examples"], 40);
}

#[test]
fn two_classes_have_one_row_per_loss() {
    let world = World::new();
    world.file("a.svm", TINY.repeat(5));
    let json = world.run(&["compare", "a.svm", "--json"]).done().json();
    assert_eq!(
        names(&json),
        ["joint perceptron", "joint hinge", "joint squared-hinge", "joint logistic"]
    );
    let json = world
        .run(&["compare", "a.svm", "--json", "--strategies", "ova,tree", "--losses", "hinge,hinge"])
        .done()
        .json();
    assert_eq!(names(&json), ["ova hinge"]);
    assert_eq!(json["left_out"][0]["strategy"], "tree");
}

#[test]
fn labels_are_compared_by_ova_and_tree() {
    let world = World::new();
    let rows: String =
        (0..60).map(|i| format!("{} {}:1\n", ["0,1", "1", "2", ""][i % 4], i % 4 + 1)).collect();
    world.file("a.svm", rows);
    let compare = ["compare", "a.svm", "--task", "multilabel", "--losses", "hinge,logistic"];
    let json = world.run(&[&compare[..], &["--json", "--threshold", "f1"]].concat()).done().json();
    assert_eq!(names(&json), ["ova hinge", "ova logistic", "tree hinge", "tree logistic"]);
    let row = &json["rows"][0];
    assert!(row["accuracy"].is_null() && row["macro_f1"].is_number());
    assert!(row["metrics"]["micro_f1"].is_number() && row["metrics"]["p@1"].is_number());
    let out = world.run(&compare).done().out;
    assert!(["micro F1", "macro F1", "p@1"].iter().all(|head| out.contains(head)), "{out}");
    world
        .run(&[&compare[..], &["--strategies", "ova,ovo"]].concat())
        .failed(2, &["ovo", "one class per row"]);
}

#[test]
fn a_run_that_fails_says_so_and_the_others_go_on() {
    let world = plane();
    world.file(
        "cost.csv",
        ",lower,right,strip,upper\nlower,0,1,1,1\nright,5,0,5,5\nstrip,1,1,0,1\nupper,1,1,1,0\n",
    );
    let flags = ["--cost", "cost.csv", "--strategies", "ova", "--losses", "perceptron,hinge"];
    let run = world.run(&[&COMPARE[..], &flags, &["--report", "c.html"]].concat()).done();
    assert!(
        run.out.contains("ova       perceptron  the perceptron loss has no place for a cost"),
        "{}",
        run.out
    );
    assert!(run.out.contains("\nova       hinge  "), "{}", run.out);
    let page = String::from_utf8(world.bytes("c.html")).unwrap();
    assert!(page.contains("no place for a cost"));
    let json = world.run(&[&COMPARE[..], &flags, &["--json", "-q"]].concat()).done().json();
    assert!(json["rows"][0]["error"].as_str().unwrap().contains("cost"));
    assert!(json["rows"][0]["accuracy"].is_null() && json["rows"][1]["error"].is_null());
}

#[test]
fn what_would_be_too_large_is_left_out_unless_named() {
    let world = World::new();
    let rows: String = (0..804)
        .map(|i| format!("c{} {}:1 {}:1\n", i % 201, i % 201 % 15 + 1, 16 + i % 201 / 15))
        .collect();
    world.file("a.svm", rows);
    let compare = ["compare", "a.svm", "--losses", "hinge", "--max-passes", "1", "-q"];
    let run = world.run(&compare).done();
    assert!(
        run.out.contains("left out: ovo: 201 classes are 20,100 binary problems in pairs; --strategies ovo runs it"),
        "{}",
        run.out
    );
    let json =
        world.run(&[&compare[..], &["--strategies", "ovo", "--json"]].concat()).done().json();
    assert_eq!(json["rows"][0]["problems"], 20_100);
}

#[test]
fn the_page_has_the_table_and_two_plots() {
    let world = plane();
    let flags = ["--strategies", "joint,tree", "--losses", "hinge,logistic", "--report", "c.html"];
    world.run(&[&COMPARE[..], &flags].concat()).done().says(&["wrote c.html"]);
    let page = String::from_utf8(world.bytes("c.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
    for part in [
        "Accuracy against training time",
        "Accuracy against prediction time",
        "class=\"n best\"",
        "predict µs/row",
        "<title>tree logistic: ",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("http") && !page.contains("NaN"));
}

#[test]
fn wrong_use() {
    let world = plane();
    let compare = |flags: &[&str]| world.run(&[&COMPARE[..], flags].concat());
    compare(&["--losses", "huber"]).failed(1, &["nothing is left to run", "loss of numbers"]);
    compare(&["--strategies", "all"]).failed(2, &["all"]);
    compare(&["--holdout", "1.5"]).failed(2, &["between 0 and 1"]);
    compare(&["--holdout", "0.5", "--test", "four-classes-test.csv"]).failed(2, &["--test"]);
    compare(&["--strategies", "ova", "--beam", "3"]).failed(2, &["--beam", "tree"]);
    compare(&["--threshold", "f1"]).failed(1, &["--threshold", "two classes", "4 classes"]);
    compare(&["--task", "regress"]).failed(1, &["class", "not a finite number"]);
    compare(&["--report", "four-classes-train.csv"]).failed(2, &["also an input"]);
    compare(&["--strategies", "tree", "--losses", "perceptron"])
        .failed(1, &["nothing is left to run", "penalty"]);
    compare(&["--test", "none.csv"]).failed(1, &["none.csv", "no such file"]);
    world.file("one.svm", "1 1:2\n1 1:3\n");
    world.run(&["compare", "one.svm"]).failed(1, &["one.svm", "1 class only"]);
    world.run(&["compare", "-", "--test", "-"]).failed(2, &["standard input", "once"]);
}

#[test]
fn words_of_rows_that_are_held_out_are_not_learnt() {
    let world = World::new();
    let row = |i: usize| format!("__label__{} own{i}\n", ["a", "b"][i % 2]);
    world.file("t.ft", (0..40).map(row).collect::<String>());
    let command = ["compare", "t.ft", "--holdout", "0.25", "--strategies", "joint", "--json"];
    let run =
        world.run(&[&command[..], &["--losses", "logistic", "--ngrams", "1"]].concat()).done();
    assert_eq!(run.json()["features"], 30, "{}", run.json());
}
