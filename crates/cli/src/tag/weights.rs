//! `lineal inspect --all`: every weight of a tagger.

use std::path::Path;

use lineal::{SequenceOptions, StructuredModel, TagModel};

use crate::files;

/// One weight per line: kind, attribute, label or labels, weight.
pub fn write(model: &TagModel, data: Option<&Path>) -> anyhow::Result<()> {
    let data = data.map(|path| model.read(path, &SequenceOptions::default())).transpose()?;
    let weights = model.weights(data.as_ref())?;
    files::to_stdout(|out| {
        writeln!(out, "kind\tattribute\tlabel\tweight")?;
        weights.iter().try_for_each(|one| {
            let labels = one.labels.join(" → ");
            writeln!(out, "{}\t{}\t{labels}\t{}", one.kind, one.name, one.weight)
        })
    })
}
