//! What bad data gets: a message with place, value and remedy, exit code 1, and nothing written.

use crate::world::{FRUIT, Run, TINY, World};

/// Trains on `content` and checks that nothing was left behind.
fn train(name: &str, content: impl AsRef<[u8]>, flags: &[&str]) -> Run {
    let world = World::new();
    world.file(name, content);
    let run =
        world.run(&[&["train", name, "-o", "m.lineal", "--report", "r.html"], flags].concat());
    if run.code != 0 {
        assert_eq!(world.names(), [name]);
    }
    run
}

#[test]
fn feature_index_zero() {
    train("a.svm", "1 1:2\n-1 0:5 1:1\n", &[])
        .failed(1, &["a.svm:2:4", "index 0", "start at 1", "add 1"]);
}

#[test]
fn feature_index_over_the_largest() {
    train("a.svm", "1 4294967294:1\n-1 1:1\n", &["-q"]).done();
    train("a.svm", "1 1:1\n-1 4294967295:1\n", &[])
        .failed(1, &["a.svm:2:4", "4294967295", "over 4294967294"]);
}

#[test]
fn indices_out_of_order_are_sorted_with_a_warning() {
    let world = World::new();
    world.file("a.svm", "1 1:2 2:1\n-1 1:-1 2:-1\n");
    world.file("b.svm", "1 2:1 1:2\n-1 1:-1 2:-1\n");
    world.run(&["train", "a.svm", "-o", "a.lineal"]).done();
    world.run(&["train", "b.svm", "-o", "b.lineal"]).done().says(&["warning: b.svm", "order"]);
    let weights =
        |model: &str| world.run(&["inspect", model, "--json"]).json()["top_features"].clone();
    assert_eq!(weights("a.lineal"), weights("b.lineal"));
}

#[test]
fn repeated_indices() {
    train("a.svm", "1 1:2\n-1 3:5 1:1 3:4\n", &[])
        .failed(1, &["a.svm:2:12", "index 3 is given twice", "keep one"]);
}

#[test]
fn nan_and_infinity() {
    for value in ["nan", "NaN", "inf", "-Infinity"] {
        train("a.svm", format!("1 1:2\n-1 1:{value}\n"), &[])
            .failed(1, &["a.svm:2:6", value, "not finite", "remove"]);
        let csv = format!("x,label\n1,a\n{value},b\n");
        train("a.csv", csv, &["--numeric", "x", "--strict"]).failed(1, &["a.csv:3:1", value]);
    }
    // A nan of a table is a missing number; an infinity is not.
    train("a.csv", "x,label\n1,a\ninf,b\n", &[]).failed(1, &["a.csv:3:1", "not finite"]);
    train("a.csv", "x,y\n1,2\n2,nan\n", &["--task", "regress", "--strict"])
        .failed(1, &["a.csv:3", "label"]);
}

#[test]
fn empty_files() {
    for name in ["a.svm", "a.csv", "a.tsv", "a.jsonl", "a"] {
        train(name, "", &[]).failed(1, &[name, "empty"]);
    }
    train("a.csv", "x,label\n", &[]).failed(1, &["a.csv", "no rows"]);
}

#[test]
fn one_class_only() {
    train("a.svm", "1 1:2\n1 1:3\n", &[]).failed(1, &["a.svm", "class", "`1`"]);
    train("a.csv", "x,label\n1,yes\n2,yes\n", &[]).failed(1, &["a.csv", "class", "`yes`"]);
}

#[test]
fn ragged_csv() {
    train("a.csv", "x,label\n1,a\n2,b,7\n", &[]).failed(1, &["a.csv:3", "3 fields", "has 2"]);
    train("a.csv", "x,label\n1,a\n2\n", &[]).failed(1, &["a.csv:3", "1 field", "has 2"]);
}

#[test]
fn invalid_utf8() {
    train("a.csv", b"x,label\n1,caf\xe9\n2,b\n", &[])
        .failed(1, &["a.csv:2:6", "0xe9", "UTF-8", "iconv"]);
    train("a.svm", b"caf\xe9 1:1\nb 1:2\n", &[]).failed(1, &["a.svm:1", "UTF-8"]);
}

#[test]
fn missing_files_and_columns() {
    let world = World::new();
    world.run(&["train", "no.csv", "-o", "m.lineal"]).failed(1, &["no.csv", "no such file"]);
    world.file("fruit.csv", FRUIT);
    world.run(&["train", "fruit.csv", "-o", "m.lineal"]).failed(1, &["fruit.csv", "--label"]);
    world
        .run(&["train", "fruit.csv", "--label", "kind", "-o", "m.lineal"])
        .failed(1, &["kind", "weight, colour, fruit"]);
    world
        .run(&["predict", "no.lineal", "fruit.csv"])
        .failed(1, &["no.lineal: there is no such file; check the path"]);
    assert_eq!(world.names(), ["fruit.csv"]);
}

