//! Tokens that are lines: CoNLL, CoNLL-U, CRFsuite.

use crate::error::{Error, ErrorKind, count, quote};
use crate::format::Format;
use crate::source::without_bom;

use super::options::SequenceOptions;
use super::schema::{CONLLU, SequenceSchema};
use super::table::{Sequences, UNLABELLED};

/// The format by name; else by what the first lines look like, columns if nothing speaks against it.
pub(super) fn guess(name: &str, head: &[u8]) -> Format {
    if let Some(format) = Format::from_name(name) {
        return format;
    }
    let text = String::from_utf8_lossy(without_bom(head));
    let mut lines = text.lines().filter(|line| !is_blank(line) && !line.starts_with("# "));
    let first = lines.next().unwrap_or_default();
    let is_conllu = first.split('\t').count() == CONLLU.len() && first.starts_with("1\t")
        || first.starts_with("1-");
    if first.starts_with('{') {
        Format::Jsonl
    } else if is_conllu && first.contains('\t') {
        Format::Conllu
    } else if looks_like_crfsuite(&text) {
        Format::Crfsuite
    } else {
        Format::Conll
    }
}

/// Whether the lines are not equally wide, as those of tables and CoNLL are, and what stands after their first tabs is mostly `name=value`. The last line may be cut off.
pub(crate) fn looks_like_crfsuite(text: &str) -> bool {
    const LINES: usize = 100;
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    let lines = whole.lines().filter(|line| !is_blank(line) && !line.starts_with('@'));
    let (mut widths, mut n_attributes, mut n_named) = (Vec::new(), 0, 0);
    for line in lines.take(LINES) {
        let attributes = line.split('\t').skip(1);
        widths.push(attributes.clone().count());
        n_attributes += attributes.clone().count();
        n_named += attributes.filter(|attribute| attribute.contains('=')).count();
    }
    let is_uneven = widths.iter().any(|width| *width != widths[0]);
    is_uneven && 4 * n_named >= 3 * n_attributes
}

/// Whether a line of this format is a token: no comment, no word that is cut into several tokens (`1-2`), no empty node (`1.1`).
pub fn is_token_line(format: Format, line: &str) -> bool {
    match format {
        _ if is_blank(line) => false,
        Format::Conllu if line.starts_with('#') => false,
        Format::Conllu => {
            let id = line.split('\t').next().unwrap_or_default();
            !id.contains(['-', '.'])
        }
        Format::Crfsuite => declared_weight(line).is_none(),
        _ => true,
    }
}

/// What stands after `@weight:` in a line of CRFsuite that says how much its sequence counts.
fn declared_weight(line: &str) -> Option<&str> {
    line.trim_ascii_end().strip_prefix("@weight:").filter(|rest| !rest.contains('\t'))
}

fn is_blank(line: &str) -> bool {
    line.trim_ascii().is_empty()
}

/// The columns, from the first lines.
pub(super) fn learn(
    text: &str,
    file: &str,
    format: Format,
    options: &SequenceOptions,
) -> Result<SequenceSchema, Error> {
    let mut schema =
        SequenceSchema { format, columns: Vec::new(), label: 0, labels: Vec::new(), texts: None };
    let error = |message: String| Error::new(ErrorKind::Columns, file, message);
    match format {
        Format::Crfsuite => {
            if options.label.is_some() {
                return Err(error(
                    "the label of a CRFsuite file is its first field; leave options.label out"
                        .into(),
                ));
            }
            schema.columns = vec!["attributes".into(), "label".into()];
            schema.label = 1;
        }
        Format::Conllu => {
            schema.columns = CONLLU.map(str::to_owned).to_vec();
            schema.label =
                schema.column(options.label.as_deref().unwrap_or("upos")).map_err(error)?;
        }
        _ => {
            // As the reader cuts them: `str::lines` keeps a carriage return that ends the file.
            let lines = text.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line));
            let Some((at, line)) = lines.enumerate().find(|(_, line)| !is_blank(line)) else {
                return Err(super::no_sequences(file));
            };
            let n_columns = fields(line, line.contains('\t')).count();
            if n_columns < 2 {
                let message = format!(
                    "{} has one column, and a label must stand beside each token; separate columns by tabs or spaces",
                    quote(line)
                );
                return Err(Error::in_line(ErrorKind::Columns, file, at + 1, None, message));
            }
            schema.columns = (0..n_columns).map(|column| column.to_string()).collect();
            schema.label = match &options.label {
                Some(name) => schema.column(name).map_err(error)?,
                None => n_columns - 1,
            };
        }
    }
    Ok(schema)
}

