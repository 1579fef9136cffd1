//! `--task rank`: what was once wrong.

use crate::world::World;

const TABLE: &str = "\
query,price,note,grade
1,700,plain and cheap,0
1,500,very good indeed,2
1,650,good but dear,1
2,300,very good and cheap,2
2,900,plain,0
2,450,good,1
3,120,good indeed,1
3,880,plain and dear,0
3,210,very good,2
";

fn train(world: &World, flags: &[&str]) -> serde_json::Value {
    let command = ["train", "t.csv", "--task", "rank", "--query", "query", "--label", "grade"];
    let rest = ["--text", "note", "-o", "m.lineal", "-q", "--json"];
    world.run(&[&command[..], &rest, flags].concat()).done().json()
}

#[test]
fn numbers_beside_text_are_left_alone_if_asked_and_shown_as_they_are() {
    let world = World::new();
    world.file("t.csv", TABLE);
    let scaled = train(&world, &[]);
    let run = world.run(&["explain", "m.lineal", "t.csv", "--output", "jsonl", "-q"]).done();
    for line in run.out.lines() {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        let features = row["features"].as_array().into_iter().flatten();
        for feature in features.filter(|feature| feature["feature"] == "price") {
            let price = feature["value"].as_f64().unwrap();
            assert!((120.0..=900.0).contains(&price.round()), "{feature}");
        }
    }
    assert!(run.out.contains("price"), "{}", run.out);
    let plain = train(&world, &["--no-standardize"]);
    assert_ne!(scaled["objective"], plain["objective"]);
}

#[test]
fn a_grade_that_cannot_be_measured_is_refused_before_training() {
    let world = World::new();
    world.file("t.letor", "1 qid:1 1:1\n0 qid:1 1:2\n600 qid:2 1:1\n0 qid:2 1:2\n");
    world
        .run(&["train", "t.letor", "--task", "rank", "-o", "m.lineal"])
        .failed(1, &["t.letor:3:1", "600", "512"]);
}

#[test]
fn steps_that_went_astray_are_not_where_training_starts() {
    let world = World::new();
    world.file("t.letor", "0 qid:1 1:1.70081538e+09 2:0.138119517\n3 qid:1 1:0.5\n");
    let command = ["train", "t.letor", "--task", "rank", "--rank", "plackett-luce", "-C", "0.0001"];
    let report = world.run(&[&command[..], &["-o", "m.lineal", "-q", "--json"]].concat()).json();
    let objective = report["objective"].as_f64().unwrap();
    assert!(objective <= 2f64.ln() + 1e-9, "worse than no weights: {report}");
}
