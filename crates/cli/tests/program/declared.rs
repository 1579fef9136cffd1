//! `--task declared`.

use crate::world::World;
use serde_json::Value;

const DAYS: &str = "variable day { x } from days
variable cell(day: day) { off work } from cells by shift
rule exactly 1 cell = work per day
";

#[test]
fn a_kind_with_one_label_needs_no_label_in_the_data() {
    let world = World::new();
    world.file("d.declared", DAYS);
    // The second day breaks the rule: it is learnt from all the same, and said.
    world.file(
        "d.jsonl",
        r#"{"days": [{}, {}], "cells": [{"day": 0, "shift": "work", "features": {"a": 1}}, {"day": 1, "shift": "off", "features": {"a": -1}}]}"#,
    );
    let train = ["train", "d.jsonl", "--task", "declared", "--declaration", "d.declared"];
    let train = [&train[..], &["-o", "m.lineal"]].concat();
    world.run(&train).done().says(&["break the rule in line 3", "first: d.jsonl:1"]);
    world.run(&[&train[..], &["--loss", "hinge", "--solver", "dual"]].concat()).done();
    let told = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(told.contains("decided an example"), "{told}");
    let found = world.run(&["predict", "m.lineal", "d.jsonl"]).done().out;
    assert_eq!(found, "day[0]=x\tday[1]=x\tcell[0]=work\tcell[1]=work\n");
}

#[test]
fn labels_known_in_part_may_break_a_rule() {
    let world = World::new();
    world.file("d.declared", "variable a { x y } from a by l\nrule at most 1 a = x\n");
    let line = r#"{"a": [{"l": "x", "features": {"f": 1}}, {"l": "x", "features": {"f": 1}}, {"features": {"f": -1}}]}"#;
    world.file("d.jsonl", line);
    let train = ["train", "d.jsonl", "--task", "declared", "--declaration", "d.declared"];
    world
        .run(&[&train[..], &["-o", "m.lineal"]].concat())
        .done()
        .says(&["break the rule in line 2 (`rule at most 1 a = x`)"]);
}

#[test]
fn counts_and_patterns_over_many_variables_are_exact() {
    let world = World::new();
    let items: Vec<String> = (0..3000)
        .map(|i| format!(r#"{{"l": "{}", "features": {{"f": {}}}}}"#, ["a", "b"][i % 2], i % 7))
        .collect();
    world.file("d.jsonl", format!(r#"{{"items": [{}]}}"#, items.join(", ")));
    world.file("few.jsonl", format!(r#"{{"items": [{}]}}"#, items[..8].join(", ")));
    for rule in ["at most 100 item = a", "sequence item matches (a a b)* a* b*"] {
        world.file("d.declared", format!("variable item {{ a b }} from items by l\nrule {rule}\n"));
        let train = ["train", "few.jsonl", "--task", "declared", "--declaration", "d.declared"];
        world.run(&[&train[..], &["-o", "m.lineal", "-q"]].concat()).done();
        let predict = ["predict", "m.lineal", "d.jsonl", "--output", "jsonl"];
        let found = world.run(&predict).done();
        let found: Value = serde_json::from_str(&found.out).unwrap();
        assert_eq!(found["slack"], 0.0);
        let labels: Vec<&str> =
            found["items"].as_array().unwrap().iter().map(|i| i["l"].as_str().unwrap()).collect();
        if rule.starts_with("at most") {
            assert!(labels.iter().filter(|label| **label == "a").count() <= 100);
        }
    }
}

#[test]
fn what_no_example_has_is_said() {
    let world = World::new();
    world.file(
        "d.declared",
        "variable a(up: a) { x y } from a by l\nfeatures a: pos[start]\nrule a = x implies up = y\n",
    );
    world.file(
        "d.jsonl",
        r#"{"tokens": ["u", "v"], "a": [{"l": "x", "start": 0}, {"l": "y", "start": 1}]}"#,
    );
    let train = ["train", "d.jsonl", "--task", "declared", "--declaration", "d.declared"];
    let train = [&train[..], &["-o", "m.lineal"]].concat();
    world.run(&train).done().says(&["has the field `up`", "has the column `pos`"]);
    world
        .run(&[&train[..], &["--hash", "8"]].concat())
        .failed(2, &["--hash has no meaning for --task declared"]);
    for (flags, parts) in [
        (["--loss", "squared-hinge"], ["--loss squared-hinge", "choose --loss hinge"]),
        (["--solver", "lbfgs"], ["--solver lbfgs", "choose --solver dual or sgd"]),
        (["--l1", "0.1"], ["--l1", "choose --l2 or -C"]),
    ] {
        let run = world.run(&[&train[..], &flags].concat());
        assert!(!run.err.contains("logistic"), "{}", run.err);
        assert_ne!(run.code, 0);
        run.says(&parts);
    }
    world.file("d.jsonl", r#"{"a": [{"start": 0}]}"#);
    world.run(&train).failed(1, &["no object has the field `l` of `a`"]);
}
