//! Vowpal Wabbit: `label [importance] ['tag]|namespace feature[:value] …`, one example per line.
//!
//! A feature's name is `namespace^feature`, as VW's audit prints it; without a namespace it is the feature's
//! own. Features are named, not hashed, so that a model can say what it uses. A feature that is given twice has
//! the sum, which is what its weight is multiplied by in VW.

use std::ops::ControlFlow;

use super::json::Json;
use super::{Cell, FEATURES, Rows, Table, TableRow, Want};
use crate::blocks::{Block, RowEnd, Step};
use crate::error::{Error, ErrorKind, quote};
use crate::number::parse_f64;
use crate::schema::ColumnKind;

const LABEL: usize = 0;
const WEIGHT: usize = 1;
const NAMED: usize = 2;

pub(super) struct VwRows<'a> {
    table: Table<'a>,
    names: [String; 3],
}

impl<'a> VwRows<'a> {
    pub(super) fn new(table: Table<'a>) -> Self {
        Self { table, names: ["label", "weight", FEATURES].map(str::to_owned) }
    }

    fn walk_block(&self, block: Block<'_>, f: &mut dyn FnMut(&dyn TableRow) -> Step) -> Step {
        let (file, before) = (self.table.file, block.n_lines_before);
        let text = &*self.table.replaced.decode(&block, file)?;
        let mut features = Features::default();
        for (line, row) in (before + 1..).zip(text.lines()) {
            if row.trim().is_empty() {
                continue;
            }
            let (labels, weight) = parse(row, &mut features).map_err(|(kind, at, message)| {
                Error::in_line(kind, file, line, Some(at + 1), message)
            })?;
            let weight = Json::Number(weight);
            let step = f(&VwRow { line, labels, weight, features: &features.list() })?;
            if step.is_break() {
                return Ok(step);
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

impl Rows for VwRows<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn for_each(
        &self,
        _wanted: &[Want],
        f: &mut dyn FnMut(&dyn TableRow) -> Step,
    ) -> Result<(), Error> {
        let Table { input, file, .. } = self.table;
        input.for_each_block(file, RowEnd::Newline, &mut |block| self.walk_block(block, f))
    }

    fn column_for(&self, kind: &ColumnKind) -> Option<usize> {
        match kind {
            ColumnKind::Label => Some(LABEL),
            ColumnKind::Weight => Some(WEIGHT),
            ColumnKind::Named { .. } => Some(NAMED),
            _ => None,
        }
    }
}

struct VwRow<'r> {
    line: usize,
    labels: Vec<&'r str>,
    weight: Json<'r>,
    features: &'r [(&'r str, f64)],
}

/// The features of a row, with their names in one buffer.
#[derive(Default)]
struct Features {
    names: String,
    /// Where each name ends, and the value.
    ends: Vec<(usize, f64)>,
}

impl Features {
    fn list(&self) -> Vec<(&str, f64)> {
        let mut start = 0;
        let feature = |&(end, value): &(usize, f64)| {
            let name = &self.names[start..end];
            start = end;
            (name, value)
        };
        self.ends.iter().map(feature).collect()
    }
}

/// What is wrong, and at which byte of the line.
type Fault = (ErrorKind, usize, String);

/// The labels and the weight of a row; its features go to `features`.
fn parse<'r>(row: &'r str, features: &mut Features) -> Result<(Vec<&'r str>, f64), Fault> {
    features.names.clear();
    features.ends.clear();
    let Some(bar) = row.find('|') else {
        let message =
            "no | in the line; Vowpal Wabbit writes `label [importance] ['tag]| features`";
        return Err((ErrorKind::Syntax, 0, message.to_owned()));
    };
    let mut at = bar + 1;
    for namespace in row[at..].split('|') {
        add_namespace(namespace, at, features)?;
        at += namespace.len() + 1;
    }
    head(&row[..bar])
}

/// The labels and the weight in what stands before the first bar.
fn head(head: &str) -> Result<(Vec<&str>, f64), Fault> {
    let mut words: Vec<(usize, &str)> = words(head, 0).collect();
    // The last word is a tag if it says so, or touches the bar.
    let touches = !head.ends_with(|c: char| c.is_ascii_whitespace());
    words.pop_if(|(_, word)| touches || word.starts_with('\''));
    let mut words = words.into_iter();
    let labels = match words.next() {
        None => Vec::new(),
        Some((at, word)) if word.contains(':') => {
            let message = format!(
                "label {} has a cost for each class; only plain labels are read",
                quote(word)
            );
            return Err((ErrorKind::Label, at, message));
        }
        Some((at, word)) => {
            let labels: Vec<&str> = word.split(',').collect();
            if labels.contains(&"") {
                let message =
                    format!("an empty label in {}; remove the comma that is too many", quote(word));
                return Err((ErrorKind::Label, at, message));
            }
            labels
        }
    };
    let weight = match words.next() {
        None => 1.0,
        Some((at, word)) => {
            let weight = parse_f64(word).filter(|w| (*w as f32).is_finite() && *w >= 0.0);
            weight.ok_or_else(|| {
                let message = format!(
                    "importance {} is not a number of at least 0; write `label importance | …`, with a quote \
                     before a tag, as in 'tag",
                    quote(word)
                );
                (ErrorKind::Weight, at, message)
            })?
        }
    };
    match words.next() {
        None => Ok((labels, weight)),
        Some((at, word)) => {
            let message = format!(
                "{} is more than a label and an importance; initial predictions are not read: remove it",
                quote(word)
            );
            Err((ErrorKind::Syntax, at, message))
        }
    }
}

