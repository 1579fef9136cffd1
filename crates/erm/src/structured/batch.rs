//! All examples at once: the objective, its gradient and its gap, for L-BFGS and OWL-QN and as the certificate of every other solver.
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

use super::LearnError;
use super::cuts::Cuts;
use super::problem::{Problem, Worker, infeasible};
use crate::risk::Penalty;
use crate::shards::Shards;
use lineal_linalg::{Scalar, kernels};
use lineal_model::structure::{Infeasible, MaxOracle, PartVector};
use lineal_solver::{L1, Objective};
use std::sync::{Mutex, PoisonError};

/// What the diagonal has at least without l2, in examples: the curvature of a part that is fairly sure.
const LEAST_CURVATURE: f64 = 0.1;

/// The objective of a [`Problem`].
pub(crate) struct Batch<'p, 'a, S: MaxOracle<F>, F: Scalar> {
    problem: &'p Problem<'a, S, F>,
    penalty: Penalty,
    shards: Shards<F>,
    /// The mean loss at the last point.
    pub(crate) mean_loss: f64,
    cuts: Option<Cuts<F>>,
    /// The first example that has no output, if one was met.
    failed: Mutex<Option<(usize, Infeasible)>>,
}

/// What to do with a scored example; its part of the loss is returned, and of the gradient added to the slice.
type PerExample<'f, S, F> =
    &'f (dyn Fn(usize, &mut Worker<S, F>, &mut [F]) -> Result<f64, Infeasible> + Sync);

impl<'p, 'a, S: MaxOracle<F>, F: Scalar> Batch<'p, 'a, S, F> {
    pub(crate) fn new(problem: &'p Problem<'a, S, F>) -> Self {
        let shards = problem.shards();
        let penalty = Penalty { l2: problem.spec.l2, l1: problem.spec.l1 };
        let failed = Mutex::new(None);
        Self { problem, penalty, shards, mean_loss: f64::INFINITY, cuts: None, failed }
    }

    /// Takes the cut at the last point in, where cuts are kept; `grad` is that of mean loss and l2.
    pub(crate) fn keep_cut(&mut self, w: &[F], grad: &[F]) {
        let l2 = self.penalty.l2;
        if let Some(cuts) = &mut self.cuts {
            let mut own = grad.to_vec();
            kernels::axpy(F::from_f64(-l2), w, &mut own);
            cuts.push(w, &own, self.mean_loss - kernels::dot64(w, &own));
        }
    }

    /// The bound that the cuts give, where they are kept.
    pub(crate) fn bound_of_cuts(&mut self) -> Option<f64> {
        self.cuts.as_mut().map(Cuts::bound)
    }

    /// Adds `f` of each example, with its parts scored and its gradient to go into the slice.
    fn sum(&mut self, w: &[F], out: &mut [F], f: PerExample<'_, S, F>) -> f64 {
        let (problem, failed) = (self.problem, &self.failed);
        self.shards.accumulate(out, &|range, out| {
            let mut worker = problem.worker();
            problem.structure.load(w, F::ONE, problem.is_logistic(), &mut worker.s);
            let mut sum = 0.0;
            for i in range {
                problem.scores(i, w, &mut worker);
                sum += f(i, &mut worker, out).unwrap_or_else(|none| {
                    let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                    if failed.is_none_or(|(first, _)| i < first) {
                        *failed = Some((i, none));
                    }
                    f64::NAN
                });
            }
            sum
        })
    }

    /// The mean loss; its (sub)gradient overwrites `grad`.
    fn loss_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let (problem, structure) = (self.problem, self.problem.structure);
        self.mean_loss = self.sum(w, grad, &|i, worker, grad| {
            let loss = problem.loss(i, worker)?.upper;
            let share = F::from_f64(structure.share(i));
            if problem.is_logistic() {
                worker.grad.scale(share);
                structure.accumulate(i, &worker.grad, &mut worker.s, grad);
            } else if worker.y_hat != worker.gold {
                let Worker { y_hat, gold, s, .. } = worker;
                structure.each_difference(i, y_hat, gold, s, |place, v| grad[place] += share * v);
            }
            Ok(structure.share(i) * loss)
        });
        self.mean_loss
    }

    fn penalised<'w>(&self, w: &'w [F]) -> &'w [F] {
        &w[..self.problem.structure.n_penalised()]
    }

    /// Mean loss and penalties.
    pub(crate) fn objective(&self, w: &[F]) -> f64 {
        self.mean_loss + self.penalty.value(self.penalised(w))
    }

    /// What a part's variance in each example amounts to, weight by weight. Returns the mean loss.
    pub(crate) fn variances(&mut self, w: &[F], out: &mut [F]) -> f64 {
        let (problem, structure) = (self.problem, self.problem.structure);
        self.sum(w, out, &|i, worker, out| {
            let loss = problem.variances(i, worker)?;
            worker.grad.scale(F::from_f64(structure.share(i)));
            structure.accumulate(i, &worker.grad, &mut worker.s, out);
            Ok(structure.share(i) * loss)
        })
    }
}

