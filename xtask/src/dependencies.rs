//! Dependencies, checked without a network: licences, sources, versions that are there twice, and that `SECURITY.md` says why each is trusted.

use crate::{cargo, root};
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

/// Licences that may be linked with a program under MIT or Apache-2.0. A dependency needs one of those that it offers.
const LICENCES: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates that are there in two versions that do not fit each other, because dependencies of ours have not yet agreed.
const TWICE: &[&str] = &["bitflags", "getrandom", "miniz_oxide", "windows-sys"];

/// Where every crate comes from.
const SOURCE: &str = "registry+https://github.com/rust-lang/crates.io-index";

pub(crate) fn check(faults: &mut Vec<String>) -> Result<()> {
    let output = Command::new(cargo())
        .args(["metadata", "--format-version", "1", "--offline", "--locked"])
        .current_dir(root())
        .output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout).with_context(|| {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        format!("cargo metadata printed no JSON; run `cargo fetch --locked` first: {said}")
    })?;
    let security = fs::read_to_string(root().join("SECURITY.md")).unwrap_or_default();
    let packages = metadata["packages"].as_array().context("no packages")?;
    let mut versions: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for package in packages {
        let name = package["name"].as_str().unwrap_or_default();
        if package["source"].is_null() {
            // Ours. What it names itself is explained to users.
            for dependency in package["dependencies"].as_array().into_iter().flatten() {
                let to = dependency["name"].as_str().unwrap_or_default();
                if dependency["path"].is_null() && !security.contains(&format!("| `{to}` |")) {
                    faults.push(format!(
                        "SECURITY.md does not say why `{to}` is trusted ({name} uses it)"
                    ));
                }
            }
            continue;
        }
        if package["source"] != SOURCE {
            faults.push(format!("{name} comes from {} and not from crates.io", package["source"]));
        }
        let licence = package["license"].as_str().unwrap_or_default();
        if !is_allowed(licence) {
            faults.push(format!("{name} has the licence `{licence}`, which is not in the list (xtask/src/dependencies.rs)"));
        }
        versions
            .entry(name)
            .or_default()
            .insert(line(package["version"].as_str().unwrap_or_default()));
    }
    for (name, lines) in &versions {
        if lines.len() > 1 && !TWICE.contains(name) {
            let lines = lines.iter().cloned().collect::<Vec<_>>().join(" and ");
            faults
                .push(format!("{name} is there in versions {lines}, which do not fit each other"));
        }
    }
    for name in TWICE {
        if versions.get(name).is_none_or(|lines| lines.len() < 2) {
            faults
                .push(format!("{name} is there once and need not be listed as being there twice"));
        }
    }
    Ok(())
}

/// Versions that fit each other have the same first number that is not 0.
fn line(version: &str) -> String {
    let mut numbers = version.split('.');
    match (numbers.next(), numbers.next()) {
        (Some("0"), Some(minor)) => format!("0.{minor}"),
        (Some(major), _) => major.to_owned(),
        _ => String::new(),
    }
}

/// Whether a choice of licences has one that is allowed: `MIT OR (Apache-2.0 AND ISC)`. `/` is an old way to write `OR`.
fn is_allowed(licence: &str) -> bool {
    let licence = licence.replace('/', " OR ");
    let licence = licence.trim();
    if let Some(parts) = split(licence, " OR ") {
        return parts.into_iter().any(is_allowed);
    }
    if let Some(parts) = split(licence, " AND ") {
        return parts.into_iter().all(is_allowed);
    }
    match licence.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        Some(inner) => is_allowed(inner),
        None => LICENCES.contains(&licence),
    }
}

/// The parts between words that stand in no parentheses; `None` if there is one part.
fn split<'t>(text: &'t str, word: &str) -> Option<Vec<&'t str>> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ if depth == 0 && text[at..].starts_with(word) => {
                parts.push(&text[start..at]);
                start = at + word.len();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    (parts.len() > 1).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_the_licences_offered_must_be_allowed() {
        for good in ["MIT", "GPL-3.0 OR MIT", "(MIT OR GPL-2.0) AND Zlib", "MIT/Apache-2.0"] {
            assert!(is_allowed(good), "{good}");
        }
        for bad in ["", "GPL-3.0", "MIT AND GPL-3.0", "(MIT AND GPL-2.0) OR GPL-3.0"] {
            assert!(!is_allowed(bad), "{bad}");
        }
    }

    #[test]
    fn versions_that_fit_are_one_line() {
        assert_eq!(
            (line("1.2.3"), line("0.10.2"), line("0.10.9")),
            ("1".into(), "0.10".into(), "0.10".into())
        );
    }
}
