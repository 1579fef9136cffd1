//! Streams, exit codes and reports.

use std::io::Write;

use crate::world::{FRUIT, TINY, World};

/// The keys that SPEC fixes.
const TRAIN_KEYS: [&str; 16] = [
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
];
const EVAL_KEYS: [&str; 8] =
    ["accuracy", "macro_f1", "micro_f1", "log_loss", "brier", "ece", "confusion", "mean_cost"];

#[test]
fn train_json_is_one_object_with_the_keys_of_the_contract() {
    let world = World::new();
    world.file("fruit.csv", FRUIT);
    let command = [
        "train",
        "fruit.csv",
        "--label",
        "fruit",
        "-o",
        "m.lineal",
        "--json",
        "--test",
        "fruit.csv",
    ];
    let run = world.run(&command).done();
    let json = run.json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys[..16], TRAIN_KEYS);
    assert_eq!(json["task"], "classify");
    assert_eq!((json["examples"].as_u64(), json["classes"].as_u64()), (Some(9), Some(3)));
    // weight, and five colours.
    assert_eq!(json["features"], 5);
    assert!((json["l2"].as_f64().unwrap() - 1.0 / 9.0).abs() < 1e-12);
    assert_eq!(json["model_bytes"], world.bytes("m.lineal").len());
    for part in ["read", "train", "total"] {
        assert!(json["seconds"][part].as_f64().unwrap() >= 0.0);
    }
    for key in EVAL_KEYS {
        assert!(json["test"].get(key).is_some(), "{key}");
    }
    run.says(&["colour  categorical, 4 values", "fruit   label, 3 classes", "wrote m.lineal"]);
    let without = world.run(&command[..7]).done().json();
    assert!(without.get("test").is_none());
}

#[test]
fn eval_json_by_task() {
    let world = World::with_model(&[]);
    let json = world.run(&["eval", "m.lineal", "fruit.csv", "--json"]).done().json();
    let keys: Vec<&String> = json.as_object().unwrap().keys().collect();
    assert_eq!(keys[..8], EVAL_KEYS);
    assert_eq!(json["confusion"].as_array().unwrap().len(), 3);

    world.file("h.csv", "area,price\n50,100\n60,130\n80,160\n90,210\n");
    world
        .run(&["train", "h.csv", "--label", "price", "--task", "regress", "-o", "h.lineal", "-q"])
        .done();
    let json = world.run(&["eval", "h.lineal", "h.csv", "--json"]).done().json();
    for key in ["rmse", "mae", "r2"] {
        assert!(json[key].is_number(), "{key}");
    }
}

#[test]
fn quiet_says_nothing() {
    let world = World::new();
    world.file("fruit.csv", FRUIT);
    let run =
        world.run(&["train", "fruit.csv", "--label", "fruit", "-o", "m.lineal", "--quiet"]).done();
    assert_eq!((run.out.as_str(), run.err.as_str()), ("", ""));
    let run = world.run(&["eval", "m.lineal", "fruit.csv", "--quiet", "--json"]).done();
    assert_eq!(run.err, "");
}

#[test]
fn standard_input() {
    let world = World::with_model(&[]);
    let command = ["train", "-", "--format", "csv", "--label", "fruit", "-o", "s.lineal", "-q"];
    world.run_with_input(&command, FRUIT).done();
    // The file knows where its data came from, and nothing else differs.
    let weights =
        |name: &str| world.run(&["inspect", name, "--json"]).json()["top_features"].clone();
    assert_eq!(weights("s.lineal"), weights("m.lineal"));
    let predict = ["predict", "m.lineal", "-", "--format", "csv"];
    let file = world.run(&["predict", "m.lineal", "fruit.csv"]).done().out;
    assert_eq!(world.run_with_input(&predict, FRUIT).done().out, file);
    world.run_with_input(&["train", "-", "-o", "x.lineal"], "").failed(1, &["<stdin>", "empty"]);
    world
        .run(&["train", "-", "--test", "-", "-o", "x.lineal"])
        .failed(2, &["standard input", "once"]);
}

#[test]
fn gzip_is_read_as_it_is() {
    let world = World::with_model(&[]);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(FRUIT.as_bytes()).unwrap();
    let gz = encoder.finish().unwrap();
    world.file("fruit.csv.gz", &gz);
    let plain = world.run(&["predict", "m.lineal", "fruit.csv"]).done().out;
    assert_eq!(world.run(&["predict", "m.lineal", "fruit.csv.gz"]).done().out, plain);
    world.file("cut.csv.gz", &gz[..gz.len() / 2]);
    world
        .run(&["predict", "m.lineal", "cut.csv.gz"])
        .failed(1, &["cut.csv.gz", "gzip", "cut short"]);
}

