//! Sentences with gold labels as a problem to learn: scores by the fast layout, answers by the decoder.
//!
//! Two sets of sequences matter. Gold labels must obey the *grammar*, and so must whatever stands where a label is missing. The *rivals* that a loss
//! sets against the gold labels are all sequences, or the legal ones alone with [`ChainOptions::legal_rivals`].

use crate::layout::{ChainWeights, Layout, Slots};
use crate::{
    ChainModel, Decoder, Error, Grammar, LabelCost, LabelSets, Observed, Parts, PrunedModel,
    Scratch, Sentences, UNLABELLED,
};
use lineal_linalg::Scalar;
use lineal_model::structure::{
    Ask, Found, Infeasible, MaxOracle, PartVector, Structure, SumOracle,
};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// What a problem has beside its sentences.
#[derive(Clone, Debug, Default)]
pub struct ChainOptions {
    /// Which weights there are; `Frequent` by default.
    pub weights: ChainWeights,
    /// The cost of wrong labels; Hamming if it is not given.
    pub cost: Option<LabelCost<f64>>,
    /// What is forbidden to gold labels, and to what may stand where they are missing; nothing if it is not given.
    pub grammar: Option<Grammar>,
    /// Whether the sequences that the gold labels are set against must obey the grammar as well, so that nothing is learnt about those that prediction excludes
    /// anyway. That costs accuracy if anything: a mean span F1 of 93.86 against 93.89 in eight folds of CoNLL-2000's training data with a perceptron.
    pub legal_rivals: bool,
}

/// Sentences and the weights to learn. Checked once, when it is made.
#[derive(Debug)]
pub struct ChainProblem<'a> {
    layout: Arc<Layout>,
    slots: Slots<'a>,
    gold: Gold<'a>,
    /// weight / Σ weights of each sentence.
    shares: Vec<f64>,
    cost: LabelCost<f64>,
    /// What gold labels must obey.
    grammar: Grammar,
    /// What the sequences that they are set against must obey.
    rivals: Grammar,
    /// Whether some labels are missing.
    partial: bool,
}

/// The gold labels of all positions, and where each sentence ends.
#[derive(Debug)]
struct Gold<'a> {
    labels: Cow<'a, [u32]>,
    ends: Cow<'a, [usize]>,
    /// Attributes of all positions.
    nnz: usize,
}

impl Gold<'_> {
    fn range(&self, i: usize) -> Range<usize> {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        start..self.ends[i]
    }

    fn of(&self, i: usize) -> &[u32] {
        &self.labels[self.range(i)]
    }
}

/// Where the weights of a model lie, for sentences that are in several places: what was seen in all of them decides.
#[derive(Clone, Debug)]
pub struct ChainLayout(Arc<Layout>);

impl ChainLayout {
    /// For what was seen in all sentences.
    pub fn new(model: ChainModel, observed: &Observed, weights: ChainWeights) -> Self {
        Self(Arc::new(Layout::new(model, observed, weights, None)))
    }

    /// The length of a vector of weights.
    pub fn dim(&self) -> usize {
        self.0.dim()
    }

    /// How many weights there are to learn, padding and what is left out not counted.
    pub fn n_weights(&self) -> usize {
        self.0.n_weights()
    }

    /// The weights as a model for prediction: in f32, without zeros.
    pub fn pruned<F: Scalar>(&self, w: &[F]) -> Result<PrunedModel, Error> {
        self.0.pruned(w)
    }
}

impl<'a> ChainProblem<'a> {
    /// Lays out the weights of `model` for the sentences, and for whatever a model to start from has.
    pub fn new(
        model: ChainModel,
        sentences: Sentences<'a>,
        options: &ChainOptions,
        start: Option<&PrunedModel>,
    ) -> Result<Self, Error> {
        sentences.check(&model)?;
        sentences.check_weights()?;
        if start.is_some_and(|start| start.model() != model) {
            let what = "the model to start from has other labels or attributes";
            return Err(Error::Shape(what.into()));
        }
        let mut observed = Observed::of_checked(&model, &sentences, options.weights);
        if let Some(start) = start {
            observed.see_model(start);
        }
        let layout = Arc::new(Layout::new(model, &observed, options.weights, start));
        drop(observed);
        Self::with_layout(layout, sentences, options, sentences.shares())
    }

