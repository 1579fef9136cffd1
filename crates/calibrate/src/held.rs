//! Held-out scores with what was true, checked once. Scores must come from models that have not seen the rows:
//! those of the training rows are too good, and a map fitted to them is too sure.

use crate::Error;

/// Scores of one yes-or-no question, the answers, and weights. Valid by construction.
#[derive(Clone, Copy, Debug)]
pub struct Answers<'a> {
    pub(crate) scores: &'a [f64],
    pub(crate) yes: &'a [bool],
    pub(crate) weights: Option<&'a [f32]>,
}

impl<'a> Answers<'a> {
    /// Checks that there are rows, that scores are finite and weights (1 without them) finite and not negative.
    pub fn new(
        scores: &'a [f64],
        yes: &'a [bool],
        weights: Option<&'a [f32]>,
    ) -> Result<Self, Error> {
        if scores.is_empty() {
            return Err(Error::Empty);
        }
        Error::unless_len("answers", scores.len(), yes.len())?;
        Error::unless_finite(scores)?;
        if let Some(weights) = weights {
            Error::unless_len("weights", scores.len(), weights.len())?;
            Error::unless_weights(weights)?;
        }
        Ok(Self { scores, yes, weights })
    }

    /// Score, answer and weight of each row that has one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (f64, bool, f64)> {
        let weight = |i: usize| self.weights.map_or(1.0, |w| f64::from(w[i]));
        let rows = self.scores.iter().zip(self.yes).enumerate();
        rows.map(move |(i, (&score, &yes))| (score, yes, weight(i))).filter(|row| row.2 > 0.0)
    }
}

/// What was true of held-out rows.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// The class of each row. Column k asks "class k?"; a single column asks "class 1, not class 0?".
    Classes(&'a [u32]),
    /// The class of each row, and a row-major K × L code: column l asks rows of classes with 1 (yes) and −1 (no), and not
    /// those with 0. One-vs-one, output codes and the nodes of binary trees are such codes.
    Coded {
        /// The class of each row, below K.
        y: &'a [u32],
        /// Entries −1, 0 and 1.
        code: &'a [i8],
    },
    /// Any number of labels a row: row i has `ids[start[i]..start[i + 1]]`. Column l asks "label l?". Labels from L up, which
    /// no column asks for, are passed over.
    Labels {
        /// n + 1 places, rising from 0.
        start: &'a [usize],
        /// The labels of all rows.
        ids: &'a [u32],
    },
}

/// A row-major n × L table of held-out scores with what was true. Valid by construction.
#[derive(Clone, Debug)]
pub struct Held<'a> {
    n_columns: usize,
    scores: &'a [f64],
    truth: Truth<'a>,
    weights: Option<&'a [f32]>,
    /// Of labels, the rows of label l: `rows[start[l]..start[l + 1]]`. Empty for classes.
    rows: Vec<usize>,
    start: Vec<usize>,
}

/// The rows that take part in one column, copied out of the table.
pub(crate) struct Column {
    scores: Vec<f64>,
    yes: Vec<bool>,
    weights: Option<Vec<f32>>,
}

impl<'a> Held<'a> {
    /// Checks that scores are finite and that classes, codes and labels fit the `n_columns` columns.
    pub fn new(n_columns: usize, scores: &'a [f64], truth: Truth<'a>) -> Result<Self, Error> {
        let n_rows = match truth {
            Truth::Classes(y) | Truth::Coded { y, .. } => y.len(),
            Truth::Labels { start, .. } => start.len().saturating_sub(1),
        };
        if n_rows == 0 || n_columns == 0 {
            return Err(Error::Empty);
        }
        Error::unless_len("scores", n_rows.saturating_mul(n_columns), scores.len())?;
        Error::unless_finite(scores)?;
        let mut held =
            Self { n_columns, scores, truth, weights: None, rows: Vec::new(), start: Vec::new() };
        match truth {
            Truth::Classes(y) => check_classes(y, n_columns.max(2))?,
            Truth::Coded { y, code } => {
                if code.len() % n_columns != 0 || code.iter().any(|m| !(-1..=1).contains(m)) {
                    return Err(Error::Shape("a code has K × L entries of -1, 0 and 1"));
                }
                check_classes(y, code.len() / n_columns)?;
            }
            Truth::Labels { start, ids } => {
                let rises = start.windows(2).all(|pair| pair[0] <= pair[1]);
                if !(rises && start[0] == 0 && start[n_rows] == ids.len()) {
                    return Err(Error::Shape("starts of labels must rise from 0 to their number"));
                }
                held.group_by_label(start, ids);
            }
        }
        Ok(held)
    }

