//! Sequences as people bring them: through pipes, in CoNLL-U, as texts with spans, with lists of names, in need of another format.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;

use crate::world::World;
use serde_json::{Value, json};

/// Sentences in which words decide: names of cities, verbs, and the rest.
fn cities(n: usize) -> String {
    let cities = ["Bath", "New York", "Oslo", "Santa Fe"];
    let mut text = String::new();
    for i in 0..n {
        text.push_str("they PRP O\n");
        text.push_str(["went VBD O\n", "flew VBD O\n"][i % 2]);
        text.push_str("to IN O\n");
        for (t, word) in cities[i % 4].split(' ').enumerate() {
            text.push_str(&format!("{word} NNP {}-LOC\n", if t == 0 { "B" } else { "I" }));
        }
        text.push_str(". . O\n\n");
    }
    text
}

fn world() -> World {
    let world = World::new();
    world.file("train.conll", cities(40));
    world
}

const TRAIN: [&str; 7] = ["train", "train.conll", "--task", "tag", "-o", "m.lineal", "-q"];

#[test]
fn each_answer_comes_when_its_sequence_has_ended() {
    let world = world();
    world.run(&TRAIN).done();
    let mut child = world
        .child()
        .args(["predict", "m.lineal", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // The pipe stays open: nothing but the blank line says that the sequence is whole.
    for (sentence, label) in [("to IN\nOslo NNP\n\n", "B-LOC"), ("they PRP\nwent VBD\n\n", "O")] {
        input.write_all(sentence.as_bytes()).unwrap();
        input.flush().unwrap();
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "it ended after {lines:?}");
            if line == "\n" {
                break;
            }
            lines.push(line);
        }
        assert_eq!(lines.len(), 2);
        assert!(lines[1].ends_with(&format!(" {label}\n")), "{lines:?}");
    }
    // The last one may end with the input.
    input.write_all(b"to IN\nBath NNP").unwrap();
    drop(input);
    let rest: Vec<String> = output.lines().map(Result::unwrap).collect();
    assert_eq!(rest, ["to IN O", "Bath NNP B-LOC", ""]);
    assert!(child.wait().unwrap().success());
}

const CONLLU: &str = "\
# sent_id = 1
# text = du bon vin
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\tE\t_\t3\tcase\t_\t_
2\tle\tle\tDET\tD\t_\t3\tdet\t_\t_
3\tbon\tbon\tADJ\tA\t_\t4\tamod\t_\tSpaceAfter=No
3.1\tvide\t_\t_\t_\t_\t_\t_\t_\t_
4\tvin\tvin\tNOUN\tN\t_\t0\troot\t_\t_
";

#[test]
fn conllu_stays_conllu() {
    let world = World::new();
    world.file("a.conllu", format!("{CONLLU}\n").repeat(8));
    for (label, column) in [("upos", 3), ("xpos", 4)] {
        let train =
            ["train", "a.conllu", "--task", "tag", "--label", label, "-o", "m.lineal", "-q"];
        world.run(&train).done();
        // What is to be predicted is blank in the input and full in the output.
        let blank: Vec<String> = CONLLU
            .lines()
            .map(|line| {
                let mut fields: Vec<&str> = line.split('\t').collect();
                if fields.len() == 10 {
                    fields[column] = "_";
                }
                fields.join("\t")
            })
            .collect();
        world.file("new.conllu", blank.join("\n") + "\n\n");
        let predict = ["predict", "m.lineal", "new.conllu"];
        assert_eq!(world.run(&predict).done().out.trim_end(), {
            let mut want = CONLLU.to_owned();
            if label == "xpos" {
                // Columns besides stay as they are.
                assert!(want.contains("\tADP\tE\t"));
            }
            want.truncate(want.trim_end().len());
            want
        });
        let out = world.run(&[&predict[..], &["--proba"]].concat()).done().out;
        let name = label.to_uppercase();
        assert!(out.contains(&format!("\tSpaceAfter=No|{name}Proba=0.")), "{out}");
        assert!(
            out.lines()
                .filter(|l| !l.is_empty() && !l.starts_with('#'))
                .all(|l| l.split('\t').count() == 10)
        );
        // It can be read again, and is right.
        world.file("out.conllu", out);
        let eval = world.run(&["eval", "m.lineal", "out.conllu", "--json"]).done().json();
        assert_eq!(eval["token_accuracy"], 1.0);
    }
}

