//! `--task tag`: sequences from columns to spans.

use crate::world::World;
use serde_json::Value;

/// Sentences of a tiny grammar: words, parts of speech, chunks.
fn chunks(n: usize) -> String {
    let mut text = String::new();
    for i in 0..n {
        let noun = ["dog", "cat", "bank", "market"][i % 4];
        let verb = ["barks", "sleeps", "rose", "fell"][(i / 2) % 4];
        text.push_str("the DT B-NP\n");
        if i % 3 == 0 {
            text.push_str("old JJ I-NP\n");
        }
        text.push_str(&format!("{noun} NN I-NP\n{verb} VB B-VP\n"));
        if i % 2 == 0 {
            text.push_str("in IN B-PP\nParis NNP B-NP\n");
        }
        text.push_str(". . O\n\n");
    }
    text
}

const TEMPLATE: &str = "# words\nU00:%x[-1,0]\nU01:%x[0,0]\nU02:%x[0,1]\nU03:%x[-1,1]/%x[0,1]\nB\n";

fn world() -> World {
    let world = World::new();
    world.file("train.conll", chunks(40));
    world.file("test.conll", chunks(7));
    world.file("chunk.tpl", TEMPLATE);
    world
}

const TRAIN: [&str; 8] =
    ["train", "train.conll", "--task", "tag", "--template", "chunk.tpl", "-o", "m.lineal"];

fn trained(flags: &[&str]) -> World {
    let world = world();
    world.run(&[&TRAIN, flags, &["-q"][..]].concat()).done();
    world
}

#[test]
fn train_predict_eval_inspect_explain() {
    let world = world();
    let run = world.run(&[&TRAIN[..], &["--test", "test.conll"]].concat()).done();
    assert_eq!(run.out, "");
    run.says(&[
        "train.conll: 40 sequences, 214 tokens, 5 labels, 3 columns, label in column 2",
        "logistic loss by ",
        "attributes with ",
        "test.conll: span F1 1.0000, token accuracy 1.0000, sentence accuracy 1.0000",
        "wrote m.lineal (",
    ]);

    world.file("new.conll", "the DT\nmarket NN\nsleeps VB\n\nParis NNP\n");
    assert_eq!(
        world.run(&["predict", "m.lineal", "new.conll"]).done().out,
        "the DT B-NP\nmarket NN I-NP\nsleeps VB B-VP\n\nParis NNP B-NP\n\n"
    );
    // With labels in the file, the predicted one stands beside them.
    let out = world.run(&["predict", "m.lineal", "test.conll"]).done().out;
    assert!(out.starts_with("the DT B-NP B-NP\nold JJ I-NP I-NP\n"), "{out}");

    let run = world.run(&["eval", "m.lineal", "test.conll"]).done();
    for part in ["sentences          7\n", "span_f1            1.0000\n", "type  precision  recall"]
    {
        assert!(run.out.contains(part), "no {part:?} in:\n{}", run.out);
    }
    let json = world.run(&["eval", "m.lineal", "test.conll", "--json"]).done().json();
    for key in ["token_accuracy", "sentence_accuracy", "span_precision", "span_recall", "span_f1"] {
        assert_eq!(json[key], 1.0, "{key}");
    }
    assert_eq!(json["types"]["NP"]["gold"], json["types"]["NP"]["correct"]);

    let out = world.run(&["inspect", "m.lineal"]).done().out;
    for part in [
        "task         tag\n",
        "labels       5: B-NP, I-NP, B-VP, B-PP, O\n",
        "templates    5 over 3 columns, label in 2\n",
        "transitions that weigh most",
        "  B-PP\n",
        "U01:in",
    ] {
        assert!(out.contains(part), "no {part:?} in:\n{out}");
    }
    let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    assert_eq!((&json["task"], &json["classes"]), (&Value::from("tag"), &Value::from(5)));
    assert_eq!(json["templates"], TEMPLATE);

    let explain = ["explain", "m.lineal", "test.conll", "--rows", "2", "--token", "2"];
    let out = world.run(&explain).done().out;
    assert!(out.starts_with("sequence 2, token 2 `cat`: I-NP ("), "{out}");
    assert!(out.contains("emission") && out.contains("transition"), "{out}");
    let json = world.run(&[&explain[..], &["--json", "--class", "O"]].concat()).done().json();
    assert_eq!((&json["label"], &json["against"]), (&Value::from("I-NP"), &Value::from("O")));
    let sum: f64 = json["reasons"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["for_label"].as_f64().unwrap() - r["for_against"].as_f64().unwrap())
        .sum();
    let lead = json["lead"].as_f64().unwrap() - json["rest"].as_f64().unwrap();
    assert!((sum - lead).abs() < 1e-6, "{sum} {lead}");
}

