//! The scores that all positions share: transitions, start and end, with what the grammar forbids taken out.

use crate::Grammar;
use crate::steps::{self, LANES};
use lineal_linalg::{Scalar, special};

/// Scores of the transitions between labels, of the first and of the last label, laid out for the oracles.
///
/// What the [`Grammar`] forbids has the score −∞. Load it again whenever the weights change; where many sequences are
/// summed over at the same weights, [`prepare_sums`](Transitions::prepare_sums) spares each of them K² exponentials.
///
/// Entries are row-major, a row for each label that comes *before*: padded rows of all labels, or, for label pairs
/// (see [`PairChain`](crate::PairChain)), for each row only the run from its first to its last legal label.
#[derive(Clone, Debug)]
pub struct Transitions<F> {
    n_labels: usize,
    /// `n_labels` padded: the length of vectors over labels.
    stride: usize,
    grammar: Grammar,
    free: bool,
    runs: Runs,
    /// Entries by `runs`.
    scores: Vec<F>,
    /// Padded with −∞.
    start: Vec<F>,
    end: Vec<F>,
    sums: Sums<F>,
    /// Whether `sums` belong to `scores`.
    summed: bool,
}

/// Where the entries of each row lie.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    rows: Vec<Run>,
    n_entries: usize,
    /// Rows of all labels, one after the other.
    pub(crate) dense: bool,
}

/// The entries `at..at + len` are of the columns `first..first + len`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub(crate) at: usize,
    pub(crate) first: usize,
    pub(crate) len: usize,
}

/// exp(score − the column's largest score), and what was taken out.
#[derive(Clone, Debug)]
pub(crate) struct Sums<F> {
    /// As the scores.
    pub(crate) exp: Vec<F>,
    /// Transposed, for dense rows only.
    pub(crate) exp_t: Vec<F>,
    /// The largest score of each column, 0 where the column has none; padded with −∞.
    pub(crate) shift: Vec<F>,
    /// The largest score of a column less its smallest, over all columns: e^−spread is the smallest entry.
    pub(crate) spread: F,
}

impl<F> Default for Sums<F>
where
    F: Scalar,
{
    fn default() -> Self {
        Self { exp: Vec::new(), exp_t: Vec::new(), shift: Vec::new(), spread: F::ZERO }
    }
}

impl Runs {
    fn dense(n_labels: usize, stride: usize) -> Self {
        let rows = (0..n_labels).map(|r| Run { at: r * stride, first: 0, len: n_labels }).collect();
        Self { rows, n_entries: n_labels * stride, dense: true }
    }

    fn sparse(grammar: &Grammar) -> Self {
        let mut rows = Vec::with_capacity(grammar.n_labels());
        let mut n_entries = 0;
        for from in 0..grammar.n_labels() {
            let next = grammar.next().labels(from);
            let (first, end) = next.fold((usize::MAX, 0), |(first, _), l| (first.min(l), l + 1));
            let len = end.saturating_sub(first);
            rows.push(Run { at: n_entries, first: if len > 0 { first } else { 0 }, len });
            n_entries += len;
        }
        Self { rows, n_entries, dense: false }
    }

    #[inline]
    pub(crate) fn row(&self, from: usize) -> Run {
        self.rows[from]
    }

    /// The number of entries, padding included.
    pub(crate) fn n_entries(&self) -> usize {
        self.n_entries
    }

    /// `f(from, run)` for each row.
    #[inline]
    pub(crate) fn each(&self, mut f: impl FnMut(usize, Run)) {
        for (from, &run) in self.rows.iter().enumerate() {
            f(from, run);
        }
    }

    /// The place of an entry, if it is stored.
    #[inline]
    pub(crate) fn place(&self, from: usize, to: usize) -> Option<usize> {
        let run = self.rows[from];
        to.checked_sub(run.first).filter(|&c| c < run.len).map(|c| run.at + c)
    }
}

impl<F: Scalar> Sums<F> {
    /// Fills it from entries.
    pub(crate) fn fill(&mut self, runs: &Runs, stride: usize, scores: &[F]) {
        self.exp.resize(runs.n_entries(), F::ZERO);
        self.shift.resize(stride, F::ZERO);
        self.spread = exp_of(runs, scores, &mut self.shift, &mut self.exp);
        if runs.dense {
            let n_labels = self.exp.len() / stride;
            self.exp_t.resize(self.exp.len(), F::ZERO);
            for from in 0..n_labels {
                for to in 0..n_labels {
                    self.exp_t[to * stride + from] = self.exp[from * stride + to];
                }
            }
        }
    }

