//! Running text in, classes out.

use crate::world::World;

/// Tickets of two desks, with a number and a name beside the text; text in quotes spans lines.
pub fn tickets(n: usize) -> String {
    let mut csv = "subject,body,age,plan,desk\n".to_owned();
    for i in 0..n {
        let row = match i % 4 {
            0 => "Invoice,\"The invoice for march, again, is wrong\",31,free,money",
            1 => "Login,I cannot log in since the update,45,paid,access",
            2 => "Refund,\"please refund\nthe second invoice\",45,paid,money",
            _ => "Password,my password is refused at login,31,free,access",
        };
        csv.push_str(row);
        csv.push('\n');
    }
    csv
}

const TRAIN: [&str; 8] =
    ["train", "t.csv", "--label", "desk", "--text", "subject,body", "-o", "m.lineal"];

fn world(flags: &[&str]) -> World {
    let world = World::new();
    world.file("t.csv", tickets(40));
    world.run(&[&TRAIN[..], &["-q"], flags].concat()).done();
    world
}

#[test]
fn columns_of_text_become_words_that_the_model_keeps() {
    let world = World::new();
    world.file("t.csv", tickets(40));
    world.run(&TRAIN).done().says(&[
        "subject  text",
        "age      numeric",
        "text as words",
        "sublinear tf–idf",
    ]);
    let new =
        "body,plan,age,subject\nrefund the invoice please,free,30,\nlog in fails,paid,50,Login\n";
    let run = world.run_with_input(&["predict", "m.lineal", "-", "--format", "csv"], new).done();
    assert_eq!(run.out, "money\naccess\n");
    let shown = world.run(&["inspect", "m.lineal", "--top", "40"]).done().out;
    for part in ["text as words", "body:invoice", "subject:login"] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    let measured = world.run(&["eval", "m.lineal", "t.csv", "--json"]).done().json();
    assert_eq!(measured["accuracy"], 1.0);
}

#[test]
fn every_form_of_data_gives_the_same_model_of_the_same_text() {
    let texts = [("a b c", "x"), ("b c d", "y"), ("a c e", "x"), ("d e f", "y")];
    let world = World::new();
    let rows = |row: &dyn Fn(&str, &str) -> String| -> String {
        texts.iter().map(|(text, label)| row(text, label) + "\n").collect()
    };
    world.file("t.csv", format!("label,text\n{}", rows(&|t, y| format!("{y},{t}"))));
    world.file("t.tsv", format!("text\tlabel\n{}", rows(&|t, y| format!("{t}\t{y}"))));
    world.file("t.jsonl", rows(&|t, y| format!("{{\"text\":\"{t}\",\"label\":\"{y}\"}}")));
    world.file("t.ft", rows(&|t, y| format!("__label__{y} {t}")));
    let flags = ["-q", "-o", "m.lineal", "--text", "text", "--tokens", "whitespace"];
    let mut answers = Vec::new();
    for name in ["t.csv", "t.tsv", "t.jsonl", "t.ft"] {
        world.run(&[&["train", name], &flags[..]].concat()).done();
        let read = |name| world.run(&["predict", "m.lineal", name, "--scores"]).done().out;
        answers.extend(["t.csv", "t.jsonl", "t.ft"].map(read));
    }
    assert!(answers.iter().all(|a| *a == answers[0]), "{answers:?}");
}

#[test]
fn hashed_words_keep_their_names_and_tell_how_often_they_met() {
    let world = world(&["--hash", "10", "--ngrams", "1-2"]);
    let shown = world.run(&["inspect", "m.lineal"]).done().out;
    for part in ["hashed into 2^10", "% of occurrences", "body:invoice"] {
        assert!(shown.contains(part), "no {part:?} in\n{shown}");
    }
    let shown = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    assert!(shown["text"]["collisions"]["seen"].as_u64().unwrap() > 0);
}

