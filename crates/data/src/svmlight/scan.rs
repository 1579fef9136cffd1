//! The scanner of one piece of a LIBSVM file: a single walk over its bytes.

use std::ops::Range;

use super::label::{self, LabelRule, RawLabels};
use super::query;
use crate::error::{ErrorKind, quote};
use crate::number::{WINDOW, byte, is_delimiter, parse_f64, scan_f32, scan_feature, token};
use crate::schema::TargetKind;

/// The largest index that LIBSVM data may have, so that it and one more fit in 32 bits.
const MAX_INDEX: u32 = 4_294_967_294;

/// Where a piece's features go.
pub(super) struct Slots<'a> {
    pub(super) idx: &'a mut [u32],
    pub(super) val: &'a mut [f32],
}

/// What was found in a piece. Rows and their ends count from the piece's start.
#[derive(Default)]
pub(super) struct Piece {
    pub(super) row_ends: Vec<usize>,
    pub(super) labels: RawLabels,
    pub(super) weights: Vec<(usize, f32)>,
    /// Where queries begin, for grades: the row, and the name in the text.
    pub(super) queries: Vec<(usize, Range<usize>)>,
    pub(super) max_index: u32,
    pub(super) n_unsorted: usize,
    pub(super) first_unsorted: Option<usize>,
    /// A label that a row gives twice, and where.
    pub(super) duplicates: Vec<(String, usize)>,
    pub(super) fault: Option<Fault>,
}

/// The first thing that is wrong, at a byte of the file.
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) offset: usize,
    pub(super) message: String,
}

/// Reads the lines of `span`.
pub(super) fn scan(
    text: &[u8],
    span: Range<usize>,
    mut slots: Slots<'_>,
    rule: LabelRule,
) -> Piece {
    let lists = rule.target == TargetKind::Labels;
    let by_query = rule.target == TargetKind::Grades;
    let mut piece = Piece::default();
    let mut p = span.start;
    let mut nnz = 0;
    while p < span.end {
        // Of sets of labels the empty one is written as nothing before a blank, also where no feature follows.
        let no_labels = lists && matches!(text[p], b' ' | b'\t');
        p = skip_blanks(text, p);
        match byte(text, p) {
            b'\n' if !no_labels => p += 1,
            b'#' => p = line_end(text, p) + 1,
            _ => {
                let labels = match (lists, no_labels) {
                    (false, _) => label::one(text, p, rule, &mut piece),
                    (true, false) => label::list(text, p, rule, &mut piece),
                    (true, true) => label::empty_list(text, p, &mut piece),
                };
                let start = match by_query {
                    true => labels.and_then(|p| query::take(text, p, &mut piece)),
                    false => labels,
                };
                let row = start.and_then(|p| features(text, p, nnz, &mut slots, &mut piece));
                match row {
                    Ok((after, n)) => (p, nnz) = (after, n),
                    Err(fault) => {
                        piece.fault = Some(fault);
                        return piece;
                    }
                }
                piece.row_ends.push(nnz);
            }
        }
    }
    piece
}

#[inline(always)]
pub(super) fn skip_blanks(text: &[u8], mut p: usize) -> usize {
    while matches!(byte(text, p), b' ' | b'\t' | b'\r') {
        p += 1;
    }
    p
}

fn line_end(text: &[u8], p: usize) -> usize {
    let rest = text.get(p..).unwrap_or_default();
    rest.iter().position(|&b| b == b'\n').map_or(text.len(), |n| p + n)
}

/// Takes the features of one row and returns the place after its newline and the new number of entries.
#[inline]
fn features(
    text: &[u8],
    mut p: usize,
    first: usize,
    slots: &mut Slots<'_>,
    piece: &mut Piece,
) -> Result<(usize, usize), Fault> {
    let start = p;
    let mut n = first;
    let (mut last, mut max) = (0, 0);
    let mut sorted = true;
    loop {
        p += usize::from(byte(text, p) == b' ');
        let window = text.get(p..).and_then(<[u8]>::first_chunk::<WINDOW>);
        let (index, value, after) = match window.and_then(scan_feature) {
            Some((index, value, len)) if index > 0 => (index, value, p + len),
            _ => match any_feature(text, p)? {
                Some(feature) => feature,
                None => break,
            },
        };
        sorted &= index > last;
        last = index;
        max = max.max(index);
        if value != 0.0 {
            let (Some(i), Some(v)) = (slots.idx.get_mut(n), slots.val.get_mut(n)) else {
                return Err(bad_feature(text, p));
            };
            (*i, *v) = (index - 1, value);
            n += 1;
        }
        p = after;
    }
    if !sorted {
        n = sort_row(text, start, first, slots)?;
        piece.n_unsorted += 1;
        piece.first_unsorted.get_or_insert(start);
    }
    piece.max_index = piece.max_index.max(max);
    Ok((line_end(text, p) + 1, n))
}