fn fields(line: &str, tabs: bool) -> Fields<'_> {
    Fields { line, at: 0, tabs }
}

/// The fields of a line with their places.
struct Fields<'a> {
    line: &'a str,
    at: usize,
    tabs: bool,
}

impl Iterator for Fields<'_> {
    type Item = (usize, usize);

    #[inline]
    fn next(&mut self) -> Option<(usize, usize)> {
        let bytes = self.line.as_bytes();
        if self.tabs {
            let rest = bytes.get(self.at..)?;
            let len = memchr::memchr(b'\t', rest).unwrap_or(rest.len());
            let start = self.at;
            self.at += len + 1;
            return Some((start, len));
        }
        let is_space = |b: &u8| matches!(b, b' ' | b'\t');
        let start =
            self.at + bytes[self.at.min(bytes.len())..].iter().position(|b| !is_space(b))?;
        let len = bytes[start..].iter().position(is_space).unwrap_or(bytes.len() - start);
        self.at = start + len;
        Some((start, len))
    }
}

/// Reads blocks of a file, one after the other.
pub(super) struct Reader<'a> {
    format: Format,
    options: &'a SequenceOptions,
    learning: bool,
    shape: Option<Shape>,
    last_label: (String, u32),
}

/// What the first token says of the file.
#[derive(Clone, Copy)]
struct Shape {
    tabs: bool,
    n_columns: usize,
    label: Option<usize>,
    line: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(format: Format, options: &'a SequenceOptions, learning: bool) -> Self {
        Self { format, options, learning, shape: None, last_label: (String::new(), UNLABELLED) }
    }

    /// Appends the sequences of a block.
    pub(super) fn read(
        &mut self,
        block: &str,
        n_lines_before: usize,
        data: &mut Sequences,
    ) -> Result<(), Error> {
        let base = data.text.len();
        data.text.push_str(block);
        let mut at = 0;
        let mut n_lines = n_lines_before;
        // The first line of the sequence that is being read.
        let mut open: Option<(usize, usize)> = None;
        while at < block.len() {
            let end =
                memchr::memchr(b'\n', &block.as_bytes()[at..]).map_or(block.len(), |n| at + n);
            let line = block[at..end].strip_suffix('\r').unwrap_or(&block[at..end]);
            n_lines += 1;
            if is_blank(line) {
                if let Some((start, first)) = open.take() {
                    data.end_sequence(base + start, base + at, first)?;
                }
            } else {
                let start = open.get_or_insert((at, n_lines)).0;
                if is_token_line(self.format, line) {
                    self.token(line, at - start, n_lines, data)?;
                } else if self.format == Format::Crfsuite {
                    data.weigh(Some(weight(line, n_lines, data)?));
                }
            }
            at = end + 1;
        }
        if let Some((start, first)) = open {
            data.end_sequence(base + start, base + block.len(), first)?;
        }
        Ok(())
    }

