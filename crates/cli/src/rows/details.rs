//! What a page shows of an evaluation beside its metrics: curves over thresholds, errors of numbers, the worst mistakes with their rows, the features that weigh most.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lineal::data::{ColumnKind, UNSEEN};
use lineal::{
    Dataset, Format, Model, Predicted, ReadOptions, Source, Targets, Task, ThresholdCurve,
};
use serde_json::Value;

/// Points of a curve that are drawn.
const POINTS: usize = 400;
/// Scores that are held at once.
const AT_ONCE: usize = 1 << 22;
/// Mistakes that are listed.
const MISTAKES: usize = 25;
/// Rows close to the border that are listed.
const BORDER: usize = 15;
/// Features that are listed.
const FEATURES: usize = 25;
/// Weights that are looked at.
const WEIGHTS: usize = 1 << 27;
/// Points of a scatter plot.
const DOTS: usize = 1200;

/// Everything beside the metrics.
#[derive(Default)]
pub struct Details {
    pub curves: Vec<ThresholdCurve>,
    /// Whether thresholds are probabilities, or scores.
    pub is_proba: bool,
    /// Actual and predicted numbers, some of them if there are many.
    pub pairs: Vec<(f64, f64)>,
    /// All residuals, predicted − actual.
    pub residuals: Vec<f64>,
    pub mistakes: Vec<Mistake>,
    /// Rows whose first two classes are nearest to each other, right or wrong.
    pub border: Vec<Mistake>,
    pub importance: Vec<(f64, String)>,
}

/// A row with its answer, most often a wrong one.
#[derive(Clone)]
pub struct Mistake {
    /// From 0.
    pub row: usize,
    pub gold: String,
    pub predicted: String,
    /// How sure the model was of the wrong answer; of numbers, how far it is off; at the border, by how much the answer leads the next.
    pub amount: f64,
    /// The row as it stands in the file, by column.
    pub cells: Vec<(String, String)>,
}

impl Details {
    /// Of a model on labelled data from `source`.
    pub fn new(
        model: &Model,
        data: &Dataset,
        source: Source,
        options: &ReadOptions,
    ) -> Result<Self, lineal::Error> {
        let mut found = Self { importance: importance(model), ..Self::default() };
        match &data.y {
            Targets::Classes(gold) if model.task() == Task::Classify => {
                found.classes(model, data, gold)?;
            }
            Targets::Real(gold) if model.task() == Task::Regress => {
                found.numbers(model, data, gold);
            }
            _ => {}
        }
        found.read_cells(source, options, data);
        Ok(found)
    }

    fn classes(
        &mut self,
        model: &Model,
        data: &Dataset,
        gold: &[u32],
    ) -> Result<(), lineal::Error> {
        let k = model.classes().len();
        self.is_proba = model.has_proba();
        let rows: Vec<usize> = (0..data.n_rows()).collect();
        for rows in rows.chunks((AT_ONCE / k.max(1)).max(1)) {
            let part = data.select(rows);
            let table = match self.is_proba {
                true => model.proba(&part)?,
                false => model.scores(&part)?,
            };
            let Predicted::Classes(predicted) = model.predict(&part)? else { return Ok(()) };
            for (at, &i) in rows.iter().enumerate() {
                let row = table.row(at);
                // Two classes may have one score, that of the second.
                let of = |class: usize| match row.len() {
                    1 if class == 0 => -row[0],
                    1 => row[0],
                    _ => row.get(class).copied().unwrap_or(f64::NAN),
                };
                if gold[i] == UNSEEN {
                    continue;
                }
                let name = |class: u32| model.classes()[class as usize].clone();
                let others = (0..k).filter(|&class| class != predicted[at] as usize).map(of);
                let next = others.fold(f64::NEG_INFINITY, f64::max);
                self.add_at_border(Mistake {
                    row: i,
                    gold: name(gold[i]),
                    predicted: name(predicted[at]),
                    amount: (of(predicted[at] as usize) - next).abs(),
                    cells: Vec::new(),
                });
                if predicted[at] != gold[i] {
                    let amount = match self.is_proba {
                        true => of(predicted[at] as usize),
                        false => of(predicted[at] as usize) - of(gold[i] as usize),
                    };
                    self.add_mistake(Mistake {
                        row: i,
                        gold: name(gold[i]),
                        predicted: name(predicted[at]),
                        amount,
                        cells: Vec::new(),
                    });
                }
            }
        }
        self.keep_worst();
        self.keep_closest();
        self.curves = model.threshold_curves(data)?;
        self.curves.iter_mut().for_each(|curve| curve.points = curve.some_points(POINTS));
        Ok(())
    }

