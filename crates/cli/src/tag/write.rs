//! Tagged sequences as columns, CSV or JSON lines; texts with spans as they came.

use std::borrow::Cow;
use std::io::{self, Write};

use lineal::data::SpanForm;
use lineal::metrics::TagSet;
use lineal::{Format, Sequence, TagModel, Tagged, TaggedSpan};
use serde_json::{Map, Value, json};

use crate::args::Output;
use crate::table::quoted;

/// Writes sequences, one after the other.
pub struct Writer<'m> {
    model: &'m TagModel,
    form: Output,
    proba: bool,
    n_best: usize,
    tags: TagSet,
    types: Vec<String>,
    begun: bool,
}

impl<'m> Writer<'m> {
    /// With the probability of each label, if asked for, and so many best sequences.
    pub fn new(model: &'m TagModel, form: Output, proba: bool, n_best: usize) -> Self {
        let tags = model.tags();
        let types = tags.types().to_vec();
        Self { model, form, proba, n_best, tags, types, begun: false }
    }

    /// One sequence; `number` is its place among all, from 0.
    pub fn write(
        &mut self,
        out: &mut dyn Write,
        sequence: Sequence<'_>,
        number: usize,
        tagged: &Tagged,
    ) -> io::Result<()> {
        let first = !std::mem::replace(&mut self.begun, true);
        match self.form {
            Output::Text | Output::Jsonl if self.model.schema().texts.is_some() => {
                self.text_with_spans(out, sequence, tagged)
            }
            // The blank line tells whoever waits that the sequence has ended.
            Output::Text => {
                self.text(out, sequence, tagged)?;
                writeln!(out)
            }
            Output::Csv => {
                if first {
                    self.csv_header(out, sequence)?;
                }
                self.csv(out, sequence, number, tagged)
            }
            Output::Jsonl => self.jsonl(out, sequence, number, tagged),
        }
    }

    /// The line of each token with its label after it, or in its column of CoNLL-U, whose other lines stay.
    fn text(&self, out: &mut dyn Write, sequence: Sequence<'_>, tagged: &Tagged) -> io::Result<()> {
        let data = sequence.data();
        match data.schema.format {
            Format::Jsonl => {
                for t in 0..sequence.len() {
                    for column in 0..data.n_columns() {
                        write!(out, "{}\t", printable(sequence.cell(t, column)))?;
                    }
                    self.labels(out, tagged, t, "\t")?;
                }
                Ok(())
            }
            Format::Crfsuite => {
                for (t, &gold) in sequence.gold().iter().enumerate() {
                    let gold = data.labels.get(gold as usize).map_or("", String::as_str);
                    write!(out, "{gold}\t")?;
                    self.labels(out, tagged, t, "\t")?;
                }
                Ok(())
            }
            Format::Conllu => self.conllu(out, sequence, tagged),
            format => {
                let mut t = 0;
                for line in sequence.raw().lines() {
                    if !lineal::data::is_token_line(format, line) {
                        writeln!(out, "{line}")?;
                        continue;
                    }
                    let separator = if line.contains('\t') { "\t" } else { " " };
                    write!(out, "{}{separator}", line.trim_end_matches(' '))?;
                    self.labels(out, tagged, t, separator)?;
                    t += 1;
                }
                Ok(())
            }
        }
    }

