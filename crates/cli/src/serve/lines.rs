//! Examples of a request as the file that the program would read: JSON lines where a model reads them, else the format that it was trained on.
//!
//! Values are copied as they were written: a number has the same digits in the file, and so the same bits in the answer.

use std::fmt::Write;

use lineal::data::ColumnKind;
use lineal::{AnyModel, Format, Schema};
use lineal_server::{Examples, Fault, Form};
use serde_json::Value;
use serde_json::value::RawValue;

use super::sentences;
use crate::fields::as_flags;

/// A file in memory.
pub struct File {
    /// Tells the format.
    pub name: &'static str,
    pub bytes: Vec<u8>,
    pub places: Places,
}

/// Where in the request the lines of a file come from.
pub struct Places {
    form: Form,
    /// The first line of each example; nothing if each is one line.
    starts: Option<Vec<usize>>,
    /// What the lines of an example are called below it.
    below: Option<&'static str>,
}

impl Places {
    /// An error of the reader, at its place in the request.
    pub fn fault(&self, error: &anyhow::Error) -> Fault {
        let found = error.chain().find_map(|cause| match cause.downcast_ref::<lineal::Error>() {
            Some(lineal::Error::Data(of_data)) => Some(of_data),
            _ => cause.downcast_ref::<lineal::data::Error>(),
        });
        let Some(of_data) = found else {
            let message = error.to_string();
            // The file that the request became is nobody's.
            let rest = message.strip_prefix("request.").and_then(|rest| rest.split_once(": "));
            return Fault::request("", in_fields(rest.map_or(&*message, |(_, rest)| rest)));
        };
        // Of the file that the request became.
        let message = of_data.message.trim_end_matches("; each line must hold one whole object");
        let detail = in_fields(message);
        let Some(line) = of_data.line.map(|line| line.saturating_sub(1)) else {
            return Fault::request(format!("/{}", self.form.key()), detail);
        };
        let (example, part) = match &self.starts {
            None => (line, 0),
            Some(starts) => {
                let at = starts.partition_point(|start| *start <= line).saturating_sub(1);
                (at, line - starts.get(at).copied().unwrap_or(0).min(line))
            }
        };
        let mut pointer = format!("/{}/{example}", self.form.key());
        if let Some(below) = self.below {
            let _ = write!(pointer, "/{below}/{part}");
        }
        // A message about a column begins with its name.
        if let Some((name, _)) =
            of_data.message.strip_prefix("column \"").and_then(|rest| rest.split_once('"'))
        {
            let _ = write!(pointer, "/{}", name.replace('~', "~0").replace('/', "~1"));
        }
        Fault::request(pointer, detail)
    }
}

