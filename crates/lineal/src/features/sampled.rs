//! Features of text for data that comes in parts: hashed, with names and idf from the first rows.

use super::sinks::Cells;
use super::{FeatureSpec, Features, text_error};
use crate::Error;
use lineal_data::{ReadOptions, Schema, Source};
use lineal_features::text::{TextFit, TextSpec};
use std::ops::ControlFlow;

impl Features {
    /// Looks at the text of the first `n_rows` rows for how rare words are and what columns are called; which column a word has is a hash, and needs no
    /// looking. The schema is brought up to date. Numbers are not rescaled.
    pub(crate) fn sampled(
        spec: &FeatureSpec,
        schema: &mut Schema,
        source: &Source,
        options: &ReadOptions,
        n_rows: usize,
    ) -> Result<Self, Error> {
        let slots: Vec<String> = schema.text_columns().map(str::to_owned).collect();
        if slots.is_empty() {
            return Ok(Self::default());
        }
        if spec.text.hash_bits.is_none() {
            return Err(Error::request(
                "text in a stream is hashed: say --hash BITS, the features being 2^BITS",
            ));
        }
        let fail = |e: &lineal_features::Error| text_error(&source.name(), e);
        let mut fit =
            TextFit::new(TextSpec { slots, ..spec.text.clone() }).map_err(|e| fail(&e))?;
        let mut pushed = Ok(());
        lineal_data::stream(source, options, schema, n_rows, &mut |_, text| {
            if let Some(batch) = text {
                pushed = fit.push(&Cells(batch));
            }
            Ok(ControlFlow::Break(()))
        })?;
        pushed.map_err(|e| fail(&e))?;
        let (encoder, _) = fit.finish().map_err(|e| fail(&e))?;
        Ok(Self::of_text(encoder, schema))
    }
}
