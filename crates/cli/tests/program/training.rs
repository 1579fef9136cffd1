//! Choices of `train`: what they do, and that threads do not change them.

use crate::world::{FRUIT, TINY, World};

fn fruit() -> World {
    let world = World::new();
    world.file("fruit.csv", FRUIT);
    world
}

const TRAIN: [&str; 6] = ["train", "fruit.csv", "--label", "fruit", "-o", "m.lineal"];

#[test]
fn the_same_bytes_at_any_number_of_threads() {
    let world = World::new();
    world.run(&["demo", "tickets", "--write", "."]).done();
    for flags in [
        &["--solver", "dual", "--loss", "hinge"][..],
        &["--solver", "dual", "--loss", "hinge", "--sum"],
        &["--solver", "dual", "--loss", "logistic"],
        &["--solver", "lbfgs", "--loss", "logistic", "--l1", "1e-3"],
        &["--solver", "newton", "--loss", "squared-hinge", "--sum"],
        &["--solver", "gd", "--max-passes", "20"],
        &["--solver", "sgd", "--epochs", "2", "--seed", "7"],
        &[
            "--solver",
            "sgd",
            "--epochs",
            "2",
            "--batch-size",
            "32",
            "--average",
            "--validation",
            "0.2",
        ],
        &["--loss", "perceptron", "--with-replacement", "--epochs", "2"],
    ] {
        let bytes = ["1", "2"].map(|threads| {
            let train = ["train", "tickets-train.svm", "-o", "m.lineal", "-q", "-C", "0.1"];
            let train = if flags.contains(&"perceptron") { &train[..5] } else { &train[..] };
            world.run(&[train, &["--threads", threads], flags].concat()).done();
            world.bytes("m.lineal")
        });
        assert!(bytes[0] == bytes[1], "{flags:?}");
    }
}

#[test]
fn solvers_agree_on_the_objective() {
    let world = fruit();
    let objective = |solver: &str, loss: &str| {
        let choice =
            ["--json", "-q", "--standardize", "--tol", "1e-8", "--solver", solver, "--loss", loss];
        world.run(&[&TRAIN[..], &choice].concat()).done().json()["objective"].as_f64().unwrap()
    };
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6 * a.abs(), "{a} {b}");
    close(objective("newton", "logistic"), objective("lbfgs", "logistic"));
    close(objective("newton", "logistic"), objective("dual", "logistic"));
    close(objective("exact", "squared"), objective("lbfgs", "squared"));
}

#[test]
fn the_perceptron_has_no_penalty_unless_asked_for() {
    let world = World::new();
    world.file("a.svm", TINY);
    let train = ["train", "a.svm", "-o", "m.lineal", "--loss", "perceptron", "--json"];
    let json = world.run(&train).done().json();
    assert_eq!((json["l2"].as_f64(), json["solver"].as_str()), (Some(0.0), Some("sgd")));
    let json = world.run(&[&train[..], &["--l2", "0.5"]].concat()).done().json();
    assert_eq!(json["l2"], 0.5);
}

#[test]
fn a_flag_of_sgd_chooses_sgd() {
    let world = fruit();
    let json = world.run(&[&TRAIN[..], &["--json", "--epochs", "3"]].concat()).done().json();
    assert_eq!((json["solver"].as_str(), json["passes"].as_u64()), (Some("sgd"), Some(3)));
    let json = world
        .run(&[&TRAIN[..], &["--json", "--solver", "sgd", "--max-passes", "4"]].concat())
        .done()
        .json();
    assert_eq!(json["passes"], 4);
    let json = world
        .run(&[&TRAIN[..], &["--json", "--solver", "gd", "--rate", "1e-6"]].concat())
        .done()
        .json();
    assert_eq!(json["solver"], "gd");
}

#[test]
fn early_stopping_keeps_the_best_pass_and_the_curve_shows_it() {
    let world = fruit();
    world.file("held.csv", FRUIT);
    let watch = [
        "--validation",
        "held.csv",
        "--patience",
        "2",
        "--epochs",
        "200",
        "--curve",
        "--json",
        "-q",
    ];
    let json = world.run(&[&TRAIN[..], &watch].concat()).done().json();
    let curve = json["curve"].as_array().unwrap();
    assert!(curve.len() < 200);
    let metric = |point: &serde_json::Value| point["held_out_metric"].as_f64().unwrap();
    let best = curve.iter().map(metric).fold(f64::MIN, f64::max);
    let kept = json["best_pass"].as_u64().unwrap_or(curve.len() as u64);
    assert_eq!(metric(&curve[kept as usize - 1]), best);
    assert!(curve[0]["train_loss"].is_number());
}

