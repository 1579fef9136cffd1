//! Rows of features as LIBSVM, Vowpal Wabbit, JSON lines or csv.

use std::io::{self, Write};

use lineal::linalg::Row;
use lineal::{Dataset, Features, Format, Schema, Targets};
use serde_json::json;

use crate::talk::number;

/// A csv has a column for each feature, zeros too.
const MOST_COLUMNS: usize = 10_000;

/// Rows to write.
pub struct Rows<'a> {
    data: &'a Dataset,
    features: &'a Features,
    /// What each class is called where labels must be numbers.
    numbers: Option<Vec<String>>,
}

impl<'a> Rows<'a> {
    pub fn new(data: &'a Dataset, features: &'a Features) -> Self {
        let classes = &data.schema.classes;
        let are_numbers = classes.iter().all(|c| c.parse::<f64>().is_ok_and(f64::is_finite));
        let numbers =
            (!are_numbers).then(|| (1..=classes.len()).map(|id| id.to_string()).collect());
        Self { data, features, numbers }
    }

    /// Which number stands for which class; `None` where classes are numbers themselves.
    pub fn numbered(&self) -> Option<String> {
        let numbers = self.numbers.as_ref()?;
        let pair = |(number, class): (&String, &String)| format!("{number} {class}");
        Some(numbers.iter().zip(&self.data.schema.classes).map(pair).collect::<Vec<_>>().join(", "))
    }

    /// What a feature is called.
    pub fn name(&self, j: usize) -> String {
        self.features.feature_name(&self.data.schema, j)
    }

    pub fn write(&self, to: Format, out: &mut dyn Write) -> io::Result<()> {
        let schema = &self.data.schema;
        match to {
            Format::Svmlight => self.sparse(out, &Sparse { names: self.indices(schema), bar: "" }),
            Format::Vw => self.sparse(out, &Sparse { names: self.words(), bar: "|" }),
            Format::Jsonl => self.objects(out),
            _ => self.dense(out),
        }
    }

    /// 1-based indices, or those that a LIBSVM file had.
    fn indices(&self, schema: &Schema) -> Vec<String> {
        let own = |j: usize| schema.feature_ids.is_some() && j < schema.n_read();
        let index = |j: usize| if own(j) { schema.feature_name(j) } else { (j + 1).to_string() };
        (0..self.data.n_features()).map(index).collect()
    }

    /// Names without what Vowpal Wabbit reads as something else.
    fn words(&self) -> Vec<String> {
        let safe = |c: char| if c.is_whitespace() || matches!(c, ':' | '|') { '_' } else { c };
        (0..self.data.n_features()).map(|j| self.name(j).chars().map(safe).collect()).collect()
    }

    fn sparse(&self, out: &mut dyn Write, form: &Sparse) -> io::Result<()> {
        let names = if form.bar.is_empty() { self.numbers.as_ref() } else { None };
        for i in 0..self.data.n_rows() {
            let label = self.label(i, names.unwrap_or(&self.data.schema.classes));
            write!(out, "{label}")?;
            if let Some(weights) = &self.data.weights {
                let before = if form.bar.is_empty() { '|' } else { ' ' };
                write!(out, "{before}{}", weights[i])?;
            }
            if !form.bar.is_empty() {
                write!(out, " {}", form.bar)?;
            }
            entries(self.data.x.row(i), &mut |j, v| write!(out, " {}:{v}", form.names[j]))?;
            writeln!(out)?;
        }
        Ok(())
    }

    fn objects(&self, out: &mut dyn Write) -> io::Result<()> {
        let names: Vec<String> =
            (0..self.data.n_features()).map(|j| json!(self.name(j)).to_string()).collect();
        let classes = &self.data.schema.classes;
        for i in 0..self.data.n_rows() {
            write!(out, "{{")?;
            match &self.data.y {
                Targets::None => {}
                Targets::Real(y) => write!(out, "\"label\":{},", number(y[i]))?,
                Targets::Classes(_) => write!(out, "\"label\":{},", json!(self.label(i, classes)))?,
                Targets::Labels(y) => {
                    let of = |&id: &u32| classes.get(id as usize).map_or("", String::as_str);
                    let list: Vec<&str> = y.row(i).iter().map(of).collect();
                    write!(out, "\"labels\":{},", json!(list))?;
                }
            }
            write!(out, "\"features\":{{")?;
            let mut first = true;
            entries(self.data.x.row(i), &mut |j, v| {
                let comma = if std::mem::take(&mut first) { "" } else { "," };
                write!(out, "{comma}{}:{v}", names[j])
            })?;
            writeln!(out, "}}}}")?;
        }
        Ok(())
    }

    fn dense(&self, out: &mut dyn Write) -> io::Result<()> {
        let n = self.data.n_features();
        if n > MOST_COLUMNS {
            return Err(io::Error::other(format!(
                "{n} features are too many columns for a csv; write libsvm or jsonl"
            )));
        }
        let quoted = |name: String| match name.contains([',', '"', '\n']) {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => name,
        };
        let names: Vec<String> = (0..n).map(|j| quoted(self.name(j))).collect();
        writeln!(out, "label,{}", names.join(","))?;
        for i in 0..self.data.n_rows() {
            let mut values = vec![0.0; n];
            self.data.x.row(i).for_each(|j, v| values[j] = v);
            write!(out, "{}", quoted(self.label(i, &self.data.schema.classes)))?;
            values.iter().try_for_each(|v| write!(out, ",{v}"))?;
            writeln!(out)?;
        }
        Ok(())
    }

    /// What the row is labelled with; labels of a list between commas.
    fn label(&self, i: usize, classes: &[String]) -> String {
        let name = |id: u32| classes.get(id as usize).map_or("", String::as_str);
        match &self.data.y {
            Targets::None => String::new(),
            Targets::Real(y) => number(y[i]),
            Targets::Classes(y) => name(y[i]).to_owned(),
            Targets::Labels(y) => y.row(i).iter().map(|&id| name(id)).collect::<Vec<_>>().join(","),
        }
    }
}

/// `label name:value …`.
struct Sparse {
    names: Vec<String>,
    /// Between the label and the features.
    bar: &'static str,
}

/// The entries that are not 0.
fn entries(row: Row<'_>, f: &mut dyn FnMut(usize, f32) -> io::Result<()>) -> io::Result<()> {
    let mut done = Ok(());
    row.for_each(|j, v| {
        if v != 0.0 && done.is_ok() {
            done = f(j, v);
        }
    });
    done
}
