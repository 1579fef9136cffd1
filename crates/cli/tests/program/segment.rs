//! `--task segment` on graphs in JSON lines.

use crate::world::World;
use serde_json::Value;

/// Chains whose first half is warm and whose second half is cold, and that say so.
fn graphs(n: usize) -> String {
    let line = |i: usize| {
        let node = |at: usize| match (i + at) % 4 < 2 {
            true => r#"{"warm": 0.7, "size": 0.1}"#,
            false => r#"{"cold": 1.3, "size": 0.1}"#,
        };
        let label = |at: usize| if (i + at) % 4 < 2 { r#""day""# } else { r#""night""# };
        let list = |f: &dyn Fn(usize) -> String| (0..4).map(f).collect::<Vec<_>>().join(", ");
        format!(
            r#"{{"id": "g{i}", "nodes": [{}], "edges": [[0, 1, [0.3]], [1, 2, [0.1]], [2, 3, [0.3]]], "labels": [{}], "weight": 2}}"#,
            list(&|at| node(at).to_owned()),
            list(&|at| label(at).to_owned()),
        )
    };
    (0..n).map(|i| line(i) + "\n").collect()
}

#[test]
fn predicted_graphs_are_gold_for_eval_and_train() {
    let world = World::new();
    world.file("g.jsonl", graphs(6));
    let train = ["train", "g.jsonl", "--task", "segment", "-C", "10", "-o", "m.lineal", "-q"];
    world.run(&train).done();
    let lines = world.run(&["predict", "m.lineal", "g.jsonl", "--output", "jsonl"]).done().out;
    let first: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["nodes"][0], serde_json::json!({"warm": 0.7, "size": 0.1}));
    assert_eq!(first["edges"][1], serde_json::json!([1, 2, [0.1]]));
    assert_eq!((&first["weight"], &first["id"]), (&2.0.into(), &"g0".into()));
    world.file("found.jsonl", &lines);
    let eval = world.run(&["eval", "m.lineal", "found.jsonl", "--json", "-q"]).done().out;
    let told: Value = serde_json::from_str(&eval).unwrap();
    assert_eq!(told["pixel_accuracy"], 1.0);
    let again =
        ["train", "found.jsonl", "--task", "segment", "-C", "10", "-o", "again.lineal", "-q"];
    world.run(&again).done();
    // The same graphs, predicted by a model of themselves.
    let same = world.run(&["predict", "again.lineal", "found.jsonl", "--output", "text"]).done();
    let gold = world.run(&["predict", "m.lineal", "g.jsonl", "--output", "text"]).done();
    assert_eq!(same.out, gold.out);
}

#[test]
fn features_that_training_did_not_have_are_said_once() {
    let world = World::new();
    world.file("g.jsonl", graphs(6));
    world
        .run(&["train", "g.jsonl", "--task", "segment", "-C", "10", "-o", "m.lineal", "-q"])
        .done();
    world.file("new.jsonl", graphs(2).replace("warm", "hot"));
    let said = "warning: new.jsonl: left out 4 values of features that training did not have: `hot` of nodes";
    let run = world.run(&["predict", "m.lineal", "new.jsonl"]).done();
    assert_eq!(run.out.lines().count(), 2);
    run.says(&[said]);
    world.run(&["eval", "m.lineal", "new.jsonl"]).done().says(&[said]);
}

#[test]
fn without_all_labels_there_is_no_gap_and_a_sentence_says_so() {
    let world = World::new();
    world.file("g.jsonl", graphs(6).replacen("\"day\"", "null", 3));
    let train = ["train", "g.jsonl", "--task", "segment", "-o", "m.lineal", "--json"];
    let run = world.run(&train).done();
    let report: Value = serde_json::from_str(&run.out).unwrap();
    assert_eq!((&report["gap"], &report["unlabelled"]), (&Value::Null, &3.into()));
    assert!(report["certificate"].as_str().unwrap().contains("no dual and so no gap"));
    // Nothing advises a solver that would be refused.
    assert!(!run.out.contains("--solver dual"), "{}", run.out);
    let refused = world.run(&[&train[..], &["--solver", "dual"]].concat());
    assert_eq!(refused.code, 1);
}
