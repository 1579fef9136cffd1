//! A request that has been checked, and the oracles' answers for one sentence of it.

use super::layout::{Layout, Slots};
use super::{ChainError, ChainLoss, ChainSpec, Sentences};
use lineal_chain::{
    ChainModel, Decoder, Error, Grammar, LabelCost, LabelSets, Parts, PrunedModel, Scratch,
    UNLABELLED,
};
use lineal_linalg::Scalar;

/// Sentences, weights and loss.
#[derive(Debug)]
pub(crate) struct Problem<'a> {
    pub(crate) layout: Layout,
    pub(crate) slots: Slots<'a>,
    pub(crate) sentences: Sentences<'a>,
    pub(crate) spec: &'a ChainSpec,
    /// weight / Σ weights of each sentence.
    pub(crate) shares: Vec<f64>,
    /// What gold labels must obey.
    grammar: Grammar,
    /// What the sequences that they are set against must obey.
    rivals: Grammar,
    /// Whether some labels are missing.
    pub(crate) partial: bool,
}

impl<'a> Problem<'a> {
    pub(crate) fn new(
        model: ChainModel,
        sentences: Sentences<'a>,
        spec: &'a ChainSpec,
        start: Option<&PrunedModel>,
    ) -> Result<Self, ChainError> {
        sentences.check(&model)?;
        if start.is_some_and(|start| start.model() != model) {
            let what = "the model to start from has other labels or attributes";
            return Err(ChainError::Shape(what.into()));
        }
        let grammar = spec.grammar.clone().unwrap_or_else(|| Grammar::free(model.n_labels));
        if grammar.n_labels() != model.n_labels {
            return Err(ChainError::Shape("the constraints speak of other labels".into()));
        }
        let rivals = match spec.legal_rivals {
            true => grammar.clone(),
            false => Grammar::free(model.n_labels),
        };
        let layout = Layout::new(model, &sentences, spec.weights, start);
        let slots = layout.slots(&sentences);
        let shares = sentences.shares();
        let partial = sentences.labels.contains(&UNLABELLED);
        let problem = Self { layout, slots, sentences, spec, shares, grammar, rivals, partial };
        problem.check_cost()?;
        problem.check_gold()?;
        Ok(problem)
    }

    /// Sees that the costs are those of the labels, and that right answers cost nothing.
    fn check_cost(&self) -> Result<(), ChainError> {
        let Some(cost) = &self.spec.cost else { return Ok(()) };
        let k = self.layout.model.n_labels;
        let fine = cost.n_labels() == k
            && (0..k as u32).all(|gold| {
                let row = cost.row(gold);
                row[gold as usize] == 0.0 && row.iter().all(|c| c.is_finite() && *c >= 0.0)
            });
        if fine {
            return Ok(());
        }
        let what = "costs must be numbers ≥ 0 for each pair of labels, and 0 for a right one";
        Err(ChainError::Shape(what.into()))
    }

    /// Sees that every sentence has a legal sequence with its gold labels.
    fn check_gold(&self) -> Result<(), ChainError> {
        if self.grammar.is_free() {
            return Ok(());
        }
        let mut worker = self.worker::<f32>();
        let k = self.layout.model.n_labels;
        worker.parts.reset(0, k, false);
        worker.parts.triple.resize(self.layout.model.triple_range().len(), 0.0);
        worker.decoder = Decoder::new(self.grammar.clone(), self.layout.model.triples);
        worker.decoder.load(&worker.parts);
        for i in 0..self.sentences.len() {
            let gold = self.sentences.gold(i);
            worker.parts.unary.clear();
            worker.parts.unary.resize(gold.len() * k, 0.0);
            worker.allow(gold);
            let Worker { parts, allowed, decoder, s, y_hat, .. } = &mut worker;
            decoder
                .viterbi(parts, Some(allowed), s, y_hat)
                .map_err(|error| infeasible(error, i))?;
        }
        Ok(())
    }

    pub(crate) fn worker<F: Scalar>(&self) -> Worker<F> {
        let model = self.layout.model;
        let cost = match &self.spec.cost {
            Some(cost) => cost.cast(),
            None => LabelCost::hamming(model.n_labels),
        };
        Worker {
            parts: Parts::new(),
            grad: Parts::new(),
            other: Parts::new(),
            decoder: Decoder::new(self.rivals.clone(), model.triples),
            legal: (self.partial && self.rivals != self.grammar)
                .then(|| Decoder::new(self.grammar.clone(), model.triples)),
            s: Scratch::new(),
            y_hat: Vec::new(),
            gold: Vec::new(),
            allowed: LabelSets::full(0, model.n_labels),
            cost,
        }
    }

    /// Scores the parts of sentence `i` at the weights `scale · w`.
    pub(crate) fn scores<F: Scalar>(&self, i: usize, w: &[F], scale: F, worker: &mut Worker<F>) {
        self.layout.scores(&self.slots, self.sentences.range(i), w, &mut worker.parts);
        if scale != F::ONE {
            worker.parts.scale(scale);
        }
    }

