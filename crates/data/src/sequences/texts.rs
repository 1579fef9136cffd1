//! Raw texts with spans of characters, as Prodigy, spaCy and doccano keep them: `{"text": "…", "spans": [{"start": 0, "end": 5, "label": "PER"}]}`,
//! or with triples `[0, 5, "PER"]` in a list `entities` or `label`.
//!
//! A text becomes words ([`words`]), and its spans labels `B-X`, `I-X` and `O`. The places of the words are kept: a cell is a part of the text.

use crate::error::{Error, ErrorKind, quote};
use crate::format::Format;
use crate::table::json::Json;

use super::jsonl::{find, object, text_of};
use super::options::SequenceOptions;
use super::schema::{SequenceSchema, SpanForm};
use super::table::{Sequences, UNLABELLED};
use super::words::words;

pub(super) const TEXT: &str = "text";
/// Where spans are, unless the options say it.
const KEYS: [&str; 4] = ["spans", "entities", "label", "labels"];

type Entries<'a> = [(std::borrow::Cow<'a, str>, Json<'a>)];

/// Whether an object is a text, and not a list of tokens.
pub(super) fn is_text(entries: &Entries<'_>) -> bool {
    let tokens = match find(entries, "tokens") {
        // Prodigy's own tokens are objects, with places in the text.
        Some(Json::List(list)) => !list.iter().any(|token| matches!(token, Json::Object(_))),
        _ => false,
    };
    !tokens && matches!(find(entries, TEXT), Some(Json::Text(_)))
}

/// What the first objects say.
pub(super) fn learn(
    text: &str,
    file: &str,
    options: &SequenceOptions,
) -> Result<SequenceSchema, Error> {
    let (mut key, mut form) = (options.label.clone(), None);
    for (line, n_line) in text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty()) {
        let entries = object(line, file, n_line)?;
        let is_list = |name: &&str| matches!(find(&entries, name), Some(Json::List(_)));
        if key.is_none() {
            key = KEYS.iter().find(|name| is_list(name)).map(|&name| name.to_owned());
        }
        let Some(Json::List(spans)) = key.as_deref().and_then(|key| find(&entries, key)) else {
            continue;
        };
        match spans.first() {
            Some(Json::List(_)) => form = Some(SpanForm::Triples),
            Some(Json::Object(_)) => form = Some(SpanForm::Objects),
            _ => continue,
        }
        break;
    }
    let Some(key) = key else {
        let message = "the texts have no list of spans, as \"spans\": [{\"start\": 0, \"end\": 5, \"label\": \"PER\"}]; name it with options.label";
        return Err(Error::new(ErrorKind::Columns, file, message));
    };
    Ok(SequenceSchema {
        format: Format::Jsonl,
        columns: vec![TEXT.to_owned(), key],
        label: 1,
        labels: Vec::new(),
        texts: Some(form.unwrap_or(SpanForm::Objects)),
    })
}

/// One text of a file of plain lines.
pub(super) fn read_line(line: &str, n_line: usize, data: &mut Sequences) -> Result<(), Error> {
    data.n_columns = 1;
    data.has_labels = false;
    let object = serde_json::json!({ TEXT: line }).to_string();
    add(line, n_line, None, object, data)
}

/// One object; without spans its words have no labels.
pub(super) fn read(
    line: &str,
    n_line: usize,
    options: &SequenceOptions,
    learning: bool,
    data: &mut Sequences,
) -> Result<(), Error> {
    data.n_columns = 1;
    let file = data.source.clone();
    let entries = object(line, &file, n_line)?;
    let error = |message: String| Error::in_line(ErrorKind::Value, &file, n_line, None, message);
    let text = match find(&entries, TEXT) {
        Some(value @ Json::Text(_)) => text_of(value, TEXT, &file, n_line)?,
        _ => return Err(error("the object has no \"text\"".into())),
    };
    // What an annotator refused is nothing to learn from.
    let answer = find(&entries, "answer").and_then(Json::name);
    if learning && answer.is_some_and(|answer| answer == "reject" || answer == "ignore") {
        data.spans.refused += 1;
        return Ok(());
    }
    let key = options.label.as_deref().unwrap_or(&data.schema.columns[1]);
    let spans = match find(&entries, key) {
        None | Some(Json::Null) => None,
        Some(Json::List(list)) => Some(
            list.iter()
                .map(|span| parse(span, key))
                .collect::<Result<Vec<_>, _>>()
                .map_err(error)?,
        ),
        Some(other) => {
            return Err(error(format!("{} is {other}, not a list of spans", quote(key))));
        }
    };
    data.has_labels = spans.is_some() || (data.has_labels && !data.is_empty());
    let weight = match options.weight.as_deref().and_then(|key| find(&entries, key)) {
        None => None,
        Some(value) => Some(super::jsonl::weight_of(value, &file, n_line)?),
    };
    data.weigh(weight);
    add(&text, n_line, spans, line.to_owned(), data)
}