#[test]
fn columns_can_be_told_apart_by_hand() {
    let world = World::new();
    world.file("a.csv", "id,zip,x,w,label\n1,10,1,1,a\n2,20,2,1,b\n3,10,1,2,a\n4,20,3,1,b\n");
    let flags = ["--categorical", "zip", "--ignore", "id", "--numeric", "x", "--weight", "w"];
    let run =
        world.run(&[&["train", "a.csv", "-o", "m.lineal", "--json"], &flags[..]].concat()).done();
    assert_eq!(run.json()["features"], 3);
    run.says(&["zip", "categorical, 2 values: 10, 20", "ignored", "example weight"]);

    world.file("b.csv", "1,10,a\n2,20,b\n1,11,a\n");
    let run =
        world.run(&["train", "b.csv", "--no-header", "--label", "3", "-o", "m.lineal"]).done();
    run.says(&["3 rows"]);
    assert_eq!(world.run(&["predict", "m.lineal", "b.csv", "--no-header"]).done().out, "a\nb\na\n");
}

#[test]
fn costs_and_class_weights_move_the_answer() {
    let world = World::new();
    world.file("a.svm", "1 1:1\n1 1:0.5\n1 1:0.2\n-1 1:0.1\n-1 1:-0.3\n1 1:-0.1\n");
    world.file("cost.csv", ",1,-1\n1,0,1\n-1,50,0\n");
    world.run(&["train", "a.svm", "-o", "m.lineal", "-q"]).done();
    let predict =
        |flags: &[&str]| world.run(&[&["predict", "m.lineal", "a.svm"], flags].concat()).done().out;
    let plain = predict(&[]);
    let careful = predict(&["--min-cost", "--cost", "cost.csv"]);
    assert!(careful.matches("-1").count() > plain.matches("-1").count(), "{plain}{careful}");
    world.run(&["predict", "m.lineal", "a.svm", "--min-cost"]).failed(1, &["--cost"]);

    let costly =
        world.run(&["eval", "m.lineal", "a.svm", "--cost", "cost.csv", "--json"]).done().json();
    let plain = world.run(&["eval", "m.lineal", "a.svm", "--json"]).done().json();
    assert!(costly["mean_cost"].as_f64() >= plain["mean_cost"].as_f64());
    world
        .run(&["train", "a.svm", "-o", "c.lineal", "--cost", "cost.csv", "--loss", "hinge", "-q"])
        .done();
    world.run(&["train", "a.svm", "-o", "w.lineal", "--class-weight", "1=0.01,-1=9", "-q"]).done();
    let weighted = world.run(&["predict", "w.lineal", "a.svm"]).done().out;
    assert_eq!(weighted, "-1\n".repeat(6));
    world.file("bad.csv", ",1,7\n1,0,1\n7,1,0\n");
    world
        .run(&["train", "a.svm", "-o", "x.lineal", "--cost", "bad.csv"])
        .failed(1, &["bad.csv:1", "`7`"]);
    assert!(!world.has("x.lineal"));
}

#[test]
fn a_model_on_standard_output() {
    let world = fruit();
    let output = world
        .command()
        .args(["train", "fruit.csv", "--label", "fruit", "-o", "-"])
        .output()
        .unwrap();
    assert!(output.status.success());
    world.file("piped.lineal", &output.stdout);
    world.run(&[&TRAIN[..], &["-q"]].concat()).done();
    assert_eq!(world.bytes("piped.lineal"), world.bytes("m.lineal"));
    world
        .run(&["train", "fruit.csv", "--label", "fruit", "-o", "-", "--json"])
        .failed(2, &["--json"]);
}

#[test]
fn many_classes_with_few_rows_converge() {
    // The estimate of the gap that ended the run was far below what can be proven.
    let mut state = 12345u64;
    let mut unit = || {
        state = (state * 1_103_515_245 + 12_345) % (1 << 31);
        state as f64 / (1u64 << 31) as f64
    };
    let row = |_: usize| {
        let class = (200.0 * unit().powi(3)) as usize;
        let (a, b) = (unit(), 10.0 * unit() + class as f64 / 100.0);
        format!("{a:.3},{b:.3},c{class}\n")
    };
    let rows: String = (0..2000).map(row).collect();
    let world = World::new();
    world.file("a.csv", format!("a,b,label\n{rows}"));
    let json = world.run(&["train", "a.csv", "-o", "m.lineal", "--json", "-q"]).done().json();
    assert_eq!((&json["converged"], &json["solver"]), (&true.into(), &"newton".into()), "{json}");
}
