//! What the compiler does not check: who depends on whom, where `unsafe` may stand, that documents are there and point to real
//! files and headings.

use crate::docs::links;
use crate::docs::page::Page;
use crate::{cargo, dependencies, release, root};
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Each crate with the crates of the workspace that it may use. Anything else is an error.
const EDGES: &[(&str, &[&str])] = &[
    ("lineal-linalg", &[]),
    ("lineal-data", &["lineal-linalg", "lineal-parquet"]),
    ("lineal-parquet", &[]),
    ("lineal-model", &["lineal-linalg"]),
    ("lineal-solver", &["lineal-linalg"]),
    ("lineal-loss", &["lineal-linalg", "lineal-model"]),
    ("lineal-metrics", &["lineal-model"]),
    ("lineal-reduce", &["lineal-calibrate", "lineal-linalg"]),
    ("lineal-calibrate", &["lineal-linalg"]),
    ("lineal-features", &["lineal-linalg"]),
    ("lineal-chain", &["lineal-linalg", "lineal-model"]),
    ("lineal-dependencies", &["lineal-linalg", "lineal-model"]),
    ("lineal-constituents", &["lineal-linalg", "lineal-model"]),
    ("lineal-graph", &["lineal-linalg", "lineal-model"]),
    ("lineal-ranking", &["lineal-linalg", "lineal-model"]),
    ("lineal-declared", &["lineal-linalg", "lineal-model"]),
    ("lineal-erm", &["lineal-linalg", "lineal-loss", "lineal-model", "lineal-solver"]),
    (
        "lineal",
        &[
            "lineal-calibrate",
            "lineal-chain",
            "lineal-constituents",
            "lineal-data",
            "lineal-declared",
            "lineal-dependencies",
            "lineal-erm",
            "lineal-features",
            "lineal-graph",
            "lineal-linalg",
            "lineal-loss",
            "lineal-metrics",
            "lineal-model",
            "lineal-ranking",
            "lineal-reduce",
            "lineal-solver",
        ],
    ),
    ("lineal-cli", &["lineal", "lineal-server"]),
    ("lineal-server", &[]),
    ("lineal-steps", &["lineal-linalg"]),
    ("lineal-python", &["lineal", "lineal-steps"]),
    ("lineal-fuzz", &["lineal", "lineal-model", "lineal-parquet", "lineal-server"]),
    ("xtask", &[]),
];

const DOCUMENTS: &[&str] = &[
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "SECURITY.md",
    "bench/README.md",
    "fuzz/README.md",
    "docs/add-a/loss.md",
    "docs/add-a/space.md",
    "docs/add-a/solver.md",
    "docs/add-a/structure.md",
    "docs/add-a/format.md",
    "docs/README.md",
    "docs/SUMMARY.md",
];

/// The two commands that the README promises.
const COMMANDS: &[&str] = &["cargo run --release -p lineal-cli -- demo", "cargo xtask test"];

pub(crate) fn run() -> Result<()> {
    let mut faults = Vec::new();
    check_edges(&mut faults)?;
    dependencies::check(&mut faults)?;
    check_documents(&mut faults)?;
    links::check(&mut faults)?;
    check_sources(&mut faults)?;
    for fault in &faults {
        eprintln!("tidy: {fault}");
    }
    if !faults.is_empty() {
        bail!("{} things to tidy", faults.len());
    }
    Ok(())
}

fn check_edges(faults: &mut Vec<String>) -> Result<()> {
    let output = Command::new(cargo())
        .args(["metadata", "--no-deps", "--format-version", "1", "--offline"])
        .current_dir(root())
        .output()?;
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let ours: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    release::check(packages, faults);
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        let Some((_, allowed)) = EDGES.iter().find(|(crate_name, _)| *crate_name == name) else {
            faults.push(format!("crate {name} is not in the table of edges (xtask/src/tidy.rs)"));
            continue;
        };
        for dependency in package["dependencies"].as_array().into_iter().flatten() {
            let to = dependency["name"].as_str().unwrap_or_default();
            // Tests may look further than the code they test.
            if dependency["kind"].is_null() && ours.contains(to) && !allowed.contains(&to) {
                faults.push(format!("{name} must not depend on {to}"));
            }
        }
    }
    Ok(())
}

