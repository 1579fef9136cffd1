//! The mean loss, piece by piece: what several processes add up to the same bits as one.
//!
//! All rows, wherever they are, have numbers from 0, and so have the *shards* that they are cut into: shard s is the rows from s·size on, size of them, fewer in the last. A process that holds
//! the rows of some shards answers for these ([`Partial`]): the value and the gradient of its part of the mean loss, a product with its part of the Hessian, the Hessian's diagonal. Penalties are
//! outside ([`Distributed`]).
//!
//! Sums of rounded numbers depend on their order, so there is one order: a tree of fixed shape over the shards ([`middle`]). The sum of a *node* of the tree is a number that everybody
//! computes alike. Shards that are no node are several ([`nodes`]), and whoever has the nodes of all processes adds them up ([`combine`]).
//!
//! ```
//! use lineal_erm::partial::{Partial, Question, Whole, combine, nodes};
//! use lineal_linalg::{Dense, Matrix};
//! use lineal_loss::Squared;
//! use lineal_model::{Bias, Linear, space::Real};
//!
//! let whole = Whole { n_rows: 7, rows_per_shard: 2, total_weight: 7.0 };
//! let model = Linear::new(1, Real, Bias::Free);
//! let (x, y) = ([0.1f32, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7], [1.0, 3.0, 5.0, 2.0, 4.0, 1.0, 2.0]);
//! // What a process that holds some rows knows of the gradient at w.
//! let sums = |rows: std::ops::Range<usize>| {
//!     let part = Matrix::Dense(Dense::new(rows.len(), 1, x[rows.clone()].to_vec()).unwrap());
//!     let partial = Partial::new(model, Squared, &part, &y[rows.clone()], None, whole, rows.start)?;
//!     let sum = |node: std::ops::Range<usize>| {
//!         let mut grad = vec![0.0; 2];
//!         let value = partial.answer(node.clone(), Question::Gradient { w: &[1.0, 0.5] }, &mut grad)?;
//!         Ok((node, (value, grad)))
//!     };
//!     nodes(partial.shards(), whole.n_shards()).into_iter().map(sum).collect::<Result<Vec<_>, String>>()
//! };
//! let one = combine(whole.n_shards(), sums(0..7)?)?;
//! let two = combine(whole.n_shards(), [sums(0..6)?, sums(6..7)?].concat())?;
//! assert_eq!(one, two); // bit by bit
//! # Ok::<(), String>(())
//! ```

use crate::risk::parts;
use lineal_linalg::{DenseSink, Matrix, Row, Sink};
use lineal_loss::{Loss, SecondOrder};
use lineal_model::Model;
use lineal_model::space::OutputSpace;
use lineal_solver::{Averaging, Interrupt, Sgd, Stochastic, sgd};
use std::borrow::Cow;
use std::ops::{ControlFlow, Range};

pub use crate::distributed::{Ask, BiasBound, Distributed, Growth};

/// What every process knows of all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Whole {
    /// How many rows there are.
    pub n_rows: usize,
    /// How many make a shard. It decides the last bits of every sum.
    pub rows_per_shard: usize,
    /// Σ weights; the number of rows where each counts 1.
    pub total_weight: f64,
}

impl Whole {
    /// How many shards there are.
    pub fn n_shards(&self) -> usize {
        self.n_rows.div_ceil(self.rows_per_shard.max(1))
    }

    /// The rows of a shard.
    pub fn rows(&self, shard: usize) -> Range<usize> {
        let size = self.rows_per_shard.max(1);
        let start = shard.saturating_mul(size).min(self.n_rows);
        start..start.saturating_add(size).min(self.n_rows)
    }
}

/// Where the sum over some shards is cut in two: at the number among them, but for the first, that is divisible by the highest power of two. `None` for a single shard.
pub fn middle(shards: &Range<usize>) -> Option<usize> {
    let last = shards.end.checked_sub(1).filter(|last| *last > shards.start)?;
    // The highest bit in which `start` and the last differ is set in the last alone: with lower bits cleared it is the middle.
    let bit = usize::BITS - 1 - (shards.start ^ last).leading_zeros();
    Some(last >> bit << bit)
}

