//! Lines of CoNLL-U into sentences.

use crate::error::{Error, ErrorKind, count, printable, quote};

use super::check::check;
use super::column::ConlluColumn;
use super::options::TreebankOptions;
use super::table::{NO_HEAD, NO_RELATION, Place, Row, Treebank, line_of};

const N_COLUMNS: usize = ConlluColumn::ALL.len();
const IDS: &str = "numbers of words are 1, 2, 3, …, of multiword tokens ranges such as 1-2, and of empty nodes such as 1.1";

/// Appends the sentences of a block, which ends with a blank line or with the file.
pub(super) fn read(
    block: &str,
    n_lines_before: usize,
    options: &TreebankOptions,
    data: &mut Treebank,
) -> Result<(), Error> {
    let mut at = 0;
    let mut n_lines = n_lines_before;
    // The first line of the sentence that is being read.
    let mut open: Option<(usize, usize)> = None;
    while at < block.len() {
        let end = memchr::memchr(b'\n', &block.as_bytes()[at..]).map_or(block.len(), |n| at + n);
        n_lines += 1;
        if !block[at..end].trim_ascii().is_empty() {
            open.get_or_insert((at, n_lines));
        } else if memchr::memchr_iter(b'\t', &block.as_bytes()[at..end]).count() == N_COLUMNS - 1 {
            let message = "ten empty columns; `_` stands where there is nothing, and an empty line ends a sentence";
            return Err(Error::in_line(
                ErrorKind::Syntax,
                &data.source,
                n_lines,
                None,
                message.to_owned(),
            ));
        } else if let Some((start, line)) = open.take() {
            sentence(&block[start..at], line, options, data)?;
        }
        at = end + 1;
    }
    open.map_or(Ok(()), |(start, line)| sentence(&block[start..], line, options, data))
}

/// Appends a sentence, whose first line is line `first` of the file.
fn sentence(
    raw: &str,
    first: usize,
    options: &TreebankOptions,
    data: &mut Treebank,
) -> Result<(), Error> {
    let file = data.source.clone();
    let error = |kind, line, message: String| Err(Error::in_line(kind, &file, line, None, message));
    if u32::try_from(raw.len() + 1).is_err() {
        let message = "a sentence of more than 4 GB begins here; is a blank line missing?";
        return error(ErrorKind::Syntax, first, message.into());
    }
    let token_start = data.rows.len();
    let mut ids = Ids::default();
    for (at, (offset, line)) in lines(raw).enumerate().filter(|(_, (_, line))| !is_comment(line)) {
        let at = first + at;
        let row = match split(line, offset) {
            Ok(row) => row,
            Err(n_columns) => return error(ErrorKind::Columns, at, ragged(line, n_columns)),
        };
        let cell = |column: ConlluColumn| {
            let column = column as usize;
            &raw[row[column] as usize..row[column + 1] as usize - 1]
        };
        match ids.next(cell(ConlluColumn::Id), at) {
            Ok(true) => {}
            Ok(false) => continue,
            Err(message) => return error(ErrorKind::Syntax, at, message),
        }
        let head = match head(cell(ConlluColumn::Head)) {
            Ok(head) => head,
            Err(message) => return error(ErrorKind::Value, at, message),
        };
        let deprel = match cell(ConlluColumn::Deprel) {
            "_" | "" => NO_RELATION,
            // No writer of this format could write it, and no schema takes it.
            name if name.contains('\r') => {
                let message = "the relation has a carriage return in it; end lines with a line feed, or with a carriage return and a line feed";
                return error(ErrorKind::Syntax, at, message.into());
            }
            name => data.relation(name),
        };
        data.rows.push(row);
        data.heads.push(head);
        data.deprels.push(deprel);
    }
    if let Err((line, message)) = ids.end() {
        return error(ErrorKind::Syntax, line.unwrap_or(first), message);
    }
    let rows = &data.rows[token_start..];
    let cell =
        |t: usize, column: usize| &raw[rows[t][column] as usize..rows[t][column + 1] as usize - 1];
    if let Err(fault) = check(&data.heads[token_start..], options, &cell) {
        return error(ErrorKind::Value, line_of(raw, first, fault.token), fault.message);
    }
    let text_start = data.text.len();
    data.text.push_str(raw);
    let text_end = data.text.len();
    data.text.push_str(if raw.ends_with('\n') { "\n" } else { "\n\n" });
    data.places.push(Place { text_start, text_end, token_end: data.rows.len(), line: first });
    Ok(())
}

/// The lines of a sentence without their ends, and where they begin.
pub(super) fn lines(raw: &str) -> impl Iterator<Item = (usize, &str)> {
    raw.split_inclusive('\n').scan(0, |at, line| {
        let offset = *at;
        *at += line.len();
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some((offset, line.strip_suffix('\r').unwrap_or(line)))
    })
}

