//! Newton's method for few weights, where the structure knows its second derivatives.
//!
//! A smooth loss is minimised by w ← w + t d with (∇²P + τI) d = −∇P by Cholesky and t from a search along d.
//!
//! **The hinge** is not smooth. The proximal point method in its dual, which is the method of multipliers of the primal (Rockafellar, *Augmented Lagrangians and applications of the proximal
//! point algorithm in convex programming*, 1976), replaces the loss by one that is, around dual numbers a ([`Smoothed`](lineal_model::structure::Smoothed)):
//!
//! ```text
//! Fₐ(w) = Σᵢ pᵢ max over α of ⟨α, vᵢ(w)⟩ − (δ/2)‖α − aᵢ‖² + (l2/2)‖w‖²,        a ← the best α at the minimum
//! ```
//!
//! Each Fₐ is minimised by some Newton steps, which look at decisions with 0 < α < 1 alone. As a moves, δ falls from 3 to 0.003 only, so that there are always more such decisions than
//! weights; with a fixed at 0 (a Huber loss) δ would have to be as small as the tolerance, and steps break down.
//!
//! **Certificate.** Any α is a point of the dual: with g = ∇ of the smooth mean loss, optimum ≥ Σᵢ pᵢ cost(αᵢ) − ‖g‖²/(2·l2). The best primal point and the best bound of the run count.
//!
//! Steps to a relative gap of 1e-6 on MQ2008 (52,325 pairs, 46 weights) at C = 0.001, 0.1, 1, 100: 7, 14, 18, 28.

use super::learn::{Both, Bound, certified, first_weights, single};
use super::problem::Problem;
use super::{LearnError, LearnPass, LearnReport, Learnt, Loss, OnPass, Solver};
use crate::shards::Shards;
use lineal_linalg::{dense, kernels};
use lineal_model::structure::{Around, Infeasible, MaxOracle, PartVector};
use std::sync::{Mutex, PoisonError};

/// Up to this many weights a Hessian is made and factored.
pub(crate) const MOST_WEIGHTS: usize = 300;

/// δ at first, how it falls, and where it stays.
const FIRST_WIDTH: f64 = 3.0;
const NARROWER: f64 = 0.1;
const LEAST_WIDTH: f64 = 0.003;
/// Steps for one a.
const STEPS: usize = 25;
/// Tries along one direction.
const TRIES: usize = 20;

/// The objective and its parts at a point.
#[derive(Clone, Default)]
struct Point {
    w: Vec<f64>,
    /// What steps minimise.
    value: f64,
    grad: Vec<f64>,
    /// The objective proper.
    objective: f64,
    /// A lower bound on the optimum.
    bound: f64,
}

struct Newton<'p, 'a, S: MaxOracle<f64>> {
    problem: &'p Problem<'a, S, f64>,
    sums: Shards<f64>,
    hessians: Shards<f64>,
    /// Dual numbers, example by example; empty for a smooth loss.
    duals: Vec<f32>,
    /// Where those of each example start, and the end of the last.
    starts: Vec<usize>,
    width: f64,
    passes: usize,
    failed: Mutex<Option<(usize, Infeasible)>>,
}

