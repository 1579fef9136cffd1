//! Text on its way from a reader to an encoder.

use super::said;
use lineal_data::{Schema, TextBatch, TextSink};
use lineal_features::text::{TextEncoder, TextFit, TextRows, TextSpec};
use lineal_linalg::Csr;

/// A batch as an encoder sees it.
pub(super) struct Cells<'a>(pub(super) &'a TextBatch);

impl TextRows for Cells<'_> {
    fn n_rows(&self) -> usize {
        self.0.n_rows()
    }

    fn n_slots(&self) -> usize {
        self.0.n_slots()
    }

    fn get(&self, row: usize, slot: usize) -> &str {
        self.0.get(row, slot)
    }
}

/// Learns features while a file is read.
pub(super) struct Learning<'a> {
    spec: &'a TextSpec,
    fit: Option<TextFit>,
}

impl<'a> Learning<'a> {
    pub(super) fn new(spec: &'a TextSpec) -> Self {
        Self { spec, fit: None }
    }

    /// What was learnt; `None` if there was no text.
    pub(super) fn take(self) -> Option<TextFit> {
        self.fit
    }
}

impl TextSink for Learning<'_> {
    fn start(&mut self, schema: &Schema) -> Result<(), String> {
        let slots = schema.text_columns().map(str::to_owned).collect();
        let fit = TextFit::new(TextSpec { slots, ..self.spec.clone() });
        self.fit = Some(fit.map_err(|e| said(&e))?);
        Ok(())
    }

    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        match &mut self.fit {
            Some(fit) => fit.push(&Cells(batch)).map_err(|e| said(&e)),
            None => Ok(()),
        }
    }
}

/// Makes rows while a file is read.
pub(super) struct Applying<'a> {
    encoder: &'a TextEncoder,
    rows: Option<Csr>,
}

impl<'a> Applying<'a> {
    pub(super) fn new(encoder: &'a TextEncoder) -> Self {
        Self { encoder, rows: None }
    }

    /// All rows.
    pub(super) fn take(self) -> Csr {
        let none = || Csr::new(self.encoder.n_features(), vec![0], Vec::new(), Vec::new());
        self.rows.unwrap_or_else(|| none().expect("no rows are a matrix"))
    }
}

impl TextSink for Applying<'_> {
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        let rows = self.encoder.encode(&Cells(batch)).map_err(|e| e.to_string())?;
        match &mut self.rows {
            None => self.rows = Some(rows),
            Some(all) => all.extend(&rows).map_err(|e| e.to_string())?,
        }
        Ok(())
    }
}
