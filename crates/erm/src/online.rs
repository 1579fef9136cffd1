//! One example after the other: score, look, learn.

use lineal_linalg::Matrix;
use lineal_loss::Loss;
use lineal_model::space::OutputSpace;
use lineal_model::{Linear, Model};
use lineal_solver::Online;

/// A chunk of examples.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a, Y> {
    /// A row an example; at most as many columns used as the model has features.
    pub x: &'a Matrix,
    /// Gold outputs.
    pub y: &'a [Y],
    /// What each counts; 1 for `None`.
    pub weights: Option<&'a [f32]>,
    /// Which rows to learn from, in this order.
    pub order: &'a [usize],
}

/// Learns from a chunk. `look` sees each row's scores before it is learnt from; the sum of the losses that they had, times what the rows count, is
/// returned.
pub fn learn<S, L>(
    online: &mut Online,
    model: &Linear<S>,
    loss: &L,
    chunk: &Chunk<'_, S::Output>,
    mut look: impl FnMut(usize, &[f32]),
) -> f64
where
    S: OutputSpace<f32>,
    S::Output: Copy,
    L: Loss<f32, S>,
{
    let n = Model::<f32>::max_parts(model);
    let (mut scores, mut grad) = (vec![0.0f32; n], vec![0.0f32; n]);
    let mut sum = 0.0;
    for &i in chunk.order {
        let x = chunk.x.row(i);
        online.meet(x);
        let (v, scale) = online.weights();
        model.scores(x, v, &mut scores);
        scores.iter_mut().for_each(|s| *s *= scale);
        look(i, &scores);
        let space = Model::<f32>::space(model, x);
        let value = loss.value_grad(space, &mut scores, chunk.y[i], &mut grad);
        let weight = chunk.weights.map_or(1.0, |w| w[i]);
        sum += f64::from(weight) * value;
        if weight != 1.0 {
            grad.iter_mut().for_each(|g| *g *= weight);
        }
        online.step(|sink| model.accumulate(x, &grad, sink));
    }
    sum
}
