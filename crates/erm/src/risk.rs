//! The objective itself: value, gradient, Hessian.

use crate::gap;
use crate::rows::Examples;
use crate::shards::Shards;
use lineal_linalg::{DenseSink, Scalar, kernels};
use lineal_loss::{DualLoss, Loss, SecondOrder};
use lineal_model::Model;
use lineal_solver::{CurvedObjective, L1, Objective};

/// (l2/2)‖w‖² + l1‖w‖₁ over the penalised weights.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Penalty {
    /// The factor of ½‖w‖².
    pub l2: f64,
    /// The factor of ‖w‖₁.
    pub l1: f64,
}

impl Penalty {
    /// What is wrong with an `l2` that weights cannot follow: some solvers have them in single precision, whose squares end at 10³⁸.
    pub fn refusal(l2: f64) -> Option<String> {
        let followed = 1e-30..=1e30;
        (l2 != 0.0 && !followed.contains(&l2)).then(|| {
            format!(
                "l2 = {l2:e} (1/(C·n) where C was given) is beyond what weights in single precision can follow: take one between {:e} and {:e}",
                followed.start(),
                followed.end()
            )
        })
    }

    /// Its value.
    pub fn value<F: Scalar>(&self, w: &[F]) -> f64 {
        let l1 = if self.l1 > 0.0 { w.iter().map(|w| w.abs().to_f64()).sum() } else { 0.0 };
        0.5 * self.l2 * kernels::dot64(w, w) + self.l1 * l1
    }
}

/// The regularised empirical risk of a model, a loss and examples.
#[derive(Debug)]
pub struct Erm<'a, F, M, L, D> {
    pub(crate) model: &'a M,
    pub(crate) loss: &'a L,
    pub(crate) data: D,
    pub(crate) penalty: Penalty,
    pub(crate) shards: Shards<F>,
    /// What the loss's Hessian needs at the point of `curve_at`, `max_parts` numbers an example.
    curvature: Vec<F>,
}

impl<'a, F, M, L, D> Erm<'a, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: Loss<F, M::Space>,
    D: Examples<F, M>,
{
    /// Puts the three together.
    pub fn new(model: &'a M, loss: &'a L, data: D, penalty: Penalty) -> Self {
        let shards = Shards::new(data.len(), model.dim(), data.work(model));
        Self { model, loss, data, penalty, shards, curvature: Vec::new() }
    }

    /// The mean loss at `w`.
    pub fn mean_loss(&self, w: &[F]) -> f64 {
        let (model, loss, data) = (self.model, self.loss, &self.data);
        self.shards.sum(&|range| {
            let mut scores = vec![F::ZERO; model.max_parts()];
            let mut grad = scores.clone();
            let mut value = 0.0;
            for i in range {
                let x = data.x(i);
                let space = model.space(x);
                let n = parts(space);
                model.scores(x, w, &mut scores[..n]);
                value += data.share(i)
                    * loss.value_grad(space, &mut scores[..n], data.y(i), &mut grad[..n]);
            }
            value
        })
    }

    /// Mean loss plus penalty, l1 included.
    pub fn objective(&self, w: &[F]) -> f64 {
        self.mean_loss(w) + self.penalty.value(&w[..self.model.n_penalised()])
    }

    /// For each weight the root of its feature's mean square, summed over the parts that share it.
    pub fn feature_sizes(&mut self) -> Vec<f64> {
        let (model, data) = (self.model, &self.data);
        let mut squares = vec![F::ZERO; model.dim()];
        self.shards.accumulate(&mut squares, &|range, squares| {
            let mut share = vec![F::ZERO; model.max_parts()];
            for i in range {
                share.fill(F::from_f64(data.share(i)));
                let x = data.x(i);
                model.accumulate_squares(x, &share[..parts(model.space(x))], squares);
            }
            0.0
        });
        squares.iter().map(|s| s.to_f64().sqrt()).collect()
    }

    /// Mean loss + (l2/2)‖w‖² and its (sub)gradient.
    fn smooth(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let (model, loss, data) = (self.model, self.loss, &self.data);
        let mean_loss = self.shards.accumulate(grad, &|range, grad| {
            let mut sink = DenseSink(grad);
            let mut scores = vec![F::ZERO; model.max_parts()];
            let mut slope = scores.clone();
            let mut value = 0.0;
            for i in range {
                let x = data.x(i);
                let space = model.space(x);
                let n = parts(space);
                let (scores, slope) = (&mut scores[..n], &mut slope[..n]);
                model.scores(x, w, scores);
                let share = data.share(i);
                value += share * loss.value_grad(space, scores, data.y(i), slope);
                if scale(slope, share) {
                    model.accumulate(x, slope, &mut sink);
                }
            }
            value
        });
        let n = model.n_penalised();
        kernels::axpy(F::from_f64(self.penalty.l2), &w[..n], &mut grad[..n]);
        mean_loss + 0.5 * self.penalty.l2 * kernels::dot64(&w[..n], &w[..n])
    }
}

