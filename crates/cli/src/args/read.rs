//! Flags about data files.

use std::path::PathBuf;

use clap::Args;
use lineal::{Format, ReadOptions, TargetKind};

use super::choice::choice;
use super::text::TextArgs;

const HEADING: &str = "Data";

/// How files are read, in every command that reads some.
#[derive(Args, Clone, Debug)]
pub struct FileArgs {
    /// Format of the data, if the file's name does not show it
    #[arg(long, value_name = "F", help_heading = HEADING, value_parser = choice::<Format>(&[
        ("libsvm", "label index:value …, indices from 1 (also: svmlight)"),
        ("svmlight", "the same"),
        ("csv", "comma-separated, with a header row"),
        ("tsv", "tab-separated, with a header row"),
        ("jsonl", "one JSON object per line"),
        ("fasttext", "__label__NAME … text, one per line"),
        ("vw", "Vowpal Wabbit: label importance|namespace feature:value …"),
        ("idx", "images of bytes, the format of MNIST"),
        ("conll", "tag: one line of columns per token, a blank line between sequences"),
        ("conllu", "tag, dependency: the ten columns of Universal Dependencies"),
        ("crfsuite", "tag: label<tab>attribute:value…"),
        ("brackets", "constituency: Penn brackets"),
        ("sentences", "constituency: one sentence per line; tag, for models of texts with spans: one text per line"),
        ("letor", "rank: grade qid:N index:value … (also: svmrank)"),
        ("svmrank", "the same"),
    ]), hide_possible_values = true)]
    #[arg(
        long_help = "Format of the data, if the file's name does not show it: libsvm (or svmlight), csv, tsv, \
        jsonl, fasttext, vw, idx; with --task tag conll, conllu, crfsuite, jsonl (sentences: plain texts to predict); with --task dependency conllu; with --task constituency brackets, sentences; with \
        --task rank letor (or svmrank), csv, tsv, jsonl. Names that tell: .svm .libsvm .csv .tsv .jsonl .ndjson .parquet \
        .ft .fasttext .vw .idx -ubyte .conll .conllu .crfsuite .mrg .ptb .penn .brackets .letor, with or without .gz or .zst"
    )]
    pub format: Option<Format>,

    /// Column to predict [default: the one named label, class, target or y]
    ///
    /// Defaults of other tasks: multilabel, also labels; rank, also grade or relevance; tag, the last one, by number from 0, or by name in conllu (upos) and jsonl (labels).
    #[arg(long, value_name = "COL", help_heading = HEADING)]
    pub label: Option<String>,

    /// What separates the labels in a cell, with --task multilabel [default: ,]
    #[arg(long, value_name = "C", help_heading = HEADING)]
    pub label_separator: Option<char>,

    /// Column that says how much each row counts (LIBSVM: `label|weight`)
    #[arg(long, value_name = "COL", help_heading = HEADING)]
    pub weight: Option<String>,

    /// The first row of a CSV or TSV file is data; columns are then named 1, 2, … [default: recognised from the first rows]
    #[arg(long, help_heading = HEADING)]
    pub no_header: bool,

    /// The first row of a CSV or TSV file names the columns, even if it looks like data
    #[arg(long, help_heading = HEADING, conflicts_with = "no_header")]
    pub header: bool,

    /// What separates the cells of a CSV file: a character, tab, or spaces (any number of them) [default: recognised from the first rows]
    #[arg(long, value_name = "CHAR", help_heading = HEADING, value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// Character encoding, if not UTF-8: latin1, windows-1252, utf-16, shift_jis, …
    #[arg(long, value_name = "NAME", help_heading = HEADING, value_parser = lineal::data::Encoding::named)]
    pub encoding: Option<lineal::data::Encoding>,

    /// Refuse what is otherwise repaired with a warning: bytes of text that are not UTF-8 (read as �), missing numbers (read as the mean), two columns with one name
    #[arg(long, help_heading = HEADING)]
    pub strict: bool,

    /// segment: refuse images with more pixels; a million pixels take about 0.7 GB
    #[arg(long, value_name = "N", default_value_t = 8_000_000, help_heading = HEADING)]
    pub max_pixels: usize,

    /// Labels of an IDX file of images [default: the file with the matching name]
    #[arg(long, value_name = "FILE", help_heading = HEADING)]
    pub labels: Option<PathBuf>,
}

/// What columns are, said when the model learns them.
#[derive(Args, Clone, Debug)]
pub struct ColumnArgs {
    /// Columns that must be numbers
    #[arg(long, value_name = "COL,…", value_delimiter = ',', help_heading = HEADING)]
    pub numeric: Vec<String>,

    /// Columns whose values are names, even if they look like numbers: one feature per value
    #[arg(long, value_name = "COL,…", value_delimiter = ',', help_heading = HEADING)]
    pub categorical: Vec<String>,

    /// Columns to leave out, such as a row number
    #[arg(long, value_name = "COL,…", value_delimiter = ',', help_heading = HEADING)]
    pub ignore: Vec<String>,
}

/// One character that can separate cells.
fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        b"space" | b"spaces" => Ok(b' '),
        [b] if b.is_ascii() && !b.is_ascii_alphanumeric() && !b"\"\n\r.-+".contains(b) => Ok(*b),
        _ => Err("must be one character, such as `;` or `|`, or `tab` or `spaces`".to_owned()),
    }
}

impl FileArgs {
    /// For a file that is read with a model's schema.
    pub fn options(&self) -> ReadOptions {
        ReadOptions {
            format: self.format,
            label: self.label.clone(),
            label_separator: self.separator(),
            weight: self.weight.clone(),
            header: self.header(),
            delimiter: self.delimiter,
            encoding: self.encoding,
            labels_file: self.labels.clone(),
            strict: self.strict,
            ..ReadOptions::default()
        }
    }

    /// Whether the first row names the columns, where the flags say so.
    fn header(&self) -> Option<bool> {
        (self.header || self.no_header).then_some(self.header)
    }

    /// What stands between labels.
    pub fn separator(&self) -> char {
        self.label_separator.unwrap_or(ReadOptions::default().label_separator)
    }

    /// For the file that a model learns its schema from.
    pub fn learning(
        &self,
        columns: &ColumnArgs,
        text: &TextArgs,
        target: TargetKind,
    ) -> ReadOptions {
        ReadOptions {
            target,
            text: text.text.clone(),
            guess_text: text.text.is_empty(),
            numeric: columns.numeric.clone(),
            categorical: columns.categorical.clone(),
            hash_categories: text.hash,
            ignore: columns.ignore.clone(),
            ..self.options()
        }
    }
}
