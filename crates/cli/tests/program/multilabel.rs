//! Any number of labels per row.

use serde_json::Value;

use crate::world::World;

/// Three labels, each with a word of its own; every eighth row has none.
fn rows(n: usize) -> String {
    let row = |i: usize| {
        let has = [i % 2 == 1, i / 2 % 2 == 1, i / 4 % 2 == 1];
        let labels: Vec<&str> =
            ["art", "money", "war"].into_iter().zip(has).filter(|l| l.1).map(|l| l.0).collect();
        let words: String =
            (1..=3).zip(has).filter(|w| w.1).map(|(j, _)| format!(" {j}:1")).collect();
        format!("{}{words} {}:1\n", labels.join(","), 4 + i % 5)
    };
    (0..n).map(row).collect()
}

fn world(flags: &[&str]) -> World {
    let world = World::new();
    world.file("a.svm", rows(80));
    let train = ["train", "a.svm", "--task", "multilabel", "-C", "10", "-q", "-o", "m.lineal"];
    world.run(&[&train[..], flags].concat()).done();
    world
}

fn predict(world: &World, flags: &[&str]) -> Vec<String> {
    let out = world.run(&[&["predict", "m.lineal", "a.svm"], flags].concat()).done().out;
    out.lines().map(str::to_owned).collect()
}

#[test]
fn labels_in_each_form_of_output() {
    let world = world(&[]);
    let lines = predict(&world, &[]);
    assert_eq!(lines.len(), 80);
    assert_eq!(lines[..4], ["", "art", "money", "art,money"]);
    assert_eq!(predict(&world, &["--label-separator", ";"])[3], "art;money");
    let csv = predict(&world, &["--output", "csv"]);
    assert_eq!(csv[..5], ["labels", "\"\"", "art", "money", "\"art,money\""]);
    assert_eq!(predict(&world, &["--output", "csv", "--proba"])[0], "labels,art,money,war");
    let row = |flags: &[&str]| -> Value {
        let lines = predict(&world, &[flags, &["--output", "jsonl"]].concat());
        serde_json::from_str(&lines[3]).unwrap()
    };
    assert_eq!(row(&[]), serde_json::json!({"labels": ["art", "money"]}));
    let all = row(&["--scores", "--proba", "--top", "2"]);
    let keys: Vec<&String> = all.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["labels", "scores", "proba", "top"]);
    assert_eq!(all["top"].as_array().unwrap().len(), 2);
    assert!(
        all["proba"]["art"].as_f64().unwrap() > 0.5 && all["proba"]["war"].as_f64().unwrap() < 0.5
    );
    for flag in ["--sample", "--min-cost"] {
        world
            .run(&["predict", "m.lineal", "a.svm", flag])
            .failed(1, &["m.lineal", "task multilabel", flag]);
    }
}

#[test]
fn rare_labels_are_found_by_default() {
    let world = World::new();
    // Two labels that a third of the rows have where one feature is there, and a tenth elsewhere: never above one half.
    let row = |i: usize| {
        let (a, b) = (i % 7 < 3, i % 5 < 2);
        let has = |there: bool, at: usize| (i * at) % 30 < if there { 11 } else { 2 };
        let labels: Vec<&str> =
            [("x", has(a, 7)), ("y", has(b, 11))].iter().filter(|l| l.1).map(|l| l.0).collect();
        let values = [a, b].map(u8::from);
        format!("{} 1:{} 2:{}\n", labels.join(","), values[0], values[1])
    };
    world.file("rare.svm", (0..600).map(row).collect::<String>());
    let train = |flags: &[&str]| {
        let command = ["train", "rare.svm", "--task", "multilabel", "-o", "m.lineal"];
        let run = world.run(&[&command[..], &["--test", "rare.svm", "--json"], flags].concat());
        let run = run.done();
        (run.json()["test"]["micro_f1"].as_f64().unwrap(), run)
    };
    let (plain, run) = train(&["--threshold", "0.5"]);
    assert!(!run.err.contains("to fit "), "{}", run.err);
    let (tuned, run) = train(&[]);
    assert!(plain < 0.1 && tuned > 0.35, "{plain} {tuned}");
    run.says(&[
        "training 5 more times, each time without one of 5 folds, to fit thresholds",
        "best micro F1",
    ]);
    let eval = ["eval", "m.lineal", "rare.svm", "--json", "--threshold", "0.5"];
    assert_eq!(world.run(&eval).done().json()["micro_f1"].as_f64().unwrap(), plain);
}

