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
    let commands = ["train", "predict", "eval", "inspect", "demo"];
    mentions(&["--help"], &commands);
    mentions(&["--help"], &["Examples:", "--label", "Exit codes:", "standard input", ".gz"]);
    let help = World::new().run(&["--help"]).done().out;
    for later in ["compare", "tune", "convert", "explain", "serve"] {
        assert!(!help.contains(later), "{later} is not there yet");
    }
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
        "--no-header",
        "--labels",
        "--loss",
        "--sum",
        "--strategy",
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
    mentions(&["train", "-h"], &flags);
    let choices = [
        "perceptron",
        "hinge",
        "squared-hinge",
        "logistic",
        "squared",
        "huber",
        "epsilon",
        "joint",
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
        "free",
        "penalised",
        "balanced",
    ];
    mentions(&["train", "--help"], &choices);
    mentions(
        &["train", "--help"],
        &[
            "Examples:",
            "What each solver needs of the loss",
            "relative duality gap",
            "gradient norm",
            "Objective:",
        ],
    );
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
    mentions(&["inspect", "--help"], &["--json", "--top", "Examples:", "margin"]);
    mentions(&["demo", "--help"], &["--list", "--write", "Examples:"]);
}
