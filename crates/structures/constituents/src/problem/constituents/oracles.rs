//! The best derivation, the sum over all derivations, and the cost.
//!
//! The cost is the number of labelled spans that are wrong: those of the derivation that the gold one does not have, and those of the gold one that are missing. It is a sum over nodes,
//!
//! ```text
//! cost(y) = |gold| + Σ over nodes of y of |labels of the node| − 2·|labels of the node that the gold tree has there|
//! ```
//!
//! so that the augmented argmax adds it to own scores. Rests have no labels and no cost. Where only some brackets are known, the cost is the number of those that are missing.
//!
//! If the grammar has no derivation of a sentence, any symbol may stand under any other, at less than the least score of a pair that the grammar has. Then there is always one, unless known brackets
//! contradict each other.

use super::own::lacking;
use super::predictions::Bracket;
use super::{Constituents, ConstituentsScratch};
use crate::chart::{Expected, Scored};
use crate::derivation::Derivation;
use crate::features::Section;
use crate::problem::known::common;
use crate::problem::{ConstituentParts, Known};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};

impl<F: Scalar> MaxOracle<F> for Constituents<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut ConstituentParts<F>,
        ask: Ask,
        s: &mut ConstituentsScratch<F>,
        y: &mut Derivation,
    ) -> Result<Found, Infeasible> {
        match self.gold_of(i).filter(|_| ask == Ask::Gold) {
            Some(gold) => y.clone_from(gold),
            None => self.best(i, theta, ask, None, s, y)?,
        }
        let cost = if ask == Ask::Augmented { MaxOracle::<F>::cost(self, i, y) } else { 0.0 };
        Ok(Found::exact(self.score(i, theta, y) + cost))
    }

    fn cost(&self, i: usize, y: &Derivation) -> f64 {
        let Some(gold) = self.gold_of(i) else {
            return self.partial.get(i).map_or(0.0, |known| missing(self, known, y) as f64);
        };
        let symbols = self.grammar.symbols();
        let labels = |symbol: u32| symbols[symbol as usize].labels();
        let of_gold: usize = gold.nodes.iter().map(|node| labels(node.symbol).len()).sum();
        let own: usize = y.nodes.iter().map(|node| labels(node.symbol).len()).sum();
        // Both are in the same order, in which each span comes once.
        let mut rest = gold.nodes.iter().peekable();
        let mut right = 0;
        for node in &y.nodes {
            let key = |node: &crate::Node| (node.start, std::cmp::Reverse(node.end));
            while rest.next_if(|gold| key(gold) < key(node)).is_some() {}
            if let Some(gold) = rest.peek().filter(|gold| key(gold) == key(node)) {
                right += common(labels(gold.symbol), labels(node.symbol));
            }
        }
        (of_gold + own - 2 * right) as f64
    }
}

/// How many known brackets a derivation does not have.
fn missing(problem: &Constituents<'_>, known: &Known, y: &Derivation) -> usize {
    let symbols = problem.grammar.symbols();
    let of = |(start, end, labels): &(u32, u32, Vec<u32>)| {
        let node = y.nodes.iter().find(|node| (node.start, node.end) == (*start, *end));
        let own = node.map_or(&[][..], |node| symbols[node.symbol as usize].labels());
        lacking(own, labels)
    };
    known.brackets().iter().map(of).sum()
}

