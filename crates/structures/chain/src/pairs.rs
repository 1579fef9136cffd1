//! Order 2: scores of three labels in a row, as a chain of order 1 over pairs of labels.
//!
//! A state is (y before, y): K states (none, y) for the first position, then one for each transition that the grammar permits, those with the same
//! label before side by side. Only (·, p) → (p, y) is legal, a run of states, so that a step costs the number of legal triples and not of pairs
//! of states. What depends on two labels or on one (transitions, per-position scores, unary scores, costs) becomes unary scores of states.

use crate::sets::LabelSets;
use crate::{Grammar, Posterior, Transitions};
use lineal_linalg::Scalar;

/// The map between labels and pairs of labels.
///
/// ```
/// use lineal_chain::{Chain, Grammar, PairChain, Scratch};
/// let pairs = PairChain::new(&Grammar::free(2));
/// let mut transitions = pairs.transitions();
/// // 0 1 0 is worth 5 more than its parts.
/// let mut second = [0.0f64; 8];
/// second[2] = 5.0;
/// pairs.load(&second, &[0.0; 2], &[0.0; 2], &mut transitions);
/// let mut unary = Vec::new();
/// pairs.unary(&[0.0, 1.0, 1.0, 0.0, 0.0, 1.0], &[0.0; 4], None, &mut unary);
/// let (mut states, mut labels) = (Vec::new(), Vec::new());
/// let best = Chain::new(&transitions, &unary).viterbi(&mut Scratch::new(), &mut states)?;
/// pairs.labels(&states, &mut labels);
/// assert_eq!((best, &labels[..]), (5.0, &[0, 1, 0][..]));
/// # Ok::<(), lineal_chain::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PairChain {
    n_labels: usize,
    /// The label before of each state but the first K.
    before: Vec<u32>,
    label: Vec<u32>,
    /// `[before·K + label]` → state, `NONE` if it is not legal.
    state: Vec<u32>,
    grammar: Grammar,
}

const NONE: u32 = u32::MAX;

impl PairChain {
    /// The pairs that a grammar of labels permits. Forbid what the training data never has to make it fast.
    pub fn new(labels: &Grammar) -> Self {
        let k = labels.n_labels();
        let mut before = vec![NONE; k];
        let mut label: Vec<u32> = (0..k as u32).collect();
        let mut state = vec![NONE; k * k];
        for from in 0..k {
            for to in labels.next().labels(from) {
                state[from * k + to] = label.len() as u32;
                before.push(from as u32);
                label.push(to as u32);
            }
        }
        let n_states = label.len();
        let mut next = LabelSets::empty(n_states, n_states);
        let mut start = LabelSets::empty(1, n_states);
        let mut end = LabelSets::empty(1, n_states);
        for s in 0..n_states {
            let from = label[s] as usize;
            for to in labels.next().labels(from) {
                next.insert(s, state[from * k + to] as usize);
            }
            if before[s] == NONE && labels.permits_start(from) {
                start.insert(0, s);
            }
            if labels.permits_end(from) {
                end.insert(0, s);
            }
        }
        Self { n_labels: k, before, label, state, grammar: Grammar::from_sets(next, start, end) }
    }

    /// How many states there are.
    pub fn n_states(&self) -> usize {
        self.label.len()
    }

    /// How many labels there are.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// Transitions between states, all scores 0.
    pub fn transitions<F: Scalar>(&self) -> Transitions<F> {
        Transitions::sparse(self.grammar.clone())
    }

    /// Takes scores of three labels in a row, `second[first·K² + second·K + third]`, and of the first and the last label.
    ///
    /// # Panics
    /// If they are not of K³, K and K scores, or the transitions are not those of this map.
    pub fn load<F: Scalar>(
        &self,
        second: &[F],
        start: &[F],
        end: &[F],
        transitions: &mut Transitions<F>,
    ) {
        let k = self.n_labels;
        assert_eq!((second.len(), start.len(), end.len()), (k * k * k, k, k));
        assert_eq!(transitions.n_labels(), self.n_states());
        transitions.load_with(
            |from, to| match self.before[from] {
                NONE => F::ZERO,
                first => {
                    second[(first as usize * k + self.label[from] as usize) * k
                        + self.label[to] as usize]
                }
            },
            |s| start[self.label[s] as usize],
            |s| end[self.label[s] as usize],
        );
    }

