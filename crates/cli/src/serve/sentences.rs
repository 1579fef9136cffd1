//! Sentences of a request as the files that taggers and parsers read.
//!
//! A sentence is a text, cut at blanks; a list of tokens; a list with the cells of each token; or an object with a list for each column.

use std::collections::HashSet;

use lineal::data::words;
use lineal::{Format, SequenceSchema};
use lineal_server::{Examples, Fault, Form};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value, json};

use super::lines::{File, each_is_a_line, expect, of_lines, place, push_line};

const CONLLU: [&str; 10] =
    ["id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc"];

/// For a tagger, as its training data was.
pub fn of_tagger(
    schema: &SequenceSchema,
    examples: &Examples<'_>,
    most: usize,
) -> Result<File, Fault> {
    expect(examples, &[Form::Sentences, Form::Texts], "sentences")?;
    if schema.texts.is_some() {
        return texts(examples, most);
    }
    match schema.format {
        Format::Conllu => conllu(examples, most),
        Format::Crfsuite => attributes(examples, most),
        Format::Jsonl => lists(schema, examples, most),
        _ => columns(schema, examples, most),
    }
}

/// For a parser of dependencies.
pub fn of_parser(examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    expect(examples, &[Form::Sentences], "sentences")?;
    conllu(examples, most)
}

/// For a parser of phrases: words, or words with their tags.
pub fn of_brackets(examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    expect(examples, &[Form::Sentences], "sentences")?;
    let names = ["tokens", "tags"];
    let sentences = each(examples, |value| cells(value, &names, 0, most))?;
    let tagged =
        |sentence: &Vec<Vec<Option<String>>>| sentence.iter().all(|token| token[1].is_some());
    let with_tags = sentences.iter().all(tagged);
    if !with_tags && sentences.iter().any(tagged) {
        let i = sentences.iter().position(|sentence| !tagged(sentence)).unwrap_or_default();
        return Err(Fault::request(
            place(examples, i),
            "other sentences have tags, and this one has none: give all of them, or none",
        ));
    }
    let mut text = String::new();
    for (i, sentence) in sentences.iter().enumerate() {
        let mut words = Vec::new();
        for (t, token) in sentence.iter().enumerate() {
            let cell = |k: usize| {
                let cell = token[k].as_deref().unwrap_or_default();
                match cell.is_empty()
                    || cell.contains(|c: char| c.is_whitespace() || c.is_control())
                {
                    true => Err(Fault::request(
                        format!("{}/{t}", place(examples, i)),
                        format!("{cell:?} is not a word: it must have a character, and no blank"),
                    )),
                    false => Ok(cell.replace('(', "-LRB-").replace(')', "-RRB-")),
                }
            };
            if token[1].as_deref() == Some("-NONE-") {
                let detail =
                    "has the tag -NONE-, which treebanks give to what is not a word: leave it out";
                return Err(Fault::request(format!("{}/tags/{t}", place(examples, i)), detail));
            }
            match with_tags {
                true => words.push(format!("({} {})", cell(1)?, cell(0)?)),
                // Plain words are escaped where they are read.
                false => {
                    cell(0)?;
                    words.push(token[0].clone().unwrap_or_default());
                }
            }
        }
        match with_tags {
            true => text.push_str(&format!("(S {})\n", words.join(" "))),
            false => text.push_str(&(words.join(" ") + "\n")),
        }
    }
    let name = if with_tags { "request.brackets" } else { "request.sentences" };
    Ok(each_is_a_line(name, text.into_bytes(), examples))
}

/// Runs over all sentences, and says where one is wrong.
fn each<T>(
    examples: &Examples<'_>,
    f: impl Fn(Value) -> Result<T, (String, String)>,
) -> Result<Vec<T>, Fault> {
    let one = |(i, value): (usize, &&str)| {
        let wrong = |e: serde_json::Error| (String::new(), e.to_string());
        let distinct = serde_json::from_str::<Distinct>(value).map_err(wrong);
        let parsed = distinct.and_then(|_| serde_json::from_str(value).map_err(wrong));
        parsed.and_then(&f).map_err(|(below, detail)| {
            Fault::request(format!("{}{below}", place(examples, i)), detail)
        })
    };
    examples.values.iter().enumerate().map(one).collect()
}

/// JSON in which no object has a key twice, of which only the last would be seen.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Distinct {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self, A::Error> {
        while list.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some((key, _)) = map.next_entry::<String, Self>()? {
            if let Some(key) = keys.replace(key) {
                return Err(A::Error::custom(format_args!("{key:?} stands there twice")));
            }
        }
        Ok(self)
    }
}