    /// Some of many sentences, whose weights together are `total_weight`: what they add to the mean loss of all. `options.weights` is what the layout was made with.
    pub fn part(
        layout: &ChainLayout,
        sentences: Sentences<'a>,
        options: &ChainOptions,
        total_weight: f64,
    ) -> Result<Self, Error> {
        sentences.check(&layout.0.model)?;
        let share = |i: usize| sentences.weights.map_or(1.0, |w| f64::from(w[i])) / total_weight;
        let shares = (0..sentences.len()).map(share).collect();
        Self::with_layout(Arc::clone(&layout.0), sentences, options, shares)
    }

    fn with_layout(
        layout: Arc<Layout>,
        sentences: Sentences<'a>,
        options: &ChainOptions,
        shares: Vec<f64>,
    ) -> Result<Self, Error> {
        let k = layout.model.n_labels;
        let grammar = options.grammar.clone().unwrap_or_else(|| Grammar::free(k));
        if grammar.n_labels() != k {
            return Err(Error::Shape("the constraints speak of other labels".into()));
        }
        let rivals = if options.legal_rivals { grammar.clone() } else { Grammar::free(k) };
        let cost = options.cost.clone().unwrap_or_else(|| LabelCost::hamming(k));
        check_cost(&cost, k)?;
        let slots = layout.slots(&sentences);
        let partial = sentences.labels.contains(&UNLABELLED);
        let gold = Gold {
            labels: Cow::Borrowed(sentences.labels),
            ends: Cow::Borrowed(sentences.ends),
            nnz: sentences.unary.nnz(),
        };
        let problem = Self { layout, slots, gold, shares, cost, grammar, rivals, partial };
        problem.check_gold()?;
        Ok(problem)
    }

    /// The same, with nothing borrowed: attributes, labels and ends are its own from now on.
    pub fn into_owned(self) -> ChainProblem<'static> {
        let Self { layout, slots, gold, shares, cost, grammar, rivals, partial } = self;
        let gold = Gold {
            labels: Cow::Owned(gold.labels.into_owned()),
            ends: Cow::Owned(gold.ends.into_owned()),
            nnz: gold.nnz,
        };
        let slots = slots.into_owned();
        ChainProblem { layout, slots, gold, shares, cost, grammar, rivals, partial }
    }

    /// What the sentences take in memory, the map from features to weights not counted.
    pub fn n_bytes(&self) -> usize {
        let Gold { labels, ends, .. } = &self.gold;
        self.slots.n_bytes() + 4 * labels.len() + 8 * (ends.len() + self.shares.len())
    }

    /// How many weights there are to learn, padding and what is left out not counted.
    pub fn n_weights(&self) -> usize {
        self.layout.n_weights()
    }

    /// Weights to start from, in this problem's layout.
    pub fn weights_of(&self, start: &PrunedModel) -> Result<Vec<f32>, Error> {
        if start.model() != self.layout.model {
            let what = "the model to start from has other labels or attributes";
            return Err(Error::Shape(what.into()));
        }
        let mut w = vec![0.0; self.layout.dim()];
        self.layout.load(start, &mut w);
        Ok(w)
    }

    /// The weights as a model for prediction: in f32, without zeros.
    pub fn pruned<F: Scalar>(&self, w: &[F]) -> Result<PrunedModel, Error> {
        self.layout.pruned(w)
    }

    /// Sees that every sentence has a legal sequence with its gold labels.
    fn check_gold(&self) -> Result<(), Error> {
        if self.grammar.is_free() {
            return Ok(());
        }
        let mut s = Structure::<f32>::scratch(self);
        let (k, mut parts, mut labels) = (self.layout.model.n_labels, Parts::new(), Vec::new());
        parts.reset(0, k, false);
        parts.triple.resize(self.layout.model.triple_range().len(), 0.0);
        let mut decoder = Decoder::new(self.grammar.clone(), self.layout.model.triples);
        decoder.load(&parts);
        for sentence in 0..self.gold.ends.len() {
            let gold = self.gold.of(sentence);
            parts.unary.clear();
            parts.unary.resize(gold.len() * k, 0.0);
            s.allow(gold);
            let found = decoder.viterbi(&parts, Some(&s.allowed), &mut s.s, &mut labels);
            found.map_err(|error| Error::Gold { sentence, position: infeasible(error).at })?;
        }
        Ok(())
    }

    fn range(&self, i: usize) -> Range<usize> {
        self.gold.range(i)
    }
}