pub(super) fn by_newton<S: MaxOracle<f32> + MaxOracle<f64>>(
    both: &Both<'_, S>,
    start: Option<&[f32]>,
    on_pass: &mut OnPass<'_>,
) -> Result<Learnt, LearnError> {
    let spec = both.double.spec;
    let mut newton = Newton::new(&both.double);
    let mut at = newton.point(first_weights(start, both.double.dim()))?;
    let (mut best, mut bound) = (at.clone(), f64::NEG_INFINITY);
    let mut reach = 0.0f64;
    let (mut steps, mut iterations, mut stuck) = (0, 0, 0);
    let converged = loop {
        bound = bound.max(at.bound);
        reach = reach.max(kernels::dot64(&at.w, &at.w).sqrt());
        if at.objective <= best.objective {
            best.clone_from(&at);
        }
        if !(at.value.is_finite() && at.objective.is_finite()) {
            return Err(LearnError::Diverged { value: at.value, pass: iterations + 1 });
        }
        let gap = (best.objective - bound).max(0.0);
        let enough = spec.tol * best.objective.abs();
        let grad_norm = kernels::dot64(&at.grad, &at.grad).sqrt();
        let mut stopped = false;
        if iterations > 0 {
            let pass = LearnPass {
                pass: iterations,
                loss: Some(best.objective - 0.5 * spec.l2 * kernels::dot64(&best.w, &best.w)),
                objective: Some(best.objective),
                gap: Some(gap),
                gap_estimate: None,
                grad_norm: newton.is_smooth().then_some(grad_norm),
                weights: &|| single(&best.w),
            };
            stopped = on_pass(&pass).is_break();
        }
        let done = gap <= enough;
        let ends = stopped || both.double.interrupt.is_stopped();
        if done || ends || stuck > 2 || newton.passes > spec.passes {
            break done;
        }
        iterations += 1;
        // What the gradient says about the distance from the minimum for this a, and what a is worth.
        let rest = grad_norm * grad_norm / (2.0 * spec.l2);
        let settled = rest <= (0.2 * enough).max(0.1 * (at.objective - at.value));
        if !newton.is_smooth() && (settled || steps >= STEPS || stuck > 0) {
            newton.move_duals(&at.w);
            at = newton.point(at.w)?;
            steps = 0;
        }
        steps += 1;
        match newton.step(&at)? {
            Some(next) => (at, stuck) = (next, 0),
            None => stuck += if newton.is_smooth() { 3 } else { 1 },
        }
    };
    let report = LearnReport::new(Solver::Newton, newton.passes, converged);
    let w = if newton.is_smooth() { &at.w } else { &best.w };
    certified(both, single(w), report, Some(Bound { value: bound, reach }))
}

impl<'p, 'a, S: MaxOracle<f64>> Newton<'p, 'a, S> {
    fn new(problem: &'p Problem<'a, S, f64>) -> Self {
        let (n, dim, structure) = (problem.n(), problem.dim(), problem.structure);
        let smooth = problem.is_logistic();
        let mut starts = vec![0];
        if !smooth {
            let ends = (0..n).scan(0, |end, i| {
                *end += structure.n_duals(i);
                Some(*end)
            });
            starts.extend(ends);
        }
        let duals = vec![0.5; starts.last().copied().unwrap_or(0)];
        Self {
            problem,
            // A gradient, the loss and the cost.
            sums: Shards::new(n, dim + 2, structure.work()),
            hessians: Shards::new(n, dim * dim, structure.work()),
            duals,
            starts,
            width: FIRST_WIDTH,
            passes: 0,
            failed: Mutex::new(None),
        }
    }

    fn is_smooth(&self) -> bool {
        self.problem.spec.loss == Loss::Logistic
    }

    /// Value, gradient, objective and bound.
    fn point(&mut self, w: Vec<f64>) -> Result<Point, LearnError> {
        self.passes += 1;
        let Self { problem, sums, duals, starts, width, failed, .. } = self;
        let (structure, dim, smooth) = (problem.structure, problem.dim(), problem.is_logistic());
        let failed = &*failed;
        let mut out = vec![0.0; dim + 2];
        let mut value = sums.accumulate(&mut out, &|range, out| {
            let mut worker = problem.worker();
            structure.load(&w, 1.0, smooth, &mut worker.s);
            let mut value = 0.0;
            for i in range {
                let share = structure.share(i);
                if share == 0.0 {
                    continue;
                }
                problem.scores(i, &w, &mut worker);
                if smooth {
                    value += match problem.loss(i, &mut worker) {
                        Ok(loss) => share * loss.upper,
                        Err(none) => {
                            let mut failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
                            if failed.is_none_or(|(first, _)| i < first) {
                                *failed = Some((i, none));
                            }
                            f64::NAN
                        }
                    };
                } else {
                    let around = Around { width: *width, duals: &duals[starts[i]..starts[i + 1]] };
                    let (theta, s, grad) = (&worker.theta, &mut worker.s, &mut worker.grad);
                    let found = structure.smoothed(i, theta, around, s, grad, &mut []);
                    value += share * found.value;
                    out[dim] += share * found.loss;
                    out[dim + 1] += share * found.cost;
                }
                worker.grad.scale(share);
                structure.accumulate(i, &worker.grad, &mut worker.s, &mut out[..dim]);
            }
            value
        });
        if let Some((example, none)) = *failed.lock().unwrap_or_else(PoisonError::into_inner) {
            return Err(super::problem::infeasible(example)(none));
        }
        let (loss, cost) = if smooth { (value, 0.0) } else { (out[dim], out[dim + 1]) };
        out.truncate(dim);
        let mut grad = out;
        let l2 = problem.spec.l2;
        let penalty = 0.5 * l2 * kernels::dot64(&w, &w);
        let mut bound = cost - kernels::dot64(&grad, &grad) / (2.0 * l2);
        kernels::axpy(l2, &w, &mut grad);
        value += penalty;
        if smooth {
            bound = value - kernels::dot64(&grad, &grad) / (2.0 * l2);
        }
        Ok(Point { w, value, grad, objective: loss + penalty, bound })
    }

