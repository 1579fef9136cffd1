//! The hinge by Newton's method: the method of multipliers on every column, for features so few that a Hessian is small.
//!
//! Column l minimises, over its weights w and bias,
//!
//! ```text
//! P(w) = Σᵢ pᵢ max(0, 1 − mᵢ) + (l2/2)‖w‖²,      pᵢ = shareᵢ |cᵢ|,      mᵢ = sign(cᵢ) ⟨w, xᵢ⟩
//! ```
//!
//! which has no curvature. The proximal point method in its dual replaces the loss by one that has, around dual variables a:
//!
//! ```text
//! Fₐ(w) = Σᵢ pᵢ max over α in [0, 1] of α(1 − mᵢ) − (δ/2)(α − aᵢ)² + (l2/2)‖w‖²,        a ← the best α at the minimum
//! ```
//!
//! (Rockafellar, *Augmented Lagrangians and applications of the proximal point algorithm in convex programming*, 1976; Li, Sun and Toh call it SSNAL for such losses.) A few Newton steps minimise each Fₐ.
//! Only rows with 0 < α < 1, those at the margin, have a curvature, and only rows with α > 0 a slope, so that a step costs little more than the scores of its direction.
//!
//! **Certificate.** Any α in [0, 1] is a dual point: optimum ≥ Σ pᵢαᵢ − ‖Σ pᵢαᵢ sign(cᵢ) xᵢ‖²/(2·l2). The best weights and the best dual point of the run count, each for itself; they are proven like those of the dual.
//!
//! Dense features that are hardly penalised take the dual a thousand passes (usps, C = 1 to a gap of 1e-3: 786; C = 10: not within 1,000), and this 25 to 110 steps for each column.

use super::block::Block;
use super::curvature::{Curvature, Start};
use super::newton::{Problem, SPARSE, See, Smooth, curved};
use super::{ColumnFit, ColumnTask, OnBlock, Scales};
use crate::newton::stiffness;
use crate::rounding::Proof;
use lineal_linalg::{Matrix, Scalar, dense, kernels};
use lineal_loss::{Hinge, OfMargin};
use lineal_model::cost::ZeroOne;
use lineal_solver::Stop;
use rayon::prelude::*;

/// δ at first, how it falls, and where it stays: of nine choices on usps, a9a and letter with C = 0.1, 1 and 10 the one that never broke down. With δ = 0.01 at the end fewer rows than
/// weights are at the margin, and steps lead nowhere.
const FIRST_WIDTH: f64 = 1.0;
const NARROWER: f64 = 0.3;
const LEAST_WIDTH: f64 = 0.03;
/// The curvature of a free bias is at least that of this part of the rows: where no row is at the margin it has none of its own.
const HELD: f64 = 0.01;
/// Steps for one a, and for a column.
const STEPS: usize = 25;
const MOST_STEPS: usize = 300;

/// The most features whose Hessian is formed.
pub const MOST_FEATURES: usize = 1000;

/// Whether [`multipliers`] is for such rows: few features, and a penalty.
pub fn multipliers_fit(x: &Matrix, l2: f64) -> bool {
    l2 > 0.0 && x.n_cols() <= MOST_FEATURES
}

/// Whether [`multipliers`] is likely to be faster than [`dual`](super::dual) to a tolerance. `l2` is that of the mean over all rows.
///
/// Both costs are models in nanoseconds, fitted to usps, letter and a9a with C = 0.1, 1, 10 and tolerances of 0.1 and 0.001: how many passes or steps grows with the stiffness, in the dual in proportion.
pub fn multipliers_pay(x: &Matrix, n_columns: usize, l2: f64, tol: f64) -> bool {
    let (n, d, k) = (x.n_rows() as f64, x.n_cols() as f64 + 1.0, n_columns as f64);
    if !multipliers_fit(x, l2) || n < 4.0 * d {
        return false;
    }
    let filled = (x.nnz() as f64 / n + 1.0).min(d);
    let stiffness = stiffness(x, l2);
    let looser = tol.max(1e-8) / 1e-3;
    let (entry, outer) = match filled * SPARSE as f64 > d {
        true => (0.3, d * d),
        false => (1.0, filled * filled),
    };
    let step = n * (30.0 + entry * filled + 0.003 * outer) + 0.04 * d.powi(3);
    let own = k * step * (10.0 + 6.0 * stiffness.ln_1p()) * looser.powf(-0.1);
    let pass = n * (50.0 + 2.0 * filled * (k / 16.0).ceil() + 10.0 * k);
    let dual = pass * (5.0 + 3.0 * stiffness) * looser.powf(-0.25);
    own < 0.8 * dual
}

