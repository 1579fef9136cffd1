//! `cargo xtask docs`: checks the documents, and builds the site where mdBook is installed.
//!
//! Always: relative links and anchors of every page, pages that the table of contents does not list, and the flags of every
//! `lineal` command that a page shows. With `--run` the commands of pages that are marked `<!-- transcripts -->` are run and
//! their output is compared; `--update` writes the new output into the page.

mod book;
mod commands;
pub(crate) mod links;
pub(crate) mod page;
mod transcripts;

use crate::{call, root};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// What `cargo xtask docs` was asked for.
#[derive(Default)]
struct Request {
    lineal: Option<PathBuf>,
    run: bool,
    update: bool,
}

pub(crate) const USAGE: &str = "cargo xtask docs [--lineal PROGRAM] [--run | --update]";

pub(crate) fn run(args: &[&str]) -> Result<()> {
    let mut request = Request::default();
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match *arg {
            "--lineal" => request.lineal = args.next().map(PathBuf::from),
            "--run" => request.run = true,
            "--update" => (request.run, request.update) = (true, true),
            other => bail!("{other}? usage: {USAGE}"),
        }
    }
    let program = match request.lineal {
        Some(path) => std::path::absolute(path)?,
        None => build()?,
    };
    let mut faults = Vec::new();
    links::check(&mut faults)?;
    commands::check(&program, &mut faults)?;
    if request.run {
        transcripts::check(&program, request.update, &mut faults)?;
    }
    report(&faults)?;
    book::build()
}

/// Every command that a page shows, and what it prints; for `cargo xtask test`, which has the program at hand.
pub(crate) fn check_commands(program: &Path) -> Result<()> {
    let mut faults = Vec::new();
    commands::check(program, &mut faults)?;
    transcripts::check(program, false, &mut faults)?;
    report(&faults)
}

fn report(faults: &[String]) -> Result<()> {
    for fault in faults {
        eprintln!("docs: {fault}");
    }
    if !faults.is_empty() {
        bail!("{} faults in the documents", faults.len());
    }
    Ok(())
}

fn build() -> Result<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    call(&cargo, &["build", "--release", "--package", "lineal-cli"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root().join("target"), Into::into);
    Ok(target.join("release/lineal"))
}
