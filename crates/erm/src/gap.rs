//! The duality gap: P(w) − D(g) for dual blocks g, which bounds P(w) − min P.
//!
//! ```text
//! D(g) = − Σ shareᵢ ℓ*(gᵢ) − penalty*(−v),     v = Σ shareᵢ Ψᵢᵀ gᵢ,     v = 0 on free weights
//! ```
//!
//! Weights alone give a dual point too: gᵢ = ∇ℓ(θᵢ). Without a free bias the gap is then ‖∇P‖²/(2 l2) exactly, at no cost.

use crate::balance::Balance;
use crate::risk::{Erm, parts};
use crate::rows::Examples;
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

/// D(g) for blocks near `blocks` that respect a free bias; `v` is overwritten with Σ shareᵢ Ψᵢᵀ gᵢ for them.
pub(crate) fn bound<F, M, L, D>(erm: &mut Erm<'_, F, M, L, D>, blocks: &[F], v: &mut [F]) -> f64
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
    D: Examples<F, M>,
{
    let (model, loss, data) = (erm.model, erm.loss, &erm.data);
    let (width, n_penalised) = (model.max_parts(), model.n_penalised());
    let balance = if n_penalised == model.dim() {
        Balance::Keep
    } else {
        Balance::of(loss.domain(), data, width, blocks)
    };
    let conjugate = |shrink: f64, v: Option<&mut [F]>, range: std::ops::Range<usize>| -> f64 {
        let mut sink = v.map(DenseSink);
        let mut block = vec![F::ZERO; width];
        let mut sum = 0.0;
        for i in range {
            let x = data.x(i);
            let space = model.space(x);
            let g = &mut block[..parts(space)];
            balance.apply(&blocks[i * width..i * width + g.len()], g);
            if shrink != 1.0 {
                g.iter_mut().for_each(|g| *g *= F::from_f64(shrink));
            }
            if g.iter().any(|&g| g != F::ZERO) {
                let share = data.share(i);
                sum += share * loss.conjugate(space, data.y(i), g);
                if let Some(sink) = &mut sink {
                    g.iter_mut().for_each(|g| *g *= F::from_f64(share));
                    model.accumulate(x, g, sink);
                }
            }
        }
        sum
    };
    let sum = erm.shards.accumulate(v, &|range, v| conjugate(1.0, Some(v), range));
    if erm.penalty.l2 > 0.0 {
        return -sum - erm.penalty.conjugate(&v[..n_penalised]);
    }
    // l1 alone: the dual asks for |vⱼ| ≤ l1, and every domain is closed under scaling down.
    let largest = v[..n_penalised].iter().fold(0.0f64, |m, v| m.max(v.abs().to_f64()));
    let shrink = (erm.penalty.l1 / largest).min(1.0);
    if shrink == 1.0 {
        return -sum;
    }
    v.iter_mut().for_each(|v| *v *= F::from_f64(shrink));
    -erm.shards.sum(&|range| conjugate(shrink, None, range))
}
