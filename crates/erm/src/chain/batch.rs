//! All sentences at once: the objective, its gradient and its gap, for L-BFGS and OWL-QN and as the certificate of every other solver.
//!
//! With L the mean loss and R the penalty, the marginals at w are a point of the dual at which the losses meet their conjugates, so that
//!
//! ```text
//! P(w) − optimum ≤ R(w) + R*(−∇L(w)) + ⟨w, ∇L(w)⟩        which is ‖∇P(w)‖² / (2·l2) for l1 = 0,
//! ```
//!
//! A mixture of the marginals at several points is a point of the dual, too, and conjugates are convex: with cuts (gₖ, bₖ) = (∇L(wₖ), L(wₖ) − ⟨wₖ, ∇L(wₖ)⟩) and any
//! convex combination c, optimum ≥ Σ cₖ bₖ − ‖Σ cₖ gₖ‖² / (2·l2). That is the bound of bundle methods (Teo et al., JMLR 2010), here as a certificate alone: L-BFGS's gradients swing
//! from side to side, and their mixture is far shorter than each. [`Cuts`](super::cuts::Cuts) keeps the last few.
//!
//! Without l2, where R*(v) is 0 for ‖v‖∞ ≤ l1 and else infinite, the dual point is shrunk by s until it is inside, which costs
//! at most (1 − s)·L(w) (conjugates are convex and 0 at 0): P(w) − optimum ≤ (1 − s)·L(w) + s ⟨w, ∇L(w)⟩ + l1‖w‖₁.

use super::ChainLoss;
use super::cuts::Cuts;
use super::problem::Problem;
use crate::risk::Penalty;
use crate::shards::Shards;
use lineal_linalg::{Scalar, kernels};
use lineal_solver::{L1, Objective};

/// The objective of a [`Problem`].
#[derive(Debug)]
pub(crate) struct Batch<'p, 'a, F> {
    problem: &'p Problem<'a>,
    penalty: Penalty,
    shards: Shards<F>,
    /// The mean loss at the last point.
    pub(crate) mean_loss: f64,
    cuts: Option<Cuts<F>>,
}

impl<'p, 'a, F: Scalar> Batch<'p, 'a, F> {
    pub(crate) fn new(problem: &'p Problem<'a>) -> Self {
        let layout = &problem.layout;
        let work = problem.sentences.unary.nnz() * layout.model.n_labels;
        let shards = Shards::new(problem.sentences.len(), layout.dim(), work);
        let penalty = Penalty { l2: problem.spec.l2, l1: problem.spec.l1 };
        Self { problem, penalty, shards, mean_loss: f64::INFINITY, cuts: None }
    }

    /// Keeps cuts from now on, for a better bound.
    pub(crate) fn keep_cuts(&mut self) {
        let convex = self.problem.spec.loss == ChainLoss::Logistic && !self.problem.partial;
        if convex && self.penalty.l1 == 0.0 && self.penalty.l2 > 0.0 {
            self.cuts = Some(Cuts::new(self.penalty.l2));
        }
    }

    /// The mean loss; its (sub)gradient overwrites `grad`.
    pub(crate) fn loss_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let problem = self.problem;
        self.mean_loss = self.shards.accumulate(grad, &|range, grad| {
            let mut worker = problem.worker::<F>();
            problem.layout.shared_scores(w, &mut worker.parts);
            worker.decoder.load(&worker.parts);
            worker.decoder.prepare_sums();
            let mut sum = 0.0;
            for i in range {
                problem.scores(i, w, F::ONE, &mut worker);
                // What no constraint permits was refused before.
                sum += problem.shares[i] * problem.loss(i, &mut worker).unwrap_or(f64::NAN);
                let at = problem.sentences.range(i);
                let share = F::from_f64(problem.shares[i]);
                if problem.spec.loss == ChainLoss::Logistic {
                    worker.grad.scale(share);
                    problem.layout.accumulate(&problem.slots, at, &worker.grad, grad);
                } else if worker.y_hat != worker.gold {
                    let (plus, minus) = (&worker.y_hat, &worker.gold);
                    problem.layout.each_difference(&problem.slots, at, plus, minus, |place, v| {
                        grad[place] += share * F::from_f32(v);
                    });
                }
            }
            sum
        });
        self.mean_loss
    }

    /// Mean loss and penalties.
    pub(crate) fn objective(&self, w: &[F]) -> f64 {
        self.mean_loss + self.penalty.value(w)
    }

    /// An estimate of the Hessian's diagonal: what a label's variance at each position amounts to, and l2.
    pub(crate) fn diagonal(&mut self, w: &[F], out: &mut [F]) {
        let problem = self.problem;
        self.shards.accumulate(out, &|range, out| {
            let mut worker = problem.worker::<F>();
            problem.layout.shared_scores(w, &mut worker.parts);
            worker.decoder.load(&worker.parts);
            worker.decoder.prepare_sums();
            for i in range {
                problem.scores(i, w, F::ONE, &mut worker);
                let n = worker.expect_variances();
                if n > 0 {
                    worker.grad.scale(F::from_f64(problem.shares[i]));
                    let at = problem.sentences.range(i);
                    problem.layout.accumulate(&problem.slots, at, &worker.grad, out);
                }
            }
            0.0
        });
        let l2 = F::from_f64(self.penalty.l2);
        out.iter_mut().for_each(|d| *d += l2);
    }
}

