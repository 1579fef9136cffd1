//! Passes over a few parts of each block, between two passes over all of them.
//!
//! Blocks of Crammer and Singer's loss are sparse: of 77 classes a row has two to four whose dual variables are not 0, and after some passes these are always the same. A step on them alone keeps the others at 0. It takes
//! the scores of these parts only, and most of the dual's progress is made there; the passes over all parts then show which others should come in.

use crate::dually::Dually;
use crate::rows::Examples;
use lineal_linalg::{Rng, Scalar};
use lineal_loss::DualLoss;
use lineal_model::Model;
use lineal_solver::{Interrupt, Soon, shuffle};

/// Blocks of fewer parts are not worth it: all of their scores are one vector or two.
const LEAST_PARTS: usize = 24;
/// The most parts of a block that are few.
const MOST_FEW: usize = 12;
/// Passes over them, at most; the part of the first one's gain below which another does not pay; and the part of the mean gain below which a block sits out the rest.
const ROUNDS: usize = 12;
const LEAST_GAIN: f64 = 0.1;
const CALM: f64 = 0.4;
/// How many blocks ahead data is asked for.
const AHEAD: [(usize, Soon); 2] = [(12, Soon::Far), (6, Soon::Near)];

/// Blocks with at least two parts that are not 0, and not many, in the order of their visits.
#[derive(Debug)]
pub(crate) struct Supports<F> {
    visits: Vec<Visit<F>>,
    /// The parts of each visit, and their dual variables.
    parts: Vec<u32>,
    g: Vec<F>,
    /// Visits that the next pass makes, and what the last one gained by each.
    due: Vec<u32>,
    gains: Vec<f64>,
    rng: Rng,
}

#[derive(Clone, Copy, Debug)]
struct Visit<F> {
    block: u32,
    /// Where its parts lie.
    start: u32,
    end: u32,
    /// What [`Dually`] knows of it.
    scale: [F; 2],
}

impl<F: Scalar> Supports<F> {
    pub(crate) fn new() -> Self {
        Self {
            visits: Vec::new(),
            parts: Vec::new(),
            g: Vec::new(),
            due: Vec::new(),
            gains: Vec::new(),
            rng: Rng::new(0),
        }
    }

    fn find(&mut self, mu: &[F], width: usize, scale: &[[F; 2]]) {
        const TOGETHER: usize = 16;
        self.visits.clear();
        self.parts.clear();
        self.due.clear();
        let mut found: Vec<[u32; 3]> = Vec::new();
        let mut all: Vec<u32> = Vec::new();
        for (block, g) in (0u32..).zip(mu.chunks_exact(width)) {
            let start = all.len();
            for (at, some) in (0u32..).step_by(TOGETHER).zip(g.chunks(TOGETHER)) {
                let mut any = false;
                for &g in some {
                    any |= g != F::ZERO;
                }
                if any {
                    let own = (at..).zip(some).filter(|(_, g)| **g != F::ZERO);
                    all.extend(own.map(|(part, _)| part));
                }
            }
            if (2..=MOST_FEW).contains(&(all.len() - start)) {
                self.due.push(found.len() as u32);
                found.push([block, start as u32, all.len() as u32]);
            } else {
                all.truncate(start);
            }
        }
        // What is visited one after the other lies one after the other.
        shuffle(&mut self.due, &mut self.rng);
        self.g.clear();
        for &at in &self.due {
            let [block, from, to] = found[at as usize];
            let start = self.parts.len() as u32;
            self.parts.extend_from_slice(&all[from as usize..to as usize]);
            let own = &mu[block as usize * width..][..width];
            self.g.extend(self.parts[start as usize..].iter().map(|&part| own[part as usize]));
            let end = self.parts.len() as u32;
            self.visits.push(Visit { block, start, end, scale: scale[block as usize] });
        }
        self.due.sort_unstable();
    }

