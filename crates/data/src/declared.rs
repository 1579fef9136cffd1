//! JSON lines for declared problems: an object per line with columns of tokens and lists of records.
//!
//! ```json
//! {"tokens": ["Booth", "shot", "Lincoln"], "entities": [{"start": 0, "end": 1, "type": "Peop"}, {"start": 2, "end": 3, "type": "Peop"}], "relations": [{"head": 0, "tail": 1, "type": "Kill"}]}
//! ```
//!
//! A list of texts is a column, a list of objects is a list of records, `weight` is the weight of the example, and `id` names it. Fields of a record are numbers, texts, or (`features`) names
//! with numbers, or a list of names that count 1; null is as if the field were not there. Everything else is left alone. What the lists mean is up to the declaration.

use crate::blocks::RowEnd;
use crate::error::{Error, ErrorKind, quote};
use crate::source::{Source, utf8};
use crate::table::json::Json;
use std::ops::ControlFlow;

/// One object, as it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredExample {
    /// Its line, from 1.
    pub line: usize,
    /// The field `id`, if it is a number or a text.
    pub id: Option<DeclaredValue>,
    /// The field `weight`, or 1.
    pub weight: f64,
    /// Lists of texts by name.
    pub columns: Vec<(String, Vec<String>)>,
    /// Lists of objects by name. An empty list may be either and is here.
    pub lists: Vec<(String, Vec<DeclaredRecord>)>,
}

/// One object of a list: its fields by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeclaredRecord {
    /// The fields that are not null.
    pub fields: Vec<(String, DeclaredValue)>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum DeclaredValue {
    /// A number.
    Number(f64),
    /// A text; true and false are texts.
    Text(String),
    /// Names with numbers.
    Features(Vec<(String, f32)>),
}