    fn token(
        &mut self,
        line: &str,
        offset: usize,
        n_line: usize,
        data: &mut Sequences,
    ) -> Result<(), Error> {
        if self.format == Format::Crfsuite {
            if let Some(rest) =
                line.strip_prefix("@weight").filter(|r| !r.starts_with(char::is_alphanumeric))
            {
                let value = rest.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_end();
                let message = format!(
                    "{} is not a weight; write @weight:{}, with a colon and nothing else",
                    quote(line),
                    if value.parse::<f32>().is_ok() { value } else { "2" }
                );
                return Err(Error::in_line(ErrorKind::Value, &data.source, n_line, None, message));
            }
            return self.attributes(line, offset, data);
        }
        let shape = match self.shape {
            Some(shape) => shape,
            None => self.first_line(line, n_line, data)?,
        };
        let before = data.cells.len();
        // More than fit are wrong whatever they are; a sequence of more than 4 GB is refused where it ends.
        data.cells.extend(
            fields(line, shape.tabs).map(|(start, len)| ((offset + start) as u32, len as u32)),
        );
        let n_columns = data.cells.len() - before;
        if n_columns != shape.n_columns {
            data.cells.truncate(before);
            return Err(ragged(data, line, n_line, n_columns, shape));
        }
        let label = match shape.label {
            None => UNLABELLED,
            Some(column) => {
                let (start, len) = data.cells[before + column];
                let start = start as usize - offset;
                self.label(&line[start..start + len as usize], data)
            }
        };
        data.gold.push(label);
        Ok(())
    }

    /// The first token: how many columns there are, and which is the label.
    fn first_line(
        &mut self,
        line: &str,
        n_line: usize,
        data: &mut Sequences,
    ) -> Result<Shape, Error> {
        let tabs = self.format == Format::Conllu || line.contains('\t');
        let n_columns = fields(line, tabs).count();
        let schema = &data.schema;
        let wanted = schema.columns.len();
        let error = |message: String| {
            Error::in_line(ErrorKind::Columns, &data.source, n_line, None, message)
        };
        if self.format == Format::Conllu && n_columns != CONLLU.len() {
            return Err(error(format!(
                "{} where CoNLL-U has {}; fields are separated by tabs",
                count(n_columns, "column"),
                CONLLU.len()
            )));
        }
        let label = match &self.options.label {
            _ if self.learning => Some(schema.label),
            Some(name) => {
                let columns = (0..n_columns)
                    .map(|c| schema.columns.get(c).cloned().unwrap_or_else(|| c.to_string()));
                let seen = SequenceSchema { columns: columns.collect(), ..schema.clone() };
                Some(seen.column(name).map_err(error)?)
            }
            None if n_columns == wanted => Some(schema.label),
            None if n_columns + 1 == wanted && schema.label_is_last() => None,
            None => {
                let without = if schema.label_is_last() {
                    format!(" (or {} without the label)", wanted - 1)
                } else {
                    String::new()
                };
                return Err(error(format!(
                    "{}, but the model was trained on {wanted}{without}; give the same columns in the same order",
                    count(n_columns, "column"),
                )));
            }
        };
        let needed = if schema.label_is_last() { wanted - 1 } else { wanted };
        if n_columns < needed {
            return Err(error(format!(
                "{}, but the model reads {needed}; give the same columns in the same order",
                count(n_columns, "column")
            )));
        }
        data.n_columns = n_columns;
        data.has_labels = label.is_some();
        let shape = Shape { tabs, n_columns, label, line: n_line };
        self.shape = Some(shape);
        Ok(shape)
    }

    /// A line of CRFsuite: the label, then a single cell.
    fn attributes(&mut self, line: &str, offset: usize, data: &mut Sequences) -> Result<(), Error> {
        data.n_columns = 1;
        let (label, rest) = line.split_once('\t').unwrap_or((line, ""));
        let start = offset + line.len() - rest.len();
        data.cells.push((start as u32, rest.len() as u32));
        let name = if label.contains('\\') { unescape(label) } else { label.to_owned() };
        let gold = if name.is_empty() { UNLABELLED } else { self.label(&name, data) };
        data.gold.push(gold);
        Ok(())
    }