/// Words for who does not see flags: `--min-cost` is the field `min_cost`.
pub fn in_fields(message: &str) -> String {
    // What the library calls by fields of its own becomes a flag first.
    let message = as_flags(message);
    let mut out = String::new();
    let mut rest = &*message;
    while let Some(at) = rest.find("--") {
        let (before, flag) = rest.split_at(at);
        let name: String =
            flag[2..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        out.push_str(before);
        match name.is_empty() {
            true => out.push_str("--"),
            false => {
                // The one flag whose field has another name.
                let field = if name == "token" { "part" } else { &name };
                let _ = write!(out, "`{}`", field.replace('-', "_"));
            }
        }
        rest = &flag[2 + name.len()..];
    }
    out + rest
}

/// The file of these examples, whose sentences have at most so many tokens.
pub fn file(model: &AnyModel, examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    match model {
        AnyModel::Rows(model) => rows(model.schema(), examples),
        AnyModel::Rank(model) => queries(model.rows().schema(), examples),
        AnyModel::Tag(model) => sentences::of_tagger(model.schema(), examples, most),
        AnyModel::Dependency(_) => sentences::of_parser(examples, most),
        AnyModel::Constituency(_) => sentences::of_brackets(examples, most),
        AnyModel::Segment(_) | AnyModel::Declared(_) => objects(examples),
    }
}

/// Refuses examples of another form than these.
pub fn expect(examples: &Examples<'_>, forms: &[Form], what: &str) -> Result<(), Fault> {
    match forms.contains(&examples.form) {
        true => Ok(()),
        false => {
            let keys: Vec<&str> = forms.iter().map(|form| form.key()).collect();
            let detail = format!("this model takes {}: give {}", what, keys.join(" or "));
            Err(Fault::request(format!("/{}", examples.form.key()), detail))
        }
    }
}

/// Where example `i` is.
pub fn place(examples: &Examples<'_>, i: usize) -> String {
    format!("/{}/{i}", examples.form.key())
}

pub fn each_is_a_line(name: &'static str, bytes: Vec<u8>, examples: &Examples<'_>) -> File {
    let places = Places { form: examples.form, starts: None, below: None };
    File { name, bytes: marked(bytes), places }
}

/// A mark at the beginning of a file says how it is encoded: one that belongs to the first word comes after another one.
fn marked(bytes: Vec<u8>) -> Vec<u8> {
    const MARK: &[u8] = "\u{feff}".as_bytes();
    if bytes.starts_with(MARK) { [MARK, &bytes].concat() } else { bytes }
}

pub fn of_lines(
    name: &'static str,
    bytes: Vec<u8>,
    examples: &Examples<'_>,
    starts: Vec<usize>,
    below: Option<&'static str>,
) -> File {
    let places = Places { form: examples.form, starts: Some(starts), below };
    File { name, bytes: marked(bytes), places }
}

/// A value on one line: between tokens, JSON has line breaks that mean nothing, and nowhere else.
pub fn push_line(bytes: &mut Vec<u8>, value: &str) {
    bytes.extend(value.bytes().map(|b| if matches!(b, b'\n' | b'\r') { b' ' } else { b }));
}

fn objects(examples: &Examples<'_>) -> Result<File, Fault> {
    expect(examples, &[Form::Examples], "objects as its training data had them")?;
    let mut bytes = Vec::new();
    for (i, value) in examples.values.iter().enumerate() {
        if !value.starts_with('{') {
            return Err(Fault::request(place(examples, i), "must be an object"));
        }
        push_line(&mut bytes, value);
        bytes.push(b'\n');
    }
    Ok(each_is_a_line("request.jsonl", bytes, examples))
}

fn rows(schema: &Schema, examples: &Examples<'_>) -> Result<File, Fault> {
    let one_text = schema.n_read() == 0 && schema.text_columns().count() == 1;
    match one_text {
        true => expect(examples, &[Form::Texts, Form::Rows], "texts, or rows with a text")?,
        false => expect(examples, &[Form::Rows], "rows")?,
    }
    let mut bytes = Vec::new();
    if schema.format == Some(Format::Idx) {
        return images(schema, examples);
    }
    for (i, value) in examples.values.iter().enumerate() {
        let fault = |detail: String| Fault::request(place(examples, i), detail);
        match &schema.columns {
            Some(_) => {
                if examples.alone {
                    has_all_columns(schema, value).map_err(fault)?;
                }
                table_row(schema, value, one_text, &mut bytes).map_err(fault)?;
            }
            None => sparse_row("0", value, &mut bytes).map_err(fault)?,
        }
        bytes.push(b'\n');
    }
    let name = if schema.columns.is_some() { "request.jsonl" } else { "request.svm" };
    Ok(each_is_a_line(name, bytes, examples))
}

/// The columns that a row has, in their order: what is not to be predicted and not left out.
pub fn input_columns(schema: &Schema) -> impl Iterator<Item = &lineal::data::Column> {
    let is_input = |column: &&lineal::data::Column| {
        !matches!(
            column.kind,
            ColumnKind::Label | ColumnKind::Weight | ColumnKind::Query | ColumnKind::Ignored { .. }
        )
    };
    schema.columns.iter().flatten().filter(is_input)
}

/// Refuses an object without one of the columns: whether other rows have it must not matter.
fn has_all_columns(schema: &Schema, value: &str) -> Result<(), String> {
    if !value.starts_with('{') {
        return Ok(());
    }
    let fields: std::collections::BTreeMap<String, &RawValue> = parsed(value)?;
    let needed = |column: &&lineal::data::Column| !matches!(column.kind, ColumnKind::Named { .. });
    let mut columns = input_columns(schema).filter(needed);
    match columns.find(|column| !has_path(&fields, &column.name)) {
        Some(column) => Err(format!(
            "has no {:?}; each line of a stream has all columns, with null for a missing value",
            column.name
        )),
        None => Ok(()),
    }
}

/// Whether an object has a column: under its name, or by `a.b` in an object within.
fn has_path(fields: &std::collections::BTreeMap<String, &RawValue>, name: &str) -> bool {
    if fields.contains_key(name) {
        return true;
    }
    let Some((outer, inner)) = name.split_once('.') else { return false };
    fields.get(outer).is_some_and(|value| {
        serde_json::from_str(value.get()).is_ok_and(|fields| has_path(&fields, inner))
    })
}

/// An object as it stands, a list by the columns' names, or a text.
fn table_row(
    schema: &Schema,
    value: &str,
    one_text: bool,
    bytes: &mut Vec<u8>,
) -> Result<(), String> {
    match value.as_bytes().first() {
        Some(b'{') => push_line(bytes, value),
        Some(b'"') if one_text => {
            let name = schema.text_columns().next().unwrap_or_default();
            bytes.extend(format!("{{{}:", Value::from(name)).bytes());
            push_line(bytes, value);
            bytes.push(b'}');
        }
        Some(b'[') => {
            let cells: Vec<&RawValue> = parsed(value)?;
            let columns: Vec<&str> = input_columns(schema).map(|c| c.name.as_str()).collect();
            if cells.len() != columns.len() {
                return Err(format!(
                    "{} values for {} columns; they are {}",
                    cells.len(),
                    columns.len(),
                    shown(&columns)
                ));
            }
            bytes.push(b'{');
            for (at, (name, cell)) in columns.iter().zip(cells).enumerate() {
                let comma = if at > 0 { "," } else { "" };
                bytes.extend(format!("{comma}{}:", Value::from(*name)).bytes());
                push_line(bytes, cell.get());
            }
            bytes.push(b'}');
        }
        _ if one_text => return Err("must be a text, or an object with the text".to_owned()),
        _ => return Err("must be an object by column, or a list of values".to_owned()),
    }
    Ok(())
}

fn shown(names: &[&str]) -> String {
    let some: Vec<&str> = names.iter().take(20).copied().collect();
    format!("{}{}", some.join(", "), if names.len() > 20 { ", …" } else { "" })
}

fn parsed<'a, T: serde::Deserialize<'a>>(value: &'a str) -> Result<T, String> {
    serde_json::from_str(value).map_err(|e| e.to_string())
}

/// The fields of an object as they stand, also where two have one name.
pub struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// Of an object that may have these keys, each once; else the key that is wrong, and why.
    pub fn of(value: &'a str, known: &[&str]) -> Result<Self, (Option<String>, String)> {
        let fields: Self = parsed(value).map_err(|why| (None, why))?;
        for (at, (key, _)) in fields.0.iter().enumerate() {
            let why = match known.contains(&key.as_str()) {
                false => format!("is not a key here; known are {}", known.join(" and ")),
                true if fields.0[..at].iter().any(|(other, _)| other == key) => {
                    "stands there twice".to_owned()
                }
                true => continue,
            };
            return Err((Some(key.clone()), why));
        }
        Ok(fields)
    }

    /// What a key has.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0.iter().find(|(name, _)| name == key).map(|(_, value)| value.get())
    }
}

