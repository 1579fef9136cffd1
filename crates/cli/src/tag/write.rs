//! Tagged sequences as columns, CSV or JSON lines.

use std::borrow::Cow;
use std::io::{self, Write};

use lineal::{Format, Sequence, TagModel, Tagged};
use serde_json::{Map, Value, json};

use crate::args::Output;
use crate::table::quoted;

/// Writes sequences, one after the other.
pub struct Writer<'m> {
    model: &'m TagModel,
    form: Output,
    proba: bool,
    n_best: usize,
    types: Vec<String>,
    begun: bool,
}

impl<'m> Writer<'m> {
    /// With the probability of each label, if asked for, and so many best sequences.
    pub fn new(model: &'m TagModel, form: Output, proba: bool, n_best: usize) -> Self {
        let types = model.tags().types().to_vec();
        Self { model, form, proba, n_best, types, begun: false }
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
            Output::Text => {
                if !first {
                    writeln!(out)?;
                }
                self.text(out, sequence, tagged)
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

    /// The line of each token with its label after it; comments and other lines of CoNLL-U stay.
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
