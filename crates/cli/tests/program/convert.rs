//! Data in another format.

use crate::text::tickets;
use crate::world::World;

#[test]
fn tables_go_round_through_every_format_that_holds_them() {
    let world = World::new();
    world.file("a.csv", tickets(8));
    world.run(&["convert", "a.csv", "b.jsonl"]).done().says(&["wrote 8 rows to b.jsonl"]);
    let first = String::from_utf8(world.bytes("b.jsonl")).unwrap();
    let first = first.lines().next().unwrap();
    assert!(
        first.starts_with("{\"subject\":\"Invoice\",") && first.contains("\"age\":31"),
        "{first}"
    );
    world.run(&["convert", "b.jsonl", "c.csv", "-q"]).done();
    assert_eq!(world.bytes("c.csv"), world.bytes("a.csv"));
    // A line end has no place in a tsv.
    world.run(&["convert", "a.csv", "d.tsv"]).failed(1, &["a.csv:4", "\"body\"", "csv or jsonl"]);
    assert!(!world.has("d.tsv"));
    let flags = ["--label", "desk", "--text", "subject,body"];
    let run = world.run(&[&["convert", "a.csv", "e.ft"], &flags[..]].concat()).done();
    run.says(&["not written are age, plan"]);
    let lines = String::from_utf8(world.bytes("e.ft")).unwrap();
    assert_eq!(
        lines.lines().nth(2),
        Some("__label__money Refund please refund the second invoice")
    );
    let run = world.run(&["convert", "e.ft", "-", "--to", "tsv", "-q"]).done();
    assert!(run.out.starts_with("label\ttext\nmoney\tInvoice The invoice"), "{}", run.out);
}

#[test]
fn features_as_a_model_makes_them() {
    let world = World::new();
    world.file("a.csv", tickets(8));
    let train = ["train", "a.csv", "--label", "desk", "--text", "body", "-o", "m.lineal", "-q"];
    world.run(&train).done();
    let flags = ["--model", "m.lineal", "--names", "n.txt"];
    let run = world.run(&[&["convert", "a.csv", "a.svm"], &flags[..]].concat()).done();
    run.says(&["1 access, 2 money", "wrote 8 rows of"]);
    let names = String::from_utf8(world.bytes("n.txt")).unwrap();
    assert!(names.lines().any(|name| name == "invoice"), "{names}");
    // What was written trains as the text does.
    world.run(&["train", "a.svm", "-o", "s.lineal", "-q", "--loss", "squared-hinge"]).done();
    let answers = world.run(&["predict", "s.lineal", "a.svm"]).done().out;
    let answers: Vec<&str> =
        answers.lines().map(|id| if id == "1" { "access" } else { "money" }).collect();
    let own = world.run(&["predict", "m.lineal", "a.csv"]).done().out;
    assert_eq!(answers, own.lines().collect::<Vec<_>>());
    let learnt = ["convert", "a.csv", "b.vw", "--label", "desk", "--text", "body", "-q"];
    world.run(&learnt).done();
    world.run(&["train", "b.vw", "-o", "v.lineal", "-q"]).done();
}

#[test]
fn libsvm_to_tables_and_back() {
    let world = World::new();
    world.file("a.svm", "1 1:0.5 3:2\n2 2:1\n");
    world.run(&["convert", "a.svm", "b.csv", "-q"]).done();
    assert_eq!(world.bytes("b.csv"), b"label,1,2,3\n1,0.5,0,2\n2,0,1,0\n");
    world.run(&["convert", "a.svm", "c.jsonl", "-q"]).done();
    world.run(&["convert", "c.jsonl", "d.svm", "-q"]).done();
    assert_eq!(world.bytes("d.svm"), world.bytes("a.svm"));
    let run =
        world.run_with_input(&["convert", "-", "-", "--to", "vw", "-q"], "1 1:0.5 3:2\n").done();
    assert_eq!(run.out, "1 | 1:0.5 3:2\n");
    world.run(&["convert", "a.svm", "x"]).failed(2, &["--to"]);
    world.run(&["convert", "a.svm", "x.ft"]).failed(1, &["fasttext", "libsvm"]);
}

#[test]
fn models_for_other_programs_and_back() {
    let world = World::new();
    world.file("a.svm", "1 1:2 2:1\n1 1:1.5 2:0.5\n2 1:-1 2:-2\n2 1:-2\n3 1:5 2:-3\n3 1:4 2:-4\n");
    world.run(&["train", "a.svm", "-o", "m.lineal", "--strategy", "ova", "-q"]).done();
    let ours =
        world.run(&["predict", "m.lineal", "a.svm", "--proba", "--output", "jsonl", "-q"]).done();
    world.run(&["convert", "m.lineal", "m.model"]).done().says(&["wrote m.model (liblinear, "]);
    assert!(world.bytes("m.model").starts_with(b"solver_type L2R_LR\nnr_class 3\nlabel 1 2 3\n"));
    world.run(&["convert", "m.model", "back.lineal", "-q"]).done();
    let theirs = world
        .run(&["predict", "back.lineal", "a.svm", "--proba", "--output", "jsonl", "-q"])
        .done();
    assert_eq!(ours.out, theirs.out);

    world.run(&["convert", "m.lineal", "m.onnx"]).done().says(&["wrote m.onnx (onnx, "]);
    world.run(&["convert", "m.onnx", "again.lineal", "-q"]).done();
    let labels = |model: &str| world.run(&["predict", model, "a.svm", "-q"]).done().out;
    assert_eq!(labels("again.lineal"), labels("m.lineal"));
    let run = world.run(&["inspect", "again.lineal"]).done();
    assert!(run.out.contains("m.onnx"), "{}", run.out);
    world.run(&["convert", "m.lineal", "-", "--to", "liblinear", "-q"]).done();

    world.run(&["convert", "a.svm", "b.lineal"]).failed(1, &["a.svm is not a model", "--to"]);
    world.run(&["convert", "m.lineal", "m.lineal"]).failed(2, &["also an input"]);
    world.file("cut.onnx", &world.bytes("m.onnx")[..50]);
    world.run(&["convert", "cut.onnx", "c.lineal"]).failed(1, &["cut.onnx is not a model"]);
    assert!(!world.has("b.lineal") && !world.has("c.lineal"));
}

#[test]
fn models_of_text_and_tables_say_what_rows_they_take() {
    let world = World::with_model(&[]);
    world
        .run(&["convert", "m.lineal", "m.onnx"])
        .done()
        .says(&["lineal convert DATA rows.svm --model MODEL"]);
    world.run(&["convert", "m.lineal", "m.model"]).done().says(&["1 apple, 2 banana, 3 orange"]);
    world
        .run(&[
            "train",
            "fruit.csv",
            "--label",
            "fruit",
            "--strategy",
            "ovo",
            "-o",
            "p.lineal",
            "-q",
        ])
        .done();
    world.run(&["convert", "p.lineal", "p.onnx"]).failed(1, &["ovo", "ova or joint"]);
}
