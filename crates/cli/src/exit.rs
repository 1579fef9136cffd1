//! How a run ends: its exit code, and the one message of a failure.

use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::talk;

/// Wrong use of the flags that clap cannot see: exit code 2, as for those that it sees.
#[derive(Debug)]
pub struct Usage(pub String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

/// Trained and written, but not to the tolerance: exit code 3 with `--require-convergence`.
#[derive(Debug)]
pub struct NotConverged(pub String);

impl fmt::Display for NotConverged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotConverged {}

/// Interrupted, with what was learnt so far written: exit code 130.
#[derive(Debug)]
pub struct Interrupted(pub String);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Interrupted {}

/// An error of usage, to return with `?`.
pub fn usage<T>(message: impl Into<String>) -> anyhow::Result<T> {
    Err(Usage(message.into()).into())
}

/// Prints what went wrong, if something did, and gives the exit code.
pub fn code(done: anyhow::Result<()>) -> ExitCode {
    let Err(error) = done else { return ExitCode::SUCCESS };
    if is_broken_pipe(&error) {
        return ExitCode::SUCCESS;
    }
    if let Some(interrupted) = error.downcast_ref::<Interrupted>() {
        talk::line(interrupted);
        return ExitCode::from(130);
    }
    talk::error(&message(&error));
    if error.is::<Usage>() {
        talk::line("\nFor more information, try '--help'.");
        return ExitCode::from(2);
    }
    ExitCode::from(if error.is::<NotConverged>() { 3 } else { 1 })
}

/// The reader of our output has seen enough: that is success.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let broken = |e: &io::Error| e.kind() == io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken))
}

/// The whole chain on one line, leaving out causes whose text their wrapper already gave.
fn message(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}