#[test]
fn sequences_are_converted_and_losses_are_said() {
    let world = world();
    let convert = |flags: &[&str]| world.run(&[&["convert"][..], flags].concat());
    convert(&["train.conll", "a.jsonl"])
        .done()
        .says(&["wrote 40 sequences of 220 tokens to a.jsonl"]);
    let first = String::from_utf8(world.bytes("a.jsonl")).unwrap();
    let first: Value = serde_json::from_str(first.lines().nth(1).unwrap()).unwrap();
    assert_eq!(first["tokens"], json!(["they", "flew", "to", "New", "York", "."]));
    assert_eq!(first["1"], json!(["PRP", "VBD", "IN", "NNP", "NNP", "."]));
    assert_eq!(first["labels"], json!(["O", "O", "O", "B-LOC", "I-LOC", "O"]));

    // There and back again.
    convert(&["a.jsonl", "b.conll"]).done();
    assert_eq!(world.bytes("b.conll"), cities(40).replace(' ', "\t").into_bytes());
    convert(&["train.conll", "a.crfsuite"]).done();
    let text = String::from_utf8(world.bytes("a.crfsuite")).unwrap();
    assert!(text.starts_with("O\tw=they\tc1=PRP\nO\tw=went\tc1=VBD\n"), "{text}");
    convert(&["a.crfsuite", "c.conll"]).done().says(&["lost: 220 attributes besides the word"]);
    let text = String::from_utf8(world.bytes("c.conll")).unwrap();
    assert!(text.starts_with("they\tO\nwent\tO\n"), "{text}");
    convert(&["train.conll", "a.conllu"]).done().says(&["lost: columns besides word and label"]);
    world.file("u.conllu", format!("{CONLLU}\n"));
    convert(&["u.conllu", "u.conll", "--label", "upos"])
        .done()
        .says(&["lost: 4 lines with comments, words of several tokens and empty nodes"]);
    let text = String::from_utf8(world.bytes("u.conll")).unwrap();
    assert!(text.starts_with("de\tde\tE\t3\tcase\t_\tADP\n"), "{text}");

    // The attributes of a model's templates.
    world.file("w.tpl", "U00:%x[-1,0]\nU01:%x[0,0]\nB\n");
    world.run(&[&TRAIN[..], &["--template", "w.tpl"]].concat()).done();
    convert(&["train.conll", "t.crfsuite", "--model", "m.lineal"]).done();
    let text = String::from_utf8(world.bytes("t.crfsuite")).unwrap();
    assert!(text.contains("\nB-LOC\tU00\\:to\tU01\\:Bath\n"), "{text}");
    convert(&["train.conll", "x.csv"]).failed(1, &["csv has no place for sequences"]);
    world.file("plain.crfsuite", "O\tp1\tp2\n");
    convert(&["plain.crfsuite", "x.conll"]).failed(1, &["has no words", "--text"]);
}

#[test]
fn without_a_word_the_learner_is_chosen_on_held_out_sequences() {
    let world = World::new();
    world.file("train.conll", cities(120));
    let trial = |which: &str| format!("tried logistic loss with C = {which}");
    let run = world.run(&TRAIN[..6]).done();
    run.says(&[
        &trial("1"),
        &trial("5"),
        "(chosen): span F1 on 24 held-out sequences 1.0000 after ",
    ]);
    world.run(&["inspect", "m.lineal"]).done();
    // Spans keep their probabilities; parts of speech may be learnt without.
    world.file(
        "pos.conll",
        cities(120)
            .lines()
            .map(|line| match line.split(' ').collect::<Vec<_>>()[..] {
                [word, tag, _] => format!("{word} {tag}\n"),
                _ => "\n".to_owned(),
            })
            .collect::<String>(),
    );
    let pos = ["train", "pos.conll", "--task", "tag", "-o", "p.lineal"];
    world.run(&pos).done().says(&["tried passive–aggressive updates of at most 0.05"]);
    // Whoever names a learner gets it, and few sequences are no trial.
    for flags in [&["--loss", "logistic"][..], &["-C", "1"], &["--solver", "dual"]] {
        let run = world.run(&[&pos[..], flags].concat()).done();
        assert!(!run.err.contains("tried"), "{}", run.err);
    }
    world.file("train.conll", cities(99));
    assert!(!world.run(&TRAIN[..6]).done().err.contains("tried"));
}