/// The nodes of the tree over `n` shards that some neighbouring shards are made of, as few as possible, in order.
pub fn nodes(shards: Range<usize>, n: usize) -> Vec<Range<usize>> {
    fn add(node: Range<usize>, shards: &Range<usize>, found: &mut Vec<Range<usize>>) {
        if node.end <= shards.start || shards.end <= node.start {
        } else if shards.start <= node.start && node.end <= shards.end {
            found.push(node);
        } else if let Some(middle) = middle(&node) {
            add(node.start..middle, shards, found);
            add(middle..node.end, shards, found);
        }
    }
    let mut found = Vec::new();
    if n > 0 {
        add(0..n, &shards, &mut found);
    }
    found
}

/// A value with its vector: of a node, or of all shards.
pub type Sum = (f64, Vec<f64>);

/// The sum over all `n` shards from those of nodes that cover them, in any order.
pub fn combine(n: usize, mut sums: Vec<(Range<usize>, Sum)>) -> Result<Sum, String> {
    fn take(node: Range<usize>, sums: &mut Vec<(Range<usize>, Sum)>) -> Result<Sum, String> {
        if let Some(at) = sums.iter().position(|(range, _)| *range == node) {
            return Ok(sums.swap_remove(at).1);
        }
        let Some(middle) = middle(&node) else {
            return Err(format!("the sum of shard {} is missing", node.start));
        };
        let mut left = take(node.start..middle, sums)?;
        let right = take(middle..node.end, sums)?;
        add(&mut left, &right)?;
        Ok(left)
    }
    if n == 0 {
        return Err("there are no shards".into());
    }
    let sum = take(0..n, &mut sums)?;
    match sums.first() {
        Some((range, _)) => Err(format!("shards {range:?} come twice, or are no node")),
        None => Ok(sum),
    }
}

/// Adds the sum of a node's second half to that of its first.
pub fn add(left: &mut Sum, right: &Sum) -> Result<(), String> {
    if left.1.len() != right.1.len() {
        return Err(format!("sums of {} and of {} numbers", left.1.len(), right.1.len()));
    }
    left.0 += right.0;
    left.1.iter_mut().zip(&right.1).for_each(|(l, r)| *l += r);
    Ok(())
}

/// What is asked about the mean loss. A question says everything, so that a process that was just started can answer it.
#[derive(Clone, Copy, Debug)]
pub enum Question<'w> {
    /// The value at `w` and its (sub)gradient.
    Gradient {
        /// The weights.
        w: &'w [f64],
    },
    /// The Hessian at `w`, times `v`. The value is 0.
    Product {
        /// The weights.
        w: &'w [f64],
        /// What the Hessian is multiplied by.
        v: &'w [f64],
    },
    /// The diagonal of the Hessian at `w`. The value is 0; of structures it is the loss.
    Diagonal {
        /// The weights.
        w: &'w [f64],
    },
    /// One pass of stochastic steps from `w` over the rows of each shard. The vector is the mean of its iterates times the share of its rows among all, so that the sum over all shards is a mean of
    /// weights, from which the next round starts. The value is the loss on the way, before each step.
    Steps {
        /// The weights.
        w: &'w [f64],
        /// How the steps go.
        how: Round,
    },
}

/// How one round of stochastic steps goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// The factor of ½‖w‖².
    pub l2: f64,
    /// What the second derivative of the loss is at most, along the scores: steps are so short that they are safe for rows of usual length. Structures have a rate of their own.
    pub curvature: f64,
    /// Rounds before this one: steps become shorter.
    pub round: usize,
}

impl Question<'_> {
    /// Whether second derivatives are asked for.
    pub fn is_curved(&self) -> bool {
        matches!(self, Question::Product { .. } | Question::Diagonal { .. })
    }

    fn fits(&self, dim: usize) -> bool {
        match self {
            Question::Gradient { w } | Question::Diagonal { w } | Question::Steps { w, .. } => {
                w.len() == dim
            }
            Question::Product { w, v } => w.len() == dim && v.len() == dim,
        }
    }
}

