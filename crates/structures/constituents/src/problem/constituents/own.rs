//! Own scores of symbols over spans: features, costs, and what is known or forbidden.

use super::predictions::Bracket;
use super::{Constituents, ConstituentsScratch};
use crate::derivation::Derivation;
use crate::problem::known::{Allowed, common, has_labels};
use crate::problem::{ConstituentParts, Known};
use lineal_linalg::Scalar;
use lineal_model::structure::Ask;

impl Constituents<'_> {
    /// Own scores of all symbols with costs and what is known; for all symbols that the grammar has seen over so many words, or for all if `free`.
    pub(super) fn load_own<F: Scalar>(
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
        // What is added to each symbol over one word, over several, and over all: −∞ where it cannot be, and what its labels cost if all are wrong.
        let with_costs = is_augmented && self.gold_of(i).is_some();
        let mut added = std::mem::take(&mut s.added);
        for (kind, added) in added.iter_mut().enumerate() {
            let (is_root, is_single) = (kind == 2, kind == 0 || kind == 2 && n == 1);
            added.clear();
            added.extend(symbols[..p].iter().zip(grammar.uses()).map(|(symbol, seen)| {
                let may = if free {
                    !symbol.is_rest() || !(is_single || is_root)
                } else {
                    (if is_single { seen.single } else { seen.several }) && (!is_root || seen.root)
                };
                let cost = if with_costs { symbol.labels().len() as f64 } else { 0.0 };
                if may { F::from_f64(cost) } else { -F::INFINITY }
            }));
        }
        s.own.clear();
        s.word_scores.clear();
        for (span, row) in rows.chunks_exact(self.stride()).enumerate() {
            let (start, end) = spans.words(span);
            let (is_single, is_root) = (end - start == 1, end - start == n);
            let added = &added[if is_root { 2 } else { usize::from(!is_single) }];
            let columns = grammar.columns().iter().zip(added);
            s.own.extend(columns.map(|(&column, &added)| row[column as usize] + added));
            if is_single {
                let may = free || !is_root || grammar.uses()[words[start] as usize].root;
                s.word_scores.push(if may { row[0] } else { -F::INFINITY });
            }
        }
        s.added = added;
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

    /// Takes away what labels cost where they are right: those of the gold derivation were missing, and are not.
    fn add_costs<F: Scalar>(
        &self,
        gold: &Derivation,
        theta: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
    ) {
        let (p, symbols) = (self.grammar.n_parents(), self.grammar.symbols());
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
    pub(super) fn forbid<F: Scalar>(
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

/// How many of the labels a phrase must have it lacks; where any phrase will do, whether it is none.
pub(super) fn lacking(own: &[u32], labels: &[u32]) -> usize {
    match labels.is_empty() {
        true => usize::from(own.is_empty()),
        false => labels.len() - common(own, labels),
    }
}