#[test]
fn mistakes_about_text_are_said() {
    let world = World::new();
    world.file("t.csv", tickets(8));
    let train = ["train", "t.csv", "--label", "desk", "-o", "m.lineal"];
    let run = |flags: &[&str]| world.run(&[&train[..], flags].concat());
    run(&["--text", "title"]).failed(1, &["t.csv", "no column \"title\"", "subject, body"]);
    run(&["--text", "body", "--tokens", "(a"]).failed(1, &["(a", "unclosed"]);
    run(&["--text", "body", "--tokens", "wrods"]).failed(2, &["whitespace", "regular expression"]);
    run(&["--text", "body", "--ngrams", "2-1"]).failed(2, &["--ngrams", "1-2"]);
    run(&["--text", "body", "--min-df", "100"]).failed(1, &["--min-df"]);
    run(&["--text", "body", "--hash", "99"]).failed(1, &["99"]);
    run(&["--text", "body", "--stop-words", "none.txt"]).failed(1, &["none.txt", "english"]);
    run(&["--ignore", "subject,body", "--ngrams", "1"])
        .failed(1, &["--ngrams", "no column is text"]);
    assert!(!world.has("m.lineal"));
}

#[test]
fn text_has_a_loss_of_its_own_unless_one_is_said() {
    let world = World::new();
    world.file("t.csv", tickets(40).replace("Password,my", "Password,oh my"));
    let loss = |flags: &[&str]| {
        let run = world.run(&[&TRAIN[..], &["--json", "-q"], flags].concat()).done();
        run.json()["loss"].as_str().unwrap().to_owned()
    };
    assert_eq!(loss(&[]), "squared-hinge");
    assert_eq!(loss(&["--loss", "logistic"]), "logistic");
    assert_eq!(loss(&["--hard-margin"]), "hinge");
}

#[test]
fn columns_are_guessed_to_be_text() {
    let world = World::new();
    let mut csv = "id,remark,kind\n".to_owned();
    for i in 0..30 {
        let kind = if i % 2 == 0 { "good" } else { "bad" };
        csv += &format!("{i},number {i} was really {kind} this time,{kind}\n");
    }
    world.file("r.csv", csv);
    let train = ["train", "r.csv", "--label", "kind", "-o", "m.lineal", "--test", "r.csv"];
    let run = world.run(&train).done();
    run.says(&["id      ignored: identifies the row", "remark  text", "accuracy 1.0000"]);
}

#[test]
fn each_line_of_standard_input_is_a_text_and_is_answered_at_once() {
    let world = World::new();
    world.file("t.ft", "__label__a x y\n__label__b z w\n".repeat(5));
    world.run(&["train", "t.ft", "-o", "m.lineal", "-q"]).done();
    let text = "y x\nw\n".repeat(5000);
    let run = world.run_with_input(&["predict", "m.lineal", "-"], &text).done();
    assert_eq!(run.out, "a\nb\n".repeat(5000));
    let flags = ["predict", "m.lineal", "-", "--output", "csv", "--scores"];
    let run = world.run_with_input(&flags, &text).done();
    assert_eq!(run.out.lines().count(), 10_001);
    assert!(run.out.starts_with("label,a,b\na,"));
    world.file("plain.txt", "z\nx\n");
    assert_eq!(world.run(&["predict", "m.lineal", "plain.txt"]).done().out, "b\na\n");
}

#[test]
fn several_labels_of_fasttext() {
    let world = World::new();
    world.file("t.ft", "__label__a __label__b x y\n__label__b y\n__label__a x\n".repeat(10));
    let train = ["train", "t.ft", "--task", "multilabel", "-C", "10", "-o", "m.lineal", "-q"];
    world.run(&train).done();
    let run = world.run_with_input(&["predict", "m.lineal", "-"], "x y\ny\nx\n").done();
    assert_eq!(run.out, "a,b\nb\na\n");
    world.run(&["train", "t.ft", "-o", "m.lineal"]).failed(1, &["t.ft:1", "multilabel"]);
}

