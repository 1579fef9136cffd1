//! Flags of `explain`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, FromArgMatches};
use lineal::Source;

use super::choice::{at_least_one, choice};
use super::declared::LimitArgs;
use super::read::FileArgs;
use super::running::RunArgs;
use super::{Cli, Command};

const HELP: &str = "\
For each row: the winner, the runner-up, by how much the winner leads, and the features that decided between them. A \
feature's contribution is its value (for columns of tables: its difference from the mean) times the difference of its two weights. Contributions, the bias and `the other features` \
add up to the lead.

The lead is: for joint, ova, and ovo with --pairs scores, the difference of the two scores; for two classes, the score of the only weight \
vector; for ovo by votes or tournament, the score of the binary model for the two classes; for ecoc, the summed answers of the columns in which their codewords differ; for a \
tree, the score in the node where the paths to the two classes part. Votes, codes and --calibrate may choose another winner than these scores; the lead is then \
negative. Labels are explained one by one, against their threshold. A predicted number is explained as the sum of its contributions.

Sequences, trees and rankings: the best output is compared with the best one that differs in this part (another label, another head, no such phrase, the next document).

Keys of --output jsonl:
  rows           row, label, against, lead, decided_by, bias, features, rest, proba
  tag            sequence, token, label, against, lead, proba, against_proba, reasons, rest
  dependency     sentence, word, head, relation, against, lead, proba, against_proba,
                 reasons, rest
  constituency   sentence, phrase, against, lead, proba, reasons, rest
  rank           query, document, rank, score, against, against_rank, lead, reasons, rest
  segment        image, node, label, against, lead, confidence, others, reasons, rest
  declared       example, variable, kind, label, against, lead, alone, without_rules, rules,
                 reasons, rest

Examples:
  lineal explain m.lineal test.csv --rows 1-5
  lineal explain m.lineal test.csv --class sports --top 20     why not sports?
  lineal explain m.lineal test.csv --output jsonl | jq .lead
  lineal explain m.lineal test.csv --html why.html";

/// Show why the winner beat the runner-up, feature by feature, for each row of DATA
#[derive(Args, Clone, Debug)]
#[command(after_help = HELP)]
pub struct ExplainArgs {
    /// A file that `lineal train` wrote
    pub model: PathBuf,

    /// Rows to explain; - is standard input
    pub data: PathBuf,

    /// The data itself, where it is not in a file: what a server was sent.
    #[arg(skip)]
    pub at_hand: Option<Source>,

    /// Features to show for each row, largest contribution first
    #[arg(long, value_name = "N", default_value_t = 10, help_heading = "What to explain")]
    pub top: usize,

    /// Rows to explain, counted from 1: 3, 1-10, or 2,5,20-30 [default: all; --html: the first 100, or 20 sequences, sentences or queries]
    #[arg(long, value_name = "ROWS", help_heading = "What to explain")]
    pub rows: Option<RowList>,

    /// Explain this part of each example, counted from 1: a token (tag), a word's head (dependency), phrases that begin with a word (constituency), a document (rank)
    /// [default: all; --rows are then sequences, sentences or queries]
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = "What to explain")]
    pub token: Option<usize>,

    /// segment: explain this pixel of each image, counted from 0 at the top left [default: the least certain one]
    #[arg(long, value_name = "X,Y", value_parser = pixel, conflicts_with = "token", help_heading = "What to explain")]
    pub pixel: Option<(usize, usize)>,

    /// Compare the winner with this class instead of the runner-up (why not this one?); multilabel: explain this label; rank: compare with document N of the query
    #[arg(long, value_name = "NAME", help_heading = "What to explain")]
    pub class: Option<String>,

    /// Write to this file [default: standard output]
    #[arg(short, value_name = "OUT", help_heading = "Output")]
    pub out: Option<PathBuf>,

    /// Form of the output
    #[arg(long, value_name = "FORM", default_value = "text", help_heading = "Output",
          value_parser = choice::<ExplainOutput>(&[
        ("text", "a few lines per row"),
        ("jsonl", "one object per row, or per part of a structure; the keys are listed below"),
    ]))]
    pub output: ExplainOutput,

    /// The same as --output jsonl
    #[arg(long, help_heading = "Output", conflicts_with = "output")]
    pub json: bool,

    /// Write an HTML page with one bar per feature and, for text, the words that counted highlighted
    #[arg(long, value_name = "FILE.html", help_heading = "Output", conflicts_with_all = ["output", "json", "out"])]
    pub html: Option<PathBuf>,

    #[command(flatten)]
    pub limits: LimitArgs,

    #[command(flatten)]
    pub file: FileArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

impl ExplainArgs {
    /// As if no flag was given.
    pub fn plain() -> anyhow::Result<Self> {
        let matches =
            crate::help::command().try_get_matches_from(["lineal", "explain", "m", "-"])?;
        match Cli::from_arg_matches(&matches)?.command {
            Command::Explain(args) => Ok(args),
            _ => anyhow::bail!("explain is a command"),
        }
    }

    /// What to explain.
    pub fn source(&self) -> Source {
        self.at_hand.clone().unwrap_or_else(|| Source::from(&self.data))
    }
}

/// The form of explanations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainOutput {
    Text,
    Jsonl,
}

impl FromStr for ExplainOutput {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "text" => Ok(ExplainOutput::Text),
            "jsonl" => Ok(ExplainOutput::Jsonl),
            _ => Err(format!("`{s}` is not one of text, jsonl")),
        }
    }
}

/// Rows as they are counted by people, from 1: ranges with both ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowList(Vec<(usize, usize)>);

impl FromStr for RowList {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let number = |text: &str| match text.trim().parse() {
            Ok(0) => Err("rows are counted from 1".to_owned()),
            Ok(row) => Ok(row),
            Err(_) => Err(format!("`{text}` is not a row; say 3, 1-10, or 2,5,20-30")),
        };
        let range = |part: &str| match part.split_once('-') {
            None => number(part).map(|row| (row, row)),
            Some((first, last)) => match (number(first)?, number(last)?) {
                (first, last) if first > last => Err(format!("`{part}` ends before it begins")),
                range => Ok(range),
            },
        };
        s.split(',').map(range).collect::<Result<_, _>>().map(RowList)
    }
}

impl RowList {
    /// From 0, each once, in rising order; the first that is not below `n_rows`, if there is one.
    pub fn below(&self, n_rows: usize) -> Result<Vec<usize>, usize> {
        if let Some(&(_, last)) = self.0.iter().find(|(_, last)| *last > n_rows) {
            return Err(last);
        }
        let mut rows: Vec<usize> = self.0.iter().flat_map(|&(a, b)| a - 1..b).collect();
        rows.sort_unstable();
        rows.dedup();
        Ok(rows)
    }
}

fn pixel(text: &str) -> Result<(usize, usize), String> {
    let wrong = || "must be two numbers, as 12,40".to_owned();
    let (x, y) = text.split_once(',').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse().map_err(|_| wrong());
    Ok((number(x)?, number(y)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_from_one_and_sorted() {
        let list: RowList = "5,2-3,3".parse().unwrap();
        assert_eq!(list.below(5), Ok(vec![1, 2, 4]));
        assert_eq!(list.below(4), Err(5));
        for bad in ["", "0", "3-2", "a", "1-", "-3", "1,,2"] {
            assert!(bad.parse::<RowList>().is_err(), "{bad}");
        }
    }
}