/// Reads examples of declared problems.
///
/// ```
/// use lineal_data::{DeclaredValue, Source, read_declared};
///
/// let bytes = br#"{"tokens": ["a", "b"], "entities": [{"start": 0, "type": "Loc", "features": {"len": 2}}]}"#.to_vec();
/// let examples = read_declared(Source::Memory { name: "train.jsonl".into(), bytes })?;
/// assert_eq!(examples[0].columns[0].1, ["a", "b"]);
/// assert_eq!(examples[0].lists[0].1[0].fields[1], ("type".into(), DeclaredValue::Text("Loc".into())));
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn read_declared(source: impl Into<Source>) -> Result<Vec<DeclaredExample>, Error> {
    let mut all = Vec::new();
    stream_declared(source, &mut |example| {
        all.push(example);
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// As [`read_declared`], one example at a time; `f` says whether to go on.
pub fn stream_declared(
    source: impl Into<Source>,
    f: &mut dyn FnMut(DeclaredExample) -> ControlFlow<()>,
) -> Result<(), Error> {
    let source = source.into();
    let file = source.name();
    let input = source.streamed()?;
    let mut any = false;
    input.for_each_block(&file, RowEnd::Newline, &mut |block| {
        let text = utf8(block.text, &file).map_err(|e| e.below(block.n_lines_before))?;
        for (line, n_line) in text.lines().zip(block.n_lines_before + 1..) {
            // A byte order mark may stand before the first line.
            let line = line.trim_start_matches('\u{feff}');
            if line.trim().is_empty() {
                continue;
            }
            any = true;
            if f(example(line, &file, n_line)?).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    })?;
    if any { Ok(()) } else { Err(Error::new(ErrorKind::Empty, &file, "the file has no examples")) }
}

fn example(line: &str, file: &str, n_line: usize) -> Result<DeclaredExample, Error> {
    let wrong =
        |kind: ErrorKind, message: String| Error::in_line(kind, file, n_line, None, message);
    let entries = match serde_json::from_str(line) {
        Ok(Json::Object(entries)) => entries,
        Ok(other) => {
            let message = format!(
                "{other} is not an object; write {{\"tokens\": […], \"entities\": [{{…}}, …]}}"
            );
            return Err(wrong(ErrorKind::Syntax, message));
        }
        Err(e) => {
            let message = format!("not JSON: {e}");
            return Err(Error::in_line(ErrorKind::Syntax, file, n_line, Some(e.column()), message));
        }
    };
    let mut example = DeclaredExample {
        line: n_line,
        id: None,
        weight: 1.0,
        columns: Vec::new(),
        lists: Vec::new(),
    };
    for (key, value) in entries {
        if key == "weight" {
            let weight = value.number().filter(|weight| weight.is_finite() && *weight >= 0.0);
            let message =
                || format!("the weight is {value}; it must be a number that is 0 or more");
            example.weight = weight.ok_or_else(|| wrong(ErrorKind::Weight, message()))?;
            continue;
        }
        if key == "id" && !matches!(value, Json::List(_)) {
            example.id = match value {
                Json::Number(number) => Some(DeclaredValue::Number(number)),
                other => other.name().map(|name| DeclaredValue::Text(name.into_owned())),
            };
            continue;
        }
        let Json::List(list) = value else { continue };
        if list.iter().all(|one| matches!(one, Json::Object(_))) {
            let record = |(at, one): (usize, Json<'_>)| {
                let Json::Object(fields) = one else { return Ok(DeclaredRecord::default()) };
                record(fields).map_err(|why| {
                    wrong(ErrorKind::Value, format!("{} {at}: {why}", quote(key.as_bytes())))
                })
            };
            let records = list.into_iter().enumerate().map(record).collect::<Result<_, _>>()?;
            example.lists.push((key.into_owned(), records));
            continue;
        }
        let text = |(at, one): (usize, &Json<'_>)| match one {
            Json::Text(text) => Ok(text.clone().into_owned()),
            other => other.name().map(|name| name.into_owned()).ok_or_else(|| {
                let message = format!(
                    "{} has {other} at place {at}; a list holds texts only, or objects only",
                    quote(key.as_bytes())
                );
                wrong(ErrorKind::Value, message)
            }),
        };
        let column = list.iter().enumerate().map(text).collect::<Result<_, _>>()?;
        example.columns.push((key.into_owned(), column));
    }
    Ok(example)
}

fn record(fields: Vec<(std::borrow::Cow<'_, str>, Json<'_>)>) -> Result<DeclaredRecord, String> {
    let mut record = DeclaredRecord::default();
    for (name, value) in fields {
        let value = match value {
            Json::Null => continue,
            Json::Object(_) | Json::List(_) => DeclaredValue::Features(features(&name, value)?),
            other => match other.number() {
                Some(number) => DeclaredValue::Number(number),
                None => DeclaredValue::Text(other.name().unwrap_or_default().into_owned()),
            },
        };
        record.fields.push((name.into_owned(), value));
    }
    Ok(record)
}

fn features(field: &str, value: Json<'_>) -> Result<Vec<(String, f32)>, String> {
    let number = |value: &Json<'_>| value.number().map(|v| v as f32).filter(|v| v.is_finite());
    match value {
        Json::Object(entries) => entries
            .into_iter()
            .map(|(name, value)| match number(&value) {
                Some(number) => Ok((name.into_owned(), number)),
                None => {
                    Err(format!("{} has {value} for {name:?}, which is not a number", quote(field)))
                }
            })
            .collect(),
        Json::List(list) => list
            .into_iter()
            .map(|value| match value.name() {
                Some(name) => Ok((name.into_owned(), 1.0)),
                None => Err(format!("{} has {value} in its list; write names", quote(field))),
            })
            .collect(),
        _ => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<DeclaredExample>, Error> {
        read_declared(Source::Memory { name: "a.jsonl".into(), bytes: text.as_bytes().to_vec() })
    }

    #[test]
    fn columns_records_and_weights_are_told_apart() {
        let text = "{\"id\": 3, \"tokens\": [\"a\", \"1\"], \"pos\": null, \"weight\": 0.5, \"xs\": [], \"es\": [{\"n\": 1, \"l\": \"x\", \"z\": null, \"features\": [\"f\", \"g\"]}]}\n\n{\"es\": [{}]}\n";
        let examples = read(text).unwrap();
        assert_eq!((examples.len(), examples[1].line, examples[0].weight), (2, 3, 0.5));
        assert_eq!((&examples[0].id, &examples[1].id), (&Some(DeclaredValue::Number(3.0)), &None));
        assert_eq!(
            examples[0].columns,
            [("tokens".to_owned(), vec!["a".to_owned(), "1".to_owned()])]
        );
        assert_eq!(examples[0].lists[0], ("xs".to_owned(), Vec::new()));
        let fields = &examples[0].lists[1].1[0].fields;
        assert_eq!(fields.len(), 3);
        let features = vec![("f".to_owned(), 1.0), ("g".to_owned(), 1.0)];
        assert_eq!(fields[2].1, DeclaredValue::Features(features));
    }

    #[test]
    fn faults_have_their_line() {
        for (text, part) in [
            ("{}\n[1]\n", "a.jsonl:2: a list of 1 is not an object"),
            ("{}\n{\"a\"\n", "a.jsonl:2:"),
            ("{\"weight\": -1}", "the weight is -1"),
            ("{\"tokens\": [\"a\", {}]}", "texts only, or objects only"),
            (
                "{\"es\": [{\"features\": {\"x\": \"y\"}}]}",
                "`es` 0: `features` has \"y\" for \"x\"",
            ),
            ("\n\n", "no examples"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
