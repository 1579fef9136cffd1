//! The duality gap: P(w) − D(g) for dual blocks g, which bounds P(w) − min P.
//!
//! ```text
//! D(g) = − Σ shareᵢ ℓ*(gᵢ) − penalty*(−v),     v = Σ shareᵢ Ψᵢᵀ gᵢ,     v = 0 on free weights
//! ```
//!
//! Weights alone give a dual point too: gᵢ = ∇ℓ(θᵢ). Without a free bias the gap is then ‖∇P‖²/(2 l2) exactly, at no cost.
//!
//! **What is reported is proven** ([`Erm::proven_bound`], [`Erm::proven_value`]): in f64, with every rounding error bounded outward (`rounding.rs`). Let ε be the part by which shares, changed blocks and
//! sums can be off, γ of the number of examples and what the balance adds. Then
//!
//! - the blocks are first moved into the domain of ℓ*, exactly, and balanced (`balance.rs`): what is meant is a real dual point g*, and the computed g is within ε·off of it;
//! - Σ share ℓ*(g*) is at most what is computed plus ε·Σ share·sensitivity, for which each loss knows its constant;
//! - v is off by a vector e with ‖e‖ ≤ ε·Σ shareᵢ‖Ψᵢ‖‖offᵢ‖, by the triangle inequality over the examples and ‖|Ψᵢ|ᵀa‖ ≤ ‖Ψᵢ‖‖a‖ (`Model::isotropy` is the square of that norm). The conjugate of the penalty is
//!   ‖S(v)‖²/(2 l2) with S the soft threshold at l1, which moves no two points apart: ‖S(v)‖ ≤ ‖S(computed v)‖ + ‖e‖;
//! - with l1 alone everything is scaled until the largest |vⱼ| + ‖e‖ is within l1.
//!
//! The bound holds for the optimum of the risk whatever weights it is compared with, so the best one of a run counts.

use crate::balance::Balance;
use crate::risk::{Erm, Penalty, parts};
use crate::rounding::{LowerBound, Proof, Sums, gamma, underflow};
use crate::rows::Examples;
use crate::shards::{Shard, Shards};
use lineal_linalg::{DenseSink, Scalar, kernels};
use lineal_loss::DualLoss;
use lineal_model::Model;

/// The gap at `w`, whose gradient (of the smooth part) is `grad`; infinity if it is clearly above `enough`.
pub(crate) fn at<F, M, L, D>(
    erm: &mut Erm<'_, F, M, L, D>,
    w: &[F],
    grad: &[F],
    enough: f64,
) -> Option<f64>
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
    D: Examples<F, M>,
{
    let n = erm.model.n_penalised();
    let (penalised, free) = grad.split_at(n);
    if erm.penalty.l2 <= 0.0 && erm.penalty.l1 <= 0.0 {
        return None;
    }
    if erm.penalty.l1 == 0.0 {
        let cheap = kernels::dot64(penalised, penalised) / (2.0 * erm.penalty.l2);
        if cheap > enough || free.iter().all(|&g| g == F::ZERO) {
            return Some(if cheap > enough && enough.is_finite() { f64::INFINITY } else { cheap });
        }
    }

    let (model, loss, data) = (erm.model, erm.loss, &erm.data);
    let width = model.max_parts();
    let mut blocks = vec![F::ZERO; data.len() * width];
    let mean_loss = erm.shards.fill(&mut blocks, width, &|range, blocks| {
        let mut scores = vec![F::ZERO; width];
        let mut value = 0.0;
        for (i, g) in range.zip(blocks.chunks_exact_mut(width)) {
            let x = data.x(i);
            let space = model.space(x);
            let n = parts(space);
            model.scores(x, w, &mut scores[..n]);
            value +=
                data.share(i) * loss.value_grad(space, &mut scores[..n], data.y(i), &mut g[..n]);
        }
        value
    });
    let value = mean_loss + erm.penalty.value(&w[..n]);
    let mut v = vec![F::ZERO; model.dim()];
    Some((value - bound(erm, &blocks, &mut v)).max(0.0))
}