/// The hinge loss of every column, to the tolerance of `stop`, from weights of all columns, (features + bias) × columns, or from zeros.
///
/// # Panics
/// If `l2` is not above 0 or the lengths disagree.
pub fn multipliers<F: Scalar>(
    task: &ColumnTask<'_>,
    start: Option<&[f64]>,
    stop: Stop,
    monitor: &OnBlock<'_>,
) -> ColumnFit<F> {
    let shares = task.shares();
    let problem = Problem::new(task, &shares, stop);
    let reach = stiffness(task.x, 1.0 / task.x.n_rows().max(1) as f64).sqrt();
    // With weights and dual variables of 0 every row is at the end of the first width.
    let first = || problem.start(1.0 / FIRST_WIDTH, HELD / FIRST_WIDTH);
    let first = start.is_none().then(first).flatten();
    let columns = problem.each_column(monitor, |column, see| {
        solve(&problem, reach, column, problem.column_of(start, column), first.as_ref(), see)
    });
    let w: Vec<F> = problem.side_by_side(columns.iter().map(|solved| solved.w.as_slice()));
    let scales = Scales::<f64>::new(task);
    let interrupt = &problem.interrupt;
    let prove = |(column, solved): (usize, &Solved)| -> Proof {
        let own = column..column + 1;
        let block = Block::<f64, _, 1>::new(task, Hinge(ZeroOne), own, scales.about());
        let stored: Vec<f64> =
            w.iter().skip(column).step_by(task.space.len()).map(|w| w.to_f64()).collect();
        let (mut a, mut examples) =
            (Vec::with_capacity(block.n_dual()), solved.a.iter().peekable());
        a.extend(block.all_rows().map(|row| {
            let own = examples.next_if(|&&(at, _)| at == row);
            own.map_or(0.0, |&(_, a)| a)
        }));
        block.prove(&a, &stored)[0]
    };
    ColumnFit {
        certificates: columns
            .par_iter()
            .enumerate()
            .map(|solved| interrupt.scope(|| prove(solved)))
            .collect(),
        w,
        passes: columns.iter().map(|c| c.passes).max().unwrap_or(0),
        converged: columns.iter().all(|c| c.converged),
    }
}

struct Solved {
    w: Vec<f64>,
    /// Rows of the column with their dual variables.
    a: Vec<(u32, f64)>,
    passes: usize,
    converged: bool,
}

/// The hinge, smoothed around dual variables.
struct Around<'a> {
    a: &'a [f64],
    width: f64,
}

impl Around<'_> {
    /// The best α if it could be any number.
    fn unclamped(&self, example: usize, m: f64) -> f64 {
        self.a[example] + (1.0 - m) / self.width
    }

    /// The best α.
    fn dual(&self, example: usize, m: f64) -> f64 {
        self.unclamped(example, m).clamp(0.0, 1.0)
    }
}

impl Smooth for Around<'_> {
    fn values(&self, start: usize, m: &[f64], value: &mut [f64], slope: &mut [f64]) {
        for ((example, &m), (value, slope)) in (start..).zip(m).zip(value.iter_mut().zip(slope)) {
            let dual = self.dual(example, m);
            let off = dual - self.a[example];
            (*value, *slope) = (dual * (1.0 - m) - 0.5 * self.width * off * off, dual);
        }
    }

    fn slopes(&self, start: usize, m: &[f64], slope: &mut [f64], curvature: &mut [f64]) {
        for ((example, &m), (slope, curvature)) in
            (start..).zip(m).zip(slope.iter_mut().zip(curvature))
        {
            let unclamped = self.unclamped(example, m);
            *slope = unclamped.clamp(0.0, 1.0);
            // Both ends count: with weights of zero every row is at one.
            *curvature = if (0.0..=1.0).contains(&unclamped) { 1.0 / self.width } else { 0.0 };
        }
    }
}

