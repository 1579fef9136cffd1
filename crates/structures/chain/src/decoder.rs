//! The oracles of a model, whether it looks at two labels in a row or at three.

use crate::{Chain, Error, Grammar, LabelSets, PairChain, Parts, Scratch, Transitions};
use lineal_linalg::Scalar;

/// Answers about the scores of a sequence's [`Parts`], of order 1 or 2, under a grammar and the labels allowed at positions.
///
/// [`load`](Self::load) the scores that sequences share whenever the weights change; the other calls read the rest. Costs are
/// [added](crate::LabelCost::augment) to the unary scores by the caller.
///
/// ```
/// use lineal_chain::{Decoder, Grammar, Parts, Scratch};
/// let mut parts = Parts::<f64>::new();
/// parts.reset(3, 2, false);
/// parts.unary.copy_from_slice(&[0.0, 1.0, 1.0, 0.0, 0.0, 1.0]);
/// parts.triple.resize(8, 0.0);
/// parts.triple[2] = 5.0; // 0 1 0
/// let mut decoder = Decoder::new(Grammar::free(2), true);
/// decoder.load(&parts);
/// let (mut s, mut labels) = (Scratch::new(), Vec::new());
/// assert_eq!(decoder.viterbi(&parts, None, &mut s, &mut labels)?, 5.0);
/// assert_eq!(labels, [0, 1, 0]);
/// # Ok::<(), lineal_chain::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Decoder<F: Scalar> {
    transitions: Transitions<F>,
    /// The states of order 2.
    pairs: Option<PairChain>,
    grammar: Grammar,
    /// Of states: unary scores, those allowed, a path.
    unary: Vec<F>,
    allowed: Option<LabelSets>,
    states: Vec<u32>,
}

impl<F: Scalar> Decoder<F> {
    /// For models without or with [triples](crate::ChainModel::triples).
    pub fn new(grammar: Grammar, triples: bool) -> Self {
        let pairs = triples.then(|| PairChain::new(&grammar));
        let transitions = match &pairs {
            Some(pairs) => pairs.transitions(),
            None => Transitions::new(grammar.clone()),
        };
        let (unary, states) = (Vec::new(), Vec::new());
        Self { transitions, pairs, grammar, unary, allowed: None, states }
    }

    /// What is forbidden between labels.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    /// Takes the scores that all sequences share: of transitions, first and last labels, triples.
    ///
    /// # Panics
    /// If they are of another number of labels, or triples are missing.
    pub fn load(&mut self, parts: &Parts<F>) {
        match &self.pairs {
            Some(pairs) => {
                pairs.load(&parts.triple, &parts.start, &parts.end, &mut self.transitions);
            }
            None => parts.load(&mut self.transitions),
        }
    }

    /// Computes what sums over sequences share, once for all that follow until the next [`load`](Self::load).
    pub fn prepare_sums(&mut self) {
        self.transitions.prepare_sums();
    }

    /// The chain over labels, or for order 2 over states: pairs of labels, which [`labels`](Self::labels) turns into labels.
    pub fn chain<'a>(
        &'a mut self,
        parts: &'a Parts<F>,
        allowed: Option<&'a LabelSets>,
    ) -> Chain<'a, F> {
        match &self.pairs {
            Some(pairs) => {
                let buffers = (&mut self.unary, &mut self.allowed);
                of_pairs(pairs, &self.transitions, buffers, parts, allowed)
            }
            None => {
                let chain = parts.chain(&self.transitions);
                allowed.map_or(chain, |allowed| chain.with_allowed(allowed))
            }
        }
    }

    /// The labels of a sequence that a [`chain`](Self::chain) answered with, left in `labels`.
    ///
    /// # Panics
    /// If there is no such label or state.
    pub fn labels(&self, found: &[u32], labels: &mut Vec<u32>) {
        match &self.pairs {
            Some(pairs) => pairs.labels(found, labels),
            None => {
                labels.clear();
                labels.extend_from_slice(found);
            }
        }
    }

    /// Sets of labels as those of what a [`chain`](Self::chain) runs over.
    pub fn allowed(&self, labels: &LabelSets) -> LabelSets {
        match &self.pairs {
            Some(pairs) => pairs.allowed(labels),
            None => labels.clone(),
        }
    }

    /// The best legal label sequence, left in `labels`, and its score.
    pub fn viterbi(
        &mut self,
        parts: &Parts<F>,
        allowed: Option<&LabelSets>,
        s: &mut Scratch<F>,
        labels: &mut Vec<u32>,
    ) -> Result<f64, Error> {
        if self.pairs.is_none() {
            return self.chain(parts, allowed).viterbi(s, labels);
        }
        let mut states = std::mem::take(&mut self.states);
        let found = self.chain(parts, allowed).viterbi(s, &mut states);
        self.labels(&states, labels);
        self.states = states;
        found
    }

    /// log Σ exp score over the legal label sequences.
    pub fn log_partition(
        &mut self,
        parts: &Parts<F>,
        allowed: Option<&LabelSets>,
        s: &mut Scratch<F>,
    ) -> Result<f64, Error> {
        self.chain(parts, allowed).log_partition(s)
    }

    /// log Σ exp score over the legal label sequences; the expected parts overwrite `expected`.
    pub fn expect(
        &mut self,
        parts: &Parts<F>,
        allowed: Option<&LabelSets>,
        s: &mut Scratch<F>,
        expected: &mut Parts<F>,
    ) -> Result<f64, Error> {
        let per_position = !parts.per_position.is_empty();
        let Some(pairs) = &self.pairs else {
            let mut posterior = self.chain(parts, allowed).posterior(s)?;
            expected.set_expected(&mut posterior, per_position);
            return Ok(posterior.log_partition());
        };
        let buffers = (&mut self.unary, &mut self.allowed);
        let chain = of_pairs(pairs, &self.transitions, buffers, parts, allowed);
        let mut posterior = chain.posterior(s)?;
        set_expected_of_pairs(pairs, &mut posterior, parts, expected);
        Ok(posterior.log_partition())
    }
}

/// The chain over pairs of labels.
fn of_pairs<'a, F: Scalar>(
    pairs: &PairChain,
    transitions: &'a Transitions<F>,
    (unary, states): (&'a mut Vec<F>, &'a mut Option<LabelSets>),
    parts: &Parts<F>,
    allowed: Option<&LabelSets>,
) -> Chain<'a, F> {
    let own = (!parts.per_position.is_empty()).then_some(&parts.per_position[..]);
    pairs.unary(&parts.unary, &parts.transition, own, unary);
    *states = allowed.map(|allowed| pairs.allowed(allowed));
    let chain = Chain::new(transitions, unary);
    match states {
        Some(states) => chain.with_allowed(states),
        None => chain,
    }
}

fn set_expected_of_pairs<F: Scalar>(
    pairs: &PairChain,
    posterior: &mut crate::Posterior<'_, F>,
    parts: &Parts<F>,
    expected: &mut Parts<F>,
) {
    let (n, k) = (parts.n_positions(), parts.n_labels());
    expected.reset(n, k, !parts.per_position.is_empty());
    expected.triple.resize(k * k * k, F::ZERO);
    pairs.unary_marginals(posterior, &mut expected.unary);
    if n > 0 {
        expected.start.copy_from_slice(&expected.unary[..k]);
        expected.end.copy_from_slice(&expected.unary[(n - 1) * k..]);
    }
    pairs.add_transitions(posterior, &mut expected.transition);
    if !expected.per_position.is_empty() {
        pairs.pairwise(posterior, &mut expected.per_position);
    }
    pairs.add_triples(posterior, &mut expected.triple);
}