/// D(g) for blocks near `blocks` that respect a free bias, as far as `F` knows it; `v` is overwritten with Σ shareᵢ Ψᵢᵀ gᵢ for them.
pub(crate) fn bound<F, M, L, D>(erm: &mut Erm<'_, F, M, L, D>, blocks: &[F], v: &mut [F]) -> f64
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
    D: Examples<F, M>,
{
    dual_point(erm.parts(), blocks, v, false).bound(erm.penalty).computed
}

/// A point of the dual: what is left of it once the blocks are summed up.
pub(crate) struct DualPoint {
    /// −Σ share ℓ*(g), and by how much it may be less.
    gain: f64,
    gain_error: f64,
    /// ‖S(v)‖ over the penalised weights, S being the soft threshold at l1, and by how much it may be more.
    v_norm: f64,
    norm_error: f64,
}

impl DualPoint {
    /// −Σ share ℓ*(g) and ‖S(v)‖, each in the direction that proves less.
    pub(crate) fn outward(&self) -> (f64, f64) {
        (self.gain - self.gain_error, self.v_norm + self.norm_error)
    }

    /// D.
    pub(crate) fn bound(&self, penalty: crate::Penalty) -> LowerBound {
        let (gain, v_norm) = self.outward();
        if penalty.l2 <= 0.0 {
            return LowerBound { computed: self.gain, proven: gain - gamma(4) * gain.abs() };
        }
        let norm = |v_norm: f64| v_norm * v_norm / (2.0 * penalty.l2);
        let computed = self.gain - norm(self.v_norm);
        let lost = norm(v_norm);
        LowerBound { computed, proven: gain - lost - gamma(8) * (gain.abs() + lost) }
    }
}

/// What [`dual_point`] needs of a risk. The loss is dynamic, so that all losses share that code: it runs once in many passes.
pub(crate) struct Parts<'e, F: Scalar, M: Model<F>, D> {
    model: &'e M,
    loss: &'e dyn DualLoss<F, M::Space>,
    data: &'e D,
    penalty: Penalty,
    shards: &'e mut Shards<F>,
}

impl<F, M, L, D> Erm<'_, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
{
    pub(crate) fn parts(&mut self) -> Parts<'_, F, M, D> {
        let Self { model, loss, data, penalty, shards, .. } = self;
        Parts { model: *model, loss: *loss, data, penalty: *penalty, shards }
    }
}