/// Something in a field, or in the object itself.
pub fn at_field(at: &str, (key, why): (Option<String>, String)) -> Fault {
    let below = key.map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1")));
    Fault::request(format!("{at}{}", below.unwrap_or_default()), why)
}

impl<'de: 'a, 'a> serde::Deserialize<'de> for Fields<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct All;
        impl<'de> serde::de::Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: serde::de::MapAccess<'de>>(
                self,
                mut map: M,
            ) -> Result<Self::Value, M::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }
        from.deserialize_map(All).map(Self)
    }
}

/// `label index:value …` from a list of numbers, or from an object by index, counted from 1.
fn sparse_row(label: &str, value: &str, bytes: &mut Vec<u8>) -> Result<(), String> {
    let mut entries: Vec<(u32, &RawValue)> = match value.as_bytes().first() {
        Some(b'[') => {
            let cells: Vec<&RawValue> = parsed(value)?;
            (1..).zip(cells).collect()
        }
        Some(b'{') => {
            let fields: Fields<'_> = parsed(value)?;
            let index = |name: &String| {
                let index = name.parse::<u32>().ok().filter(|index| *index > 0);
                index.ok_or_else(|| format!("{name:?} is not the number of a feature, from 1"))
            };
            fields
                .0
                .iter()
                .map(|(name, value)| Ok((index(name)?, *value)))
                .collect::<Result<_, String>>()?
        }
        _ => return Err("must be a list of numbers, or an object of numbers by index".to_owned()),
    };
    entries.sort_by_key(|entry| entry.0);
    if let Some(two) = entries.windows(2).find(|two| two[0].0 == two[1].0) {
        return Err(format!("feature {} is there twice", two[0].0));
    }
    bytes.extend_from_slice(label.as_bytes());
    for (index, value) in entries {
        let number = value.get();
        if !number.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            return Err(format!("{number} at {index} is not a number"));
        }
        bytes.extend(format!(" {index}:{number}").bytes());
    }
    Ok(())
}

