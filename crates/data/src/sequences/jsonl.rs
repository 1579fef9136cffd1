//! One sequence per line: `{"tokens": […], "labels": […]}`, and other lists as further columns; or a text with spans.

use crate::error::{Error, ErrorKind, count, quote};
use crate::format::Format;
use crate::table::json::Json;
use std::borrow::Cow;

use super::options::SequenceOptions;
use super::schema::SequenceSchema;
use super::table::{Sequences, UNLABELLED};
use super::texts;

const TOKENS: &str = "tokens";

/// The columns, from the first object: the tokens, other lists as long, and the labels last.
pub(super) fn learn(
    text: &str,
    file: &str,
    options: &SequenceOptions,
) -> Result<SequenceSchema, Error> {
    let label = options.label.as_deref().unwrap_or("labels");
    let Some((at, line)) = text.lines().enumerate().find(|(_, line)| !line.trim().is_empty())
    else {
        return Err(super::no_sequences(file));
    };
    let entries = object(line, file, at + 1)?;
    if texts::is_text(&entries) {
        return texts::learn(text, file, options);
    }
    let n = match find(&entries, TOKENS) {
        Some(Json::List(tokens)) => tokens.len(),
        _ => return Err(missing(file, at + 1, TOKENS)),
    };
    if find(&entries, label).is_none() {
        return Err(missing(file, at + 1, label));
    }
    let lists = entries.iter().filter(|(key, value)| {
        key != TOKENS && key != label && matches!(value, Json::List(list) if list.len() == n)
    });
    let mut columns = vec![TOKENS.to_owned()];
    columns.extend(lists.map(|(key, _)| key.clone().into_owned()));
    columns.push(label.to_owned());
    Ok(SequenceSchema {
        format: Format::Jsonl,
        label: columns.len() - 1,
        columns,
        labels: Vec::new(),
        texts: None,
    })
}

/// How lines are read.
pub(super) struct Reader<'a> {
    pub(super) format: Format,
    pub(super) options: &'a SequenceOptions,
    pub(super) learning: bool,
}

impl Reader<'_> {
    /// Appends the sequences of a block.
    pub(super) fn read(
        &self,
        block: &str,
        n_lines_before: usize,
        data: &mut Sequences,
    ) -> Result<(), Error> {
        let is_text = data.schema.texts.is_some();
        for (line, n_line) in block.lines().zip(n_lines_before + 1..) {
            match (self.format, is_text) {
                // A line of text without anything on it has its answer, too.
                (Format::Sentences, _) => texts::read_line(line, n_line, data)?,
                _ if line.trim().is_empty() => {}
                (_, true) => texts::read(line, n_line, self.options, self.learning, data)?,
                (_, false) => lists(line, n_line, self.options, data)?,
            }
        }
        Ok(())
    }
}

/// One object of lists.
fn lists(
    line: &str,
    n_line: usize,
    options: &SequenceOptions,
    data: &mut Sequences,
) -> Result<(), Error> {
    let columns = data.schema.columns[..data.schema.label].to_vec();
    let label =
        options.label.clone().unwrap_or_else(|| data.schema.columns[data.schema.label].clone());
    data.n_columns = columns.len();
    let file = data.source.clone();
    let entries = object(line, &file, n_line)?;
    let lists: Vec<&[Json<'_>]> = columns
        .iter()
        .map(|name| match find(&entries, name) {
            Some(Json::List(list)) => Ok(&list[..]),
            _ => Err(missing(&file, n_line, name)),
        })
        .collect::<Result<_, _>>()?;
    let labels = match find(&entries, &label) {
        None | Some(Json::Null) => None,
        Some(Json::List(list)) => Some(&list[..]),
        Some(_) => return Err(missing(&file, n_line, &label)),
    };
    let n = lists[0].len();
    let all = columns.iter().map(String::as_str).zip(lists.iter().copied());
    for (name, list) in all.chain(labels.map(|labels| (label.as_str(), labels))) {
        if list.len() != n {
            let message = format!(
                "{} has {} for {}; each list needs one entry for each token",
                quote(name),
                count(list.len(), "value"),
                count(n, "token")
            );
            return Err(Error::in_line(ErrorKind::Columns, &file, n_line, None, message));
        }
    }
    let start = data.text.len();
    for t in 0..n {
        for (list, name) in lists.iter().zip(&columns) {
            let cell = text_of(&list[t], name, &file, n_line)?;
            data.cells.push(((data.text.len() - start) as u32, cell.len() as u32));
            data.text.push_str(&cell);
        }
        let gold = match labels.map(|labels| &labels[t]) {
            None | Some(Json::Null) => UNLABELLED,
            Some(value) => {
                let name = text_of(value, &label, &file, n_line)?;
                match &options.unlabelled {
                    Some(marker) if *marker == name => UNLABELLED,
                    _ => data.label(&name),
                }
            }
        };
        data.gold.push(gold);
    }
    // A file may have labels in some lines only: it has a label column if one has.
    data.has_labels = labels.is_some() || (data.has_labels && !data.is_empty());
    let weight = match options.weight.as_deref().and_then(|key| find(&entries, key)) {
        None => None,
        Some(value) => Some(weight_of(value, &file, n_line)?),
    };
    data.weigh(weight);
    let end = data.text.len();
    data.end_sequence(start, end, n_line)
}

/// How much a sequence counts.
pub(super) fn weight_of(value: &Json<'_>, file: &str, n_line: usize) -> Result<f32, Error> {
    let weight = value.number().filter(|w| w.is_finite() && *w >= 0.0);
    weight.map(|w| w as f32).ok_or_else(|| {
        let message = format!("{value} is not a weight; give a number of 0 or more");
        Error::in_line(ErrorKind::Value, file, n_line, None, message)
    })
}

pub(super) fn find<'a, 'b>(
    entries: &'a [(Cow<'b, str>, Json<'b>)],
    key: &str,
) -> Option<&'a Json<'b>> {
    entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
}

pub(super) fn object<'a>(
    line: &'a str,
    file: &str,
    n_line: usize,
) -> Result<Vec<(Cow<'a, str>, Json<'a>)>, Error> {
    match serde_json::from_str(line) {
        Ok(Json::Object(entries)) => Ok(entries),
        Ok(other) => {
            let message =
                format!("{other} is not an object; write {{\"tokens\": […], \"labels\": […]}}");
            Err(Error::in_line(ErrorKind::Syntax, file, n_line, None, message))
        }
        Err(e) => {
            let message = format!("not JSON: {e}");
            Err(Error::in_line(ErrorKind::Syntax, file, n_line, Some(e.column()), message))
        }
    }
}

pub(super) fn text_of<'a>(
    value: &'a Json<'_>,
    name: &str,
    file: &str,
    n_line: usize,
) -> Result<Cow<'a, str>, Error> {
    match value {
        Json::Text(text) => Ok(Cow::Borrowed(text)),
        other => other.name().ok_or_else(|| {
            let message = format!("{} has {other} where a text must be", quote(name));
            Error::in_line(ErrorKind::Value, file, n_line, None, message)
        }),
    }
}

fn missing(file: &str, n_line: usize, name: &str) -> Error {
    let message = format!("the object has no list {}: one value for each token", quote(name));
    Error::in_line(ErrorKind::Columns, file, n_line, None, message)
}
