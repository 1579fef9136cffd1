//! Features of text for data that comes in parts: hashed, with names and idf from the first rows.

use super::sinks::Cells;
use super::{FeatureSpec, Features, text_error};
use crate::Error;
use lineal_data::{Dataset, Schema, TextBatch};
use lineal_features::text::{TextFit, TextSpec};
use lineal_linalg::{Csr, Matrix};

/// Features that are being learnt from the first rows of a file, which wait for them meanwhile.
///
/// How rare words are, and what columns are called, is looked at; which column a word has is a hash, and needs no looking. Numbers are not rescaled.
pub(crate) struct Sampling {
    fit: TextFit,
    source: String,
    /// So many rows are enough.
    n_rows: usize,
    waiting: Vec<Dataset>,
}

impl Sampling {
    /// To begin with; `None` if no column is text. The schema is brought up to date.
    pub(crate) fn new(
        spec: &FeatureSpec,
        bits: u8,
        schema: &mut Schema,
        source: String,
        n_rows: usize,
    ) -> Result<Option<Self>, Error> {
        let slots: Vec<String> = schema.text_columns().map(str::to_owned).collect();
        if slots.is_empty() {
            return Ok(None);
        }
        let hash_bits = Some(bits);
        let fit = TextFit::new(TextSpec { slots, hash_bits, ..spec.text.clone() })
            .map_err(|e| text_error(&source, &e))?;
        let n_read = schema.n_read();
        schema.n_computed = 1 << bits;
        schema.n_features = n_read + schema.n_computed;
        Ok(Some(Self { fit, source, n_rows, waiting: Vec::new() }))
    }

    /// Takes more rows, with their text. Returns whether there are enough now.
    pub(crate) fn push(&mut self, chunk: Dataset, text: Option<&TextBatch>) -> Result<bool, Error> {
        if let Some(batch) = text {
            self.fit.push(&Cells(batch)).map_err(|e| text_error(&self.source, &e))?;
        }
        self.waiting.push(chunk);
        Ok(self.waiting.iter().map(Dataset::n_rows).sum::<usize>() >= self.n_rows)
    }

    /// The features, and all rows so far with theirs.
    pub(crate) fn finish(self, schema: &mut Schema) -> Result<(Features, Vec<Dataset>), Error> {
        let Self { fit, source, mut waiting, .. } = self;
        let (encoder, rows) = fit.finish().map_err(|e| text_error(&source, &e))?;
        let features = Features::of_text(encoder, schema);
        let mut parts = parts(rows, waiting.iter().map(Dataset::n_rows)).into_iter();
        for chunk in &mut waiting {
            if let Some(rows) = parts.next() {
                features.put_beside(chunk, rows)?;
            }
        }
        Ok((features, waiting))
    }
}

/// A matrix cut into parts of so many rows.
fn parts(rows: Csr, n_rows: impl ExactSizeIterator<Item = usize>) -> Vec<Csr> {
    if n_rows.len() == 1 {
        return vec![rows];
    }
    let all = Matrix::Sparse(rows);
    let mut start = 0;
    let part = |n| {
        let span = start..start + n;
        start = span.end;
        match all.select(&span.collect::<Vec<_>>()) {
            Matrix::Sparse(part) => Some(part),
            Matrix::Dense(_) => None,
        }
    };
    n_rows.map_while(part).collect()
}
