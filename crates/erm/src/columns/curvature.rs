//! The Hessian of a column, Σ weightᵢ ℓ″ᵢ xᵢxᵢᵀ + l2·I, and its factor.
//!
//! The hinge's relatives have the same curvature at every row that has one. Then the sum without that curvature is kept, and only rows that came to the margin or left it since are added or taken off, which is cheaper than
//! to make it anew as soon as most of them stay. What rounding leaves behind is some 10⁻¹⁶ of the sum, and only directions depend on it.

use super::newton::{Example, Problem, SPARSE};
use lineal_linalg::{Row, dense};

/// Rows that are gathered before they are added to a Hessian.
const ROWS: usize = 256;

/// The Hessian at weights of 0, which columns may share.
pub(super) struct Start {
    /// Σ shareᵢ xᵢxᵢᵀ.
    sum: Vec<f64>,
    /// The factor of the Hessian.
    pub(super) factor: Vec<f64>,
}

impl Start {
    pub(super) fn new(problem: &Problem<'_>, curvature: f64, free: f64) -> Self {
        let mut sum = vec![0.0; problem.dim() * problem.dim()];
        add(problem, (0u32..).zip(problem.shares.iter().copied()), &mut sum);
        let mut factor = vec![0.0; sum.len()];
        penalised_factor(problem, &sum, curvature, free, &mut factor);
        Self { sum, factor }
    }
}

/// The Hessian of one column, from step to step.
pub(super) struct Curvature<'p> {
    problem: &'p Problem<'p>,
    /// Σ weightᵢ xᵢxᵢᵀ over the examples that are `in_sum`, the lower triangle; empty before the first.
    sum: Vec<f64>,
    /// For each example whether it is part of the sum.
    in_sum: Vec<bool>,
    factor: Vec<f64>,
    /// What is taken off.
    gone: Vec<f64>,
}

impl<'p> Curvature<'p> {
    /// `start` is a sum that has all examples.
    pub(super) fn new(problem: &'p Problem<'p>, start: Option<&Start>) -> Self {
        let (sum, in_sum) = match start {
            Some(start) => (start.sum.clone(), vec![true; problem.shares.len()]),
            None => (Vec::new(), Vec::new()),
        };
        Self { problem, sum, in_sum, factor: Vec::new(), gone: Vec::new() }
    }

    /// The factor of H, from the curvature of each example's loss and what a free bias has beyond these.
    pub(super) fn factor(&mut self, examples: &[Example], curvatures: &[f64], free: f64) -> &[f64] {
        let Self { problem, sum, in_sum, factor, gone } = self;
        let n_numbers = problem.dim() * problem.dim();
        factor.resize(n_numbers, 0.0);
        let level = curvatures.iter().copied().find(|&c| c > 0.0).unwrap_or(0.0);
        if curvatures.iter().any(|&c| c > 0.0 && c != level) {
            in_sum.clear();
            sum.clear();
            sum.resize(n_numbers, 0.0);
            let own = |(e, c): (&Example, &f64)| (e.row, e.weight * c);
            add(problem, examples.iter().zip(curvatures).map(own), sum);
            penalised_factor(problem, sum, 1.0, free, factor);
            return factor;
        }
        let n_curved = curvatures.iter().filter(|&&c| c > 0.0).count();
        let changes = |(&was, &c): (&bool, &f64)| was != (c > 0.0);
        let n_changed = in_sum.iter().zip(curvatures).filter(|&pair| changes(pair)).count();
        let anew = in_sum.len() != examples.len() || n_changed >= n_curved;
        if anew {
            sum.clear();
            sum.resize(n_numbers, 0.0);
            in_sum.clear();
            in_sum.resize(examples.len(), false);
        }
        let all = || examples.iter().zip(curvatures).zip(&*in_sum);
        let weighted = |((e, _), _): ((&Example, &f64), &bool)| (e.row, e.weight);
        add(problem, all().filter(|&((_, &c), &was)| c > 0.0 && !was).map(weighted), sum);
        if !anew && n_changed > 0 {
            gone.clear();
            gone.resize(n_numbers, 0.0);
            add(problem, all().filter(|&((_, &c), &was)| c <= 0.0 && was).map(weighted), gone);
            sum.iter_mut().zip(&*gone).for_each(|(sum, gone)| *sum -= gone);
        }
        in_sum.iter_mut().zip(curvatures).for_each(|(is, &c)| *is = c > 0.0);
        penalised_factor(problem, sum, level, free, factor);
        factor
    }
}

/// Adds Σ weight · xxᵀ over some rows to the lower triangle of `out`.
fn add(problem: &Problem<'_>, rows: impl Iterator<Item = (u32, f64)>, out: &mut [f64]) {
    let mut gathered = Gathered::new(problem.dim(), problem.task.x.n_cols());
    let used = rows.filter(|&(_, weight)| weight > 0.0);
    for (row, weight) in used.take_while(|_| !problem.interrupt.is_stopped()) {
        gathered.add(problem.task.x.row(row as usize), weight, out);
    }
    gathered.flush(out);
}