/// The dual point of blocks near `blocks` that respect a free bias and, for l1 alone, the constraint |v| ≤ l1. With `errors` the blocks are moved into the domain first and all
/// errors of rounding are counted, in the arithmetic of `F`, which should then be f64.
pub(crate) fn dual_point<F, G, M, D>(
    of: Parts<'_, F, M, D>,
    blocks: &[G],
    v: &mut [F],
    errors: bool,
) -> DualPoint
where
    F: Scalar,
    G: Scalar,
    M: Model<F>,
    D: Examples<F, M>,
{
    let Parts { model, loss, data, penalty, shards } = of;
    let (width, n_penalised, n) = (model.max_parts(), model.n_penalised(), data.len());
    let given = |i: usize, out: &mut [F]| {
        let x = data.x(i);
        let space = model.space(x);
        let g = &blocks[i * width..i * width + parts(space)];
        out.iter_mut().zip(g).for_each(|(out, g)| *out = F::from_f64(g.to_f64()));
        if errors {
            loss.clamp(space, data.y(i), &mut out[..g.len()]);
        }
    };
    let balance = if n_penalised == model.dim() {
        Balance::none()
    } else {
        let mut block = vec![F::ZERO; width];
        Balance::of(loss.domain(), n, width, errors, &mut |i, out| {
            let share = data.share(i);
            block.fill(F::ZERO);
            if share > 0.0 {
                given(i, &mut block);
            }
            out.iter_mut().zip(&block).for_each(|(out, g)| *out = g.to_f64());
            share
        })
    };
    let conjugate = |shrink: f64, v: Option<&mut [F]>, range: Shard<'_>| {
        let mut sink = v.map(DenseSink);
        let (mut block, mut changed) = (vec![F::ZERO; width], vec![F::ZERO; width]);
        let mut off = vec![0.0; width];
        // Σ share ℓ*, of its sensitivity, of ‖Ψ‖‖off‖.
        let mut sums = [0.0; 3];
        for i in range {
            let share = data.share(i);
            if share == 0.0 {
                continue;
            }
            let x = data.x(i);
            let space = model.space(x);
            let (block, g) = (&mut block[..parts(space)], &mut changed[..parts(space)]);
            let off = &mut off[..parts(space)];
            given(i, block);
            balance.apply(block, g, off);
            if shrink != 1.0 {
                g.iter_mut().for_each(|g| *g *= F::from_f64(shrink));
            }
            if g.iter().all(|&g| g == F::ZERO) && off.iter().all(|&off| off == 0.0) {
                continue;
            }
            sums[0] += share * loss.conjugate(space, data.y(i), g);
            if errors {
                sums[1] += share * loss.sensitivity(space, data.y(i), g, off);
                let norm = model.isotropy(x).unwrap_or(f64::INFINITY).sqrt();
                let length = off.iter().map(|off| off * off).sum::<f64>().sqrt();
                sums[2] += share * norm * length;
            }
            if let Some(sink) = &mut sink {
                g.iter_mut().for_each(|g| *g *= F::from_f64(share));
                model.accumulate(x, g, sink);
            }
        }
        sums
    };
    let sums = Sums::new();
    shards.accumulate(v, &|range, v| {
        sums.put(range.start(), conjugate(1.0, Some(v), range));
        0.0
    });
    let [sum, sensitivity, length] = sums.total();
    // Shares, blocks, products and sums over the examples; a penalised norm over the weights.
    let part = if errors { balance.error + gamma(2 * n + width + 16) } else { 0.0 };
    let lost = if errors { part * length + underflow(n) } else { 0.0 };
    let v = &mut v[..n_penalised];
    let gain_error = part * sensitivity;
    if penalty.l2 > 0.0 {
        let over = |v: &F| (v.abs().to_f64() - penalty.l1).max(0.0);
        let square: f64 = v.iter().map(|v| over(v) * over(v)).sum();
        let v_norm = square.sqrt();
        let norm_error = v_norm * gamma(n_penalised) + lost;
        return DualPoint { gain: -sum, gain_error, v_norm, norm_error };
    }
    // l1 alone: the dual asks for |vⱼ| ≤ l1, and every domain is closed under scaling down.
    let largest = v.iter().fold(0.0f64, |m, v| m.max(v.abs().to_f64())) + lost;
    let shrink = (penalty.l1 / largest * (1.0 - part.min(1.0))).min(1.0);
    if shrink == 1.0 {
        return DualPoint { gain: -sum, gain_error, v_norm: 0.0, norm_error: 0.0 };
    }
    v.iter_mut().for_each(|v| *v *= F::from_f64(shrink));
    let sums = Sums::new();
    shards.sum(&|range| {
        sums.put(range.start(), conjugate(shrink, None, range));
        0.0
    });
    let [sum, sensitivity, _] = sums.total();
    DualPoint { gain: -sum, gain_error: part * sensitivity, v_norm: 0.0, norm_error: 0.0 }
}

/// What is known of the objective at some weights.
#[derive(Clone, Debug, PartialEq)]
pub struct ProvenValue {
    /// Mean loss and penalties.
    pub objective: f64,
    /// By how much rounding may have changed it.
    pub error: f64,
    /// The losses' (sub)gradients, block after block: a point of the dual.
    pub blocks: Vec<f64>,
}