#[test]
fn labels_of_text_take_the_loss_of_text_and_have_probabilities() {
    let world = World::new();
    let words = ["sea ship sail", "star moon sky", "bread salt oven"];
    let row = |i: usize| {
        let has: Vec<usize> = (0..3).filter(|&l| (i / (l + 1)).is_multiple_of(3)).collect();
        let text: Vec<&str> = has.iter().map(|&l| words[l]).collect();
        let labels: Vec<String> = has.iter().map(|l| format!("l{l}")).collect();
        format!("\"once upon {} a time {}\",\"{}\"\n", i % 17, text.join(" "), labels.join(","))
    };
    world.file("t.csv", format!("text,labels\n{}", (0..300).map(row).collect::<String>()));
    let train = |flags: &[&str]| {
        let command = ["train", "t.csv", "--task", "multilabel", "-o", "m.lineal", "--json"];
        world.run(&[&command[..], &["--test", "t.csv"], flags].concat()).done().json()
    };
    let json = train(&[]);
    assert_eq!(json["loss"], "squared-hinge");
    let f1 = json["test"]["micro_f1"].as_f64().unwrap();
    assert!(f1 > 0.95, "{json}");
    let out =
        world.run(&["predict", "m.lineal", "t.csv", "--proba", "--output", "jsonl"]).done().out;
    let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    let p = |label: &str| first["proba"][label].as_f64().unwrap();
    assert_eq!(first["labels"], serde_json::json!(["l0", "l1", "l2"]));
    assert!(["l0", "l1", "l2"].iter().all(|label| p(label) > 0.3 && p(label) <= 1.0), "{first}");
    // A probability can still be given, in training and afterwards.
    assert!(train(&["--threshold", "0.5"])["test"]["micro_f1"].as_f64().unwrap() > 0.9);
    world.run(&["eval", "m.lineal", "t.csv", "--threshold", "0.3", "-q"]).done();
    assert_eq!(train(&["--loss", "logistic"])["loss"], "logistic");
}

#[test]
fn lists_that_are_taken_for_classes_are_asked_about() {
    let world = World::new();
    let genres =
        ["war", "drama", "war; drama", "war; comedy", "comedy; drama", "drama; comedy; war"];
    let row = |i: usize| format!("{},\"{}\"\n", i % 7, genres[i % 6]);
    let table = format!("length,genres\n{}", (0..60).map(row).collect::<String>());
    world.file("f.csv", &table);
    let train = ["train", "f.csv", "--label", "genres", "-o", "f.lineal"];
    let flags = ["--task", "multilabel", "--label-separator", ";"];
    world.run(&train).done().says(&[
        "note: most of the 6 classes are lists of 3 labels, such as \"",
        "say --task multilabel --label-separator ';'",
    ]);
    let run = world.run(&[&train[..], &flags].concat()).done();
    assert!(!run.err.contains("note:"), "{}", run.err);
    world.file("f.csv", table.replace(';', ","));
    world.run(&train).done().says(&["if a row can have several labels, say --task multilabel\n"]);
    // Names with commas are names.
    let places =
        ["Bonn, Germany", "Bern, Switzerland", "Lyon, France", "Rome, Italy", "Oslo, Norway"];
    let rows: String = (0..50).map(|i| format!("{},\"{}\"\n", i % 7, places[i % 5])).collect();
    world.file("f.csv", format!("length,genres\n{rows}"));
    let run = world.run(&train).done();
    assert!(!run.err.contains("note:"), "{}", run.err);
    // A list of JSON cannot be one class.
    world.file("f.jsonl", "{\"length\": 3, \"genres\": [\"war\", \"drama\"]}\n".repeat(3));
    world
        .run(&["train", "f.jsonl", "--label", "genres", "-o", "f.lineal"])
        .failed(1, &["the label is a list of 2", "several labels, say --task multilabel"]);
}

#[test]
fn metrics_have_the_names_of_the_contract() {
    const KEYS: [&str; 8] =
        ["micro_f1", "macro_f1", "hamming_loss", "subset_accuracy", "p@1", "p@3", "p@5", "ndcg@5"];
    for strategy in ["ova", "tree"] {
        let world = world(&["--strategy", strategy]);
        let eval = ["eval", "m.lineal", "a.svm"];
        let json = world.run(&[&eval[..], &["--json"]].concat()).done().json();
        let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
        assert_eq!(keys[..8], KEYS);
        assert_eq!(json["subset_accuracy"], 1.0, "{strategy}");
        // 35 of 40 rows have a label, and their best is one.
        assert_eq!(json["p@1"], 0.875);
        let pairs: u64 = json["reliability"]
            .as_array()
            .unwrap()
            .iter()
            .map(|bin| bin["count"].as_u64().unwrap())
            .sum();
        assert_eq!(pairs, 240);
        let out = world.run(&eval).done().out;
        assert!(KEYS.iter().all(|key| out.contains(key)), "{out}");
        world.run(&[&eval[..], &["--report", "e.html"]].concat()).done();
        let page = String::from_utf8(world.bytes("e.html")).unwrap();
        assert!(["By label", "Reliability", "money"].iter().all(|part| page.contains(part)));
        world
            .run(&["eval", "m.lineal", "a.svm", "--cost", "a.svm"])
            .failed(1, &["task multilabel", "--cost"]);
    }
}

