//! `--task dependency`: sentences from CoNLL-U to trees and back.

use crate::world::World;
use serde_json::Value;

/// Sentences of a tiny grammar, with comments, a multiword token and an empty node here and there.
fn trees(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let noun = ["dog", "cat", "bank", "market"][i % 4];
        let verb = ["barks", "sleeps", "rose", "fell"][(i / 2) % 4];
        text.push_str(&format!("# sent_id = {}\n", i + 1));
        let mut rows: Vec<(&str, &str, usize, &str)> = Vec::new();
        // Numbers of the noun and of the verb.
        let (n, v) = if i % 3 == 0 { (3, 4) } else { (2, 3) };
        rows.push(("the", "DET", n, "det"));
        if i % 3 == 0 {
            rows.push(("old", "ADJ", n, "amod"));
        }
        rows.push((noun, "NOUN", v, "nsubj"));
        rows.push((verb, "VERB", 0, "root"));
        if i % 2 == 0 {
            rows.push(("in", "ADP", v + 2, "case"));
            rows.push(("Paris", "PROPN", v, "obl"));
        }
        rows.push((".", "PUNCT", v, "punct"));
        for (t, (form, upos, head, relation)) in rows.iter().enumerate() {
            if i % 5 == 0 && t == 1 {
                text.push_str("2-3\ttogether\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n");
            }
            text.push_str(&format!(
                "{}\t{form}\t_\t{upos}\t_\t_\t{head}\t{relation}\t_\t_\n",
                t + 1
            ));
            if i % 7 == 0 && t == 1 {
                text.push_str("2.1\tghost\t_\t_\t_\t_\t_\t_\t_\t_\n");
            }
        }
        text.push('\n');
    }
    text
}

fn world() -> World {
    let world = World::new();
    world.file("train.conllu", trees(60));
    world.file("test.conllu", trees(9));
    world
}

const TRAIN: [&str; 8] =
    ["train", "train.conllu", "--task", "dependency", "-o", "m.lineal", "--hash", "16"];

fn trained(flags: &[&str]) -> World {
    let world = world();
    world.run(&[&TRAIN, flags, &["-q"][..]].concat()).done();
    world
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn train_predict_eval_inspect_explain() {
    let world = world();
    let run = world.run(&[&TRAIN[..], &["--test", "test.conllu", "--json"]].concat()).done();
    let report = json(&run.out);
    assert_eq!(report["task"], "dependency");
    assert_eq!(report["examples"], 60);
    assert_eq!(report["test"]["uas"], 1.0);
    assert_eq!(report["test"]["las"], 1.0);
    run.says(&[
        "train.conllu: 60 sentences",
        "trees: projective",
        "pruner: recall of heads in the training data",
    ]);

    // What it predicts for sentences without annotation is what the data has, and everything else is as it was.
    let bare: String = trees(9)
        .lines()
        .map(|line| {
            let mut fields: Vec<&str> = line.split('\t').collect();
            if fields.len() == 10 && !fields[0].contains(['-', '.']) {
                (fields[6], fields[7]) = ("_", "_");
            }
            format!("{}\n", fields.join("\t"))
        })
        .collect();
    world.file("bare.conllu", &bare);
    assert_eq!(world.run(&["predict", "m.lineal", "bare.conllu"]).done().out, trees(9));

    let eval = json(&world.run(&["eval", "m.lineal", "test.conllu", "--json"]).done().out);
    assert_eq!(
        (&eval["uas"], &eval["las"], &eval["exact"]),
        (&1.0.into(), &1.0.into(), &1.0.into())
    );
    let text = world.run(&["eval", "m.lineal", "test.conllu"]).done().out;
    assert!(text.contains("nsubj") && text.contains("arcs of length"), "{text}");
    let out = world.run(&["inspect", "m.lineal"]).done().out;
    for part in ["dependency", "siblings and grandparents", "nsubj", "trained on"] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
    let why = ["explain", "m.lineal", "test.conllu", "--rows", "1", "--token", "3"];
    let out = world.run(&why).done().out;
    assert!(out.starts_with("sentence 1, word 3 `dog`: nsubj of `barks` (4)"), "{out}");
    assert!(out.lines().count() > 3, "{out}");
    let one = json(&world.run(&[&why[..], &["--json"]].concat()).done().out);
    let reasons = one["reasons"].as_array().unwrap();
    let sum: f64 = reasons.iter().map(|r| r["amount"].as_f64().unwrap()).sum();
    let lead = one["lead"].as_f64().unwrap();
    assert!((sum + one["rest"].as_f64().unwrap() - lead).abs() < 1e-4 * (1.0 + lead), "{one}");
    world.run(&["eval", "m.lineal", "test.conllu", "--report", "e.html", "-q"]).done();
    world.run(&[&why[..], &["--html", "w.html"]].concat()).done();
    assert!(String::from_utf8(world.bytes("e.html")).unwrap().contains("Arcs by length"));
}

#[test]
fn every_kind_of_tree_and_learner() {
    for flags in [
        &["--order", "1"][..],
        &["--decoder", "nonprojective"],
        &["--order", "1", "--candidates", "4"],
        &["--labeller", "joint"],
        &["--loss", "perceptron"],
        &["--loss", "hinge", "--max-passes", "20"],
        &["--loss", "logistic", "--max-passes", "20"],
        &["--loss", "logistic", "--decoder", "nonprojective", "--max-passes", "20"],
        &["--many-roots"],
    ] {
        let world = trained(flags);
        let eval = json(&world.run(&["eval", "m.lineal", "test.conllu", "--json"]).done().out);
        assert!(eval["uas"].as_f64().unwrap() > 0.95, "{flags:?}: {eval}");
        assert!(eval["las"].as_f64().unwrap() > 0.9, "{flags:?}: {eval}");
    }
}

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let bytes = |threads| trained(&["--threads", threads]).bytes("m.lineal");
    assert_eq!(bytes("1"), bytes("3"));
}