    /// After [`scores`](Self::scores) and [`load`](Decoder::load): the loss of sentence `i`. Its gradient is left in the worker: see there.
    pub(crate) fn loss<F: Scalar>(
        &self,
        i: usize,
        worker: &mut Worker<F>,
    ) -> Result<f64, ChainError> {
        let gold = self.sentences.gold(i);
        match self.spec.loss {
            ChainLoss::Logistic => worker.log_loss(gold),
            ChainLoss::Hinge => worker.max_loss(gold, true),
            ChainLoss::Perceptron => worker.max_loss(gold, self.spec.has_margin()),
        }
        .map_err(|error| infeasible(error, i))
    }
}

pub(crate) fn infeasible(error: Error, sentence: usize) -> ChainError {
    match error {
        Error::Infeasible { position } => ChainError::Infeasible { sentence, position },
        error => ChainError::Shape(error.to_string()),
    }
}

/// Buffers of one thread.
#[derive(Debug)]
pub(crate) struct Worker<F: Scalar> {
    /// Scores.
    pub(crate) parts: Parts<F>,
    /// The logistic loss's gradient.
    pub(crate) grad: Parts<F>,
    other: Parts<F>,
    pub(crate) decoder: Decoder<F>,
    /// For what may stand where labels are missing, if `decoder` would allow more.
    legal: Option<Decoder<F>>,
    s: Scratch<F>,
    /// The best sequence, and the gold one that it is compared with: the other losses' gradient is their difference.
    pub(crate) y_hat: Vec<u32>,
    pub(crate) gold: Vec<u32>,
    allowed: LabelSets,
    cost: LabelCost<F>,
}

impl<F: Scalar> Worker<F> {
    /// max score (+ cost) − score of the gold labels.
    fn max_loss(&mut self, gold: &[u32], with_cost: bool) -> Result<f64, Error> {
        self.complete(gold)?;
        let gold_score = self.parts.score(&self.gold);
        if with_cost {
            self.cost.augment(gold, &mut self.parts.unary);
        }
        self.decoder.viterbi(&self.parts, None, &mut self.s, &mut self.y_hat)?;
        // Scored from the same numbers as the gold sequence, so that equal sequences lose exactly nothing.
        Ok((self.parts.score(&self.y_hat) - gold_score).max(0.0))
    }

    /// log Σ exp score over all sequences less that over those with the gold labels.
    fn log_loss(&mut self, gold: &[u32]) -> Result<f64, Error> {
        let all = self.decoder.expect(&self.parts, None, &mut self.s, &mut self.grad)?;
        if !gold.contains(&UNLABELLED) {
            self.grad.add_labels(gold, -F::ONE);
            return Ok(all - self.parts.score(gold));
        }
        self.allow(gold);
        let Self { decoder, legal, parts, allowed, s, other, .. } = self;
        let some = loaded(decoder, legal, parts).expect(parts, Some(allowed), s, other)?;
        self.grad.add(&self.other, -F::ONE);
        Ok(all - some)
    }

    /// log Σ exp score; the expected parts overwrite `expected`.
    pub(crate) fn expect(
        &mut self,
        scores: &Parts<F>,
        expected: &mut Parts<F>,
    ) -> Result<f64, Error> {
        self.decoder.load(scores);
        self.decoder.expect(scores, None, &mut self.s, expected)
    }

    /// log Σ exp score.
    pub(crate) fn log_partition(&mut self, scores: &Parts<F>) -> Result<f64, Error> {
        self.decoder.load(scores);
        self.decoder.log_partition(scores, None, &mut self.s)
    }

    /// What a sequence costs.
    pub(crate) fn cost(&self, gold: &[u32], labels: &[u32]) -> f64 {
        self.cost.cost(gold, labels)
    }

    /// Leaves the variance of each part at its position in `grad` (of shared parts: an upper bound of it), and returns the number of positions.
    pub(crate) fn expect_variances(&mut self) -> usize {
        if self.decoder.expect(&self.parts, None, &mut self.s, &mut self.grad).is_err() {
            return 0;
        }
        for part in [&mut self.grad.unary, &mut self.grad.per_position] {
            part.iter_mut().for_each(|p| *p = *p * (F::ONE - *p));
        }
        self.grad.n_positions()
    }

    /// The gold labels, the best ones where some are missing.
    fn complete(&mut self, gold: &[u32]) -> Result<(), Error> {
        self.gold.clear();
        if !gold.contains(&UNLABELLED) {
            self.gold.extend_from_slice(gold);
            return Ok(());
        }
        self.allow(gold);
        let Self { decoder, legal, parts, allowed, s, gold, .. } = self;
        loaded(decoder, legal, parts).viterbi(parts, Some(allowed), s, gold)?;
        Ok(())
    }

    /// Allows the gold labels where they are known, every label elsewhere.
    fn allow(&mut self, gold: &[u32]) {
        self.allowed.reset(gold.len());
        for (t, &label) in gold.iter().enumerate().filter(|(_, label)| **label != UNLABELLED) {
            self.allowed.keep_only(t, label as usize);
        }
    }
}

/// The decoder of what is legal, ready for these scores; the other one is, already.
fn loaded<'d, F: Scalar>(
    decoder: &'d mut Decoder<F>,
    legal: &'d mut Option<Decoder<F>>,
    parts: &Parts<F>,
) -> &'d mut Decoder<F> {
    match legal {
        Some(legal) => {
            legal.load(parts);
            legal
        }
        None => decoder,
    }
}