/// Makes variances an estimate of the Hessian's diagonal: adds l2, or a little in its place.
pub(crate) fn with_penalty<F: Scalar>(variances: &mut [F], l2: f64, n_examples: usize) {
    let l2 = match l2 {
        0.0 => LEAST_CURVATURE / n_examples as f64,
        l2 => l2,
    };
    let l2 = F::from_f64(l2);
    // Features that are negative in some examples may leave less than nothing: then the penalty alone.
    variances.iter_mut().for_each(|d| {
        *d += l2;
        if *d <= F::ZERO {
            *d = l2;
        }
    });
}

/// The objective of examples that are here, or elsewhere.
pub(crate) trait MeanLoss<F: Scalar>: Objective<F> {
    /// An estimate of the Hessian's diagonal. Returns the mean loss.
    fn diagonal(&mut self, w: &[F], out: &mut [F]) -> f64;
    /// Keeps cuts from now on, for a better bound.
    fn keep_cuts(&mut self);
    /// The cuts that were kept.
    fn take_cuts(&mut self) -> Option<Cuts<F>>;
    /// Why a value is not a number, if an example without an output is the reason.
    fn failure(&self) -> Option<LearnError>;
}

impl<S: MaxOracle<F>, F: Scalar> MeanLoss<F> for Batch<'_, '_, S, F> {
    fn diagonal(&mut self, w: &[F], out: &mut [F]) -> f64 {
        let mean_loss = self.variances(w, out);
        with_penalty(out, self.penalty.l2, self.problem.n());
        mean_loss
    }

    fn keep_cuts(&mut self) {
        let bounded = self.problem.is_logistic() && self.problem.is_convex();
        if bounded && self.penalty.l1 == 0.0 && self.penalty.l2 > 0.0 {
            self.cuts = Some(Cuts::new(self.penalty.l2));
        }
    }

    fn take_cuts(&mut self) -> Option<Cuts<F>> {
        self.cuts.take()
    }

    fn failure(&self) -> Option<LearnError> {
        let failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        failed.map(|(example, none)| infeasible(example)(none))
    }
}

/// What proves how far `w` is from the optimum: `grad` is that of mean loss and l2, where every weight is penalised and the losses are logistic.
pub(crate) fn gap<F: Scalar>(
    penalty: Penalty,
    mean_loss: f64,
    cuts: Option<&mut Cuts<F>>,
    w: &[F],
    grad: &[F],
) -> Option<f64> {
    let Penalty { l2, l1 } = penalty;
    if l1 == 0.0 {
        let by_gradient = (l2 > 0.0).then(|| kernels::dot64(grad, grad) / (2.0 * l2));
        let Some(cuts) = cuts else { return by_gradient };
        let objective = mean_loss + penalty.value(w);
        return by_gradient.map(|gap| gap.min((objective - cuts.bound()).max(0.0)));
    }
    // ∇L is grad − l2·w.
    let slope = kernels::dot64(w, grad) - l2 * kernels::dot64(w, w);
    let loss_grad = |(g, w): (&F, &F)| g.to_f64() - l2 * w.to_f64();
    if l2 > 0.0 {
        let over = |g: f64| (g.abs() - l1).max(0.0).powi(2);
        let conjugate: f64 = grad.iter().zip(w).map(loss_grad).map(over).sum();
        return Some(penalty.value(w) + conjugate / (2.0 * l2) + slope);
    }
    let largest = grad.iter().fold(0.0f64, |m, g| m.max(g.to_f64().abs()));
    let s = if largest > l1 { l1 / largest } else { 1.0 };
    Some((1.0 - s) * mean_loss + s * slope + penalty.value(w))
}

impl<S: MaxOracle<F>, F: Scalar> Objective<F> for Batch<'_, '_, S, F> {
    fn dim(&self) -> usize {
        self.problem.dim()
    }

    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let mean_loss = self.loss_grad(w, grad);
        if let Some(cuts) = &mut self.cuts {
            cuts.push(w, grad, mean_loss - kernels::dot64(w, grad));
        }
        let w = self.penalised(w);
        kernels::axpy(F::from_f64(self.penalty.l2), w, &mut grad[..w.len()]);
        mean_loss + 0.5 * self.penalty.l2 * kernels::dot64(w, w)
    }

    fn l1(&self) -> L1 {
        L1 { l1: self.penalty.l1, until: self.problem.structure.n_penalised() }
    }

    fn gap(&mut self, w: &[F], grad: &[F], _: f64) -> Option<f64> {
        let bounded = self.problem.is_logistic() && self.problem.is_convex();
        bounded.then(|| gap(self.penalty, self.mean_loss, self.cuts.as_mut(), w, grad))?
    }
}

/// An objective in the variables u = s·w.
pub(crate) struct Scaled<'b, F> {
    inner: &'b mut dyn Objective<F>,
    /// 1/s.
    pub(crate) inverse: Vec<F>,
    w: Vec<F>,
    grad: Vec<F>,
}

impl<'b, F: Scalar> Scaled<'b, F> {
    /// Scales by the root of `diagonal`, so that the Hessian's diagonal becomes about 1.
    pub(crate) fn new(inner: &'b mut dyn Objective<F>, diagonal: &[F]) -> Self {
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

impl<F: Scalar> Objective<F> for Scaled<'_, F> {
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
