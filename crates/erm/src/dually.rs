//! The risk, one dual block at a time: w = −(1/l2) Σ shareᵢ Ψᵢᵀ gᵢ.
//!
//! A free bias turns into the constraint Σ shareᵢ gᵢ = 0. It is kept by the method of multipliers: during a pass the bias moves
//! as if it were penalised around its last value with strength l2/β², and after the pass that value follows. The
//! certificate (`gap`) repairs what is still missing, so it holds at any time but for rounding. A run in f32 asks a [`Prover`] before it stops: its own gap may be short by some 1e-6 of the objective.

use crate::gap;
use crate::risk::{Erm, parts};
use crate::rows::Examples;
use crate::support::Supports;
use lineal_linalg::{Row, Scalar, Sink, kernels};
use lineal_loss::DualLoss;
use lineal_model::Model;
use lineal_solver::{DualBlocks, DualStep, Soon, Stop};
use std::ops::Range;

/// An [`Erm`] with l2 > 0 and l1 = 0, seen from its dual.
pub struct Dually<'e, 'a, F, M, L, D> {
    pub(crate) erm: &'e mut Erm<'a, F, M, L, D>,
    /// For each example shareᵢ/l2, what its block's change is worth in weights, and (shareᵢ/l2)·(‖Ψᵢ‖² + β²), its block's curvature.
    /// Side by side, for one cache line a visit.
    pub(crate) scale: Vec<[F; 2]>,
    /// β², 0 where the bias is not free.
    pub(crate) beta_sq: f64,
    pub(crate) supports: Supports<F>,
    prover: Option<(Stop, Prover<'e, F>)>,
}

/// The objective at weights and its distance from a lower bound of the optimum, in f64, from dual blocks and weights of a run.
pub type Prover<'p, F> = &'p mut dyn FnMut(&[F], &[F]) -> (f64, f64);

/// Working memory of a step: scores and the block's change.
#[derive(Debug)]
pub struct Scratch<F> {
    scores: Vec<F>,
    delta: Vec<F>,
}

impl<'e, 'a, F, M, L, D> Dually<'e, 'a, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
    D: Examples<F, M>,
{
    /// # Panics
    /// If the penalty has no l2, has an l1, or the model is not isotropic.
    pub fn new(erm: &'e mut Erm<'a, F, M, L, D>) -> Self {
        assert!(erm.penalty.l2 > 0.0 && erm.penalty.l1 == 0.0, "the dual needs l2 > 0 and l1 = 0");
        let (model, data) = (erm.model, &erm.data);
        let norm = |i| model.isotropy(data.x(i)).expect("the dual needs an isotropic model");
        let norms: Vec<f64> = (0..data.len()).map(norm).collect();
        let free = model.n_penalised() < model.dim();
        let mean = norms.iter().sum::<f64>() / norms.len().max(1) as f64;
        let beta_sq = if free { follow(mean, norms.len() as f64 * erm.penalty.l2) } else { 0.0 };
        let rate = |i| data.share(i) / erm.penalty.l2;
        let scale = (0..data.len())
            .map(|i| {
                let curvature = (rate(i) * (norms[i] + beta_sq)).max(1e-6);
                [F::from_f64(rate(i)), F::from_f64(curvature)]
            })
            .collect();
        Self { erm, scale, beta_sq, supports: Supports::new(), prover: None }
    }

    /// Asks `prover` whenever the gap seems small enough to stop, where `F` is not f64 itself.
    pub fn proven_by(self, stop: Stop, prover: Prover<'e, F>) -> Self {
        Self { prover: Some((stop, prover)), ..self }
    }

    /// How many dual variables there are.
    pub fn n_dual(&self) -> usize {
        self.scale.len() * self.erm.model.max_parts()
    }
}

/// β², how fast a free bias follows: a part of a row's mean norm, and of what the penalty holds a row's dual variables back with. The larger, the
/// sooner the constraint is met, and the smaller the steps of everything else. On newsgroups at C = 1, one column a class took 10, 7, 6, 6 and 15 passes with 1, 0.3, 0.1, 0.03 and
/// 0.003 mean norms; with a penalty a hundred times as strong logistic columns took 6, 7, 9 and 23.
pub(crate) fn follow(mean_norm: f64, held_back: f64) -> f64 {
    // Where no row has a feature the bias has a unit of its own.
    if mean_norm > 0.0 { 0.1 * mean_norm + 0.02 * held_back } else { 1.0 }
}

/// Adds to the weights, a free bias with its own strength.
struct WithBias<'a, F> {
    w: &'a mut [F],
    free_from: usize,
    beta_sq: F,
}

impl<F: Scalar> Sink<F> for WithBias<'_, F> {
    #[inline]
    fn add_row(&mut self, at: usize, x: Row<'_>, g: &[F]) {
        kernels::add_outer(x, g, &mut self.w[at..]);
    }

    #[inline]
    fn add_block(&mut self, at: usize, g: &[F]) {
        let by = if at >= self.free_from { self.beta_sq } else { F::ONE };
        for (w, &g) in self.w[at..].iter_mut().zip(g) {
            *w += by * g;
        }
    }
}

