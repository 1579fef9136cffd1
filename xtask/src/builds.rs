//! Whether the library compiles with few of its features, and program and library for other machines.

use crate::{call, cargo, root};
use anyhow::{Context, Result};
use std::process::Command;

/// Features of the crate `lineal` that are compiled without the others. Each is in one set, beside those that share the least with it.
const FEATURES: [&str; 6] =
    ["", "train", "tag", "dependency,rank", "constituency,segment", "declared"];

/// Other machines that Lineal is checked for.
const TARGETS: [&str; 2] = ["x86_64-unknown-linux-musl", "aarch64-unknown-linux-gnu"];

/// `cargo check` of each. A target that is not installed is told, and left out.
pub(crate) fn run() -> Result<()> {
    for features in FEATURES {
        check(&["-p", "lineal", "--no-default-features", "--features", features])?;
    }
    // Models of what was left out are refused.
    let test = ["test", "--quiet", "--locked", "-p", "lineal", "--no-default-features"];
    call(&cargo(), &[&test[..], &["--test", "features"]].concat())?;
    let installed = installed()?;
    for target in TARGETS {
        if !installed.lines().any(|line| line == target) {
            eprintln!(
                "xtask: not checked for {target}, which is not installed: rustup target add {target}"
            );
            continue;
        }
        // Without zstd, whose decoder is written in C: a check then needs no compiler of C for that machine.
        check(&["-p", "lineal-cli", "--no-default-features", "--target", target])?;
    }
    Ok(())
}

fn check(args: &[&str]) -> Result<()> {
    call(&cargo(), &[&["check", "--quiet", "--locked"], args].concat())
}

/// The targets whose standard library is there, one per line; none without rustup.
fn installed() -> Result<String> {
    let listed =
        Command::new("rustup").args(["target", "list", "--installed"]).current_dir(root()).output();
    match listed {
        Ok(listed) => String::from_utf8(listed.stdout).context("what rustup lists is not text"),
        Err(_) => Ok(String::new()),
    }
}