/// What some loss and model answer about a row: adds to the vector and returns the value.
type PerRow<'a> = dyn Fn(Range<usize>, Question<'_>, &mut [f64]) -> f64 + Sync + 'a;

/// Some neighbouring rows of many, and what they add to the mean loss.
pub struct Partial<'a> {
    per_row: Box<PerRow<'a>>,
    curved: bool,
    dim: usize,
    shards: Range<usize>,
    first_row: usize,
    whole: Whole,
}

impl<'a> Partial<'a> {
    /// The rows from number `first_row` on, which must begin and end where shards do. Of a loss that has no second derivatives, gradients only.
    pub fn new<M, L, Y>(
        model: M,
        loss: L,
        x: &'a Matrix,
        y: impl Into<Cow<'a, [Y]>>,
        weights: Option<&'a [f32]>,
        whole: Whole,
        first_row: usize,
    ) -> Result<Self, String>
    where
        M: for<'x> Model<f64, Input<'x> = Row<'x>> + 'a,
        M::Space: OutputSpace<f64, Output = Y>,
        L: Loss<f64, M::Space> + Sync + 'a,
        Y: Copy + Sync + 'a,
    {
        let (y, dim) = (y.into(), model.dim());
        let share = shares(x, y.len(), weights, whole)?;
        let per_row =
            move |rows: Range<usize>, question: Question<'_>, out: &mut [f64]| match question {
                Question::Gradient { w } => {
                    gradient(&model, &loss, (x, &*y, share.as_slice()), rows, w, out)
                }
                Question::Steps { w, how } => {
                    steps(&model, &loss, (x, &*y, share.as_slice()), rows, w, how, out)
                }
                _ => f64::NAN,
            };
        Self::of(Box::new(per_row), false, dim, x.n_rows(), whole, first_row)
    }

    /// The same of a loss with second derivatives.
    pub fn curved<M, L, Y>(
        model: M,
        loss: L,
        x: &'a Matrix,
        y: impl Into<Cow<'a, [Y]>>,
        weights: Option<&'a [f32]>,
        whole: Whole,
        first_row: usize,
    ) -> Result<Self, String>
    where
        M: for<'x> Model<f64, Input<'x> = Row<'x>> + 'a,
        M::Space: OutputSpace<f64, Output = Y>,
        L: SecondOrder<f64, M::Space> + Sync + 'a,
        Y: Copy + Sync + 'a,
    {
        let (y, dim) = (y.into(), model.dim());
        let share = shares(x, y.len(), weights, whole)?;
        let per_row = move |rows: Range<usize>, question: Question<'_>, out: &mut [f64]| {
            let data = (x, &*y, share.as_slice());
            match question {
                Question::Gradient { w } => gradient(&model, &loss, data, rows, w, out),
                Question::Product { w, v } => product(&model, &loss, data, rows, w, v, out),
                Question::Diagonal { w } => diagonal(&model, &loss, data, rows, w, out),
                Question::Steps { w, how } => steps(&model, &loss, data, rows, w, how, out),
            }
        };
        Self::of(Box::new(per_row), true, dim, x.n_rows(), whole, first_row)
    }

    fn of(
        per_row: Box<PerRow<'a>>,
        curved: bool,
        dim: usize,
        n_rows: usize,
        whole: Whole,
        first_row: usize,
    ) -> Result<Self, String> {
        let (size, end) = (whole.rows_per_shard, first_row.saturating_add(n_rows));
        if size == 0 || end > whole.n_rows {
            return Err(format!(
                "rows {first_row} to {end} of {}, in shards of {size}",
                whole.n_rows
            ));
        }
        if !first_row.is_multiple_of(size) || (!end.is_multiple_of(size) && end != whole.n_rows) {
            return Err(format!(
                "rows {first_row} to {end} do not begin and end where shards of {size} rows do"
            ));
        }
        let shards = first_row / size..end.div_ceil(size);
        Ok(Self { per_row, curved, dim, shards, first_row, whole })
    }

    /// The shards whose rows these are.
    pub fn shards(&self) -> Range<usize> {
        self.shards.clone()
    }

    /// Number of weights.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The sum over some of these shards, by the tree: the value is returned, the vector overwrites `out`. Runs in the current thread pool; an [`Interrupt`] ends it with an error.
    pub fn answer(
        &self,
        shards: Range<usize>,
        question: Question<'_>,
        out: &mut [f64],
    ) -> Result<f64, String> {
        if shards.is_empty() || shards.start < self.shards.start || shards.end > self.shards.end {
            return Err(format!("shards {shards:?} are asked for, and {:?} are here", self.shards));
        }
        if !question.fits(self.dim) || out.len() != self.dim {
            return Err(format!("there are {} weights; all vectors have as many", self.dim));
        }
        if question.is_curved() && !self.curved {
            return Err("this loss has no second derivatives: take a solver of gradients".into());
        }
        let interrupt = Interrupt::current();
        out.fill(0.0);
        let value = self.sum(shards, question, out, &interrupt);
        if interrupt.is_stopped() { Err("the sum was interrupted".into()) } else { Ok(value) }
    }

    fn sum(
        &self,
        shards: Range<usize>,
        question: Question<'_>,
        out: &mut [f64],
        interrupt: &Interrupt,
    ) -> f64 {
        let Some(middle) = middle(&shards) else {
            let rows = self.whole.rows(shards.start);
            let rows = rows.start - self.first_row..rows.end - self.first_row;
            let mut value = 0.0;
            // Some rows at a time, to be interrupted between. One sum goes through all of them. Steps follow each other, and look at the interrupt themselves.
            let at_once = match question {
                Question::Steps { .. } => rows.len().max(1),
                _ => AT_ONCE,
            };
            for start in rows.clone().step_by(at_once) {
                if interrupt.is_stopped() {
                    break;
                }
                value += (self.per_row)(start..rows.end.min(start + at_once), question, out);
            }
            return value;
        };
        let mut right = vec![0.0; self.dim];
        let (left_value, right_value) = rayon::join(
            || self.sum(shards.start..middle, question, out, interrupt),
            || self.sum(middle..shards.end, question, &mut right, interrupt),
        );
        out.iter_mut().zip(&right).for_each(|(out, right)| *out += right);
        left_value + right_value
    }
}

