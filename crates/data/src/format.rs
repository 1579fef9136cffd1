//! Which format a file is in.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::{Error, ErrorKind};
use crate::sequences::looks_like_crfsuite;
use crate::source::without_bom;
use crate::table::LABEL_PREFIX;
use crate::table::layout::{is_header, is_table};

/// A file format that examples come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Format {
    /// `label index:value …`, as LIBSVM and svmlight write it; `grade qid:NAME index:value …` as LETOR and SVMrank do.
    Svmlight,
    /// Comma-separated values with a header.
    Csv,
    /// Tab-separated values with a header.
    Tsv,
    /// One JSON object per line.
    Jsonl,
    /// `__label__NAME text`, as fastText reads it.
    FastText,
    /// `label importance|namespace feature:value …`, as Vowpal Wabbit reads it.
    Vw,
    /// Images of bytes, the format of MNIST.
    Idx,
    /// Sequences: one line of columns per token, a blank line between sequences.
    Conll,
    /// Sequences and trees: the ten columns of Universal Dependencies.
    Conllu,
    /// Sequences: `label<tab>attribute:value…`, as CRFsuite reads it.
    Crfsuite,
    /// Constituency trees in brackets, as the Penn Treebank has them.
    Brackets,
    /// Plain text: one sentence per line, words separated by blanks.
    Sentences,
}

impl Format {
    /// Every format of rows.
    pub const ALL: [Format; 7] = [
        Format::Svmlight,
        Format::Csv,
        Format::Tsv,
        Format::Jsonl,
        Format::FastText,
        Format::Vw,
        Format::Idx,
    ];

    /// Every format of sequences.
    pub const SEQUENCES: [Format; 4] =
        [Format::Conll, Format::Conllu, Format::Crfsuite, Format::Jsonl];

    /// Every format of sentences with constituency trees, or to be parsed into them.
    pub const BRACKETS: [Format; 2] = [Format::Brackets, Format::Sentences];

    /// The format that a file's name shows, `.gz` and `.zst` aside.
    pub fn from_name(name: &str) -> Option<Format> {
        let name = Path::new(name).file_name()?.to_str()?.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        if name.ends_with("-ubyte") {
            return Some(Format::Idx);
        }
        match name.rsplit_once('.')?.1 {
            "svm" | "libsvm" | "svmlight" | "letor" => Some(Format::Svmlight),
            "csv" => Some(Format::Csv),
            "tsv" => Some(Format::Tsv),
            // Rows of Parquet become JSON lines on the way.
            "jsonl" | "ndjson" | "parquet" => Some(Format::Jsonl),
            "ft" | "fasttext" => Some(Format::FastText),
            "vw" => Some(Format::Vw),
            "idx" => Some(Format::Idx),
            "conll" | "conll2000" | "conll2003" | "iob" | "iob2" | "bio" | "bioes" => {
                Some(Format::Conll)
            }
            "conllu" => Some(Format::Conllu),
            "crfsuite" => Some(Format::Crfsuite),
            "mrg" | "ptb" | "penn" | "brackets" => Some(Format::Brackets),
            "sentences" => Some(Format::Sentences),
            _ => None,
        }
    }

    /// Whether rows are made of named columns.
    pub fn is_table(self) -> bool {
        !matches!(self, Format::Svmlight | Format::Idx)
            && !self.is_for_tags()
            && !self.is_for_brackets()
    }

    /// Whether it can hold sequences of tokens.
    pub fn has_sequences(self) -> bool {
        self.is_for_tags() || self == Format::Jsonl
    }

    /// Whether it holds sequences and nothing else.
    pub(crate) fn is_for_tags(self) -> bool {
        matches!(self, Format::Conll | Format::Conllu | Format::Crfsuite)
    }

    /// Whether it holds sentences that have constituency trees or get them, and nothing else.
    pub(crate) fn is_for_brackets(self) -> bool {
        Self::BRACKETS.contains(&self)
    }
}