/// Sees that the costs are those of the labels, and that right answers cost nothing.
fn check_cost(cost: &LabelCost<f64>, k: usize) -> Result<(), Error> {
    let fine = cost.n_labels() == k
        && (0..k as u32).all(|gold| {
            let row = cost.row(gold);
            row[gold as usize] == 0.0 && row.iter().all(|c| c.is_finite() && *c >= 0.0)
        });
    if fine {
        return Ok(());
    }
    let what = "costs must be numbers ≥ 0 for each pair of labels, and 0 for a right one";
    Err(Error::Shape(what.into()))
}

/// Oracles fail in this one way: what else could be wrong was checked when the problem was made.
fn infeasible(error: Error) -> Infeasible {
    match error {
        Error::Infeasible { position } => Infeasible { at: position },
        _ => Infeasible { at: 0 },
    }
}

/// Working memory of one thread.
#[derive(Debug)]
pub struct ChainScratch<F: Scalar> {
    /// The scores that all sentences share.
    shared: Parts<F>,
    decoder: Decoder<F>,
    /// For what may stand where labels are missing, if `decoder` would allow more.
    legal: Option<Decoder<F>>,
    s: Scratch<F>,
    allowed: LabelSets,
    cost: LabelCost<F>,
}

impl<F: Scalar> ChainScratch<F> {
    /// Allows the gold labels where they are known, every label elsewhere.
    fn allow(&mut self, gold: &[u32]) {
        self.allowed.reset(gold.len());
        for (t, &label) in gold.iter().enumerate().filter(|(_, label)| **label != UNLABELLED) {
            self.allowed.keep_only(t, label as usize);
        }
    }

    /// The decoder of what is legal, ready for these scores; the other one is, already.
    fn within_gold(
        &mut self,
        gold: &[u32],
        theta: &Parts<F>,
    ) -> (&mut Decoder<F>, &LabelSets, &mut Scratch<F>) {
        self.allow(gold);
        let decoder = match &mut self.legal {
            Some(legal) => {
                legal.load(theta);
                legal
            }
            None => &mut self.decoder,
        };
        (decoder, &self.allowed, &mut self.s)
    }
}

impl<F: Scalar> Structure<F> for ChainProblem<'_> {
    type Output = Vec<u32>;
    type Parts = Parts<F>;
    type Scratch = ChainScratch<F>;

    fn n_examples(&self) -> usize {
        self.gold.ends.len()
    }

    fn dim(&self) -> usize {
        self.layout.dim()
    }

    fn share(&self, i: usize) -> f64 {
        self.shares[i]
    }

    fn work(&self) -> usize {
        self.gold.nnz * self.layout.model.n_labels
    }

    fn size(&self, i: usize) -> usize {
        self.range(i).len()
    }

    fn log_outputs(&self, i: usize) -> f64 {
        self.range(i).len() as f64 * (self.layout.model.n_labels as f64).ln()
    }

    fn scratch(&self) -> ChainScratch<F> {
        let model = self.layout.model;
        ChainScratch {
            shared: Parts::new(),
            decoder: Decoder::new(self.rivals.clone(), model.triples),
            legal: (self.partial && self.rivals != self.grammar)
                .then(|| Decoder::new(self.grammar.clone(), model.triples)),
            s: Scratch::new(),
            allowed: LabelSets::full(0, model.n_labels),
            cost: self.cost.cast(),
        }
    }

    fn is_whole(&self, i: usize) -> bool {
        !self.partial || !self.gold.of(i).contains(&UNLABELLED)
    }

    fn gold(&self, i: usize, y: &mut Vec<u32>) {
        y.clear();
        y.extend_from_slice(self.gold.of(i));
    }

    fn load(&self, w: &[F], scale: F, sums: bool, s: &mut ChainScratch<F>) {
        self.layout.shared_scores(w, &mut s.shared);
        if scale != F::ONE {
            s.shared.scale(scale);
        }
        s.decoder.load(&s.shared);
        if sums {
            s.decoder.prepare_sums();
        }
    }

    fn load_parts(&self, theta: &Parts<F>, s: &mut ChainScratch<F>) {
        s.decoder.load(theta);
    }

    fn scores(&self, i: usize, w: &[F], scale: F, _: &mut ChainScratch<F>, theta: &mut Parts<F>) {
        self.layout.scores(&self.slots, self.range(i), w, theta);
        if scale != F::ONE {
            theta.scale(scale);
        }
    }

    fn accumulate(&self, i: usize, g: &Parts<F>, _: &mut ChainScratch<F>, into: &mut [F]) {
        self.layout.accumulate(&self.slots, self.range(i), g, into);
    }

    fn each_touched(
        &self,
        i: usize,
        g: &Parts<F>,
        _: &mut ChainScratch<F>,
        f: impl FnMut(Range<usize>),
    ) {
        self.layout.each_touched(&self.slots, self.range(i), g, f);
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Vec<u32>,
        minus: &Vec<u32>,
        _: &mut ChainScratch<F>,
        mut f: impl FnMut(usize, F),
    ) {
        let f = |place: usize, v: f32| f(place, F::from_f32(v));
        self.layout.each_difference(&self.slots, self.range(i), plus, minus, f);
    }

    fn score(&self, _: usize, theta: &Parts<F>, y: &Vec<u32>) -> f64 {
        theta.score(y)
    }

    fn add_output(&self, _: usize, y: &Vec<u32>, a: F, mu: &mut Parts<F>) {
        mu.add_labels(y, a);
    }
}