/// Rows between two looks at the interrupt.
const AT_ONCE: usize = 256;

/// The share of each row among all.
fn shares(
    x: &Matrix,
    n_outputs: usize,
    weights: Option<&[f32]>,
    whole: Whole,
) -> Result<Vec<f64>, String> {
    let n = x.n_rows();
    if n_outputs != n || weights.is_some_and(|w| w.len() != n) {
        return Err(format!(
            "{n} rows, {n_outputs} outputs and {:?} weights",
            weights.map(<[_]>::len)
        ));
    }
    if !(whole.total_weight.is_finite() && whole.total_weight > 0.0) {
        return Err(format!(
            "total_weight is {}; it is the sum of all weights",
            whole.total_weight
        ));
    }
    let weight = |i: usize| weights.map_or(1.0, |w| f64::from(w[i]));
    Ok((0..n).map(|i| weight(i) / whole.total_weight).collect())
}

/// Some rows as examples that are drawn one by one, each scaled so that the rows are all there is.
struct Drawn<'d, M, L, Y> {
    model: &'d M,
    loss: &'d L,
    data: Data<'d, Y>,
    rows: Range<usize>,
    /// The number of rows over the sum of their shares.
    scale: f64,
}

impl<M, L, Y: Copy> Stochastic<f64> for Drawn<'_, M, L, Y>
where
    M: for<'x> Model<f64, Input<'x> = Row<'x>>,
    M::Space: OutputSpace<f64, Output = Y>,
    L: Loss<f64, M::Space>,
{
    type Scratch = Vec<f64>;

    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn n_examples(&self) -> usize {
        self.rows.len()
    }

    fn n_penalised(&self) -> usize {
        self.model.n_penalised()
    }

    fn max_parts(&self) -> usize {
        self.model.max_parts()
    }

    fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.model.max_parts()]
    }

    fn slope(
        &self,
        i: usize,
        v: &[f64],
        scale: f64,
        s: &mut Vec<f64>,
        g: &mut [f64],
    ) -> (f64, usize) {
        let (x, y, share) = self.data;
        let i = self.rows.start + i;
        let space = self.model.space(x.row(i));
        let n = parts(space);
        let (scores, g) = (&mut s[..n], &mut g[..n]);
        self.model.scores(x.row(i), v, scores);
        scores.iter_mut().for_each(|s| *s *= scale);
        let weight = share[i] * self.scale;
        let value = weight * self.loss.value_grad(space, scores, y[i], g);
        g.iter_mut().for_each(|g| *g *= weight);
        (value, n)
    }

    fn spread(&self, i: usize, g: &[f64], sink: &mut impl Sink<f64>) {
        self.model.accumulate(self.data.0.row(self.rows.start + i), g, sink);
    }
}

