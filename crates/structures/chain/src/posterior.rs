//! Probabilities of labels, transitions, spans and whole sequences.

use crate::sets::LabelSets;
use crate::viterbi::first_max;
use crate::{Chain, Error, Scratch};
use lineal_linalg::Rng;
use lineal_linalg::Scalar;

/// The distribution p(y) ∝ exp score(y) over the legal label sequences, after forward and backward sums.
///
/// It borrows the scratch that it was computed in. What it is asked for is derived from two things: the marginals of each position,
/// and the chance of the next label given this one.
#[derive(Debug)]
pub struct Posterior<'s, F: Scalar> {
    chain: Chain<'s, F>,
    s: &'s mut Scratch<F>,
    log_z: f64,
    /// Whether the sums had to be done in log space.
    in_logs: bool,
    row: Vec<f64>,
}

impl<'a, F: Scalar> Chain<'a, F> {
    /// The distribution over label sequences.
    ///
    /// ```
    /// use lineal_chain::{Chain, Grammar, Scratch, Transitions};
    /// let mut transitions = Transitions::new(Grammar::free(2));
    /// transitions.load(&[2.0f64, 0.0, 0.0, 2.0], &[0.0; 2], &[0.0; 2]);
    /// let chain = Chain::new(&transitions, &[1.0, 0.0, 0.0, 0.0]);
    /// let mut scratch = Scratch::new();
    /// let posterior = chain.posterior(&mut scratch)?;
    /// let p = 1f64.exp() / (1f64.exp() + 1.0);
    /// assert!((posterior.unary()[0] - p).abs() < 1e-12);
    /// # Ok::<(), lineal_chain::Error>(())
    /// ```
    pub fn posterior<'s>(&self, s: &'s mut Scratch<F>) -> Result<Posterior<'s, F>, Error>
    where
        'a: 's,
    {
        if self.is_constrained() {
            self.trim(&mut s.useful)?;
        }
        let scaled = self.forward(s);
        let log_z = match scaled {
            Some(log_z) => {
                self.backward(s);
                log_z
            }
            None => {
                let log_z = self.log_forward(s);
                self.log_backward(s);
                log_z
            }
        };
        let row = std::mem::take(&mut s.row);
        Ok(Posterior { chain: *self, s, log_z, in_logs: scaled.is_none(), row })
    }
}

impl<F: Scalar> Drop for Posterior<'_, F> {
    /// Gives the buffer back.
    fn drop(&mut self) {
        self.s.row = std::mem::take(&mut self.row);
    }
}

