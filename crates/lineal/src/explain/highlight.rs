//! Where in a row's text the features are that decided.

use crate::Error;
use crate::explain::Explanation;
use crate::predict::model::Model;
use lineal_data::{ReadOptions, Source, TextBatch, TextSink};
use std::collections::{BTreeMap, HashMap};

/// A part of a text, and what it added to the lead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lit {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// What it added: above 0 for the winner.
    pub amount: f64,
}

impl Model {
    /// The text columns of some rows, given rising, as they stand in the file. Empty lists for a model without text.
    pub fn read_texts(
        &self,
        source: impl Into<Source>,
        options: &ReadOptions,
        rows: &[usize],
    ) -> Result<Vec<Vec<String>>, Error> {
        if self.features().text().is_none() {
            return Ok(vec![Vec::new(); rows.len()]);
        }
        let mut keeping = Keeping { rows, n_seen: 0, texts: Vec::with_capacity(rows.len()) };
        lineal_data::read_text_with(source, options, self.schema(), &mut keeping)?;
        Ok(keeping.texts)
    }

    /// The parts of a text that decided, in their order. A feature's contribution is shared out over all places where it occurs, and over the bytes of each; what
    /// several features say of the same bytes adds up. The explanation must have all contributions ([`ExplainSpec::top`](crate::ExplainSpec::top) `None`).
    ///
    /// # Panics
    /// If the model has no such text column.
    pub fn highlight(&self, explanation: &Explanation, slot: usize, text: &str) -> Vec<Lit> {
        let Some(encoder) = self.features().text() else { return Vec::new() };
        let first = self.schema().n_read();
        let amounts: HashMap<usize, f64> = explanation
            .contributions
            .iter()
            .filter_map(|c| Some((c.feature.checked_sub(first)?, c.amount())))
            .collect();
        let spans = encoder.spans(slot, text);
        let mut occurs: HashMap<u32, f64> = HashMap::new();
        spans.iter().for_each(|span| *occurs.entry(span.feature).or_default() += 1.0);
        // How much more a byte weighs from a place on, and how many spans more cover it.
        let mut turns: BTreeMap<usize, (f64, isize)> = BTreeMap::new();
        for span in spans.iter().filter(|span| span.end > span.start) {
            let Some(amount) = amounts.get(&(span.feature as usize)) else { continue };
            let each = amount / occurs[&span.feature] / (span.end - span.start) as f64;
            for (at, sign) in [(span.start, 1), (span.end, -1)] {
                let turn = turns.entry(at).or_default();
                turn.0 += sign as f64 * each;
                turn.1 += sign;
            }
        }
        let mut lit = Vec::new();
        let (mut weight, mut covering) = (0.0, 0);
        let mut places = turns.into_iter().peekable();
        while let Some((start, (more, spans))) = places.next() {
            covering += spans;
            // Sums of what was added and taken away again are not quite 0.
            weight = if covering == 0 { 0.0 } else { weight + more };
            if let Some(&(end, _)) = places.peek().filter(|_| covering > 0) {
                lit.push(Lit { start, end, amount: weight * (end - start) as f64 });
            }
        }
        lit
    }
}

/// Keeps the text of some rows.
struct Keeping<'a> {
    rows: &'a [usize],
    n_seen: usize,
    texts: Vec<Vec<String>>,
}

impl TextSink for Keeping<'_> {
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        let end = self.n_seen + batch.n_rows();
        while let Some(&row) = self.rows.get(self.texts.len()).filter(|&&row| row < end) {
            let cell = |slot| batch.get(row - self.n_seen, slot).to_owned();
            self.texts.push((0..batch.n_slots()).map(cell).collect());
        }
        self.n_seen = end;
        Ok(())
    }
}
