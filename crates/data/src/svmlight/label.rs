//! What stands before the features of a LIBSVM row: a label, or a list of them, and perhaps a weight.

use super::scan::{Fault, Piece};
use crate::error::{ErrorKind, quote};
use crate::labels::{MAX_GRADE, check_grade, number_name};
use crate::number::{byte, digits8, is_delimiter, parse_f64, scan_f32, token};
use crate::schema::TargetKind;

/// What labels must be.
#[derive(Clone, Copy)]
pub(super) struct LabelRule {
    pub(super) target: TargetKind,
    pub(super) required: bool,
}

/// Labels as they stand.
#[derive(Default)]
pub(super) struct RawLabels {
    /// NaN for a label that is not a number.
    pub(super) numbers: Vec<f64>,
    /// What each NaN stands for: a name, or a row without a label.
    pub(super) others: Vec<Option<String>>,
    /// For sets of labels, where each row's end in `numbers`; else it is one per row.
    pub(super) ends: Vec<usize>,
}

impl RawLabels {
    pub(super) fn append(&mut self, piece: RawLabels) {
        let first = self.numbers.len();
        self.numbers.extend(piece.numbers);
        self.others.extend(piece.others);
        self.ends.extend(piece.ends.iter().map(|end| first + end));
    }

    /// Drops what is repeated among the labels from `first` on, the last row's.
    #[cold]
    fn keep_once(&mut self, first: usize) {
        let row = self.numbers.split_off(first);
        let n_names = row.iter().filter(|v| v.is_nan()).count();
        let names = self.others.split_off(self.others.len() - n_names);
        for number in row.into_iter().filter(|v| !v.is_nan()) {
            if !self.numbers[first..].contains(&number) {
                self.numbers.push(number);
            }
        }
        let first_name = self.others.len();
        for name in names {
            if !self.others[first_name..].contains(&name) {
                self.others.push(name);
                self.numbers.push(f64::NAN);
            }
        }
    }

    fn push(&mut self, label: Label) {
        let (number, name) = match label {
            Label::Number(number) => (number, None),
            Label::Name(name) => (f64::NAN, Some(Some(name))),
            Label::Missing => (f64::NAN, Some(None)),
        };
        self.numbers.push(number);
        self.others.extend(name);
    }
}

enum Label {
    Number(f64),
    Name(String),
    Missing,
}

/// Takes the label at `p`, with its weight, and returns the place after it.
pub(super) fn one(
    text: &[u8],
    p: usize,
    rule: LabelRule,
    piece: &mut Piece,
) -> Result<usize, Fault> {
    // A small integer needs no further look.
    let sign = byte(text, p);
    let signed = p + usize::from(sign == b'-' || sign == b'+');
    let (value, n_digits) = digits8(text, signed);
    let is_small = (1..8).contains(&n_digits) && is_delimiter(byte(text, signed + n_digits));
    let may_be_grade = sign != b'-' && value as f64 <= MAX_GRADE;
    if is_small && (may_be_grade || rule.target != TargetKind::Grades) {
        let value = if sign == b'-' { -(value as f64) } else { value as f64 };
        piece.labels.numbers.push(value);
        return Ok(signed + n_digits);
    }
    let word = token(text, p);
    if word.contains(&b':') {
        if rule.required && rule.target == TargetKind::Grades {
            let message = format!("the row has no grade: its first word is {}", quote(word));
            return Err(Fault { kind: ErrorKind::Label, offset: p, message });
        }
        if rule.required && !word.starts_with(b"qid:") {
            let message =
                format!("the row has no label: its first word {} is a feature", quote(word));
            return Err(Fault { kind: ErrorKind::Label, offset: p, message });
        }
        piece.labels.push(Label::Missing);
        return Ok(p);
    }
    let name = without_weight(word, p, piece)?;
    piece.labels.push(label(name, p, rule.target)?);
    Ok(p + word.len())
}

/// Takes a list as `0,4,7` at `p`, with the row's weight, and returns the place after it.
pub(super) fn list(
    text: &[u8],
    p: usize,
    rule: LabelRule,
    piece: &mut Piece,
) -> Result<usize, Fault> {
    let first = piece.labels.numbers.len();
    let after = match small_integers(text, p, &mut piece.labels.numbers) {
        Some(after) => after,
        None => {
            piece.labels.numbers.truncate(first);
            any_list(text, p, rule, piece)?
        }
    };
    let labels = &mut piece.labels;
    if !labels.numbers[first..].is_sorted_by(|a, b| a < b) {
        labels.keep_once(first);
        piece.duplicates.extend(duplicate(&text[p..after], p));
    }
    let labels = &mut piece.labels;
    labels.ends.push(labels.numbers.len());
    Ok(after)
}