#[test]
fn json_has_the_keys_of_every_task() {
    let world = world();
    let flags = ["--json", "-q", "--test", "test.conll"];
    let json = world.run(&[&TRAIN[..], &flags].concat()).done().json();
    for key in [
        "task",
        "examples",
        "features",
        "classes",
        "loss",
        "strategy",
        "solver",
        "l2",
        "objective",
        "gap",
        "grad_norm",
        "converged",
        "passes",
        "seconds",
        "model_bytes",
        "test",
        "tokens",
    ] {
        assert!(json.get(key).is_some(), "no {key} in {json}");
    }
    assert_eq!((&json["task"], &json["examples"]), (&Value::from("tag"), &Value::from(40)));
    assert_eq!(json["test"]["span_f1"], 1.0);
    assert_eq!(json["l2"], 0.025);
}

#[test]
fn each_loss_and_feature_list() {
    let world = world();
    let features = "word,lower,shape,prefix:1-4,suffix:1-4,window:2,column:1";
    for flags in [
        &["--loss", "perceptron"][..],
        &["--loss", "perceptron", "--passive-aggressive", "0.5"],
        &["--loss", "hinge"],
        &["--loss", "logistic", "--epochs", "5"],
        &["--features", features],
        &["--features", features, "--hash", "12"],
        &["--order", "2"],
        &["--scheme", "bio"],
        &["--label-weights", "observed", "--no-ends", "--min-count", "2"],
        &["--dev", "0.2", "--patience", "3"],
        &["--dev", "test.conll"],
    ] {
        let train = ["train", "train.conll", "--task", "tag", "-o", "m.lineal", "-q"];
        world.run(&[&train[..], flags].concat()).done();
        let json = world.run(&["eval", "m.lineal", "test.conll", "--json"]).done().json();
        assert!(json["span_f1"].as_f64().unwrap() > 0.9, "{flags:?}: {json}");
    }
}

#[test]
fn rich_features_read_every_column() {
    let world = world();
    let train = ["train", "train.conll", "--task", "tag", "--features", "rich", "-o", "m.lineal"];
    world.run(&[&train[..], &["-q"]].concat()).done();
    let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    let templates = json["templates"].as_str().unwrap();
    for line in
        ["U:lower[-2]=%x[-2,0,lower]", "U:cross1[0,0]=%x[0,0]/%x[0,1]", "B:column1[0]=%x[0,1]"]
    {
        assert!(templates.lines().any(|l| l == line), "no {line} in:\n{templates}");
    }
    assert!(!templates.contains("U:bias"));
    world.run(&[&train[..], &["-q", "--bias", "penalised"]].concat()).done();
    let json = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    assert!(json["templates"].as_str().unwrap().contains("U:bias"));
    world.run(&[&train[..], &["--bias", "free"]].concat()).failed(2, &["--bias penalised"]);
}

#[test]
fn pages_of_training_evaluation_and_explanations() {
    let world = world();
    let page = |name: &str| {
        let page = String::from_utf8(world.bytes(name)).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"));
        page
    };
    let flags = ["--dev", "0.2", "--test", "test.conll", "--report", "r.html"];
    world.run(&[&TRAIN[..], &flags].concat()).done();
    for part in ["Training on train.conll", "Held-out metric", "test span F1", "<svg"] {
        assert!(page("r.html").contains(part), "{part}");
    }
    // A label that would be markup, and one that training did not see.
    world.file("odd.conll", "the DT B-NP\ndog <NN> I-NP\nbarks VB B-<VP>\n");
    world.run(&["eval", "m.lineal", "odd.conll", "--report", "e.html"]).done().says(&["e.html"]);
    for part in
        ["Spans by type", "Confusion matrix", "1 token with a label that training did not see"]
    {
        assert!(page("e.html").contains(part), "{part}");
    }
    let explain = ["explain", "m.lineal", "odd.conll", "--html", "w.html"];
    world.run(&explain).done().says(&["wrote w.html"]);
    let why = page("w.html");
    assert!(why.contains("sequence 1, token 2 `dog`: I-NP") && why.contains("class=\"bars\""));
    assert!(!why.contains("<NN>") && !page("e.html").contains("<VP>"));
    let over = ["eval", "m.lineal", "odd.conll", "--report", "odd.conll"];
    world.run(&over).failed(2, &["also an input"]);
    let over = [&TRAIN[..], &["--report", "chunk.tpl"]].concat();
    world.run(&over).failed(2, &["also an input"]);
}

