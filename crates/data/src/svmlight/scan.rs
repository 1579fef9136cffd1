//! The scanner of one piece of a LIBSVM file: a single walk over its bytes.

use std::ops::Range;

use crate::error::{ErrorKind, quote};
use crate::number::{
    WINDOW, byte, digits8, is_delimiter, parse_f64, scan_f32, scan_feature, token,
};
use crate::schema::TargetKind;

/// The largest index that LIBSVM data may have, so that it and one more fit in 32 bits.
const MAX_INDEX: u32 = 4_294_967_294;

/// What labels must be.
#[derive(Clone, Copy)]
pub(super) struct Labels {
    pub(super) target: TargetKind,
    pub(super) required: bool,
}

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
    pub(super) max_index: u32,
    pub(super) n_unsorted: usize,
    pub(super) first_unsorted: Option<usize>,
    pub(super) fault: Option<Fault>,
}

/// The first thing that is wrong, at a byte of the file.
pub(super) struct Fault {
    pub(super) kind: ErrorKind,
    pub(super) offset: usize,
    pub(super) message: String,
}

/// Labels as they stand: numbers, and the few rows that have another name (`Some`) or none.
#[derive(Default)]
pub(super) struct RawLabels {
    pub(super) numbers: Vec<f64>,
    pub(super) others: Vec<(usize, Option<String>)>,
}

impl RawLabels {
    pub(super) fn with_capacity(n: usize) -> Self {
        Self { numbers: Vec::with_capacity(n), others: Vec::new() }
    }

    pub(super) fn append(&mut self, piece: RawLabels, first_row: usize) {
        self.numbers.extend(piece.numbers);
        self.others.extend(piece.others.into_iter().map(|(row, name)| (first_row + row, name)));
    }
}

/// Reads the lines of `span`.
pub(super) fn scan(text: &[u8], span: Range<usize>, mut slots: Slots<'_>, labels: Labels) -> Piece {
    let mut piece = Piece::default();
    let mut p = span.start;
    let mut nnz = 0;
    while p < span.end {
        p = skip_blanks(text, p);
        match byte(text, p) {
            b'\n' => p += 1,
            b'#' => p = line_end(text, p) + 1,
            _ => {
                let row = label(text, p, labels, &mut piece)
                    .and_then(|p| features(text, p, nnz, &mut slots, &mut piece));
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
fn skip_blanks(text: &[u8], mut p: usize) -> usize {
    while matches!(byte(text, p), b' ' | b'\t' | b'\r') {
        p += 1;
    }
    p
}

fn line_end(text: &[u8], p: usize) -> usize {
    let rest = text.get(p..).unwrap_or_default();
    rest.iter().position(|&b| b == b'\n').map_or(text.len(), |n| p + n)
}

/// Takes the label at `p`, with its weight, and returns the place after it.
fn label(text: &[u8], p: usize, labels: Labels, piece: &mut Piece) -> Result<usize, Fault> {
    // A small integer needs no further look.
    let sign = byte(text, p);
    let signed = p + usize::from(sign == b'-' || sign == b'+');
    let (value, n_digits) = digits8(text, signed);
    if (1..8).contains(&n_digits) && is_delimiter(byte(text, signed + n_digits)) {
        let value = if sign == b'-' { -(value as f64) } else { value as f64 };
        piece.labels.numbers.push(value);
        return Ok(signed + n_digits);
    }
    let word = token(text, p);
    let row = piece.row_ends.len();
    if word.contains(&b':') {
        if labels.required && !word.starts_with(b"qid:") {
            let message =
                format!("the row has no label: its first word {} is a feature", quote(word));
            return Err(Fault { kind: ErrorKind::Label, offset: p, message });
        }
        piece.labels.numbers.push(f64::NAN);
        piece.labels.others.push((row, None));
        return Ok(p);
    }
    let name = match word.iter().rposition(|&b| b == b'|') {
        None => word,
        Some(bar) => {
            piece.weights.push((row, weight(&word[bar + 1..], p + bar + 1)?));
            &word[..bar]
        }
    };
    match parse_f64(name) {
        Some(value) if value.is_finite() => piece.labels.numbers.push(value),
        parsed => {
            let name = other_name(name, p, labels.target, parsed.is_some())?;
            piece.labels.numbers.push(f64::NAN);
            piece.labels.others.push((row, Some(name)));
        }
    }
    Ok(p + word.len())
}

fn weight(word: &[u8], offset: usize) -> Result<f32, Fault> {
    match scan_f32(word, 0) {
        Some((w, end)) if end == word.len() && w.is_finite() && w >= 0.0 => Ok(w),
        _ => {
            let message = format!(
                "example weight {} is not a number of at least 0; write label|weight, as in +1|2.5",
                quote(word)
            );
            Err(Fault { kind: ErrorKind::Weight, offset, message })
        }
    }
}

/// A label that is no finite number: a class name, or an error that says what it looks like.
fn other_name(
    name: &[u8],
    offset: usize,
    target: TargetKind,
    not_finite: bool,
) -> Result<String, Fault> {
    let fault = |kind, message| Err(Fault { kind, offset, message });
    if name.contains(&b',') {
        let message = format!(
            "label {} has a comma: several labels a row are multilabel data, which this reader does not \
             take; a decimal number is written with a point",
            quote(name)
        );
        return fault(ErrorKind::Label, message);
    }
    if not_finite {
        return fault(ErrorKind::Label, format!("label {} is not a finite number", quote(name)));
    }
    if target == TargetKind::Real {
        let message =
            format!("label {} is not a number; regression needs one on each row", quote(name));
        return fault(ErrorKind::Label, message);
    }
    match std::str::from_utf8(name) {
        Ok("") => fault(ErrorKind::Label, "an example weight without a label before it".to_owned()),
        Ok(name) => Ok(name.to_owned()),
        Err(_) => fault(ErrorKind::Encoding, format!("label {} is not valid UTF-8", quote(name))),
    }
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
        let message = format!(
            "{} is not a feature; LIBSVM features are index:value, as in 3:0.5",
            quote(word)
        );
        return fault(ErrorKind::Syntax, 0, message);
    };
    let (index, value) = (&word[..colon], &word[colon + 1..]);
    if index == b"qid" {
        let message = format!(
            "{} marks ranking data (LETOR, SVMrank), which is not classification or regression data; \
             remove the qid words to use it as such",
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
        let message =
            "feature index 0; LIBSVM indices start at 1, so add 1 to every index of the file";
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
