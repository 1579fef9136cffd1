//! The interface between structured outputs and the learners of their weights: one example at a time.
//!
//! An example has *parts* (labels at positions and transitions, arcs of a tree, pixels and borders); scores of parts are linear in the
//! weights, θ = Ψᵢ w, an output y is a 0/1 vector μ(y) of parts, and its score is ⟨θ, μ(y)⟩. A [`Structure`] knows the examples of one
//! problem, their features and their gold outputs; a [`MaxOracle`] finds the best output, a [`SumOracle`] sums over all. Which of the two a problem has decides
//! who can learn it: perceptron, passive–aggressive, subgradient and Frank–Wolfe need the maximum, the conditional random field needs the sum.
//!
//! Calls are generic once per example and never per feature: scores and gradients are slices, and `w` is one flat vector of [`dim`](Structure::dim) weights.
//! What all examples share at given weights (transitions, say) is prepared for the oracles by [`load`](Structure::load): once per pass in batch, once per step online.

use lineal_linalg::Scalar;
use std::ops::Range;

/// Examples with their features, gold outputs and shares in the mean loss.
pub trait Structure<F: Scalar>: Sync {
    /// A whole output: labels, heads, brackets, a cut, an order.
    type Output: Clone + Default + PartialEq + Send + Sync;
    /// A number for each part of one example: scores θ, amounts μ, or a gradient.
    type Parts: PartVector<F>;
    /// Working memory of one thread. It grows and never shrinks.
    type Scratch: Send;

    /// How many examples.
    fn n_examples(&self) -> usize;
    /// How many weights.
    fn dim(&self) -> usize;
    /// How many of the weights, from the front, the penalty covers.
    fn n_penalised(&self) -> usize {
        self.dim()
    }
    /// Weights that must not be negative, because the argmax is exact only then (costs of edges that a cut severs). Learners keep them ≥ 0. By default none.
    fn nonnegative(&self) -> Range<usize> {
        0..0
    }
    /// weightᵢ / Σ weights: how much an example counts in the mean loss. By default all count the same.
    fn share(&self, i: usize) -> f64 {
        let _ = i;
        1.0 / self.n_examples() as f64
    }
    /// About how many multiplications a pass takes. With `dim` it fixes the shards of sums, never the number of threads. Where `dim` is at most a quarter of the work
    /// of an example, Frank–Wolfe keeps vectors of features in place of outputs; with the default it never does.
    fn work(&self) -> usize {
        self.dim() * self.n_examples()
    }
    /// How many decisions an example takes (positions, words, pixels): gradients grow with it, so that the rates of stochastic steps must fall.
    fn size(&self, i: usize) -> usize;
    /// About the logarithm of the number of outputs of an example: its logistic loss at w = 0.
    fn log_outputs(&self, i: usize) -> f64;
    /// Working memory for one thread.
    fn scratch(&self) -> Self::Scratch;

    /// Whether the gold output of example `i` is known in full. If not, `gold` is completed by an argmax
    /// [within what is known](Ask::Gold).
    fn is_whole(&self, i: usize) -> bool {
        let _ = i;
        true
    }
    /// The gold output of example `i`, as far as it is known, left in `y`.
    fn gold(&self, i: usize, y: &mut Self::Output);

    /// Prepares for the oracles what all examples share at the weights `scale · w`; for sums over outputs as well if `sums`. Every argmax and sum comes after
    /// a `load` of the weights that made its scores; [`scores`](Self::scores) itself does not need it.
    fn load(&self, w: &[F], scale: F, sums: bool, s: &mut Self::Scratch) {
        let _ = (w, scale, sums, s);
    }
    /// The same from the scores of one example, for scores that no weights made (exponentiated gradient keeps a θ of its own for each example).
    fn load_parts(&self, theta: &Self::Parts, s: &mut Self::Scratch) {
        let _ = (theta, s);
    }
    /// The scores of the parts of example `i` at the weights `scale · w`.
    fn scores(&self, i: usize, w: &[F], scale: F, s: &mut Self::Scratch, theta: &mut Self::Parts);
    /// `into += Ψᵢᵀ g`.
    fn accumulate(&self, i: usize, g: &Self::Parts, s: &mut Self::Scratch, into: &mut [F]);
    /// The ranges of weights that [`accumulate`](Self::accumulate) of `g` touches; a weight may come more than once. By default all: where examples touch few of many
    /// weights, stochastic steps are slow unless this names them.
    fn each_touched(
        &self,
        i: usize,
        g: &Self::Parts,
        s: &mut Self::Scratch,
        mut f: impl FnMut(Range<usize>),
    ) {
        let _ = (i, g, s);
        f(0..self.dim());
    }
    /// `f(weight, value)` for every feature by which Ψ(`plus`) and Ψ(`minus`) differ, with the sign of its side. A weight may come more than once.
    fn each_difference(
        &self,
        i: usize,
        plus: &Self::Output,
        minus: &Self::Output,
        s: &mut Self::Scratch,
        f: impl FnMut(usize, F),
    );

    /// ⟨θ, μ(y)⟩.
    fn score(&self, i: usize, theta: &Self::Parts, y: &Self::Output) -> f64;
    /// μ += a · μ(y), for parts of the shape of example `i`.
    fn add_output(&self, i: usize, y: &Self::Output, a: F, mu: &mut Self::Parts);
}

/// Vectors of numbers for the parts of an example.
pub trait PartVector<F>: Clone + Default + Send + Sync {
    /// Σ over all parts.
    fn dot(&self, other: &Self) -> f64;
    /// Adds `a` times other parts of the same shape.
    fn add(&mut self, other: &Self, a: F);
    /// Every part times `a`.
    fn scale(&mut self, a: F);
    /// Every part p becomes p·(1 − p): of marginals, the variances. Parts that examples share may keep p, an upper bound.
    fn to_variances(&mut self);
}

