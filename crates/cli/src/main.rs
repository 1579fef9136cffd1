//! The program `lineal`: trains, runs, measures and shows linear models.
//!
//! stdout is data, stderr is talk. Exit codes: 0 done, 1 the data or the request is wrong, 2 usage, 3 did not
//! converge with `--require-convergence`, 130 interrupted. Everything it does is a call of the crate `lineal`.

mod args;
mod classes;
mod compare;
mod constituency;
mod convert;
mod declared;
mod demo;
mod dependency;
mod eval;
mod exit;
mod explain;
mod fields;
mod files;
mod help;
mod html;
mod inspect;
mod interrupt;
mod maps;
mod meta;
mod predict;
mod program;
mod progress;
mod random;
mod rank;
mod rows;
mod segment;
#[cfg(feature = "serve")]
mod serve;
mod stream;
mod structured;
mod table;
mod tag;
mod talk;
mod text;
mod train;
mod tune;

use args::{Cli, Command};
use clap::FromArgMatches;
use std::process::ExitCode;

/// Ends with a sentence when there is no more memory.
#[global_allocator]
static MEMORY: lineal::linalg::memory::Allocator = lineal::linalg::memory::Allocator;

fn main() -> ExitCode {
    lineal::linalg::return_large_blocks();
    lineal::linalg::process::prepare(lineal::remove_temporaries);
    let cli = Cli::from_arg_matches(&help::command().get_matches());
    let cli = cli.unwrap_or_else(|error| error.exit());
    interrupt::install();
    let done = match cli.command {
        Command::Train(args) => train::run(&args.settle()),
        Command::Predict(args) => predict::run(&args),
        Command::Eval(args) => eval::run(&args),
        Command::Inspect(args) => inspect::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Compare(args) => compare::run(&args.settle()),
        Command::Tune(args) => tune::run(&args.settle()),
        Command::Convert(args) => convert::run(&args),
        Command::Demo(args) => demo::run(&args),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args),
        #[cfg(feature = "serve")]
        Command::Playground(args) => serve::playground(&args),
        Command::Completions(args) => meta::completions(&args),
        Command::Man(args) => meta::man(&args),
    };
    exit::code(done)
}
