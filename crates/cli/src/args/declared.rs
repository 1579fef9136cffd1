//! Flags about declared structures: `--task declared`.

use std::path::PathBuf;

use clap::Args;

use super::choice::at_least_one;

/// The heading of everything about declared structures.
pub const DECLARED: &str = "Declared structures (--task declared)";

/// Choices of `train --task declared`.
#[derive(Args, Clone, Debug, Default)]
pub struct DeclaredArgs {
    /// The declaration: variables with their labels, factors, features and rules (see docs/declared.md)
    #[arg(long, value_name = "FILE", help_heading = DECLARED)]
    pub declaration: Option<PathBuf>,

    /// Learn without rules, and keep them in predictions only
    #[arg(long, help_heading = DECLARED)]
    pub local: bool,

    /// The most nodes of a search for the best output; when it strikes, the best one that was met comes with a bound [default: 2000]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = DECLARED)]
    pub max_nodes: Option<usize>,

    /// The most seconds of a search; answers may then differ from run to run
    #[arg(long, value_name = "S", value_parser = seconds, help_heading = DECLARED)]
    pub time_limit: Option<f64>,
}

fn seconds(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(s) if s > 0.0 && f64::is_finite(s) => Ok(s),
        _ => Err("must be a number of seconds above 0".to_owned()),
    }
}
