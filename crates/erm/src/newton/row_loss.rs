//! A smooth loss of scores, row after row: what Newton's method asks of it, in the same words for classes, columns and numbers, so that the method is compiled once.

use lineal_loss::{Loss, SecondOrder};
use lineal_model::space::OutputSpace;
use std::ops::Range;

/// Losses of rows, each times its share. Slices are row-major, `stride` numbers for each of the rows, of which the outputs are the first; scores, which are kept for all rows, have no more than the outputs.
pub(super) trait RowLoss: Sync {
    /// Outputs of a row.
    fn n_outputs(&self) -> usize;
    /// Σ shareᵢ ℓᵢ, and the slopes shareᵢ ∂ℓᵢ/∂θ.
    fn slopes(&self, rows: Range<usize>, stride: usize, scores: &[f64], slopes: &mut [f64]) -> f64;
    /// What [`products`](Self::products) needs of each row, and the diagonals of shareᵢ ∂²ℓᵢ.
    fn curve(
        &self,
        rows: Range<usize>,
        stride: usize,
        scores: &[f64],
        state: &mut [f32],
        diagonal: &mut [f32],
    );
    /// `v` ← shareᵢ ∂²ℓᵢ `v`.
    fn products(&self, rows: Range<usize>, stride: usize, state: &[f32], v: &mut [f32]);
}

/// Any smooth loss over rows that all have the same space.
pub(super) struct Smooth<'a, S, L, Y> {
    pub space: S,
    pub loss: &'a L,
    pub y: &'a [Y],
    pub shares: &'a [f64],
}

impl<S, L, Y> RowLoss for Smooth<'_, S, L, Y>
where
    S: OutputSpace<f64, Output = Y> + OutputSpace<f32, Output = Y>,
    L: Loss<f64, S> + SecondOrder<f64, S> + SecondOrder<f32, S>,
    Y: Copy + Sync,
{
    fn n_outputs(&self) -> usize {
        OutputSpace::<f64>::n_parts(&self.space)
    }

    fn slopes(&self, rows: Range<usize>, stride: usize, scores: &[f64], slopes: &mut [f64]) -> f64 {
        let k = self.n_outputs();
        let mut own = vec![0.0; k];
        let mut value = 0.0;
        for ((i, scores), slopes) in
            rows.zip(scores.chunks_exact(k)).zip(slopes.chunks_exact_mut(stride))
        {
            own.copy_from_slice(&scores[..k]);
            let share = self.shares[i];
            value +=
                share * self.loss.value_grad(self.space, &mut own, self.y[i], &mut slopes[..k]);
            slopes[..k].iter_mut().for_each(|slope| *slope *= share);
        }
        value
    }

    fn curve(
        &self,
        rows: Range<usize>,
        stride: usize,
        scores: &[f64],
        state: &mut [f32],
        diagonal: &mut [f32],
    ) {
        let k = self.n_outputs();
        let mut own = vec![0.0f32; k];
        let rows = rows.zip(scores.chunks_exact(k));
        for ((i, scores), (state, diagonal)) in
            rows.zip(state.chunks_exact_mut(stride).zip(diagonal.chunks_exact_mut(stride)))
        {
            own.iter_mut().zip(scores).for_each(|(own, &score)| *own = score as f32);
            let (y, state) = (self.y[i], &mut state[..k]);
            self.loss.curve(self.space, &mut own, y, state);
            self.loss.hess_diag(self.space, y, state, &mut diagonal[..k]);
            let share = self.shares[i] as f32;
            diagonal[..k].iter_mut().for_each(|h| *h *= share);
        }
    }

    fn products(&self, rows: Range<usize>, stride: usize, state: &[f32], v: &mut [f32]) {
        let k = self.n_outputs();
        let mut own = vec![0.0f32; k];
        for ((i, state), v) in rows.zip(state.chunks_exact(stride)).zip(v.chunks_exact_mut(stride))
        {
            self.loss.hess_vec(self.space, self.y[i], &state[..k], &v[..k], &mut own);
            let share = self.shares[i] as f32;
            v.iter_mut().zip(&own).for_each(|(v, &own)| *v = share * own);
        }
    }
}
