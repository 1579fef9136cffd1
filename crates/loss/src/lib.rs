//! Step 2: pick a loss. One file each.
//!
//! A loss sees part scores θ, the gold output and an oracle of the space, nothing else: no feature, no weight, no file.
//! Value and gradient come out of one call, the gradient being (parts that the oracle returned) − μ(y). Losses are
//! convex; those that a dual solver can use also know their conjugate and the exact step of one dual block.
//!
//! | loss | spaces | smooth | dual block |
//! |---|---|---|---|
//! | [`Hinge`] (and [`Perceptron`], without cost) | any with an argmax | no | binary: one number; classes: projection on the simplex |
//! | [`SumHinge`] (Weston–Watkins; [`SumPerceptron`]) | classes | no | water level |
//! | [`SquaredHinge`], [`SumSquaredHinge`] | binary, classes | binary and sum form | water level |
//! | [`HardMargin`] (0 or ∞) | binary, classes | no | water level |
//! | [`Logistic`] | any with marginals | yes | Newton in log space |
//! | [`Columnwise`], any [`OfMargin`] in every column | columns | as its columns | one number per column |
//! | [`Squared`], [`Huber`], [`Epsilon`] | real numbers; `Squared` also binary, classes | yes, yes, no | one division |
//!
//! ```
//! use lineal_loss::{Hinge, Loss};
//! use lineal_model::{cost::ZeroOne, space::Classes};
//!
//! let (mut scores, mut grad) = ([1.0f64, 0.5, -2.0], [0.0; 3]);
//! let value = Hinge(ZeroOne).value_grad(Classes(3), &mut scores, 0, &mut grad);
//! assert_eq!(value, 0.5); // class 1 is within the margin
//! assert_eq!(grad, [-1.0, 1.0, 0.0]);
//! ```

mod block;
mod columnwise;
mod epsilon;
mod hard_margin;
mod hinge;
mod huber;
mod logistic;
mod of_margin;
mod squared;
mod squared_hinge;
mod sum_hinge;

pub use columnwise::Columnwise;
pub use epsilon::Epsilon;
pub use hard_margin::HardMargin;
pub use hinge::{Hinge, Perceptron};
pub use huber::Huber;
pub use logistic::Logistic;
pub use of_margin::{OfMargin, Steps, Terms};
pub use squared::{Squared, Target};
pub use squared_hinge::{SquaredHinge, SumSquaredHinge};
pub use sum_hinge::{SumHinge, SumPerceptron};

use lineal_linalg::Scalar;
use lineal_model::space::OutputSpace;

/// A convex loss of part scores.
pub trait Loss<F: Scalar, S: OutputSpace<F>>: Sync {
    /// The loss at `scores`; its (sub)gradient overwrites `grad`. `scores` may be used as working memory.
    fn value_grad(&self, space: S, scores: &mut [F], y: S::Output, grad: &mut [F]) -> f64;
}

/// A loss with second derivatives (almost everywhere, for the squared hinge).
pub trait SecondOrder<F: Scalar, S: OutputSpace<F>>: Loss<F, S> {
    /// What the Hessian at `scores` needs to know, as many numbers as parts; `scores` may be overwritten.
    fn curve(&self, space: S, scores: &mut [F], y: S::Output, state: &mut [F]);
    /// `out = H dir`.
    fn hess_vec(&self, space: S, y: S::Output, state: &[F], dir: &[F], out: &mut [F]);
    /// The diagonal of H.
    fn hess_diag(&self, space: S, y: S::Output, state: &[F], out: &mut [F]);
}

/// A loss whose dual blocks can be solved exactly. A block `g` lives in score space like a gradient: at the optimum it *is* the
/// (sub)gradient of the loss, and w = −(1/l2)·mean Ψᵀg. Zeros are always in the domain.
pub trait DualLoss<F: Scalar, S: OutputSpace<F>>: Loss<F, S> {
    /// ℓ*(g) for a `g` in the domain.
    fn conjugate(&self, space: S, y: S::Output, g: &[F]) -> f64;

