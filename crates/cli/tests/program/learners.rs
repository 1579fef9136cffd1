//! `tune` and `compare` for every structured task, and what rankings have of their own.

use crate::world::{TINY, World};
use serde_json::Value;

/// Queries of three or four documents; the first two features tell the grade, more or less.
fn queries(n: usize) -> String {
    let mut text = String::new();
    for q in 0..n {
        for d in 0..3 + q % 2 {
            let grade = (q + d) % 3;
            let noise = f64::from(u32::try_from((q * 7 + d * 5) % 11).unwrap()) / 11.0;
            let first = 0.4 * grade as f64 + noise;
            text.push_str(&format!("{grade} qid:{q} 1:{first:.3} 2:{:.3} 3:1\n", 1.0 - noise));
        }
    }
    text
}

/// Sentences with chunks in the third column.
fn chunks(n: usize) -> String {
    let sentence = |i: usize| {
        let noun = ["dog", "cat", "bank", "market"][i % 4];
        let verb = ["barks", "sleeps", "rose", "fell"][(i / 2) % 4];
        let old = if i.is_multiple_of(3) { "old JJ I-NP\n" } else { "" };
        format!("the DT B-NP\n{old}{noun} NN I-NP\n{verb} VB B-VP\n. . O\n\n")
    };
    (0..n).map(sentence).collect()
}

/// The same as dependency trees.
fn arcs(n: usize) -> String {
    let sentence = |i: usize| {
        let noun = ["dog", "cat", "bank", "market"][i % 4];
        let verb = ["barks", "sleeps", "rose", "fell"][(i / 2) % 4];
        let rest = "\t_\t_\n";
        format!(
            "1\tthe\t_\tDET\t_\t_\t2\tdet{rest}2\t{noun}\t_\tNOUN\t_\t_\t3\tnsubj{rest}3\t{verb}\t_\tVERB\t_\t_\t0\troot{rest}\n"
        )
    };
    (0..n).map(sentence).collect()
}

/// The same as bracketed trees.
fn brackets(n: usize) -> String {
    let sentence = |i: usize| {
        let noun = ["dog", "cat", "bank", "market"][i % 4];
        let verb = ["barks", "sleeps", "rose", "fell"][(i / 2) % 4];
        let old = if i.is_multiple_of(3) { "(JJ old) " } else { "" };
        format!("(S (NP (DT the) {old}(NN {noun})) (VP (VB {verb})) (. .))\n")
    };
    (0..n).map(sentence).collect()
}

/// Rings of four nodes with a label each.
fn graphs(n: usize) -> String {
    let graph = |i: usize| {
        let [nodes, labels]: [Vec<String>; 2] = [0, 1].map(|what| {
            let of = |node: usize| {
                let label = usize::from((i + node) % 4 < 2);
                let noise = (i * 3 + node * 5) % 7;
                match what {
                    0 => format!("{{\"x\": {}, \"one\": 1}}", 4 * label + noise),
                    _ => format!("\"{}\"", ["low", "high"][label]),
                }
            };
            (0..4).map(of).collect()
        });
        format!(
            "{{\"nodes\": [{}], \"edges\": [[0, 1], [1, 2], [2, 3]], \"labels\": [{}]}}\n",
            nodes.join(", "),
            labels.join(", ")
        )
    };
    (0..n).map(graph).collect()
}

const DECLARATION: &str = "\
variable token { N V } from words by tag
factor step(token, token.next)
features token: lower(tokens[start..end])
";

fn declared(n: usize) -> String {
    let example = |i: usize| {
        let noun = ["dog", "cat"][i % 2];
        let verb = ["barks", "sleeps"][(i / 2) % 2];
        let word = |at: usize, tag: &str| {
            format!("{{\"start\": {at}, \"end\": {}, \"tag\": \"{tag}\"}}", at + 1)
        };
        let words = [word(0, "N"), word(1, "V")].join(", ");
        format!("{{\"tokens\": [\"{noun}\", \"{verb}\"], \"words\": [{words}]}}\n")
    };
    (0..n).map(example).collect()
}