#[test]
fn tune_searches_for_sequences() {
    let world = world();
    let tune =
        ["tune", "train.conll", "--task", "tag", "--folds", "2", "-C", "0.1,1", "-o", "t.lineal"];
    world.run(&tune).done();
    world.run(&["eval", "t.lineal", "train.conll"]).done();
}

#[test]
fn tune_and_compare_train_the_learner_that_they_name() {
    // Enough sequences for `train` to choose a learner by itself.
    let world = World::new();
    world.file("train.conll", cities(120));
    let tune = ["tune", "train.conll", "--task", "tag", "--folds", "2", "--losses", "hinge"];
    world.run(&[&tune[..], &["-o", "t.lineal"]].concat()).done().says(&["chose hinge, C "]);
    let told = world.run(&["inspect", "t.lineal", "--json"]).done().json();
    assert_eq!(told["loss"], "hinge");
    assert_eq!(told["stages"], Value::Null, "{told}");
}

/// Texts with spans, as Prodigy keeps them.
fn texts(n: usize, form: fn(usize, usize, &str) -> Value, key: &str) -> String {
    let cities = ["Bath", "New York", "Orléans", "Santa Fe"];
    let mut out = String::new();
    for i in 0..n {
        let city = cities[i % 4];
        let text = format!("“They went” to {city}.");
        let start = "“They went” to ".chars().count();
        let span = form(start, start + city.chars().count(), "LOC");
        out.push_str(&json!({"text": text, key: [span], "meta": {"id": i}}).to_string());
        out.push('\n');
    }
    out
}

fn object(start: usize, end: usize, label: &str) -> Value {
    json!({"start": start, "end": end, "label": label})
}

fn triple(start: usize, end: usize, label: &str) -> Value {
    json!([start, end, label])
}

#[test]
fn spans_of_characters_go_in_and_come_out() {
    type Form = fn(usize, usize, &str) -> Value;
    for (key, form) in [("spans", object as Form), ("entities", triple as Form)] {
        let world = World::new();
        world.file("train.jsonl", texts(24, form, key));
        let train =
            ["train", "train.jsonl", "--task", "tag", "-o", "m.lineal", "--test", "train.jsonl"];
        world.run(&train).done().says(&["24 sequences", "3 labels", "span F1 1.0000"]);
        let predict = ["predict", "m.lineal", "new.jsonl"];
        world.file("new.jsonl", "{\"id\": 7, \"text\": \"— to Orléans …\"}\n{\"text\": \"\"}\n");
        let out = world.run(&predict).done().out;
        let answers: Vec<Value> = out.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(answers[0]["id"], 7);
        // Places are counted in characters.
        assert_eq!(answers[0][key], json!([form(5, 12, "LOC")]));
        assert_eq!(answers[1][key], json!([]));
        let out = world.run(&[&predict[..], &["--proba"]].concat()).done().out;
        let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
        assert!(first[key][0]["probability"].as_f64().unwrap() > 0.5, "{first}");
        // Plain lines.
        let plain = ["predict", "m.lineal", "-", "--format", "sentences"];
        let out = world.run_with_input(&plain, "They went to New York.\n").done().out;
        let answer: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(answer, json!({"text": "They went to New York.", key: [form(13, 21, "LOC")]}));
        // What does not look like JSON is plain, whatever it is called.
        world.file("letter.txt", "They went to New York.\n");
        assert_eq!(world.run(&["predict", "m.lineal", "letter.txt"]).done().out, out);
        assert_eq!(world.run_with_input(&plain[..3], "They went to New York.\n").done().out, out);
        world
            .run(&["convert", "train.jsonl", "a.conll"])
            .done()
            .says(&["lost: the space between words"]);
        let text = String::from_utf8(world.bytes("a.conll")).unwrap();
        assert!(
            text.starts_with("“\tO\nThey\tO\nwent\tO\n”\tO\nto\tO\nBath\tB-LOC\n.\tO\n\n"),
            "{text}"
        );
    }
}