    fn numbers(&mut self, model: &Model, data: &Dataset, gold: &[f64]) {
        let Ok(Predicted::Real(predicted)) = model.predict(data) else { return };
        let every = gold.len().div_ceil(DOTS).max(1);
        for (row, (&y, &y_hat)) in gold.iter().zip(&predicted).enumerate() {
            if row % every == 0 {
                self.pairs.push((y, y_hat));
            }
            self.residuals.push(y_hat - y);
            self.add_mistake(Mistake {
                row,
                gold: crate::talk::rough(y),
                predicted: crate::talk::rough(y_hat),
                amount: (y_hat - y).abs(),
                cells: Vec::new(),
            });
        }
        self.keep_worst();
    }

    fn add_mistake(&mut self, mistake: Mistake) {
        self.mistakes.push(mistake);
        if self.mistakes.len() >= 64 * MISTAKES {
            self.keep_worst();
        }
    }

    fn add_at_border(&mut self, row: Mistake) {
        self.border.push(row);
        if self.border.len() >= 64 * BORDER {
            self.keep_closest();
        }
    }

    fn keep_closest(&mut self) {
        self.border.retain(|row| row.amount.is_finite());
        self.border.sort_by(|a, b| a.amount.total_cmp(&b.amount).then(a.row.cmp(&b.row)));
        self.border.truncate(BORDER);
    }

    fn keep_worst(&mut self) {
        self.mistakes.sort_by(|a, b| b.amount.total_cmp(&a.amount).then(a.row.cmp(&b.row)));
        self.mistakes.truncate(MISTAKES);
    }

    /// What stands in the rows that are listed, where the data is a table that can be read again.
    fn read_cells(&mut self, source: Source, options: &ReadOptions, data: &Dataset) {
        let again = match &source {
            Source::Path(path) => path.is_file(),
            Source::Memory { .. } => true,
            _ => false,
        };
        let listed = || self.mistakes.iter().chain(&self.border);
        if !again || listed().next().is_none() {
            return;
        }
        let wanted = listed().map(|row| (row.row, Vec::new())).collect();
        let mut lines = Lines { wanted, at: 0 };
        let done = lineal::data::convert(source, options, Format::Jsonl, &mut lines);
        // Rows are found by their number, so there must be as many.
        if !matches!(done, Ok(Some(done)) if done.n_rows == data.n_rows()) {
            return;
        }
        for mistake in self.mistakes.iter_mut().chain(&mut self.border) {
            let line = lines.wanted.get(&mistake.row).map_or(&[][..], Vec::as_slice);
            if let Ok(Value::Object(object)) = serde_json::from_slice(line) {
                let columns = data.schema.columns.iter().flatten();
                let label =
                    columns.filter(|c| matches!(c.kind, ColumnKind::Label)).map(|c| &c.name);
                let labels: Vec<&String> = label.collect();
                let cell = |(name, value): (String, Value)| match value {
                    // It stands beside, as what is right.
                    _ if labels.contains(&&name) => None,
                    Value::Null => None,
                    Value::String(text) => Some((name, text)),
                    other => Some((name, other.to_string())),
                };
                mistake.cells = object.into_iter().filter_map(cell).collect();
            }
        }
    }
}

/// Keeps some lines of what is written.
struct Lines {
    wanted: BTreeMap<usize, Vec<u8>>,
    at: usize,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|&b| b == b'\n') {
            if let Some(line) = self.wanted.get_mut(&self.at) {
                line.extend_from_slice(part);
            }
            self.at += usize::from(part.ends_with(b"\n"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Weight × standard deviation of the features that weigh most, for the class that each speaks for or against most.
pub fn importance(model: &Model) -> Vec<(f64, String)> {
    let (n, k) = (model.n_features(), model.classes().len());
    let classes = match k {
        0 | 1 => 0..1,
        2 => 1..2,
        k => 0..k,
    };
    if n.saturating_mul(classes.len()) > WEIGHTS {
        return Vec::new();
    }
    let mut most: Vec<(f64, usize)> = vec![(0.0, 0); n];
    for class in classes {
        for (j, weight) in model.class_weights(class).into_iter().take(n).enumerate() {
            if weight.abs() > most[j].0.abs() {
                most[j] = (weight, class);
            }
        }
    }
    let mut all: Vec<(f64, usize, usize)> = most
        .into_iter()
        .enumerate()
        .map(|(j, (weight, class))| (weight * model.deviation(j), j, class))
        .filter(|(amount, ..)| *amount != 0.0)
        .collect();
    all.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    all.truncate(FEATURES);
    let name = |j: usize, class: usize| match k {
        0..=2 => model.feature_name(j),
        _ => format!("{} → {}", model.feature_name(j), model.classes()[class]),
    };
    all.into_iter().map(|(amount, j, class)| (amount, name(j, class))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_by_their_number() {
        let wanted = [(1, Vec::new()), (3, Vec::new())].into();
        let mut lines = Lines { wanted, at: 0 };
        lines.write_all(b"a\nb").unwrap();
        lines.write_all(b"c\nd\ne").unwrap();
        assert_eq!(lines.wanted[&1], b"bc\n");
        assert_eq!(lines.wanted[&3], b"e");
    }
}
