//! The black box: what a reduction asks of a binary learner, and what it shows it.
//!
//! A learner sees a [`BinaryTask`]: a view of the caller's inputs through a list of rows, a sign and a weight each. It
//! returns a scorer, and says through [`BinaryScorer::Inputs`] which collection both are for. That one associated
//! type is the whole of the typing: a model made of scorers of type `S` takes inputs of type [`InputOf`]`<S>`, so that
//! nothing has to be spelled out where it is used. *Rejected:* a type parameter `X` for the input, which cannot name
//! a view such as `Row<'a>` for every `'a`; and a scorer that is generic over collections, which leaves
//! `model.predict(x)` without an answer to "of which collection?".
//!
//! A scorer may outlive the task. A learner that remembers examples, such as nearest neighbour, keeps its own
//! reference to the collection and stores row numbers ([`BinaryTask::rows`]), so that it copies nothing either.

use crate::{Examples, Inputs};
use lineal_linalg::special;

/// The collection that scorers of type `S` are for.
pub type InputsOf<S> = <S as BinaryScorer>::Inputs;

/// One input of that collection.
pub type InputOf<'x, S> = <InputsOf<S> as Inputs>::X<'x>;

/// Learns to say yes or no. Tasks are learnt at once from several threads.
pub trait BinaryLearner: Sync {
    /// What it learns.
    type Scorer: BinaryScorer;
    /// How it fails; `std::convert::Infallible` if it never does.
    type Error: std::error::Error + Send + 'static;
    /// Learns one task, which has rows of both signs. Randomness, if any, must come from a seed and
    /// [`BinaryTask::number`], never from the thread, for results to be the same at any number of threads.
    fn fit(
        &self,
        task: &BinaryTask<'_, InputsOf<Self::Scorer>>,
    ) -> Result<Self::Scorer, Self::Error>;
}

/// Says yes (score ≥ 0) or no, and how firmly.
pub trait BinaryScorer: Send {
    /// The collection whose inputs it scores.
    type Inputs: Inputs + ?Sized;
    /// How firmly it says yes. Scores are compared across scorers by [`OneVsAll`](crate::OneVsAll), by summed scores
    /// and by loss-based decoding; votes, tournaments, Hamming decoding and greedy trees use only the sign. NaN is
    /// taken for 0.
    fn score(&self, x: <Self::Inputs as Inputs>::X<'_>) -> f64;
    /// The probability of yes, if it knows one. Where a probability is needed and there is none, the score is taken
    /// for log-odds.
    fn proba(&self, _x: <Self::Inputs as Inputs>::X<'_>) -> Option<f64> {
        None
    }
}

/// One yes-or-no question over some rows of the caller's inputs.
#[derive(Debug)]
pub struct BinaryTask<'a, I: ?Sized> {
    pub(crate) examples: &'a Examples<'a, I>,
    pub(crate) rows: &'a [u32],
    pub(crate) rule: Rule<'a>,
    pub(crate) number: usize,
}

/// Which rows are positive. Rows that take no part are not listed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule<'a> {
    /// This one.
    Class(u32),
    /// Those with + in the column of a code.
    Column { code: &'a crate::Code, column: usize },
    /// Those under the left child of a tree's node: leaves left of `split`.
    Left { rank: &'a [u32], split: u32 },
    /// Those with a weight above 0 here, a number a listed row; its size takes the place of the example's weight.
    Signed(&'a [f64]),
}

/// A row of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Example<X> {
    /// The input.
    pub x: X,
    /// +1 for yes, −1 for no.
    pub sign: f64,
    /// Its weight: 1 unless the examples have weights, or mistakes have costs.
    pub weight: f64,
}

impl<'a, I: Inputs + ?Sized> BinaryTask<'a, I> {
    /// Which of the reduction's problems this is, from 0.
    pub fn number(&self) -> usize {
        self.number
    }

    /// How many rows take part.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether none does. A learner is never given such a task.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// All inputs, those of other rows included.
    pub fn inputs(&self) -> &'a I {
        self.examples.inputs()
    }

    /// The numbers of the rows that take part, rising.
    pub fn rows(&self) -> &'a [u32] {
        self.rows
    }

    /// The input of the `i`-th row that takes part, `i` below [`len`](Self::len).
    pub fn x(&self, i: usize) -> I::X<'a> {
        self.inputs().get(self.rows[i] as usize)
    }

    /// +1 or −1 for the `i`-th row that takes part.
    pub fn sign(&self, i: usize) -> f64 {
        let y = self.examples.y()[self.rows[i] as usize];
        let positive = match self.rule {
            Rule::Class(class) => y == class,
            Rule::Column { code, column } => code.entry(y as usize, column) > 0,
            Rule::Left { rank, split } => rank[y as usize] < split,
            Rule::Signed(weights) => weights[i] > 0.0,
        };
        if positive { 1.0 } else { -1.0 }
    }

    /// The weight of the `i`-th row that takes part.
    pub fn weight(&self, i: usize) -> f64 {
        match self.rule {
            Rule::Signed(weights) => weights[i].abs(),
            _ => self.examples.weight(self.rows[i]),
        }
    }

    /// Input, sign and weight of each row, in the order of the data.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Example<I::X<'a>>> {
        (0..self.len()).map(|i| Example {
            x: self.x(i),
            sign: self.sign(i),
            weight: self.weight(i),
        })
    }
}

/// The score as the reductions use it.
pub(crate) fn score<S: BinaryScorer>(scorer: &S, x: InputOf<'_, S>) -> f64 {
    tame(scorer.score(x))
}

/// Never NaN, and finite, so that sums and differences of scores are numbers.
pub(crate) fn tame(score: f64) -> f64 {
    const BOUND: f64 = 1e100;
    if score.is_nan() { 0.0 } else { score.clamp(-BOUND, BOUND) }
}

/// P(yes).
pub(crate) fn proba<S: BinaryScorer>(scorer: &S, x: InputOf<'_, S>) -> f64 {
    match scorer.proba(x).filter(|p| !p.is_nan()) {
        Some(p) => p.clamp(0.0, 1.0),
        None => special::sigmoid(score(scorer, x)),
    }
}

/// ln P(yes) and ln P(no), finite.
pub(crate) fn log_probas<S: BinaryScorer>(scorer: &S, x: InputOf<'_, S>) -> [f64; 2] {
    match scorer.proba(x).filter(|p| !p.is_nan()) {
        Some(p) => {
            // A learner that claims certainty must not be able to veto all the others: e⁻³⁵ is below f64's resolution.
            let p = p.clamp(0.0, 1.0);
            [p.ln().max(-35.0), (1.0 - p).ln().max(-35.0)]
        }
        None => {
            let score = score(scorer, x);
            [-special::log1p_exp(-score), -special::log1p_exp(score)]
        }
    }
}
