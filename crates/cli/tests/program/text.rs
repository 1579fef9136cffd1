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