impl<F: Scalar> PartVector<F> for Vec<F> {
    fn dot(&self, other: &Self) -> f64 {
        lineal_linalg::kernels::dot64(self, other)
    }

    fn add(&mut self, other: &Self, a: F) {
        lineal_linalg::kernels::axpy(a, other, self);
    }

    fn scale(&mut self, a: F) {
        self.iter_mut().for_each(|part| *part *= a);
    }

    fn to_variances(&mut self) {
        self.iter_mut().for_each(|p| *p *= F::ONE - *p);
    }
}

/// Which outputs, scored how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// All outputs, by their scores.
    Plain,
    /// All outputs, by score + cost against the gold output.
    Augmented,
    /// The outputs that have what is known of the gold one, by their scores.
    Gold,
}

/// What an argmax found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Of the output that was found, cost included where it was asked for. Computed as [`Structure::score`] computes it, so that an output scores the same
    /// against itself.
    pub score: f64,
    /// No output scores more than this. Above `score` where the argmax was inexact; certificates then use this one.
    pub upper: f64,
}

impl Found {
    /// The best there is.
    pub fn exact(score: f64) -> Self {
        Self { score, upper: score }
    }
}

/// No output satisfies the constraints of an example.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Infeasible {
    /// Which part of the example (position, word) is the first that cannot be satisfied, from 0.
    pub at: usize,
}

/// A structure whose best output can be found.
pub trait MaxOracle<F: Scalar>: Structure<F> {
    /// The best output of example `i` for the scores `theta`, left in `y`. May leave its costs in `theta`.
    fn argmax(
        &self,
        i: usize,
        theta: &mut Self::Parts,
        ask: Ask,
        s: &mut Self::Scratch,
        y: &mut Self::Output,
    ) -> Result<Found, Infeasible>;

    /// Δ(gold, y) ≥ 0, and 0 for the gold output itself.
    fn cost(&self, i: usize, y: &Self::Output) -> f64;

    /// Whether Newton's method may ask for second derivatives: of the sums, or of the maximum with costs made smooth. By default not, and no other method from here on is called.
    fn is_curved(&self) -> bool {
        false
    }
    /// How many decisions the maximum of example `i` decouples into: each has a dual number in [0, 1].
    fn n_duals(&self, i: usize) -> usize {
        let _ = i;
        0
    }
    /// The maximum with costs, less the score of the gold output, made smooth around dual numbers: see [`Smoothed`]. The gradient by the scores overwrites `grad`; the dual numbers of the
    /// smooth maximum overwrite `moved`, unless that is empty.
    fn smoothed(
        &self,
        i: usize,
        theta: &Self::Parts,
        around: Around<'_>,
        s: &mut Self::Scratch,
        grad: &mut Self::Parts,
        moved: &mut [f32],
    ) -> Smoothed {
        let _ = (i, theta, around, s, grad, moved);
        Smoothed::default()
    }
    /// `into += factor · Ψᵢᵀ H Ψᵢ`, all `dim × dim` of it, where H is the Hessian by the scores: of the logarithm of the sum, or of [`smoothed`](Self::smoothed) around dual numbers.
    fn add_hessian(
        &self,
        i: usize,
        theta: &Self::Parts,
        around: Option<Around<'_>>,
        factor: f64,
        s: &mut Self::Scratch,
        into: &mut [f64],
    ) {
        let _ = (i, theta, around, factor, s, into);
    }
}

/// Where a maximum is made smooth, and how much.
#[derive(Clone, Copy, Debug)]
pub struct Around<'d> {
    /// δ > 0.
    pub width: f64,
    /// a, one number for each decision.
    pub duals: &'d [f32],
}

/// A maximum that decouples into decisions, max over α in [0, 1]ⁿ of ⟨α, v⟩ with v the margin by which each is missed, made smooth:
///
/// ```text
/// max over α of ⟨α, v⟩ − (δ/2)‖α − a‖²
/// ```
///
/// It is never above the maximum, and equal to it where a is already the best α: with a moved to α again and again, δ need not become small.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Smoothed {
    /// The smooth maximum.
    pub value: f64,
    /// The maximum itself.
    pub loss: f64,
    /// The cost of α: for any scores the loss is at least ⟨scores, gradient⟩ + this, which makes a lower bound of the optimum.
    pub cost: f64,
}

/// A structure whose outputs can be summed over.
pub trait SumOracle<F: Scalar>: MaxOracle<F> {
    /// log Σ exp score over the outputs of example `i`. `ask` is not [`Ask::Augmented`].
    fn log_partition(
        &self,
        i: usize,
        theta: &Self::Parts,
        ask: Ask,
        s: &mut Self::Scratch,
    ) -> Result<f64, Infeasible>;

    /// log Σ exp score; the expected parts overwrite `mu`.
    fn expect(
        &self,
        i: usize,
        theta: &Self::Parts,
        ask: Ask,
        s: &mut Self::Scratch,
        mu: &mut Self::Parts,
    ) -> Result<f64, Infeasible>;

    /// Raises the scores of the gold output, which is known in full, until the distribution is nearly sure of it: where exponentiated gradient starts.
    fn concentrate(&self, i: usize, theta: &mut Self::Parts) {
        let mut gold = Self::Output::default();
        self.gold(i, &mut gold);
        let by_decision = self.log_outputs(i) / self.size(i).max(1) as f64;
        self.add_output(i, &gold, F::from_f64(4.0 + by_decision), theta);
    }
}