impl<F: Scalar> Objective<F> for Batch<'_, '_, F> {
    fn dim(&self) -> usize {
        self.problem.layout.dim()
    }

    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let mean_loss = self.loss_grad(w, grad);
        if let Some(cuts) = &mut self.cuts {
            cuts.push(grad, mean_loss - kernels::dot64(w, grad));
        }
        kernels::axpy(F::from_f64(self.penalty.l2), w, grad);
        mean_loss + 0.5 * self.penalty.l2 * kernels::dot64(w, w)
    }

    fn l1(&self) -> L1 {
        L1 { l1: self.penalty.l1, until: self.dim() }
    }

    fn gap(&mut self, w: &[F], grad: &[F], _: f64) -> Option<f64> {
        let Penalty { l2, l1 } = self.penalty;
        if self.problem.spec.loss != ChainLoss::Logistic || self.problem.partial {
            return None;
        }
        if l1 == 0.0 {
            let by_gradient = (l2 > 0.0).then(|| kernels::dot64(grad, grad) / (2.0 * l2));
            let Some(cuts) = &mut self.cuts else { return by_gradient };
            let objective = self.mean_loss + self.penalty.value(w);
            return by_gradient.map(|gap| gap.min((objective - cuts.bound()).max(0.0)));
        }
        // ∇L is grad − l2·w.
        let slope = kernels::dot64(w, grad) - l2 * kernels::dot64(w, w);
        let loss_grad = |(g, w): (&F, &F)| g.to_f64() - l2 * w.to_f64();
        if l2 > 0.0 {
            let over = |g: f64| (g.abs() - l1).max(0.0).powi(2);
            let conjugate: f64 = grad.iter().zip(w).map(loss_grad).map(over).sum();
            return Some(self.penalty.value(w) + conjugate / (2.0 * l2) + slope);
        }
        let largest = grad.iter().fold(0.0f64, |m, g| m.max(g.to_f64().abs()));
        let s = if largest > l1 { l1 / largest } else { 1.0 };
        Some((1.0 - s) * self.mean_loss + s * slope + self.penalty.value(w))
    }
}

/// An objective in the variables u = s·w.
pub(crate) struct Scaled<'b, 'p, 'a, F> {
    pub(crate) inner: &'b mut Batch<'p, 'a, F>,
    /// 1/s.
    pub(crate) inverse: Vec<F>,
    w: Vec<F>,
    grad: Vec<F>,
}

impl<'b, 'p, 'a, F: Scalar> Scaled<'b, 'p, 'a, F> {
    /// Scales by the root of `diagonal`, so that the Hessian's diagonal becomes about 1.
    pub(crate) fn new(inner: &'b mut Batch<'p, 'a, F>, diagonal: &[F]) -> Self {
        let inverse: Vec<F> = diagonal.iter().map(|d| F::ONE / d.sqrt()).collect();
        let (w, grad) = (inverse.clone(), inverse.clone());
        Self { inner, inverse, w, grad }
    }
}

pub(crate) fn multiply<F: Scalar>(a: &[F], b: &[F], out: &mut [F]) {
    for ((out, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *out = a * b;
    }
}

impl<F: Scalar> Objective<F> for Scaled<'_, '_, '_, F> {
    fn dim(&self) -> usize {
        self.w.len()
    }

    fn value_grad(&mut self, u: &[F], grad: &mut [F]) -> f64 {
        multiply(u, &self.inverse, &mut self.w);
        let value = self.inner.value_grad(&self.w, &mut self.grad);
        multiply(&self.grad, &self.inverse, grad);
        value
    }

    fn gap(&mut self, u: &[F], grad: &[F], enough: f64) -> Option<f64> {
        multiply(u, &self.inverse, &mut self.w);
        for ((own, &g), &inverse) in self.grad.iter_mut().zip(grad).zip(&self.inverse) {
            *own = g / inverse;
        }
        self.inner.gap(&self.w, &self.grad, enough)
    }
}
