//! Developer tasks: `cargo xtask test` passes all tests, `cargo xtask tidy` checks what the compiler does not, `cargo xtask builds`
//! checks that the library compiles with few of its features and for other machines, `cargo xtask docs` checks the documents and
//! builds the site, `cargo xtask page` builds the page of the server, `cargo xtask wheel` builds the Python package, `cargo xtask bench` measures flat models beside their peers, or counts instructions, `cargo xtask soak` runs the adversaries of `fuzz` for as long as asked.

mod builds;
mod dependencies;
mod docs;
mod page;
mod release;
mod soak;
mod test;
mod tidy;

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
usage: cargo xtask test [--no-peers] [--fuzz-seconds S]
       cargo xtask tidy
       cargo xtask wheel [--out DIR]
       cargo xtask builds
       cargo xtask page [--check]
       cargo xtask docs [--lineal PROGRAM] [--run | --update]
       cargo xtask bench [--set A,B] [--loss L,…] [--system P,…] [--instructions [--update]] [flags of bench/grid.py]
       cargo xtask soak [--hours H | --minutes M] [--only inputs|certificates|faults]";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let done = match args.as_slice() {
        ["test", rest @ ..] => test::Tests::parse(rest).and_then(|tests| tests.run()),
        ["soak", rest @ ..] => soak::Soak::parse(rest).and_then(|soak| soak.run()),
        ["tidy"] => tidy::run(),
        ["wheel", rest @ ..] => call("python3", &[&["python/wheel.py", "build"], rest].concat()),
        ["bench", "--instructions", rest @ ..] => {
            call("python3", &[&["bench/instructions.py"], rest].concat())
        }
        ["bench", rest @ ..] => call("python3", &[&["bench/grid.py"], rest].concat()),
        ["builds"] => builds::run(),
        ["page", rest @ ..] => page::run(rest),
        ["docs", rest @ ..] => docs::run(rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("xtask: {why:#}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The cargo that runs this.
fn cargo() -> String {
    std::env::var("CARGO").unwrap_or_else(|_| "cargo".into())
}

/// Runs a program in the workspace's folder and fails if it does.
fn call(program: &str, args: &[&str]) -> Result<()> {
    eprintln!("$ {program} {}", args.join(" "));
    let status = Command::new(program)
        .args(args)
        .current_dir(root())
        .status()
        .with_context(|| format!("{program} could not be started; is it installed?"))?;
    if !status.success() {
        bail!("`{program} {}` failed", args.join(" "));
    }
    Ok(())
}