/// A row that starts with a blank has no labels. Its first word, at `p`, must be a feature.
pub(super) fn empty_list(text: &[u8], p: usize, piece: &mut Piece) -> Result<usize, Fault> {
    let word = token(text, p);
    if !word.is_empty() && !word.contains(&b':') {
        let message = format!(
            "the row starts with a blank, which says that it has no labels, but its first word {} is not \
             a feature; remove the blank if it is a label",
            quote(word)
        );
        return Err(Fault { kind: ErrorKind::Label, offset: p, message });
    }
    piece.labels.ends.push(piece.labels.numbers.len());
    Ok(p)
}

/// `0,4,7` and a delimiter, with the place of that. `None` says that the list is of another form.
fn small_integers(text: &[u8], mut p: usize, numbers: &mut Vec<f64>) -> Option<usize> {
    loop {
        let (value, n_digits) = digits8(text, p);
        if !(1..8).contains(&n_digits) {
            return None;
        }
        numbers.push(value as f64);
        p += n_digits;
        match byte(text, p) {
            b',' => p += 1,
            b if is_delimiter(b) => return Some(p),
            _ => return None,
        }
    }
}

fn any_list(text: &[u8], p: usize, rule: LabelRule, piece: &mut Piece) -> Result<usize, Fault> {
    let word = token(text, p);
    if word.contains(&b':') {
        if rule.required && !word.starts_with(b"qid:") {
            let message = format!(
                "the row has no labels: its first word {} is a feature; if it is to have none, start it \
                 with a space",
                quote(word)
            );
            return Err(Fault { kind: ErrorKind::Label, offset: p, message });
        }
        return Ok(p);
    }
    let names = without_weight(word, p, piece)?;
    for (offset, name) in names_of(names, p) {
        if name.is_empty() {
            let message =
                format!("an empty label in {}; remove the comma that is too many", quote(names));
            return Err(Fault { kind: ErrorKind::Label, offset, message });
        }
        piece.labels.push(label(name, offset, rule.target)?);
    }
    Ok(p + word.len())
}

/// The names of a list that starts at `p`, with their places; none of an empty list.
fn names_of(list: &[u8], mut p: usize) -> impl Iterator<Item = (usize, &[u8])> {
    list.split(|&b| b == b',').filter(|_| !list.is_empty()).map(move |name| {
        let offset = p;
        p += name.len() + 1;
        (offset, name)
    })
}

/// The name and the second place of a label that the list at `p` gives twice: `1` and `1.0` are the same.
#[cold]
fn duplicate(word: &[u8], p: usize) -> Option<(String, usize)> {
    let list = word.iter().rposition(|&b| b == b'|').map_or(word, |bar| &word[..bar]);
    let mut names: Vec<(String, usize)> = names_of(list, p)
        .map(|(offset, name)| {
            let name = String::from_utf8_lossy(name);
            (parse_f64(name.as_bytes()).map_or_else(|| name.into_owned(), number_name), offset)
        })
        .collect();
    names.sort_unstable();
    let twins = names.windows(2).filter(|w| w[0].0 == w[1].0);
    twins.map(|w| w[1].clone()).min_by_key(|(_, offset)| *offset)
}

/// The word at `p` up to a bar, and the weight behind it taken.
fn without_weight<'a>(word: &'a [u8], p: usize, piece: &mut Piece) -> Result<&'a [u8], Fault> {
    let Some(bar) = word.iter().rposition(|&b| b == b'|') else { return Ok(word) };
    piece.weights.push((piece.row_ends.len(), weight(&word[bar + 1..], p + bar + 1)?));
    Ok(&word[..bar])
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