/// Images of bytes, in the format of MNIST.
fn images(schema: &Schema, examples: &Examples<'_>) -> Result<File, Fault> {
    let [height, width] = schema.image.unwrap_or([1, schema.n_features]);
    let mut bytes = vec![0, 0, 8, 3];
    for n in [examples.values.len(), height, width] {
        bytes.extend((n as u32).to_be_bytes());
    }
    for (i, value) in examples.values.iter().enumerate() {
        let wrong = |why: String| Fault::request(place(examples, i), why);
        let pixels: Vec<u8> = serde_json::from_str(value)
            .map_err(|_| wrong("must be a list of numbers from 0 to 255".to_owned()))?;
        if pixels.len() != height * width {
            let detail = format!("{} pixels; images have {height}×{width}", pixels.len());
            return Err(wrong(detail));
        }
        bytes.extend(pixels);
    }
    Ok(each_is_a_line("request.idx", bytes, examples))
}

/// Documents one below the other, each with its query.
fn queries(schema: &Schema, examples: &Examples<'_>) -> Result<File, Fault> {
    expect(examples, &[Form::Queries], "queries with documents")?;
    let query_column = schema.columns.iter().flatten();
    let query_column = query_column.filter(|column| matches!(column.kind, ColumnKind::Query));
    let query_column = query_column.map(|column| column.name.as_str()).next().unwrap_or("query");
    let (mut bytes, mut starts, mut n_lines) = (Vec::new(), Vec::new(), 0);
    let mut ids = std::collections::HashSet::new();
    for (i, value) in examples.values.iter().enumerate() {
        let at = place(examples, i);
        let wrong = |detail: &str| Fault::request(at.clone(), detail);
        let (id, documents) = match value.as_bytes().first() {
            Some(b'[') => (None, *value),
            Some(b'{') => {
                let fields = Fields::of(value, &["id", "documents"]);
                let fields = fields.map_err(|why| at_field(&at, why))?;
                let documents = fields.get("documents");
                (
                    fields.get("id"),
                    documents.ok_or_else(|| wrong("the query has no list documents"))?,
                )
            }
            _ => {
                return Err(wrong(
                    "must be a list of documents, or an object with id and documents",
                ));
            }
        };
        let id = match id.map(serde_json::from_str::<Value>) {
            None => (examples.first + i + 1).to_string(),
            Some(Ok(Value::String(id))) => id,
            Some(Ok(Value::Number(id))) => id.to_string(),
            Some(_) => {
                return Err(Fault::request(format!("{at}/id"), "must be a text or a number"));
            }
        };
        // In a file without columns, `#` begins a comment.
        let splits =
            |c: char| c.is_whitespace() || c.is_control() || (c == '#' && schema.columns.is_none());
        if id.is_empty() || id.contains(splits) {
            let detail = "must have a character, and no blank and no #";
            return Err(Fault::request(format!("{at}/id"), detail));
        }
        if !ids.insert(id.clone()) {
            return Err(Fault::request(format!("{at}/id"), "another query has this id"));
        }
        let documents: Vec<&RawValue> = parsed(documents)
            .map_err(|_| Fault::request(format!("{at}/documents"), "must be a list"))?;
        if documents.is_empty() {
            return Err(Fault::request(format!("{at}/documents"), "needs a document"));
        }
        starts.push(n_lines);
        n_lines += documents.len();
        for (d, document) in documents.iter().enumerate() {
            let wrong = |detail: String| Fault::request(format!("{at}/documents/{d}"), detail);
            match &schema.columns {
                None => {
                    sparse_row(&format!("0 qid:{id}"), document.get(), &mut bytes).map_err(wrong)?
                }
                Some(_) => document_row(schema, query_column, &id, document.get(), &mut bytes)
                    .map_err(wrong)?,
            }
            bytes.push(b'\n');
        }
    }
    let name = if schema.columns.is_some() { "request.jsonl" } else { "request.letor" };
    Ok(of_lines(name, bytes, examples, starts, Some("documents")))
}