impl<F: Scalar> Posterior<'_, F> {
    /// log Σ exp score.
    pub fn log_partition(&self) -> f64 {
        self.log_z
    }

    /// K
    pub fn n_labels(&self) -> usize {
        self.chain.n_labels()
    }

    /// `[t·K + y] = p(yₜ = y)`.
    pub fn unary(&self) -> &[F] {
        &self.s.sums.unary[..self.chain.n_positions() * self.chain.n_labels()]
    }

    /// Adds the expected number of each transition, `[from·K + to]`, to `counts`.
    ///
    /// # Panics
    /// If `counts` is not of K².
    pub fn add_transitions(&mut self, counts: &mut [F]) {
        let k = self.chain.n_labels();
        assert_eq!(counts.len(), k * k);
        self.each_transition(|from, first, run| {
            for (count, &more) in counts[from * k + first..].iter_mut().zip(run) {
                *count += more;
            }
        });
    }

    /// `[(t−1)·K² + from·K + to] = p(yₜ₋₁ = from, yₜ = to)` for each position but the first.
    ///
    /// # Panics
    /// If `pairs` is not of (n − 1)·K².
    pub fn pairwise(&mut self, pairs: &mut [F]) {
        let (n, k) = (self.chain.n_positions(), self.chain.n_labels());
        assert_eq!(pairs.len(), n.saturating_sub(1) * k * k);
        for t in 1..n {
            let pairs = &mut pairs[(t - 1) * k * k..t * k * k];
            pairs.fill(F::ZERO);
            if !self.in_logs {
                self.chain.pair_probabilities(&self.s.sums, t, pairs);
                continue;
            }
            self.each_pair(t, |place, p| pairs[place] = F::from_f64(p));
        }
    }

    /// The probability of a label sequence; 0 if it is not legal.
    ///
    /// # Panics
    /// If it has not n labels below K.
    pub fn probability(&self, labels: &[u32]) -> f64 {
        self.log_probability(labels).exp()
    }

    /// The logarithm of [`probability`](Self::probability).
    ///
    /// # Panics
    /// If it has not n labels below K.
    fn log_probability(&self, labels: &[u32]) -> f64 {
        match self.chain.violation(labels) {
            Some(_) => f64::NEG_INFINITY,
            None => self.chain.score(labels) - self.log_z,
        }
    }

    /// The probability that the positions from `at` on have these labels, whatever the others have.
    ///
    /// # Panics
    /// If they reach beyond the sequence or are not below K.
    pub fn span(&mut self, at: usize, labels: &[u32]) -> f64 {
        let k = self.chain.n_labels();
        assert!(at + labels.len() <= self.chain.n_positions(), "a span beyond the sequence");
        let Some(&first) = labels.first() else {
            return 1.0;
        };
        let mut p = self.unary()[at * k + first as usize].to_f64();
        for (i, pair) in labels.windows(2).enumerate() {
            if p == 0.0 {
                break;
            }
            self.next(at + i, pair[0] as usize);
            p *= self.row[pair[1] as usize];
        }
        p
    }

    /// The probability that each position from `at` on has a label of its set, whatever the others have.
    ///
    /// # Panics
    /// If the sets reach beyond the sequence or are of another number of labels.
    pub fn span_in(&mut self, at: usize, sets: &LabelSets) -> f64 {
        let (n, k) = (self.chain.n_positions(), self.chain.n_labels());
        assert!(at + sets.n_rows() <= n, "a span beyond the sequence");
        assert_eq!(sets.n_labels(), k);
        if sets.n_rows() == 0 {
            return 1.0;
        }
        let mut mass = vec![0.0; k];
        for label in sets.labels(0) {
            mass[label] = self.unary()[at * k + label].to_f64();
        }
        let mut moved = vec![0.0; k];
        for i in 1..sets.n_rows() {
            moved.fill(0.0);
            for from in sets.labels(i - 1).filter(|&from| mass[from] > 0.0) {
                self.next(at + i - 1, from);
                for to in sets.labels(i) {
                    moved[to] += mass[from] * self.row[to];
                }
            }
            std::mem::swap(&mut mass, &mut moved);
        }
        mass.iter().sum()
    }

    /// The legal label sequence with the most labels expected to be right, left in `labels`, and that number.
    ///
    /// Where no transition is forbidden it takes each position's most probable label, else the best legal way through the marginals.
    pub fn decode(&mut self, labels: &mut Vec<u32>) -> f64 {
        let (n, k) = (self.chain.n_positions(), self.chain.n_labels());
        labels.clear();
        let grammar = self.chain.transitions().grammar();
        if grammar.has_free_transitions() {
            let rows = self.unary().chunks_exact(k.max(1));
            labels.extend(rows.map(|row| first_max(row.iter().copied()) as u32));
        } else {
            let transitions = crate::Transitions::<F>::new(grammar.clone());
            let marginals = self.unary();
            let mut chain = Chain::new(&transitions, marginals);
            if let Some(allowed) = self.chain.allowed() {
                chain = chain.with_allowed(allowed);
            }
            // There is a legal sequence: this very posterior sums over them.
            let _ = chain.viterbi(&mut Scratch::new(), labels);
        }
        (0..n).map(|t| self.unary()[t * k + labels[t] as usize].to_f64()).sum()
    }

    /// Draws a label sequence, left in `labels`: the first label from its marginals, each next one given the last.
    pub fn sample(&mut self, rng: &mut Rng, labels: &mut Vec<u32>) {
        let (n, k) = (self.chain.n_positions(), self.chain.n_labels());
        labels.clear();
        for t in 0..n {
            if t == 0 {
                self.row.clear();
                let first = &self.s.sums.unary[..k];
                self.row.extend(first.iter().map(|p| p.to_f64()));
            } else {
                self.next(t - 1, labels[t - 1] as usize);
            }
            labels.push(draw(&self.row, rng));
        }
    }

    /// `f(from, first, counts)`: shares of the expected numbers of transitions from a label to `first` and those that follow it. The same label may come again.
    pub(crate) fn each_transition(&mut self, f: impl FnMut(usize, usize, &[F])) {
        if self.in_logs {
            self.chain.log_expected_transitions(self.s, f);
        } else {
            self.chain.expected_transitions(&mut self.s.sums, f);
        }
    }

    /// `row[to] = p(y₍t+1₎ = to | yₜ = from)`.
    fn next(&mut self, t: usize, from: usize) {
        self.row.resize(self.chain.n_labels(), 0.0);
        if self.in_logs {
            return self.chain.log_onward(&self.s.log, t, from, &mut self.row);
        }
        self.chain.onward(&self.s.sums, t, from, &mut self.row);
        let sum: f64 = self.row.iter().sum();
        if sum > 0.0 {
            self.row.iter_mut().for_each(|p| *p /= sum);
        }
    }

    /// `f(from·K + to, p(yₜ₋₁ = from, yₜ = to))`
    fn each_pair(&mut self, t: usize, mut f: impl FnMut(usize, f64)) {
        let k = self.chain.n_labels();
        for from in 0..k {
            let p_from = self.unary()[(t - 1) * k + from].to_f64();
            if p_from > 0.0 {
                self.next(t - 1, from);
                for (to, &p) in self.row.iter().enumerate() {
                    f(from * k + to, p_from * p);
                }
            }
        }
    }
}

/// A label drawn from shares; never one whose share is 0.
fn draw(shares: &[f64], rng: &mut Rng) -> u32 {
    let mut left = rng.unit() * shares.iter().sum::<f64>();
    let mut last = 0;
    for (label, &share) in shares.iter().enumerate() {
        if share > 0.0 {
            last = label;
            if left < share {
                break;
            }
            left -= share;
        }
    }
    last as u32
}