    /// Scores of states from those of labels (n × K, with costs if they are wanted), of transitions (K²) and of transitions into each
    /// position ((n − 1) × K²), left in `out`: n × states.
    ///
    /// # Panics
    /// If the shapes are others.
    pub fn unary<F: Scalar>(
        &self,
        unary: &[F],
        transition: &[F],
        per_position: Option<&[F]>,
        out: &mut Vec<F>,
    ) {
        let k = self.n_labels;
        let n = unary.len().checked_div(k).unwrap_or(0);
        assert_eq!((n * k, transition.len()), (unary.len(), k * k));
        assert!(per_position.is_none_or(|p| p.len() == n.saturating_sub(1) * k * k));
        out.clear();
        for t in 0..n {
            let unary = &unary[t * k..(t + 1) * k];
            let own = per_position.filter(|_| t > 0).map(|p| &p[(t - 1) * k * k..t * k * k]);
            out.extend_from_slice(unary);
            for (&before, &label) in self.before.iter().zip(&self.label).skip(k) {
                let pair = before as usize * k + label as usize;
                let own = own.map_or(F::ZERO, |own| own[pair]);
                out.push(unary[label as usize] + (transition[pair] + own));
            }
        }
    }

    /// The states allowed where these labels are.
    pub fn allowed(&self, labels: &LabelSets) -> LabelSets {
        let mut states = LabelSets::empty(labels.n_rows(), self.n_states());
        for t in 0..labels.n_rows() {
            for (s, &label) in self.label.iter().enumerate() {
                if labels.contains(t, label as usize) {
                    states.insert(t, s);
                }
            }
        }
        states
    }

    /// The states of a label sequence, left in `states`; the first position (from 0) whose transition has no state if it is not legal.
    ///
    /// # Panics
    /// If a label is not below K.
    pub fn states(&self, labels: &[u32], states: &mut Vec<u32>) -> Result<(), usize> {
        states.clear();
        for (t, &label) in labels.iter().enumerate() {
            let state = match t {
                0 => label,
                _ => self.state[labels[t - 1] as usize * self.n_labels + label as usize],
            };
            if state == NONE {
                return Err(t);
            }
            states.push(state);
        }
        Ok(())
    }

    /// The labels of a state sequence, left in `labels`.
    ///
    /// # Panics
    /// If there is no such state.
    pub fn labels(&self, states: &[u32], labels: &mut Vec<u32>) {
        labels.clear();
        labels.extend(states.iter().map(|&s| self.label[s as usize]));
    }

    /// Marginals of labels from those of states, left in `out`: n × K.
    pub fn unary_marginals<F: Scalar>(&self, posterior: &Posterior<'_, F>, out: &mut Vec<F>) {
        let (k, n_states) = (self.n_labels, self.n_states());
        out.clear();
        for row in posterior.unary().chunks_exact(n_states.max(1)) {
            let at = out.len();
            out.resize(at + k, F::ZERO);
            for (&p, &label) in row.iter().zip(&self.label) {
                out[at + label as usize] += p;
            }
        }
    }

    /// Adds the expected number of each transition between labels to `counts`, K².
    ///
    /// # Panics
    /// If `counts` is not of K².
    pub fn add_transitions<F: Scalar>(&self, posterior: &Posterior<'_, F>, counts: &mut [F]) {
        let (k, n_states) = (self.n_labels, self.n_states());
        assert_eq!(counts.len(), k * k);
        for row in posterior.unary().chunks_exact(n_states.max(1)) {
            for s in k..n_states {
                counts[self.before[s] as usize * k + self.label[s] as usize] += row[s];
            }
        }
    }

    /// `[(t−1)·K² + from·K + to] = p(yₜ₋₁ = from, yₜ = to)` for each position but the first.
    ///
    /// # Panics
    /// If `pairs` is not of (n − 1)·K².
    pub fn pairwise<F: Scalar>(&self, posterior: &Posterior<'_, F>, pairs: &mut [F]) {
        let (k, n_states) = (self.n_labels, self.n_states());
        let rows = posterior.unary().chunks_exact(n_states.max(1)).skip(1);
        assert_eq!(pairs.len(), rows.len() * k * k);
        pairs.fill(F::ZERO);
        for (row, pairs) in rows.zip(pairs.chunks_exact_mut((k * k).max(1))) {
            for s in k..n_states {
                pairs[self.before[s] as usize * k + self.label[s] as usize] = row[s];
            }
        }
    }

    /// Adds the expected number of each three labels in a row to `counts`, K³.
    ///
    /// # Panics
    /// If `counts` is not of K³.
    pub fn add_triples<F: Scalar>(&self, posterior: &mut Posterior<'_, F>, counts: &mut [F]) {
        let k = self.n_labels;
        assert_eq!(counts.len(), k * k * k);
        posterior.each_transition(|from, first, run| {
            if self.before[from] == NONE {
                return;
            }
            let at = (self.before[from] as usize * k + self.label[from] as usize) * k;
            for (to, &count) in run.iter().enumerate() {
                counts[at + self.label[first + to] as usize] += count;
            }
        });
    }
}