/// The cells of each token, by these columns; what is not given is `None`. `words_at` is the column of the words, which is also called tokens.
fn cells(
    sentence: Value,
    names: &[&str],
    words_at: usize,
    most: usize,
) -> Result<Vec<Vec<Option<String>>>, (String, String)> {
    let empty = || vec![None; names.len()];
    let with_word = |word: String| {
        let mut token = empty();
        token[words_at] = Some(word);
        token
    };
    let here = |detail: &str| (String::new(), detail.to_owned());
    let tokens: Vec<Vec<Option<String>>> = match sentence {
        Value::String(text) => {
            text.split_whitespace().map(|word| with_word(word.to_owned())).collect()
        }
        Value::Array(tokens) => {
            let token = |(t, token): (usize, Value)| match token {
                Value::Array(given) => {
                    // The label may be left out where it comes last.
                    if given.is_empty() || given.len() > names.len() {
                        return Err((
                            format!("/{t}"),
                            format!("{} cells for the columns {}", given.len(), names.join(", ")),
                        ));
                    }
                    let mut token = empty();
                    for (k, value) in given.into_iter().enumerate() {
                        token[k] = Some(cell(value).map_err(|why| (format!("/{t}/{k}"), why))?);
                    }
                    Ok(token)
                }
                other => Ok(with_word(cell(other).map_err(|why| (format!("/{t}"), why))?)),
            };
            tokens.into_iter().enumerate().map(token).collect::<Result<_, _>>()?
        }
        Value::Object(lists) => {
            let mut columns: Vec<(usize, &String, &Vec<Value>)> = Vec::new();
            for (key, list) in &lists {
                let at = names.iter().position(|name| name == key);
                let at = at.or((key == "tokens").then_some(words_at));
                let at = at.ok_or_else(|| {
                    (format!("/{key}"), format!("is not a column; they are {}", names.join(", ")))
                })?;
                let list = list
                    .as_array()
                    .ok_or_else(|| (format!("/{key}"), "must be a list".to_owned()))?;
                columns.push((at, key, list));
            }
            // The words may be called by their column or tokens.
            if columns.iter().filter(|(at, ..)| *at == words_at).count() > 1 {
                return Err(("/tokens".to_owned(), format!("is {} again", names[words_at])));
            }
            let n = columns.iter().find(|(at, ..)| *at == words_at).map(|(.., list)| list.len());
            let n = n.ok_or_else(|| here("there is no list tokens"))?;
            let mut tokens = vec![empty(); n];
            for (at, key, list) in columns {
                if list.len() != n {
                    return Err((
                        format!("/{key}"),
                        format!("has {} values for {n} tokens", list.len()),
                    ));
                }
                for (t, value) in list.iter().enumerate() {
                    tokens[t][at] =
                        Some(cell(value.clone()).map_err(|why| (format!("/{key}/{t}"), why))?);
                }
            }
            tokens
        }
        _ => return Err(here("must be a text, a list of tokens, or an object with lists")),
    };
    match tokens.len() {
        0 => Err(here("the sentence has no token")),
        n if n > most => Err(here(&too_long(n, most))),
        _ => Ok(tokens),
    }
}

fn too_long(n: usize, most: usize) -> String {
    format!("the sentence has {n} tokens, and may have {most} in such a request; split it")
}

fn cell(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text),
        Value::Number(number) => Ok(number.to_string()),
        other => Err(format!("{other} is not a text")),
    }
}

/// Texts with spans: as they are, or objects that have them.
fn texts(examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    let mut bytes = Vec::new();
    for (i, value) in examples.values.iter().enumerate() {
        match value.as_bytes().first() {
            Some(b'"') => {
                let text: String = serde_json::from_str(value)
                    .map_err(|e| Fault::request(place(examples, i), e.to_string()))?;
                match words(&text).count() {
                    0 => return Err(Fault::request(place(examples, i), "the text has no word")),
                    n if n > most => {
                        return Err(Fault::request(place(examples, i), too_long(n, most)));
                    }
                    _ => {}
                }
                bytes.extend(json!({ "text": text }).to_string().bytes());
            }
            Some(b'{') => push_line(&mut bytes, value),
            _ => {
                return Err(Fault::request(
                    place(examples, i),
                    "must be a text, or an object with text",
                ));
            }
        }
        bytes.push(b'\n');
    }
    Ok(each_is_a_line("request.jsonl", bytes, examples))
}

/// JSON lines with a list for each column.
fn lists(schema: &SequenceSchema, examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    let names: Vec<&str> = schema.columns.iter().map(String::as_str).collect();
    let sentences = each(examples, |value| cells(value, &names, 0, most))?;
    let mut bytes = Vec::new();
    for sentence in sentences {
        let mut object = Map::new();
        for (k, name) in names.iter().enumerate() {
            let column: Option<Vec<String>> =
                sentence.iter().map(|token| token[k].clone()).collect();
            object.extend(column.map(|column| ((*name).to_owned(), json!(column))));
        }
        bytes.extend(Value::from(object).to_string().bytes());
        bytes.push(b'\n');
    }
    Ok(each_is_a_line("request.jsonl", bytes, examples))
}

