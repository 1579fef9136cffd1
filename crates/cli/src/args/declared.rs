//! Flags about declared structures: `--task declared`.

use std::path::PathBuf;

use clap::Args;
use lineal::{DeclaredOptions, Task};

use super::choice::at_least_one;
use crate::exit::usage;

/// The heading of everything about declared structures.
pub const DECLARED: &str = "Declared structures (--task declared)";

/// Choices of `train --task declared`.
#[derive(Args, Clone, Debug, Default)]
pub struct DeclaredArgs {
    /// The declaration: variables with their labels, factors, features and rules (see docs/declared.md)
    #[arg(long, value_name = "FILE", help_heading = DECLARED)]
    pub declaration: Option<PathBuf>,

    /// Train without the rules, and use them only in prediction
    #[arg(long, help_heading = DECLARED)]
    pub local: bool,

    /// Train both with and without the rules (--local), and compare the two on --test in a table; the other flags decide which model is written
    #[arg(long, requires = "test", help_heading = DECLARED)]
    pub compare_local: bool,

    #[command(flatten)]
    pub limits: LimitArgs,
}

/// How long the best output of an example may take to find.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct LimitArgs {
    /// Limit of search nodes per output; when it is reached, the best output so far is returned with a bound [default: 2000, or as in training]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = DECLARED)]
    pub max_nodes: Option<usize>,

    /// Limit of seconds per search; answers may then differ from run to run
    #[arg(long, value_name = "S", value_parser = seconds, help_heading = DECLARED)]
    pub time_limit: Option<f64>,
}

impl LimitArgs {
    /// Refuses limits where nothing is searched.
    pub fn check(&self, task: Task) -> anyhow::Result<()> {
        let given = [
            ("--max-nodes", self.max_nodes.is_some()),
            ("--time-limit", self.time_limit.is_some()),
        ];
        match given.into_iter().find(|(_, given)| *given) {
            Some((flag, _)) if task != Task::Declared => {
                usage(format!("{flag} is for models of --task declared; leave it out"))
            }
            _ => Ok(()),
        }
    }

    /// For answers.
    pub fn options(&self) -> DeclaredOptions {
        DeclaredOptions { max_nodes: self.max_nodes, seconds: self.time_limit }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(s) if s > 0.0 && f64::is_finite(s) => Ok(s),
        _ => Err("must be a number of seconds above 0".to_owned()),
    }
}