impl<F: Scalar> SumOracle<F> for Constituents<'_> {
    fn log_partition(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        ask: Ask,
        s: &mut ConstituentsScratch<F>,
    ) -> Result<f64, Infeasible> {
        if let Some(gold) = self.gold_of(i).filter(|_| ask == Ask::Gold) {
            return Ok(self.score(i, theta, gold));
        }
        if self.n_words(i) == 0 {
            return Ok(0.0);
        }
        self.load_own(i, theta, ask, s, false);
        let scored = self.scored(i, theta, &s.own, &s.word_scores, None);
        finite(s.sums.fill(&scored))
    }

    fn expect(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        ask: Ask,
        s: &mut ConstituentsScratch<F>,
        mu: &mut ConstituentParts<F>,
    ) -> Result<f64, Infeasible> {
        mu.shape = theta.shape.clone();
        mu.values.clear();
        mu.values.resize(theta.values.len(), F::ZERO);
        if let Some(gold) = self.gold_of(i).filter(|_| ask == Ask::Gold) {
            self.add_output(i, gold, F::ONE, mu);
            return Ok(self.score(i, theta, gold));
        }
        if self.n_words(i) == 0 {
            return Ok(0.0);
        }
        self.load_own(i, theta, ask, s, false);
        let scored = self.scored(i, theta, &s.own, &s.word_scores, None);
        let log_partition = finite(s.sums.fill(&scored))?;
        let (pairs, rows) = mu.values.split_at_mut(self.grammar.pairs().len());
        s.sums.expect(&scored, log_partition, &mut Expected { pairs, rows });
        Ok(log_partition)
    }
}

/// The grammar has no derivation where a sum is −∞.
fn finite(log_partition: f64) -> Result<f64, Infeasible> {
    match log_partition > f64::NEG_INFINITY {
        true => Ok(log_partition),
        false => Err(Infeasible { at: 0 }),
    }
}

impl Constituents<'_> {
    pub(super) fn best<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        ask: Ask,
        without: Option<Bracket>,
        s: &mut ConstituentsScratch<F>,
        y: &mut Derivation,
    ) -> Result<(), Infeasible> {
        if self.n_words(i) == 0 {
            y.nodes.clear();
            return Ok(());
        }
        let floor = self.fill(i, theta, ask, without, s)?;
        let scored = self.scored(i, theta, &s.own, &s.word_scores, floor);
        s.max.read(&scored, y);
        Ok(())
    }

    /// Fills the chart of the best derivation; the floor of unknown pairs if these were needed.
    pub(super) fn fill<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        ask: Ask,
        without: Option<Bracket>,
        s: &mut ConstituentsScratch<F>,
    ) -> Result<Option<F>, Infeasible> {
        self.load_own(i, theta, ask, s, false);
        self.forbid(without, theta, s);
        let scored = self.scored(i, theta, &s.own, &s.word_scores, None);
        if s.max.fill(&scored) > -F::INFINITY {
            return Ok(None);
        }
        let pairs = &theta.values[..self.grammar.pairs().len()];
        let floor = pairs.iter().fold(F::ZERO, |least, &pair| least.min(pair)) - F::ONE;
        self.load_own(i, theta, ask, s, true);
        self.forbid(without, theta, s);
        let scored = self.scored(i, theta, &s.own, &s.word_scores, Some(floor));
        match s.max.fill(&scored) > -F::INFINITY {
            true => Ok(Some(floor)),
            false => Err(self.conflict(i)),
        }
    }

    /// The first word of the first known bracket: only known brackets leave a sentence without a derivation.
    fn conflict(&self, i: usize) -> Infeasible {
        let known =
            self.known.get(i).or(self.partial.get(i)).and_then(|known| known.brackets().first());
        Infeasible { at: known.map_or(0, |bracket| bracket.0 as usize) }
    }

    pub(super) fn scored<'s, F: Scalar>(
        &'s self,
        i: usize,
        theta: &'s ConstituentParts<F>,
        own: &'s [F],
        word_scores: &'s [F],
        floor: Option<F>,
    ) -> Scored<'s, F> {
        let (pairs, rows) = theta.values.split_at(self.grammar.pairs().len());
        Scored {
            grammar: self.grammar,
            spans: &theta.shape.spans,
            words: self.sentences.symbols(i),
            word_scores,
            own,
            pairs,
            rows,
            stride: self.stride(),
            sides: [self.offset(Section::Left), self.offset(Section::Right)],
            floor,
        }
    }
}
