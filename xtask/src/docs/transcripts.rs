//! Runs what pages show and compares the output.
//!
//! A page takes part with a line `<!-- transcripts -->`, or `<!-- transcripts: FOLDER -->` to start with a copy of the files of
//! that folder. Its blocks of `console` are run in order in one temporary folder; `<!-- run: COMMAND -->` runs something
//! that is not shown. A line `…` stands for any lines, `…` within a line for anything, and times may differ.

use super::commands::shown;
use super::page::Page;
use crate::root;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MARK: &str = "<!-- transcripts";
const HIDDEN: &str = "<!-- run: ";

/// Adds a fault for each command whose output differs; with `update` the page gets the new output.
pub(crate) fn check(program: &Path, update: bool, faults: &mut Vec<String>) -> Result<()> {
    for page in Page::all()? {
        let Some(mark) = page.text.lines().find_map(|line| line.strip_prefix(MARK)) else {
            continue;
        };
        let folder = mark.trim_end_matches("-->").trim_start_matches(':').trim();
        let files = (!folder.is_empty()).then(|| root().join(page.folder()).join(folder));
        let place = Workplace::new(program, files.as_deref())?;
        let steps = steps(&page);
        let mut lines: Vec<String> = page.text.lines().map(str::to_string).collect();
        let mut edits = Vec::new();
        for step in &steps {
            let actual = place.run(&step.command)?;
            let Some((from, to)) = step.output else { continue };
            let expected: Vec<&str> = page.text.lines().skip(from).take(to - from).collect();
            let actual: Vec<&str> = actual.trim_end().lines().map(str::trim_end).collect();
            if same(&expected, &actual) {
                continue;
            }
            match renewed(&expected, &actual).filter(|_| update) {
                Some(output) => edits.push((from, to, output)),
                None => faults.push(format!(
                    "{}:{from}: `{}` now prints\n    {}",
                    page.name,
                    step.command,
                    actual.join("\n    ")
                )),
            }
        }
        for (from, to, output) in edits.into_iter().rev() {
            lines.splice(from..to, output);
        }
        if update {
            let text = lines.join("\n") + "\n";
            if text != page.text {
                fs::write(root().join(&page.name), text)?;
                eprintln!("updated {}", page.name);
            }
        }
    }
    Ok(())
}

/// A command, and the lines of the page that show its output.
struct Step {
    command: String,
    output: Option<(usize, usize)>,
}

fn steps(page: &Page) -> Vec<Step> {
    let mut steps: Vec<(usize, Step)> = Vec::new();
    for (number, line) in page.prose() {
        if let Some(command) = line.strip_prefix(HIDDEN) {
            let command = command.trim_end().trim_end_matches("-->").trim().to_string();
            steps.push((number, Step { command, output: None }));
        }
    }
    for block in page.blocks().into_iter().filter(|block| block.info == "console") {
        let commands = shown(&block.lines, true);
        for (index, (at, command)) in commands.iter().enumerate() {
            let mut from = *at;
            while block.lines[from].trim_end().ends_with('\\') && from + 1 < block.lines.len() {
                from += 1;
            }
            from += 1;
            let mut to = commands.get(index + 1).map_or(block.lines.len(), |(next, _)| *next);
            while to > from && block.lines[to - 1].trim().is_empty() {
                to -= 1;
            }
            let output = Some((block.first + from, block.first + to));
            steps.push((block.first + at, Step { command: command.clone(), output }));
        }
    }
    steps.sort_by_key(|(number, _)| *number);
    steps.into_iter().map(|(_, step)| step).collect()
}

/// A temporary folder in which the commands of one page run, removed at the end.
struct Workplace {
    folder: PathBuf,
    path: String,
}

impl Workplace {
    fn new(program: &Path, files: Option<&Path>) -> Result<Workplace> {
        let base = std::env::temp_dir().join(format!("lineal-docs-{}", std::process::id()));
        if base.exists() {
            fs::remove_dir_all(&base)?;
        }
        let folder = base.join("work");
        let bin = base.join("bin");
        fs::create_dir_all(&folder)?;
        fs::create_dir_all(&bin)?;
        fs::copy(program, bin.join("lineal")).with_context(|| program.display().to_string())?;
        for entry in files.map(fs::read_dir).transpose()?.into_iter().flatten() {
            let path = entry?.path();
            if path.is_file() {
                fs::copy(&path, folder.join(path.file_name().unwrap_or_default()))?;
            }
        }
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
        Ok(Workplace { folder, path })
    }

