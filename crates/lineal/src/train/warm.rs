//! Where a run on the same rows ended, for the next one with another penalty to start from.

use crate::train::weights::{Number, Weights};

/// Weights and dual blocks, and the penalty that they belong to.
#[derive(Debug, Default)]
pub(crate) struct WarmStart {
    weights: Option<Weights>,
    blocks: Option<Weights>,
    l2: f64,
}

impl WarmStart {
    /// Weights to start from, if there are as many; else zeros.
    pub(crate) fn weights<F: Number>(&self, n: usize) -> Vec<F> {
        numbers(self.weights.as_ref(), n).unwrap_or_else(|| vec![F::ZERO; n])
    }

    /// Dual blocks, and the weights that they make under another l2: w = −(1/l2)·mean Ψᵀg, so the penalised ones shrink or grow with 1/l2, while blocks and a free
    /// bias stay. Zeros if there are not as many.
    pub(crate) fn dual<F: Number>(
        &self,
        n_dual: usize,
        n_weights: usize,
        n_penalised: usize,
        l2: f64,
    ) -> (Vec<F>, Vec<F>) {
        let zeros = || (vec![F::ZERO; n_dual], vec![F::ZERO; n_weights]);
        let (Some(mu), Some(mut w)) =
            (numbers(self.blocks.as_ref(), n_dual), numbers::<F>(self.weights.as_ref(), n_weights))
        else {
            return zeros();
        };
        let by = F::from_f64(self.l2 / l2);
        w[..n_penalised].iter_mut().for_each(|w| *w *= by);
        (mu, w)
    }

    /// Where a run ended.
    pub(crate) fn keep<F: Number>(&mut self, w: &[F], mu: Option<Vec<F>>, l2: f64) {
        self.weights = Some(F::own(w.to_vec()));
        self.blocks = mu.map(F::own);
        self.l2 = l2;
    }
}

fn numbers<F: Number>(from: Option<&Weights>, n: usize) -> Option<Vec<F>> {
    let all = from?.to_f64();
    (all.len() == n).then(|| all.into_iter().map(F::from_f64).collect())
}
