//! Rules about whole sequences of labels (counts, spans, patterns): the best sequence that keeps them, by an automaton.

use super::model::TagModel;
use super::spec::TagSpec;
use super::tagger::{Ranking, Tagged};
use crate::Error;
use crate::structured::Ask;
use lineal_chain::{LabelSets, Parts};
use lineal_data::{Sequence, Sequences, UNLABELLED};
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
            "they need transitions of two labels that do not look at tokens: leave out spec.tag.order = 2 and templates that begin with B and name a token".into(),
        ));
    }
    check_rules(labels, text).map(Some).map_err(refuse)
}

/// The automaton of rules about labels, or why they have none: a mistake, or a contradiction.
pub fn check_rules(labels: &[String], text: &str) -> Result<Automaton, String> {
    let rules = Declaration::of_labels(labels, text).map_err(|e| e.to_string())?;
    let automaton = Automaton::compile(&rules).map_err(|e| e.to_string())?;
    if !automaton.is_empty() {
        return Ok(automaton);
    }
    // What is left after every rule that is not needed for the contradiction.
    let is_impossible =
        |some: &[usize]| Automaton::compile_some(&rules, some).is_ok_and(|all| all.is_empty());
    let mut left: Vec<usize> = (0..rules.rules().len()).collect();
    for rule in 0..rules.rules().len() {
        let fewer: Vec<usize> = left.iter().copied().filter(|&other| other != rule).collect();
        if is_impossible(&fewer) {
            left = fewer;
        }
    }
    let named = |&rule: &usize| {
        let rule = &rules.rules()[rule];
        format!("line {} (`{}`)", rule.line, rule.text)
    };
    let named = left.iter().map(named).collect::<Vec<_>>().join(", ");
    Err(match left.len() {
        1 => format!("no sequence of labels keeps the rule in {named}"),
        _ => format!("no sequence of labels keeps these rules together: {named}"),
    })
}

/// What to say of gold labels that break rules: which rules, how often, and where first.
pub(super) fn broken(spec: &TagSpec, data: &Sequences) -> Vec<String> {
    let rules = spec.rules.as_ref().map(|text| Declaration::of_labels(&data.schema.labels, text));
    let Some(Ok(rules)) = rules else { return Vec::new() };
    let mut said = Vec::new();
    for (number, rule) in rules.rules().iter().enumerate() {
        let Ok(own) = Automaton::compile_some(&rules, &[number]) else { continue };
        let is_broken = |sequence: &Sequence<'_>| {
            let gold = sequence.gold();
            !gold.contains(&UNLABELLED) && !own.accepts(gold)
        };
        let mut broken = data.iter().filter(is_broken);
        let Some(first) = broken.next() else { continue };
        let who = match 1 + broken.count() {
            1 => "one training sequence".to_owned(),
            n => format!("{n} training sequences"),
        };
        let at = data.error_at(first.index(), 0, "");
        said.push(format!(
            "the labels of {who} (first: {}:{}) break the rule in line {} (`{}`): they count as right in training and are never predicted",
            at.file,
            at.line.unwrap_or(1),
            rule.line,
            rule.text
        ));
    }
    said
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
                "a tagger with rules has its best sequences only: probabilities would be those without rules; leave out ask.proba, ask.sample, ask.min_risk and ask.confidence",
            ));
        }
        let found = self.best_by_rules(rules, parts, allowed, ask.n_best.max(1));
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

    /// The `n` best sequences that keep the rules, best first.
    pub(super) fn best_by_rules(
        &self,
        rules: &Automaton,
        parts: &Parts<f32>,
        allowed: Option<&LabelSets>,
        n_best: usize,
    ) -> Vec<(Vec<u32>, f64)> {
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
        let mut found = k_best(&unary, &transitions, k, rules, n_best);
        found.retain(|(_, score)| *score > f64::NEG_INFINITY);
        found
    }
}