/// One pass of stochastic steps from `w`: adds the mean of the iterates, times the share of these rows.
fn steps<M, L, Y: Copy>(
    model: &M,
    loss: &L,
    data: Data<'_, Y>,
    rows: Range<usize>,
    w: &[f64],
    how: Round,
    out: &mut [f64],
) -> f64
where
    M: for<'x> Model<f64, Input<'x> = Row<'x>>,
    M::Space: OutputSpace<f64, Output = Y>,
    L: Loss<f64, M::Space>,
{
    let (x, _, share) = data;
    let total: f64 = share[rows.clone()].iter().sum();
    let mut own = w.to_vec();
    let mut value = 0.0;
    if total > 0.0 {
        let square = |i: usize| model.isotropy(x.row(i)).unwrap_or_else(|| x.row(i).norm_sq());
        let mean_sq = rows.clone().map(|i| share[i] / total * square(i)).sum::<f64>();
        let bias = f64::from(u8::from(model.n_penalised() < model.dim()));
        let safe = 1.0 / (how.curvature * (mean_sq + bias)).max(1e-12);
        let config = Sgd {
            epochs: 1,
            rate: safe / (1.0 + how.round as f64),
            l2: how.l2,
            average: Averaging::Rising,
            seed: how.round as u64,
            ..Sgd::default()
        };
        let scale = rows.len() as f64 / total;
        let drawn = Drawn { model, loss, data, rows, scale };
        match sgd(&config, &drawn, &mut own, &mut |_| ControlFlow::Continue(())) {
            Ok(end) if own.iter().all(|w| w.is_finite()) => value = total * end.value,
            // Steps that went astray are worse than none; who asked sees that the loss is not a number.
            _ => {
                own.copy_from_slice(w);
                value = f64::NAN;
            }
        }
    }
    out.iter_mut().zip(&own).for_each(|(out, own)| *out += total * own);
    value
}

/// Rows, outputs and shares.
type Data<'d, Y> = (&'d Matrix, &'d [Y], &'d [f64]);

fn gradient<M, L, Y: Copy>(
    model: &M,
    loss: &L,
    (x, y, share): Data<'_, Y>,
    rows: Range<usize>,
    w: &[f64],
    grad: &mut [f64],
) -> f64
where
    M: for<'x> Model<f64, Input<'x> = Row<'x>>,
    M::Space: OutputSpace<f64, Output = Y>,
    L: Loss<f64, M::Space>,
{
    let mut sink = DenseSink(grad);
    let mut scores = vec![0.0; model.max_parts()];
    let mut slope = scores.clone();
    let mut value = 0.0;
    for i in rows {
        let space = model.space(x.row(i));
        let n = parts(space);
        model.scores(x.row(i), w, &mut scores[..n]);
        value += share[i] * loss.value_grad(space, &mut scores[..n], y[i], &mut slope[..n]);
        slope[..n].iter_mut().for_each(|g| *g *= share[i]);
        model.accumulate(x.row(i), &slope[..n], &mut sink);
    }
    value
}

