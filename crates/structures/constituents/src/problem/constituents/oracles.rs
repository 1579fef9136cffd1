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

use super::{Constituents, ConstituentsScratch};
use crate::chart::{Expected, Ranking, Scored};
use crate::derivation::Derivation;
use crate::features::Section;
use crate::problem::known::{Allowed, common, has_labels};
use crate::problem::{ConstituentParts, Known};
use lineal_linalg::Scalar;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};

/// A labelled span with its probability.
#[derive(Clone, Debug, PartialEq)]
pub struct SpanProbability {
    /// The first word, from 0.
    pub start: u32,
    /// One after the last word.
    pub end: u32,
    /// The number of its label in the grammar.
    pub label: u32,
    /// The probability that the tree has it.
    pub probability: f64,
}

/// A span that is a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bracket {
    /// The first word, from 0.
    pub start: u32,
    /// One after the last word.
    pub end: u32,
    /// The number of its label in the grammar; any label if there is none.
    pub label: Option<u32>,
}

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

/// How many of the labels a phrase must have it lacks; where any phrase will do, whether it is none.
fn lacking(own: &[u32], labels: &[u32]) -> usize {
    match labels.is_empty() {
        true => usize::from(own.is_empty()),
        false => labels.len() - common(own, labels),
    }
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
    /// The `k` best derivations of sentence `i`, best first, with their scores.
    pub fn k_best<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        k: usize,
        s: &mut ConstituentsScratch<F>,
    ) -> Result<Vec<(Derivation, f64)>, Infeasible> {
        if self.n_words(i) == 0 {
            return Ok(vec![(Derivation::default(), 0.0)]);
        }
        let floor = self.fill(i, theta, Ask::Plain, None, s)?;
        let scored = self.scored(i, theta, &s.own, &s.word_scores, floor);
        let mut ranking = Ranking::new(&s.max, &scored);
        let mut found: Vec<(Derivation, f64)> = (0..u32::try_from(k).unwrap_or(u32::MAX))
            .map_while(|rank| ranking.derivation(rank))
            .map(|y| (self.score(i, theta, &y), y))
            .map(|(score, y)| (y, score))
            .collect();
        if floor.is_none() {
            // The chart's sums are rounded in another order.
            found.sort_by(|a, b| b.1.total_cmp(&a.1));
        }
        Ok(found)
    }

    /// The probability of each labelled span of sentence `i` that has at least `least`, by words and then by label.
    pub fn span_probabilities<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        least: f64,
        s: &mut ConstituentsScratch<F>,
    ) -> Result<Vec<SpanProbability>, Infeasible> {
        let mut mu = ConstituentParts::default();
        self.expect(i, theta, Ask::Plain, s, &mut mu)?;
        let (grammar, spans) = (self.grammar, &theta.shape.spans);
        let mut found = Vec::new();
        let mut sums = vec![0.0; grammar.labels().len()];
        for span in 0..spans.len() {
            sums.fill(0.0);
            let probabilities = s.sums.probabilities(grammar.n_parents(), span);
            for (symbol, &probability) in grammar.symbols().iter().zip(probabilities) {
                let labels = symbol.labels();
                let first = (0..labels.len()).filter(|&at| !labels[..at].contains(&labels[at]));
                first.for_each(|at| sums[labels[at] as usize] += probability);
            }
            let (i, j) = spans.words(span);
            let likely = sums.iter().enumerate().filter(|(_, sum)| **sum > 0.0 && **sum >= least);
            found.extend(likely.map(|(label, &sum)| SpanProbability {
                start: i as u32,
                end: j as u32,
                label: label as u32,
                probability: sum.min(1.0),
            }));
        }
        found.sort_by_key(|span| (span.start, std::cmp::Reverse(span.end), span.label));
        Ok(found)
    }

    /// The best derivation of sentence `i` in which the words `start` to `end` − 1 are not a phrase (with this label, if there is one), left in `y`: the rival of a tree that has it.
    pub fn argmax_without<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        without: Bracket,
        s: &mut ConstituentsScratch<F>,
        y: &mut Derivation,
    ) -> Result<Found, Infeasible> {
        self.best(i, theta, Ask::Plain, Some(without), s, y)?;
        Ok(Found::exact(self.score(i, theta, y)))
    }

    fn best<F: Scalar>(
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
    fn fill<F: Scalar>(
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
            false => Err(Infeasible { at: 0 }),
        }
    }

    fn scored<'s, F: Scalar>(
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

    /// Own scores of all symbols with costs and what is known; for all symbols that the grammar has seen over so many words, or for all if `free`.
    fn load_own<F: Scalar>(
        &self,
        i: usize,
        theta: &ConstituentParts<F>,
        ask: Ask,
        s: &mut ConstituentsScratch<F>,
        free: bool,
    ) {
        let (grammar, spans) = (self.grammar, &theta.shape.spans);
        let (p, symbols, n) = (grammar.n_parents(), grammar.symbols(), spans.n_words());
        let rows = &theta.values[grammar.pairs().len()..];
        let words = self.sentences.symbols(i);
        let is_augmented = ask == Ask::Augmented;
        s.own.clear();
        s.own.resize(spans.len() * p, -F::INFINITY);
        s.word_scores.clear();
        for (span, row) in rows.chunks_exact(self.stride()).enumerate() {
            let (start, end) = spans.words(span);
            let (is_single, is_root) = (end - start == 1, end - start == n);
            let out = &mut s.own[span * p..(span + 1) * p];
            for symbol in 0..p {
                let seen = grammar.uses()[symbol];
                let may = if free {
                    !symbols[symbol].is_rest() || !(is_single || is_root)
                } else {
                    (if is_single { seen.single } else { seen.several }) && (!is_root || seen.root)
                };
                if may {
                    out[symbol] = row[grammar.columns()[symbol] as usize];
                }
            }
            if is_single {
                let may = free || !is_root || grammar.uses()[words[start] as usize].root;
                s.word_scores.push(if may { row[0] } else { -F::INFINITY });
            }
        }
        match self.gold_of(i) {
            Some(gold) if is_augmented => self.add_costs(gold, theta, s),
            None if is_augmented => {
                let partial = self.partial.get(i).into_iter();
                partial.for_each(|known| self.add_partial_costs(known, theta, s));
            }
            _ => {}
        }
        self.known.get(i).into_iter().for_each(|known| self.hold(known, theta, s));
        if ask == Ask::Gold {
            self.partial.get(i).into_iter().for_each(|known| self.hold(known, theta, s));
        }
    }

    /// Adds what each symbol costs.
    fn add_costs<F: Scalar>(
        &self,
        gold: &Derivation,
        theta: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
    ) {
        let (p, symbols) = (self.grammar.n_parents(), self.grammar.symbols());
        for row in s.own.chunks_exact_mut(p.max(1)) {
            for (own, symbol) in row.iter_mut().zip(symbols) {
                *own += F::from_f64(symbol.labels().len() as f64);
            }
        }
        for node in &gold.nodes {
            let labels = symbols[node.symbol as usize].labels();
            let span = theta.shape.spans.number(node.start as usize, node.end as usize);
            let Some(span) = span.filter(|_| !labels.is_empty()) else { continue };
            for (own, symbol) in s.own[span * p..(span + 1) * p].iter_mut().zip(symbols) {
                *own -= F::from_f64(2.0 * common(symbol.labels(), labels) as f64);
            }
        }
    }

    /// Leaves only what has the known brackets.
    fn hold<F: Scalar>(
        &self,
        known: &Known,
        theta: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
    ) {
        if known.is_empty() {
            return;
        }
        let (p, spans) = (self.grammar.n_parents(), &theta.shape.spans);
        for span in 0..spans.len() {
            let (i, j) = spans.words(span);
            let out = &mut s.own[span * p..(span + 1) * p];
            let labels = match known.allowed(i, j) {
                Allowed::Any => continue,
                Allowed::Nothing => {
                    out.fill(-F::INFINITY);
                    continue;
                }
                Allowed::Phrase(labels) => labels,
            };
            for (own, symbol) in out.iter_mut().zip(self.grammar.symbols()) {
                if !has_labels(symbol.labels(), labels) {
                    *own = -F::INFINITY;
                }
            }
            if j - i == 1 {
                s.word_scores[i] = -F::INFINITY;
            }
        }
    }

    /// Leaves only what does not have a bracket.
    fn forbid<F: Scalar>(
        &self,
        without: Option<Bracket>,
        theta: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
    ) {
        let Some(Bracket { start, end, label }) = without else { return };
        let p = self.grammar.n_parents();
        let Some(span) = theta.shape.spans.number(start as usize, end as usize) else { return };
        for (own, symbol) in s.own[span * p..(span + 1) * p].iter_mut().zip(self.grammar.symbols())
        {
            let labels = symbol.labels();
            if label.map_or(!labels.is_empty(), |label| labels.contains(&label)) {
                *own = -F::INFINITY;
            }
        }
    }

    /// Adds 1 for each known bracket that a symbol lacks; crossing spans leave it out by themselves.
    fn add_partial_costs<F: Scalar>(
        &self,
        known: &Known,
        theta: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
    ) {
        let p = self.grammar.n_parents();
        for (start, end, labels) in known.brackets() {
            let Some(span) = theta.shape.spans.number(*start as usize, *end as usize) else {
                continue;
            };
            // What lacks nothing gains less than what is not there at all, which costs the most.
            let most = lacking(&[], labels);
            for (own, symbol) in
                s.own[span * p..(span + 1) * p].iter_mut().zip(self.grammar.symbols())
            {
                *own += F::from_f64(lacking(symbol.labels(), labels) as f64 - most as f64);
            }
        }
    }
}
