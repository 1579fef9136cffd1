//! Newton's method for few features and any number of outputs: conjugate gradients with a factored Hessian of each output as preconditioner.
//!
//! Minimises, over weights W of (features + bias) × outputs,
//!
//! ```text
//! P(W) = Σᵢ shareᵢ ℓᵢ(θᵢ) + (l2/2)‖W‖²,      θᵢ = Wᵀxᵢ,      ℓᵢ smooth
//! ```
//!
//! by W ← W + t D, where H D ≈ −∇P. Outputs are *coupled* (classes, whose losses see all scores of a row) or not (one-vs-all, labels): those have conjugate gradients, steps and stopping rules of their own, in the
//! same passes over the rows.
//!
//! - The preconditioner Mₖ = Σ hᵢₖ xᵢxᵢᵀ + l2·I holds the diagonal block of H for each output (`precondition.rs`), made anew when that costs less than the products that the last step took. Dense features that are hardly penalised
//!   have Hessians of condition 10⁶, which a diagonal does not mend: usps by softmax at C = 1 took 1,002 passes. Where outputs are not coupled and no row is left out, Mₖ is H and no product is needed.
//! - Losses of classes do not change when all scores of a row do, so that gradients add up to 0 over the outputs. Steps are kept there: elsewhere H is l2 alone, and Mₖ is far from it.
//! - Products with H are in f32, everything else in f64: what a product lacks is in the next gradient.
//! - Scores of all rows are kept, so that a line search touches no row: it looks for the root of the slope along D.
//! - Without a free bias the duality gap at W is ‖∇P‖²/(2·l2), exactly: slopes are a dual point. It ends the run and the inner iterations of the last step, as soon as the residual promises that much.
//!
//! Nocedal & Wright, *Numerical Optimization*, 2nd ed., algorithm 7.1. Buffers: scores and their changes (f64) and curvatures (f32), rows × outputs; factors, features²/2 (f64), times outputs if these are few.

mod gram;
mod precondition;
mod products;
mod row_loss;

use crate::rounding::total;
use lineal_linalg::Matrix;
use lineal_loss::{Loss, SecondOrder};
use lineal_model::Bias;
use lineal_model::space::OutputSpace;
use lineal_solver::{self as solver, Interrupt, Monitor, Outcome, Stop};
use precondition::Preconditioner;
use products::Pass;
use row_loss::{RowLoss, Smooth};

/// The most features whose Hessians are formed.
const MOST_FEATURES: usize = 1000;
/// The most numbers of all factors together.
const MOST_NUMBERS: usize = 40_000_000;
/// Products for one direction, at most.
const MOST_PRODUCTS: usize = 60;
/// Looks along a ray, at most.
const SEARCH: usize = 10;
/// The part of the slope along a ray that may be left.
const FLAT: f64 = 0.1;

/// Rows, a smooth loss of their scores, and a penalty.
#[derive(Clone, Copy, Debug)]
pub struct NewtonTask<'a, S, L, Y> {
    /// Inputs.
    pub x: &'a Matrix,
    /// Gold outputs.
    pub y: &'a [Y],
    /// How much each row counts; 1 for `None`.
    pub weights: Option<&'a [f32]>,
    /// What scores are of.
    pub space: S,
    /// The loss.
    pub loss: &'a L,
    /// The bias of each output.
    pub bias: Bias,
    /// The factor of ½‖W‖².
    pub l2: f64,
    /// Whether outputs see one another.
    pub coupled: bool,
}

/// Whether [`newton`] is for such rows: few features, not too many outputs, and a penalty.
pub fn newton_fits(x: &Matrix, n_outputs: usize, l2: f64) -> bool {
    let d = x.n_cols() + 1;
    l2 > 0.0 && d <= MOST_FEATURES && d * d * n_outputs <= MOST_NUMBERS
}

/// The mean of ‖xᵢ‖²/(n·l2), with C = 1/(n·l2) that of C‖xᵢ‖²: the curvature of the dual beside that of the loss. The larger, the more passes the dual takes, and Newton's method hardly more steps.
pub fn stiffness(x: &Matrix, l2: f64) -> f64 {
    let n = x.n_rows().max(1) as f64;
    let squares: f64 = (0..x.n_rows()).map(|i| x.row(i).norm_sq()).sum();
    squares / n / (n * l2)
}