/// A number, a class name, or an error that says what it looks like.
fn label(name: &[u8], offset: usize, target: TargetKind) -> Result<Label, Fault> {
    let fault = |kind, message| Err(Fault { kind, offset, message });
    let parsed = parse_f64(name);
    if target == TargetKind::Grades
        && let Err(message) = check_grade(name, parsed)
    {
        return fault(ErrorKind::Label, message);
    }
    if let Some(value) = parsed.filter(|v| v.is_finite()) {
        return Ok(Label::Number(value));
    }
    if name.contains(&b',') {
        let message = format!(
            "label {} has a comma: several labels per row are multilabel data, so say options.target = labels; a \
             decimal number is written with a point",
            quote(name)
        );
        return fault(ErrorKind::Label, message);
    }
    if parsed.is_some() {
        return fault(ErrorKind::Label, format!("label {} is not a finite number", quote(name)));
    }
    if target == TargetKind::Real {
        let message =
            format!("label {} is not a number; regression needs one on each row", quote(name));
        return fault(ErrorKind::Label, message);
    }
    match std::str::from_utf8(name) {
        Ok("") => fault(ErrorKind::Label, "an example weight without a label before it".to_owned()),
        Ok(name) => Ok(Label::Name(name.to_owned())),
        Err(_) => fault(ErrorKind::Encoding, format!("label {} is not valid UTF-8", quote(name))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{read, read_with};
    use crate::dataset::{Dataset, Targets, UNSEEN};
    use crate::schema::TargetKind;

    fn lists(d: &Dataset) -> Vec<&[u32]> {
        let Targets::Labels(y) = &d.y else { panic!("labels were asked for: {:?}", d.y) };
        y.iter().collect()
    }

    fn train(text: &str) -> Dataset {
        read(text.as_bytes(), "t", TargetKind::Labels).unwrap()
    }

    #[test]
    fn a_row_may_have_many_labels_or_none() {
        let d = train("4,0,10 1:0.5\n 2:1\n\n\t1:1\n|2.5 1:1\n10|0 2:2\r\n \n  # 3:3\n4\n");
        assert_eq!(d.schema.classes, ["0", "4", "10"]);
        assert_eq!(lists(&d), [&[0, 1, 2][..], &[], &[], &[], &[2], &[], &[1]]);
        assert_eq!((d.x.nnz(), d.x.n_cols()), (5, 2));
        assert_eq!(d.weights, Some(vec![1.0, 1.0, 1.0, 2.5, 0.0, 1.0, 1.0]));
    }

    #[test]
    fn label_names_follow_numbers() {
        let d = train("sad,7.0,happy 1:1\n+7 1:1\n");
        assert_eq!(d.schema.classes, ["7", "happy", "sad"]);
        assert_eq!(lists(&d), [&[0, 1, 2][..], &[0]]);
    }

    #[test]
    fn unseen_labels_stay_several_and_come_last() {
        let d = train("0,4 1:1\n");
        let t = read_with(b"9,4,x 1:1\n1:1\n", "t", &d.schema).unwrap();
        assert_eq!(lists(&t), [&[1, UNSEEN, UNSEEN][..], &[]]);
        assert!(t.warnings[0].contains("2 labels that training did not see (`9`, `x`)"));
        let t = read_with(b"1:1\n 1:1\n", "t", &d.schema).unwrap();
        assert_eq!((t.y, t.warnings.len()), (Targets::None, 0));
    }

    /// Reuters-21578 has such rows.
    #[test]
    fn a_label_that_is_given_twice_is_kept_once() {
        let d = train("1,4 1:1\n3,1,2,1 1:1\nx,4,+4.0,x 1:1\n");
        assert_eq!(lists(&d), [&[0, 3][..], &[0, 1, 2], &[3, 4]]);
        assert_eq!(d.warnings, ["t:2:7: label `1` is given twice; kept once (and 1 more row)"]);
        let t = read_with("\u{e9},z,\u{e9}|2 1:1\n".as_bytes(), "t", &d.schema).unwrap();
        assert_eq!(lists(&t), [[UNSEEN, UNSEEN]]);
        assert_eq!(t.warnings[0], "t:1:6: label `\u{e9}` is given twice; kept once");
    }

    #[test]
    fn faults_of_lists_have_their_place() {
        for (text, place, said) in [
            ("1,,2 1:1\n", (1, 3), "empty label in `1,,2`"),
            ("1, 1:1\n", (1, 3), "empty label"),
            ("1,nan 1:1\n", (1, 3), "not a finite number"),
            ("1:1 2:2\n", (1, 1), "start it with a space"),
            ("1 1:1\n 0,4 1:1\n", (2, 2), "`0,4` is not a feature; remove the blank"),
            ("1,2|x 1:1\n", (1, 5), "example weight `x`"),
        ] {
            let error = read(text.as_bytes(), "t", TargetKind::Labels).unwrap_err();
            assert_eq!((error.line, error.column), (Some(place.0), Some(place.1)), "{error}");
            assert!(error.message.contains(said), "{error}");
        }
        let error = read(b"1,3 1:1\n", "t", TargetKind::Classes).unwrap_err();
        assert!(error.message.contains("options.target = labels"), "{error}");
    }
}
