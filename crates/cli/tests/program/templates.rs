//! `--templates`: joint features of input and class, from the command line.

use crate::world::World;

const TAGGED: &str =
    "word\ttag\nrunning\tVB-G\nwalking\tVB-G\nwalked\tVB-D\ntalked\tVB-D\ntree\tNN\nhouse\tNN\n";

const COMMAND: [&str; 7] =
    ["train", "words.tsv", "--label", "tag", "-o", "m.lineal", "--templates"];

#[test]
fn templates_share_weights_between_classes() {
    let world = World::new();
    world.file("words.tsv", TAGGED);
    world.file("pos.txt", "word\nsuffix:2-3(word)\nsuffix:2(word) * before:-(class)\n");
    world
        .run(&[&COMMAND[..], &["pos.txt", "--hash", "12", "--test", "words.tsv"]].concat())
        .done()
        .says(&[
            "3 templates, hashed into 2^12 features for each of 2 parts of the class",
            "accuracy 1.0000",
        ]);
    world.file("new.tsv", "word\nsinging\nlooked\n");
    let predicted = world.run(&["predict", "m.lineal", "new.tsv"]).done().out;
    assert_eq!(predicted, "VB-G\nVB-D\n");
    let piped = world.run_with_input(
        &["predict", "m.lineal", "-", "--format", "tsv"],
        "word\nsinging\nlooked\n",
    );
    assert_eq!(piped.done().out, predicted);
    let shown = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(shown.contains("suffix:2-3(word)=ing"), "{shown}");
    assert!(shown.contains("* before:-(class)"), "{shown}");
    let why = world.run(&["explain", "m.lineal", "new.tsv"]).done().out;
    assert!(why.contains("suffix:2-3(word)=ing"), "{why}");
}

#[test]
fn a_template_that_makes_no_sense_is_refused_with_its_line() {
    let world = World::new();
    world.file("words.tsv", TAGGED);
    for (text, why) in [
        ("word\nsufix:2(word)\n", "pos.txt:2: `sufix:2(word)`: `sufix` is no function"),
        ("word\n\nwrod\n", "there is no column \"wrod\"; the columns are word, tag"),
        ("number(word)\n", "number(word): \"running\" is not a number"),
        ("", "pos.txt:1: ``: there is no template"),
    ] {
        world.file("pos.txt", text);
        world.run(&[&COMMAND[..], &["pos.txt"]].concat()).failed(1, &[why]);
        assert!(!world.has("m.lineal"));
    }
    world.run(&[&COMMAND[..], &["none.txt"]].concat()).failed(1, &["none.txt: "]);
}

#[test]
fn flags_that_joint_features_cannot_have_are_refused() {
    let world = World::new();
    world.file("words.tsv", TAGGED);
    world.file("pos.txt", "word\n");
    world.run(&with(&["--strategy", "ova"])).failed(1, &["leave out --strategy ova"]);
    world.run(&with(&["--hard-margin"])).failed(1, &["leave out --hard-margin"]);
    world.run(&with(&["--stream"])).failed(2, &["a stream does not take --templates"]);
    world.run(&with(&["--text", "word"])).failed(2, &["--text"]);
}

fn with<'a>(flags: &[&'a str]) -> Vec<&'a str> {
    [&COMMAND[..], &["pos.txt"], flags].concat()
}