/// `reach` is the length of a typical row.
fn solve(
    problem: &Problem<'_>,
    reach: f64,
    column: usize,
    mut w: Vec<f64>,
    start: Option<&Start>,
    see: See<'_>,
) -> Solved {
    let (dim, n, l2) = (problem.dim(), problem.n_penalised(), problem.task.l2);
    let examples = problem.examples(column);
    let [mut grad, mut direction] = [(); 2].map(|()| vec![0.0; dim]);
    let [mut scores, mut along, mut a, mut duals] = [(); 4].map(|()| vec![0.0; examples.len()]);
    let mut curvature = Curvature::new(problem, start);
    if w.iter().any(|&w| w != 0.0) {
        problem.scores(&examples, &w, &mut scores);
    }
    // The best weights with their value, the best dual variables with their bound.
    let (mut best, mut least) = (w.clone(), f64::INFINITY);
    let (mut proof, mut bound) = (a.clone(), f64::NEG_INFINITY);
    let (mut width, mut passes, mut steps, mut all_steps, mut stuck) = (FIRST_WIDTH, 0, 0, 0, 0);
    let converged = loop {
        let around = Around { a: &a, width };
        let smoothed = problem.value_grad(&around, &examples, &scores, &w, &mut grad);
        let (mut value, mut gain) = (0.5 * l2 * kernels::dot64(&w[..n], &w[..n]), 0.0);
        for (((at, e), &score), dual) in examples.iter().enumerate().zip(&scores).zip(&mut duals) {
            let m = e.sign * score;
            *dual = around.dual(at, m);
            gain += e.weight * *dual;
            value += e.weight * OfMargin::<f64>::value_slope(&Hinge(ZeroOne), m).0;
        }
        let pull: f64 = grad[..n].iter().zip(&w).map(|(g, w)| (l2 * w - g) * (l2 * w - g)).sum();
        // About what the bound is once the dual variables respect a free bias: the larger side gives up `free` of its sum, which moves the rest by as much times a row.
        let free: f64 = grad[n..].iter().map(|g| g.abs()).sum();
        let lower = gain - free - 0.5 * (pull.sqrt() + reach * free).powi(2) / l2;
        if value <= least {
            (least, _) = (value, best.copy_from_slice(&w));
        }
        if lower >= bound {
            (bound, _) = (lower, proof.copy_from_slice(&duals));
        }
        passes += 1;
        let gap = (least - bound).max(0.0);
        let enough = 0.5 * problem.stop.enough(least);
        let done = gap <= enough;
        let ends = problem.interrupt.is_stopped() || stuck > 2 || all_steps >= MOST_STEPS;
        if done || ends || passes >= problem.stop.max_passes || !gap.is_finite() {
            let _ = see(passes, gap, true);
            break done;
        }
        if see(passes, gap, false).is_break() {
            break done;
        }
        // What the gradient says about the distance from the minimum for this a, and what a is worth.
        let slopes = kernels::dot64(&grad[..n], &grad[..n]) + (reach * free).powi(2);
        let rest = 0.5 * slopes / l2 + (1.0 + reach * kernels::dot64(&w, &w).sqrt()) * free;
        if rest <= (0.2 * enough).max(0.1 * (value - smoothed)) || steps >= STEPS || stuck > 0 {
            a.copy_from_slice(&duals);
            (width, steps) = ((NARROWER * width).max(LEAST_WIDTH), 0);
            let around = Around { a: &a, width };
            problem.value_grad(&around, &examples, &scores, &w, &mut grad);
            passes += 1;
        }
        (steps, all_steps) = (steps + 1, all_steps + 1);
        let around = Around { a: &a, width };
        direction.iter_mut().zip(&grad).for_each(|(d, g)| *d = -g);
        match start {
            Some(start) if all_steps == 1 => {
                dense::cholesky_solve(&start.factor, dim, &mut direction)
            }
            _ => {
                let curvatures = curved(&around, &examples, &scores);
                let factor = curvature.factor(&examples, &curvatures, HELD / width);
                dense::cholesky_solve(factor, dim, &mut direction);
            }
        }
        problem.scores(&examples, &direction, &mut along);
        if problem.interrupt.is_stopped() {
            break false;
        }
        let slope = kernels::dot64(&grad, &direction);
        let t = problem.search(&around, &examples, [&scores, &along], &w, &direction, slope);
        stuck = if t > 0.0 && t.is_finite() { 0 } else { stuck + 1 };
        if stuck == 0 {
            kernels::axpy(t, &direction, &mut w);
            kernels::axpy(t, &along, &mut scores);
        }
    };
    let a = examples.iter().zip(proof).map(|(e, a)| (e.row, a)).collect();
    Solved { w: best, a, passes, converged }
}
