//! Why a position got its label: what speaks for the best label sequence against the best one that labels the position otherwise.

use super::model::TagModel;
use super::tagger::{Bench, observations, place};
use crate::Error;
use crate::listener::Listener;
use crate::structured::StructuredModel;
use lineal_chain::{LabelSets, Parts};
use lineal_data::Sequence;
use lineal_features::sequence::{AttributeRows, Names};
use serde::Serialize;

/// What decided a position. The lead is the sum of `for_label − for_other` over the reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TagExplanation {
    /// From 0.
    pub position: usize,
    /// The label that it got.
    pub label: String,
    /// The runner-up: its label in the best sequence that has another one there; none where no other is legal.
    pub other: Option<String>,
    /// By how much the best sequence outscores the runner-up's.
    pub lead: f64,
    /// The probability of the label at this position, where the model has any.
    pub probability: Option<f64>,
    /// The same of the runner-up's label.
    pub other_probability: Option<f64>,
    /// Largest first.
    pub reasons: Vec<Reason>,
}

/// A weight, or a pair of weights, by which the two sequences differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// The position, from 0; of a transition, where it leads to.
    pub position: usize,
    /// `emission`, `transition`, `start`, `end` or `triple`.
    pub kind: &'static str,
    /// The attribute, or the labels of the transition in the best sequence and in the other.
    pub what: String,
    /// What it adds to the best sequence.
    pub for_label: f64,
    /// What it adds to the other one.
    pub for_other: f64,
}

impl Reason {
    /// What it adds to the lead.
    pub fn difference(&self) -> f64 {
        self.for_label - self.for_other
    }
}

impl TagModel {
    /// Explains each position of a sequence, or one of them, against the runner-up or a label of choice.
    pub fn explain(
        &self,
        sequence: Sequence<'_>,
        position: Option<usize>,
        against: Option<u32>,
    ) -> Result<Vec<TagExplanation>, Error> {
        let (rows, names) = self.named_rows(sequence)?;
        let n = sequence.len();
        let mut bench = Bench::<f64>::new(self);
        bench.score(self, observations(&rows, n));
        let Bench { parts, decoder, s, .. } = &mut bench;
        let mut expected = Parts::new();
        // Probabilities would be those without rules.
        let marginals = match self.has_proba() && self.rules.is_none() {
            true => {
                decoder.expect(parts, None, s, &mut expected).map_err(|e| place(e, sequence))?;
                Some(&expected.unary)
            }
            false => None,
        };
        let mut fast = Bench::<f32>::new(self);
        if self.rules.is_some() {
            fast.score(self, observations(&rows, n));
        }
        let mut decode = |allowed: Option<&LabelSets>| match &self.rules {
            Some(rules) => {
                let found = self.best_by_rules(rules, &fast.parts, allowed, 1).into_iter().next();
                let message = "no sequence of labels keeps the rules";
                let none = || sequence.data().error_at(sequence.index(), 0, message).into();
                found.map(|(labels, _)| labels).ok_or_else(none)
            }
            None => {
                let mut labels = Vec::new();
                let found = decoder.viterbi(parts, allowed, s, &mut labels);
                found.map(|_| labels).map_err(|e| place(e, sequence))
            }
        };
        let best = decode(None)?;
        let k = self.labels().len();
        let positions = match position {
            Some(t) if t >= n => {
                return Err(Error::request(format!(
                    "there is no token {} in a sequence of {n}; tokens are counted from 1",
                    t + 1
                )));
            }
            Some(t) => t..t + 1,
            None => 0..n,
        };
        let listener = Listener::here();
        let mut explanations = Vec::new();
        for t in positions {
            listener.go_on()?;
            let mut allowed = LabelSets::full(n, k);
            match against.filter(|&label| label != best[t]) {
                Some(label) => allowed.keep_only(t, label as usize),
                None => allowed.remove(t, best[t] as usize),
            }
            let other: Result<Vec<u32>, Error> = decode(Some(&allowed));
            let found = other.is_ok();
            let other = other.unwrap_or_default();
            let p = |label: u32| marginals.map(|m| m[t * k + label as usize]);
            let mut reasons = Vec::new();
            if found {
                let sides =
                    Sides { model: self, rows: &rows, names: &names, best: &best, other: &other };
                sides.collect(&mut reasons);
                reasons.sort_by(|a, b| b.difference().abs().total_cmp(&a.difference().abs()));
            }
            explanations.push(TagExplanation {
                position: t,
                label: self.label(best[t]).to_owned(),
                other: found.then(|| self.label(other[t]).to_owned()),
                lead: if found { parts.score(&best) - parts.score(&other) } else { f64::INFINITY },
                probability: p(best[t]),
                other_probability: if found { p(other[t]) } else { None },
                reasons,
            });
        }
        Ok(explanations)
    }
}

