//! Solves with an approximate Hessian of each output: Mₖ = Σ hᵢₖ xᵢxᵢᵀ + l2·I, factored.
//!
//! Rows of little curvature are left out and stand in by their sum of curvatures times the mean of all xᵢxᵢᵀ, and of many rows only some are taken: conjugate gradients make up for
//! both. Where nothing was left out of a Hessian that has no other outputs, Mₖ is that Hessian and needs none.
//!
//! Factors of many outputs and features would take more memory than the rows. There all outputs share one, of the mean of their curvatures: 20,000 rows of MNIST (784 features, 10 classes) take 2.5 MB in place of 25, and about as
//! many products (to 1e-3 of the objective 121 and 127 passes, 2.8 s of CPU time in place of 3.1).

use super::gram::Gram;
use lineal_linalg::{Matrix, dense, kernels};
use lineal_solver::Interrupt;
use rayon::prelude::*;

/// Rows with less than this part of the largest curvature are left out.
const LITTLE: f32 = 0.02;
/// Where there are more, so many rows for each feature are taken.
const ROWS_FOR_A_FEATURE: usize = 8;
/// Fewer rows than this are never left out.
const FEW_ROWS: usize = 2048;
/// The most numbers of factors that coupled outputs have each for itself: 16 MB.
const MOST_OWN: usize = 2_000_000;

/// Means above this are stored divided by the largest of them: single precision ends at 3.4·10³⁸.
const LARGEST_MEAN: f64 = 1e30;

pub(super) struct Preconditioner<'a> {
    x: &'a Matrix,
    /// Features, and the bias if there is one.
    n_inputs: usize,
    /// How many of them are penalised.
    n_penalised: usize,
    l2: f64,
    /// Whether outputs are coupled, so that products make up for factors that are not their own.
    coupled: bool,
    /// The mean of xᵢxᵢᵀ over the rows, each with its share: about that, from some of them, divided by `mean_scale`. The rows of its lower triangle one after the other.
    mean: Vec<f32>,
    /// 1, unless single precision could not hold the mean itself.
    mean_scale: f64,
    /// One for all outputs, or one for each: the lower triangle, row by row.
    factors: Vec<Vec<f64>>,
    interrupt: Interrupt,
}

/// What a new factor of every output takes.
pub(super) struct Plan {
    /// For each output its rows and their curvatures, as they count.
    rows: Vec<Vec<(u32, f64)>>,
    /// For each output, the curvature that was left out.
    rest: Vec<f64>,
    /// Whether nothing was.
    pub exact: bool,
    /// Multiplications.
    pub work: f64,
}

impl<'a> Preconditioner<'a> {
    pub(super) fn new(
        x: &'a Matrix,
        n_inputs: usize,
        n_penalised: usize,
        l2: f64,
        coupled: bool,
    ) -> Self {
        let interrupt = Interrupt::current();
        let (mean, factors) = (Vec::new(), Vec::new());
        Self { x, n_inputs, n_penalised, l2, coupled, mean, mean_scale: 1.0, factors, interrupt }
    }

    /// Whether there are no factors yet.
    pub(super) fn is_new(&self) -> bool {
        self.factors.is_empty()
    }

    /// The rows that factors of these curvatures are made of: all where that takes at most `afford` multiplications. `diagonal` has `stride` numbers a row, of which `n_outputs` count.
    pub(super) fn plan(
        &self,
        diagonal: &[f32],
        stride: usize,
        n_outputs: usize,
        afford: f64,
    ) -> Plan {
        let n_numbers = self.n_inputs * self.n_inputs;
        if self.coupled && n_outputs > 1 && n_outputs * n_numbers > MOST_OWN {
            let mean = |row: &[f32]| row[..n_outputs].iter().sum::<f32>() / n_outputs as f32;
            let shared: Vec<f32> = diagonal.chunks_exact(stride).map(mean).collect();
            return Plan { exact: false, ..self.plan(&shared, 1, 1, afford) };
        }
        let afford = afford / n_outputs as f64 / Gram::work(self.x, self.n_inputs);
        let enough = (ROWS_FOR_A_FEATURE * self.n_inputs).max(FEW_ROWS).max(afford as usize);
        let of_output = |k: usize| -> (Vec<(u32, f64)>, f64) {
            let of = || (0u32..).zip(diagonal[k..].iter().step_by(stride).copied());
            let n_curved = of().filter(|&(_, h)| h > 0.0).count();
            let exact = n_curved <= enough;
            let least =
                if exact { 0.0 } else { LITTLE * of().fold(0.0, |m: f32, (_, h)| m.max(h)) };
            let mut rows: Vec<(u32, f64)> =
                of().filter(|&(_, h)| h > least).map(|(i, h)| (i, f64::from(h))).collect();
            let mut rest = if least > 0.0 {
                of().filter(|&(_, h)| h <= least).map(|(_, h)| f64::from(h)).sum()
            } else {
                0.0
            };
            let every = rows.len().div_ceil(enough);
            if every > 1 {
                let total: f64 = rows.iter().map(|(_, h)| h).sum();
                rows = rows.into_iter().step_by(every).collect();
                let taken: f64 = rows.iter().map(|(_, h)| h).sum();
                rows.iter_mut().for_each(|(_, h)| *h *= total / taken);
                rest += 0.01 * total;
            }
            (rows, rest)
        };
        let (rows, rest): (Vec<_>, Vec<f64>) =
            (0..n_outputs).into_par_iter().map(of_output).unzip();
        let exact = rest.iter().all(|&rest| rest == 0.0);
        let taken: usize = rows.iter().map(Vec::len).sum();
        let work = taken as f64 * Gram::work(self.x, self.n_inputs)
            + n_outputs as f64 * (self.n_inputs as f64).powi(3) / 12.0;
        Plan { rows, rest, exact, work }
    }