/// Passive–aggressive updates minimise nothing, and were said to have stopped before they met --tol.
#[test]
fn updates_without_an_objective_have_no_tolerance_to_meet() {
    let out = world()
        .run(&["compare", "train.conllu", "--task", "dependency", "--losses", "passive-aggressive"])
        .done()
        .out;
    assert!(out.contains("passive-aggressive") && !out.contains("--tol"), "{out}");
}

#[test]
fn probabilities_and_best_trees() {
    let world = trained(&["--loss", "logistic", "--order", "1", "--max-passes", "15"]);
    let predict = ["predict", "m.lineal", "test.conllu", "--output", "jsonl"];
    let out = world.run(&[&predict[..], &["--proba", "--n-best", "3"]].concat()).done().out;
    for line in out.lines() {
        let one = json(line);
        let heads = one["heads"].as_array().unwrap();
        for (word, arcs) in heads.iter().zip(one["proba"].as_array().unwrap()) {
            let sum: f64 = arcs.as_object().unwrap().values().map(|p| p.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-6, "{one}");
            assert!(arcs.get(word.to_string()).is_some());
        }
        let best = one["n_best"].as_array().unwrap();
        assert_eq!(&best[0]["heads"], &one["heads"]);
        let p: Vec<f64> = best.iter().map(|b| b["probability"].as_f64().unwrap()).collect();
        assert!(
            p.windows(2).all(|p| p[0] >= p[1])
                && (p[0] - one["probability"].as_f64().unwrap()).abs() < 1e-9
        );
    }
    let text = world.run(&["predict", "m.lineal", "test.conllu", "--proba"]).done().out;
    assert!(text.contains("Prob=") && text.contains("\n# probability = "), "{text}");
    world.file("again.conllu", &text);
    let again = world.run(&["predict", "m.lineal", "again.conllu", "--proba"]).done().out;
    assert_eq!(again, text, "probabilities of an earlier run are replaced");
    let ranked = world.run(&["predict", "m.lineal", "test.conllu", "--n-best", "2"]).done().out;
    assert!(ranked.contains("\n# rank = 2\n"), "{ranked}");
    world
        .run(&["predict", "m.lineal", "test.conllu", "--review-below", "0.9"])
        .done()
        .says(&["of 9 sentences less probable than 0.9"]);
    world.run(&["predict", "m.lineal", "test.conllu", "--min-cost"]).done();
}

#[test]
fn known_heads_and_forbidden_arcs_hold() {
    let world = trained(&[]);
    // The determiner hangs from the verb, whatever the model says.
    let text = "1\tthe\t_\tDET\t_\t_\t3\tdet\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t_\t_\t_\tNotHead=3\n3\tbarks\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n";
    world.file("known.conllu", text);
    let one = json(
        &world
            .run(&["predict", "m.lineal", "known.conllu", "--known", "--output", "jsonl"])
            .done()
            .out,
    );
    assert_eq!(one["heads"], serde_json::json!([3, 1, 0]));
    let world2 = trained(&[]);
    world2.file("forbid.txt", "* *\n");
    world2
        .run(&[&TRAIN[..], &["--forbid", "forbid.txt", "-q"]].concat())
        .failed(1, &["`* *`, leave trees for sentences of one word only"]);
    world2.file("forbid.txt", "VERB NOUN # no subject\n");
    world2.run(&[&TRAIN[..], &["--forbid", "forbid.txt", "-q"]].concat()).done();
    let out = world2.run(&["predict", "m.lineal", "test.conllu", "--output", "jsonl"]).done().out;
    for line in out.lines() {
        let one = json(line);
        let noun = one["tokens"]
            .as_array()
            .unwrap()
            .iter()
            .position(|t| ["dog", "cat", "bank", "market"].contains(&t.as_str().unwrap()));
        let head = one["heads"][noun.unwrap()].as_u64().unwrap();
        let verb = ["barks", "sleeps", "rose", "fell"];
        assert!(head == 0 || !verb.contains(&one["tokens"][head as usize - 1].as_str().unwrap()));
    }
}