/// Whether [`newton`] is likely to be faster than the dual: with a weak penalty, and several rows for each feature. Tables of as many features as rows are the dual's (900 × 900 by softmax with 10 classes: 0.07 s against 0.38 s);
/// where rows are sparse, as those of categories are, two for each feature will do (3,000 rows, 900 categories, 5 classes: 0.12 s against 1.1 s).
pub fn newton_pays(x: &Matrix, n_outputs: usize, l2: f64) -> bool {
    let d = x.n_cols() + 1;
    let rows_each = if x.nnz() * gram::SPARSE < x.n_rows() * d { 2 } else { 4 };
    let tall = x.n_rows() >= rows_each * d;
    newton_fits(x, n_outputs, l2) && tall && stiffness(x, l2) > 2.0
}

/// Minimises from the given `w`, (features + bias) × outputs, in place.
///
/// # Panics
/// If `l2` is not above 0 or the lengths disagree.
pub fn newton<S, L, Y>(
    task: &NewtonTask<'_, S, L, Y>,
    stop: Stop,
    w: &mut [f64],
    monitor: &mut Monitor<'_, f64>,
) -> Outcome
where
    S: OutputSpace<f64, Output = Y> + OutputSpace<f32, Output = Y>,
    L: Loss<f64, S> + SecondOrder<f64, S> + SecondOrder<f32, S>,
    Y: Copy + Sync,
{
    let &NewtonTask { x, y, weights, space, loss, bias, l2, coupled } = task;
    assert!(l2 > 0.0, "Newton's method by outputs needs l2 > 0");
    assert_eq!(x.n_rows(), y.len(), "as many outputs as rows");
    let weight = |i: usize| weights.map_or(1.0, |w| f64::from(w[i]));
    let all = total((0..x.n_rows()).map(weight));
    let shares: Vec<f64> = (0..x.n_rows()).map(|i| weight(i) / all).collect();
    let loss = Smooth { space, loss, y, shares: &shares };
    let n_inputs = x.n_cols() + usize::from(bias != Bias::None);
    let n_penalised = x.n_cols() + usize::from(bias == Bias::Penalised);
    assert_eq!(w.len(), n_inputs * loss.n_outputs(), "weights of every input and output");
    let frame = Frame { x, shares: &shares, n_inputs, n_penalised, l2, coupled };
    Run::new(&frame, &loss).minimise(stop, w, monitor)
}

/// What does not change.
struct Frame<'a> {
    x: &'a Matrix,
    shares: &'a [f64],
    n_inputs: usize,
    n_penalised: usize,
    l2: f64,
    coupled: bool,
}

struct Run<'a> {
    frame: &'a Frame<'a>,
    pass: Pass<'a>,
    preconditioner: Preconditioner<'a>,
    n_outputs: usize,
    stride: usize,
    state: Vec<f32>,
    diagonal: Vec<f32>,
    /// Whether the factors are the Hessian.
    exact: bool,
    passes: usize,
    /// What the last direction took.
    products: usize,
    interrupt: Interrupt,
}

impl<'a> Run<'a> {
    fn new(frame: &'a Frame<'a>, loss: &'a dyn RowLoss) -> Self {
        let pass = Pass::new(frame.x, loss, frame.n_inputs);
        let Frame { x, n_inputs, n_penalised, l2, .. } = *frame;
        let stride = pass.stride;
        let numbers = || vec![0.0; x.n_rows() * stride];
        Self {
            frame,
            preconditioner: Preconditioner::new(x, n_inputs, n_penalised, l2, frame.coupled),
            n_outputs: loss.n_outputs(),
            stride,
            state: numbers(),
            diagonal: numbers(),
            exact: false,
            passes: 0,
            products: 6,
            pass,
            interrupt: Interrupt::current(),
        }
    }