    fn run(&self, command: &str) -> Result<String> {
        let output = Command::new("bash")
            .args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env("NO_COLOR", "1")
            .output()
            .context("bash could not be started")?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        if let Some(base) = self.folder.parent() {
            // What stays behind is in the system's temporary folder.
            let _ = fs::remove_dir_all(base);
        }
    }
}

/// The output to show in place of the old one; a line `…` keeps as many lines before and after it as the page had.
fn renewed(expected: &[&str], actual: &[&str]) -> Option<Vec<String>> {
    let owned = |lines: &[&str]| lines.iter().map(|line| line.to_string()).collect::<Vec<_>>();
    let cuts: Vec<usize> = (0..expected.len()).filter(|&at| expected[at] == "…").collect();
    match cuts.as_slice() {
        [] => Some(owned(actual)),
        [cut] => {
            let after = expected.len() - cut - 1;
            let rest = actual.len().checked_sub(after).filter(|rest| rest >= cut)?;
            Some([owned(&actual[..*cut]), owned(&["…"]), owned(&actual[rest..])].concat())
        }
        _ => None,
    }
}

fn same(expected: &[&str], actual: &[&str]) -> bool {
    match expected.split_first() {
        None => actual.is_empty(),
        Some((&"…", rest)) => (0..=actual.len()).any(|skip| same(rest, &actual[skip..])),
        Some((line, rest)) => actual.split_first().is_some_and(|(found, others)| {
            matches(&rounded(&untimed(line)), &rounded(&untimed(found))) && same(rest, others)
        }),
    }
}

/// Whether a line fits a pattern in which `…` is anything.
fn matches(pattern: &str, line: &str) -> bool {
    let mut pieces = pattern.split('…');
    let Some(mut rest) = pieces.next().and_then(|first| line.strip_prefix(first)) else {
        return false;
    };
    if !pattern.contains('…') {
        return rest.is_empty();
    }
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty() || pattern.ends_with('…')
}

/// A line with each number before a unit of time replaced.
fn untimed(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let timed = |at: usize| {
        let unit = words.get(at + 1).map_or("", |unit| unit.trim_end_matches([',', ';', '.', ')']));
        matches!(unit, "ms" | "s" | "µs" | "min") && words[at].parse::<f64>().is_ok()
    };
    let shown: Vec<&str> =
        (0..words.len()).map(|at| if timed(at) { "TIME" } else { words[at] }).collect();
    shown.join(" ")
}

/// Digits behind the decimal point that are compared: the last ones of a double follow from the order of sums.
const DECIMALS: usize = 9;

/// A line with all decimal fractions cut.
fn rounded(line: &str) -> String {
    let (mut short, mut decimals) = (String::new(), None);
    for c in line.chars() {
        decimals = match decimals {
            Some(n) if c.is_ascii_digit() => Some(n + 1),
            _ => (c == '.').then_some(0),
        };
        if decimals.is_none_or(|n| n <= DECIMALS) {
            short.push(c);
        }
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_digits_may_differ() {
        assert!(same(&["no,0.6899345913545706,1"], &["no,0.6899345913545704,1"]));
        assert!(!same(&["no,0.6899345913545706,1"], &["no,0.6899345923545706,1"]));
        assert!(!same(&["1.5 of 12345678901234"], &["1.5 of 12345678901235"]));
    }

    #[test]
    fn ellipses_and_times_may_differ() {
        assert!(same(&["a", "…", "wrote m in 3 ms"], &["a", "b", "c", "wrote m in 12.5 ms"]));
        assert!(same(&["clay, …"], &["clay, …"]));
        assert!(same(&["gap … of 3"], &["gap 1e-3 of 3"]));
        assert!(!same(&["a", "b"], &["a"]));
        assert!(!same(&["accuracy 0.91"], &["accuracy 0.92"]));
        assert!(!same(&[], &["a"]));
    }

    #[test]
    fn new_output_keeps_the_cut() {
        let renewed = |expected: &[&str]| renewed(expected, &["1", "2", "3", "4"]);
        assert_eq!(renewed(&["a", "…", "c"]).unwrap(), ["1", "…", "4"]);
        assert_eq!(renewed(&["a"]).unwrap(), ["1", "2", "3", "4"]);
        assert_eq!(renewed(&["…", "a", "…"]), None);
    }

    #[test]
    fn outputs_are_the_lines_after_a_command() {
        let text = "<!-- run: x -->\n```console\n$ a \\\n  b\nout\n\n$ c\n```\n";
        let page = Page { name: "p.md".into(), text: text.into() };
        let steps = steps(&page);
        let shown: Vec<_> = steps.iter().map(|s| (s.command.as_str(), s.output)).collect();
        assert_eq!(shown, [("x", None), ("a b", Some((4, 5))), ("c", Some((7, 7)))]);
    }
}