fn product<M, L, Y: Copy>(
    model: &M,
    loss: &L,
    (x, y, share): Data<'_, Y>,
    rows: Range<usize>,
    w: &[f64],
    v: &[f64],
    out: &mut [f64],
) -> f64
where
    M: for<'x> Model<f64, Input<'x> = Row<'x>>,
    M::Space: OutputSpace<f64, Output = Y>,
    L: SecondOrder<f64, M::Space>,
{
    let mut sink = DenseSink(out);
    let width = model.max_parts();
    let [mut scores, mut state, mut along, mut slope] = [(); 4].map(|()| vec![0.0; width]);
    for i in rows {
        let space = model.space(x.row(i));
        let n = parts(space);
        model.scores(x.row(i), w, &mut scores[..n]);
        loss.curve(space, &mut scores[..n], y[i], &mut state[..n]);
        model.scores(x.row(i), v, &mut along[..n]);
        loss.hess_vec(space, y[i], &state[..n], &along[..n], &mut slope[..n]);
        slope[..n].iter_mut().for_each(|g| *g *= share[i]);
        model.accumulate(x.row(i), &slope[..n], &mut sink);
    }
    0.0
}

fn diagonal<M, L, Y: Copy>(
    model: &M,
    loss: &L,
    (x, y, share): Data<'_, Y>,
    rows: Range<usize>,
    w: &[f64],
    out: &mut [f64],
) -> f64
where
    M: for<'x> Model<f64, Input<'x> = Row<'x>>,
    M::Space: OutputSpace<f64, Output = Y>,
    L: SecondOrder<f64, M::Space>,
{
    let width = model.max_parts();
    let [mut scores, mut state, mut diag] = [(); 3].map(|()| vec![0.0; width]);
    for i in rows {
        let space = model.space(x.row(i));
        let n = parts(space);
        model.scores(x.row(i), w, &mut scores[..n]);
        loss.curve(space, &mut scores[..n], y[i], &mut state[..n]);
        loss.hess_diag(space, y[i], &state[..n], &mut diag[..n]);
        diag[..n].iter_mut().for_each(|g| *g *= share[i]);
        model.accumulate_squares(x.row(i), &diag[..n], out);
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_cover_what_they_are_asked_for() {
        assert_eq!((middle(&(0..1)), middle(&(0..2)), middle(&(0..7))), (None, Some(1), Some(4)));
        assert_eq!(
            (middle(&(4..7)), middle(&(5..7)), middle(&(3..5))),
            (Some(6), Some(6), Some(4))
        );
        for n in 1..40 {
            for start in 0..n {
                for end in start + 1..=n {
                    let nodes = nodes(start..end, n);
                    assert_eq!(nodes.first().map(|node| node.start), Some(start));
                    assert_eq!(nodes.last().map(|node| node.end), Some(end));
                    assert!(nodes.windows(2).all(|pair| pair[0].end == pair[1].start));
                    assert!(nodes.len() <= 2 * n.ilog2() as usize + 1, "{start}..{end} of {n}");
                }
            }
            assert_eq!(super::nodes(0..n, n), std::slice::from_ref(&(0..n)));
        }
    }

    #[test]
    fn what_is_missing_or_too_much_is_told() {
        let sum = |shards: Range<usize>| (shards, (1.0, vec![1.0]));
        assert_eq!(combine(3, vec![sum(2..3), sum(0..2)]), Ok((2.0, vec![2.0])));
        assert!(combine(3, vec![sum(0..2)]).unwrap_err().contains("shard 2 is missing"));
        assert!(combine(2, vec![sum(0..2), sum(0..1)]).unwrap_err().contains("twice"));
        let odd = (1..2, (1.0, vec![1.0, 2.0]));
        assert!(combine(2, vec![sum(0..1), odd]).unwrap_err().contains("1 and of 2"));
    }
}