#[test]
fn bytes_that_are_not_utf8_are_replaced_and_counted_in_text_alone() {
    let world = World::new();
    world.file("t.csv", b"text,label\nna\xefve caf\xe9,x\nplain,y\ncaf\xe9,x\nother,y\n");
    let train = ["train", "t.csv", "--text", "text", "-o", "m.lineal"];
    world.run(&train).done().says(&["3 runs of bytes", "line 2", "--strict"]);
    world.run(&["predict", "m.lineal", "t.csv"]).done().says(&["3 runs of bytes"]);
    let strict = [&train[..], &["--strict"]].concat();
    world.run(&strict).failed(1, &["t.csv:2:3", "0xef", "UTF-8"]);
    world.file("t.csv", b"text,label\none,caf\xe9\ntwo,y\n");
    world.run(&train).failed(1, &["t.csv:2", "\"label\"", "not valid UTF-8"]);
    // Without text nothing is replaced.
    world.file("t.csv", b"colour,label\nr\xe9d,x\nblue,y\n");
    let train = ["train", "t.csv", "--categorical", "colour", "-o", "m.lineal"];
    world.run(&train).failed(1, &["t.csv:2", "not valid UTF-8"]);
}

#[test]
fn empty_texts_nuls_and_line_ends_are_rows_as_others() {
    let world = World::new();
    let csv = "text,label\n\"two\nlines\",x\n\"nul\0inside\",y\n,x\n\"\",y\n\"...\",x\n";
    world.file("t.csv", csv);
    let train = ["train", "t.csv", "--text", "text", "-o", "m.lineal", "--json", "-q"];
    assert_eq!(world.run(&train).done().json()["examples"], 5);
    let run = world.run(&["predict", "m.lineal", "t.csv"]).done();
    assert_eq!(run.out.lines().count(), 5);
    assert!(run.out.starts_with("x\ny\n"), "{}", run.out);
    world.file("none.csv", "text,label\n,x\n,y\n");
    let train = ["train", "none.csv", "--text", "text", "-o", "m.lineal"];
    world.run(&train).failed(1, &["none.csv", "no text has a token"]);
}

#[test]
fn a_line_of_fifty_megabytes() {
    let world = World::new();
    let long = "lorem ipsum dolor ".repeat(50_000_000 / 18);
    world.file("t.csv", format!("text,label\n{long},x\nsit amet,y\nlorem,x\namet,y\n"));
    let train = ["train", "t.csv", "--text", "text", "-o", "m.lineal", "--json", "-q"];
    assert_eq!(world.run(&train).done().json()["examples"], 4);
    world.file("new.ft", format!("{long}\nsit amet\n"));
    assert_eq!(world.run(&["predict", "m.lineal", "new.ft"]).done().out, "x\ny\n");
}

#[test]
fn missing_numbers_count_as_the_mean_and_are_said() {
    let world = World::new();
    let csv = "age,note,label\n10,a b,x\n,a,x\n30,c d,y\nNA,c,y\n";
    world.file("t.csv", csv);
    let train = ["train", "t.csv", "--text", "note", "-o", "m.lineal"];
    world.run(&train).done().says(&["\"age\" has 2 missing numbers", "the mean, 20", "--strict"]);
    world
        .run(&[&train[..], &["--strict"]].concat())
        .failed(1, &["t.csv:3:1", "missing", "--categorical age"]);
    world.run(&["predict", "m.lineal", "t.csv"]).done().says(&["\"age\" has 2 missing numbers"]);
    world.file("t.csv", "age,label\nnan,x\n1,y\n");
    world.run(&["train", "t.csv", "-o", "m.lineal"]).done().says(&["\"age\" has 1 missing number"]);
    let strict = ["train", "t.csv", "-o", "m.lineal", "--strict"];
    world.run(&strict).failed(1, &["t.csv:2:1", "`nan`"]);
}

#[test]
fn damaged_features_are_refused() {
    let world = world(&["--ngrams", "1"]);
    let whole = world.bytes("m.lineal");
    for at in [whole.len() - 1, whole.len() / 2, whole.len() - 200] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        world.file("bad.lineal", &bytes);
        world.run(&["predict", "bad.lineal", "t.csv"]).failed(1, &["bad.lineal"]);
    }
}

