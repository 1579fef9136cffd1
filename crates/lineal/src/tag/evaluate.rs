//! Metrics of a tagger on labelled sequences.

use super::model::TagModel;
use super::tagger::Tagged;
use crate::Error;
use crate::structured::StructuredModel;
use lineal_data::Sequences;
use lineal_metrics::{TagMetrics, TagSet};

/// Compares labels at hand with those of the data.
pub(super) fn measure(
    model: &TagModel,
    data: &Sequences,
    tagged: &[Tagged],
) -> Result<TagMetrics, Error> {
    let predicted = || tagged.iter().map(|tagged| &tagged.labels[..]);
    let mut metrics = compare(data, model.labels().len(), predicted())?;
    metrics.illegal = model.spec().tag.scheme.is_some().then(|| {
        let pairs = predicted().flat_map(|labels| labels.windows(2));
        let pairs = pairs.filter(|pair| !model.permits(pair[0], pair[1]));
        let starts = predicted().filter_map(|labels| labels.first());
        let starts = starts.filter(|&&label| !model.grammar.permits_start(label as usize));
        let ends = predicted().filter_map(|labels| labels.last());
        let ends = ends.filter(|&&label| !model.grammar.permits_end(label as usize));
        (pairs.count() + starts.count() + ends.count()) as u64
    });
    Ok(metrics)
}

/// Metrics of labels of which `n_known` were seen in training.
pub(super) fn compare<'a>(
    data: &'a Sequences,
    n_known: usize,
    predicted: impl Iterator<Item = &'a [u32]>,
) -> Result<TagMetrics, Error> {
    let gold = data.iter().map(|sequence| sequence.gold());
    TagMetrics::compare(&TagSet::new(&data.labels), n_known, gold.zip(predicted)).map_err(|_| {
        let why = "no labels to compare with (see options.label)";
        Error::request(format!("{}: {why}", data.source))
    })
}