#[test]
fn known_heads_of_long_sentences_take_no_more_memory_than_others() {
    let world = trained(&["--order", "2"]);
    // One head that pruning would drop, among 700 words: all their heads as grandparents would be some 10⁸.
    let mut text = String::new();
    for t in 1..=700 {
        let (form, tag) = [("the", "DET"), ("dog", "NOUN"), ("barks", "VERB")][(t - 1) % 3];
        let head = if t == 3 { "650" } else { "_" };
        text.push_str(&format!("{t}\t{form}\t_\t{tag}\t_\t_\t{head}\t_\t_\t_\n"));
    }
    world.file("long.conllu", format!("{text}\n"));
    let out = world.run(&["predict", "m.lineal", "long.conllu", "--known"]).done().out;
    assert_eq!(out.lines().nth(2).unwrap().split('\t').nth(6), Some("650"));
    world
        .run(&["predict", "m.lineal", "long.conllu", "--n-best", "2"])
        .failed(1, &["the sentence has 700 words, and trees are found for 600 at most"]);
}

#[test]
fn what_rules_out_all_trees_is_named() {
    let world = trained(&[]);
    let one = |head: &str, misc: &str| {
        format!(
            "1\tdog\t_\tNOUN\t_\t_\t{head}\t_\t_\t{misc}\n2\tbarks\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"
        )
    };
    world.file("twice.conllu", one("_", "NotHead=2|NotHead=0"));
    let run = world.run(&["predict", "m.lineal", "twice.conllu", "--known"]);
    let refused = run.failed(1, &["twice.conllu:1: no tree is possible here: --known heads"]);
    assert!(!refused.err.contains("--forbid"), "{}", refused.err);
    world.file("against.conllu", one("2", "NotHead=2"));
    world
        .run(&["predict", "m.lineal", "against.conllu", "--known"])
        .failed(1, &["against.conllu:1: the head is 2, and NotHead excludes it"]);
    let tags = ["DET", "ADJ", "NOUN", "VERB", "ADP", "PROPN", "PUNCT"]
        .map(|tag| format!("<root> {tag}\n"))
        .concat();
    world.file("forbid.txt", tags);
    world
        .run(&[&TRAIN[..], &["--forbid", "forbid.txt", "-q"]].concat())
        .failed(1, &["the forbidden arcs leave no tree"]);
    world.file("forbid.txt", "<root> NOUN\n");
    world.run(&[&TRAIN[..], &["--forbid", "forbid.txt", "-q"]].concat()).done();
    world.file("noun.conllu", "1\tdog\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n");
    let run = world.run(&["predict", "m.lineal", "noun.conllu"]);
    let refused = run.failed(1, &["every tree of this sentence has an arc that --forbid"]);
    assert!(!refused.err.contains("--known"), "{}", refused.err);
}

#[test]
fn columns_that_are_missing_are_told() {
    let world = trained(&[]);
    world.file("raw.conllu", "1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n\n");
    world
        .run(&["predict", "m.lineal", "raw.conllu"])
        .done()
        .says(&["nothing but `_` in UPOS, with which the parser was trained", "--tags jackknife"]);
    let tagged = trained(&["--tags", "jackknife"]);
    tagged.file("raw.conllu", "1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n\n");
    let run = tagged.run(&["predict", "m.lineal", "raw.conllu"]).done();
    assert!(!run.err.contains("nothing but"), "{}", run.err);
}