/// Every structured task with a small file of its own, its metric, and the learners that it has none of.
const TASKS: [(&str, &[&str], &str, &[&str]); 6] = [
    ("rank", &["a.letor"], "ndcg@10", &[]),
    ("tag", &["a.conll"], "span_f1", &[]),
    ("dependency", &["a.conllu", "--hash", "12"], "las", &[]),
    ("constituency", &["a.mrg", "--hash", "12"], "f1", &[]),
    ("segment", &["a.jsonl"], "foreground_iou", &["logistic"]),
    ("declared", &["d.jsonl", "--declaration", "d.declared"], "accuracy", &["logistic"]),
];

fn world() -> World {
    let world = World::new();
    world.file("a.letor", queries(30));
    world.file("a.conll", chunks(24));
    world.file("a.conllu", arcs(24));
    world.file("a.mrg", brackets(24));
    world.file("a.jsonl", graphs(20));
    world.file("d.jsonl", declared(20));
    world.file("d.declared", DECLARATION);
    world
}

fn names<'j>(rows: &'j Value, key: &str) -> Vec<&'j str> {
    let mut names: Vec<&str> =
        rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap()).collect();
    names.dedup();
    names
}

#[test]
fn compare_trains_every_learner_that_a_structure_allows() {
    let world = world();
    for (task, data, metric, without) in TASKS {
        let command = [&["compare"], data, &["--task", task, "--max-passes", "30"]].concat();
        let json = world.run(&[&command[..], &["--json", "-q"]].concat()).done().json();
        let mut learners = vec!["perceptron", "passive-aggressive", "hinge"];
        if task == "rank" {
            learners.push("squared-hinge");
        }
        learners.push("logistic");
        learners.retain(|learner| !without.contains(learner));
        assert_eq!(names(&json["rows"], "loss"), learners, "{task}");
        assert_eq!(names(&json["left_out"], "loss"), without, "{task}");
        assert_eq!(json["task"], task);
        for row in json["rows"].as_array().unwrap() {
            assert!(row["error"].is_null(), "{task}: {row}");
            // Few graphs with the usual C are underfitted.
            let least = if task == "segment" { 0.0 } else { 0.5 };
            assert!(row["metrics"][metric].as_f64().unwrap() >= least, "{task}: {row}");
            assert!(row["train_seconds"].as_f64().unwrap() > 0.0);
            assert!(row["predict_seconds_per_example"].as_f64().unwrap() > 0.0);
            // What minimises nothing has no gap.
            let minimises =
                !matches!(row["loss"].as_str(), Some("perceptron" | "passive-aggressive"));
            assert!(minimises || row["gap"].is_null(), "{task}: {row}");
        }
        let page = [&command[..], &["--report", "r.html", "--losses", "perceptron,hinge"]].concat();
        let run = world.run(&page).done().says(&["1 of 2: perceptron", "2 of 2: hinge", "r.html"]);
        let head = run.out.lines().next().unwrap();
        for column in ["learner", "train s", "predict µs/", metric, "relative gap"] {
            assert!(head.contains(column), "{task}: {head}");
        }
        let page = String::from_utf8(world.bytes("r.html")).unwrap();
        assert!(page.contains("Learners on") && page.contains(metric), "{task}");
    }
}

