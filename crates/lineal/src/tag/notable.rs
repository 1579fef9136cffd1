//! The attributes that weigh most, by name: a model of hashes has no others to show.

use super::vectorize;
use crate::Error;
use lineal_chain::PrunedModel;
use lineal_data::Sequences;
use lineal_features::sequence::{AttributeRows, Names, Vectorizer};
use serde::{Deserialize, Serialize};

/// What speaks for a label, and against it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Notable {
    /// The label.
    pub label: String,
    /// Attributes with their weights, largest size first.
    pub attributes: Vec<(String, f32)>,
}

/// Attributes that are kept for each label.
const SHOWN: usize = 20;
/// Labels that they are kept for.
const LABELS: usize = 200;

/// Finds them, and where in the training data they can be read.
pub(super) fn notable(
    vectorizer: &Vectorizer,
    weights: &PrunedModel,
    data: &Sequences,
    rows: &AttributeRows,
) -> Result<Vec<Notable>, Error> {
    let best = best(weights);
    let names = names_of(vectorizer, &best, weights.model().n_unary, data, rows)?;
    Ok(named(&best, &data.schema.labels, |a| names.unary[a as usize].clone()))
}

/// The attributes that weigh most for each label, by number.
pub(super) type Best = Vec<Vec<(u32, f32)>>;

/// Finds them.
pub(super) fn best(weights: &PrunedModel) -> Best {
    let shape = weights.model();
    let n_labels = shape.n_labels.min(LABELS);
    let mut best: Vec<Vec<(u32, f32)>> = vec![Vec::new(); n_labels];
    for attribute in 0..shape.n_unary {
        for &(label, weight) in weights.unary(attribute) {
            let Some(best) = best.get_mut(label as usize) else { continue };
            best.push((attribute as u32, weight));
            if best.len() >= 64 * SHOWN {
                keep_largest(best);
            }
        }
    }
    best.iter_mut().for_each(keep_largest);
    best
}

/// The same with names.
pub(super) fn named(best: &Best, labels: &[String], name: impl Fn(u32) -> String) -> Vec<Notable> {
    let of = |best: &Vec<(u32, f32)>, label: &String| Notable {
        label: label.clone(),
        attributes: best.iter().map(|&(a, w)| (name(a), w)).collect(),
    };
    best.iter().zip(labels).map(|(best, label)| of(best, label)).collect()
}

fn keep_largest(best: &mut Vec<(u32, f32)>) {
    best.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()).then(a.0.cmp(&b.0)));
    best.truncate(SHOWN);
}

/// Reads the names where the attributes first come.
fn names_of(
    vectorizer: &Vectorizer,
    best: &[Vec<(u32, f32)>],
    n_unary: usize,
    data: &Sequences,
    rows: &AttributeRows,
) -> Result<Names, Error> {
    let mut names = Names { unary: vec![String::new(); n_unary], ..Names::default() };
    let mut wanted = vec![false; n_unary];
    best.iter().flatten().for_each(|&(attribute, _)| wanted[attribute as usize] = true);
    for sequence in data.iter() {
        let mut any = false;
        for t in data.tokens(sequence.index()) {
            rows.unary.row(t).for_each(|a, _| any |= std::mem::take(&mut wanted[a]));
        }
        if any {
            vectorize::name(vectorizer, sequence, &mut names)?;
        }
    }
    Ok(names)
}
