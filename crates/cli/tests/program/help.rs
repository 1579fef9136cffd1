//! Help that is enough to begin with.

use crate::world::World;

#[track_caller]
fn mentions(args: &[&str], parts: &[&str]) {
    let help = World::new().run(args).done().out;
    for part in parts {
        assert!(help.contains(part), "`lineal {}` does not mention {part}", args.join(" "));
    }
    let widest = help.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(110), "{widest:?}");
}

#[test]
fn the_program() {
    let commands = ["train", "predict", "eval", "inspect", "explain", "compare", "tune", "demo"];
    mentions(&["--help"], &commands);
    mentions(&["--help"], &["--strategy ovo", "--calibrate platt", "--task multilabel"]);
    mentions(&["--help"], &["Examples:", "--label", "Exit codes:", "standard input", ".gz"]);
    #[cfg(feature = "serve")]
    mentions(&["--help"], &["lineal serve flowers.lineal --port 8080"]);
}

#[test]
fn train() {
    let flags = [
        "-o",
        "--task",
        "--format",
        "--label",
        "--weight",
        "--numeric",
        "--categorical",
        "--ignore",
        "--text",
        "--tokens",
        "--ngrams",
        "--chars",
        "--prefixes",
        "--suffixes",
        "--stop-words",
        "--min-df",
        "--max-df",
        "--tf",
        "--no-idf",
        "--norm",
        "--hash",
        "--no-header",
        "--labels",
        "--loss",
        "--sum",
        "--strategy",
        "--pairs",
        "--code",
        "--code-length",
        "--decoding",
        "--tree",
        "--leaf-size",
        "--beam",
        "--calibrate",
        "--folds",
        "--threshold",
        "--label-separator",
        "--solver",
        "-C",
        "--l2",
        "--l1",
        "--bias",
        "--tol",
        "--max-passes",
        "--epochs",
        "--batch-size",
        "--rate",
        "--schedule",
        "--average",
        "--no-shuffle",
        "--with-replacement",
        "--stream",
        "--update",
        "--resume",
        "--checkpoint",
        "--chunk",
        "--sample",
        "--class-weight",
        "--cost",
        "--delta",
        "--epsilon",
        "--standardize",
        "--hard-margin",
        "--validation",
        "--patience",
        "--curve",
        "--precision",
        "--seed",
        "--threads",
        "--test",
        "--json",
        "--report",
        "--quiet",
        "--require-convergence",
    ];
    mentions(&["train", "--help"], &flags);
    let choices = [
        "perceptron",
        "hinge",
        "squared-hinge",
        "logistic",
        "squared",
        "huber",
        "epsilon",
        "joint",
        "ova",
        "ovo",
        "ecoc",
        "tree",
        "votes",
        "scores",
        "tournament",
        "dense",
        "sparse",
        "exhaustive",
        "hadamard",
        "bch",
        "greedy",
        "hamming",
        "probability",
        "clusters",
        "random",
        "huffman",
        "platt",
        "isotonic",
        "temperature",
        "micro-f1",
        "cost:FP,FN",
        "multilabel",
        "auto",
        "exact",
        "gd",
        "sgd",
        "newton",
        "lbfgs",
        "dual",
        "constant",
        "inverse",
        "pegasos",
        "adagrad",
        "normalised",
        "free",
        "penalised",
        "balanced",
    ];
    mentions(&["train", "--help"], &choices);
    mentions(
        &["train", "--help"],
        &[
            "Examples:",
            "Several classes:",
            "Probabilities:",
            "Which loss each solver accepts",
            "relative duality gap",
            "gradient norm",
            "Objective:",
        ],
    );
}

#[test]
fn short_help_fits_a_screen_and_names_the_long_one() {
    for command in ["train", "predict", "eval", "explain", "compare", "tune", "convert"] {
        let world = World::new();
        let short = world.run(&[command, "-h"]).done().out;
        let long = world.run(&[command, "--help"]).done().out;
        let flags = |help: &str| help.lines().filter(|l| l.trim_start().starts_with('-')).count();
        assert!(flags(&short) <= 17 && flags(&long) > flags(&short), "{command}: {short}");
        assert!(short.contains(&format!("`lineal {command} --help` shows all flags")), "{short}");
        assert!(short.contains("Example") && long.contains("Example"), "{short}");
    }
    mentions(&["train", "-h"], &["--label", "--task", "--loss", "-C", "--test", "--threshold"]);
}

#[test]
fn shells_and_manuals_know_the_flags() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = world.run(&["completions", shell]).done().out;
        assert!(script.contains("lineal") && script.contains("class-weight"), "{shell}");
    }
    world.run(&["completions", "latin"]).failed(2, &["bash", "zsh", "fish"]);
    let page = world.run(&["man"]).done().out;
    assert!(page.contains(".TH") && page.contains("lineal\\-train"), "{page}");
    std::fs::create_dir(world.path("man1")).unwrap();
    world.run(&["man", "man1"]).done();
    let page = std::fs::read_to_string(world.path("man1/lineal-train.1")).unwrap();
    assert!(page.contains("class\\-weight"), "{page}");
    world.run(&["man", "nowhere"]).failed(1, &["nowhere", "no such folder"]);
}

#[test]
fn the_other_commands() {
    mentions(
        &["predict", "--help"],
        &[
            "--proba",
            "--scores",
            "--top",
            "--sample",
            "--min-cost",
            "--cost",
            "--seed",
            "-o",
            "--output",
            "text",
            "csv",
            "jsonl",
            "--format",
            "--label",
            "--no-header",
            "--threads",
            "--quiet",
            "Examples:",
        ],
    );
    mentions(
        &["eval", "--help"],
        &["--json", "--report", "--cost", "--format", "--threads", "Examples:", "log_loss"],
    );
    mentions(&["eval", "--help"], &["p@1", "ndcg@5", "hamming_loss", "reliability"]);
    mentions(
        &["compare", "--help"],
        &[
            "--strategies",
            "--losses",
            "--test",
            "--holdout",
            "--task",
            "--bias",
            "--class-weight",
            "--cost",
            "--standardize",
            "--pairs",
            "--code",
            "--tree",
            "--calibrate",
            "--threshold",
            "-C",
            "--l2",
            "--tol",
            "--max-passes",
            "--label",
            "--categorical",
            "--seed",
            "--threads",
            "--json",
            "--report",
            "--quiet",
            "Examples:",
        ],
    );
    mentions(&["inspect", "--help"], &["--json", "--top", "Examples:", "margin"]);
    mentions(
        &["explain", "--help"],
        &[
            "--top",
            "--rows",
            "--class",
            "-o",
            "--output",
            "jsonl",
            "--html",
            "--format",
            "Examples:",
        ],
    );
    mentions(
        &["explain", "--help"],
        &["runner-up", "Contributions, the bias", "the lead", "codewords", "threshold"],
    );
    mentions(
        &["tune", "--help"],
        &[
            "-o",
            "-C",
            "--losses",
            "--try-ngrams",
            "--try-chars",
            "--folds",
            "--no-shuffle",
            "--metric",
            "--choose",
            "--budget",
            "--task",
            "--strategy",
            "--class-weight",
            "--standardize",
            "--tol",
            "--text",
            "--hash",
            "--test",
            "--seed",
            "--threads",
            "--json",
            "--quiet",
            "Examples:",
            "standard error",
        ],
    );
    mentions(&["demo", "--help"], &["--list", "--write", "--picture", "Examples:"]);
}