#[test]
fn tune_searches_by_folds_of_examples() {
    let world = world();
    for (task, data, metric, without) in TASKS {
        let flags = ["--task", task, "--folds", "3", "--max-passes", "30", "-o", "m.lineal"];
        let command = [&["tune"], data, &flags].concat();
        let json = world.run(&[&command[..], &["--json", "-q"]].concat()).done().json();
        assert_eq!((&json["metric"], &json["folds"]), (&metric.into(), &3.into()), "{task}");
        let trials = json["trials"].as_array().unwrap();
        let updates = matches!(task, "dependency" | "constituency" | "declared");
        let n_learners = match task {
            "rank" => 3,
            "tag" => 2,
            _ => 1,
        };
        assert_eq!(trials.len(), 5 * n_learners, "{task}");
        assert_eq!(updates, trials[0]["loss"] == "passive-aggressive", "{task}");
        if !updates {
            assert_eq!(names(&json["refused"], "loss"), without, "{task}");
        }
        let mean = |t: &Value| t["mean"].as_f64().unwrap();
        assert!(trials.iter().all(|t| mean(t) <= mean(&json["best"])), "{task}");
        assert!(trials.iter().all(|t| t["folds"].as_array().unwrap().len() == 3));
        // What was written is what `train` makes of the chosen learner and C.
        let chosen = &json["chosen"];
        let (c, loss) = (chosen["C"].to_string(), chosen["loss"].as_str().unwrap());
        let learner = match loss {
            "passive-aggressive" => vec!["--passive-aggressive", &c],
            loss => vec!["-C", &c, "--loss", loss],
        };
        let train = [&["train"], data, &["--task", task, "--max-passes", "30", "-o", "t.lineal"]];
        world.run(&[&train.concat()[..], &learner, &["-q"]].concat()).done();
        assert_eq!(world.bytes("m.lineal"), world.bytes("t.lineal"), "{task}");
    }
}

#[test]
fn a_search_has_metrics_losses_and_a_budget() {
    let world = world();
    let tune = ["tune", "a.letor", "--task", "rank", "--folds", "3"];
    let more =
        ["--metric", "map", "--losses", "hinge", "-C", "0.1,0.001", "--test", "a.letor", "-o", "m"];
    let run = world.run(&[&tune[..], &more].concat()).done();
    run.says(&[
        "30 queries",
        "2 of 2: hinge, C 0.1: mean",
        "chose hinge",
        "a.letor: NDCG@10",
        "wrote m",
    ]);
    let table = |threads: &str| {
        let mut json =
            world.run(&[&tune[..], &["--json", "-q", "--threads", threads]].concat()).done().json();
        for trial in json["trials"].as_array_mut().unwrap() {
            trial["seconds"] = 0.into();
        }
        json["trials"].to_string()
    };
    assert_eq!(table("1"), table("3"));
    let json = world.run(&[&tune[..], &["--budget", "0.000001", "--json"]].concat()).done().json();
    assert_eq!((json["trials"].as_array().unwrap().len(), &json["left_out"]), (1, &14.into()));
    // Orders have no sum, and so no logistic loss; pairs alone have a squared hinge.
    let orders = [&tune[..], &["--rank", "ndcg", "--max-passes", "20"]].concat();
    let run = world.run(&orders).done();
    assert!(run.out.contains("left out: logistic: --rank ndcg has no sum"), "{}", run.out);
    assert!(run.out.contains("left out: squared-hinge: "), "{}", run.out);
    for (flags, said) in [
        (
            vec!["--metric", "las"],
            "--metric las is not available for this task: choose one of ndcg@10,",
        ),
        (vec!["--losses", "squared"], "--losses squared: it is a loss of rows"),
        (vec!["--rank", "ndcg", "--losses", "logistic"], "has no sum over all orders"),
    ] {
        let run = world.run(&[&tune[..], &flags].concat());
        assert!(run.code > 0 && run.err.contains(said), "{}", run.err);
    }
    world
        .run(&["tune", "a.letor", "--task", "rank", "--folds", "31", "-q"])
        .failed(1, &["31 folds need at least 31 examples, and there are 30"]);
    world.file("a.svm", TINY);
    let usage = |args: &[&str], said: &str| {
        world.run(args).failed(2, &[said]);
    };
    usage(&[&tune[..], &["--order", "2"]].concat(), "--order has no meaning for --task rank");
    usage(&[&tune[..], &["--strategy", "ova"]].concat(), "--strategy has no meaning");
    usage(&[&tune[..], &["--try-ngrams", "1"]].concat(), "--try-ngrams");
    usage(&["tune", "a.conll", "--task", "tag", "--max-size", "1MB"], "give it to train");
    usage(&["tune", "a.svm", "--query", "q"], "--query is for --task rank");
    usage(&["compare", "a.svm", "--losses", "passive-aggressive", "-q"], "rows have other losses");
}

