//! `cargo xtask page`: builds the page of `lineal serve` from `page/` into `crates/server/dist`, which is committed, so that nobody else needs Node. With `--check` it is built beside, and compared.

use crate::{call, root};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

const BUILT: &str = "crates/server/dist";

pub(crate) fn run(args: &[&str]) -> Result<()> {
    match args {
        [] => build(BUILT),
        ["--check"] => check(),
        other => bail!("{}? usage: cargo xtask page [--check]", other.join(" ")),
    }
}

/// The same where there is Node; where there is none, it is said.
pub(crate) fn check_if_possible() -> Result<()> {
    match Command::new("npm").arg("--version").output() {
        Ok(found) if found.status.success() => check(),
        _ => {
            eprintln!(
                "xtask: there is no npm, so it is not checked that {BUILT} is built from page/"
            );
            Ok(())
        }
    }
}

fn build(into: &str) -> Result<()> {
    call("npm", &["--prefix", "page", "ci", "--no-audit", "--no-fund", "--silent"])?;
    let into = root().join(into).display().to_string();
    call(
        "npm",
        &[
            "--prefix",
            "page",
            "run",
            "--silent",
            "build",
            "--",
            "--outDir",
            &into,
            "--logLevel",
            "warn",
        ],
    )
}

fn check() -> Result<()> {
    let beside = "target/page-check";
    build(beside)?;
    let differ = differences(&root().join(BUILT), &root().join(beside))?;
    match differ.is_empty() {
        true => Ok(()),
        false => bail!(
            "{BUILT} is not what page/ builds ({}); run `cargo xtask page`, and commit",
            differ.join(", ")
        ),
    }
}

/// Names of files that one folder has and the other has not, or that differ.
fn differences(a: &Path, b: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for folder in [a, b] {
        for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    names.dedup();
    let read = |folder: &Path, name: &str| fs::read(folder.join(name)).ok();
    Ok(names.into_iter().filter(|name| read(a, name) != read(b, name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_differ_by_bytes_and_by_names() {
        let folder = std::env::temp_dir().join(format!("lineal-xtask-page-{}", std::process::id()));
        let (a, b) = (folder.join("a"), folder.join("b"));
        for (folder, files) in [(&a, ["same", "other"]), (&b, ["same", "more"])] {
            fs::create_dir_all(folder).unwrap();
            files.iter().for_each(|name| fs::write(folder.join(name), "x").unwrap());
        }
        assert_eq!(differences(&a, &b).unwrap(), ["more", "other"]);
        fs::write(b.join("same"), "y").unwrap();
        assert_eq!(differences(&a, &b).unwrap(), ["more", "other", "same"]);
        fs::remove_dir_all(folder).unwrap();
    }
}