    /// CoNLL-U again: the label in its column, everything else as it is. What there is no column for goes to the last one, MISC.
    fn conllu(
        &self,
        out: &mut dyn Write,
        sequence: Sequence<'_>,
        tagged: &Tagged,
    ) -> io::Result<()> {
        let schema = &self.model.schema();
        let (column, name) = (schema.label, schema.columns[schema.label].to_uppercase());
        let misc = schema.columns.len() - 1;
        let mut t = 0;
        for line in sequence.raw().lines() {
            if !lineal::data::is_token_line(Format::Conllu, line) {
                writeln!(out, "{line}")?;
                continue;
            }
            let mut more: Vec<String> = Vec::new();
            for i in 1..self.n_best {
                let labels = tagged.n_best.get(i).map_or(&tagged.labels, |ranked| &ranked.labels);
                more.push(format!("{name}{}={}", i + 1, self.model.label(labels[t])));
            }
            if self.proba {
                more.push(format!("{name}Proba={:.6}", self.marginal(tagged, t)));
            }
            for (i, field) in line.split('\t').enumerate() {
                let field = if i == column { self.model.label(tagged.labels[t]) } else { field };
                let tab = if i > 0 { "\t" } else { "" };
                match i == misc && !more.is_empty() {
                    true if field == "_" => write!(out, "{tab}{}", more.join("|"))?,
                    true => write!(out, "{tab}{field}|{}", more.join("|"))?,
                    false => write!(out, "{tab}{field}")?,
                }
            }
            writeln!(out)?;
            t += 1;
        }
        Ok(())
    }

    /// The label, or those of the best sequences, and the probability of the label.
    fn labels(
        &self,
        out: &mut dyn Write,
        tagged: &Tagged,
        t: usize,
        separator: &str,
    ) -> io::Result<()> {
        write!(out, "{}", self.model.label(tagged.labels[t]))?;
        for i in 1..self.n_best {
            // Fewer sequences than asked for: the column stays, with the first one's label.
            let labels = tagged.n_best.get(i).map_or(&tagged.labels, |ranked| &ranked.labels);
            write!(out, "{separator}{}", self.model.label(labels[t]))?;
        }
        if self.proba {
            write!(out, "{separator}{:.6}", self.marginal(tagged, t))?;
        }
        writeln!(out)
    }

    fn marginal(&self, tagged: &Tagged, t: usize) -> f64 {
        let k = self.model.labels().len();
        let at = t * k + tagged.labels[t] as usize;
        tagged.marginals.as_ref().map_or(f64::NAN, |marginals| marginals[at])
    }

    fn csv_header(&self, out: &mut dyn Write, sequence: Sequence<'_>) -> io::Result<()> {
        write!(out, "sequence,token")?;
        let schema = &sequence.data().schema;
        for column in 0..sequence.data().n_columns() {
            let name = schema.columns.get(column).map_or("", String::as_str);
            write!(out, ",{}", quoted(name))?;
        }
        write!(out, ",predicted")?;
        for i in 2..=self.n_best {
            write!(out, ",predicted{i}")?;
        }
        if self.proba {
            write!(out, ",proba")?;
        }
        writeln!(out)
    }

    fn csv(
        &self,
        out: &mut dyn Write,
        sequence: Sequence<'_>,
        number: usize,
        tagged: &Tagged,
    ) -> io::Result<()> {
        for t in 0..sequence.len() {
            write!(out, "{},{}", number + 1, t + 1)?;
            for column in 0..sequence.data().n_columns() {
                write!(out, ",{}", quoted(sequence.cell(t, column)))?;
            }
            write!(out, ",")?;
            self.labels(out, tagged, t, ",")?;
        }
        Ok(())
    }