    /// `out[to] = Σ a[from] exp[from, to]`.
    pub(crate) fn forward(&self, runs: &Runs, a: &[F], out: &mut [F], narrow: &mut Vec<f32>) {
        if runs.dense {
            return steps::sum_step(a, &self.exp, out, narrow);
        }
        out.fill(F::ZERO);
        runs.each(|from, run| {
            let (a, row) = (a[from], &self.exp[run.at..run.at + run.len]);
            for (out, &w) in out[run.first..run.first + run.len].iter_mut().zip(row) {
                *out += a * w;
            }
        });
    }

    /// `out[from] = Σ exp[from, to] v[to]`.
    pub(crate) fn backward(&self, runs: &Runs, v: &[F], out: &mut [F], narrow: &mut Vec<f32>) {
        if runs.dense {
            steps::sum_step(v, &self.exp_t, out, narrow);
        } else {
            backward_rows(runs, &self.exp, v, out);
        }
    }
}

/// `exp = exp(score − shift)` with the columns' largest scores in `shift` (0 where all are −∞, padded with −∞). Returns the spread: the largest score of a column
/// less its smallest that is not −∞, over all columns.
pub(crate) fn exp_of<F: Scalar>(runs: &Runs, scores: &[F], shift: &mut [F], exp: &mut [F]) -> F {
    shift.fill(-F::INFINITY);
    let n_labels = runs.rows.len();
    let stride = shift.len();
    // Dense rows go with their padding of −∞: no tail.
    let width = |run: Run| if runs.dense { stride } else { run.len };
    runs.each(|_, run| {
        let row = &scores[run.at..run.at + width(run)];
        for (shift, &score) in shift[run.first..].iter_mut().zip(row) {
            *shift = steps::larger(score, *shift);
        }
    });
    for shift in &mut shift[..n_labels] {
        *shift = if *shift == -F::INFINITY { F::ZERO } else { *shift };
    }
    // −∞ less −∞ must not be.
    shift[n_labels..].fill(F::ZERO);
    let mut least = [F::ZERO; LANES];
    runs.each(|_, run| {
        let places = run.at..run.at + width(run);
        let (row, exp) = (&scores[places.clone()], &mut exp[places]);
        let shift = &shift[run.first..run.first + row.len()];
        for ((exp, row), shift) in
            exp.chunks_mut(LANES).zip(row.chunks(LANES)).zip(shift.chunks(LANES))
        {
            for (((exp, &score), &shift), least) in
                exp.iter_mut().zip(row).zip(shift).zip(&mut least)
            {
                *exp = score - shift;
                let counted = if *exp == -F::INFINITY { F::ZERO } else { *exp };
                *least = if counted < *least { counted } else { *least };
            }
        }
    });
    shift[n_labels..].fill(-F::INFINITY);
    let least = least.into_iter().fold(F::ZERO, |a, b| if a < b { a } else { b });
    special::exp_slice(exp);
    -least
}

/// `out[from] = Σ exp[from, to] v[to]`, a row at a time.
pub(crate) fn backward_rows<F: Scalar>(runs: &Runs, exp: &[F], v: &[F], out: &mut [F]) {
    out.fill(F::ZERO);
    runs.each(|from, run| {
        let row = &exp[run.at..run.at + run.len];
        let v = &v[run.first..run.first + run.len];
        let mut acc = [F::ZERO; 4];
        let (row4, v4) = (row.chunks_exact(4), v.chunks_exact(4));
        for (l, (&w, &v)) in row4.remainder().iter().zip(v4.remainder()).enumerate() {
            acc[l] += w * v;
        }
        for (w, v) in row4.zip(v4) {
            for l in 0..4 {
                acc[l] += w[l] * v[l];
            }
        }
        out[from] = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    });
}

impl<F: Scalar> Transitions<F> {
    /// All scores 0, with a grammar that holds for every sequence.
    pub fn new(grammar: Grammar) -> Self {
        let n_labels = grammar.n_labels();
        Self::with_runs(Runs::dense(n_labels, n_labels.next_multiple_of(LANES)), grammar)
    }