const KNOWN: &str = "libsvm, csv, tsv, jsonl, fasttext, vw, idx; conll, conllu, crfsuite with read_sequences; conllu with read_treebank; brackets, sentences with read_brackets; letor with read_ranking";

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Format::Svmlight => "libsvm",
            Format::Csv => "csv",
            Format::Tsv => "tsv",
            Format::Jsonl => "jsonl",
            Format::FastText => "fasttext",
            Format::Vw => "vw",
            Format::Idx => "idx",
            Format::Conll => "conll",
            Format::Conllu => "conllu",
            Format::Crfsuite => "crfsuite",
            Format::Brackets => "brackets",
            Format::Sentences => "sentences",
        })
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        match s.to_ascii_lowercase().as_str() {
            "libsvm" | "svmlight" | "svm" | "letor" | "svmrank" => Ok(Format::Svmlight),
            "csv" => Ok(Format::Csv),
            "tsv" => Ok(Format::Tsv),
            "jsonl" | "ndjson" => Ok(Format::Jsonl),
            "fasttext" | "ft" => Ok(Format::FastText),
            "vw" => Ok(Format::Vw),
            "idx" => Ok(Format::Idx),
            "conll" => Ok(Format::Conll),
            "conllu" => Ok(Format::Conllu),
            "crfsuite" => Ok(Format::Crfsuite),
            "brackets" | "penn" | "ptb" | "mrg" => Ok(Format::Brackets),
            "sentences" => Ok(Format::Sentences),
            _ => Err(format!("unknown format `{s}`; known are {KNOWN}")),
        }
    }
}

/// Whether a name is that of a Parquet file, or no file's at all, as standard input's.
pub(crate) fn is_parquet(name: &str) -> bool {
    name == "<stdin>" || name.to_ascii_lowercase().ends_with(".parquet")
}

/// The format by name, else by content where that leaves no doubt.
pub(crate) fn guess(name: &str, bytes: &[u8]) -> Result<Format, Error> {
    if let Some(message) = foreign(bytes) {
        return Err(Error::new(ErrorKind::Format, name, message));
    }
    if let Some(format) = Format::from_name(name) {
        return Ok(format);
    }
    if bytes.starts_with(&[0, 0, 8]) {
        return Ok(Format::Idx);
    }
    let start = without_bom(bytes).trim_ascii_start();
    if start.starts_with(LABEL_PREFIX.as_bytes()) {
        return Ok(Format::FastText);
    }
    if looks_like_svmlight(bytes) {
        return Ok(Format::Svmlight);
    }
    match start.first() {
        None => return Err(Error::new(ErrorKind::Empty, name, "the file is empty")),
        Some(b'{') => return Ok(Format::Jsonl),
        Some(b'[') if matches!(start[1..].trim_ascii_start().first(), Some(b'{')) => {
            let message = "the file is one JSON array; write one object per line, for instance by jq -c '.[]'";
            return Err(Error::new(ErrorKind::Format, name, message));
        }
        Some(_) if is_table(start) => return Ok(Format::Csv),
        Some(_) if looks_like_crfsuite(&String::from_utf8_lossy(start)) => {
            return Ok(Format::Crfsuite);
        }
        Some(_) if is_header(start) => {
            let message = "the only line looks like the header of a table, and no rows follow it; if it is something else, say which with options.format";
            return Err(Error::new(ErrorKind::Empty, name, message));
        }
        Some(_) => {}
    }
    let message = format!(
        "neither the name nor the content shows the format; say which with options.format: {KNOWN}"
    );
    Err(Error::new(ErrorKind::Format, name, message))
}

/// What to do with a file of a format that is known but not read.
fn foreign(bytes: &[u8]) -> Option<String> {
    let save = "save the sheet as CSV";
    let pandas = "write it as CSV, for instance by pandas (to_csv with index=False)";
    let parquet = "give it a name that ends in .parquet";
    let known: [(&[u8], &str, &str); 7] = [
        (b"PK\x03\x04", "an Excel workbook or another zip archive", save),
        (b"\xd0\xcf\x11\xe0", "an Excel workbook", save),
        (b"PAR1", "Parquet", parquet),
        (b"ARROW1", "Arrow", pandas),
        (b"\x93NUMPY", "a NumPy array", "write it as CSV (numpy.savetxt)"),
        (b"\x89HDF", "HDF5", pandas),
        (b"SQLite format 3", "an SQLite database", "write the table as CSV"),
    ];
    let (_, what, remedy) = known.iter().find(|(magic, ..)| bytes.starts_with(magic))?;
    let unread = if *remedy == parquet { "" } else { ", which is not read" };
    Some(format!("the file is {what}{unread}; {remedy}"))
}

