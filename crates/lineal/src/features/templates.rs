//! Joint features: templates over cells, and which classes share the weights of a column.
//!
//! Hashed columns that training never saw have no weights: the others are numbered anew, in their order. A small file makes a small
//! model, whatever the number of bits.

use super::sinks::Cells;
use crate::Error;
use crate::train::weights::{Number, Weights};
use lineal_data::{Schema, TextBatch, TextSink};
use lineal_features::templates::{TemplateNames, Templates};
use lineal_features::text::TextRows;
use lineal_linalg::{Csr, Row};
use lineal_model::{Bias, Joint};

/// Templates with what training saw of them.
#[derive(Clone, Debug)]
pub(crate) struct Learnt {
    pub(crate) templates: Templates,
    /// Of hashed columns.
    pub(crate) names: TemplateNames,
    /// The hashed columns that are features, rising.
    pub(crate) kept: Vec<u32>,
}

impl Learnt {
    /// Keeps the columns that occur.
    pub(super) fn new(templates: Templates, names: TemplateNames, rows: &Csr) -> Self {
        let mut occurs = vec![false; templates.n_features()];
        for i in 0..rows.n_rows() {
            rows.row(i).for_each(|j, _| occurs[j] = true);
        }
        let kept = (0u32..).zip(occurs).filter(|&(_, occurs)| occurs).map(|(j, _)| j).collect();
        Self { templates, names, kept }
    }

    /// Whether what was kept are columns of these templates.
    pub(super) fn is_whole(&self) -> bool {
        let inside = |&j: &u32| (j as usize) < self.templates.n_features();
        self.kept.is_sorted_by(|a, b| a < b) && self.kept.last().is_none_or(inside)
    }

    pub(super) fn n_features(&self) -> usize {
        self.kept.len()
    }

    /// What people call feature `at` of those that templates make.
    pub(super) fn name(&self, at: usize) -> String {
        let column = self.kept.get(at).map_or(at, |&column| column as usize);
        self.templates.feature_name(column, &self.names)
    }

    /// Rows of hashed columns as rows of features.
    pub(super) fn narrow(&self, rows: &Csr) -> Csr {
        let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
        for i in 0..rows.n_rows() {
            let Row::Sparse(row) = rows.row(i) else { continue };
            for (column, &v) in row.idx().iter().zip(row.val()) {
                if let Ok(at) = self.kept.binary_search(column) {
                    idx.push(at as u32);
                    val.push(v);
                }
            }
            indptr.push(idx.len());
        }
        Csr::new(self.n_features(), indptr, idx, val).expect("the order of columns is kept")
    }

    /// The rows of some cells.
    pub(super) fn encode(
        &self,
        schema: &Schema,
        cells: &(impl TextRows + ?Sized),
    ) -> Result<Csr, String> {
        let slots = bind(&self.templates, schema)?;
        let (rows, _) = self.templates.encode(cells, &slots).map_err(|e| e.to_string())?;
        Ok(self.narrow(&rows))
    }

    /// The model of these features: the columns that are read and those that a map makes see whole classes, those of templates the
    /// part that they name.
    pub(crate) fn joint(&self, schema: &Schema, bias: Bias) -> Result<Joint, Error> {
        let classes = &schema.classes;
        let whole = |n: usize| (n > 0).then(|| (n, (0..classes.len() as u32).collect()));
        let mut end = 0;
        let of_templates =
            self.templates.regions(classes).into_iter().map(|(n_columns, groups)| {
                let start = end;
                end += n_columns as u32;
                (
                    self.kept.partition_point(|&j| j < end)
                        - self.kept.partition_point(|&j| j < start),
                    groups,
                )
            });
        let regions = whole(schema.n_read())
            .into_iter()
            .chain(of_templates)
            .chain(whole(schema.n_computed.saturating_sub(self.n_features())));
        Joint::new(classes.len(), regions, bias).map_err(|why| {
            Error::request(format!("spec.templates: {why}; lower spec.text.hash_bits"))
        })
    }
}

fn bind(templates: &Templates, schema: &Schema) -> Result<Vec<usize>, String> {
    let names: Vec<String> = schema.text_columns().map(str::to_owned).collect();
    templates.bind(&names).map_err(|e| e.to_string())
}

/// Shared weights as one per column and class, which is how prediction, explanations and the file see them; for two classes their
/// difference.
pub(crate) fn expand(weights: Weights, joint: &Joint, n_classes: usize) -> Weights {
    fn all<F: Number>(w: &[F], joint: &Joint, n_classes: usize) -> Weights {
        let of = |j: usize, class: usize| w[joint.at(j, class)];
        let bias = &w[joint.bias_weights()];
        let mut out = Vec::new();
        if n_classes == 2 {
            out.extend((0..joint.n_features()).map(|j| of(j, 1) - of(j, 0)));
            out.extend(bias.chunks_exact(2).map(|bias| bias[1] - bias[0]));
        } else {
            out.reserve_exact((joint.n_features() + 1) * n_classes);
            for j in 0..joint.n_features() {
                out.extend((0..n_classes).map(|class| of(j, class)));
            }
            out.extend_from_slice(bias);
        }
        F::own(out)
    }
    match &weights {
        Weights::F32(w) => all(w, joint, n_classes),
        Weights::F64(w) => all(w, joint, n_classes),
        Weights::Mapped(_) | Weights::Spread(..) => weights,
    }
}

/// Makes rows of hashed columns while a file is read, and notes names.
pub(super) struct Filling<'a> {
    templates: &'a Templates,
    slots: Vec<usize>,
    rows: Option<Csr>,
    names: TemplateNames,
}

impl<'a> Filling<'a> {
    pub(super) fn new(templates: &'a Templates) -> Self {
        Self { templates, slots: Vec::new(), rows: None, names: TemplateNames::default() }
    }

    /// All rows, and the names that occurred.
    pub(super) fn take(self) -> (Csr, TemplateNames) {
        let none = || Csr::new(self.templates.n_features(), vec![0], Vec::new(), Vec::new());
        (self.rows.unwrap_or_else(|| none().expect("no rows are a matrix")), self.names)
    }
}

impl TextSink for Filling<'_> {
    fn start(&mut self, schema: &Schema) -> Result<(), String> {
        self.slots = bind(self.templates, schema)?;
        Ok(())
    }

    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        let (rows, names) =
            self.templates.encode(&Cells(batch), &self.slots).map_err(|e| e.to_string())?;
        self.names.extend(names);
        match &mut self.rows {
            None => self.rows = Some(rows),
            Some(all) => all.extend(&rows).map_err(|e| e.to_string())?,
        }
        Ok(())
    }
}