#[test]
fn rankings_are_answered_query_by_query_as_they_come() {
    use std::io::{BufRead, BufReader, Write};
    use std::process::Stdio;
    let world = world();
    world.run(&["train", "a.letor", "--task", "rank", "-o", "m.lineal", "-q"]).done();
    // Several chunks, with queries across where they would end, give what the whole file gives.
    let many = queries(4000);
    world.file("many.letor", &many);
    let whole = world.run(&["predict", "m.lineal", "many.letor"]).done().out;
    assert_eq!(whole.lines().count(), many.lines().count());
    let piped = world.run_with_input(&["predict", "m.lineal", "-", "--format", "letor"], &many);
    assert_eq!(piped.done().out, whole);
    let jsonl = world.run(&["predict", "m.lineal", "many.letor", "--output", "jsonl"]).done().out;
    assert_eq!(jsonl.lines().count(), 4000);
    // The end of the input is not waited for.
    let mut child = world
        .child()
        .args(["predict", "m.lineal", "-", "--format", "letor"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let feed = std::thread::spawn(move || {
        let text = queries(60_000);
        // Up to the first answer, which must come while the input is open.
        input.write_all(text.as_bytes()).unwrap();
        input
    });
    let mut first = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut first).unwrap();
    assert_eq!(first.trim_end(), whole.lines().next().unwrap());
    let rest = std::thread::spawn(move || out.lines().count());
    drop(feed.join().unwrap());
    assert_eq!(rest.join().unwrap() + 1, queries(60_000).lines().count());
    assert!(child.wait().unwrap().success());
    // A query that comes back is an error wherever it does.
    let back = format!("{many}0 qid:3 1:1\n");
    let run = world.run_with_input(&["predict", "m.lineal", "-", "--format", "letor"], &back);
    assert!(run.code == 1 && run.err.contains("query `3` comes back"), "{}", run.err);
}

#[test]
fn weights_that_differ_within_a_query_are_told_with_their_line() {
    let world = World::new();
    world.file(
        "w.letor",
        "1|2 qid:1 1:1\n# a comment\n\n0|2 qid:1 1:0\n1|2 qid:2 1:1\n0|3 qid:2 1:0\n",
    );
    world
        .run(&["train", "w.letor", "--task", "rank", "-o", "m"])
        .failed(1, &["w.letor:6:1: documents of query `2` have the weights 2 and 3"]);
    world.file("w.csv", "query,label,x,w\na,1,1,2\na,0,0,2\nb,1,1,1\nb,0,0,5\n");
    world
        .run(&["train", "w.csv", "--task", "rank", "--weight", "w", "-o", "m"])
        .failed(1, &["w.csv:5", "documents of query `b` have the weights 1 and 5"]);
    world.file("none.letor", "# nothing\n");
    world
        .run(&["train", "none.letor", "--task", "rank", "-o", "m"])
        .failed(1, &["a LETOR file has one `grade qid:N index:value …` per line"]);
}

#[test]
fn brackets_of_raw_text_are_brackets_in_json_lines() {
    let world = world();
    let train =
        ["train", "a.mrg", "--task", "constituency", "--tags", "jackknife", "-o", "m", "-q"];
    world.run(&train).done();
    world.file("raw.txt", "the ( old ) dog barks .\n");
    let predict = ["predict", "m", "raw.txt", "--format", "sentences"];
    let json = world.run(&[&predict[..], &["--output", "jsonl"]].concat()).done().json();
    assert_eq!(json["tokens"], serde_json::json!(["the", "(", "old", ")", "dog", "barks", "."]));
    assert!(json["tree"].as_str().unwrap().contains("-LRB-"), "{json}");
    // In a tree a bracket would be another one.
    assert!(world.run(&predict).done().out.contains("-LRB-"));
}
