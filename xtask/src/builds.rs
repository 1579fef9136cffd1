//! Whether the library compiles with few of its features, and program and library for other machines and with the oldest Rust that is promised.

use crate::{call, cargo, root};
use anyhow::{Context, Result};
use std::fs;
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
    with_oldest_rust()
}

/// The program with the Rust that `Cargo.toml` calls the oldest, if it is installed.
fn with_oldest_rust() -> Result<()> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let oldest = rust_version(&manifest).context("Cargo.toml has no rust-version")?;
    let toolchains = rustup(&["toolchain", "list"])?;
    let Some(toolchain) = toolchain(&toolchains, oldest) else {
        eprintln!(
            "xtask: not checked with Rust {oldest}, which is not installed: rustup toolchain install {oldest}"
        );
        return Ok(());
    };
    let check = ["check", "--quiet", "--locked", "-p", "lineal-cli"];
    call("rustup", &[&["run", toolchain, "cargo"], &check[..]].concat())
}

/// The first of the listed toolchains that is of a version: `1.90-…` or `1.90.1-…` for 1.90.
fn toolchain<'a>(listed: &'a str, version: &str) -> Option<&'a str> {
    let mut names = listed.lines().filter_map(|line| line.split_whitespace().next());
    let is_it =
        |name: &&str| name.strip_prefix(version).is_some_and(|rest| rest.starts_with(['-', '.']));
    names.find(is_it)
}

/// What the workspace says of the oldest Rust.
fn rust_version(manifest: &str) -> Option<&str> {
    let line = manifest.lines().find(|line| line.starts_with("rust-version"))?;
    line.split('"').nth(1)
}

fn check(args: &[&str]) -> Result<()> {
    call(&cargo(), &[&["check", "--quiet", "--locked"], args].concat())
}

/// The targets whose standard library is there, one per line; none without rustup.
fn installed() -> Result<String> {
    rustup(&["target", "list", "--installed"])
}

/// What rustup lists; nothing without rustup.
fn rustup(args: &[&str]) -> Result<String> {
    match Command::new("rustup").args(args).current_dir(root()).output() {
        Ok(listed) => String::from_utf8(listed.stdout).context("what rustup lists is not text"),
        Err(_) => Ok(String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_rust_is_in_the_manifest() {
        assert_eq!(rust_version("[workspace.package]\nrust-version = \"1.90\"\n"), Some("1.90"));
        assert_eq!(rust_version("edition = \"2024\"\n"), None);
    }

    #[test]
    fn a_toolchain_has_the_name_that_it_was_installed_by() {
        let listed = "stable-x86_64 (default)\n1.9-x86_64\n1.90.0-x86_64 (active)\n";
        assert_eq!(toolchain(listed, "1.90"), Some("1.90.0-x86_64"));
        assert_eq!(toolchain(listed, "1.95"), None);
        assert_eq!(toolchain("no installed toolchains\n", "1.90"), None);
    }
}
