//! Guesses how a delimited file is laid out: what separates its cells, and whether its first row names the columns.

use super::profile::is_missing;
use crate::number::parse_number;

/// What may separate cells, the likelier first.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Lines that are looked at.
const LINES: usize = 50;

/// Stands for runs of spaces and tabs between columns that are aligned.
pub(super) const SPACES: u8 = b' ';

/// The separator that cuts the first lines into equally many cells, at least two; of several, the one that makes the most. Runs of spaces if
/// none does and the lines are mostly numbers between spaces, else a comma.
pub(crate) fn delimiter(text: &[u8]) -> u8 {
    let best = DELIMITERS.iter().filter_map(|&d| Some((n_cells(text, d, true)?, d)));
    // The first of equals is the likelier.
    match best.rev().max_by_key(|&(n, _)| n) {
        Some((_, delimiter)) => delimiter,
        None if is_aligned(text) => SPACES,
        None => b',',
    }
}

/// The separator that a first line `sep=;` names, as Excel writes and reads it.
pub(super) fn separator_line(head: &[u8]) -> Option<u8> {
    let line = head.split(|&b| b == b'\n').next()?;
    let named = line.trim_ascii_end().strip_prefix(b"sep=");
    match named? {
        &[delimiter] if delimiter.is_ascii_punctuation() => Some(delimiter),
        // The tab was trimmed.
        [] if line.starts_with(b"sep=\t") => Some(b'\t'),
        _ => None,
    }
}

/// Whether runs of spaces cut the first lines into equally many cells, at least three, of which half are numbers in each line but the first.
fn is_aligned(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    // The last line may be cut off.
    let whole = text.rfind('\n').map_or(&*text, |end| &text[..end]);
    let squeezed = squeeze(whole);
    let lines = squeezed.lines().filter(|line| !line.is_empty()).take(LINES);
    let is_mostly_numbers = |line: &str| {
        let n_numbers = line.split(' ').filter(|cell| parse_number(cell, false).is_some()).count();
        2 * n_numbers >= line.split(' ').count()
    };
    n_cells(squeezed.as_bytes(), SPACES, true).is_some_and(|n| n >= 3)
        && lines.clone().count() >= 2
        && lines.skip(1).all(is_mostly_numbers)
}

/// The text with one space for each run of spaces and tabs between cells, and none at the ends of lines. What stands in quotes is left as it is.
pub(super) fn squeeze(text: &str) -> String {
    let is_blank = |c: char| c == ' ' || c == '\t';
    let mut out = String::with_capacity(text.len());
    let (mut quoted, mut blank) = (false, false);
    for c in text.chars() {
        if is_blank(c) && !quoted {
            blank = true;
            continue;
        }
        let at_start = out.is_empty() || out.ends_with('\n');
        if blank && !at_start && c != '\n' && c != '\r' {
            out.push(' ');
        }
        blank = false;
        if c == '"' {
            // A quote opens at the start of a cell only.
            quoted = !quoted && (out.is_empty() || out.ends_with([' ', '\n']));
        }
        out.push(c);
    }
    out
}

/// Whether the text could be a table: some separator cuts all of its first lines, of which there are at least two, into equally many cells.
pub(crate) fn is_table(text: &[u8]) -> bool {
    text.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty()).nth(1).is_some()
        && (DELIMITERS.iter().any(|&d| n_cells(text, d, false).is_some()) || is_aligned(text))
}

/// Whether the text is one line that a separator cuts into names: a table without rows.
pub(crate) fn is_header(text: &[u8]) -> bool {
    let mut lines = text.split(|&b| b == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let line = lines.next().unwrap_or_default();
    let is_name = |cell: &[u8]| {
        let cell = cell.trim_ascii();
        !cell.is_empty() && cell.len() <= 40 && cell.iter().filter(|b| **b == b' ').count() < 3
    };
    let is_cut = |d: &u8| line.contains(d) && line.split(|b| b == d).all(is_name);
    lines.next().is_none() && DELIMITERS.iter().any(is_cut)
}

/// The number of cells of each of the first lines, if it is the same and over one; the first may have one less, if it may be a header over rows with names. What stands in quotes does not separate.
fn n_cells(text: &[u8], delimiter: u8, header_may_lack_one: bool) -> Option<usize> {
    let (mut n, mut counts) = (1, Vec::new());
    let (mut quoted, mut at_start, mut is_blank) = (false, true, true);
    for &b in text {
        match b {
            b'"' if quoted => quoted = false,
            // A quote opens at the start of a cell only. Tabs are not quoted, but then there are no tabs in quotes either.
            b'"' if at_start => quoted = true,
            b'\n' if !quoted => {
                if !is_blank {
                    counts.push(n);
                }
                if counts.len() == LINES {
                    break;
                }
                (n, at_start, is_blank) = (1, true, true);
                continue;
            }
            _ if b == delimiter && !quoted => {
                n += 1;
                (at_start, is_blank) = (true, false);
                continue;
            }
            _ => {}
        }
        is_blank &= b.is_ascii_whitespace();
        at_start = false;
    }
    // The last line may be cut off, unless it is the only one.
    if counts.is_empty() && !is_blank {
        counts.push(n);
    }
    let (&first, rest) = counts.split_first()?;
    let n = *rest.first().unwrap_or(&first);
    let fits = n == first || (header_may_lack_one && n == first + 1);
    (first > 1 && fits && rest.iter().all(|&cells| cells == n)).then_some(n)
}

/// What the rows have that a header of one cell less does not name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Extra {
    /// The names or numbers of the rows in front, as R's `write.table` puts them.
    RowNames,
    /// Nothing, after a separator at the end.
    Nothing,
}