#[test]
fn spans_that_do_not_fit_are_told() {
    let world = World::new();
    let lines = [
        json!({"text": "Bathtub in Oslo", "spans": [object(0, 4, "LOC"), object(11, 15, "LOC")]}),
        json!({"text": "New York", "spans": [object(0, 8, "LOC"), object(4, 8, "LOC"), object(3, 4, "X")]}),
        json!({"text": "no", "spans": [object(0, 2, "LOC")], "answer": "reject"}),
    ];
    world.file("a.jsonl", lines.map(|line| format!("{line}\n")).concat());
    world.run(&["train", "a.jsonl", "--task", "tag", "-o", "m.lineal"]).done().says(&[
        "2 sequences",
        "1 span began or ended inside a word",
        "1 span overlapped a longer one",
        "1 span had no word in it",
        "1 text whose answer is reject or ignore was left out",
    ]);
    world.file(
        "b.jsonl",
        "{\"text\": \"ab\", \"spans\": [{\"start\": 1, \"end\": 9, \"label\": \"X\"}]}\n",
    );
    world
        .run(&["train", "b.jsonl", "--task", "tag", "-o", "m.lineal"])
        .failed(1, &["b.jsonl:1: a span ends at character 9 of a text of 2"]);
    world.file("c.jsonl", "{\"text\": \"ab\", \"spans\": [{\"from\": 1}]}\n");
    world
        .run(&["train", "c.jsonl", "--task", "tag", "-o", "m.lineal"])
        .failed(1, &["c.jsonl:1: ", "is not a span"]);
}

#[test]
fn lists_and_clusters_are_stored_with_the_model() {
    let world = world();
    world.file("places.txt", "Rio de Janeiro\nLima\nbath\nNew York\nOslo\nSanta Fe\n");
    world.file("paths.txt", "0010\twent\t9\n00110\tflew\t3\n0011\tdrove\t2\n111\tto\t5\n");
    let flags = ["--features", "suffix:1", "--list", "place=places.txt", "--clusters", "paths.txt"];
    world.run(&[&TRAIN[..], &flags].concat()).done();
    std::fs::remove_file(world.path("places.txt")).unwrap();
    // Words that training never saw.
    world.file("new.conll", "they PRP\ndrove VBD\nto IN\nRio NNP\nde NNP\nJaneiro NNP\n. .\n");
    let out = world.run(&["predict", "m.lineal", "new.conll"]).done().out;
    assert!(out.contains("Rio NNP B-LOC\nde NNP I-LOC\nJaneiro NNP I-LOC\n"), "{out}");
    let out = world.run(&["inspect", "m.lineal", "--all", "--data", "train.conll"]).done().out;
    assert!(out.starts_with("kind\tattribute\tlabel\tweight\nemission\t"), "{out}");
    for part in [
        "emission\tU:place@0=B\tB-LOC\t",
        "U:cluster4@-1=111",
        "transition\t\tB-LOC → I-LOC\t",
        "start\t\tO\t",
    ] {
        assert!(out.contains(part), "no {part} in:\n{out}");
    }
    let n = out.lines().count() - 1;
    assert_eq!(out.matches('#').count(), 0);
    // Without the data there are hashes in place of names, and as many weights.
    let bare = world.run(&["inspect", "m.lineal", "--all"]).done().out;
    assert_eq!(bare.lines().count() - 1, n);
    assert!(bare.contains("emission\t#"), "{bare}");
    world
        .run(&[&TRAIN[..], &["--clusters", "train.conll"]].concat())
        .failed(1, &["train.conll:1: ", "bits, a word and its count"]);
    world.run(&[&TRAIN[..], &["--list", "=x"]].concat()).failed(2, &["NAME=FILE"]);
}