/// The number of parts of a space whose number type is not in doubt.
#[inline]
pub(crate) fn parts<F, S: lineal_model::space::OutputSpace<F>>(space: S) -> usize {
    space.n_parts()
}

/// Multiplies in place; tells whether anything is left to add.
#[inline]
fn scale<F: Scalar>(slope: &mut [F], by: f64) -> bool {
    let by = F::from_f64(by);
    let mut any = false;
    for s in slope {
        any |= *s != F::ZERO;
        *s *= by;
    }
    any
}

impl<F, M, L, D> Objective<F> for Erm<'_, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
    D: Examples<F, M>,
{
    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        self.smooth(w, grad)
    }

    fn l1(&self) -> L1 {
        L1 { l1: self.penalty.l1, until: self.model.n_penalised() }
    }

    fn sizes(&mut self) -> Option<Vec<f64>> {
        Some(self.feature_sizes())
    }

    fn gap(&mut self, w: &[F], grad: &[F], enough: f64) -> Option<f64> {
        gap::at(self, w, grad, enough)
    }
}

impl<F, M, L, D> CurvedObjective<F> for Erm<'_, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space> + SecondOrder<F, M::Space>,
    D: Examples<F, M>,
{
    fn curve_at(&mut self, w: &[F]) {
        let (model, loss, data) = (self.model, self.loss, &self.data);
        let width = model.max_parts();
        self.curvature.resize(data.len() * width, F::ZERO);
        self.shards.fill(&mut self.curvature, width, &|range, states| {
            let mut scores = vec![F::ZERO; width];
            for (i, state) in range.zip(states.chunks_exact_mut(width)) {
                let x = data.x(i);
                let space = model.space(x);
                let n = parts(space);
                model.scores(x, w, &mut scores[..n]);
                loss.curve(space, &mut scores[..n], data.y(i), &mut state[..n]);
            }
            0.0
        });
    }

    fn hess_vec(&mut self, v: &[F], out: &mut [F]) {
        let (model, loss, data) = (self.model, self.loss, &self.data);
        let (width, curvature) = (model.max_parts(), &self.curvature);
        self.shards.accumulate(out, &|range, out| {
            let mut sink = DenseSink(out);
            let mut along = vec![F::ZERO; width];
            let mut slope = along.clone();
            for i in range {
                let x = data.x(i);
                let space = model.space(x);
                let n = parts(space);
                let (along, slope) = (&mut along[..n], &mut slope[..n]);
                let state = &curvature[i * width..i * width + n];
                model.scores(x, v, along);
                loss.hess_vec(space, data.y(i), state, along, slope);
                if scale(slope, data.share(i)) {
                    model.accumulate(x, slope, &mut sink);
                }
            }
            0.0
        });
        let n = model.n_penalised();
        kernels::axpy(F::from_f64(self.penalty.l2), &v[..n], &mut out[..n]);
    }

    fn hess_diag(&mut self, out: &mut [F]) {
        let (model, loss, data) = (self.model, self.loss, &self.data);
        let (width, curvature) = (model.max_parts(), &self.curvature);
        self.shards.accumulate(out, &|range, out| {
            let mut diag = vec![F::ZERO; width];
            for i in range {
                let x = data.x(i);
                let space = model.space(x);
                let n = parts(space);
                let state = &curvature[i * width..i * width + n];
                loss.hess_diag(space, data.y(i), state, &mut diag[..n]);
                scale(&mut diag[..n], data.share(i));
                model.accumulate_squares(x, &diag[..n], out);
            }
            0.0
        });
        let l2 = F::from_f64(self.penalty.l2);
        out[..model.n_penalised()].iter_mut().for_each(|o| *o += l2);
    }

    fn hessian(&mut self, out: &mut [F]) {
        let (model, loss, data) = (self.model, self.loss, &self.data);
        let (width, curvature, dim) = (model.max_parts(), &self.curvature, model.dim());
        let mut shards = Shards::new(data.len(), dim * dim, data.work(model) * dim);
        shards.accumulate(out, &|range, out| {
            let mut unit = vec![F::ZERO; width];
            let mut block = vec![F::ZERO; width * width];
            for i in range {
                let x = data.x(i);
                let space = model.space(x);
                let n = parts(space);
                let state = &curvature[i * width..i * width + n];
                for c in 0..n {
                    unit[c] = F::ONE;
                    let column = &mut block[c * n..(c + 1) * n];
                    loss.hess_vec(space, data.y(i), state, &unit[..n], column);
                    unit[c] = F::ZERO;
                }
                if scale(&mut block[..n * n], data.share(i)) {
                    model.accumulate_outer(x, &block[..n * n], out);
                }
            }
            0.0
        });
        let l2 = F::from_f64(self.penalty.l2);
        for j in 0..model.n_penalised() {
            out[j * dim + j] += l2;
        }
        for i in 0..dim {
            for j in 0..i {
                out[j * dim + i] = out[i * dim + j];
            }
        }
    }
}
