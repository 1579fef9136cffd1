//! Why a word has its head: what speaks for the best tree against the best one in which the word has another head.

use super::model::DependencyModel;
use super::parser::{Chunk, ParseAsk};
use super::tags;
use crate::Error;
use lineal_data::{Sentence, Treebank};
use lineal_dependencies::problem::{Candidates, Tree, TreeParts, Trees};
use lineal_model::structure::{Ask, MaxOracle, Structure, SumOracle};
use serde::Serialize;
use std::borrow::Cow;

/// What decided a word's head. The lead is the sum of the amounts of the reasons.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArcExplanation {
    /// From 0.
    pub word: usize,
    /// Its head; 0 is the root.
    pub head: u32,
    /// Its relation.
    pub relation: String,
    /// The runner-up: its head in the best tree that has another one there; none where no other is possible.
    pub other: Option<u32>,
    /// By how much the best tree outscores the runner-up's.
    pub lead: f64,
    /// The probability of the arc, where the model has any.
    pub probability: Option<f64>,
    /// The same of the runner-up's arc.
    pub other_probability: Option<f64>,
    /// Largest first.
    pub reasons: Vec<ArcReason>,
}

/// A feature by which the two trees differ.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ArcReason {
    /// The feature: its template and the cells that it found.
    pub feature: String,
    /// The part of the tree that has it: `saw → dog`.
    pub part: String,
    /// What it adds to the lead: its weight, with the sign of its side.
    pub amount: f64,
}

impl DependencyModel {
    /// Explains each word of a sentence, or one of them.
    pub fn explain(
        &self,
        data: &Treebank,
        sentence: usize,
        word: Option<usize>,
    ) -> Result<Vec<ArcExplanation>, Error> {
        let data = Cow::<Treebank>::Owned(data.select(&[sentence]));
        let data = match &self.tagger {
            Some(tagger) => Cow::Owned(tags::with_tags(&data, &tags::tags(tagger, &data)?)),
            None => data,
        };
        let n = data.get(0).len();
        let words = match word {
            Some(t) if t >= n => {
                return Err(Error::request(format!(
                    "there is no word {} in a sentence of {n}; words are counted from 1",
                    t + 1
                )));
            }
            Some(t) => t..t + 1,
            None => 0..n,
        };
        let ask = ParseAsk::default();
        let parsed = self.parse_with(&data, &ask)?;
        let mut chunk = Chunk::new(self, &data, 0..1, &ask);
        let w: Vec<f64> = self.tables.trees.iter().map(|&w| f64::from(w)).collect();
        let mut best = Tree { heads: parsed[0].heads.clone(), relations: Vec::new() };
        let best_in = |chunk: &Chunk<'_>, best: &mut Tree| {
            let problem = chunk.problem();
            let (mut s, mut theta) = (Structure::<f64>::scratch(&problem), TreeParts::default());
            problem.scores(0, &w, 1.0, &mut s, &mut theta);
            problem.argmax(0, &mut theta, Ask::Plain, &mut s, best)
        };
        if best_in(&chunk, &mut best).is_err() {
            chunk = chunk.alone(0, &ask);
            best_in(&chunk, &mut best).map_err(|found| chunk.no_tree(0, found))?;
        }
        let problem = chunk.problem();
        let (mut s, mut theta) = (Structure::<f64>::scratch(&problem), TreeParts::default());
        problem.scores(0, &w, 1.0, &mut s, &mut theta);
        let score = problem.score(0, &theta, &best);
        let mut mu = TreeParts::default();
        if self.has_proba() {
            problem
                .expect(0, &theta, Ask::Plain, &mut s, &mut mu)
                .map_err(|found| chunk.no_tree(0, found))?;
        }
        let p = |word: usize, head: u32| match self.has_proba() {
            true => mu.arcs().find(head, word + 1).map(|arc| mu.values[arc]),
            false => None,
        };
        let mut explanations = Vec::new();
        for t in words {
            let others = without(&chunk.candidates, n, t, best.heads[t]);
            let runner_up =
                Trees::new(&self.templates, &chunk.sentences, Some(&others), self.trees());
            let (mut s, mut theta) = (Structure::<f64>::scratch(&runner_up), TreeParts::default());
            runner_up.scores(0, &w, 1.0, &mut s, &mut theta);
            let mut other = Tree::default();
            let found = runner_up.argmax(0, &mut theta, Ask::Plain, &mut s, &mut other).is_ok();
            let mut reasons = Vec::new();
            if found {
                let sides = [(&best, 1.0), (&other, -1.0)];
                reasons = self.differences(&problem, data.get(0), sides);
                reasons.sort_by(|a, b| b.amount.abs().total_cmp(&a.amount.abs()));
            }
            let lead =
                if found { score - runner_up.score(0, &theta, &other) } else { f64::INFINITY };
            let rival = found.then(|| other.heads[t]);
            explanations.push(ArcExplanation {
                word: t,
                head: best.heads[t],
                relation: self.relation(parsed[0].relations[t]).to_owned(),
                other: rival,
                lead,
                probability: p(t, best.heads[t]),
                other_probability: rival.and_then(|head| p(t, head)),
                reasons,
            });
        }
        Ok(explanations)
    }
}

impl DependencyModel {
    /// The features that one of two trees has and the other has not, with the sign of their side.
    fn differences(
        &self,
        problem: &Trees<'_>,
        sentence: Sentence<'_>,
        sides: [(&Tree, f64); 2],
    ) -> Vec<ArcReason> {
        let columns = self.columns();
        let cells: Vec<&str> = (0..sentence.len())
            .flat_map(|t| columns.iter().map(move |&c| sentence.cell(t, c)))
            .collect();
        let form = |word: usize| if word == 0 { "(root)" } else { sentence.form(word - 1) };
        let mut reasons = Vec::new();
        for m in 1..=sentence.len() {
            let [plus, minus] = sides.map(|(tree, _)| {
                let mut all = problem.explain(&cells, &tree.heads, m, &self.tables.trees);
                if let Some(&relation) = tree.relations.get(m - 1) {
                    let arc = (tree.heads[m - 1] as usize, m);
                    let w = &self.tables.trees;
                    all.extend(problem.explain_relation(&cells, arc, relation, w));
                }
                all
            });
            for (own, others, (tree, sign)) in
                [(&plus, &minus, sides[0]), (&minus, &plus, sides[1])]
            {
                let head = form(tree.heads[m - 1] as usize);
                let only = own.iter().filter(|c| c.weight != 0.0 && !others.contains(c));
                reasons.extend(only.map(|c| ArcReason {
                    feature: c.name.clone(),
                    part: format!("{}: {head} → {}", c.section.name(), form(m)),
                    amount: sign * f64::from(c.weight),
                }));
            }
        }
        reasons
    }
}

/// The candidates without one head of one word.
fn without(candidates: &Option<Candidates>, n: usize, word: usize, head: u32) -> Candidates {
    let mut kept = Candidates::default();
    for t in 0..n {
        let is_kept = |&h: &u32| !(t == word && h == head);
        match candidates {
            Some(candidates) => kept.push(candidates.heads(t).iter().copied().filter(is_kept)),
            None => kept.push((0..=n as u32).filter(|&h| h != t as u32 + 1).filter(is_kept)),
        }
    }
    kept
}