    /// a ← α at `w`; δ falls.
    fn move_duals(&mut self, w: &[f64]) {
        let Self { problem, duals, starts, width, .. } = self;
        let structure = problem.structure;
        let mut worker = problem.worker();
        structure.load(w, 1.0, false, &mut worker.s);
        let mut moved = Vec::new();
        for (i, range) in starts.windows(2).enumerate() {
            let range = range[0]..range[1];
            if range.is_empty() {
                continue;
            }
            problem.scores(i, w, &mut worker);
            moved.clear();
            moved.resize(range.len(), 0.0);
            let around = Around { width: *width, duals: &duals[range.clone()] };
            let (theta, s, grad) = (&worker.theta, &mut worker.s, &mut worker.grad);
            structure.smoothed(i, theta, around, s, grad, &mut moved);
            duals[range].copy_from_slice(&moved);
        }
        *width = (*width * NARROWER).max(LEAST_WIDTH);
    }

    /// d, or none if rounding leaves none.
    fn direction(&mut self, at: &Point) -> Option<Vec<f64>> {
        self.passes += 1;
        let Self { problem, hessians, duals, starts, width, .. } = self;
        let (structure, dim, smooth) = (problem.structure, problem.dim(), problem.is_logistic());
        let mut hessian = vec![0.0; dim * dim];
        hessians.accumulate(&mut hessian, &|range, out| {
            let mut worker = problem.worker();
            structure.load(&at.w, 1.0, smooth, &mut worker.s);
            for i in range.filter(|&i| structure.share(i) > 0.0) {
                let around = (!smooth)
                    .then(|| Around { width: *width, duals: &duals[starts[i]..starts[i + 1]] });
                problem.scores(i, &at.w, &mut worker);
                let share = structure.share(i);
                structure.add_hessian(i, &worker.theta, around, share, &mut worker.s, out);
            }
            0.0
        });
        // At least the penalty; more where rounding took what is small.
        let largest = (0..dim).map(|j| hessian[j * dim + j]).fold(0.0, f64::max);
        let mut tau = problem.spec.l2;
        let mut factor = hessian.clone();
        loop {
            for j in 0..dim {
                factor[j * dim + j] += tau;
            }
            if dense::cholesky(&mut factor, dim).is_ok() {
                break;
            }
            tau = (10.0 * tau).max(1e-10 * largest);
            if !(tau.is_finite() && largest.is_finite()) {
                return None;
            }
            factor.copy_from_slice(&hessian);
        }
        let mut direction: Vec<f64> = at.grad.iter().map(|g| -g).collect();
        dense::cholesky_solve(&factor, dim, &mut direction);
        direction.iter().all(|d| d.is_finite()).then_some(direction)
    }

    /// A lower point, or none where rounding hides it.
    fn step(&mut self, at: &Point) -> Result<Option<Point>, LearnError> {
        let Some(d) = self.direction(at) else { return Ok(None) };
        let slope = kernels::dot64(&at.grad, &d);
        if slope.is_nan() || slope >= 0.0 {
            return Ok(None);
        }
        let rounding = 1e-13 * at.value.abs();
        let mut t = 1.0;
        for _ in 0..TRIES {
            let mut w = at.w.clone();
            kernels::axpy(t, &d, &mut w);
            if w == at.w {
                break;
            }
            let trial = self.point(w)?;
            let trial_slope = kernels::dot64(&trial.grad, &d);
            let lower = trial.value <= at.value + 1e-4 * t * slope;
            // Where values agree to rounding, slopes still tell.
            let level = trial.value <= at.value + rounding && trial_slope.abs() < 0.9 * -slope;
            if lower || level {
                return Ok(Some(trial));
            }
            // Where the slope would vanish if it changed evenly.
            let zero = slope / (slope - trial_slope);
            t *= if zero.is_finite() { zero.clamp(0.1, 0.9) } else { 0.1 };
        }
        Ok(None)
    }
}
