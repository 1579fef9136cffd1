//! Rules about whole sequences of labels (counts, spans, patterns): the best sequence that keeps them, by an automaton.

use super::model::TagModel;
use super::spec::TagSpec;
use super::tagger::{Ranking, Tagged};
use crate::Error;
use crate::structured::Ask;
use lineal_chain::{LabelSets, Parts};
use lineal_declared::Declaration;
use lineal_declared::automaton::{Automaton, k_best};

/// The automaton of the rules, if there are any. `looks_at_tokens`: whether transitions do.
pub(super) fn compile(
    spec: &TagSpec,
    labels: &[String],
    looks_at_tokens: bool,
) -> Result<Option<Automaton>, Error> {
    let Some(text) = &spec.rules else { return Ok(None) };
    let refuse = |why: String| Error::request(format!("rules: {why}"));
    if spec.order == 2 || looks_at_tokens {
        return Err(refuse(
            "they need transitions of two labels that do not look at tokens: leave out --order 2 and templates that begin with B and name a token".into(),
        ));
    }
    let rules = Declaration::of_labels(labels, text).map_err(|e| refuse(e.to_string()))?;
    Ok(Some(Automaton::compile(&rules).map_err(|e| refuse(e.to_string()))?))
}

impl TagModel {
    /// The best sequences that keep the rules; none if none does.
    pub(super) fn by_rules(
        &self,
        rules: &Automaton,
        parts: &Parts<f32>,
        allowed: Option<&LabelSets>,
        ask: &Ask,
    ) -> Result<Option<Tagged>, Error> {
        if ask.needs_proba() {
            return Err(Error::request(
                "a tagger with rules has its best sequences only: probabilities would be those without rules; leave out --proba, --sample, --min-cost and --review-below",
            ));
        }
        let k = self.labels().len();
        let n = parts.unary.len() / k.max(1);
        let mut unary = parts.unary.clone();
        for (t, scores) in unary.chunks_exact_mut(k).enumerate() {
            for (label, score) in scores.iter_mut().enumerate() {
                let fits = allowed.is_none_or(|sets| sets.contains(t, label))
                    && (t > 0 || self.grammar.permits_start(label))
                    && (t + 1 < n || self.grammar.permits_end(label));
                if t == 0 {
                    *score += parts.start.get(label).copied().unwrap_or(0.0);
                }
                if t + 1 == n {
                    *score += parts.end.get(label).copied().unwrap_or(0.0);
                }
                if !fits {
                    *score = f32::NEG_INFINITY;
                }
            }
        }
        let transition = |at: usize| match self.grammar.permits(at / k, at % k) {
            true => parts.transition.get(at).copied().unwrap_or(0.0),
            false => f32::NEG_INFINITY,
        };
        let transitions: Vec<f32> = (0..k * k).map(transition).collect();
        let mut found = k_best(&unary, &transitions, k, rules, ask.n_best.max(1));
        found.retain(|(_, score)| *score > f64::NEG_INFINITY);
        let ranked = || found.iter().take(ask.n_best);
        Ok(found.first().map(|(labels, score)| Tagged {
            labels: labels.clone(),
            score: *score,
            probability: None,
            marginals: None,
            spans: Vec::new(),
            n_best: ranked()
                .map(|(labels, score)| Ranking {
                    labels: labels.clone(),
                    score: *score,
                    probability: None,
                })
                .collect(),
        }))
    }
}