#[test]
fn a_test_or_validation_file_is_looked_at_before_training() {
    let world = World::new();
    world.file("fruit.csv", FRUIT);
    world.file("bare.csv", "weight,colour\n1,red\n");
    let train = ["train", "fruit.csv", "--label", "fruit", "-o", "m.lineal"];
    for flag in ["--test", "--validation"] {
        world.run(&[&train[..], &[flag, "no.csv"]].concat()).failed(1, &["no.csv", "no such file"]);
        world
            .run(&["train", "fruit.csv", "-o", "m.lineal", flag, "bare.csv", "--label", "fruit"])
            .failed(1, &["bare.csv"]);
    }
    assert_eq!(world.names(), ["bare.csv", "fruit.csv"]);
}

#[test]
fn labels_unseen_in_training_count_as_wrong_and_are_said() {
    let world = World::new();
    world.file("a.svm", TINY);
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    let all = world.run(&["eval", "m.lineal", "a.svm", "--json"]).done().json();
    assert_eq!((all["accuracy"].as_f64(), all["unseen"].as_u64()), (Some(1.0), Some(0)));
    world.file("b.svm", TINY.replace("-1 1:-2", "7 1:-2"));
    let run = world.run(&["eval", "m.lineal", "b.svm", "--json"]).done();
    let metrics = run.says(&["warning: b.svm", "1 row", "`7`", "wrong"]).json();
    assert_eq!((metrics["accuracy"].as_f64(), metrics["unseen"].as_u64()), (Some(0.75), Some(1)));
}

#[test]
fn data_without_labels_cannot_be_measured() {
    let world = World::with_model(&[]);
    world.file("bare.csv", "weight,colour\n1,red\n");
    world.run(&["eval", "m.lineal", "bare.csv"]).failed(1, &["bare.csv", "label"]);
    assert_eq!(world.run(&["predict", "m.lineal", "bare.csv"]).done().out.lines().count(), 1);
}

#[test]
fn columns_that_the_model_needs() {
    let world = World::with_model(&[]);
    world.file("bare.csv", "colour\nred\n");
    world.run(&["predict", "m.lineal", "bare.csv", "-o", "out"]).failed(1, &["bare.csv", "weight"]);
    assert!(!world.has("out"));
}

#[test]
fn contradictory_requests() {
    let world = World::new();
    world.file("a.svm", TINY);
    let train =
        |flags: &[&str]| world.run(&[&["train", "a.svm", "-o", "m.lineal"], flags].concat());
    train(&["--solver", "exact", "--loss", "hinge"]).failed(1, &["exact", "squared"]);
    train(&["--solver", "newton", "--loss", "perceptron"]).failed(1, &["newton", "perceptron"]);
    train(&["--solver", "newton", "--loss", "hinge", "--l2", "0"]).failed(1, &["newton", "hinge"]);
    train(&["--solver", "dual", "--l2", "0"]).failed(1, &["dual", "l2"]);
    train(&["--solver", "dual", "--l1", "0.1"]).failed(1, &["l1", "lbfgs"]);
    train(&["--class-weight", "7=2"]).failed(1, &["7"]);
    assert_eq!(world.names(), ["a.svm"]);
}

#[test]
fn inseparable_data_names_its_rows() {
    let world = World::new();
    world.file("a.svm", "1 1:1\n-1 1:1\n1 1:2\n-1 1:-3\n");
    world.run(&["train", "a.svm", "--hard-margin", "-o", "m.lineal"]).failed(1, &["row"]);
    assert!(!world.has("m.lineal"));
    world.file("b.svm", TINY);
    world.run(&["train", "b.svm", "--hard-margin", "-o", "m.lineal"]).done();
}

/// A row was once answered before the error about it.
#[test]
fn rows_that_an_error_is_about_get_no_answer() {
    let world = World::with_model(&[]);
    let predict = |format: &str, input: &str| {
        let args = ["predict", "m.lineal", "-", "--format", format];
        world.run_with_input(&args, input)
    };
    predict("jsonl", "{\"colour\":\"red\"}\n").failed(1, &["no row has \"weight\""]);
    predict("jsonl", "{\"colour\":\"red\",\"weight\":1}\n{\"colour\":\n").failed(1, &[":2"]);
    predict("csv", "weight,colour\n150,red\n150,red,1\n").failed(1, &[":3"]);
}