#[test]
fn probabilities_n_best_and_review() {
    let world = trained(&["--l2", "0.3"]);
    let predict = ["predict", "m.lineal", "test.conll"];
    let out = world.run(&[&predict[..], &["--proba"]].concat()).done().out;
    let p: f64 = out.lines().next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!(p > 0.2 && p <= 1.0, "{out}");

    let flags = ["--proba", "--n-best", "3", "--output", "jsonl"];
    let out = world.run(&[&predict[..], &flags].concat()).done().out;
    let first: Value = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    assert_eq!(first["tokens"][0], "the");
    let n_best = first["n_best"].as_array().unwrap();
    assert_eq!(n_best[0]["labels"], first["labels"]);
    assert_eq!(n_best[0]["probability"], first["probability"]);
    assert!(n_best[1]["probability"].as_f64() < n_best[0]["probability"].as_f64());
    let row: f64 =
        first["proba"][0].as_object().unwrap().values().map(|p| p.as_f64().unwrap()).sum();
    assert!((row - 1.0).abs() < 1e-9);
    let span = &first["spans"][0];
    assert_eq!((&span["type"], &span["start"]), (&Value::from("NP"), &Value::from(0)));
    assert!(span["probability"].as_f64().unwrap() < 1.0);

    let out = world.run(&[&predict[..], &["--n-best", "2"]].concat()).done().out;
    assert_eq!(out.lines().next().unwrap().split(' ').count(), 5);

    let flags = ["--review-below", "0.99", "--proba", "--output", "jsonl"];
    let run =
        world.run(&[&predict[..], &flags].concat()).done().says(&["of 7 sequences less probable"]);
    let p: Vec<f64> = run
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["probability"].as_f64().unwrap())
        .collect();
    assert!(p.windows(2).all(|pair| pair[0] <= pair[1]), "{p:?}");

    let csv = world.run(&[&predict[..], &["--proba", "--output", "csv"]].concat()).done().out;
    assert!(
        csv.starts_with("sequence,token,0,1,2,predicted,proba\n1,1,the,DT,B-NP,B-NP,"),
        "{csv}"
    );
    let draw = |seed| world.run(&[&predict[..], &["--sample", "--seed", seed]].concat()).done().out;
    assert_eq!(draw("1"), draw("1"));
    world.run(&[&predict[..], &["--min-cost"]].concat()).done();
}

#[test]
fn known_labels_and_constraints() {
    let world = trained(&["--scheme", "bio"]);
    world.file("part.conll", "the DT _\ndog NN B-VP\nbarks VB _\n");
    let out = world.run(&["predict", "m.lineal", "part.conll", "--known"]).done().out;
    assert!(out.contains("dog NN B-VP B-VP\n"), "{out}");
    world.file("more.conll", "the DT B-NP ?\ndog NN I-NP O\n");
    let flags = ["predict", "m.lineal", "more.conll", "--known", "3", "--unlabelled", "?"];
    let out = world.run(&flags).done().out;
    assert!(out.ends_with("dog NN I-NP O O\n\n"), "{out}");
    world.file("bad.conll", "the DT O\ndog NN I-NP\n");
    world
        .run(&["predict", "m.lineal", "bad.conll", "--known", "-o", "out.conll"])
        .failed(1, &["bad.conll:2: no label is possible for token 2 of sequence 1"]);
    assert!(!world.has("out.conll"));
    world.file("wrong.conll", "a DT O\nb NN I-NP\n");
    let train = ["train", "wrong.conll", "--task", "tag", "--scheme", "bio", "-o", "w.lineal"];
    world.run(&train).failed(1, &["wrong.conll:2: the label `I-NP`"]);

    world.file("forbid.txt", "I-NP B-VP\n<edge> B-PP\n");
    world
        .run(&[&TRAIN[..], &["--forbid", "forbid.txt"]].concat())
        .failed(1, &["train.conll:4: the label `B-VP`"]);
    world.file("forbid.txt", "O B-VP\n");
    world.run(&[&TRAIN[..], &["--forbid", "forbid.txt", "-q"]].concat()).done();
    let out = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(out.contains("no scheme, 1 transition forbidden"), "{out}");
}