    /// The same rows with a weight each, finite and not negative, not all 0.
    pub fn with_weights(self, weights: &'a [f32]) -> Result<Self, Error> {
        Error::unless_len("weights", self.n_rows(), weights.len())?;
        Error::unless_weights(weights)?;
        Ok(Self { weights: Some(weights), ..self })
    }

    /// Number of columns, L.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.scores.len() / self.n_columns
    }

    pub(crate) fn truth(&self) -> Truth<'a> {
        self.truth
    }

    pub(crate) fn row(&self, row: usize) -> &'a [f64] {
        &self.scores[row * self.n_columns..(row + 1) * self.n_columns]
    }

    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |w| w[row].into())
    }

    /// The rows of a column that are asked and have a weight.
    pub(crate) fn column(&self, column: usize) -> Column {
        let mut yes: Vec<Option<bool>> = match self.truth {
            Truth::Classes(y) if self.n_columns == 1 => y.iter().map(|&y| Some(y == 1)).collect(),
            Truth::Classes(y) => y.iter().map(|&y| Some(y as usize == column)).collect(),
            Truth::Coded { y, code } => {
                let entry = |y: u32| code[y as usize * self.n_columns + column];
                y.iter().map(|&y| Some(entry(y) > 0).filter(|_| entry(y) != 0)).collect()
            }
            Truth::Labels { .. } => {
                let mut yes = vec![Some(false); self.n_rows()];
                for &row in &self.rows[self.start[column]..self.start[column + 1]] {
                    yes[row] = Some(true);
                }
                yes
            }
        };
        if let Some(weights) = self.weights {
            yes.iter_mut()
                .zip(weights)
                .filter(|(_, w)| **w == 0.0)
                .for_each(|(yes, _)| *yes = None);
        }
        let asked = || yes.iter().enumerate().filter(|(_, yes)| yes.is_some()).map(|(row, _)| row);
        Column {
            scores: asked().map(|row| self.scores[row * self.n_columns + column]).collect(),
            weights: self.weights.map(|weights| asked().map(|row| weights[row]).collect()),
            yes: yes.into_iter().flatten().collect(),
        }
    }

    /// A counting sort; a label that a row repeats is listed twice, which does no harm.
    fn group_by_label(&mut self, start: &[usize], ids: &[u32]) {
        let known = |id: &u32| (*id as usize) < self.n_columns;
        self.start = vec![0; self.n_columns + 1];
        for &id in ids.iter().filter(|id| known(id)) {
            self.start[id as usize + 1] += 1;
        }
        for l in 0..self.n_columns {
            self.start[l + 1] += self.start[l];
        }
        let mut next = self.start.clone();
        self.rows = vec![0; self.start[self.n_columns]];
        for (row, span) in start.windows(2).enumerate() {
            for &id in ids[span[0]..span[1]].iter().filter(|id| known(id)) {
                self.rows[next[id as usize]] = row;
                next[id as usize] += 1;
            }
        }
    }
}

impl Column {
    /// Perhaps without rows, unlike what [`Answers::new`] makes.
    pub(crate) fn answers(&self) -> Answers<'_> {
        Answers { scores: &self.scores, yes: &self.yes, weights: self.weights.as_deref() }
    }
}

fn check_classes(y: &[u32], n_classes: usize) -> Result<(), Error> {
    match y.iter().position(|&y| y as usize >= n_classes) {
        None => Ok(()),
        Some(row) => Err(Error::Id { row, what: "class", id: y[row], n: n_classes }),
    }
}
