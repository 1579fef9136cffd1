//! `lineal tune`: a table by cross-validation, and the model that it chose.

use crate::world::{FRUIT, World};

/// Two classes that overlap, so that C matters.
fn noisy() -> String {
    let mut state = 7u64;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 31)
    };
    let mut text = String::new();
    for _ in 0..200 {
        let (x, noise) = (next() - 0.5, next() - 0.5);
        let class = if x + 0.4 * noise > 0.0 { "+1" } else { "-1" };
        text.push_str(&format!("{class} 1:{x:.4} 2:{:.4} 3:{:.4}\n", next(), next()));
    }
    text
}

#[test]
fn a_table_and_the_model_that_it_chose() {
    let world = World::new();
    world.file("a.svm", noisy());
    let tune = ["tune", "a.svm", "-C", "0.1,1,10", "-o", "m.lineal", "--test", "a.svm"];
    let run = world.run(&tune).done().says(&["1 of 6: ", "6 of 6: ", "chose ", "wrote m.lineal"]);
    let lines: Vec<&str> = run.out.lines().collect();
    assert!(lines[0].starts_with("loss") && lines[0].contains("accuracy"), "{}", run.out);
    assert_eq!(lines.iter().filter(|l| l.starts_with("logistic")).count(), 3);
    assert_eq!(lines.iter().filter(|l| l.starts_with("squared-hinge")).count(), 3);
    assert_eq!(run.out.matches('*').count(), 1, "{}", run.out);
    assert_eq!(run.out.matches("1se").count(), 1);

    let json =
        world.run(&[&tune[..], &["--json", "-q", "--calibrate", "none"]].concat()).done().json();
    assert_eq!((&json["examples"], &json["folds"]), (&200.into(), &5.into()));
    let (best, trials) = (&json["best"], json["trials"].as_array().unwrap());
    assert_eq!(best["folds"].as_array().unwrap().len(), 5);
    let mean = |t: &serde_json::Value| t["mean"].as_f64().unwrap();
    assert!(trials.iter().all(|t| mean(t) <= mean(best)) && mean(best) > 0.75);
    assert!(json["trained"]["test"]["accuracy"].as_f64().unwrap() > 0.75);
    // What was written is what `train` makes of the chosen C and loss.
    let chosen = &json["chosen"];
    let (c, loss) = (chosen["C"].to_string(), chosen["loss"].as_str().unwrap().to_owned());
    world.run(&["train", "a.svm", "-o", "t.lineal", "-C", &c, "--loss", &loss, "-q"]).done();
    assert_eq!(world.bytes("m.lineal"), world.bytes("t.lineal"));
}

#[test]
fn the_same_table_at_any_number_of_threads() {
    let world = World::new();
    world.file("a.svm", noisy());
    let table = |threads: &str| {
        let command = ["tune", "a.svm", "--losses", "hinge,logistic", "--json", "-q", "--threads"];
        let mut json = world.run(&[&command[..], &[threads]].concat()).done().json();
        for trial in json["trials"].as_array_mut().unwrap() {
            trial["seconds"] = 0.into();
        }
        json["trials"].to_string()
    };
    assert_eq!(table("1"), table("4"));
}

#[test]
fn one_standard_error_takes_the_smaller_c() {
    let world = World::new();
    world.file("a.svm", noisy());
    let command = ["tune", "a.svm", "--json", "-q", "--choose", "one-se"];
    let json = world.run(&command).done().json();
    let c = |key: &str| json[key]["C"].as_f64().unwrap();
    assert!(c("one_se") <= c("best") && c("chosen") == c("one_se"));
    let of = |key: &str, what: &str| json[key][what].as_f64().unwrap();
    assert!(of("one_se", "mean") >= of("best", "mean") - of("best", "se"));
}

#[test]
fn a_budget_ends_the_search_but_never_before_the_first_step() {
    let world = World::new();
    world.file("a.svm", noisy());
    let run = world.run(&["tune", "a.svm", "--budget", "0.000001s", "--json"]).done();
    let json = run.json();
    assert_eq!((json["trials"].as_array().unwrap().len(), &json["left_out"]), (1, &17.into()));
    run.says(&["the budget left out 17 settings"]);
}