#[test]
fn costs_of_labels() {
    let world = world();
    let labels = ["B-NP", "I-NP", "B-VP", "B-PP", "O"];
    let mut cost = format!(",{}\n", labels.join(","));
    for gold in labels {
        let row: Vec<&str> = labels.iter().map(|l| if *l == gold { "0" } else { "2" }).collect();
        cost.push_str(&format!("{gold},{}\n", row.join(",")));
    }
    world.file("cost.csv", cost);
    let flags = ["--loss", "hinge", "--cost", "cost.csv", "-q"];
    world.run(&[&TRAIN[..], &flags].concat()).done();
    world.run(&[&TRAIN[..], &["--cost", "cost.csv"]].concat()).failed(1, &["--loss hinge"]);
}

#[test]
fn other_formats() {
    let world = World::new();
    let mut conllu = String::new();
    let mut jsonl = String::new();
    let mut crfsuite = String::new();
    for sentence in chunks(30).split("\n\n").filter(|s| !s.is_empty()) {
        let tokens: Vec<Vec<&str>> = sentence.lines().map(|l| l.split(' ').collect()).collect();
        conllu.push_str("# a comment\n1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n");
        for (i, t) in tokens.iter().enumerate() {
            conllu.push_str(&format!("{}\t{}\t_\t{}\t_\t_\t0\t_\t_\t_\n", i + 1, t[0], t[1]));
            crfsuite.push_str(&format!("{}\tw={}\tp\\:{}:1\n", t[2], t[0], t[1]));
        }
        let column = |c: usize| tokens.iter().map(|t| t[c]).collect::<Vec<_>>();
        let object =
            serde_json::json!({"tokens": column(0), "pos": column(1), "labels": column(2)});
        jsonl.push_str(&format!("{object}\n"));
        conllu.push('\n');
        crfsuite.push('\n');
    }
    world.file("a.conllu", &conllu);
    world.file("a.jsonl", &jsonl);
    world.file("a.crfsuite", &crfsuite);
    for (file, flags, first) in [
        (
            "a.conllu",
            &["--label", "upos"][..],
            "# a comment\n1-2\tx\t_\t_\t_\t_\t_\t_\t_\t_\n1\tthe\t_\tDT\t_\t_\t0\t_\t_\t_\n",
        ),
        ("a.jsonl", &[], "the\tDT\tB-NP\n"),
        ("a.crfsuite", &[], "B-NP\tB-NP\n"),
    ] {
        let train = ["train", file, "--task", "tag", "-o", "m.lineal", "-q"];
        world.run(&[&train[..], flags].concat()).done();
        let out = world.run(&["predict", "m.lineal", file]).done().out;
        assert!(out.starts_with(first), "{out}");
        let json = world.run(&["eval", "m.lineal", file, "--json"]).done().json();
        assert!(json["token_accuracy"].as_f64().unwrap() > 0.95, "{json}");
        // The same through a pipe.
        let format = file.split_once('.').unwrap().1;
        let text = String::from_utf8(world.bytes(file)).unwrap();
        let piped = world.run_with_input(&["predict", "m.lineal", "-", "--format", format], &text);
        assert_eq!(piped.done().out, out);
    }
    // Parts of speech are no spans.
    let train = ["train", "a.conllu", "--task", "tag", "-o", "m.lineal", "-q"];
    world.run(&train).done();
    let json = world.run(&["eval", "m.lineal", "a.conllu", "--json"]).done().json();
    assert_eq!(json["span_f1"], Value::Null);
}

