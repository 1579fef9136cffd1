//! The risk, one example at a time.

use crate::risk::{Erm, parts};
use crate::rows::Examples;
use lineal_linalg::{Scalar, Sink};
use lineal_loss::Loss;
use lineal_model::Model;
use lineal_solver::Stochastic;

/// An [`Erm`] whose examples are drawn one by one. A gradient is scaled by n·share, so that its mean over
/// uniform draws is the gradient of the weighted mean loss.
#[derive(Debug)]
pub struct Stochastically<'e, 'a, F, M, L, D>(pub &'e Erm<'a, F, M, L, D>);

impl<F, M, L, D> Stochastic<F> for Stochastically<'_, '_, F, M, L, D>
where
    F: Scalar,
    M: Model<F>,
    L: Loss<F, M::Space>,
    D: Examples<F, M>,
{
    type Scratch = Vec<F>;

    fn dim(&self) -> usize {
        self.0.model.dim()
    }

    fn n_examples(&self) -> usize {
        self.0.data.len()
    }

    fn n_penalised(&self) -> usize {
        self.0.model.n_penalised()
    }

    fn max_parts(&self) -> usize {
        self.0.model.max_parts()
    }

    fn scratch(&self) -> Vec<F> {
        vec![F::ZERO; self.0.model.max_parts()]
    }

    #[inline]
    fn slope(&self, i: usize, v: &[F], scale: F, s: &mut Vec<F>, g: &mut [F]) -> (f64, usize) {
        let Erm { model, loss, data, .. } = self.0;
        let x = data.x(i);
        let space = model.space(x);
        let n = parts(space);
        let (scores, g) = (&mut s[..n], &mut g[..n]);
        model.scores(x, v, scores);
        scores.iter_mut().for_each(|s| *s *= scale);
        let weight = data.share(i) * data.len() as f64;
        let value = weight * loss.value_grad(space, scores, data.y(i), g);
        if weight != 1.0 {
            let weight = F::from_f64(weight);
            g.iter_mut().for_each(|g| *g *= weight);
        }
        (value, n)
    }

    #[inline]
    fn spread(&self, i: usize, g: &[F], sink: &mut impl Sink<F>) {
        self.0.model.accumulate(self.0.data.x(i), g, sink);
    }
}
