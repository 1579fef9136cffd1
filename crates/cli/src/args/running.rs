//! Flags of how a command runs, whatever it does.

use clap::Args;

const HEADING: &str = "Running and output";

/// Threads and talk.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    /// Threads to use, at most 1024 [default: all cores]
    #[arg(long, value_name = "N", value_parser = n_threads, help_heading = HEADING)]
    pub threads: Option<usize>,

    /// Print only errors on stderr
    #[arg(short, long, help_heading = HEADING)]
    pub quiet: bool,
}

/// More threads than any machine makes use of.
const THREADS: usize = 1024;

fn n_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n) if (1..=THREADS).contains(&n) => Ok(n),
        _ => Err(format!("must be a number from 1 to {THREADS}")),
    }
}