/// An object with its query as the first field.
fn document_row(
    schema: &Schema,
    query_column: &str,
    id: &str,
    document: &str,
    bytes: &mut Vec<u8>,
) -> Result<(), String> {
    let mut row = Vec::new();
    table_row(schema, document, false, &mut row)?;
    let fields: std::collections::BTreeMap<String, &RawValue> =
        serde_json::from_slice(&row).map_err(|e| e.to_string())?;
    if fields.contains_key(query_column) {
        return Err(format!("leave out {query_column:?}: it is the id of the query"));
    }
    let comma = if fields.is_empty() { "" } else { "," };
    bytes.extend(format!("{{{}:{}{comma}", Value::from(query_column), Value::from(id)).bytes());
    bytes.extend_from_slice(&row[1..]);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_become_fields() {
        assert_eq!(
            in_fields("leave out --min-cost, or --top N"),
            "leave out `min_cost`, or `top` N"
        );
        assert_eq!(in_fields("a -- b --"), "a -- b --");
    }

    #[test]
    fn sparse_rows_have_rising_indices_and_their_own_digits() {
        let row = |value: &str| {
            let mut bytes = Vec::new();
            sparse_row("0", value, &mut bytes).map(|()| String::from_utf8(bytes).unwrap())
        };
        assert_eq!(row("[1.50, -2, 0]").unwrap(), "0 1:1.50 2:-2 3:0");
        assert_eq!(row(r#"{"10": 1e3, "2": 7}"#).unwrap(), "0 2:7 10:1e3");
        let twice = r#"{"1": 1, "1": 5}"#;
        for bad in ["3", "[\"a\"]", "[null]", r#"{"a": 1}"#, r#"{"0": 1}"#, twice] {
            assert!(row(bad).is_err(), "{bad}");
        }
    }
}