#[test]
fn usage_is_exit_code_2() {
    let world = World::new();
    world.file("a.svm", TINY);
    let train =
        |flags: &[&str]| world.run(&[&["train", "a.svm", "-o", "m.lineal"], flags].concat());
    train(&["--nonsense"]).failed(2, &["--nonsense"]);
    train(&["--loss", "huge"]).failed(2, &["huge", "hinge"]);
    train(&["-C", "1", "--l2", "0.1"]).failed(2, &["-C", "--l2"]);
    train(&["-C", "-1"]).failed(2, &["-C"]);
    train(&["-C", "0"]).failed(2, &["over 0"]);
    train(&["--tol", "nan"]).failed(2, &["not a finite number"]);
    train(&["--threads", "0"]).failed(2, &["from 1 to 1024"]);
    train(&["--validation", "1.5"]).failed(2, &["between 0 and 1"]);
    train(&["--patience", "3"]).failed(2, &["--validation"]);
    train(&["--solver", "dual", "--epochs", "3"]).failed(2, &["--epochs", "sgd", "dual"]);
    train(&["--loss", "huber"]).failed(2, &["huber", "--task regress"]);
    train(&["--task", "regress", "--sum"]).failed(2, &["--sum", "classes"]);
    world.run(&["train", "a.svm"]).failed(2, &["-o"]);
    world.run(&["fit", "a.svm"]).failed(2, &["fit"]);
    world.run(&["predict", "m", "d", "--sample", "--min-cost"]).failed(2, &["--min-cost"]);
    world.run(&["predict", "m", "d", "--proba", "--scores"]).failed(2, &["--output jsonl"]);
    assert_eq!(world.names(), ["a.svm"]);
    assert_eq!(
        world.run(&["--version"]).done().out.trim(),
        format!("lineal {}", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn require_convergence_is_exit_code_3_with_the_model_written() {
    let world = World::new();
    world.file("fruit.csv", FRUIT);
    let command = ["train", "fruit.csv", "--label", "fruit", "-o", "m.lineal", "--solver", "gd"];
    let few = ["--max-passes", "1", "--tol", "1e-9", "--require-convergence"];
    let run = world.run(&[&command[..], &few, &["--json", "-q"]].concat());
    assert_eq!(run.code, 3, "{run:?}");
    assert_eq!(run.json()["converged"], false);
    run.says(&["did not converge", "--max-passes", "m.lineal"]);
    world.run(&["inspect", "m.lineal"]).done();
    world.run(&[&command[..6], &["--solver", "newton", "--require-convergence"]].concat()).done();
    // Without the flag it is a warning that names the flag to turn.
    world.run(&[&command[..], &few[..4]].concat()).done().says(&["warning", "--max-passes"]);
}

#[test]
fn reports_are_whole_pages_with_names_escaped() {
    let world = World::new();
    world.file("a.csv", FRUIT.replace("banana", "<script>alert(1)</script>"));
    let train = [
        "train",
        "a.csv",
        "--label",
        "fruit",
        "-o",
        "m.lineal",
        "--report",
        "r.html",
        "--validation",
        "0.3",
        "--solver",
    ];
    // A gap that was measured once or twice is a number and not a curve.
    world.run(&[&train[..], &["lbfgs"]].concat()).done();
    assert!(!String::from_utf8(world.bytes("r.html")).unwrap().contains("<h2>Duality gap"));
    world.run(&[&train[..], &["dual"]].concat()).done().says(&["wrote r.html"]);
    world.run(&["eval", "m.lineal", "a.csv", "--report", "e.html"]).done();
    for name in ["r.html", "e.html"] {
        let page = String::from_utf8(world.bytes(name)).unwrap();
        assert!(page.starts_with("<!doctype html>") && page.ends_with("</html>\n"), "{name}");
        assert!(!page.contains("<script>alert"), "{name}");
        assert!(page.contains("&lt;script&gt;alert(1)"), "{name}");
        assert!(page.contains("<svg") && !page.contains("NaN"), "{name}");
        assert!(!page.contains("http"), "{name} needs something from elsewhere");
    }
    let page = String::from_utf8(world.bytes("r.html")).unwrap();
    for part in
        ["Objective and losses", "Held-out accuracy", "Duality gap", "Margins", "certificate"]
    {
        assert!(page.contains(part), "{part}");
    }
    let page = String::from_utf8(world.bytes("e.html")).unwrap();
    for part in
        ["Confusion matrix", "Reliability", "accuracy", "Thresholds", "Features that weigh most"]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn many_classes_are_cut_short_on_the_screen_and_whole_when_asked() {
    let world = World::new();
    let rows: String =
        (0..50).map(|i| format!("c{} {}:1 {}:1\n", i % 25, i % 25 + 1, 30 + i % 2)).collect();
    world.file("a.svm", &rows);
    world.file("b.svm", rows.replace("c7 ", "c8 "));
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    let out = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(out.contains("and 5 more classes (--top N shows all)"), "{out}");
    let out = world.run(&["inspect", "m.lineal", "--top", "1"]).done().out;
    assert!(!out.contains("more classes"), "{out}");
    let out = world.run(&["eval", "m.lineal", "a.svm"]).done().out;
    assert!(out.contains("no class is taken for another"), "{out}");
    let out = world.run(&["eval", "m.lineal", "b.svm"]).done().out;
    assert!(out.contains("most frequent confusions") && out.contains("2  c8          c7"), "{out}");
}
