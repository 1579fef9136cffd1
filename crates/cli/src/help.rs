//! Help in two lengths: `-h` shows the flags of each command that most people need, `--help` all of them by topic.

use clap::{Command, CommandFactory};

use crate::args::Cli;

/// A command's short help.
struct Short {
    command: &'static str,
    /// The arguments that are shown, by name.
    shown: &'static [&'static str],
    examples: &'static str,
}

const SHORT: &[Short] = &[
    Short {
        command: "train",
        shown: &[
            "data",
            "out",
            "label",
            "task_flag",
            "text",
            "loss",
            "strategy",
            "c",
            "class_weight",
            "calibrate",
            "threshold",
            "test",
            "validation",
            "report",
            "quiet",
        ],
        examples: "\
Examples:
  lineal train flowers.csv --label species -o flowers.lineal --test test.csv
  lineal train flowers.csv --label species -o flowers.lineal --validation 0.2
  lineal train tickets.csv --label desk --text subject,body -o tickets.lineal
  lineal train a9a.svm -o a9a.lineal --loss hinge -C 0.1
  lineal train train.conll --task tag -o tags.lineal --test test.conll",
    },
    Short {
        command: "predict",
        shown: &[
            "model",
            "data",
            "proba",
            "scores",
            "top",
            "threshold",
            "keep",
            "out",
            "output_flag",
            "format",
            "quiet",
        ],
        examples: "\
Examples:
  lineal predict m.lineal new.csv --proba
  lineal predict m.lineal new.csv --keep id -o answers.csv
  echo 'where is my invoice?' | lineal predict text.lineal -",
    },
    Short {
        command: "eval",
        shown: &["model", "data", "json", "report", "threshold", "label", "quiet"],
        examples: "\
Examples:
  lineal eval m.lineal test.csv
  lineal eval m.lineal test.csv --report eval.html",
    },
    Short {
        command: "explain",
        shown: &["model", "data", "top", "rows", "output", "html", "quiet"],
        examples: "\
Example:
  lineal explain m.lineal new.csv --rows 1-3",
    },
    Short {
        command: "compare",
        shown: &[
            "data",
            "label",
            "task_flag",
            "strategies",
            "losses",
            "test",
            "holdout",
            "c",
            "text",
            "report",
            "json",
            "quiet",
        ],
        examples: "\
Examples:
  lineal compare letter.svm --test letter.t.svm
  lineal compare flowers.csv --label species --report compare.html",
    },
    Short {
        command: "tune",
        shown: &[
            "data",
            "out",
            "label",
            "task_flag",
            "cs",
            "losses",
            "metric",
            "folds",
            "budget",
            "threshold",
            "text",
            "test",
            "json",
            "quiet",
        ],
        examples: "\
Examples:
  lineal tune a9a.svm -o a9a.lineal
  lineal tune churn.csv --metric pr_auc --budget 1m -o churn.lineal",
    },
    Short {
        command: "convert",
        shown: &["data", "out", "to", "model", "names", "label", "text", "format", "quiet"],
        examples: "\
Examples:
  lineal convert tickets.csv tickets.jsonl
  lineal convert tickets.csv tickets.svm --label desk --names words.txt",
    },
];

/// The commands with both lengths of help.
pub fn command() -> Command {
    SHORT.iter().fold(Cli::command(), |command, short| {
        command.mut_subcommand(short.command, |command| with_short(command, short))
    })
}

fn with_short(command: Command, short: &Short) -> Command {
    let long = command.get_after_help().cloned().unwrap_or_default();
    let more = format!(
        "{}\n\n`lineal {} --help` shows all flags, by topic.",
        short.examples, short.command
    );
    let command = command.after_help(more).after_long_help(long);
    command.mut_args(|arg| match short.shown.contains(&arg.get_id().as_str()) {
        true => arg,
        false => arg.hide_short_help(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_is_there_and_is_little() {
        let all = Cli::command();
        for short in SHORT {
            let command = all.find_subcommand(short.command).unwrap();
            for name in short.shown {
                let known = command.get_arguments().any(|arg| arg.get_id() == name);
                assert!(known, "{} has no argument {name}", short.command);
            }
            assert!(short.shown.len() <= 16, "{}", short.command);
        }
        command().debug_assert();
    }
}
