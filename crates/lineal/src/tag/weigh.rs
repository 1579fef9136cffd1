//! How much sequences and labels count.
//!
//! The weight of a sequence multiplies its loss. Losses are of whole sequences, so that weights of labels have their effect through these: a sequence counts by the mean weight of its labels. *Rejected:* weights as costs of
//! the hinge, which ask for larger margins, not for other answers.

use crate::Error;
use crate::request::spec::{ClassWeight, TrainSpec};
use lineal_data::{Sequences, UNLABELLED};

/// The weight of each label; none where all count the same.
pub(super) fn of_labels(spec: &TrainSpec, data: &Sequences) -> Result<Option<Vec<f64>>, Error> {
    let labels = &data.schema.labels;
    match &spec.class_weight {
        ClassWeight::Equal => Ok(None),
        ClassWeight::Balanced => {
            let mut counts = vec![0usize; labels.len()];
            data.gold().iter().filter(|&&y| y != UNLABELLED).for_each(|&y| counts[y as usize] += 1);
            let n: usize = counts.iter().sum();
            let weight = |&count: &usize| n as f64 / (labels.len() * count.max(1)) as f64;
            Ok(Some(counts.iter().map(weight).collect()))
        }
        ClassWeight::Named(named) => {
            let mut weights = vec![1.0; labels.len()];
            for (name, weight) in named {
                let Some(at) = labels.iter().position(|label| label == name) else {
                    let some = labels.iter().take(20).cloned().collect::<Vec<_>>().join(", ");
                    return Err(Error::request(format!(
                        "spec.class_weight names `{name}`, which is not a label of the data: {some}"
                    )));
                };
                weights[at] = *weight;
            }
            Ok(Some(weights))
        }
    }
}

/// How much each sequence counts; none where all count the same.
pub(super) fn of_sequences(
    data: &Sequences,
    labels: Option<&[f64]>,
) -> Result<Option<Vec<f32>>, Error> {
    let said = data.weights();
    if said.is_none() && labels.is_none() {
        return Ok(None);
    }
    let mean = |i: usize| {
        let Some(labels) = labels else { return 1.0 };
        let gold = &data.gold()[data.tokens(i)];
        let known = || gold.iter().filter(|&&y| y != UNLABELLED);
        let sum: f64 = known().map(|&y| labels[y as usize]).sum();
        match known().count() {
            0 => 1.0,
            n => sum / n as f64,
        }
    };
    let weight = |i: usize| (f64::from(said.map_or(1.0, |said| said[i])) * mean(i)) as f32;
    let weights: Vec<f32> = (0..data.len()).map(weight).collect();
    match weights.iter().any(|w| *w > 0.0) {
        true => Ok(Some(weights)),
        false => Err(Error::request(format!(
            "{}: all sequences have the weight 0: there is nothing to learn from",
            data.source
        ))),
    }
}