#[test]
fn a_weight_counts_as_that_many_copies() {
    let world = World::new();
    let (one, two) = ("A\tx\tb\nB\ty\n\n", "B\tx\nA\ty\tb\n\n");
    world.file("copies.crfsuite", format!("{}{two}", one.repeat(3)));
    world.file("weighed.crfsuite", format!("@weight:3\n{one}{two}"));
    world.file(
        "weighed.jsonl",
        concat!(
            "{\"tokens\": [\"x\", \"y\"], \"labels\": [\"A\", \"B\"], \"n\": 3}\n",
            "{\"tokens\": [\"x\", \"z\"], \"labels\": [\"B\", \"A\"]}\n"
        ),
    );
    world.file(
        "copies.jsonl",
        format!(
            "{}{}",
            "{\"tokens\": [\"x\", \"y\"], \"labels\": [\"A\", \"B\"]}\n".repeat(3),
            "{\"tokens\": [\"x\", \"z\"], \"labels\": [\"B\", \"A\"]}\n"
        ),
    );
    for (kind, flags) in [("crfsuite", &[][..]), ("jsonl", &["--weight", "n"])] {
        let objective = |name: &str, flags: &[&str]| {
            let file = format!("{name}.{kind}");
            let train = [
                "train", &file, "--task", "tag", "-C", "1", "--loss", "logistic", "--tol", "1e-9",
                "-o", "m.lineal", "-q", "--json",
            ];
            let json = world.run(&[&train[..], flags].concat()).done().json();
            (json["objective"].as_f64().unwrap(), json["l2"].as_f64().unwrap())
        };
        let (copies, weighed) = (objective("copies", &[]), objective("weighed", flags));
        assert!((copies.0 - weighed.0).abs() < 1e-6, "{kind}: {copies:?} {weighed:?}");
        assert!((copies.1 - weighed.1).abs() < 1e-12);
    }
    world.file("bad.crfsuite", "@weight:much\nA\tx\n");
    world
        .run(&["train", "bad.crfsuite", "--task", "tag", "-o", "m.lineal"])
        .failed(1, &["bad.crfsuite:1: `much` is not a weight"]);
}

#[test]
fn rare_labels_can_count_for_more() {
    let world = World::new();
    // One word in four is a name, and nothing but that says which.
    let text = "x O\n\nx O\n\nx O\n\nx B-N\n\n".repeat(10);
    world.file("train.conll", text);
    for learner in [&["--loss", "logistic"][..], &["--loss", "hinge", "--solver", "sgd"]] {
        let labels = |flags: &[&str]| {
            world.run(&[&TRAIN[..], learner, flags].concat()).done();
            let predict = ["predict", "m.lineal", "-", "--format", "conll"];
            world.run_with_input(&predict, "x O\n").done().out
        };
        assert_eq!(labels(&[]), "x O O\n\n", "{learner:?}");
        assert_eq!(labels(&["--class-weight", "B-N=10"]), "x O B-N\n\n", "{learner:?}");
    }
    world
        .run(&[&TRAIN[..], &["--class-weight", "B-M=10"]].concat())
        .failed(1, &["--class-weight names `B-M`", "O, B-N"]);
}

#[test]
fn what_is_often_not_meant_is_asked_about() {
    let world = World::new();
    world.file("train.conll", "a _\nb X\n\n-DOCSTART- O\n\nc _\n");
    world.run(&TRAIN[..6]).done().says(&[
        "2 of 4 tokens (50 %) have the label `_`",
        "say --unlabelled _",
        "1 sequence begins with -DOCSTART-",
    ]);
    world.file("train.conll", "the B-NP DT x\ndog I-NP NN y\n");
    world
        .run(&[&TRAIN[..6], &["--label", "1"]].concat())
        .done()
        .says(&["attributes are made of columns 2, 3, after the label"]);
    let many: String = (0..600).map(|i| format!("w{i} L{i}\n\n")).collect();
    world.file("train.conll", many);
    world
        .run(&[&TRAIN[..6], &["--loss", "perceptron", "--epochs", "1"]].concat())
        .done()
        .says(&["600 labels have 360,000 transitions"]);
}

#[test]
fn a_scheme_that_does_not_fit_suggests_the_one_that_does() {
    let world = World::new();
    for (text, said, fits) in [
        ("a I-X\nb I-X\n\nc O\n", "bio", "iob1"),
        ("a S-X\nb O\n\nc B-X\nd E-X\n", "bio", "bioes"),
        ("a B-X\nb I-X\n\nc B-X\n", "iob1", "bio"),
        ("a B-X\nb I-X\n\nc B-X\n", "bioes", "bio"),
    ] {
        world.file("train.conll", text);
        let run = world.run(&[&TRAIN[..], &["--scheme", said]].concat());
        run.failed(1, &["train.conll:", &format!("all labels fit --scheme {fits}: say that")]);
        world.run(&[&TRAIN[..], &["--scheme", fits]].concat()).done();
    }
}