    /// Leaves visits out that gained less.
    fn keep(&mut self, least: f64) {
        let mut n = 0;
        for at in 0..self.gains.len() {
            self.due[n] = self.due[at];
            n += usize::from(self.gains[at] > least);
        }
        self.due.truncate(n);
    }

    /// Puts the dual variables where they came from.
    fn put(&self, mu: &mut [F], width: usize) {
        for visit in &self.visits {
            let own = &mut mu[visit.block as usize * width..][..width];
            let span = visit.start as usize..visit.end as usize;
            for (&part, &g) in self.parts[span.clone()].iter().zip(&self.g[span]) {
                own[part as usize] = g;
            }
        }
    }
}

impl<F, M, L, D> Dually<'_, '_, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: DualLoss<F, M::Space>,
    D: Examples<F, M>,
{
    /// Passes over the parts that are not 0, as long as they pay.
    pub(crate) fn refine(&mut self, mu: &mut [F], w: &mut [F]) {
        let width = self.erm.model.max_parts();
        let fits = self.erm.loss.has_sparse_blocks() && self.erm.model.parts_are_apart();
        if width < LEAST_PARTS || !fits {
            return;
        }
        let interrupt = Interrupt::current();
        let mut all = std::mem::replace(&mut self.supports, Supports::new());
        all.find(mu, width, &self.scale);
        let mut first = 0.0;
        for round in 0..ROUNDS {
            let mut gain = 0.0;
            all.gains.clear();
            let Supports { visits, parts, g, due, gains, .. } = &mut all;
            for (at, &visit) in due.iter().enumerate() {
                for (ahead, soon) in AHEAD {
                    if let Some(&next) = due.get(at + ahead) {
                        let next = visits[next as usize].block as usize;
                        self.erm.data.prefetch(next, soon, self.erm.model, w);
                    }
                }
                if interrupt.is_stopped() {
                    break;
                }
                let visit = visits[visit as usize];
                let span = visit.start as usize..visit.end as usize;
                let own = self.step_on(&visit, &parts[span.clone()], &mut g[span], w);
                gains.push(own);
                gain += own;
            }
            all.keep(CALM * gain / all.due.len().max(1) as f64);
            if round == 0 {
                first = gain;
            }
            if gain <= LEAST_GAIN * first {
                break;
            }
        }
        all.put(mu, width);
        self.supports = all;
    }

    /// A step on some parts of a block; its share of the gap there, before.
    #[inline]
    fn step_on(&self, visit: &Visit<F>, parts: &[u32], g: &mut [F], w: &mut [F]) -> f64 {
        let (model, data) = (self.erm.model, &self.erm.data);
        let (i, [rate, curvature]) = (visit.block as usize, visit.scale);
        let [mut scores, mut delta] = [[F::ZERO; MOST_FEW]; 2];
        let (scores, delta) = (&mut scores[..parts.len()], &mut delta[..parts.len()]);
        let x = data.x(i);
        model.scores_of(x, w, parts, scores);
        let gap = self.erm.loss.dual_step_on(data.y(i), parts, scores, curvature, g, delta);
        if gap > 0.0 {
            delta.iter_mut().for_each(|d| *d *= -rate);
            let free = if self.beta_sq == 0.0 { F::ONE } else { F::from_f64(self.beta_sq) };
            model.accumulate_on(x, parts, delta, free, w);
        }
        rate.to_f64() * self.erm.penalty.l2 * gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Erm, Penalty, Rows};
    use lineal_linalg::{Csr, Dense, Matrix};
    use lineal_loss::Hinge;
    use lineal_model::cost::ZeroOne;
    use lineal_model::space::Classes;
    use lineal_model::{Bias, Linear};
    use lineal_solver::{Dual, DualBlocks, Stop, dual, silent};

    const CLASSES: usize = 40;

    /// Noisy rows of classes, which overlap.
    fn rows(is_sparse: bool) -> (Matrix, Vec<u32>) {
        let (n, d, mut rng) = (300, 24, Rng::new(5));
        let y: Vec<u32> = (0..n).map(|_| (rng.unit() * CLASSES as f64) as u32).collect();
        let (mut indptr, mut idx, mut val, mut dense) =
            (vec![0], Vec::new(), Vec::new(), Vec::new());
        for &y in &y {
            for j in 0..d as u32 {
                let own = j == y % d as u32 || j == y / 2 || rng.unit() < 0.2;
                let v = if own { rng.unit() as f32 } else { 0.0 };
                dense.push(v);
                if own {
                    idx.push(j);
                    val.push(v);
                }
            }
            indptr.push(idx.len());
        }
        let x = match is_sparse {
            true => Matrix::Sparse(Csr::new(d, indptr, idx, val).unwrap()),
            false => Matrix::Dense(Dense::new(n, d, dense).unwrap()),
        };
        (x, y)
    }

    #[test]
    fn passes_over_supports_end_at_the_optimum_with_any_bias() {
        for is_sparse in [true, false] {
            let (x, y) = rows(is_sparse);
            for bias in [Bias::Free, Bias::Penalised, Bias::None] {
                let model = Linear::new(x.n_cols(), Classes(CLASSES), bias);
                let penalty = Penalty { l2: 1e-3, l1: 0.0 };
                let mut erm = Erm::<f64, _, _, _>::new(
                    &model,
                    &Hinge(ZeroOne),
                    Rows::new(&x, &y, None),
                    penalty,
                );
                let mut problem = Dually::new(&mut erm);
                let (mut mu, mut w) = (vec![0.0; problem.n_dual()], vec![0.0; problem.dim()]);
                let stop = Stop { tol: 1e-7, max_passes: 3000 };
                let config = Dual { stop, ..Dual::default() };
                let outcome = dual(&config, &mut problem, &mut mu, &mut w, &mut silent());
                assert!(outcome.converged, "{bias:?}: {outcome:?}");
                // Every block is a point of the domain, and most of it is 0.
                for (g, &y) in mu.chunks_exact(CLASSES).zip(&y) {
                    let others = (0..).zip(g).filter(|&(c, _)| c != y).map(|(_, &g)| g);
                    assert!(others.clone().all(|g| (0.0..=1.0 + 1e-12).contains(&g)), "{g:?}");
                    assert!((others.sum::<f64>() + g[y as usize]).abs() < 1e-9);
                }
            }
        }
    }

    /// What the passes over supports do is an ascent: the dual value never falls.
    #[test]
    fn a_step_on_the_support_raises_the_dual() {
        let (x, y) = rows(true);
        let model = Linear::new(x.n_cols(), Classes(CLASSES), Bias::Penalised);
        let penalty = Penalty { l2: 1e-3, l1: 0.0 };
        let rows = Rows::new(&x, &y, None);
        let mut erm = Erm::<f64, _, _, _>::new(&model, &Hinge(ZeroOne), rows, penalty);
        let mut problem = Dually::new(&mut erm);
        let (mut mu, mut w) = (vec![0.0; problem.n_dual()], vec![0.0; problem.dim()]);
        let mut scratch = problem.scratch();
        for i in 0..y.len() {
            problem.step(i, &mut mu[i * CLASSES..(i + 1) * CLASSES], &mut w, &mut scratch);
        }
        let mut last = problem.estimate(&mu, &w).unwrap();
        for _ in 0..3 {
            problem.refine(&mut mu, &mut w);
            let now = problem.estimate(&mu, &w).unwrap();
            assert!(now > last, "{now} {last}");
            last = now;
        }
        // The weights are still those of the blocks.
        let kept = w.clone();
        problem.certify(&mut mu, &mut w);
        assert!(kept.iter().zip(&w).all(|(a, b)| (a - b).abs() < 1e-8 * (1.0 + b.abs())));
    }
}
