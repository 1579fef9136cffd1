//! Text on its way from a reader to an encoder.

use super::{FeatureSpec, said};
use crate::listener::Listener;
use lineal_data::{Schema, TextBatch, TextSink};
use lineal_features::text::{EncodedRows, TextEncoder, TextFit, TextRows, TextSpec};
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

/// Hands on the text of some rows.
pub(super) struct Only<'a> {
    /// Rising; those that are yet to come.
    rows: &'a [usize],
    /// Rows so far.
    n_seen: usize,
    to: &'a mut dyn TextSink,
}

impl<'a> Only<'a> {
    pub(super) fn new(rows: &'a [usize], to: &'a mut dyn TextSink) -> Self {
        Self { rows, n_seen: 0, to }
    }
}

impl TextSink for Only<'_> {
    fn start(&mut self, schema: &Schema) -> Result<(), String> {
        self.to.start(schema)
    }

    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        let end = self.n_seen + batch.n_rows();
        let (now, later) = self.rows.split_at(self.rows.partition_point(|&row| row < end));
        let mut part = TextBatch::new(batch.n_slots());
        for row in now {
            let cell = |slot| batch.get(row - self.n_seen, slot);
            part.push_row(&(0..batch.n_slots()).map(cell).collect::<Vec<_>>());
        }
        (self.rows, self.n_seen) = (later, end);
        if part.n_rows() == 0 { Ok(()) } else { self.to.batch(&part) }
    }
}

/// Learns features while a file is read.
pub(super) struct Learning<'a> {
    spec: &'a FeatureSpec,
    fit: Option<TextFit>,
    /// Once text has come, what is made of it is settled.
    slots: Option<Vec<String>>,
    listener: Listener,
}

/// Texts of fewer words than this on average are short.
const FEW: usize = 4;

impl<'a> Learning<'a> {
    pub(super) fn new(spec: &'a FeatureSpec) -> Self {
        Self { spec, fit: None, slots: None, listener: Listener::here() }
    }

    fn start_with(&mut self, spec: TextSpec) -> Result<(), String> {
        self.fit = Some(TextFit::new(spec).map_err(|e| said(&e))?);
        Ok(())
    }

    /// What was learnt; `None` if there was no text.
    pub(super) fn take(self) -> Option<TextFit> {
        self.fit
    }
}

impl TextSink for Learning<'_> {
    fn start(&mut self, schema: &Schema) -> Result<(), String> {
        let slots: Vec<String> = schema.text_columns().map(str::to_owned).collect();
        self.slots = Some(slots.clone());
        self.start_with(TextSpec { slots, ..self.spec.text.clone() })
    }

    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        self.listener.check()?;
        if let Some(slots) = self.slots.take()
            && self.spec.no_pairs_of_few
            && is_short(batch)
        {
            let ngrams = self.spec.text.ngrams.map(|(lo, _)| (lo, lo));
            self.start_with(TextSpec { slots, ngrams, ..self.spec.text.clone() })?;
        }
        match &mut self.fit {
            Some(fit) => fit.push(&Cells(batch)).map_err(|e| said(&e)),
            None => Ok(()),
        }
    }
}

/// Whether the first rows have few words each.
fn is_short(batch: &TextBatch) -> bool {
    let (mut n_texts, mut n_words) = (0, 0);
    for row in 0..batch.n_rows() {
        for slot in 0..batch.n_slots() {
            let words = batch.get(row, slot).split_ascii_whitespace().take(4 * FEW).count();
            n_texts += usize::from(words > 0);
            n_words += words;
        }
    }
    n_texts > 0 && n_words < FEW * n_texts
}

/// Makes rows while a file is read.
pub(super) struct Applying<'a> {
    encoder: &'a TextEncoder,
    rows: EncodedRows,
    listener: Listener,
}

impl<'a> Applying<'a> {
    pub(super) fn new(encoder: &'a TextEncoder) -> Self {
        Self { encoder, rows: EncodedRows::default(), listener: Listener::here() }
    }

    /// All rows.
    pub(super) fn take(self) -> Csr {
        self.encoder.matrix(self.rows)
    }
}

impl TextSink for Applying<'_> {
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        self.listener.check()?;
        self.encoder.encode_onto(&Cells(batch), &mut self.rows).map_err(|e| e.to_string())
    }
}