#[test]
fn predicted_tags() {
    let world = trained(&["--tags", "jackknife"]);
    world.file("raw.conllu", "1\tthe\t_\t_\t_\t_\t_\t_\t_\t_\n2\tdog\t_\t_\t_\t_\t_\t_\t_\t_\n3\tbarks\t_\t_\t_\t_\t_\t_\t_\t_\n\n");
    assert_eq!(
        world.run(&["predict", "m.lineal", "raw.conllu"]).done().out,
        "1\tthe\t_\tDET\t_\t_\t2\tdet\t_\t_\n2\tdog\t_\tNOUN\t_\t_\t3\tnsubj\t_\t_\n3\tbarks\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n"
    );
    let tag = ["train", "train.conllu", "--task", "tag", "--label", "upos", "-o", "t.lineal", "-q"];
    world.run(&tag).done();
    world.run(&[&TRAIN[..], &["--tags", "t.lineal", "-q"]].concat()).done();
    assert!(world.run(&["predict", "m.lineal", "raw.conllu"]).done().out.contains("3\tnsubj"));
    // The same sentences with tags of their own, as many as train.conllu has; one fewer.
    world.file("tags.conllu", trees(60));
    world.run(&[&TRAIN[..], &["--tags", "tags.conllu", "-q"]].concat()).done();
    world.file("tags.conllu", trees(59));
    world
        .run(&[&TRAIN[..], &["--tags", "tags.conllu", "-q"]].concat())
        .failed(1, &["sentence 60 is not that of train.conllu"]);
}

#[test]
fn smaller_models_and_going_on() {
    let world = trained(&[]);
    let size = world.bytes("m.lineal").len();
    let limit = (size / 3).to_string();
    let run =
        world.run(&[&TRAIN[..], &["--max-size", &limit, "--test", "test.conllu"]].concat()).done();
    run.says(&["made smaller"]);
    assert!(world.bytes("m.lineal").len() <= size / 3);
    let eval = json(&world.run(&["eval", "m.lineal", "test.conllu", "--json"]).done().out);
    assert!(eval["uas"].as_f64().unwrap() > 0.9, "{eval}");
    let world = trained(&["--epochs", "2"]);
    let mut on = TRAIN.to_vec();
    on[5] = "n.lineal";
    on.extend(["--resume", "m.lineal", "-q"]);
    world.run(&on).done();
    assert!(world.has("n.lineal"));
    on.extend(["--order", "1"]);
    world.run(&on).failed(1, &["the model to start from has other"]);
}

#[test]
fn what_is_refused() {
    let world = world();
    let fails = |flags: &[&str], code: i32, words: &[&str]| {
        world.run(&[&TRAIN[..], flags].concat()).failed(code, words);
    };
    fails(&["--order", "3"], 1, &["--order 3"]);
    fails(&["--order", "2", "--decoder", "nonprojective"], 1, &["--decoder projective"]);
    fails(&["--strategy", "ova"], 2, &["--strategy has no meaning"]);
    fails(&["--scheme", "bio"], 2, &["--scheme has no meaning"]);
    fails(&["--loss", "squared"], 2, &["perceptron, hinge and logistic"]);
    fails(&["--candidates", "1"], 1, &["--candidates 1"]);
    world
        .run(&["train", "train.conllu", "--task", "tag", "--decoder", "projective", "-o", "x"])
        .failed(2, &["--decoder has no meaning for --task tag"]);
    world.file("bad.tpl", "[arcs]\nh.form m.colour\n");
    fails(&["--template", "bad.tpl"], 1, &["line 2", "colour"]);
    let rows = |rows: &[&str]| format!("{}\n\n", rows.join("\n"));
    let cases: [(&str, String, &str); 6] = [
        (
            "cycle.conllu",
            rows(&["1\ta\t_\t_\t_\t_\t2\tx\t_\t_", "2\tb\t_\t_\t_\t_\t1\tx\t_\t_"]),
            "cycle.conllu:1",
        ),
        ("missing.conllu", rows(&["1\ta\t_\t_\t_\t_\t_\tx\t_\t_"]), "missing.conllu:1"),
        (
            "roots.conllu",
            rows(&["1\ta\t_\t_\t_\t_\t0\tx\t_\t_", "2\tb\t_\t_\t_\t_\t0\tx\t_\t_"]),
            "roots.conllu:2",
        ),
        ("range.conllu", rows(&["1\ta\t_\t_\t_\t_\t7\tx\t_\t_"]), "range.conllu:1"),
        ("columns.conllu", rows(&["1\ta\t_\t_\t_\t_\t0"]), "columns.conllu:1"),
        ("unnamed.conllu", rows(&["1\ta\t_\t_\t_\t_\t0\t_\t_\t_"]), "unnamed.conllu:1"),
    ];
    for (name, text, place) in cases {
        world.file(name, text);
        world.run(&["train", name, "--task", "dependency", "-o", "x.lineal"]).failed(1, &[place]);
    }
    assert!(!world.has("x.lineal"));
    let world = trained(&[]);
    world
        .run(&["predict", "m.lineal", "test.conllu", "--proba"])
        .failed(1, &["has no probabilities; train with --loss logistic"]);
}