/// Is the first line with more than a label made of `index:value` from its second (or first) word on?
fn looks_like_svmlight(bytes: &[u8]) -> bool {
    const LINES: usize = 100;
    const WORDS: usize = 10;
    for line in bytes.split(|&b| b == b'\n').take(LINES) {
        let line = line.split(|&b| b == b'#').next().unwrap_or_default();
        let mut words = line.split(u8::is_ascii_whitespace).filter(|w| !w.is_empty()).peekable();
        words.next_if(|word| !word.contains(&b':'));
        let mut words = words.take(WORDS).peekable();
        if words.peek().is_some() {
            return words.all(is_feature);
        }
    }
    false
}

/// `17:0.5`, and `qid:NAME` of ranking data.
fn is_feature(word: &[u8]) -> bool {
    let Some(colon) = word.iter().position(|&b| b == b':') else { return false };
    let (index, value) = (&word[..colon], &word[colon + 1..]);
    let is_index = !index.is_empty() && index.iter().all(u8::is_ascii_digit);
    index == b"qid" && !value.is_empty() || is_index && fast_float2::parse::<f64, _>(value).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("a.svm", Some(Format::Svmlight)),
            ("a.letor.gz", Some(Format::Svmlight)),
            ("dir.csv/a.LIBSVM.gz", Some(Format::Svmlight)),
            ("a.tsv.zst", Some(Format::Tsv)),
            ("a.ndjson", Some(Format::Jsonl)),
            ("dir/a.Parquet", Some(Format::Jsonl)),
            ("a.ft.gz", Some(Format::FastText)),
            ("a.vw", Some(Format::Vw)),
            ("a.txt", None),
            ("wsj_0001.mrg", Some(Format::Brackets)),
            ("train-images-idx3-ubyte.gz", Some(Format::Idx)),
            ("a9a", None),
            ("letter.scale", None),
            ("-", None),
        ] {
            assert_eq!(Format::from_name(name), format, "{name}");
        }
        let all = Format::ALL.into_iter().chain(Format::SEQUENCES).chain(Format::BRACKETS);
        for format in all {
            assert_eq!(format.to_string().parse(), Ok(format));
        }
    }

    #[test]
    fn content_tells_the_format_where_it_leaves_no_doubt() {
        for text in ["+1 3:1 4:0.5\n", "\n# x\n2\n1 7:-1e3\n", "1:2\n", "1 qid:b3 1:4\n", "0,4 1:1"]
        {
            assert_eq!(guess("a9a", text.as_bytes()), Ok(Format::Svmlight), "{text}");
        }
        assert_eq!(guess("a.txt", b"\n __label__a b\n"), Ok(Format::FastText));
        assert_eq!(guess("-", b"{\"a\":1}\n"), Ok(Format::Jsonl));
        for text in ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n"] {
            assert_eq!(guess("-", text.as_bytes()), Ok(Format::Csv), "{text}");
        }
        for text in ["12:30 late\n", "1 a:b\n", "1\n2\n", "a, b\nc\n"] {
            let error = guess("a9a", text.as_bytes()).unwrap_err();
            assert!(error.message.contains("options.format"), "{error}");
        }
        assert_eq!(guess("x", b" \n").unwrap_err().kind, ErrorKind::Empty);
        assert_eq!(guess("-", b"a,b\n").unwrap_err().kind, ErrorKind::Empty);
        assert_eq!(guess("-", b"B\tw=a\tp=b\nI\tw=c\n\nO\tw=d\n"), Ok(Format::Crfsuite));
    }
}