/// Whether each of the first rows has one cell more than the header.
pub(super) fn extra_cell(first: &[String], rows: &[Vec<String>]) -> Option<Extra> {
    let n = first.len() + 1;
    if rows.is_empty() || rows.iter().any(|row| row.len() != n) {
        return None;
    }
    let ends_empty = rows.iter().all(|row| row.last().is_some_and(String::is_empty));
    Some(if ends_empty { Extra::Nothing } else { Extra::RowNames })
}

/// Whether commas stand before the fractions of numbers: there are some that could not be written so otherwise (`12,5`, `0,125`), and none with a point where these have
/// their comma.
pub(super) fn has_decimal_commas(rows: &[Vec<String>]) -> bool {
    let cells = || rows.iter().flatten().map(String::as_str);
    let is_plain = |cell: &str| cell.bytes().all(|b| b.is_ascii_digit() || b".,+-".contains(&b));
    let only_with_comma = |cell: &str| {
        let unsigned = cell.trim_start_matches(['+', '-']);
        let is_fraction = unsigned.starts_with("0,") && !unsigned.contains('.');
        (parse_number(cell, false).is_none() || is_fraction) && parse_number(cell, true).is_some()
    };
    let has_point = |cell: &str| {
        cell.contains('.') && parse_number(cell, false).is_some_and(|v| v.fract() != 0.0)
    };
    cells().any(|cell| is_plain(cell) && only_with_comma(cell)) && !cells().any(has_point)
}

/// Whether the first row names the columns of the rows after it, as far as these tell.
///
/// A word above numbers is a name. Without such a column, a number above numbers is data, and so is a word that comes again below.
pub(super) fn has_header(first: &[String], rows: &[Vec<String>]) -> bool {
    let (mut named, mut data) = (0, 0);
    for (column, cell) in first.iter().enumerate() {
        let below = || rows.iter().filter_map(|row| row.get(column));
        let values = below().filter(|cell| !is_missing(cell));
        let n_values = values.clone().count();
        if n_values == 0 || cell.is_empty() {
            continue;
        }
        let is_number =
            |cell: &str| parse_number(cell, false).or_else(|| parse_number(cell, true)).is_some();
        if values.clone().all(|cell| is_number(cell)) {
            if is_number(cell) { data += 1 } else { named += 1 }
        } else if !is_missing(cell) && values.filter(|below| *below == cell).count() >= 2 {
            data += 1;
        }
    }
    named > 0 || data == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_delimiter_is_what_cuts_all_lines_alike() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,5;1\n", b';'),
            ("a\tb\tc\n1\t2\t3\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("name;note\nx;\"a, b; c\ny\"\nz;w\n", b';'),
            ("one\n1\n2\n", b','),
            ("a, b;c, d;e\n1, 2;3, 4;5\n", b','),
            ("SEQ1   0.49  0.29  cp\nSEQ2  0.07   0.40  im\n", b' '),
            ("  x  y  z\n  1  2  3\n 10 20 30\n", b' '),
            ("text\nit was good\nit was bad\n", b','),
            ("not a table\nit was good\nit was bad\n", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes()), expected, "{text:?}");
        }
        assert!(
            is_table(b"a,b\n1,2\n") && !is_table(b"just words\nand more\n") && !is_table(b"a,b\n")
        );
    }

    #[test]
    fn a_line_for_excel_names_the_separator() {
        for (head, expected) in [
            ("sep=;\r\na;b\n", Some(b';')),
            ("sep=,\na,b\n", Some(b',')),
            ("sep=\t\na\tb\n", Some(b'\t')),
            ("sep=\na\n", None),
            ("sep=ab\n", None),
            ("sepal,petal\n1,2\n", None),
            ("", None),
        ] {
            assert_eq!(separator_line(head.as_bytes()), expected, "{head:?}");
        }
    }

    #[test]
    fn runs_of_spaces_are_one_outside_of_quotes() {
        let text = "  a   b\t c  \r\n 1 2  \"New   York\"\n";
        assert_eq!(squeeze(text), "a b c\r\n1 2 \"New   York\"\n");
    }

    #[test]
    fn commas_before_fractions_are_told_from_those_between_thousands() {
        for (cells, expected) in [
            (&["1,5", "2"][..], true),
            (&["-0,125", "word"], true),
            (&["1,234", "2,500"], false),
            (&["1,5", "2.5"], false),
            (&["1.234,5"], true),
            (&["1,234.5"], false),
            (&["a,b", "1, 2"], false),
        ] {
            let rows = [cells.iter().map(|cell| cell.to_string()).collect()];
            assert_eq!(has_decimal_commas(&rows), expected, "{cells:?}");
        }
    }

    #[test]
    fn a_first_row_of_data_is_not_a_header() {
        let rows = |text: &str| -> Vec<Vec<String>> {
            text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
        };
        for (text, expected) in [
            ("a,b\n1,2\n", true),
            ("1,2\n3,4\n", false),
            ("39,State-gov,13\n50,Private,9\n38,Private,7\n", false),
            ("age,work\n50,Private\n38,Private\n", true),
            ("spam,win money\nham,see you\nspam,call now\nspam,hello\n", false),
            ("label,text\nham,see you\nspam,call now\nspam,hello\n", true),
            // As scikit-learn ships iris: counts and names of classes stand above numbers.
            ("150,4,setosa\n5.1,3.5,0\n4.9,3.0,0\n", true),
            ("2019,2020,y\n1,2,a\n2,3,b\n", false),
            ("a,b\n", true),
        ] {
            let all = rows(text);
            assert_eq!(has_header(&all[0], &all[1..]), expected, "{text:?}");
        }
    }
}
