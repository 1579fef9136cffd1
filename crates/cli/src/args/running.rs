//! Flags of how a command runs, whatever it does.

use clap::Args;

use super::choice::at_least_one;

const HEADING: &str = "Running and output";

/// Threads and talk.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = HEADING)]
    pub threads: Option<usize>,

    /// Say nothing on stderr but errors
    #[arg(short, long, help_heading = HEADING)]
    pub quiet: bool,
}