    /// One factor for all outputs: `curvature` times the mean of xᵢxᵢᵀ, from about as many rows as suffice.
    pub(super) fn start(&mut self, shares: &[f64], curvature: f64) -> bool {
        let enough = (ROWS_FOR_A_FEATURE * self.n_inputs).max(FEW_ROWS);
        let counted: Vec<(u32, f64)> =
            (0u32..).zip(shares.iter().copied()).filter(|(_, share)| *share > 0.0).collect();
        let every = counted.len().div_ceil(enough).max(1);
        let taken = || counted.iter().step_by(every).copied();
        let total: f64 = taken().map(|(_, share)| share).sum();
        let (n, mut mean, mut scale) = (self.n_inputs, Vec::new(), 1.0);
        let rows = || taken().map(|(row, share)| (row, share / total.max(f64::MIN_POSITIVE)));
        let factor = self.factor(&mut |out| {
            lines(out, n).for_each(|line| line.fill(0.0));
            Gram::sum(self.x, n, rows(), &self.interrupt, out);
            if mean.is_empty() {
                let largest = (0..n).map(|j| out[j * n + j]).fold(0.0, f64::max);
                if largest > LARGEST_MEAN {
                    scale = largest;
                }
                mean.reserve_exact(n * (n + 1) / 2);
                lines(out, n)
                    .for_each(|line| mean.extend(line.iter().map(|&m| (m / scale) as f32)));
            }
            lines(out, n).flatten().for_each(|m| *m *= curvature);
        });
        (self.mean, self.mean_scale, self.factors) = (mean, scale, vec![factor]);
        every == 1
    }

    pub(super) fn refresh(&mut self, plan: &Plan) {
        let n = self.n_inputs;
        // Those that were are not needed any more, and their memory is.
        self.factors = Vec::new();
        let this = &*self;
        let of_output = |(rows, rest): (&Vec<(u32, f64)>, &f64)| {
            let rest = rest * this.mean_scale;
            this.factor(&mut |out| {
                let each = lines(out, n).flatten().zip(&this.mean);
                each.for_each(|(out, &mean)| *out = rest * f64::from(mean));
                Gram::sum(this.x, n, rows.iter().copied(), &this.interrupt, out);
            })
        };
        self.factors = plan.rows.par_iter().zip(&plan.rest).map(of_output).collect();
    }

    /// The factor of what `fill` puts into the lower triangle and the penalty. A singular Hessian (a free bias, and no row with a curvature) is made again, with its diagonal raised: that is seldom, and a copy would be as
    /// large as what it is a copy of.
    fn factor(&self, fill: &mut dyn FnMut(&mut [f64])) -> Vec<f64> {
        let n = self.n_inputs;
        let (mut out, mut shift) = (vec![0.0; n * n], 0.0);
        loop {
            fill(&mut out);
            (0..self.n_penalised).for_each(|j| out[j * n + j] += self.l2);
            let largest = (0..n).map(|j| out[j * n + j]).fold(0.0, f64::max);
            (0..n).for_each(|j| out[j * n + j] += shift);
            // Where sums are infinite no shift helps; the steps that such a factor leads to fail, and another method goes on.
            if dense::cholesky(&mut out, n).is_ok() || shift > largest || !largest.is_finite() {
                break;
            }
            shift = if shift == 0.0 { 1e-10 * largest.max(1e-200) } else { 10.0 * shift };
        }
        // The rows of the triangle move together where they are: a copy would be half as large again.
        (1..n).for_each(|j| out.copy_within(j * n..j * n + j + 1, j * (j + 1) / 2));
        out.truncate(n * (n + 1) / 2);
        out.shrink_to_fit();
        out
    }