#[test]
fn a_hinge_has_no_reliability_until_it_is_calibrated() {
    let bins = |flags: &[&str]| {
        let world = world(&[&["--loss", "hinge"], flags].concat());
        world.run(&["eval", "m.lineal", "a.svm", "--json"]).done().json()["reliability"].clone()
    };
    assert_eq!(bins(&[]), serde_json::json!([]));
    assert!(!bins(&["--calibrate", "platt"]).as_array().unwrap().is_empty());
}

#[test]
fn every_threshold() {
    for (threshold, said) in [
        ("0.3", "threshold    a probability above 0.3\n"),
        ("f1", ", for the best F1 of each label in "),
        ("micro-f1", ", for the best micro F1 in "),
        ("cost:1,5", ", for the least cost of false positives at 1 and false negatives at 5 in "),
    ] {
        for strategy in ["ova", "tree"] {
            let world = world(&["--threshold", threshold, "--strategy", strategy]);
            let out = world.run(&["inspect", "m.lineal"]).done().out;
            assert!(out.contains(said), "{out}");
            assert!(out.contains("labels       3: art, money, war\n"), "{out}");
            let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
            assert_eq!(json["thresholds"].is_array(), threshold != "0.3");
            let json = world.run(&["eval", "m.lineal", "a.svm", "--json"]).done().json();
            assert!(json["micro_f1"].as_f64().unwrap() > 0.9, "{threshold} {strategy}: {json}");
        }
    }
    let world = world(&[]);
    let train = ["train", "a.svm", "--task", "multilabel", "-o", "x.lineal", "--threshold"];
    for (bad, said) in
        [("2", "between 0 and 1"), ("best", "f1, micro-f1"), ("cost:1", "cost:FP,FN")]
    {
        world.run(&[&train[..], &[bad]].concat()).failed(2, &[bad, said]);
    }
    let json = world.run(&[&train[..], &["f1", "--json"]].concat()).done().json();
    assert_eq!((&json["threshold"], &json["strategy"]), (&Value::from("f1"), &Value::from("ova")));
}

#[test]
fn what_needs_one_class_per_row_is_refused() {
    let world = World::new();
    world.file("a.svm", rows(80));
    world.file("cost.csv", ",art,money\nart,0,1\nmoney,1,0\n");
    let train = |flags: &[&str]| {
        world.run(&[&["train", "a.svm", "--task", "multilabel", "-o", "m.lineal"], flags].concat())
    };
    for strategy in ["joint", "ovo", "ecoc"] {
        train(&["--strategy", strategy]).failed(2, &[strategy, "one class per row", "ova", "tree"]);
    }
    train(&["--cost", "cost.csv"]).failed(2, &["--cost", "--threshold cost:FP,FN"]);
    train(&["--class-weight", "balanced"]).failed(1, &["--class-weight"]);
    train(&["--loss", "squared"]).failed(1, &["hinge"]);
    world.file("none.svm", " 1:1\n 2:1\n");
    world
        .run(&["train", "none.svm", "--task", "multilabel", "-o", "m.lineal"])
        .failed(1, &["none.svm", "label"]);
    assert_eq!(world.names(), ["a.svm", "cost.csv", "none.svm"]);
}

#[test]
fn a_table_has_labels_in_a_cell() {
    let world = World::new();
    let mut csv = String::from("year,kind,genres\n");
    for i in 0..40 {
        let genres = ["drama", "drama;war", "", "comedy"][i % 4];
        csv.push_str(&format!("{},{},{genres}\n", 1950 + i, ["a", "b", "c", "d"][i % 4]));
    }
    world.file("films.csv", csv);
    let train = ["train", "films.csv", "--label", "genres", "--task", "multilabel", "-C", "10"];
    let rest = ["--label-separator", ";", "-o", "m.lineal", "--test", "films.csv", "--standardize"];
    world.run(&[&train[..], &rest].concat()).done().says(&[
        "3 labels (1.000 per row)",
        "micro F1 1.0000",
        "strategy: ova, 3 binary problems",
    ]);
    let predict = ["predict", "m.lineal", "films.csv", "--label-separator", ";"];
    let out = world.run(&predict).done().out;
    assert_eq!(out.lines().take(4).collect::<Vec<_>>(), ["drama", "drama;war", "", "comedy"]);
    let eval = ["eval", "m.lineal", "films.csv", "--label-separator", ";", "--json"];
    assert_eq!(world.run(&eval).done().json()["subset_accuracy"], 1.0);

    world.file("b.jsonl", "{\"x\":1,\"labels\":[\"p\",\"q\"]}\n{\"x\":2,\"labels\":[]}\n{\"x\":3,\"labels\":[\"p\"]}\n");
    world
        .run(&["train", "b.jsonl", "--task", "multilabel", "-o", "j.lineal"])
        .done()
        .says(&["2 labels"]);
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    for flags in [
        &[][..],
        &["--strategy", "tree"],
        &["--loss", "hinge", "--threshold", "f1", "--calibrate", "isotonic", "--folds", "2"],
    ] {
        let bytes =
            ["1", "2"].map(|n| world(&[flags, &["--threads", n]].concat()).bytes("m.lineal"));
        assert!(bytes[0] == bytes[1], "{flags:?}");
    }
}
