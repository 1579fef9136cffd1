//! A Markdown page: its text, and which of its lines are code.

use crate::root;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders without pages of ours.
const SKIPPED: &[&str] = &["target", "corpus", "node_modules", "bench/data"];

pub(crate) struct Page {
    /// From the workspace's folder, with `/`.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// Lines between two fences.
pub(crate) struct Block<'p> {
    /// What follows the opening fence: `console`, `sh`, `rust`, …
    pub(crate) info: &'p str,
    /// Number of the first line within the fences, from 0.
    pub(crate) first: usize,
    pub(crate) lines: Vec<&'p str>,
}

impl Page {
    /// Every page of the workspace, by name.
    pub(crate) fn all() -> Result<Vec<Page>> {
        let mut paths = Vec::new();
        collect(&root(), &mut paths)?;
        paths.sort();
        paths.iter().map(|path| Page::open(path)).collect()
    }

    fn open(path: &Path) -> Result<Page> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let name = path.strip_prefix(root()).unwrap_or(path).to_string_lossy().replace('\\', "/");
        Ok(Page { name, text })
    }

    /// The folder that relative links start from.
    pub(crate) fn folder(&self) -> &str {
        self.name.rsplit_once('/').map_or("", |(folder, _)| folder)
    }

    /// Lines outside of code, with their numbers from 0.
    pub(crate) fn prose(&self) -> Vec<(usize, &str)> {
        let mut fence = None;
        // Whether an indented line would be code: not within a paragraph or a list.
        let mut may_indent = true;
        let mut prose = Vec::new();
        for (number, line) in self.text.lines().enumerate() {
            match (fence, fence_of(line)) {
                (None, Some(mark)) => fence = Some(mark),
                (None, None) if may_indent && line.starts_with("    ") => continue,
                (None, None) => prose.push((number, line)),
                (Some(open), Some(mark)) if open == mark => fence = None,
                (Some(_), _) => {}
            }
            may_indent = line.trim().is_empty();
        }
        prose
    }

    pub(crate) fn blocks(&self) -> Vec<Block<'_>> {
        let mut blocks: Vec<Block<'_>> = Vec::new();
        let mut open = None;
        for (number, line) in self.text.lines().enumerate() {
            match (open, fence_of(line)) {
                (None, Some(mark)) => {
                    open = Some(mark);
                    let info = line.trim_start().trim_start_matches(mark).trim();
                    blocks.push(Block { info, first: number + 1, lines: Vec::new() });
                }
                (Some(mark), Some(close)) if mark == close => open = None,
                (Some(_), _) => {
                    if let Some(block) = blocks.last_mut() {
                        block.lines.push(line);
                    }
                }
                (None, None) => {}
            }
        }
        blocks
    }
}

fn fence_of(line: &str) -> Option<char> {
    let line = line.trim_start();
    ['`', '~'].into_iter().find(|mark| line.chars().take_while(|c| c == mark).count() >= 3)
}

fn collect(folder: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            let skipped = name.starts_with('.') || SKIPPED.iter().any(|end| path.ends_with(end));
            if !skipped {
                collect(&path, into)?;
            }
        } else if path.extension().is_some_and(|e| e == "md") {
            into.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_told_from_prose() {
        let text = "a\n```console\n$ b\n```\nc\n    e\n\n    d\n".to_string();
        let page = Page { name: "docs/x.md".into(), text };
        let prose: Vec<&str> = page.prose().into_iter().map(|(_, line)| line).collect();
        assert_eq!(prose, ["a", "c", "    e", ""]);
        let blocks = page.blocks();
        assert_eq!((blocks[0].info, blocks[0].first), ("console", 2));
        assert_eq!(blocks[0].lines, ["$ b"]);
        assert_eq!(page.folder(), "docs");
    }
}