/// Fills the lower triangle of `out` with the factor of level·sum and the penalty.
fn penalised_factor(problem: &Problem<'_>, sum: &[f64], level: f64, free: f64, out: &mut [f64]) {
    let (dim, n_penalised) = (problem.dim(), problem.n_penalised());
    let mut shift = 0.0;
    loop {
        out.iter_mut().zip(sum).for_each(|(out, sum)| *out = level * sum);
        for j in 0..dim {
            let own = if j < n_penalised { problem.task.l2 } else { free };
            out[j * dim + j] += own + shift;
        }
        let largest = (0..dim).map(|j| out[j * dim + j]).fold(0.0, f64::max);
        if dense::cholesky(out, dim).is_ok() || shift > largest || !largest.is_finite() {
            return;
        }
        // If no row has a curvature, a free bias has a zero on the diagonal.
        shift = if shift == 0.0 { 1e-10 * largest.max(1e-200) } else { 10.0 * shift };
    }
}

/// Rows that wait to be added to a Hessian together.
struct Gathered {
    dim: usize,
    d: usize,
    rows: Vec<f32>,
    scale: Vec<f64>,
}

impl Gathered {
    fn new(dim: usize, d: usize) -> Self {
        Self { dim, d, rows: Vec::new(), scale: Vec::new() }
    }

    fn add(&mut self, x: Row<'_>, curvature: f64, out: &mut [f64]) {
        let dim = self.dim;
        if let Row::Sparse(row) = x
            && row.idx().len() * SPARSE < dim
        {
            let bias = (dim > self.d).then_some(self.d);
            dense::add_outer_square(row, bias, curvature, dim, out);
            return;
        }
        let at = self.rows.len();
        self.rows.resize(at + dim, 0.0);
        let into = &mut self.rows[at..];
        x.for_each(|j, v| into[j] = v);
        if dim > self.d {
            into[self.d] = 1.0;
        }
        self.scale.push(curvature.sqrt());
        if self.scale.len() == ROWS {
            self.flush(out);
        }
    }

    fn flush(&mut self, out: &mut [f64]) {
        dense::gram(&self.rows, self.dim, Some(&self.scale), out);
        self.rows.clear();
        self.scale.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnTask;
    use lineal_linalg::{Csr, Dense, Matrix, Rng};
    use lineal_model::Bias;
    use lineal_model::space::{Columns, Signs};
    use lineal_solver::Stop;
    use proptest::prelude::*;

    fn rows(n: usize, d: usize, sparse: bool, seed: u64) -> Matrix {
        let mut rng = Rng::new(seed);
        if !sparse {
            let all = (0..n * d).map(|_| rng.unit() as f32 - 0.5).collect();
            return Matrix::Dense(Dense::new(n, d, all).unwrap());
        }
        let idx: Vec<u32> = (0..n).map(|_| (rng.unit() * d as f64) as u32).collect();
        let val = (0..n).map(|_| rng.unit() as f32 - 0.5).collect();
        Matrix::Sparse(Csr::new(d, (0..=n).collect(), idx, val).unwrap())
    }

    proptest! {
        /// Rows that come and go leave the Hessian that those that are there have, made anew.
        #[test]
        fn changes_add_up_to_the_whole(
            n in 5usize..80,
            d in 1usize..20,
            sparse: bool,
            bias in prop_oneof![Just(Bias::Free), Just(Bias::Penalised), Just(Bias::None)],
            shared: bool,
            seed: u64,
        ) {
            let x = rows(n, d, sparse, seed);
            let kinds: Vec<u32> = (0..n as u32).map(|i| i % 2).collect();
            let task = ColumnTask {
                x: &x,
                kinds: &kinds,
                weights: None,
                space: Columns::new(Signs::OneVsAll, 2),
                bias,
                l2: 1e-2,
                report: &[1.0; 2],
                side_by_side: &[],
            };
            let shares = task.shares();
            let problem = Problem::new(&task, &shares, Stop::default());
            let examples = problem.examples(0);
            let start = shared.then(|| Start::new(&problem, 2.0, 0.01));
            let mut kept = Curvature::new(&problem, start.as_ref());
            let mut rng = Rng::new(!seed);
            let mut curvatures = vec![2.0f64; n];
            for round in 0..8 {
                // Few changes, many, another level, none that is curved, unlike ones.
                let share = [0.1, 0.9, 0.05, 0.3, 1.0, 0.5, 0.1, 0.2][round];
                let level = if round % 3 == 0 { 2.0 } else { 0.7 };
                for c in &mut curvatures {
                    let is = if rng.unit() < share { rng.unit() < 0.6 } else { *c > 0.0 };
                    *c = if is && round != 4 { level } else { 0.0 };
                    if round == 6 && is {
                        *c += rng.unit();
                    }
                }
                let factor = kept.factor(&examples, &curvatures, 0.01).to_vec();
                let mut anew = Curvature::new(&problem, None);
                let want = anew.factor(&examples, &curvatures, 0.01);
                let dim = problem.dim();
                for i in 0..dim {
                    for j in 0..=i {
                        let (got, want) = (factor[i * dim + j], want[i * dim + j]);
                        prop_assert!((got - want).abs() < 1e-10, "round {round}: {got} {want}");
                    }
                }
            }
        }
    }
}
