//! Predictions as text, CSV or JSON lines.

use std::borrow::Cow;
use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::answers::{Answers, Rows};
use crate::args::Output;
use crate::talk::number;

/// Writes all rows.
pub fn write(out: &mut dyn Write, rows: &Rows, form: Output) -> io::Result<()> {
    if form == Output::Csv {
        csv_header(out, rows)?;
    }
    write_rows(out, rows, form)
}

/// Writes the rows without a header.
pub fn write_rows(out: &mut dyn Write, rows: &Rows, form: Output) -> io::Result<()> {
    (0..rows.answers.len()).try_for_each(|i| match form {
        Output::Text => text(out, rows, i),
        Output::Csv => csv(out, rows, i),
        Output::Jsonl => jsonl(out, rows, i),
    })
}

/// `label`, then `<tab>name:value` for each class asked for.
fn text(out: &mut dyn Write, rows: &Rows, i: usize) -> io::Result<()> {
    for cell in rows.kept.iter().flat_map(|kept| kept.texts(i)) {
        write!(out, "{}\t", printable(&cell))?;
    }
    match &rows.answers {
        Answers::Real(y) => write!(out, "{}", number(y[i]))?,
        Answers::Classes(y) => write!(out, "{}", printable(rows.name(y[i])))?,
        Answers::Labels(y) => write!(out, "{}", printable(&joined(rows, y.row(i))))?,
    }
    for (class, value) in pairs(rows, i) {
        write!(out, "\t{}:{}", printable(rows.name(class)), number(value))?;
    }
    writeln!(out)
}

/// The labels of a row in one cell.
fn joined(rows: &Rows, labels: &[u32]) -> String {
    let names: Vec<&str> = labels.iter().map(|&label| rows.name(label)).collect();
    names.join(&rows.separator.to_string())
}

/// Names of the columns.
pub fn csv_header(out: &mut dyn Write, rows: &Rows) -> io::Result<()> {
    for name in rows.kept.iter().flat_map(|kept| &kept.names) {
        write!(out, "{},", quoted(name))?;
    }
    write!(out, "{}", key(rows))?;
    if rows.top.is_none() && (rows.proba.is_some() || rows.scores.is_some()) {
        for name in &rows.classes {
            write!(out, ",{}", quoted(name))?;
        }
    }
    for k in 1..=n_top(rows) {
        write!(out, ",top{k},value{k}")?;
    }
    writeln!(out)
}

fn csv(out: &mut dyn Write, rows: &Rows, i: usize) -> io::Result<()> {
    for cell in rows.kept.iter().flat_map(|kept| kept.texts(i)) {
        write!(out, "{},", quoted(&cell))?;
    }
    match &rows.answers {
        Answers::Real(y) => write!(out, "{}", number(y[i]))?,
        Answers::Classes(y) => write!(out, "{}", quoted(rows.name(y[i])))?,
        // Most readers skip an empty line.
        Answers::Labels(y) if y.row(i).is_empty() => write!(out, "\"\"")?,
        Answers::Labels(y) => write!(out, "{}", quoted(&joined(rows, y.row(i))))?,
    }
    let pairs = pairs(rows, i);
    for &(class, value) in &pairs {
        if rows.top.is_some() {
            write!(out, ",{}", quoted(rows.name(class)))?;
        }
        write!(out, ",{}", number(value))?;
    }
    // A tree's beam may end at fewer classes than were asked for.
    for _ in pairs.len()..n_top(rows) {
        write!(out, ",,")?;
    }
    writeln!(out)
}

/// What the answer is called.
fn key(rows: &Rows) -> &'static str {
    let usual = match rows.answers {
        Answers::Labels(_) => "labels",
        Answers::Classes(_) | Answers::Real(_) => "label",
    };
    match rows.kept.iter().flat_map(|kept| &kept.names).any(|name| name == usual) {
        true => "predicted",
        false => usual,
    }
}

fn jsonl(out: &mut dyn Write, rows: &Rows, i: usize) -> io::Result<()> {
    let mut object = Map::new();
    if let Some(kept) = &rows.kept {
        object.extend(kept.names.iter().cloned().zip(kept.rows[i].iter().cloned()));
    }
    let label = match &rows.answers {
        Answers::Real(y) => json!(y[i]),
        Answers::Classes(y) => json!(rows.name(y[i])),
        Answers::Labels(y) => {
            json!(y.row(i).iter().map(|&label| rows.name(label)).collect::<Vec<_>>())
        }
    };
    object.insert(key(rows).to_owned(), label);
    let by_name = |values: &[f64]| -> Value {
        rows.classes
            .iter()
            .cloned()
            .zip(values.iter().map(|v| json!(v)))
            .collect::<Map<_, _>>()
            .into()
    };
    if let Some(scores) = &rows.scores {
        object.insert("scores".to_owned(), by_name(scores.row(i)));
    }
    if let Some(proba) = &rows.proba {
        object.insert("proba".to_owned(), by_name(proba.row(i)));
    }
    if let Some(best) = rows.best(i) {
        let top: Vec<Value> =
            best.iter().map(|&(class, value)| json!([rows.name(class), value])).collect();
        object.insert("top".to_owned(), top.into());
    }
    serde_json::to_writer(&mut *out, &object)?;
    writeln!(out)
}