    fn minimise(mut self, stop: Stop, out: &mut [f64], monitor: &mut Monitor<'_, f64>) -> Outcome {
        let (k, stride) = (self.n_outputs, self.stride);
        let mut w = vec![0.0; self.frame.n_inputs * stride];
        w.chunks_exact_mut(stride)
            .zip(out.chunks_exact(k))
            .for_each(|(w, own)| w[..k].copy_from_slice(own));
        let n_scores = self.frame.x.n_rows() * k;
        let mut scores = vec![0.0; n_scores];
        let mut grad = vec![0.0; w.len()];
        if w.iter().any(|&w| w != 0.0) {
            self.pass.all_scores(&w, &mut scores);
        }
        let (mut last, mut first_norm, mut iterations) = ([f64::INFINITY; 2], None, 0);
        loop {
            let value = self.pass.gradient(&scores, &mut grad) + self.penalise(&w, &mut grad);
            self.passes += 1;
            let gaps = self.gaps(&w, &grad);
            let gap: f64 = gaps.iter().sum();
            let enough = 0.7 * stop.enough(value);
            let norm = solver_norm(&grad);
            out.chunks_exact_mut(k)
                .zip(w.chunks_exact(stride))
                .for_each(|(out, w)| out.copy_from_slice(&w[..k]));
            let outcome = |converged: bool, passes: usize| Outcome {
                passes,
                value,
                gap: Some(gap),
                grad_norm: Some(norm),
                converged,
                ..Outcome::default()
            };
            if self.interrupt.is_stopped() || !(value.is_finite() && gap.is_finite()) {
                return outcome(false, self.passes);
            }
            if iterations > 0 {
                let (grad_norm, gap_estimate) = (Some(norm), Some(gap));
                let seen = solver::Pass {
                    pass: iterations,
                    w: out,
                    value,
                    gap: None,
                    gap_estimate,
                    grad_norm,
                };
                if monitor(&seen).is_break() {
                    return outcome(gap <= enough, self.passes);
                }
            }
            // Where a step makes neither the value nor the gap much smaller, what is left is rounding.
            let stuck = value >= last[0] && gap > 0.5 * last[1];
            // As in `solver`: the first step is always taken.
            if gap <= enough || stuck || self.passes > stop.max_passes {
                return outcome(gap <= enough, self.passes);
            }
            (last, iterations) = ([value, gap], iterations + 1);
            let relative = norm / *first_norm.get_or_insert(norm);
            self.pass.curve(&scores, &mut self.state, &mut self.diagonal);
            self.precondition();
            // Outputs that are done do not move.
            let share = enough / k as f64;
            let moves: Vec<bool> =
                gaps.iter().map(|&gap| self.frame.coupled || gap > 0.3 * share).collect();
            let direction = self.direction(&grad, &moves, share, relative);
            // Not kept while factors are made.
            let mut along = vec![0.0; n_scores];
            self.pass.all_scores(&direction, &mut along);
            self.passes += 1;
            let t = self.search(&scores, &along, &w, &grad, &direction);
            if self.interrupt.is_stopped() || t.iter().all(|&t| t == 0.0) {
                return outcome(false, self.passes);
            }
            step(&mut w, &direction, &t, stride);
            step(&mut scores, &along, &t, k);
        }
    }

    /// The value of the penalty, whose gradient is added.
    fn penalise(&self, w: &[f64], grad: &mut [f64]) -> f64 {
        let n = self.frame.n_penalised * self.stride;
        let mut square = 0.0;
        for (g, w) in grad[..n].iter_mut().zip(&w[..n]) {
            *g += self.frame.l2 * w;
            square += w * w;
        }
        0.5 * self.frame.l2 * square
    }

    /// The duality gap, output by output; with a free bias about what it is once the slopes add up to 0.
    fn gaps(&self, w: &[f64], grad: &[f64]) -> Vec<f64> {
        let n = self.frame.n_penalised * self.stride;
        let mut gaps = self.dots(&grad[..n], &grad[..n]);
        gaps.iter_mut().for_each(|square| *square *= 0.5 / self.frame.l2);
        let free = grad[n..].iter().zip(&w[n..]);
        gaps.iter_mut().zip(free).for_each(|(gap, (g, w))| *gap += 2.0 * g.abs() * (1.0 + w.abs()));
        gaps
    }