    #[inline]
    fn label(&mut self, name: &str, data: &mut Sequences) -> u32 {
        if self.last_label.0 == name && !name.is_empty() {
            return self.last_label.1;
        }
        let label = match &self.options.unlabelled {
            Some(marker) if marker == name => UNLABELLED,
            _ => data.label(name),
        };
        self.last_label.0.clear();
        self.last_label.0.push_str(name);
        self.last_label.1 = label;
        label
    }
}

fn weight(line: &str, n_line: usize, data: &Sequences) -> Result<f32, Error> {
    let text = declared_weight(line).unwrap_or_default();
    let weight: Option<f32> = text.parse().ok();
    weight.filter(|w| w.is_finite() && *w >= 0.0).ok_or_else(|| {
        let message =
            format!("{} is not a weight; write @weight:2, a number of 0 or more", quote(text));
        Error::in_line(ErrorKind::Value, &data.source, n_line, None, message)
    })
}

fn ragged(data: &Sequences, line: &str, n_line: usize, n_columns: usize, shape: Shape) -> Error {
    let looks_named = line.contains('\t') && line.contains('=');
    let remedy = if looks_named {
        "if this is a file of CRFsuite attributes, say options.format = crfsuite"
    } else if shape.tabs {
        "each token needs the same columns, separated by tabs; if a line is a label and any number of attributes, say options.format = crfsuite"
    } else {
        "each token needs the same columns, and a blank line ends a sequence"
    };
    let message = format!(
        "{} in {} where line {} has {}; {remedy}",
        count(n_columns, "column"),
        quote(line),
        shape.line,
        shape.n_columns
    );
    Error::in_line(ErrorKind::Columns, &data.source, n_line, None, message)
}

/// `\:` and `\\` in the label of a CRFsuite line.
fn unescape(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    let mut chars = label.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(&next @ (':' | '\\'))) => {
                out.push(next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_by_tabs_and_by_spaces() {
        let of = |line: &'static str, tabs| {
            fields(line, tabs).map(|(at, len)| &line[at..at + len]).collect::<Vec<_>>()
        };
        assert_eq!(of("a  b c ", false), ["a", "b", "c"]);
        assert_eq!(of(" a\tb", false), ["a", "b"]);
        assert_eq!(of("a b\t\tc", true), ["a b", "", "c"]);
        assert_eq!(of("a\t", true), ["a", ""]);
        assert_eq!(of("", true), [""]);
        assert_eq!(of("", false), [""; 0]);
    }

    /// Such a line was one column to the reader and two to who learns the columns.
    #[test]
    fn a_carriage_return_that_ends_the_file_is_not_a_column() {
        let learnt = |text| learn(text, "a", Format::Conll, &SequenceOptions::default());
        assert!(learnt("- \r").is_err());
        assert_eq!(learnt("a b\r").unwrap().columns.len(), 2);
        assert_eq!(learnt("a b \r\r\nc d e\n").unwrap().columns.len(), 3);
    }

    #[test]
    fn the_format_follows_from_the_name_or_the_first_line() {
        for (name, head, want) in [
            ("a.conll.gz", "", Format::Conll),
            ("a.conllu", "", Format::Conllu),
            ("a.crfsuite", "", Format::Crfsuite),
            ("-", "{\"tokens\": []}", Format::Jsonl),
            ("-", "# text = a\n1\ta\ta\tX\t_\t_\t0\t_\t_\t_\n", Format::Conllu),
            ("-", "1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n", Format::Conllu),
            ("-", "the DT B\n", Format::Conll),
            ("-", "1-2 CD B\n", Format::Conll),
            ("-", "B\tw=a\tp=b\nI\tw=c\n\nO\tw=d\n", Format::Crfsuite),
            ("-", "a\tw=a\tB\nb\tw=c\tI\n", Format::Conll),
            ("-", "a\tDT\tB\nb\tI\n", Format::Conll),
        ] {
            assert_eq!(guess(name, head.as_bytes()), want, "{name} {head}");
        }
    }
}
