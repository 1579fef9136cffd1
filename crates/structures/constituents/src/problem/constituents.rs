//! Derivations over candidate spans: the parser.
//!
//! `weights` finds the weights of parts, `own` adds costs and what is known, `oracles` has the best derivations and sums, `predictions` the rest.

mod oracles;
mod own;
mod predictions;
mod weights;

pub use predictions::{Bracket, SpanProbability};

use super::parts::Shape;
use super::{Candidates, ConstituentParts, Known};
use crate::chart::{MaxChart, SumChart};
use crate::derivation::Derivation;
use crate::features::keys::{Keys, Wholes};
use crate::features::table::Runs;
use crate::features::{Section, Sentences, Templates};
use crate::grammar::{LEFT, RIGHT};
use crate::{Grammar, Spans};
use lineal_linalg::Scalar;
use lineal_model::structure::Structure;
use std::ops::Range;
use std::sync::Arc;

/// The problem of finding each sentence's derivation.
#[derive(Clone, Debug)]
pub struct Constituents<'a> {
    pub(super) grammar: &'a Grammar,
    pub(super) templates: &'a Templates,
    sentences: &'a Sentences,
    candidates: Option<&'a Candidates>,
    gold: &'a [Derivation],
    known: &'a [Known],
    partial: &'a [Known],
    weights: &'a [f64],
    total_weight: f64,
    bits: u32,
}

/// Working memory of [`Constituents`].
#[derive(Clone, Debug, Default)]
pub struct ConstituentsScratch<F> {
    /// The sentence whose keys are loaded.
    loaded: Option<usize>,
    wholes: Wholes,
    keys: [Keys; 3],
    hashes: Vec<u32>,
    max: MaxChart<F>,
    sums: SumChart,
    own: Vec<F>,
    added: [Vec<F>; 3],
    word_scores: Vec<F>,
    parts: Vec<u64>,
    other_parts: Vec<u64>,
}

/// The sections in the order of the keys.
const SECTIONS: [Section; 3] = [Section::Label, Section::Left, Section::Right];

impl<'a> Constituents<'a> {
    /// The fewest weights: 2^`MIN_BITS`, or as many as symbols.
    pub const MIN_BITS: u32 = 8;
    /// The most.
    pub const MAX_BITS: u32 = 30;

    /// Derivations to predict, with 2^`bits` weights for features (brought into the range from [`MIN_BITS`](Self::MIN_BITS) to [`MAX_BITS`](Self::MAX_BITS)) and one for each pair
    /// of the grammar. Without candidates all spans are.
    pub fn new(
        grammar: &'a Grammar,
        templates: &'a Templates,
        sentences: &'a Sentences,
        candidates: Option<&'a Candidates>,
        bits: u32,
    ) -> Self {
        let widest = grammar.n_columns().max(grammar.n_categories());
        let at_least = Self::MIN_BITS.max(usize::BITS - widest.leading_zeros());
        Self {
            grammar,
            templates,
            sentences,
            candidates,
            gold: &[],
            known: &[],
            partial: &[],
            weights: &[],
            total_weight: sentences.len() as f64,
            bits: bits.max(at_least).min(Self::MAX_BITS),
        }
    }

    /// The gold derivation of each sentence; an empty one where it is not known in full. Its spans must be candidates.
    pub fn with_gold(self, gold: &'a [Derivation]) -> Self {
        Self { gold, ..self }
    }

    /// What is known of the gold derivation of each sentence that has none in full.
    pub fn with_partial_gold(self, partial: &'a [Known]) -> Self {
        Self { partial, ..self }
    }

    /// Brackets that must hold in each sentence, whatever is asked. Candidates must have been made with them.
    pub fn with_known(self, known: &'a [Known]) -> Self {
        Self { known, ..self }
    }

    /// How much each sentence counts; all the same by default.
    pub fn with_weights(self, weights: &'a [f64]) -> Self {
        Self { weights, total_weight: weights.iter().sum(), ..self }
    }

