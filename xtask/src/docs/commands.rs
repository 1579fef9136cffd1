//! Every `lineal` command that a page shows exists and has the flags that are shown.

use super::page::Page;
use anyhow::{Context, Result, bail};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// Adds a fault for each command or flag in a block of `console`, `sh` or `bash` that the program does not have.
pub(crate) fn check(program: &Path, faults: &mut Vec<String>) -> Result<()> {
    let known = flags(program)?;
    for page in Page::all()? {
        for block in page.blocks() {
            if !matches!(block.info, "console" | "sh" | "bash") {
                continue;
            }
            for (at, shown) in shown(&block.lines, block.info == "console") {
                for fault in shown.split('\n').flat_map(|line| faults_of(line, &known)) {
                    faults.push(format!("{}:{}: {fault}", page.name, block.first + at + 1));
                }
            }
        }
    }
    Ok(())
}

/// Command lines of a block with the number of their first line; those that end in `\` go on.
pub(crate) fn shown(lines: &[&str], prompt: bool) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut goes_on = false;
    for (at, line) in lines.iter().enumerate() {
        let start = if prompt { line.strip_prefix("$ ") } else { Some(*line) };
        let text = if goes_on { Some(*line) } else { start };
        let Some(text) = text else { continue };
        let text = text.trim();
        let (text, more) = match text.strip_suffix('\\') {
            Some(text) => (text.trim(), true),
            None => (text, false),
        };
        match found.last_mut() {
            Some((_, whole)) if goes_on => {
                whole.push(' ');
                whole.push_str(text);
            }
            _ => found.push((at, text.to_string())),
        }
        goes_on = more;
    }
    found
}

fn faults_of(line: &str, known: &BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    let mut faults = Vec::new();
    for command in simple_commands(line) {
        let mut words = command.iter().map(String::as_str);
        match words.next() {
            Some("lineal") => {}
            // cargo run … -- COMMAND
            Some("cargo") if command.iter().any(|w| w == "lineal-cli") => {
                if !words.by_ref().any(|word| word == "--") {
                    continue;
                }
            }
            _ => continue,
        }
        let Some(name) = words.next().filter(|word| !word.starts_with('-')) else { continue };
        // COMMAND and the like stand for any.
        if name.chars().all(|c| c.is_uppercase() || c == '…') {
            continue;
        }
        let Some(flags) = known.get(name) else {
            faults.push(format!("`lineal {name}` is not a command"));
            continue;
        };
        for word in words {
            let flag = word.split('=').next().unwrap_or_default();
            let is_flag =
                flag.starts_with("--") && flag.len() > 2 || flag.len() == 2 && is_short(flag);
            if is_flag && !flags.contains(flag) {
                faults.push(format!("`lineal {name}` has no flag {flag}"));
            }
        }
    }
    faults
}

fn is_short(flag: &str) -> bool {
    flag.starts_with('-') && flag.chars().nth(1).is_some_and(|c| c.is_ascii_alphabetic())
}

/// The commands of a line of shell, each as its words: cut at `|`, `&&`, `;` and redirections, without comments.
fn simple_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = vec![Vec::new()];
    let mut word = String::new();
    let mut in_word = false;
    let mut quote = None;
    let end_word = |word: &mut String, in_word: &mut bool, commands: &mut Vec<Vec<String>>| {
        if *in_word && let Some(command) = commands.last_mut() {
            command.push(std::mem::take(word));
        }
        *in_word = false;
    };
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                in_word = true;
            }
            (None, '#') if !in_word => break,
            (None, c) if c.is_whitespace() => end_word(&mut word, &mut in_word, &mut commands),
            (None, '|' | '&' | ';' | '>' | '<' | '(' | ')') => {
                end_word(&mut word, &mut in_word, &mut commands);
                commands.push(Vec::new());
            }
            (None, c) => {
                word.push(c);
                in_word = true;
            }
        }
    }
    end_word(&mut word, &mut in_word, &mut commands);
    commands.retain(|command| !command.is_empty());
    commands
}

/// The program's commands, each with its flags, as their help shows them.
fn flags(program: &Path) -> Result<BTreeMap<String, BTreeSet<String>>> {
    let top = help(program, &["--help"])?;
    let commands = top.lines().skip_while(|line| *line != "Commands:").skip(1);
    let mut known = BTreeMap::new();
    for line in commands.take_while(|line| !line.trim().is_empty()) {
        let Some(name) = line.strip_prefix("  ").and_then(|l| l.split(' ').next()) else {
            continue;
        };
        if name.is_empty() || name == "help" {
            continue;
        }
        known.insert(name.to_string(), flags_in(&help(program, &[name, "--help"])?));
    }
    if known.is_empty() {
        bail!("`{} --help` lists no commands", program.display());
    }
    Ok(known)
}

/// Flags at the start of a line of help, and aliases in brackets.
fn flags_in(help: &str) -> BTreeSet<String> {
    let mut flags = BTreeSet::from(["--help".to_string(), "-h".to_string()]);
    for line in help.lines().map(str::trim) {
        let listed = line.strip_prefix("[alias").unwrap_or(line);
        if !line.starts_with('-') && listed == line {
            continue;
        }
        let words = listed.split([' ', ',', ']', ':']).filter(|word| !word.is_empty());
        let flag_words = words.skip_while(|word| !word.starts_with('-'));
        flags.extend(flag_words.take_while(|word| word.starts_with('-')).map(str::to_string));
    }
    flags
}

fn help(program: &Path, args: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(args)
        .output()
        .with_context(|| format!("{} could not be started", program.display()))?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> BTreeMap<String, BTreeSet<String>> {
        let help = "Options:\n  -o <MODEL>\n      --dev <FILE>\n          [alias: --validation]\n  -q, --quiet\n";
        BTreeMap::from([("train".to_string(), flags_in(help))])
    }

    #[test]
    fn flags_are_read_from_help() {
        let flags: Vec<String> = known()["train"].iter().cloned().collect();
        assert_eq!(flags, ["--dev", "--help", "--quiet", "--validation", "-h", "-o", "-q"]);
    }

    #[test]
    fn unknown_flags_and_commands_are_found() {
        let faults = |line: &str| faults_of(line, &known());
        assert!(faults("zcat x | lineal train - -o m --dev=0.2 | head -5  # --no").is_empty());
        assert!(faults("lineal train '--no such' 'a # b' -1 > --x").len() == 1);
        assert_eq!(faults("lineal train x --epoch 3"), ["`lineal train` has no flag --epoch"]);
        assert_eq!(faults("lineal fit x"), ["`lineal fit` is not a command"]);
        assert_eq!(
            faults("cargo run -p lineal-cli -- train --x"),
            ["`lineal train` has no flag --x"]
        );
    }

    #[test]
    fn lines_that_go_on_are_one_command() {
        let lines = ["$ lineal train x \\", "    -o m", "output", "$ y"];
        let expected = vec![(0, "lineal train x -o m".to_string()), (3, "y".to_string())];
        assert_eq!(shown(&lines, true), expected);
    }
}