#[test]
fn partial_labels_warm_starts_and_sizes() {
    let world = world();
    world.file("part.conll", chunks(40).replace("barks VB B-VP", "barks VB ?"));
    let train = ["train", "part.conll", "--task", "tag", "-o", "m.lineal", "--unlabelled", "?"];
    world.run(&train).done().says(&["10 tokens without a label"]);
    world.run(&[&TRAIN[..], &["-q"]].concat()).done();
    let run = world.run(
        &[&TRAIN[..4], &["--template", "chunk.tpl", "-o", "n.lineal", "--resume", "m.lineal"]]
            .concat(),
    );
    run.done().says(&["wrote n.lineal"]);
    let train = ["train", "train.conll", "--task", "tag", "-o", "m.lineal"];
    world.run(&train).done();
    let size = world.bytes("m.lineal").len();
    let max = (size - size / 20).to_string();
    let run = world.run(&[&train[..], &["--max-size", &max, "--test", "test.conll"]].concat());
    run.done().says(&["made smaller: ", "span F1 on test.conll from 1.0000 to "]);
    assert!(world.bytes("m.lineal").len() <= size - size / 20);
    world.run(&["eval", "m.lineal", "test.conll"]).done();
    world
        .run(&[&TRAIN[..], &["--max-size", "10B"]].concat())
        .failed(1, &["--max-size 10 bytes is too small", "5 labels"]);
    let features = [&train[..], &["--max-size", "2kB"]].concat();
    world.run(&features).failed(1, &["--max-size 2,000 bytes is too small", "the templates"]);
    // The names that `inspect` shows make room for weights.
    let max = (size / 2).to_string();
    world.run(&[&train[..], &["--max-size", &max]].concat()).done().says(&["made smaller: "]);
    assert!(world.bytes("m.lineal").len() <= size / 2);
    world.run(&["inspect", "m.lineal"]).done();
}

#[test]
fn what_is_wrong_is_named() {
    let world = world();
    world.file("ragged.conll", "a DT B-NP\nb B-NP\n");
    let tag = |file: &'static str| ["train", file, "--task", "tag", "-o", "x.lineal"];
    world
        .run(&tag("ragged.conll"))
        .failed(1, &["ragged.conll:2: 2 columns in `b B-NP` where line 1 has 3"]);
    world.file("far.tpl", "U00:%x[0,9]\n");
    world
        .run(&[&tag("train.conll")[..], &["--template", "far.tpl"]].concat())
        .failed(1, &["the templates read column 9, but the data has 3"]);
    world.file("odd.tpl", "U00:%x[0;9]\n");
    world
        .run(&[&tag("train.conll")[..], &["--template", "odd.tpl"]].concat())
        .failed(1, &["odd.tpl: template line 1: `%x[0;9]` should be %x[row,column]"]);
    world
        .run(&[&tag("train.conll")[..], &["--features", "wrod"]].concat())
        .failed(1, &["feature `wrod`: unknown"]);
    world
        .run(&[&tag("train.conll")[..], &["--strategy", "ova"]].concat())
        .failed(2, &["--strategy has no meaning"]);
    world
        .run(&[&tag("train.conll")[..], &["--solver", "newton"]].concat())
        .failed(2, &["solvers auto"]);
    world.run(&["train", "train.conll", "-o", "x.lineal"]).failed(1, &["use --task tag"]);
    world.file("rows.csv", "a,label\n1,x\n2,y\n");
    world
        .run(&["train", "rows.csv", "--order", "2", "-o", "x.lineal"])
        .failed(2, &["--order is for --task tag or dependency"]);
    assert!(!world.has("x.lineal"));

    world.run(&[&TRAIN[..], &["-q", "--loss", "perceptron"]].concat()).done();
    world
        .run(&["predict", "m.lineal", "test.conll", "--proba"])
        .failed(1, &["train with --loss logistic"]);
    world.run(&["predict", "m.lineal", "rows.csv"]).failed(1, &["csv holds rows"]);
    world.file("bare.conll", "a DT\n");
    world.run(&["eval", "m.lineal", "bare.conll"]).failed(1, &["no labels to compare with"]);
    world.file("new.conll", "the DT B-NP\ndog NN B-XX\n");
    let run = world.run(&["eval", "m.lineal", "new.conll", "--json"]).done();
    assert_eq!(run.json()["unseen"], 1);
    run.says(&["1 token with a label that training did not see, such as `B-XX`"]);
    world.run(&["train", "rows.csv", "-o", "r.lineal", "-q"]).done();
    world
        .run(&["predict", "r.lineal", "rows.csv", "--n-best", "2"])
        .failed(1, &["--n-best is for sequences"]);
    world
        .run(&["explain", "r.lineal", "rows.csv", "--token", "2"])
        .failed(1, &["--token is of sequences"]);
}