#[test]
fn categories_are_hashed_with_and_without_text() {
    let world = World::new();
    world.file("jobs.csv", "city,label\nRome,a\nOslo,b\nBonn,b\nRome,a\n");
    let train = ["train", "jobs.csv", "-o", "m.lineal", "--hash", "8", "--test", "jobs.csv"];
    world.run(&train).done().says(&["categorical, hashed into 256 features", "accuracy 1.0000"]);
    let shown = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(shown.contains("city=Rome"), "{shown}");
    world.file("new.csv", "city\nRome\nLima\n");
    assert_eq!(world.run(&["predict", "m.lineal", "new.csv"]).done().out.lines().count(), 2);
    let why = world.run(&["explain", "m.lineal", "new.csv"]).done().out;
    assert!(why.contains("city=Rome"), "{why}");
    world
        .run(&["train", "jobs.csv", "-o", "m.lineal", "--hash", "8", "--interact", "city*city"])
        .failed(1, &["`city` is hashed"]);
    world.file("n.csv", "x,label\n1,a\n2,b\n");
    world.run(&["train", "n.csv", "-o", "n.lineal", "--hash", "8"]).failed(1, &["--hash"]);
}

#[test]
fn inspect_turns_words_that_are_hashed_to_minus_a_column() {
    let world = World::new();
    let words = |class: &str| (0..12).map(|i| format!("{class}word{i}")).collect::<Vec<_>>();
    let mut text = String::new();
    for class in ["a", "b", "c"] {
        for pair in words(class).chunks(2) {
            text += &format!("__label__{class} {}\n", pair.join(" ")).repeat(2);
        }
    }
    world.file("t.ft", text);
    for flags in [&["--hash", "16"][..], &["--hash", "16", "--stream", "--epochs", "5"]] {
        let command = ["train", "t.ft", "-o", "m.lineal", "--ngrams", "1", "-q"];
        world.run(&[&command[..], flags].concat()).done();
        let json = world.run(&["inspect", "m.lineal", "--json", "--top", "12"]).done().json();
        for class in json["top_features"].as_array().unwrap() {
            let own = format!("{}word", class["class"].as_str().unwrap());
            let features = class["features"].as_array().unwrap();
            assert_eq!(features.len(), 12);
            for feature in features {
                let (name, weight) = (feature[0].as_str().unwrap(), feature[1].as_f64().unwrap());
                assert_eq!(weight > 0.0, name.starts_with(&own), "{name} {weight} {own}");
            }
        }
    }
}

#[test]
fn each_line_to_predict_has_an_answer_blank_or_not() {
    let world = World::new();
    world.file("t.ft", "__label__a one two\n\n__label__b three four\n\n".repeat(4));
    world.run(&["train", "t.ft", "-o", "m.lineal"]).done().says(&["8 rows"]);
    let lines = "one two\n\n \nthree four\n\n";
    world.file("new.ft", lines);
    let from_file = world.run(&["predict", "m.lineal", "new.ft"]).done().out;
    assert_eq!(from_file.lines().count(), 5);
    assert_eq!(from_file.lines().next(), Some("a"));
    assert_eq!(from_file.lines().nth(3), Some("b"));
    assert_eq!(world.run_with_input(&["predict", "m.lineal", "-"], lines).done().out, from_file);
    // To measure on, a line without a label is none.
    world.run(&["eval", "m.lineal", "t.ft"]).done();
}

/// Texts of several classes, each with words of its own and some that all have.
fn topics(n_classes: usize, n_rows: usize) -> String {
    let row = |i: usize| {
        let class = i % n_classes;
        let word =
            |k: usize| format!("w{}", (class * 7 + (i / n_classes + k) % 9) % (n_classes * 5));
        format!("\"the {} and {} of number {}\",topic {class}\n", word(0), word(3), i % 17)
    };
    format!("text,label\n{}", (0..n_rows).map(row).collect::<String>())
}

#[test]
fn text_has_probabilities_by_default_and_predicts_the_same() {
    let world = World::new();
    world.file("t.csv", topics(6, 600));
    let train = |flags: &[&str]| {
        let command = ["train", "t.csv", "--text", "text", "-o", "m.lineal"];
        world.run(&[&command[..], flags].concat()).done()
    };
    let predict = |flags: &[&str]| world.run(&[&["predict", "m.lineal", "t.csv"], flags].concat());
    train(&[]).says(&["training 5 more times", "to fit probabilities", "calibration: temperature"]);
    let with: String = predict(&[]).done().out;
    for line in predict(&["--proba"]).done().out.lines() {
        let (label, rest) = line.split_once('\t').unwrap();
        let of = |cell: &str| {
            cell.rsplit_once(':').map(|(name, p)| (name.to_owned(), p.parse::<f64>().unwrap()))
        };
        let cells: Vec<(String, f64)> = rest.split('\t').filter_map(of).collect();
        assert!((cells.iter().map(|c| c.1).sum::<f64>() - 1.0).abs() < 1e-6, "{line}");
        let best = cells.iter().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap();
        assert_eq!(best.0, label, "{line}");
    }
    train(&["--calibrate", "none", "-q"]);
    assert_eq!(predict(&[]).done().out, with);
    predict(&["--proba"]).failed(1, &["squared-hinge", "--calibrate"]);
    // Too few rows for folds are no reason to fail.
    world.file("t.csv", topics(2, 8));
    let run = train(&[]);
    assert!(!run.err.contains("to fit "), "{}", run.err);
}