impl<F: Scalar> MaxOracle<F> for ChainProblem<'_> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Parts<F>,
        ask: Ask,
        s: &mut ChainScratch<F>,
        y: &mut Vec<u32>,
    ) -> Result<Found, Infeasible> {
        let gold = self.gold.of(i);
        let found = match ask {
            Ask::Gold => {
                let (decoder, allowed, s) = s.within_gold(gold, theta);
                decoder.viterbi(theta, Some(allowed), s, y)
            }
            Ask::Plain | Ask::Augmented => {
                if ask == Ask::Augmented {
                    s.cost.augment(gold, &mut theta.unary);
                }
                s.decoder.viterbi(theta, None, &mut s.s, y)
            }
        };
        found.map_err(infeasible)?;
        Ok(Found::exact(theta.score(y)))
    }

    fn cost(&self, i: usize, y: &Vec<u32>) -> f64 {
        // In the numbers that the augmented scores have, so that both agree to the last digit.
        let one = |(&gold, &label): (&u32, &u32)| {
            F::from_f64(self.cost.row(gold)[label as usize]).to_f64()
        };
        let known = self.gold.of(i).iter().zip(y).filter(|(gold, _)| **gold != UNLABELLED);
        known.map(one).sum()
    }
}

impl<F: Scalar> SumOracle<F> for ChainProblem<'_> {
    fn log_partition(
        &self,
        i: usize,
        theta: &Parts<F>,
        ask: Ask,
        s: &mut ChainScratch<F>,
    ) -> Result<f64, Infeasible> {
        let found = if ask == Ask::Gold {
            let (decoder, allowed, s) = s.within_gold(self.gold.of(i), theta);
            decoder.log_partition(theta, Some(allowed), s)
        } else {
            s.decoder.log_partition(theta, None, &mut s.s)
        };
        found.map_err(infeasible)
    }

    fn expect(
        &self,
        i: usize,
        theta: &Parts<F>,
        ask: Ask,
        s: &mut ChainScratch<F>,
        mu: &mut Parts<F>,
    ) -> Result<f64, Infeasible> {
        let found = if ask == Ask::Gold {
            let (decoder, allowed, s) = s.within_gold(self.gold.of(i), theta);
            decoder.expect(theta, Some(allowed), s, mu)
        } else {
            s.decoder.expect(theta, None, &mut s.s, mu)
        };
        found.map_err(infeasible)
    }

    /// Through the labels alone: what transitions are worth is left to the weights.
    fn concentrate(&self, i: usize, theta: &mut Parts<F>) {
        let k = self.layout.model.n_labels;
        let sure = F::from_f64(4.0 + (k as f64).ln());
        for (t, &gold) in self.gold.of(i).iter().enumerate() {
            theta.unary[t * k + gold as usize] += sure;
        }
    }
}

impl<F: Scalar> PartVector<F> for Parts<F> {
    fn dot(&self, other: &Self) -> f64 {
        self.dot(other)
    }

    fn add(&mut self, other: &Self, a: F) {
        self.add(other, a);
    }

    fn scale(&mut self, a: F) {
        self.scale(a);
    }

    fn to_variances(&mut self) {
        for part in [&mut self.unary, &mut self.per_position] {
            part.iter_mut().for_each(|p| *p = *p * (F::ONE - *p));
        }
    }
}