/// The feature after blanks at `p`, of whatever form, and the place after it; `None` at the end of the row.
#[inline(never)]
fn any_feature(text: &[u8], p: usize) -> Result<Option<(u32, f32, usize)>, Fault> {
    let p = skip_blanks(text, p);
    if matches!(byte(text, p), b'\n' | b'#') {
        return Ok(None);
    }
    let feature = long_index(text, p).and_then(|(index, colon)| {
        let index = u32::try_from(index).ok().filter(|i| (1..=MAX_INDEX).contains(i))?;
        let (value, after) = scan_f32(text, colon + 1)?;
        (byte(text, colon) == b':' && value.is_finite()).then_some((index, value, after))
    });
    feature.map(Some).ok_or_else(|| bad_feature(text, p))
}

/// Digits from `p` on as an index that may be longer than eight of them, and the place after.
fn long_index(text: &[u8], p: usize) -> Option<(u64, usize)> {
    let rest = text.get(p..).unwrap_or_default();
    let n = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    let index = std::str::from_utf8(&rest[..n]).ok()?.parse().ok()?;
    Some((index, p + n))
}

/// Sorts a row that was out of order and drops its zeros. A repeated index is an error at its second place.
///
/// Reads the row again, with zeros, so that `1:0 3:1 1:2` is seen to repeat.
#[cold]
fn sort_row(
    text: &[u8],
    start: usize,
    first: usize,
    slots: &mut Slots<'_>,
) -> Result<usize, Fault> {
    let mut row = Vec::new();
    let mut p = start;
    while let Some((index, value, after)) = any_feature(text, p)? {
        row.push((index, skip_blanks(text, p), value));
        p = after;
    }
    row.sort_unstable_by_key(|&(index, offset, _)| (index, offset));
    if let Some(pair) = row.windows(2).filter(|w| w[0].0 == w[1].0).min_by_key(|w| w[1].1) {
        let message = format!(
            "feature index {} is given twice in this row; keep one, or add the two values",
            pair[1].0
        );
        return Err(Fault { kind: ErrorKind::Value, offset: pair[1].1, message });
    }
    let mut n = first;
    for (index, _, value) in row.into_iter().filter(|&(_, _, value)| value != 0.0) {
        if let (Some(i), Some(v)) = (slots.idx.get_mut(n), slots.val.get_mut(n)) {
            (*i, *v) = (index - 1, value);
            n += 1;
        }
    }
    Ok(n)
}

/// Says what is wrong with the word at `p`.
#[cold]
fn bad_feature(text: &[u8], p: usize) -> Fault {
    let word = token(text, p);
    let fault = |kind, at: usize, message| Fault { kind, offset: p + at, message };
    let Some(colon) = word.iter().position(|&b| b == b':') else {
        let message =
            format!("{} is not a feature; features are index:value, as in 3:0.5", quote(word));
        return fault(ErrorKind::Syntax, 0, message);
    };
    let (index, value) = (&word[..colon], &word[colon + 1..]);
    if index == b"qid" {
        let message = format!(
            "{} marks ranking data (LETOR, SVMrank), where it stands once, right after the grade: train on it with read_ranking; or \
             remove the qid words to use it as classification or regression data",
            quote(word)
        );
        return fault(ErrorKind::Format, 0, message);
    }
    if index.is_empty() || !index.iter().all(u8::is_ascii_digit) {
        let message =
            format!("feature index {} is not a number from 1 to {MAX_INDEX}", quote(index));
        return fault(ErrorKind::Value, 0, message);
    }
    if index.iter().all(|&b| b == b'0') {
        let message = "feature index 0; indices start at 1, so add 1 to every index of the file";
        return fault(ErrorKind::Value, 0, message.to_owned());
    }
    if long_index(text, p).is_none_or(|(index, _)| index > MAX_INDEX.into()) {
        let message =
            format!("feature index {} is over {MAX_INDEX}, the largest there may be", quote(index));
        return fault(ErrorKind::Value, 0, message);
    }
    let message = match parse_f64(value) {
        Some(v) if v.is_finite() => format!(
            "value {} is too large for 32-bit numbers; rescale the feature to below 3.4e38",
            quote(value)
        ),
        Some(_) => {
            format!("value {} is not finite; remove the feature or fill in a number", quote(value))
        }
        None if value.is_empty() && is_delimiter(byte(text, p + word.len())) => {
            "no value after the colon; write index:value without blanks".to_owned()
        }
        None => format!("value {} is not a number", quote(value)),
    };
    fault(ErrorKind::Value, colon + 1, message)
}