#[test]
fn a_budget_stops_a_fit_that_runs_and_what_it_reached_is_told() {
    let world = World::new();
    world.file("a.svm", noisy());
    let slow = ["tune", "a.svm", "-C", "1000000", "--losses", "hinge", "--tol", "1e-13", "--json"];
    let run = world.run(&[&slow[..], &["--budget", "0.000001s"]].concat()).done();
    let chosen = run.json()["chosen"].clone();
    assert_eq!((&chosen["interrupted"], &chosen["converged"]), (&true.into(), &false.into()));
    // One pass of each of the five folds, and no more.
    assert!(chosen["passes"].as_u64().unwrap() <= 10, "{chosen}");
    run.says(&["the budget ended before any setting was finished", "raise --budget"]);
}

#[test]
fn what_is_tried_and_for_how_long_is_said_first_and_what_did_not_converge_last() {
    let world = World::new();
    world.file("a.svm", noisy());
    let tune = ["tune", "a.svm", "-C", "1,10", "--losses", "hinge", "--max-passes", "1", "--tol"];
    let run = world.run(&[&tune[..], &["1e-12"]].concat()).done();
    assert_eq!(run.out.matches("unconverged").count(), 2, "{}", run.out);
    run.says(&[
        "tries hinge × 2 values of C: 10 trainings in 5 folds, 10 min at most (--budget)",
        "was best but did not converge in every fold",
        "--max-passes",
    ]);
    let run = world.run(&["tune", "a.svm", "-C", "1", "--budget", "none"]).done();
    assert!(!run.err.contains("converge") && !run.out.contains("unconverged"), "{run:?}");
    run.says(&["without a limit (--budget none)"]);
}

#[test]
fn every_metric_of_eval_can_be_searched_for() {
    let world = World::new();
    world.file("a.svm", noisy());
    let tune = |metric: &str| {
        let command = ["tune", "a.svm", "-C", "0.01,1", "--losses", "logistic", "--json", "-q"];
        world.run(&[&command[..], &["--metric", metric]].concat())
    };
    for (metric, name, is_loss) in [
        ("mcc", "mcc", false),
        ("roc_auc", "auc", false),
        ("pr-auc", "pr_auc", false),
        ("macro_f1", "macro_f1", false),
        ("log_loss", "log_loss", true),
        ("brier", "brier", true),
        ("mean_cost", "mean_cost", true),
    ] {
        let json = tune(metric).done().json();
        assert_eq!(json["metric"], name);
        let mean = |t: &serde_json::Value| t["mean"].as_f64().unwrap();
        let means: Vec<f64> = json["trials"].as_array().unwrap().iter().map(mean).collect();
        let best = means.iter().copied().fold(means[0], if is_loss { f64::min } else { f64::max });
        assert_eq!(mean(&json["best"]), best, "{metric}: {means:?}");
        assert!(best > 0.0 && best < 1.0, "{metric}: {best}");
    }
    tune("f2").failed(2, &["--metric", "`f2`", "pr_auc"]);
    tune("rmse").failed(1, &["rmse", "--task classify", "accuracy"]);
    world.file("fruit.csv", FRUIT);
    let three = ["tune", "fruit.csv", "--label", "fruit", "--folds", "2", "--metric", "auc"];
    world.run(&three).failed(1, &["two classes", "3"]);
}

#[test]
fn a_threshold_is_tuned_in_the_search_and_stored() {
    let world = World::new();
    // One row in ten is of the second class, and most of these look like the first.
    let row = |i: usize| {
        let class = if i.is_multiple_of(10) { "+1" } else { "-1" };
        let x = ((i * 37) % 100) as f64 / 100.0 + if class == "+1" { 0.5 } else { 0.0 };
        format!("{class} 1:{x:.2}\n")
    };
    world.file("rare.svm", (0..400).map(row).collect::<String>());
    let tune = |flags: &[&str]| {
        let command = ["tune", "rare.svm", "-C", "1", "--losses", "logistic", "--metric"];
        let more = ["macro_f1", "--json", "-q", "-o", "m.lineal", "--test", "rare.svm"];
        world.run(&[&command[..], &more, flags].concat()).done().json()
    };
    let (plain, tuned) = (tune(&[]), tune(&["--threshold", "auto"]));
    let mean = |json: &serde_json::Value| json["best"]["mean"].as_f64().unwrap();
    assert!(mean(&tuned) > mean(&plain) + 0.1, "{} {}", mean(&tuned), mean(&plain));
    let facts = world.run(&["inspect", "m.lineal"]).done().out;
    assert!(facts.contains("1 if its score is at least "), "{facts}");
}

