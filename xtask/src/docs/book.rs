//! The site, by mdBook: the pages as they stand, in a tree like that of the workspace, so that links between them hold.

use super::links::{SUMMARY, links};
use super::page::Page;
use crate::{call, root};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The version that the site is tried with.
const VERSION: &str = "0.5.4";

/// Where `book.toml` looks for the pages.
const SOURCES: &str = "target/book/src";

pub(crate) fn build() -> Result<()> {
    let found = Command::new("mdbook").arg("--version").output().is_ok();
    if !found {
        eprintln!(
            "the documents are in order; for the site: cargo install mdbook --locked --version {VERSION}"
        );
        return Ok(());
    }
    stage()?;
    call("mdbook", &["build"])?;
    eprintln!("the site is target/book/html/index.html");
    Ok(())
}

/// Copies the pages and what they show to where mdBook reads them.
fn stage() -> Result<()> {
    let sources = root().join(SOURCES);
    if sources.exists() {
        fs::remove_dir_all(&sources)?;
    }
    fs::create_dir_all(&sources)?;
    for page in Page::all()? {
        if page.name == SUMMARY {
            fs::write(sources.join("SUMMARY.md"), summary(&page.text))?;
            continue;
        }
        copy(&page.name, &sources)?;
        for (_, target) in links(&page) {
            let path = target.split('#').next().unwrap_or_default();
            let full = root().join(page.folder()).join(path);
            if path.is_empty() || path.ends_with(".md") || !full.is_file() {
                continue;
            }
            let full = full.canonicalize()?;
            let name =
                full.strip_prefix(root().canonicalize()?).context("a link leaves the project")?;
            copy(&name.to_string_lossy(), &sources)?;
        }
    }
    Ok(())
}

fn copy(name: &str, sources: &Path) -> Result<()> {
    let to = sources.join(name);
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(root().join(name), to).with_context(|| name.to_string())?;
    Ok(())
}

/// The table of contents as seen from the workspace's folder.
fn summary(text: &str) -> String {
    text.replace("](", "](docs/").replace("](docs/../", "](")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_contents_moves_up() {
        assert_eq!(summary("- [a](b.md) [c](../d.md)"), "- [a](docs/b.md) [c](d.md)");
    }
}