impl ProvenValue {
    /// How far the objective is at most above the minimum, of which `bound` is a lower bound.
    pub fn proof(&self, bound: Option<LowerBound>) -> Proof {
        match bound {
            Some(bound) => Proof::new(self.objective, self.error, bound),
            None => Proof::nothing(self.objective),
        }
    }
}

impl<M, L, D> Erm<'_, f64, M, L, D>
where
    M: Model<f64>,
    L: DualLoss<f64, M::Space>,
    D: Examples<f64, M>,
{
    /// A lower bound of the minimum from dual blocks of any precision, proven in exact arithmetic; none where there is none.
    pub fn proven_bound<G: Scalar>(&mut self, blocks: &[G]) -> Option<LowerBound> {
        if self.penalty.l2 <= 0.0 && self.penalty.l1 <= 0.0 {
            return None;
        }
        let mut v = vec![0.0; self.model.dim()];
        let bound = dual_point(self.parts(), blocks, &mut v, true).bound(self.penalty);
        bound.proven.is_finite().then_some(bound)
    }

    /// The objective at `w` with a bound on its rounding error, and the gradient of its smooth part, which overwrites `grad`.
    ///
    /// A score is off by at most δ = γ‖Ψᵢ‖‖w‖, and a bias more. A loss's slope within δ of where it was computed is at most what was computed, plus a jump (1 for each class, of the hinges), plus the
    /// curvature's share (2δ for each class, of the squared losses).
    pub fn proven_value(&mut self, w: &[f64], grad: &mut [f64]) -> ProvenValue {
        let (model, loss, data) = (self.model, self.loss, &self.data);
        let (width, n) = (model.max_parts(), model.n_penalised());
        let (penalised, free) = w.split_at(n);
        let w_norm = kernels::dot64(penalised, penalised).sqrt();
        let bias = free.iter().fold(0.0f64, |m, b| m.max(b.abs()));
        let mut blocks = vec![0.0; data.len() * width];
        let sums = Sums::new();
        self.shards.fill(&mut blocks, width, &|range, blocks| {
            let mut scores = vec![0.0; width];
            let (start, mut sums_here) = (range.start(), [0.0; 2]);
            for (i, g) in range.zip(blocks.chunks_exact_mut(width)) {
                let x = data.x(i);
                let space = model.space(x);
                let g = &mut g[..parts(space)];
                model.scores(x, w, &mut scores[..g.len()]);
                let share = data.share(i);
                let value = loss.value_grad(space, &mut scores[..g.len()], data.y(i), g);
                let norm = model.isotropy(x).unwrap_or(f64::INFINITY).sqrt();
                let off = gamma(model.n_terms(x) + 8) * (norm * w_norm + bias + 1.0);
                let slope: f64 = g.iter().map(|g| g.abs()).sum();
                let classes = g.len() as f64;
                sums_here[0] += share * value;
                sums_here[1] += share * off * (slope + 2.0 * classes + 4.0 * classes * off);
            }
            sums.put(start, sums_here);
            0.0
        });
        let [mean_loss, by_scores] = sums.total();
        self.shards.accumulate(grad, &|range, grad| {
            let mut sink = DenseSink(grad);
            let mut slope = vec![0.0; width];
            for i in range {
                let x = data.x(i);
                let g = &blocks[i * width..i * width + parts(model.space(x))];
                if g.iter().any(|&g| g != 0.0) {
                    let share = data.share(i);
                    slope.iter_mut().zip(g).for_each(|(slope, g)| *slope = share * g);
                    model.accumulate(x, &slope[..g.len()], &mut sink);
                }
            }
            0.0
        });
        kernels::axpy(self.penalty.l2, penalised, &mut grad[..n]);
        let penalty = self.penalty.value(penalised);
        let objective = mean_loss + penalty;
        let error = by_scores + gamma(data.len() + w.len() + 16) * objective.abs();
        ProvenValue { objective, error, blocks }
    }
}