#[test]
fn the_model_has_probabilities_whatever_loss_is_best() {
    let world = World::new();
    world.file("noisy.svm", noisy());
    let tune =
        ["tune", "noisy.svm", "--losses", "squared-hinge", "-C", "1", "-o", "m.lineal", "-q"];
    let predict =
        |flags: &[&str]| world.run(&[&["predict", "m.lineal", "noisy.svm"], flags].concat());
    world.run(&tune).done();
    let with = predict(&["--proba", "--output", "csv"]).done().out;
    let labels = |out: &str| -> Vec<String> {
        out.lines().map(|line| line.split(',').next().unwrap_or_default().to_owned()).collect()
    };
    world.run(&[&tune[..], &["--calibrate", "none"]].concat()).done();
    predict(&["--proba"]).failed(1, &["squared-hinge", "no probabilities"]);
    assert_eq!(labels(&with), labels(&predict(&["--output", "csv"]).done().out));
}

#[test]
fn n_grams_of_text_are_tried_too() {
    let world = World::new();
    let rows = "not good,bad\ngood,fine\nnot bad,fine\nbad,bad\n".repeat(10);
    world.file("t.csv", format!("text,label\n{rows}"));
    let tune = ["tune", "t.csv", "--text", "text", "-C", "100", "--losses", "logistic"];
    let tries = ["--try-ngrams", "1,1-2", "--json", "-o", "m.lineal", "-q"];
    let json = world.run(&[&tune[..], &tries].concat()).done().json();
    let trials = json["trials"].as_array().unwrap();
    assert_eq!((trials.len(), &json["best"]["features"]), (2, &"words 1-2".into()));
    // Single words cannot tell; pairs can.
    assert_eq!(json["best"]["mean"], 1.0);
    assert!(trials[0]["mean"].as_f64().unwrap() < 1.0);
    world.file("new.csv", "text\nnot bad\nnot good\n");
    assert_eq!(world.run(&["predict", "m.lineal", "new.csv"]).done().out, "fine\nbad\n");
}

#[test]
fn other_tasks_and_strategies() {
    let world = World::new();
    world.file("fruit.csv", FRUIT.to_owned() + &FRUIT[FRUIT.find('\n').unwrap() + 1..].repeat(3));
    for strategy in ["joint", "ova", "ovo", "ecoc", "tree"] {
        let command =
            ["tune", "fruit.csv", "--label", "fruit", "-C", "0.1,1", "--losses", "logistic"];
        let more = ["--folds", "3", "--strategy", strategy, "--standardize", "--json", "-q"];
        let json = world.run(&[&command[..], &more].concat()).done().json();
        assert!(json["best"]["mean"].as_f64().unwrap() > 0.7, "{strategy}: {json}");
    }
    world.file("r.csv", "a,y\n1,2\n2,4\n3,6\n4,8\n5,10\n6,12\n");
    let command =
        ["tune", "r.csv", "--label", "y", "--task", "regress", "--folds", "3", "--json", "-q"];
    let json = world.run(&command).done().json();
    assert_eq!((&json["metric"], &json["best"]["C"]), (&"rmse".into(), &100.0.into()));
    world.file("l.svm", "0,1 1:1 2:1\n1 2:2\n0 1:3\n 3:1\n".repeat(5));
    let command = ["tune", "l.svm", "--task", "multilabel", "--folds", "2", "--json", "-q"];
    let json = world.run(&command).done().json();
    assert_eq!((&json["metric"], &json["best"]["mean"]), (&"micro_f1".into(), &1.0.into()));
    let command = ["tune", "fruit.csv", "--label", "fruit", "--metric", "log-loss", "--json", "-q"];
    let json = world.run(&command).done().json();
    let mean = |t: &serde_json::Value| t["mean"].as_f64().unwrap();
    assert!(json["trials"].as_array().unwrap().iter().all(|t| mean(t) >= mean(&json["best"])));
}

#[test]
fn what_cannot_be_tuned() {
    let world = World::new();
    world.file("a.svm", noisy());
    let tune = |flags: &[&str]| world.run(&[&["tune", "a.svm"], flags].concat());
    tune(&["--folds", "500"]).failed(1, &["500 folds", "200"]);
    tune(&["-C", "0"]).failed(2, &["must be over 0"]);
    tune(&["--budget", "soon"]).failed(2, &["60s"]);
    tune(&["--try-ngrams", "1,1-2"]).failed(1, &["no column is text"]);
    tune(&["--metric", "log-loss", "--losses", "hinge"]).failed(1, &["--losses", "probabilities"]);
    tune(&["-o", "a.svm"]).failed(2, &["also an input"]);
}