/// Lines of cells, a blank line after each sentence.
fn token_lines(
    name: &'static str,
    examples: &Examples<'_>,
    sentences: &[Vec<Vec<Option<String>>>],
    line: impl Fn(usize, &[Option<String>]) -> Result<String, String>,
) -> Result<File, Fault> {
    let (mut text, mut starts, mut n_lines) = (String::new(), Vec::new(), 0);
    for (i, sentence) in sentences.iter().enumerate() {
        starts.push(n_lines);
        for (t, token) in sentence.iter().enumerate() {
            let line = line(t, token)
                .map_err(|why| Fault::request(format!("{}/{t}", place(examples, i)), why))?;
            text.push_str(&line);
            text.push('\n');
        }
        text.push('\n');
        n_lines += sentence.len() + 1;
    }
    Ok(of_lines(name, text.into_bytes(), examples, starts, None))
}

/// A cell that keeps to its line and column.
fn plain(cell: &str, blanks: bool) -> Result<&str, String> {
    let breaks = |c: char| c == '\t' || c == '\n' || c == '\r' || (!blanks && c.is_whitespace());
    match cell.is_empty() || cell.trim().is_empty() || cell.contains(breaks) {
        true => Err(format!(
            "{cell:?} is not a cell: it must have a character, and no tab, line break{}",
            if blanks { "" } else { " or blank" }
        )),
        false => Ok(cell),
    }
}

/// CoNLL: the columns of the training data, without the label where it is the last.
fn columns(schema: &SequenceSchema, examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    let names: Vec<&str> = schema.columns.iter().map(String::as_str).collect();
    let sentences = each(examples, |value| cells(value, &names, 0, most))?;
    let last = names.len() - 1;
    let n_written = if schema.label == last { last } else { names.len() };
    token_lines("request.conll", examples, &sentences, |_, token| {
        let mut row = Vec::new();
        for (k, cell) in token.iter().take(n_written).enumerate() {
            row.push(match cell {
                Some(cell) => plain(cell, n_written > 1)?,
                None if k == schema.label => "_",
                None => {
                    return Err(format!(
                        "column {:?} is missing: give the cells of each token, in the order {}",
                        names[k],
                        names[..n_written].join(", ")
                    ));
                }
            });
        }
        Ok(row.join("\t"))
    })
}

fn conllu(examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    let sentences = each(examples, |value| cells(value, &CONLLU, 1, most))?;
    token_lines("request.conllu", examples, &sentences, |t, token| {
        let mut row = vec![(t + 1).to_string()];
        for cell in &token[1..] {
            row.push(match cell {
                Some(cell) => plain(cell, true)?.to_owned(),
                None => "_".to_owned(),
            });
        }
        Ok(row.join("\t"))
    })
}

/// CRFsuite: attributes of each token, as texts or by name with their values.
fn attributes(examples: &Examples<'_>, most: usize) -> Result<File, Fault> {
    let escaped = |name: &str| -> Result<String, String> {
        Ok(plain(name, true)?.replace('\\', "\\\\").replace(':', "\\:"))
    };
    let sentences = each(examples, |value| {
        let here = |detail: &str| (String::new(), detail.to_owned());
        let Value::Array(tokens) = value else {
            return Err(here("must be a list of tokens, each with its attributes"));
        };
        if tokens.is_empty() || tokens.len() > most {
            let none = "the sentence has no token".to_owned();
            return Err(here(&if tokens.is_empty() { none } else { too_long(tokens.len(), most) }));
        }
        let line = |(t, token): (usize, &Value)| -> Result<Vec<Option<String>>, (String, String)> {
            let wrong = |why: String| (format!("/{t}"), why);
            let mut cells = vec!["_".to_owned()];
            match token {
                Value::Array(list) => {
                    for name in list {
                        cells.push(escaped(&cell(name.clone()).map_err(wrong)?).map_err(wrong)?);
                    }
                }
                Value::Object(by_name) => {
                    for (name, value) in by_name {
                        let value = value
                            .as_f64()
                            .ok_or_else(|| wrong(format!("{name:?} is not a number")))?;
                        cells.push(format!("{}:{value}", escaped(name).map_err(wrong)?));
                    }
                }
                _ => {
                    return Err(wrong(
                        "must be a list of attributes, or an object with their values".to_owned(),
                    ));
                }
            }
            Ok(vec![Some(cells.join("\t"))])
        };
        tokens.iter().enumerate().map(line).collect::<Result<Vec<_>, _>>()
    })?;
    token_lines("request.crfsuite", examples, &sentences, |_, token| {
        Ok(token[0].clone().unwrap_or_default())
    })
}
