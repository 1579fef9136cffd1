//! What went wrong, where, and what would fix it.

use std::fmt;

/// Why a file was refused, with its place.
///
/// Displays as `train.svm:17:4: feature index 0; indices start at 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// What sort of thing is wrong.
    pub kind: ErrorKind,
    /// The file, as the user named it.
    pub file: String,
    /// 1-based line, where there is one.
    pub line: Option<usize>,
    /// 1-based byte column in the line, where there is one.
    pub column: Option<usize>,
    /// The value and the remedy.
    pub message: String,
}

/// What sort of thing is wrong with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system would not give the bytes.
    Io,
    /// The compressed data is damaged or cut short.
    Archive,
    /// The format is not known, or is not the one that was given.
    Format,
    /// The text does not follow its format's grammar.
    Syntax,
    /// Bytes that are not UTF-8.
    Encoding,
    /// A feature's value or index.
    Value,
    /// A label that is missing or not of the kind asked for.
    Label,
    /// An example weight that is negative or not a number.
    Weight,
    /// A column that does not exist, or has two roles.
    Columns,
    /// No rows.
    Empty,
    /// An image that is too large, or not as large as its mask.
    Size,
    /// The data does not fit the schema that it is read with.
    Schema,
    /// What took the text of the data would not take it.
    Text,
}

impl Error {
    /// An error about a whole file.
    pub fn new(kind: ErrorKind, file: &str, message: impl Into<String>) -> Self {
        Self { kind, file: file.to_owned(), line: None, column: None, message: message.into() }
    }

    /// An error at a byte of the text.
    pub(crate) fn at(
        kind: ErrorKind,
        file: &str,
        text: &[u8],
        offset: usize,
        message: impl Into<String>,
    ) -> Self {
        let (line, column) = place(text, offset);
        Self { line: Some(line), column: Some(column), ..Self::new(kind, file, message) }
    }

    /// Of a value in a line, for what only a caller knows to be wrong.
    pub fn at_line(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self::in_line(ErrorKind::Value, file, line, None, message)
    }

    /// An error in a line, at a column if it is known.
    pub(crate) fn in_line(
        kind: ErrorKind,
        file: &str,
        line: usize,
        column: Option<usize>,
        message: impl Into<String>,
    ) -> Self {
        Self { line: Some(line), column, ..Self::new(kind, file, message) }
    }

    /// The same, in a text that has so many lines before it.
    pub(crate) fn below(mut self, n_lines: usize) -> Self {
        self.line = self.line.map(|line| line + n_lines);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
            if let Some(column) = self.column {
                write!(f, ":{column}")?;
            }
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for Error {}

/// Line and byte column, from 1, of a byte offset. Only called when something is wrong: it counts.
pub(crate) fn place(text: &[u8], offset: usize) -> (usize, usize) {
    let before = &text[..offset.min(text.len())];
    let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
    let column = before.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
    (line, column)
}

/// A value as a message shows it: in backticks, cut when long, never raw control bytes.
pub(crate) fn quote(value: impl AsRef<[u8]>) -> String {
    format!("`{}`", printable(&String::from_utf8_lossy(value.as_ref())))
}

/// A name as a list shows it: as [`quote`] without the backticks.
pub(crate) fn printable(text: &str) -> String {
    const SHOWN: usize = 40;
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        if c.is_control() { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// A name as the value of a field, or of a flag: in quotes if a shell would cut it.
pub(crate) fn argument(name: &str) -> String {
    let shown = printable(name);
    let is_plain = |c: char| c.is_alphanumeric() || "_-.+:/@%…".contains(c);
    match shown.contains('\'') {
        _ if shown.chars().all(is_plain) => shown,
        true => format!("\"{shown}\""),
        false => format!("'{shown}'"),
    }
}

/// A sentence for which no tree is looked for.
pub(crate) fn too_long(n: usize, longest: usize) -> String {
    format!("the sentence has {n} words, and trees are found for {longest} at most; split it")
}

/// 8913 as `8,913`.
pub(crate) fn thousands(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `1 row`, `2 rows`, `8,913 rows`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    format!("{} {noun}{}", thousands(n), if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn display_leaves_out_what_is_unknown() {
        let text = b"a\nbcd\n";
        let mut e = Error::at(ErrorKind::Value, "f.svm", text, 4, "bad");
        assert_eq!(e.to_string(), "f.svm:2:3: bad");
        e.column = None;
        assert_eq!(e.to_string(), "f.svm:2: bad");
        assert_eq!(Error::new(ErrorKind::Io, "f.svm", "bad").to_string(), "f.svm: bad");
    }

    #[test]
    fn arguments_can_be_copied_into_a_shell() {
        for (name, expected) in [
            ("age", "age"),
            ("Body Mass (g)", "'Body Mass (g)'"),
            ("driver's age", "\"driver's age\""),
        ] {
            assert_eq!(argument(name), expected);
        }
    }

    #[test]
    fn quoting_is_short_and_printable() {
        assert_eq!(quote("a\tb"), "`a\\tb`");
        assert_eq!(quote(b"\xff"), "`\u{fffd}`");
        assert_eq!(quote("x".repeat(100)).chars().count(), 43);
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!(thousands(12), "12");
        assert_eq!(thousands(1_234_567), "1,234,567");
        assert_eq!(count(1, "row"), "1 row");
    }
}