struct Sides<'a> {
    model: &'a TagModel,
    rows: &'a AttributeRows,
    names: &'a Names,
    best: &'a [u32],
    other: &'a [u32],
}

impl Sides<'_> {
    fn collect(&self, reasons: &mut Vec<Reason>) {
        let shape = self.model.weights.model();
        let (n, k) = (self.best.len(), shape.n_labels);
        for t in 0..n {
            if self.best[t] != self.other[t] {
                self.emissions(t, reasons);
            }
            if t > 0 && self.best[t - 1..=t] != self.other[t - 1..=t] {
                self.transitions(t, reasons);
            }
        }
        let shared = self.model.weights.shared();
        let mut push = |position, kind, at: usize, best: u32, other: u32| {
            let what = format!("{} ({})", self.model.label(best), self.model.label(other));
            let of = |label: u32| f64::from(shared[at + label as usize]);
            reasons.push(Reason {
                position,
                kind,
                what,
                for_label: of(best),
                for_other: of(other),
            });
        };
        let square = if shape.transitions { k * k } else { 0 };
        if shape.ends && self.best[0] != self.other[0] {
            push(0, "start", square, self.best[0], self.other[0]);
        }
        if shape.ends && self.best[n - 1] != self.other[n - 1] {
            push(n - 1, "end", square + k, self.best[n - 1], self.other[n - 1]);
        }
        if shape.triples {
            let at = square + if shape.ends { 2 * k } else { 0 };
            for t in 2..n {
                let (best, other) = (&self.best[t - 2..=t], &self.other[t - 2..=t]);
                if best != other {
                    let number = |l: &[u32]| l.iter().fold(0, |at, &label| at * k + label as usize);
                    reasons.push(Reason {
                        position: t,
                        kind: "triple",
                        what: self.against(best, other),
                        for_label: f64::from(shared[at + number(best)]),
                        for_other: f64::from(shared[at + number(other)]),
                    });
                }
            }
        }
    }

    fn emissions(&self, t: usize, reasons: &mut Vec<Reason>) {
        let (best, other) = (self.best[t], self.other[t]);
        self.rows.unary.row(t).for_each(|attribute, value| {
            let weights = self.model.weights.unary(attribute);
            let of = |label: u32| weight(weights, label) * f64::from(value);
            let (for_label, for_other) = (of(best), of(other));
            if for_label != 0.0 || for_other != 0.0 {
                let what = self.names.unary[attribute].clone();
                reasons.push(Reason { position: t, kind: "emission", what, for_label, for_other });
            }
        });
    }

    fn transitions(&self, t: usize, reasons: &mut Vec<Reason>) {
        let shape = self.model.weights.model();
        let (best, other) = (&self.best[t - 1..=t], &self.other[t - 1..=t]);
        let number = |l: &[u32]| l[0] * shape.n_labels as u32 + l[1];
        let mut push = |what: String, for_label: f64, for_other: f64| {
            if for_label != 0.0 || for_other != 0.0 {
                reasons.push(Reason {
                    position: t,
                    kind: "transition",
                    what,
                    for_label,
                    for_other,
                });
            }
        };
        let of = |l: &[u32]| self.model.transition(l[0], l[1]);
        push(self.against(best, other), of(best), of(other));
        if shape.n_pairs > 0 {
            self.rows.pairs.row(t).for_each(|attribute, value| {
                let weights = self.model.weights.pair(attribute);
                let of = |l: &[u32]| weight(weights, number(l)) * f64::from(value);
                let name = &self.names.pairs[attribute];
                push(format!("{} with {name}", self.against(best, other)), of(best), of(other));
            });
        }
    }

    /// `A → B (A → C)`
    fn against(&self, best: &[u32], other: &[u32]) -> String {
        let path = |labels: &[u32]| {
            labels.iter().map(|&l| self.model.label(l)).collect::<Vec<_>>().join(" → ")
        };
        format!("{} ({})", path(best), path(other))
    }
}

/// The weight of a column; 0 if it has none.
fn weight(entries: &[(u32, f32)], column: u32) -> f64 {
    entries.iter().find(|entry| entry.0 == column).map_or(0.0, |entry| f64::from(entry.1))
}