/// The classes to show beside the label, with their values.
fn pairs(rows: &Rows, i: usize) -> Vec<(u32, f64)> {
    match (rows.best(i), rows.list(i)) {
        (Some(best), _) => best.to_vec(),
        (None, Some(values)) => (0u32..).zip(values.iter().copied()).collect(),
        (None, None) => Vec::new(),
    }
}

fn n_top(rows: &Rows) -> usize {
    rows.top.as_ref().map_or(0, |top| top.k.min(rows.classes.len()))
}

/// A name that keeps to its line and column.
fn printable(name: &str) -> Cow<'_, str> {
    if !name.contains(char::is_control) {
        return Cow::Borrowed(name);
    }
    let escape =
        |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(name.chars().map(escape).collect())
}

/// A cell by RFC 4180.
fn quoted(cell: &str) -> Cow<'_, str> {
    if !cell.contains([',', '"', '\n', '\r']) && cell.trim() == cell {
        return Cow::Borrowed(cell);
    }
    Cow::Owned(format!("\"{}\"", cell.replace('"', "\"\"")))
}

#[cfg(test)]
mod tests {
    use super::super::answers::{Kept, Top};
    use super::*;
    use lineal::{Labels, Table};

    fn rows() -> Rows {
        Rows {
            classes: vec!["a,b".into(), "c\td".into()],
            answers: Answers::Classes(vec![1, 0]),
            proba: Some(Table { n_rows: 2, n_cols: 2, values: vec![0.25, 0.75, 0.5, 0.5] }),
            scores: None,
            top: None,
            separator: ',',
            kept: None,
        }
    }

    #[test]
    fn kept_cells_come_first_and_never_hide_the_answer() {
        let kept = Kept {
            names: vec!["id".into(), "label".into()],
            rows: vec![vec![json!(7), json!("a \"b\"")], vec![Value::Null, json!("c")]],
        };
        let rows = Rows { kept: Some(kept), proba: None, ..rows() };
        let csv = "id,label,predicted\n7,\"a \"\"b\"\"\",c\td\n,c,\"a,b\"\n";
        assert_eq!(written(&rows, Output::Csv), csv);
        assert_eq!(written(&rows, Output::Text), "7\ta \"b\"\tc\\td\n\tc\ta,b\n");
        let lines = written(&rows, Output::Jsonl);
        assert!(lines.starts_with("{\"id\":7,\"label\":\"a \\\"b\\\"\",\"predicted\":"), "{lines}");
    }

    fn written(rows: &Rows, form: Output) -> String {
        let mut out = Vec::new();
        write(&mut out, rows, form).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn odd_names_survive_each_form() {
        let rows = rows();
        assert_eq!(
            written(&rows, Output::Text).lines().next(),
            Some("c\\td\ta,b:0.25\tc\\td:0.75")
        );
        assert_eq!(
            written(&rows, Output::Csv),
            "label,\"a,b\",c\td\nc\td,0.25,0.75\n\"a,b\",0.5,0.5\n"
        );
        let first = written(&rows, Output::Jsonl).lines().next().unwrap().to_owned();
        assert_eq!(first, r#"{"label":"c\td","proba":{"a,b":0.25,"c\td":0.75}}"#);
    }

    #[test]
    fn top_is_a_list_in_falling_order() {
        let best = vec![vec![(1, 0.75)], vec![(0, 0.5)]];
        let rows = Rows { proba: None, top: Some(Top { k: 1, best }), ..rows() };
        assert_eq!(
            written(&rows, Output::Csv),
            "label,top1,value1\nc\td,c\td,0.75\n\"a,b\",\"a,b\",0.5\n"
        );
        assert!(written(&rows, Output::Jsonl).contains(r#""top":[["a,b",0.5]]"#));
        // A beam that found one class where two were asked for.
        let rows = Rows { top: rows.top.map(|top| Top { k: 2, ..top }), ..rows };
        assert!(
            written(&rows, Output::Csv)
                .starts_with("label,top1,value1,top2,value2\nc\td,c\td,0.75,,\n")
        );
    }

    #[test]
    fn labels_are_a_list_that_may_be_empty() {
        let labels = Labels::new(vec![0, 2, 2], vec![0, 1]).unwrap();
        let rows = Rows { answers: Answers::Labels(labels), proba: None, separator: ';', ..rows() };
        assert_eq!(written(&rows, Output::Text), "a,b;c\\td\n\n");
        assert_eq!(written(&rows, Output::Csv), "labels\n\"a,b;c\td\"\n\"\"\n");
        assert_eq!(
            written(&rows, Output::Jsonl),
            "{\"labels\":[\"a,b\",\"c\\td\"]}\n{\"labels\":[]}\n"
        );
    }
}