#[test]
fn a_stream_is_tagged_block_by_block() {
    let world = trained(&[]);
    // Over two megabytes: three blocks.
    let text = chunks(40).repeat(600);
    assert!(text.len() > 1 << 20);
    let out =
        world.run_with_input(&["predict", "m.lineal", "-", "--format", "conll"], &text).done().out;
    assert_eq!(out.lines().filter(|l| !l.is_empty()).count(), 214 * 600);
    let one = world.run(&["predict", "m.lineal", "train.conll"]).done().out;
    assert!(out.starts_with(one.trim_end()));
    assert!(out.ends_with(&one));
}

#[test]
fn explanations_under_rules_are_those_of_what_is_predicted() {
    let world = World::new();
    world.file("t.conll", "a X\nb X\n\na X\nb Y\n\na Y\nb X\n");
    world.file("t.rules", "exactly 1 label = Y\n");
    world.file("i.conll", "a\nb\n");
    let train = ["train", "t.conll", "--task", "tag", "--rules", "t.rules", "-o", "m.lineal"];
    // One sequence has no Y at all, and that is said.
    world.run(&train).done().says(&["one training sequence (first: t.conll:1) break", "line 1"]);
    let predicted = world.run(&["predict", "m.lineal", "i.conll"]).done().out;
    let labels: Vec<&str> =
        predicted.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let run = world.run(&["explain", "m.lineal", "i.conll", "--output", "jsonl"]).done();
    let told: Vec<serde_json::Value> =
        run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 2);
    for (told, label) in told.iter().zip(labels) {
        assert_eq!(told["label"], label);
        assert_ne!(told["against"], label);
        assert!(told["lead"].as_f64().unwrap() >= 0.0, "{told}");
        assert!(told["proba"].is_null() && told["against_proba"].is_null());
    }
}

#[test]
fn spans_that_begin_with_an_inside_label_are_counted() {
    let world = World::new();
    world.file("t.conll", "a I-P\nb O\na I-P\n\nb O\na I-P\n\nb O\nc B-P\n");
    world.file("t.rules", "at most 1 spans of P\n");
    world.file("i.conll", "a\nb\na\nb\nb\na\n");
    let train = ["train", "t.conll", "--task", "tag", "--rules", "t.rules", "-o", "m.lineal"];
    world.run(&train).done().says(&["one training sequence (first: t.conll:1)"]);
    let found = world.run(&["predict", "m.lineal", "i.conll"]).done().out;
    let labels: Vec<&str> =
        found.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let is_in = |label: &&str| label.ends_with("-P");
    let mut starts = 0;
    for (t, label) in labels.iter().enumerate() {
        starts += usize::from(
            is_in(label) && (t == 0 || !is_in(&labels[t - 1]) || label.starts_with('B')),
        );
    }
    assert!(starts <= 1, "{found}");
}

#[test]
fn rules_that_contradict_each_other_are_refused_with_their_file() {
    let world = World::new();
    world.file("t.conll", "a X\nb Y\n");
    let train = ["train", "t.conll", "--task", "tag", "--rules", "t.rules", "-o", "m.lineal"];
    world.file("t.rules", "at most 2 label = Y\nexactly 1 label = X\nat least 2 label = X\n");
    world.run(&train).failed(
        1,
        &["t.rules: no sequence of labels keeps these rules together: line 2", "line 3"],
    );
    world.file("t.rules", "exactly 1 label = Z\n");
    world.run(&train).failed(1, &["t.rules: "]);
    assert!(!world.has("m.lineal"));
}
