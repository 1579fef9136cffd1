//! Some of the rows, for Newton's method to start from their optimum: steps on an eighth of the rows cost an eighth, and one or two on all rows then suffice where features are few.

use crate::train::fit::Job;
use lineal_linalg::Matrix;
use lineal_model::Model;
use lineal_solver::Stop;

/// Rows for each input of an output, at least: with fewer, the sample's optimum is not near that of all rows.
const ROWS_PER_INPUT: usize = 20;
/// One row in this many, or more of them if features ask for it, but at most one in `LEAST_STRIDE`.
const STRIDE: usize = 8;
const LEAST_STRIDE: usize = 4;
/// Fewer rows than this cost nothing anyway.
const LEAST_ROWS: usize = 4000;

/// A part of the rows, with their gold outputs.
pub(crate) struct Sample<Y> {
    pub x: Matrix,
    pub y: Vec<Y>,
    weights: Option<Vec<f32>>,
    n_rows: usize,
}

impl<Y: Copy> Sample<Y> {
    /// `None` where the rows are too few, or where the run starts from weights.
    pub(crate) fn new<M: Model<f64>>(job: &Job<'_, '_>, y: &[Y], model: &M) -> Option<Self> {
        let n_rows = job.x.n_rows();
        let n_inputs = model.dim() / model.max_parts().max(1);
        let n = (n_rows / STRIDE).max(ROWS_PER_INPUT * n_inputs);
        if job.warm.is_some() || n_rows < LEAST_ROWS || n > n_rows / LEAST_STRIDE {
            return None;
        }
        // By a hash of their numbers, since rows may be in any order.
        let most = (n as u64) << 32;
        let picked = |i: &usize| {
            let hash = (*i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
            hash * n_rows as u64 <= most
        };
        let rows: Vec<usize> = (0..n_rows).filter(picked).collect();
        let weights = job.weights.map(|all| rows.iter().map(|&i| all[i]).collect::<Vec<f32>>());
        let any = weights.as_ref().is_none_or(|weights| weights.iter().any(|&w| w > 0.0));
        any.then(|| Self {
            x: job.x.select(&rows),
            y: rows.iter().map(|&i| y[i]).collect(),
            weights,
            n_rows,
        })
    }

    pub(crate) fn weights(&self) -> Option<&[f32]> {
        self.weights.as_deref()
    }

    /// When to stop on the sample, whose optimum is only near that of all rows.
    pub(crate) fn stop(&self, all: Stop) -> Stop {
        Stop { tol: all.tol.max(1e-2), max_passes: all.max_passes.min(60) }
    }

    /// Passes over the sample as passes over all rows.
    pub(crate) fn passes(&self, own: usize) -> usize {
        (own * self.y.len()).div_ceil(self.n_rows.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::spec::{LossKind, SolverKind, TrainSpec};
    use crate::train::warm::WarmStart;
    use crate::train::watch::Watch;
    use lineal_linalg::Dense;
    use lineal_model::space::Classes;
    use lineal_model::{Bias, Linear};

    fn sample(
        n: usize,
        weights: Option<&[f32]>,
        warm: Option<&mut WarmStart>,
    ) -> Option<Sample<u32>> {
        let x = Matrix::Dense(Dense::new(n, 3, vec![1.0; 3 * n]).unwrap());
        let y: Vec<u32> = (0..n).map(|i| (4 * i / n) as u32).collect();
        let job = Job {
            spec: &TrainSpec::default(),
            loss: LossKind::Logistic,
            solver: SolverKind::Newton,
            l2: 1.0,
            x: &x,
            weights,
            held_out_x: None,
            watch: Watch::new(None, None),
            warm,
        };
        Sample::new(&job, &y, &Linear::new(3, Classes(4), Bias::Free))
    }

    #[test]
    fn rows_are_from_everywhere() {
        let n = 8000;
        let found = sample(n, None, None).expect("a sample");
        assert_eq!(found.x.n_rows(), found.y.len());
        for class in 0..4 {
            let share = found.y.iter().filter(|&&y| y == class).count();
            assert!((240..=260).contains(&share), "{share} rows of class {class}");
        }
        assert_eq!(found.passes(15), 2);
    }

    #[test]
    fn there_is_none_of_few_rows_of_no_weight_or_after_another_run() {
        assert!(sample(LEAST_ROWS - 1, None, None).is_none());
        assert!(sample(8000, Some(&[0.0; 8000]), None).is_none());
        assert!(sample(8000, None, Some(&mut WarmStart::default())).is_none());
    }
}
