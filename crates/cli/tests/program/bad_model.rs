//! Model files that were cut, damaged or made for something else.

use crate::world::World;

#[test]
fn truncated_files() {
    let world = World::with_model(&[]);
    let whole = world.bytes("m.lineal");
    for keep in [0, 1, 7, 8, 16, whole.len() / 2, whole.len() - 1] {
        world.file("cut.lineal", &whole[..keep]);
        for command in
            [&["predict", "cut.lineal", "fruit.csv", "-o", "out"][..], &["inspect", "cut.lineal"]]
        {
            world.run(command).failed(1, &["cut.lineal"]);
        }
    }
    world.file("cut.lineal", &whole[..whole.len() - 1]);
    let sizes = format!("should have {} bytes and has {};", whole.len(), whole.len() - 1);
    world.run(&["eval", "cut.lineal", "fruit.csv"]).failed(1, &["incomplete", &sizes]);
    assert!(!world.has("out"));
}

#[test]
fn flipped_bits() {
    let world = World::with_model(&[]);
    let whole = world.bytes("m.lineal");
    for i in 0..40 {
        let mut bytes = whole.clone();
        let at = i * (whole.len() - 1) / 39;
        bytes[at] ^= 1 << (i % 8);
        world.file("bad.lineal", &bytes);
        world.run(&["inspect", "bad.lineal"]).failed(1, &["bad.lineal"]);
    }
}

#[test]
fn files_that_are_no_models() {
    let world = World::with_model(&[]);
    world
        .run(&["predict", "fruit.csv", "fruit.csv"])
        .failed(1, &["fruit.csv", "not a Lineal model", "lineal train"]);
    world.run(&["inspect", "none.lineal"]).failed(1, &["none.lineal"]);
    world.run(&["inspect", "."]).failed(1, &["."]);
}

#[test]
fn a_model_of_another_task() {
    let world = World::new();
    world.file("houses.csv", "area,price\n50,100\n60,130\n80,160\n90,210\n");
    world
        .run(&[
            "train",
            "houses.csv",
            "--label",
            "price",
            "--task",
            "regress",
            "-o",
            "h.lineal",
            "-q",
        ])
        .done();
    for flag in [&["--proba"][..], &["--scores"], &["--top", "2"], &["--sample"], &["--min-cost"]] {
        let run = world.run(&[&["predict", "h.lineal", "houses.csv", "-o", "out"], flag].concat());
        run.failed(1, &["h.lineal", "task regress", flag[0]]);
    }
    world.file("names.csv", "area,price\n50,cheap\n60,dear\n");
    world.run(&["eval", "h.lineal", "names.csv"]).failed(1, &["names.csv:2", "cheap"]);
    world.file("cost.csv", ",a,b\na,0,1\nb,1,0\n");
    world
        .run(&["eval", "h.lineal", "houses.csv", "--cost", "cost.csv"])
        .failed(1, &["task regress", "--cost"]);
    assert!(!world.has("out"));
}

#[test]
fn probabilities_need_a_loss_that_has_them() {
    let world = World::with_model(&["--loss", "hinge"]);
    for flag in ["--proba", "--sample", "--min-cost"] {
        world
            .run(&["predict", "m.lineal", "fruit.csv", flag])
            .failed(1, &["hinge", "--loss logistic"]);
    }
    let metrics = world.run(&["eval", "m.lineal", "fruit.csv", "--json"]).done().json();
    for name in ["log_loss", "brier", "ece"] {
        assert!(metrics[name].is_null(), "{name}");
    }
}
