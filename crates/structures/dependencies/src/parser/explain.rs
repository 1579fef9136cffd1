//! Why a word has its head: what speaks for the best tree against the best one in which the word has another head.

use super::{Allowed, Parser};
use crate::features::Sentences;
use crate::problem::{Candidates, Tree, TreeParts, Trees};
use lineal_model::explain::{PartReason, sorted};
use lineal_model::structure::{Ask, Infeasible, MaxOracle, Structure, SumOracle};

/// What decided a word's head. The lead is the sum of the amounts of the reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct ArcExplanation {
    /// From 0.
    pub word: usize,
    /// Its head; 0 is the root.
    pub head: u32,
    /// Its relation.
    pub relation: u32,
    /// The runner-up: its head in the best tree that has another one there; none where no other is left to choose from.
    pub other: Option<u32>,
    /// By how much the best tree outscores the runner-up's.
    pub lead: f64,
    /// The probability of the arc, where the model has any.
    pub probability: Option<f64>,
    /// The same of the runner-up's arc.
    pub other_probability: Option<f64>,
    /// Largest first.
    pub reasons: Vec<PartReason>,
}

impl Parser<'_> {
    /// Explains words of one sentence. `cells` is the sentence as text, in the order of the templates' columns.
    pub fn explain(
        &self,
        cells: &[&str],
        words: impl Iterator<Item = usize>,
        allowed: Option<&Allowed<'_>>,
        has_proba: bool,
    ) -> Result<Vec<ArcExplanation>, Infeasible> {
        let sentences = Sentences::hash(self.templates, [cells]);
        let n = sentences.n_words();
        let w: Vec<f64> = self.trees.iter().map(|&w| f64::from(w)).collect();
        let mut candidates = self
            .candidates(&sentences, allowed)
            .unwrap_or_else(|| self.only(&sentences, 0, |_, _| true));
        let best_of = |candidates: &Candidates| {
            let problem = Trees::new(self.templates, &sentences, Some(candidates), self.spec);
            let (mut s, mut theta) = (Structure::<f64>::scratch(&problem), TreeParts::default());
            let mut best = Tree::default();
            problem.scores(0, &w, 1.0, &mut s, &mut theta);
            let found = problem.argmax(0, &mut theta, Ask::Plain, &mut s, &mut best);
            found.map(|_| (problem.score(0, &theta, &best), best))
        };
        let (score, best) = match best_of(&candidates) {
            Ok(found) => found,
            Err(_) => {
                candidates = self.widened(&sentences, &candidates, 0, &w, allowed)?;
                best_of(&candidates)?
            }
        };
        let problem = Trees::new(self.templates, &sentences, Some(&candidates), self.spec);
        let mut mu = TreeParts::default();
        if has_proba {
            let (mut s, mut theta) = (Structure::<f64>::scratch(&problem), TreeParts::default());
            problem.scores(0, &w, 1.0, &mut s, &mut theta);
            problem.expect(0, &theta, Ask::Plain, &mut s, &mut mu)?;
        }
        let p = |word: usize, head: u32| match has_proba {
            true => mu.arcs().find(head, word + 1).map(|arc| mu.values[arc].clamp(0.0, 1.0)),
            false => None,
        };
        let relations = match self.relations {
            Some(weights) => self.relations_of(&sentences, weights, &best.heads),
            None => best.relations.clone(),
        };
        let mut explanations = Vec::new();
        for t in words {
            let mut others = Candidates::default();
            for word in 0..n {
                let is_kept = |head: &u32| word != t || *head != best.heads[t];
                others.push(candidates.heads(word).iter().copied().filter(is_kept));
            }
            let other = best_of(&others).ok();
            let mut reasons = Vec::new();
            if let Some((_, other)) = &other {
                let sides = [(&best, 1.0), (other, -1.0)];
                reasons = sorted(self.differences(&problem, cells, sides));
            }
            let rival = other.as_ref().map(|(_, other)| other.heads[t]);
            explanations.push(ArcExplanation {
                word: t,
                head: best.heads[t],
                relation: relations.get(t).copied().unwrap_or_default(),
                other: rival,
                lead: other.as_ref().map_or(f64::INFINITY, |(other, _)| score - other),
                probability: p(t, best.heads[t]),
                other_probability: rival.and_then(|head| p(t, head)),
                reasons,
            });
        }
        Ok(explanations)
    }

    /// The features that one of two trees has and the other has not, with the sign of their side.
    fn differences(
        &self,
        problem: &Trees<'_>,
        cells: &[&str],
        sides: [(&Tree, f64); 2],
    ) -> Vec<PartReason> {
        let columns = self.templates.columns().len();
        let form = |word: usize| if word == 0 { "(root)" } else { cells[(word - 1) * columns] };
        let mut reasons = Vec::new();
        for m in 1..=cells.len() / columns {
            let [plus, minus] = sides.map(|(tree, _)| {
                let mut all = problem.explain(cells, &tree.heads, m, self.trees);
                if let Some(&relation) = tree.relations.get(m - 1) {
                    let arc = (tree.heads[m - 1] as usize, m);
                    all.extend(problem.explain_relation(cells, arc, relation, self.trees));
                }
                all
            });
            let both = [(&plus, &minus, sides[0]), (&minus, &plus, sides[1])];
            for (own, others, (tree, sign)) in both {
                let head = form(tree.heads[m - 1] as usize);
                let only = own.iter().filter(|c| c.weight != 0.0 && !others.contains(c));
                reasons.extend(only.map(|c| PartReason {
                    feature: c.name.clone(),
                    part: format!("{}: {head} → {}", c.section.name(), form(m)),
                    amount: sign * f64::from(c.weight),
                }));
            }
        }
        reasons
    }
}