fn check_documents(faults: &mut Vec<String>) -> Result<()> {
    let root = root();
    for name in DOCUMENTS.iter().filter(|name| !root.join(name).exists()) {
        faults.push(format!("{name} is missing"));
    }
    for page in Page::all()? {
        for path in paths_in(&page.text) {
            if !root.join(&path).exists() {
                faults.push(format!("{} points to {path}, which does not exist", page.name));
            }
        }
    }
    let readme = fs::read_to_string(root.join("README.md")).unwrap_or_default();
    for command in COMMANDS {
        if !readme.contains(command) {
            faults.push(format!("README.md does not have the command `{command}`"));
        }
    }
    Ok(())
}

/// Words in backquotes that look like paths into the tree.
fn paths_in(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.starts_with("crates/") || word.starts_with("testdata/"))
        .map(|word| word.split([':', '#']).next().unwrap_or_default().to_string())
        .filter(|word| !word.contains(['{', '*', '<', ' ', '…']) && !word.contains("yours"))
        .collect()
}

fn check_sources(faults: &mut Vec<String>) -> Result<()> {
    let root = root();
    let mut folders = Vec::new();
    for parent in ["crates", "crates/structures"] {
        for entry in fs::read_dir(root.join(parent))? {
            folders.push(entry?.path());
        }
    }
    for folder in folders.into_iter().filter(|folder| folder.join("Cargo.toml").exists()) {
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut sources = Vec::new();
        collect(&folder.join("src"), &mut sources)?;
        for path in sources {
            let text = fs::read_to_string(&path)?;
            let shown = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
            if !text.starts_with("//!") {
                faults.push(format!("{shown} does not open with what it is for (//!)"));
            }
            let unsafe_code =
                text.lines().any(|l| !l.trim_start().starts_with("//") && l.contains("unsafe "));
            if unsafe_code && name != "linalg" {
                faults.push(format!("{shown}: unsafe belongs into crates/linalg"));
            }
            if name != "cli" {
                let flags = flags_in(&text).into_iter();
                faults.extend(flags.map(|(n, flag)| {
                    format!("{shown}:{n}: {flag} is a flag; the library names fields, and crates/cli/src/fields.rs has their flags")
                }));
            }
            // The examples of the extension module are Python's.
            if path.ends_with("src/lib.rs") && name != "python" && !text.contains("//! ```") {
                faults.push(format!("{shown} has no runnable example"));
            }
        }
    }
    Ok(())
}

/// Flags of the program in code that is not a comment, with their lines; not those of commands that are named whole.
fn flags_in(text: &str) -> Vec<(usize, String)> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '-';
    let mut found = Vec::new();
    for (n, line) in (1..).zip(text.lines()) {
        if line.trim_start().starts_with("//") {
            continue;
        }
        for (at, _) in line.match_indices("--") {
            let name: String = line[at + 2..].chars().take_while(|&c| is_of_name(c)).collect();
            let is_inside = line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '-');
            // A whole command of the program may be named.
            let is_of_command = line[..at].contains("`lineal ");
            if !is_inside && !is_of_command && name.starts_with(|c: char| c.is_ascii_lowercase()) {
                found.push((n, format!("--{name}")));
            }
        }
    }
    found
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_found_in_backquotes() {
        let text = "see `crates/loss/src/huber.rs:10` and `crates/{a,b}` and crates/no, `x = 1`";
        assert_eq!(paths_in(text), ["crates/loss/src/huber.rs"]);
    }

    #[test]
    fn flags_are_found_outside_comments() {
        let text = "// see --label\nlet why = \"add --task rank\";\nlet dash = \"a--b\";\n";
        assert_eq!(flags_in(text), [(2, "--task".to_owned())]);
    }

    #[test]
    fn every_edge_leads_to_a_crate_of_the_table() {
        let known: BTreeSet<&str> = EDGES.iter().map(|(name, _)| *name).collect();
        assert!(EDGES.iter().flat_map(|(_, to)| *to).all(|to| known.contains(to)));
    }
}
