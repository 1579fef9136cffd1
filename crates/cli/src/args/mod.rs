//! The flags as they are typed. What they mean together is decided where they are used.

mod choice;
mod classes;
mod compare;
mod constituency;
mod convert;
mod declared;
mod dependency;
mod explain;
mod fit;
mod maps;
mod meta;
mod rank;
mod read;
mod run;
mod running;
mod segment;
#[cfg(feature = "serve")]
mod serve;
mod stream;
mod structure;
mod tag;
mod templates;
mod text;
mod train;
mod tune;

pub use classes::{CodeArg, ProbaArgs, ReductionArgs, TreeArg};
pub use compare::CompareArgs;
pub use convert::ConvertArgs;
pub use explain::{ExplainArgs, ExplainOutput};
pub use meta::{CompletionsArgs, ManArgs};
pub use read::FileArgs;
pub use run::{DemoArgs, EvalArgs, InspectArgs, Output, PredictArgs};
#[cfg(feature = "serve")]
pub use serve::{PlaygroundArgs, ServeArgs};
pub use structure::LossName;
pub use tag::Named;
pub use text::{Lengths, TextArgs};
pub use train::{Held, TrainArgs};
pub use tune::TuneArgs;

use clap::{Parser, Subcommand};

const EXAMPLES: &str = "\
Examples:
  lineal demo                                     a whole run on a built-in set
  lineal train flowers.csv --label species -o flowers.lineal --test test.csv
  lineal predict flowers.lineal new.csv --proba   one line per row: class, probabilities
  lineal eval flowers.lineal test.csv             accuracy, F1, confusion matrix
  lineal inspect flowers.lineal                   certificate, margins, top features
  lineal explain flowers.lineal new.csv           why this class, feature by feature
  lineal compare flowers.csv --label species      every strategy × loss: time and accuracy
                                                  (structures: every learner, with --task)
  lineal tune flowers.csv --label species -o best.lineal
                                                  C and loss by cross-validation
  lineal convert tickets.csv tickets.jsonl        data in another format
  lineal serve flowers.lineal --port 8080         predictions over HTTP, and a page

Running text:
  lineal train tickets.csv --label desk --text subject,body -o tickets.lineal
  lineal predict tickets.lineal new.csv
  lineal train news.jsonl -o m.lineal --ngrams 1-2 --chars 3-5 --norm each

Several classes, several labels, probabilities:
  lineal train letter.svm -o m.lineal --strategy ova --loss squared-hinge
  lineal train letter.svm -o m.lineal --strategy ovo --calibrate platt
  lineal train films.csv --label genres --task multilabel -o m.lineal

Your own CSV: one row per example, one column to predict (named with --label). Columns of \
numbers become numeric features, scaled for training; other columns become categories, dates or text. `train` shows how it read each column, and --numeric, \
--categorical, --text and --ignore correct it.

If DATA is -, standard input is read; .gz and .zst files are decompressed. The format follows from the name: .csv, \
.tsv, .jsonl, .parquet, .svm or .libsvm, .ft, .vw, .idx (or say --format).

Exit codes: 0 done; 1 the data or the request is wrong; 2 usage; 3 did not converge, with \
--require-convergence; 130 interrupted.";

/// Train and use linear models (logistic regression, support vector machines, CRFs and relatives) on tables, text,
/// sequences, trees, rankings and images. Training ends with a proof of how close it came to the best possible model.
#[derive(Debug, Parser)]
#[command(name = "lineal", version, after_help = EXAMPLES, max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    Train(Box<TrainArgs>),
    Predict(PredictArgs),
    Eval(EvalArgs),
    Inspect(InspectArgs),
    Explain(ExplainArgs),
    Compare(Box<CompareArgs>),
    Tune(Box<TuneArgs>),
    Convert(Box<ConvertArgs>),
    Demo(DemoArgs),
    #[cfg(feature = "serve")]
    Serve(Box<ServeArgs>),
    #[cfg(feature = "serve")]
    Playground(PlaygroundArgs),
    Completions(CompletionsArgs),
    Man(ManArgs),
}