    /// The grammar.
    pub fn grammar(&self) -> &'a Grammar {
        self.grammar
    }

    /// How many weights features have.
    pub(super) fn n_hashed(&self) -> usize {
        1 << self.bits
    }

    /// Where the weights of a section lie.
    pub(super) fn runs(&self, section: Section) -> Runs {
        let width = match section {
            Section::Label => self.grammar.n_columns(),
            _ => self.grammar.n_categories(),
        };
        Runs::new(self.n_hashed(), width)
    }

    fn n_words(&self, i: usize) -> usize {
        self.sentences.words(i).len()
    }

    fn gold_of(&self, i: usize) -> Option<&Derivation> {
        self.gold.get(i).filter(|gold| !gold.nodes.is_empty() || self.n_words(i) == 0)
    }

    /// How many numbers a span has.
    fn stride(&self) -> usize {
        self.grammar.n_columns() + 2 * self.grammar.n_categories()
    }

    fn n_parts(&self, spans: &Spans) -> usize {
        self.grammar.pairs().len() + spans.len() * self.stride()
    }

    /// Where the numbers of a section start among those of a span.
    fn offset(&self, section: Section) -> usize {
        let (k, c) = (self.grammar.n_columns(), self.grammar.n_categories());
        match section {
            Section::Left => k,
            Section::Right => k + c,
            _ => 0,
        }
    }

    /// Makes `parts` those of sentence `i`; their numbers are not yet right.
    fn shape<F>(&self, i: usize, parts: &mut ConstituentParts<F>) {
        if parts.shape.example == Some(i) {
            return;
        }
        if Arc::get_mut(&mut parts.shape).is_none() {
            parts.shape = Arc::default();
        }
        // Nobody else has it now.
        let Some(shape) = Arc::get_mut(&mut parts.shape) else { return };
        let Shape { example, spans } = shape;
        match self.candidates {
            Some(candidates) => candidates.load(i, self.n_words(i), spans),
            None => spans.fill(self.n_words(i), |_, _| true),
        }
        *example = Some(i);
    }

    /// The parts of a derivation; those that do not exist are passed over.
    fn each_part(&self, spans: &Spans, y: &Derivation, mut f: impl FnMut(usize)) {
        let (grammar, stride) = (self.grammar, self.stride());
        let n_pairs = grammar.pairs().len();
        y.each(|node, children| {
            let mut push = |start: u32, end: u32, section: Section, column: usize| {
                if let Some(span) = spans.number(start as usize, end as usize) {
                    f(n_pairs + span * stride + self.offset(section) + column);
                }
            };
            push(node.start, node.end, Section::Label, grammar.column(node.symbol as usize));
            let Some([left, right]) = children else { return };
            let category = grammar.categories()[node.symbol as usize] as usize;
            push(left.start, left.end, Section::Left, category);
            push(right.start, right.end, Section::Right, category);
            for (side, child) in [(LEFT, left), (RIGHT, right)] {
                grammar
                    .pairs()
                    .number(side, node.symbol, child.symbol)
                    .into_iter()
                    .for_each(&mut f);
            }
        });
    }
}

impl<F: Scalar> Structure<F> for Constituents<'_> {
    type Output = Derivation;
    type Parts = ConstituentParts<F>;
    type Scratch = ConstituentsScratch<F>;

    fn n_examples(&self) -> usize {
        self.sentences.len()
    }

    fn dim(&self) -> usize {
        self.n_hashed() + self.grammar.pairs().len()
    }

    fn share(&self, i: usize) -> f64 {
        self.weights.get(i).copied().unwrap_or(1.0) / self.total_weight
    }

    fn work(&self) -> usize {
        let spans = match self.candidates {
            Some(candidates) => candidates.n_spans() + self.sentences.n_words(),
            None => (0..self.sentences.len()).map(|i| self.n_words(i).pow(2) / 2).sum(),
        };
        let row = |section: Section| match section {
            Section::Label => self.templates.n_templates(section) * self.grammar.n_columns(),
            _ => self.templates.n_templates(section) * self.grammar.n_categories(),
        };
        spans.saturating_mul(SECTIONS.map(row).iter().sum())
    }

    fn size(&self, i: usize) -> usize {
        (2 * self.n_words(i)).saturating_sub(1)
    }

    fn log_outputs(&self, i: usize) -> f64 {
        // Binary trees over n words are about 4ⁿ, each with a symbol for each of its nodes.
        let n = self.n_words(i) as f64;
        n * 4f64.ln() + 2.0 * n * (self.grammar.n_parents().max(1) as f64).ln()
    }

    fn scratch(&self) -> ConstituentsScratch<F> {
        ConstituentsScratch::default()
    }

    fn is_whole(&self, i: usize) -> bool {
        self.gold_of(i).is_some()
    }

    fn gold(&self, i: usize, y: &mut Derivation) {
        y.nodes.clear();
        y.nodes.extend(self.gold_of(i).into_iter().flat_map(|gold| &gold.nodes));
    }

    fn scores(
        &self,
        i: usize,
        w: &[F],
        scale: F,
        s: &mut ConstituentsScratch<F>,
        theta: &mut ConstituentParts<F>,
    ) {
        self.load_keys(i, s);
        self.shape(i, theta);
        self.score_parts(w, s, theta);
        if scale != F::ONE {
            theta.values.iter_mut().for_each(|value| *value *= scale);
        }
    }

    fn accumulate(
        &self,
        i: usize,
        g: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
        into: &mut [F],
    ) {
        self.load_keys(i, s);
        let (hashed, pairs) = into.split_at_mut(self.n_hashed());
        pairs.iter_mut().zip(&g.values).for_each(|(w, &g)| *w += g);
        self.each_row(g, s, |runs, hashes, row| runs.add(row, hashes, hashed));
    }

    fn each_touched(
        &self,
        i: usize,
        g: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
        mut f: impl FnMut(Range<usize>),
    ) {
        self.load_keys(i, s);
        f(self.n_hashed()..Structure::<F>::dim(self));
        self.each_row(g, s, |runs, hashes, row| {
            hashes.iter().for_each(|&hash| f(runs.start(hash)..runs.start(hash) + row.len()));
        });
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Derivation,
        minus: &Derivation,
        s: &mut ConstituentsScratch<F>,
        f: impl FnMut(usize, F),
    ) {
        self.load_keys(i, s);
        self.each_difference_of(plus, minus, s, f);
    }

    fn score(&self, _: usize, theta: &ConstituentParts<F>, y: &Derivation) -> f64 {
        let mut score = 0.0;
        self.each_part(&theta.shape.spans, y, |part| score += theta.values[part].to_f64());
        score
    }

    fn add_output(&self, i: usize, y: &Derivation, a: F, mu: &mut ConstituentParts<F>) {
        self.shape(i, mu);
        mu.values.resize(self.n_parts(&mu.shape.spans), F::ZERO);
        let ConstituentParts { values, shape } = mu;
        self.each_part(&shape.spans, y, |part| values[part] += a);
    }
}
