//! Solves with an approximate Hessian of each output: Mₖ = Σ hᵢₖ xᵢxᵢᵀ + l2·I, factored.
//!
//! Rows of little curvature are left out and stand in by their sum of curvatures times the mean of all xᵢxᵢᵀ, and of many rows only some are taken: conjugate gradients make up for
//! both. Where nothing was left out of a Hessian that has no other outputs, Mₖ is that Hessian and needs none.

use super::gram::Gram;
use lineal_linalg::{Matrix, dense};
use lineal_solver::Interrupt;
use rayon::prelude::*;

/// Rows with less than this part of the largest curvature are left out.
const LITTLE: f32 = 0.02;
/// Where there are more, so many rows for each feature are taken.
const ROWS_FOR_A_FEATURE: usize = 8;
/// Fewer rows than this are never left out.
const FEW_ROWS: usize = 2048;

pub(super) struct Preconditioner<'a> {
    x: &'a Matrix,
    /// Features, and the bias if there is one.
    n_inputs: usize,
    /// How many of them are penalised.
    n_penalised: usize,
    l2: f64,
    /// The mean of xᵢxᵢᵀ over the rows, each with its share: about that, from some of them.
    mean: Vec<f64>,
    /// One for all outputs, or one for each.
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
    pub(super) fn new(x: &'a Matrix, n_inputs: usize, n_penalised: usize, l2: f64) -> Self {
        let interrupt = Interrupt::current();
        let (mean, factors) = (Vec::new(), Vec::new());
        Self { x, n_inputs, n_penalised, l2, mean, factors, interrupt }
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
        let mut mean = vec![0.0; self.n_inputs * self.n_inputs];
        let rows = taken().map(|(row, share)| (row, share / total.max(f64::MIN_POSITIVE)));
        Gram::sum(self.x, self.n_inputs, rows, &self.interrupt, &mut mean);
        let mut factor: Vec<f64> = mean.iter().map(|m| curvature * m).collect();
        self.mean = mean;
        self.factor(&mut factor);
        self.factors = vec![factor];
        every == 1
    }

    pub(super) fn refresh(&mut self, plan: &Plan) {
        let this = &*self;
        let of_output = |(rows, &rest): (&Vec<(u32, f64)>, &f64)| {
            let mut factor: Vec<f64> = match rest > 0.0 {
                true => this.mean.iter().map(|m| rest * m).collect(),
                false => vec![0.0; this.n_inputs * this.n_inputs],
            };
            Gram::sum(this.x, this.n_inputs, rows.iter().copied(), &this.interrupt, &mut factor);
            this.factor(&mut factor);
            factor
        };
        let factors = plan.rows.par_iter().zip(&plan.rest).map(of_output).collect();
        self.factors = factors;
    }

    /// Adds the penalty and factors. A singular Hessian (a free bias, and no row with a curvature) has its diagonal raised.
    fn factor(&self, out: &mut [f64]) {
        let n = self.n_inputs;
        (0..self.n_penalised).for_each(|j| out[j * n + j] += self.l2);
        let largest = (0..n).map(|j| out[j * n + j]).fold(0.0, f64::max);
        let triangle = out.to_vec();
        let mut shift = 0.0;
        while dense::cholesky(out, n).is_err() && shift <= largest {
            shift = if shift == 0.0 { 1e-10 * largest.max(1e-200) } else { 10.0 * shift };
            out.copy_from_slice(&triangle);
            (0..n).for_each(|j| out[j * n + j] += shift);
        }
    }

    /// `out` = M⁻¹ `r`, output by output; both have `stride` numbers a feature.
    pub(super) fn solve(&self, r: &[f64], stride: usize, n_outputs: usize, out: &mut [f64]) {
        let n = self.n_inputs;
        let solved: Vec<Vec<f64>> = (0..n_outputs)
            .into_par_iter()
            .map(|k| {
                let mut own: Vec<f64> = r[k..].iter().step_by(stride).copied().collect();
                if own.iter().any(|&own| own != 0.0) {
                    let factor = self.factors.get(k).unwrap_or(&self.factors[0]);
                    dense::cholesky_solve(factor, n, &mut own);
                }
                own
            })
            .collect();
        for (j, out) in out.chunks_exact_mut(stride).enumerate() {
            out.iter_mut().zip(&solved).for_each(|(out, solved)| *out = solved[j]);
        }
    }
}