impl<F, M, L, D> DualBlocks<F> for Dually<'_, '_, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
    D: Examples<F, M>,
{
    type Scratch = Scratch<F>;

    fn dim(&self) -> usize {
        self.erm.model.dim()
    }

    fn n_blocks(&self) -> usize {
        self.scale.len()
    }

    #[inline]
    fn block(&self, i: usize) -> Range<usize> {
        let width = self.erm.model.max_parts();
        i * width..(i + 1) * width
    }

    fn scratch(&self) -> Scratch<F> {
        let zeros = vec![F::ZERO; self.erm.model.max_parts()];
        Scratch { scores: zeros.clone(), delta: zeros }
    }

    #[inline]
    fn step(&self, i: usize, mu: &mut [F], w: &mut [F], s: &mut Scratch<F>) -> DualStep {
        let Erm { model, loss, data, .. } = &*self.erm;
        let [rate, curvature] = self.scale[i];
        if rate == F::ZERO {
            return DualStep { gap: 0.0, moved: false };
        }
        let x = data.x(i);
        let space = model.space(x);
        let n = parts(space);
        let (scores, delta) = (&mut s.scores[..n], &mut s.delta[..n]);
        model.scores(x, w, scores);
        let gap = rate.to_f64()
            * self.erm.penalty.l2
            * loss.dual_step(space, data.y(i), scores, curvature, &mut mu[..n], delta);
        // No early end, so that the loop is compiled to vectors.
        let mut moved = false;
        for d in delta.iter_mut() {
            moved |= *d != F::ZERO;
            *d *= -rate;
        }
        if moved {
            let (free_from, beta_sq) = (model.n_penalised(), F::from_f64(self.beta_sq));
            model.accumulate(x, delta, &mut WithBias { w, free_from, beta_sq });
        }
        DualStep { gap, moved }
    }

    #[inline]
    fn prefetch(&self, i: usize, soon: Soon, mu: &[F], w: &[F]) {
        if soon == Soon::Far {
            kernels::prefetch_at(&self.scale, i);
            kernels::prefetch_at(mu, self.block(i).start);
        }
        if soon == Soon::Near {
            // The lines after the first.
            let line = 64 / size_of::<F>();
            self.block(i).skip(line).step_by(line).for_each(|at| kernels::prefetch_at(mu, at));
        }
        self.erm.data.prefetch(i, soon, self.erm.model, w);
    }

    fn is_coupled(&self) -> bool {
        self.beta_sq != 0.0
    }

    fn end_pass(&mut self, mu: &mut [F], w: &mut [F]) {
        self.refine(mu, w);
        if self.beta_sq == 0.0 {
            return;
        }
        let width = self.erm.model.max_parts();
        let mut residual = vec![0.0f64; width];
        for (block, &[rate, _]) in mu.chunks_exact(width).zip(&self.scale) {
            for (r, &g) in residual.iter_mut().zip(block) {
                *r += (rate * g).to_f64();
            }
        }
        let bias = &mut w[self.erm.model.n_penalised()..];
        for (b, r) in bias.iter_mut().zip(residual) {
            *b -= F::from_f64(self.beta_sq * r);
        }
    }

    /// The dual value, which needs no scores; with a free bias what the bias still owes is left out, so that this is no bound. It only tells when to certify.
    fn estimate(&self, mu: &[F], w: &[F]) -> Option<f64> {
        let Erm { model, loss, data, penalty, .. } = &*self.erm;
        let width = model.max_parts();
        let mut value = -penalty.value(&w[..model.n_penalised()]);
        for (i, block) in mu.chunks_exact(width).enumerate() {
            let (x, share) = (data.x(i), data.share(i));
            let space = model.space(x);
            value -= share * loss.conjugate(space, data.y(i), &block[..parts(space)]);
        }
        (value > 0.0).then_some(value)
    }

    fn certify(&mut self, mu: &mut [F], w: &mut [F]) -> (f64, f64) {
        let mut v = vec![F::ZERO; w.len()];
        let dual = gap::bound(self.erm, mu, &mut v);
        if self.beta_sq == 0.0 {
            // The blocks were used as they are, so v is w up to scale without the rounding of many small steps.
            let minus = F::from_f64(-1.0 / self.erm.penalty.l2);
            for (w, &v) in w.iter_mut().zip(&v) {
                *w = minus * v;
            }
        }
        let value = self.erm.objective(w);
        let gap = (value - dual).max(0.0);
        match &mut self.prover {
            Some((stop, prove)) if gap <= stop.enough(value) && size_of::<F>() < 8 => prove(mu, w),
            _ => (value, gap),
        }
    }
}