/// Takes the features of a namespace, whose name and scale touch the bar.
fn add_namespace(text: &str, at: usize, features: &mut Features) -> Result<(), Fault> {
    let mut words = words(text, at);
    let anonymous = text.is_empty() || text.starts_with(|c: char| c.is_ascii_whitespace());
    let (namespace, scale) = match anonymous {
        true => ("", 1.0),
        false => words.next().map_or(Ok(("", 1.0)), |(at, word)| named_value(word, at))?,
    };
    for (at, word) in words {
        let (name, value) = named_value(word, at)?;
        let value = scale * value;
        if !(value as f32).is_finite() {
            let message = format!("{} is too large for 32-bit numbers", quote(word));
            return Err((ErrorKind::Value, at, message));
        }
        if !namespace.is_empty() {
            features.names.push_str(namespace);
            features.names.push('^');
        }
        features.names.push_str(name);
        features.ends.push((features.names.len(), value));
    }
    Ok(())
}

/// `name:value`, or a name alone, which is 1.
fn named_value(word: &str, at: usize) -> Result<(&str, f64), Fault> {
    let (name, value) = match word.split_once(':') {
        None => (word, Some(1.0)),
        Some((name, value)) => (name, parse_f64(value).filter(|v| v.is_finite())),
    };
    if name.is_empty() {
        let message = format!("{} has no name before the colon; write name:value", quote(word));
        return Err((ErrorKind::Syntax, at, message));
    }
    match value {
        Some(value) => Ok((name, value)),
        None => {
            let message = format!(
                "{}: what follows the colon is not a finite number; write name:value",
                quote(word)
            );
            Err((ErrorKind::Value, at + name.len() + 1, message))
        }
    }
}

/// Words with their places, the first byte being at `at`.
fn words(text: &str, at: usize) -> impl Iterator<Item = (usize, &str)> {
    let start = text.as_ptr() as usize;
    text.split_ascii_whitespace().map(move |word| (at + word.as_ptr() as usize - start, word))
}

impl TableRow for VwRow<'_> {
    fn cell(&self, column: usize) -> Cell<'_> {
        match column {
            LABEL => Cell::Names(&self.labels),
            WEIGHT => Cell::Json(&self.weight),
            _ => Cell::Features(self.features),
        }
    }

    fn place(&self, column: usize) -> (usize, Option<usize>) {
        (self.line, (column != NAMED).then_some(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(row: &str) -> String {
        let mut features = Features::default();
        let (labels, weight) = parse(row, &mut features).unwrap();
        let features: Vec<String> =
            features.list().iter().map(|(name, value)| format!("{name}={value}")).collect();
        format!("{} {weight} {}", labels.join("+"), features.join(" "))
    }

    #[test]
    fn lines_of_the_manual() {
        for (row, expected) in [
            (
                "1 1.0 |MetricFeatures:3.28 height:1.5 length:2.0 |Says black with white stripes",
                "1 1 MetricFeatures^height=4.92 MetricFeatures^length=6.56 Says^black=1 Says^with=1 \
                 Says^white=1 Says^stripes=1",
            ),
            ("1 1.0 zebra|a x", "1 1 a^x=1"),
            ("0 | price:.23 sqft:.25", "0 1 price=0.23 sqft=0.25"),
            ("1 2 'second_house | price:.18", "1 2 price=0.18"),
            ("| a b a:2", " 1 a=1 b=1 a=2"),
            ("'tag |n a", " 1 n^a=1"),
            ("3,7 |", "3+7 1 "),
            ("-1 |a |b x", "-1 1 b^x=1"),
        ] {
            assert_eq!(show(row), expected, "{row}");
        }
    }

    #[test]
    fn faults_are_placed() {
        for (row, at, said) in [
            ("1 a b", 0, "no |"),
            ("1 x | a", 2, "importance `x`"),
            ("1 -2 | a", 2, "importance `-2`"),
            ("1 1 0.5 | a", 4, "initial predictions"),
            ("1:0.5 2:1 | a", 0, "cost for each class"),
            ("1, | a", 0, "empty label"),
            ("1 | a b:x", 8, "`b:x`"),
            ("1 |n:inf a", 5, "`n:inf`"),
            ("1 | :3", 4, "no name before the colon"),
            ("1 | a:1e39", 4, "too large"),
        ] {
            let (_, place, message) = parse(row, &mut Features::default()).unwrap_err();
            assert!(place == at && message.contains(said), "{row}: {place} {message}");
        }
    }
}