    /// `out` = M⁻¹ `r`, output by output; both have `stride` numbers a feature.
    pub(super) fn solve(&self, r: &[f64], stride: usize, n_outputs: usize, out: &mut [f64]) {
        let solved: Vec<Vec<f64>> = (0..n_outputs)
            .into_par_iter()
            .map(|k| {
                let mut own: Vec<f64> = r[k..].iter().step_by(stride).copied().collect();
                if own.iter().any(|&own| own != 0.0) {
                    let factor = self.factors.get(k).unwrap_or(&self.factors[0]);
                    solve_lower(factor, &mut own);
                }
                own
            })
            .collect();
        for (j, out) in out.chunks_exact_mut(stride).enumerate() {
            out.iter_mut().zip(&solved).for_each(|(out, solved)| *out = solved[j]);
        }
    }
}

/// The rows of the lower triangle of a square matrix.
fn lines(square: &mut [f64], n: usize) -> impl Iterator<Item = &mut [f64]> {
    square.chunks_exact_mut(n).enumerate().map(|(j, row)| &mut row[..=j])
}

/// Solves `LLᵀx = b` in place, where the rows of the lower triangle follow each other.
fn solve_lower(l: &[f64], b: &mut [f64]) {
    let row = |i: usize| l[i * (i + 1) / 2..][..=i].split_at(i);
    for i in 0..b.len() {
        let (left, diagonal) = row(i);
        b[i] = (b[i] - kernels::dot64(left, &b[..i])) / diagonal[0];
    }
    for i in (0..b.len()).rev() {
        let (left, diagonal) = row(i);
        let (before, rest) = b.split_at_mut(i);
        rest[0] /= diagonal[0];
        kernels::axpy(-rest[0], left, before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::{Dense, Rng};

    /// Rows of noise, of which one is twice there.
    fn rows(n: usize, d: usize) -> Matrix {
        let mut rng = Rng::new(3);
        Matrix::Dense(Dense::new(n, d, (0..n * d).map(|_| rng.unit() as f32).collect()).unwrap())
    }

    #[test]
    fn a_factor_solves() {
        let (x, n) = (rows(50, 11), 12);
        let mut preconditioner = Preconditioner::new(&x, n, 11, 0.1, true);
        assert!(preconditioner.start(&[0.02; 50], 0.5));
        let full = |j: usize, l: usize| {
            let (j, l) = (j.max(l), j.min(l));
            let value = |i: usize, j: usize| {
                let mut row = vec![1.0f64; n];
                x.row(i).for_each(|at, v| row[at] = v.into());
                row[j]
            };
            let sum: f64 = (0..50).map(|i| 0.01 * value(i, j) * value(i, l)).sum();
            sum + if j == l && j < 11 { 0.1 } else { 0.0 }
        };
        let want: Vec<f64> = (0..n).map(|j| j as f64 - 4.0).collect();
        let right: Vec<f64> = (0..n).map(|j| (0..n).map(|l| full(j, l) * want[l]).sum()).collect();
        let mut found = vec![0.0; n];
        preconditioner.solve(&right, 1, 1, &mut found);
        for (found, want) in found.iter().zip(&want) {
            assert!((found - want).abs() < 1e-6, "{found} {want}");
        }
    }

    #[test]
    fn coupled_outputs_of_many_features_share_a_factor() {
        let (n_inputs, n_outputs) = (600, 8);
        let x = rows(40, n_inputs - 1);
        let diagonal: Vec<f32> = (0..40 * n_outputs).map(|at| at as f32).collect();
        let plan = |coupled: bool| {
            let preconditioner = Preconditioner::new(&x, n_inputs, n_inputs - 1, 0.1, coupled);
            preconditioner.plan(&diagonal, n_outputs, n_outputs, 1e12)
        };
        let (shared, own) = (plan(true), plan(false));
        assert_eq!((shared.rows.len(), shared.exact), (1, false));
        assert_eq!((own.rows.len(), own.exact), (n_outputs, true));
        // Row 3 has the curvatures 24 to 31.
        assert_eq!(shared.rows[0][3], (3, 27.5));
        assert!(shared.work < 0.2 * own.work);
    }

    #[test]
    fn a_singular_sum_is_factored_all_the_same() {
        let x = rows(3, 20);
        let mut preconditioner = Preconditioner::new(&x, 21, 0, 0.0, true);
        preconditioner.start(&[1.0 / 3.0; 3], 1.0);
        let mut found = vec![0.0; 21];
        preconditioner.solve(&[1.0; 21], 1, 1, &mut found);
        assert!(found.iter().all(|v| v.is_finite()), "{found:?}");
    }
}