    /// The same for a grammar whose rows have few legal labels, close together.
    pub(crate) fn sparse(grammar: Grammar) -> Self {
        Self::with_runs(Runs::sparse(&grammar), grammar)
    }

    fn with_runs(runs: Runs, grammar: Grammar) -> Self {
        let n_labels = grammar.n_labels();
        let stride = n_labels.next_multiple_of(LANES);
        let free = grammar.is_free();
        let mut transitions = Self {
            n_labels,
            stride,
            grammar,
            free,
            scores: vec![-F::INFINITY; runs.n_entries()],
            runs,
            start: vec![-F::INFINITY; stride],
            end: vec![-F::INFINITY; stride],
            sums: Sums::default(),
            summed: false,
        };
        transitions.load_with(|_, _| F::ZERO, |_| F::ZERO, |_| F::ZERO);
        transitions
    }

    /// Takes new scores: `transition[from·K + to]`, `start[label]` and `end[label]`, all finite.
    ///
    /// # Panics
    /// If the slices are not of K², K and K scores.
    pub fn load(&mut self, transition: &[F], start: &[F], end: &[F]) {
        let k = self.n_labels;
        assert_eq!(transition.len(), k * k, "transition scores");
        assert_eq!((start.len(), end.len()), (k, k), "start and end scores");
        if self.free && self.runs.dense {
            for (row, from) in
                self.scores.chunks_exact_mut(self.stride).zip(transition.chunks_exact(k))
            {
                row[..k].copy_from_slice(from);
            }
            self.start[..k].copy_from_slice(start);
            self.end[..k].copy_from_slice(end);
            self.summed = false;
        } else {
            self.load_with(|from, to| transition[from * k + to], |l| start[l], |l| end[l]);
        }
    }

    /// Takes new scores from functions, which are asked for what the grammar permits only.
    pub(crate) fn load_with(
        &mut self,
        transition: impl Fn(usize, usize) -> F,
        start: impl Fn(usize) -> F,
        end: impl Fn(usize) -> F,
    ) {
        self.summed = false;
        for from in 0..self.n_labels {
            let run = self.runs.row(from);
            for (c, score) in self.scores[run.at..run.at + run.len].iter_mut().enumerate() {
                let to = run.first + c;
                *score = if self.grammar.permits(from, to) {
                    transition(from, to)
                } else {
                    -F::INFINITY
                };
            }
        }
        for label in 0..self.n_labels {
            if self.grammar.permits_start(label) {
                self.start[label] = start(label);
            }
            if self.grammar.permits_end(label) {
                self.end[label] = end(label);
            }
        }
    }

    /// Computes the exponentials that sums over sequences need, once for all that follow until the next [`load`](Self::load).
    pub fn prepare_sums(&mut self) {
        if !self.summed {
            self.sums.fill(&self.runs, self.stride, &self.scores);
            self.summed = true;
        }
    }

    /// How many labels there are.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// What is forbidden.
    pub fn grammar(&self) -> &Grammar {
        &self.grammar
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    pub(crate) fn is_free(&self) -> bool {
        self.free
    }

    pub(crate) fn runs(&self) -> &Runs {
        &self.runs
    }

    pub(crate) fn scores(&self) -> &[F] {
        &self.scores
    }

    pub(crate) fn start(&self) -> &[F] {
        &self.start
    }

    pub(crate) fn end(&self) -> &[F] {
        &self.end
    }

    pub(crate) fn prepared(&self) -> Option<&Sums<F>> {
        self.summed.then_some(&self.sums)
    }

    /// The score of a transition, −∞ if it is forbidden.
    #[inline]
    pub(crate) fn score(&self, from: usize, to: usize) -> F {
        self.runs.place(from, to).map_or(-F::INFINITY, |at| self.scores[at])
    }

    /// `out[to] = max a[from] + score[from, to]` over `entries` laid out as the scores.
    pub(crate) fn max_step(&self, entries: &[F], a: &[F], out: &mut [F]) {
        if self.runs.dense {
            return steps::max_step(a, entries, out);
        }
        out.fill(-F::INFINITY);
        self.runs.each(|from, run| {
            let (a, row) = (a[from], &entries[run.at..run.at + run.len]);
            for (out, &w) in out[run.first..run.first + run.len].iter_mut().zip(row) {
                *out = steps::larger(a + w, *out);
            }
        });
    }
}