/// Start and end in characters, and the label.
type CharSpan<'a> = (usize, usize, std::borrow::Cow<'a, str>);

fn parse<'a>(span: &'a Json<'_>, key: &str) -> Result<CharSpan<'a>, String> {
    let (start, end, label) = match span {
        Json::Object(entries) => {
            (find(entries, "start"), find(entries, "end"), find(entries, "label"))
        }
        Json::List(list) => (list.first(), list.get(1), list.get(2)),
        _ => (None, None, None),
    };
    let place = |value: Option<&Json<'_>>| {
        let n = value.and_then(Json::number).filter(|n| *n >= 0.0 && n.fract() == 0.0);
        n.filter(|n| *n <= u32::MAX as f64).map(|n| n as usize)
    };
    match (place(start), place(end), label.and_then(Json::name)) {
        (Some(start), Some(end), Some(label)) if start < end && !label.is_empty() => {
            Ok((start, end, label))
        }
        _ => Err(format!(
            "{} has something that is not a span; write {{\"start\": 0, \"end\": 5, \"label\": \"PER\"}} or [0, 5, \"PER\"], with places counted in characters from 0 and the end after the last one",
            quote(key)
        )),
    }
}

fn add(
    text: &str,
    n_line: usize,
    spans: Option<Vec<CharSpan<'_>>>,
    object: String,
    data: &mut Sequences,
) -> Result<(), Error> {
    let start = data.text.len();
    data.text.push_str(text);
    let before = data.gold.len();
    for word in words(text) {
        data.cells.push((word.start as u32, word.len() as u32));
        data.gold.push(UNLABELLED);
    }
    // Every text has its answer, even one without words.
    if data.gold.len() == before {
        data.cells.push((0, 0));
        data.gold.push(UNLABELLED);
    }
    if let Some(spans) = spans {
        label(text, spans, n_line, before, data)?;
    }
    data.objects.push(object);
    let end = data.text.len();
    data.end_sequence(start, end, n_line)
}

/// Labels for the words from `first` on.
fn label(
    text: &str,
    mut spans: Vec<CharSpan<'_>>,
    n_line: usize,
    first: usize,
    data: &mut Sequences,
) -> Result<(), Error> {
    let outside = data.label("O");
    data.gold[first..].fill(outside);
    // Characters to bytes; in ASCII they are the same.
    let bytes: Option<Vec<usize>> = (!text.is_ascii())
        .then(|| text.char_indices().map(|(at, _)| at).chain([text.len()]).collect());
    let n_chars = bytes.as_ref().map_or(text.len(), |bytes| bytes.len() - 1);
    let byte = |at: usize| bytes.as_ref().map_or(at, |bytes| bytes[at]);
    // The longer of two that overlap is kept.
    spans.sort_by_key(|&(start, end, _)| (std::cmp::Reverse(end - start), start));
    let mut taken = vec![false; data.gold.len() - first];
    for (start, end, name) in spans {
        if end > n_chars {
            let message = format!(
                "a span ends at character {end} of a text of {n_chars}; are its places counted in bytes?"
            );
            return Err(Error::in_line(ErrorKind::Value, &data.source, n_line, None, message));
        }
        let (start, end) = (byte(start), byte(end));
        let cells = &data.cells[data.cells.len() - taken.len()..];
        let from = cells.partition_point(|&(at, len)| (at + len) as usize <= start);
        let to = cells.partition_point(|&(at, _)| (at as usize) < end);
        if from >= to {
            data.spans.empty += 1;
            continue;
        }
        if taken[from..to].contains(&true) {
            data.spans.overlapping += 1;
            continue;
        }
        let (last, len) = cells[to - 1];
        if (cells[from].0 as usize) < start || (last + len) as usize > end {
            data.spans.widened += 1;
        }
        taken[from..to].fill(true);
        let begin = data.label(&format!("B-{name}"));
        let inside = data.label(&format!("I-{name}"));
        data.gold[first + from] = begin;
        data.gold[first + from + 1..first + to].fill(inside);
    }
    Ok(())
}