    /// ⟨a, b⟩ for each output.
    fn dots(&self, a: &[f64], b: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.n_outputs];
        for (a, b) in a.chunks_exact(self.stride).zip(b.chunks_exact(self.stride)) {
            for (sum, (a, b)) in sums.iter_mut().zip(a.iter().zip(b)) {
                *sum += a * b;
            }
        }
        sums
    }

    /// Sums of outputs that are coupled are one.
    fn together(&self, mut sums: Vec<f64>) -> Vec<f64> {
        if self.frame.coupled {
            let all: f64 = sums.iter().sum();
            sums.fill(all);
        }
        sums
    }

    /// Makes factors where there are none, and anew where that pays.
    fn precondition(&mut self) {
        let (k, stride, frame) = (self.n_outputs, self.stride, self.frame);
        let alone = !frame.coupled || k == 1;
        // Where all rows have the same curvature there is one factor for all outputs.
        if self.preconditioner.is_new() {
            let mean = self.diagonal.iter().map(|&h| f64::from(h)).sum::<f64>() / k as f64;
            let near = |(row, &share): (&[f32], &f64)| {
                row[..k].iter().all(|&h| (f64::from(h) - share * mean).abs() <= 1e-4 * share * mean)
            };
            let same = self.diagonal.chunks_exact(stride).zip(frame.shares).all(near);
            let all_rows = self.preconditioner.start(frame.shares, mean);
            self.exact = alone && same && all_rows;
            if same {
                return;
            }
        }
        self.exact = false;
        let work = ((frame.x.nnz() + frame.x.n_rows()) * stride.max(4)) as f64 * 1.4;
        let plan = self.preconditioner.plan(&self.diagonal, stride, k, 8.0 * work);
        let exact = alone && plan.exact;
        let worth = if exact { self.products.max(6) as f64 } else { 0.8 * self.products as f64 };
        if plan.work < worth * work {
            self.preconditioner.refresh(&plan);
            self.exact = exact;
            self.passes += 1;
        }
    }

    /// D with H D ≈ −∇P. `share` is the gap that would do for an output.
    fn direction(&mut self, grad: &[f64], moves: &[bool], share: f64, relative: f64) -> Vec<f64> {
        let (k, stride, l2) = (self.n_outputs, self.stride, self.frame.l2);
        let n = self.frame.n_penalised * stride;
        let mut residual: Vec<f64> = grad.iter().map(|g| -g).collect();
        for r in residual.chunks_exact_mut(stride) {
            r.iter_mut().zip(moves).for_each(|(r, &moves)| *r = if moves { *r } else { 0.0 });
        }
        let centred = self.frame.coupled && k > 1 && is_centred(&residual, stride);
        let mut solved = vec![0.0; residual.len()];
        let solve = |of: &Self, residual: &[f64], solved: &mut [f64]| {
            of.preconditioner.solve(residual, stride, k, solved);
            if centred {
                centre(solved, stride, k);
            }
        };
        solve(self, &residual, &mut solved);
        if self.exact {
            self.products = 0;
            return solved;
        }
        let mut direction = vec![0.0; residual.len()];
        let mut conjugate = solved.clone();
        let [mut v, mut product] = [(); 2].map(|()| vec![0.0f32; residual.len()]);
        let mut size = self.together(self.dots(&residual, &solved));
        let first = size.clone();
        let forcing = relative.min(0.03);
        let mut open = moves.to_vec();
        self.products = 0;
        while self.products < MOST_PRODUCTS && open.contains(&true) && !self.interrupt.is_stopped()
        {
            v.iter_mut().zip(&conjugate).for_each(|(v, &c)| *v = c as f32);
            self.pass.product(&self.state, &self.diagonal, &v, &mut product);
            (self.products, self.passes) = (self.products + 1, self.passes + 1);
            let mut image: Vec<f64> = product.iter().map(|&p| f64::from(p)).collect();
            image[..n].iter_mut().zip(&conjugate).for_each(|(image, c)| *image += l2 * c);
            let curvature = self.together(self.dots(&conjugate, &image));
            let alpha: Vec<f64> = (0..k)
                .map(|c| if open[c] && curvature[c] > 0.0 { size[c] / curvature[c] } else { 0.0 })
                .collect();
            step(&mut direction, &conjugate, &alpha, stride);
            let back: Vec<f64> = alpha.iter().map(|a| -a).collect();
            step(&mut residual, &image, &back, stride);
            // What the gap would be: of the penalised weights, and of a free bias.
            let mut left = self.dots(&residual[..n], &residual[..n]);
            left.iter_mut().for_each(|square| *square *= 0.5 / l2);
            left.iter_mut().zip(&residual[n..]).for_each(|(left, r)| *left += 4.0 * r.abs());
            let left = self.together(left);
            solve(self, &residual, &mut solved);
            let next = self.together(self.dots(&residual, &solved));
            let shares = if self.frame.coupled { k as f64 } else { 1.0 };
            for c in 0..k {
                let small = left[c] <= 0.2 * share * shares;
                let goes_on = alpha[c] > 0.0 && next[c] > forcing * first[c] && !small;
                open[c] &= goes_on;
            }
            let beta: Vec<f64> =
                (0..k).map(|c| if open[c] { next[c] / size[c] } else { 0.0 }).collect();
            size = next;
            for (p, z) in conjugate.chunks_exact_mut(stride).zip(solved.chunks_exact(stride)) {
                for c in 0..k {
                    p[c] = if open[c] { z[c] + beta[c] * p[c] } else { 0.0 };
                }
            }
        }
        direction
    }

    /// How far to go, for each output: the root of the slope along the ray, which does not fall. 0 where the direction does not descend.
    fn search(
        &mut self,
        scores: &[f64],
        along: &[f64],
        w: &[f64],
        grad: &[f64],
        direction: &[f64],
    ) -> Vec<f64> {
        let (k, n, l2) = (self.n_outputs, self.frame.n_penalised * self.stride, self.frame.l2);
        let start = self.together(self.dots(grad, direction));
        let straight = self.dots(&w[..n], &direction[..n]);
        let bend = self.dots(&direction[..n], &direction[..n]);
        let mut t: Vec<f64> = start.iter().map(|&slope| f64::from(u8::from(slope < 0.0))).collect();
        // The last steps that were too short and too long, and the slopes there.
        let mut low: Vec<[f64; 2]> = start.iter().map(|&slope| [0.0, slope]).collect();
        let mut high: Vec<Option<[f64; 2]>> = vec![None; k];
        let mut open: Vec<bool> = t.iter().map(|&t| t > 0.0).collect();
        for _ in 0..SEARCH {
            let sums = self.pass.along(scores, along, &t);
            let slope = (0..k).map(|c| sums[c] + l2 * (straight[c] + t[c] * bend[c])).collect();
            let slope = self.together(slope);
            for c in 0..k {
                open[c] &= slope[c].abs() > FLAT * start[c].abs();
                if !open[c] {
                    continue;
                }
                let seen = [t[c], slope[c]];
                if slope[c] < 0.0 {
                    // Twice on one side: the other end counts for half (the Illinois rule), so that both ends move.
                    if let (Some(high), true) = (&mut high[c], low[c][0] > 0.0) {
                        high[1] *= 0.5;
                    }
                    low[c] = seen;
                } else {
                    if high[c].is_some() {
                        low[c][1] *= 0.5;
                    }
                    high[c] = Some(seen);
                }
                let [from, at_low] = low[c];
                t[c] = match high[c] {
                    Some([to, at_high]) => from - at_low * (to - from) / (at_high - at_low),
                    None => from * (start[c] / (start[c] - at_low)).clamp(2.0, 10.0),
                };
            }
            if !open.contains(&true) || self.interrupt.is_stopped() {
                break;
            }
        }
        t
    }
}

fn solver_norm(grad: &[f64]) -> f64 {
    lineal_linalg::kernels::dot64(grad, grad).sqrt()
}

/// `to[j, c] += t[c]·by[j, c]`.
fn step(to: &mut [f64], by: &[f64], t: &[f64], stride: usize) {
    for (to, by) in to.chunks_exact_mut(stride).zip(by.chunks_exact(stride)) {
        for (c, &t) in t.iter().enumerate() {
            to[c] += t * by[c];
        }
    }
}

/// Whether the outputs of every input add up to 0.
fn is_centred(of: &[f64], stride: usize) -> bool {
    of.chunks_exact(stride).all(|of| {
        let (sum, size) = of.iter().fold((0.0, 0.0), |(sum, size), v| (sum + v, size + v.abs()));
        f64::abs(sum) <= 1e-7 * size
    })
}

/// Takes the mean over the outputs off each.
fn centre(of: &mut [f64], stride: usize, k: usize) {
    for of in of.chunks_exact_mut(stride) {
        let mean = of[..k].iter().sum::<f64>() / k as f64;
        of[..k].iter_mut().for_each(|v| *v -= mean);
    }
}