    /// Moves `g` to the minimiser of ℓ*(g') − ⟨θ, g'⟩ + (q/2)‖g' − g‖² and leaves the difference in `delta`. Returns the block's
    /// gap *before* the step, ℓ(θ) + ℓ*(g) − ⟨θ, g⟩, or a close estimate.
    /// `scores` is θ and may be overwritten; q > 0.
    fn dual_step(
        &self,
        space: S,
        y: S::Output,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64;

    /// Whether most entries of a block are 0 and stay so, and [`dual_step_on`](Self::dual_step_on) takes the others alone.
    fn has_sparse_blocks(&self) -> bool {
        false
    }

    /// [`dual_step`](Self::dual_step) on some `parts` of a block, the gold one among them, while the others stay 0. All slices have one number for each of them. Only where
    /// [`has_sparse_blocks`](Self::has_sparse_blocks) says so; else nothing moves.
    fn dual_step_on(
        &self,
        y: S::Output,
        parts: &[u32],
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        let _ = (y, parts, scores, q, g, delta);
        0.0
    }

    /// How blocks can be changed so that they sum to zero over the examples, as a free bias demands.
    fn domain(&self) -> Domain;

    /// Moves any numbers into the domain, exactly: what rounding left outside it proves nothing. Blocks of flows keep −Σ of the others, rounded, in
    /// the gold entry; the others are the block.
    fn clamp(&self, space: S, y: S::Output, g: &mut [F]);

    /// s with |ℓ*(g') − (what [`conjugate`](Self::conjugate) computes at `g`)| ≤ ε·s for every g' of the domain with |g'_c − g_c| ≤ ε·`off`_c, where `off`_c ≥ |g_c| and ε is
    /// between (parts + 16) and 2²⁰ roundings of `F`. Of flows, the entries are those of the other classes. For `g` in the domain; |ℓ*(g)| ≤ s too.
    fn sensitivity(&self, space: S, y: S::Output, g: &[F], off: &[f64]) -> f64;
}

/// A loss that is known at run time only: where losses are to share one copy of some code.
impl<F: Scalar, S: OutputSpace<F>, L: Loss<F, S> + ?Sized> Loss<F, S> for &L {
    fn value_grad(&self, space: S, scores: &mut [F], y: S::Output, grad: &mut [F]) -> f64 {
        (**self).value_grad(space, scores, y, grad)
    }
}

impl<F: Scalar, S: OutputSpace<F>, L: DualLoss<F, S> + ?Sized> DualLoss<F, S> for &L {
    fn conjugate(&self, space: S, y: S::Output, g: &[F]) -> f64 {
        (**self).conjugate(space, y, g)
    }

    fn dual_step(
        &self,
        space: S,
        y: S::Output,
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        (**self).dual_step(space, y, scores, q, g, delta)
    }

    fn has_sparse_blocks(&self) -> bool {
        (**self).has_sparse_blocks()
    }

    fn dual_step_on(
        &self,
        y: S::Output,
        parts: &[u32],
        scores: &mut [F],
        q: F,
        g: &mut [F],
        delta: &mut [F],
    ) -> f64 {
        (**self).dual_step_on(y, parts, scores, q, g, delta)
    }

    fn domain(&self) -> Domain {
        (**self).domain()
    }

    fn clamp(&self, space: S, y: S::Output, g: &mut [F]) {
        (**self).clamp(space, y, g)
    }

    fn sensitivity(&self, space: S, y: S::Output, g: &[F], off: &[f64]) -> f64 {
        (**self).sensitivity(space, y, g, off)
    }
}

/// Flows from `gold` to the others: each at most `each`, all together at most `all`, in exact arithmetic.
pub(crate) fn clamp_flows<F: Scalar>(g: &mut [F], gold: usize, each: F, all: F) {
    g[gold] = F::ZERO;
    g.iter_mut().for_each(|g| *g = g.max(F::ZERO).min(each));
    let total = |g: &[F]| g.iter().copied().fold(F::ZERO, |sum, g| sum + g);
    let mut sum = total(g);
    // A sum of n numbers ≥ 0 is at most n roundings short, and a rounding is half of EPSILON.
    let slack = F::EPSILON * F::from_f64(g.len() as f64 + 4.0);
    if sum * (F::ONE + slack) > all {
        let by = (F::ONE - slack) * (F::ONE - slack) * all / sum;
        g.iter_mut().for_each(|g| *g *= by);
        sum = total(g);
    }
    g[gold] = -sum;
}

/// The other classes than `gold`, with their numbers.
pub(crate) fn others<T: Copy>(of: &[T], gold: usize) -> impl Iterator<Item = (u32, T)> + '_ {
    (0u32..).zip(of.iter().copied()).filter(move |&(c, _)| c as usize != gold)
}

/// The sensitivity of p ln p: its modulus of continuity is δ(1 + |ln δ|), and δ = ε·off with ln ε ≥ −37. Of |ln off| an upper bound will do, which the exponent gives.
pub(crate) fn entropy_sensitivity(off: f64) -> f64 {
    let exponent = ((off.to_bits() >> 52) & 0x7ff).abs_diff(1023) as f64;
    if off > 0.0 { off * (40.0 + 0.75 * (exponent + 1.0)) } else { 0.0 }
}

/// The shape of a conjugate's domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// All of ℝ^parts: subtract the mean.
    Free,
    /// An interval around 0 in each coordinate, and the coordinates are independent: scale down the side that is too heavy.
    Interval,
    /// Flows a_r ≥ 0 from the gold class to the others, closed under scaling down.
    Flows,
}