pub(super) fn is_comment(line: &str) -> bool {
    line.starts_with('#')
}

/// The cells of a line, or how many there are if that is not ten.
pub(super) fn split(line: &str, offset: usize) -> Result<Row, usize> {
    let mut row: Row = [offset as u32; N_COLUMNS + 1];
    let mut n_columns = 1;
    for tab in memchr::memchr_iter(b'\t', line.as_bytes()) {
        if let Some(start) = row.get_mut(n_columns) {
            *start = (offset + tab + 1) as u32;
        }
        n_columns += 1;
    }
    row[N_COLUMNS] = (offset + line.len() + 1) as u32;
    if n_columns == N_COLUMNS { Ok(row) } else { Err(n_columns) }
}

fn ragged(line: &str, n_columns: usize) -> String {
    let remedy = if n_columns == 1 && line.split_ascii_whitespace().count() > 1 {
        "fields are separated by tabs, not by spaces"
    } else {
        "fields are separated by tabs, and `_` stands where there is nothing"
    };
    let n_columns = count(n_columns, "column");
    format!("{n_columns} in {} where CoNLL-U has {N_COLUMNS}; {remedy}", quote(line))
}

/// What the column HEAD says. A number that is too large for any sentence is out of range for this one as well.
fn head(cell: &str) -> Result<u32, String> {
    match cell {
        "_" => Ok(NO_HEAD),
        _ => number(cell).map(|head| head.min(NO_HEAD - 1)).ok_or_else(|| {
            format!(
                "the head {} is not a number; give the number of a word, 0 for the root, or `_` where it is not known",
                quote(cell)
            )
        }),
    }
}

/// A number of digits alone; of too many digits, the largest there is.
fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| text.parse().unwrap_or(u32::MAX))
}

/// Follows the column ID through a sentence.
#[derive(Default)]
struct Ids {
    /// Words so far.
    n_words: u32,
    /// Empty nodes since the last word.
    n_empty: u32,
    /// The last word of the last multiword token, the line that says so, and its ID.
    range: (u32, usize, String),
}

impl Ids {
    /// Whether the line with this ID is a word, or why it should not be there.
    fn next(&mut self, id: &str, line: usize) -> Result<bool, String> {
        let next = self.n_words + 1;
        if let Some(n) = number(id) {
            if n != next {
                return Err(self.out_of_order(n, id));
            }
            (self.n_words, self.n_empty) = (next, 0);
            return Ok(true);
        }
        let wrong = || format!("{} is not a number of a word; {IDS}", quote(id));
        if let Some((from, to)) = id.split_once('-') {
            let (from, to) = (number(from).ok_or_else(wrong)?, number(to).ok_or_else(wrong)?);
            if from != next || to < from || from <= self.range.0 {
                let covered = if self.range.0 >= next {
                    format!("word {next} is part of another one")
                } else {
                    format!("the next word is {next}, and a range begins with it")
                };
                return Err(format!(
                    "the multiword token {} does not fit here: {covered}; its line comes before those of its words, as 3-4 before 3",
                    printable(id)
                ));
            }
            self.range = (to, line, printable(id));
        } else if let Some((word, k)) = id.split_once('.') {
            let (word, k) = (number(word).ok_or_else(wrong)?, number(k).ok_or_else(wrong)?);
            let (n, expected) = (self.n_words, self.n_empty + 1);
            if (word, k) != (n, expected) {
                return Err(format!(
                    "the empty node {} does not fit here: the next one is {n}.{expected}; number those after word {n} {n}.1, {n}.2, …",
                    printable(id)
                ));
            }
            self.n_empty = expected;
        } else {
            return Err(wrong());
        }
        Ok(false)
    }

    fn out_of_order(&self, n: u32, id: &str) -> String {
        let next = self.n_words + 1;
        let remedy = if n == 1 {
            "is a blank line missing before it?"
        } else {
            "the words of a sentence are numbered 1, 2, 3, …"
        };
        format!("word {} where word {next} should be; {remedy}", printable(id))
    }

    /// What is wrong at the end of the sentence, and in which line if not in the first.
    fn end(&self) -> Result<(), (Option<usize>, String)> {
        let (last, line, ref id) = self.range;
        if self.n_words == 0 {
            let message = "a sentence without words; if these are comments, leave out the blank line between them and their sentence";
            return Err((None, message.into()));
        }
        if last > self.n_words {
            let message = format!(
                "the multiword token {id} reaches beyond the sentence, which has {}; correct its range, or is a blank line in the middle of the sentence?",
                count(self.n_words as usize, "word")
            );
            return Err((Some(line), message));
        }
        Ok(())
    }
}