#[test]
fn weights_that_are_zero_take_no_room_and_come_back() {
    let world = World::new();
    world.file("t.csv", topics(40, 2000));
    let train = [
        "train",
        "t.csv",
        "--text",
        "text",
        "--chars",
        "2-5",
        "--calibrate",
        "none",
        "-o",
        "m.lineal",
    ];
    // Without a test, whose outcome the model would keep.
    let json = world.run(&[&train[..], &["--json", "-q"]].concat()).done().json();
    let dense = 4 * json["features"].as_u64().unwrap() * json["classes"].as_u64().unwrap();
    assert!(json["model_bytes"].as_u64().unwrap() < dense * 3 / 4, "{}", json["model_bytes"]);
    let run = world.run(&[&train[..], &["--test", "t.csv", "--json", "-q"]].concat()).done();
    let json = run.json();
    let eval = world.run(&["eval", "m.lineal", "t.csv", "--json", "-q"]).done().json();
    assert_eq!(eval["accuracy"], json["test"]["accuracy"]);
    assert_eq!(eval["confusion"], json["test"]["confusion"]);
    let facts = world.run(&["inspect", "m.lineal", "--json"]).done().json();
    let nonzeros = facts["nonzeros"].as_u64().unwrap();
    assert!(4 * nonzeros < json["model_bytes"].as_u64().unwrap());
}

#[test]
fn a_stream_of_text_takes_the_loss_of_text_and_has_probabilities() {
    let world = World::new();
    world.file("t.csv", topics(6, 3000));
    let train = ["train", "t.csv", "--text", "text", "--stream", "-o", "m.lineal", "--json"];
    let json = world.run(&train).done().json();
    assert_eq!((&json["loss"], &json["strategy"]), (&"squared-hinge".into(), &"ova".into()));
    assert!(json["progressive"]["accuracy"].as_f64().unwrap() > 0.6, "{json}");
    let eval = world.run(&["eval", "m.lineal", "t.csv", "--json", "-q"]).done().json();
    assert!(eval["log_loss"].as_f64().unwrap() < 1.0, "{eval}");
    let said = [&train[..], &["--loss", "logistic"]].concat();
    let json = world.run(&said).done().json();
    assert_eq!((&json["loss"], &json["strategy"]), (&"logistic".into(), &"joint".into()));
}

#[test]
fn a_stream_of_text_that_is_sorted_by_class_is_shuffled_and_else_said() {
    let world = World::new();
    let text = topics(20, 8000);
    let mut lines: Vec<&str> = text.lines().skip(1).collect();
    lines.sort_by_key(|line| line.rsplit_once(',').map(|(_, label)| label.to_owned()));
    world.file("t.csv", format!("text,label\n{}\n", lines.join("\n")));
    let stream = |flags: &[&str]| {
        let command = ["train", "t.csv", "--text", "text", "--stream", "-o", "m.lineal"];
        let run = world.run(&[&command[..], flags].concat()).done();
        let json = world.run(&["eval", "m.lineal", "t.csv", "--json", "-q"]).done().json();
        (run, json["accuracy"].as_f64().unwrap())
    };
    let (run, whole) = stream(&[]);
    assert!(!run.err.contains("grouped by class"), "{}", run.err);
    let (run, in_parts) = stream(&["--chunk", "2000"]);
    run.says(&["rows come grouped by class: 5.", "of 20 classes in 2000 rows", "--chunk"]);
    assert!(whole > in_parts + 0.1, "{whole} {in_parts}");
}