    fn jsonl(
        &self,
        out: &mut dyn Write,
        sequence: Sequence<'_>,
        number: usize,
        tagged: &Tagged,
    ) -> io::Result<()> {
        let data = sequence.data();
        let names = |labels: &[u32]| -> Vec<&str> {
            labels.iter().map(|&label| self.model.label(label)).collect()
        };
        let mut object = Map::new();
        object.insert("sequence".into(), json!(number + 1));
        if !data.schema.has_attributes() {
            let words = data.schema.words();
            let tokens: Vec<&str> = (0..sequence.len()).map(|t| sequence.cell(t, words)).collect();
            object.insert("tokens".into(), json!(tokens));
        }
        object.insert("labels".into(), json!(names(&tagged.labels)));
        if self.proba {
            self.add_probabilities(&mut object, tagged);
        }
        if self.n_best > 0 {
            let ranked = tagged.n_best.iter().map(|ranked| {
                let mut one = Map::new();
                one.insert("labels".into(), json!(names(&ranked.labels)));
                one.insert("score".into(), json!(ranked.score));
                if let Some(p) = ranked.probability {
                    one.insert("probability".into(), json!(p));
                }
                Value::Object(one)
            });
            object.insert("n_best".into(), ranked.collect());
        }
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)
    }

    /// The object of the text with the predicted spans in it.
    fn text_with_spans(
        &self,
        out: &mut dyn Write,
        sequence: Sequence<'_>,
        tagged: &Tagged,
    ) -> io::Result<()> {
        let schema = self.model.schema();
        let text = sequence.raw();
        let mut object: Map<String, Value> =
            serde_json::from_str(sequence.object().unwrap_or("{}"))?;
        let (key, form) = (schema.columns[schema.label].clone(), schema.texts);
        object.insert(key, self.char_spans(text, sequence, &tagged.labels, &tagged.spans, form));
        if self.proba {
            object.insert("probability".into(), json!(tagged.probability));
        }
        if self.n_best > 0 {
            let ranked = tagged.n_best.iter().map(|ranked| {
                let spans = self.char_spans(text, sequence, &ranked.labels, &[], form);
                json!({"spans": spans, "score": ranked.score, "probability": ranked.probability})
            });
            object.insert("n_best".into(), ranked.collect());
        }
        serde_json::to_writer(&mut *out, &object)?;
        writeln!(out)
    }

    /// Spans of words as spans of characters, in the form that the training data had; with probabilities as objects.
    fn char_spans(
        &self,
        text: &str,
        sequence: Sequence<'_>,
        labels: &[u32],
        sure: &[TaggedSpan],
        form: Option<SpanForm>,
    ) -> Value {
        let mut counted = (0, 0);
        // Spans come in their order, so that characters are counted once.
        let mut chars = |byte: usize| {
            if byte < counted.0 {
                counted = (0, 0);
            }
            counted = (byte, counted.1 + text[counted.0..byte].chars().count());
            counted.1
        };
        let spans = self.tags.spans(labels);
        let spans = spans.iter().map(|span| {
            let start = chars(sequence.place(span.start, 0).start);
            let end = chars(sequence.place(span.end - 1, 0).end);
            let label = &self.types[span.kind as usize];
            let found = sure.iter().find(|found| found.span == *span);
            match (found, form) {
                (None, Some(SpanForm::Triples)) => json!([start, end, label]),
                (None, _) => json!({"start": start, "end": end, "label": label}),
                (Some(found), _) => {
                    let p = found.probability;
                    json!({"start": start, "end": end, "label": label, "probability": p})
                }
            }
        });
        spans.collect()
    }

    fn add_probabilities(&self, object: &mut Map<String, Value>, tagged: &Tagged) {
        let k = self.model.labels().len();
        object.insert("probability".into(), json!(tagged.probability));
        if let Some(marginals) = &tagged.marginals {
            let rows = marginals.chunks_exact(k).map(|row| {
                let by_name = self.model.labels().iter().cloned().zip(row.iter().map(|p| json!(p)));
                Value::Object(by_name.collect())
            });
            object.insert("proba".into(), rows.collect());
        }
        let spans = tagged.spans.iter().map(|found| {
            json!({
                "start": found.span.start,
                "end": found.span.end,
                "type": self.types[found.span.kind as usize],
                "probability": found.probability,
            })
        });
        object.insert("spans".into(), spans.collect());
    }
}

/// A cell that keeps to its line and column.
fn printable(cell: &str) -> Cow<'_, str> {
    if !cell.contains(char::is_control) {
        return Cow::Borrowed(cell);
    }
    let escape =
        |c: char| if c.is_control() { c.escape_default().to_string() } else { c.to_string() };
    Cow::Owned(cell.chars().map(escape).collect())
}
