//! Examples: inputs, gold outputs and what each counts.

use crate::rounding::total;
use lineal_linalg::{Matrix, Row, Scalar, kernels};
use lineal_model::Model;
use lineal_model::space::OutputSpace;
use lineal_solver::Soon;

/// The gold output type of a model.
pub(crate) type Output<F, M> = <<M as Model<F>>::Space as OutputSpace<F>>::Output;

/// Weighted examples of a model.
pub trait Examples<F: Scalar, M: Model<F>>: Sync {
    /// How many.
    fn len(&self) -> usize;
    /// None.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Input `i`.
    fn x(&self, i: usize) -> M::Input<'_>;
    /// Gold output `i`.
    fn y(&self, i: usize) -> Output<F, M>;
    /// The weight of example `i` over the sum of all weights.
    fn share(&self, i: usize) -> f64;
    /// Example `i` will be looked at soon, by a model whose weights are `w`.
    fn prefetch(&self, i: usize, soon: Soon, model: &M, w: &[F]) {
        let _ = (i, soon, model, w);
    }
    /// About how many multiplications scoring all of them takes.
    fn work(&self, model: &M) -> usize;
}

/// Weights of so many bytes stay in the second cache, and asking for them costs more than waiting.
pub(crate) const NEAR: usize = 1 << 19;

/// Rows of a matrix with their outputs.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a, Y> {
    x: &'a Matrix,
    y: &'a [Y],
    weights: Option<&'a [f32]>,
    total: f64,
}

impl<'a, Y> Rows<'a, Y> {
    /// Rows with weights, or all 1.
    ///
    /// # Panics
    /// If the numbers of rows, outputs and weights differ.
    pub fn new(x: &'a Matrix, y: &'a [Y], weights: Option<&'a [f32]>) -> Self {
        assert_eq!(x.n_rows(), y.len(), "as many outputs as rows");
        assert!(weights.is_none_or(|w| w.len() == y.len()), "as many weights as rows");
        let total = match weights {
            Some(w) => total(w.iter().map(|&w| f64::from(w))),
            None => y.len() as f64,
        };
        Self { x, y, weights, total }
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.y.len()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> Row<'a> {
        self.x.row(i)
    }

    /// The weight of row `i` over the sum of all weights.
    #[inline]
    pub fn row_share(&self, i: usize) -> f64 {
        self.weights.map_or(1.0, |w| f64::from(w[i])) / self.total
    }

    /// The gold outputs.
    pub fn outputs(&self) -> &'a [Y] {
        self.y
    }

    /// Σ weights.
    pub fn total_weight(&self) -> f64 {
        self.total
    }
}

impl<F, M> Examples<F, M> for Rows<'_, Output<F, M>>
where
    F: Scalar,
    M: for<'x> Model<F, Input<'x> = Row<'x>>,
{
    fn len(&self) -> usize {
        self.y.len()
    }

    #[inline]
    fn x(&self, i: usize) -> Row<'_> {
        self.x.row(i)
    }

    #[inline]
    fn y(&self, i: usize) -> Output<F, M> {
        self.y[i]
    }

    #[inline]
    fn share(&self, i: usize) -> f64 {
        self.row_share(i)
    }

    #[inline]
    fn prefetch(&self, i: usize, soon: Soon, model: &M, w: &[F]) {
        match soon {
            Soon::Far => {
                self.x.prefetch_start(i);
                kernels::prefetch_at(self.y, i);
            }
            Soon::Near => self.x.prefetch(i),
            Soon::Next if size_of_val(w) > NEAR => {
                self.x.prefetch_weights(i, w, model.max_parts());
            }
            Soon::Next => {}
        }
    }

    fn work(&self, model: &M) -> usize {
        (self.x.nnz() + self.y.len()) * model.max_parts()
    }
}
