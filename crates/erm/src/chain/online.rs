//! One sentence a step: the averaged perceptron, passive–aggressive updates, and stochastic (sub)gradients of the hinge (Pegasos) and of
//! the logistic loss.
//!
//! ```text
//! perceptron          w ← w + Ψ(x, y) − Ψ(x, ŷ)                       if ŷ ≠ y
//! passive–aggressive  w ← w + τ (Ψ(x, y) − Ψ(x, ŷ))                   τ = min(C, loss / ‖Ψ(x, y) − Ψ(x, ŷ)‖²), ŷ with the cost
//! gradient            w ← (1 − ηₜ l2) w − ηₜ ∇ loss
//! ```
//!
//! The weights are a·v, so that shrinking changes one number; the sum of all iterates is A·v + u with u touched only where v is (as in `lineal_solver::sgd`).

use super::problem::{Problem, Worker};
use super::{ChainError, ChainLoss, ChainPass, ChainUpdate};
use lineal_linalg::Rng;
use lineal_solver::Schedule;
use std::ops::ControlFlow;

/// What a run of epochs came to.
pub(crate) struct Epochs {
    pub(crate) w: Vec<f32>,
    pub(crate) passes: usize,
    /// The mean loss that the last pass saw.
    pub(crate) loss: f64,
    pub(crate) updates: u64,
    /// A pass changed nothing.
    pub(crate) still: bool,
    /// The observer ended it.
    pub(crate) broken: bool,
}

/// Settings that have been decided.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    pub(crate) rate: f64,
    pub(crate) schedule: Schedule,
    pub(crate) average: bool,
    pub(crate) epochs: usize,
}

pub(crate) fn epochs(
    problem: &Problem<'_>,
    steps: Steps,
    w: Vec<f32>,
    on_pass: &mut dyn FnMut(&ChainPass<'_>) -> ControlFlow<()>,
) -> Result<Epochs, ChainError> {
    let n = problem.sentences.len();
    let mut worker = problem.worker::<f32>();
    let mut iterate = Iterate::new(w);
    let mut rng = Rng::new(problem.spec.seed);
    let mut order: Vec<u32> = (0..n as u32).collect();
    let mut run =
        Epochs { w: Vec::new(), passes: 0, loss: 0.0, updates: 0, still: false, broken: false };
    let perceptron = problem.spec.loss == ChainLoss::Perceptron;
    let shrinks = problem.spec.l2 > 0.0 && problem.spec.update == ChainUpdate::Gradient;
    let mut t = 0u64;
    for epoch in 1..=steps.epochs {
        if steps.average {
            iterate.start_average();
        }
        shuffle(&mut order, &mut rng);
        let (mut loss, mut moved) = (0.0, 0);
        for &i in &order {
            t += 1;
            let i = i as usize;
            let (value, changed) = step(problem, &steps, t, i, &mut iterate, &mut worker)?;
            loss += value * problem.shares[i];
            moved += u64::from(changed);
            // Later iterates of a convex objective are worth more: Lacoste-Julien, Schmidt, Bach (2012).
            iterate.end_step(if perceptron { 1.0 } else { t as f64 });
        }
        iterate.fold();
        run.passes = epoch;
        run.loss = loss;
        run.updates += moved;
        // With a penalty there is something to do even where no sentence asks for it.
        run.still = moved == 0 && !shrinks;
        if !loss.is_finite() {
            return Err(ChainError::Diverged { value: loss, pass: epoch });
        }
        let pass = ChainPass {
            pass: epoch,
            loss,
            objective: None,
            gap: None,
            grad_norm: None,
            model: &|| problem.layout.pruned(&iterate.mean()),
        };
        run.broken = on_pass(&pass).is_break();
        if run.broken || run.still {
            break;
        }
    }
    run.w = iterate.mean();
    Ok(run)
}

/// One sentence; its loss before, and whether anything moved.
fn step(
    problem: &Problem<'_>,
    steps: &Steps,
    t: u64,
    i: usize,
    iterate: &mut Iterate,
    worker: &mut Worker<f32>,
) -> Result<(f64, bool), ChainError> {
    let spec = problem.spec;
    // A sentence of twice the weight is one that comes twice.
    let times = problem.shares[i] * problem.sentences.len() as f64;
    problem.scores(i, &iterate.v, iterate.a as f32, worker);
    worker.decoder.load(&worker.parts);
    let loss = problem.loss(i, worker)?;
    let eta = match steps.schedule {
        Schedule::Constant => steps.rate,
        Schedule::Inverse if spec.l2 > 0.0 => steps.rate / (1.0 + steps.rate * spec.l2 * t as f64),
        Schedule::Inverse => steps.rate / (1.0 + t as f64 / problem.sentences.len() as f64),
        Schedule::Pegasos => 1.0 / (spec.l2 * t as f64),
    };
    if spec.loss == ChainLoss::Logistic {
        iterate.shrink(1.0 - eta * spec.l2);
        worker.grad.scale((-eta * times / iterate.a) as f32);
        let at = problem.sentences.range(i);
        problem.layout.accumulate(&problem.slots, at, &worker.grad, &mut iterate.v);
        return Ok((loss, true));
    }
    // A margin that rounding alone keeps from its goal is there.
    let passive = spec.update != ChainUpdate::Gradient;
    let changed = worker.y_hat != worker.gold && !(passive && loss < 1e-6);
    let by = match spec.update {
        ChainUpdate::Gradient => {
            iterate.shrink(1.0 - eta * spec.l2);
            eta * times
        }
        ChainUpdate::PassiveAggressive { aggressiveness } => {
            let norm = if changed { difference_norm(problem, i, worker) } else { 0.0 };
            if norm > 0.0 { (loss / norm).min(aggressiveness * times) } else { 0.0 }
        }
    };
    if changed && by > 0.0 {
        iterate.add_difference(problem, i, worker, by);
    }
    Ok((loss, changed && by > 0.0))
}

/// ‖Ψ(x, y) − Ψ(x, ŷ)‖²: features of unary attributes never meet, those of transitions may.
fn difference_norm(problem: &Problem<'_>, i: usize, worker: &Worker<f32>) -> f64 {
    let mut all = Vec::new();
    let at = problem.sentences.range(i);
    let layout = &problem.layout;
    layout.each_difference(&problem.slots, at, &worker.gold, &worker.y_hat, |place, v| {
        all.push((place, f64::from(v)));
    });
    all.sort_unstable_by_key(|&(place, _)| place);
    all.chunk_by(|a, b| a.0 == b.0)
        .map(|same| same.iter().map(|&(_, v)| v).sum::<f64>().powi(2))
        .sum()
}

pub(crate) fn shuffle(order: &mut [u32], rng: &mut Rng) {
    for i in (1..order.len()).rev() {
        order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
    }
}

/// w = a·v, and Σw = big_a·v + u once averaging has started.
struct Iterate {
    a: f64,
    v: Vec<f32>,
    /// Empty without averaging. In f32 the millionth step would be lost in rounding.
    u: Vec<f64>,
    big_a: f64,
    /// Σ of the iterates' weights in the mean.
    total: f64,
}

impl Iterate {
    fn new(v: Vec<f32>) -> Self {
        Self { a: 1.0, v, u: Vec::new(), big_a: 0.0, total: 0.0 }
    }

    fn start_average(&mut self) {
        if self.u.is_empty() {
            self.u = vec![0.0; self.v.len()];
        }
    }

    fn shrink(&mut self, by: f64) {
        self.a *= by;
        // Pegasos' first step multiplies by exactly 0; a too small a would overflow v.
        if self.a.abs() < 1e-6 {
            self.fold();
        }
    }

    /// Writes a into v, so that a = 1 again, and big_a into u.
    fn fold(&mut self) {
        if self.big_a != 0.0 {
            for (u, &v) in self.u.iter_mut().zip(&self.v) {
                *u += self.big_a * f64::from(v);
            }
            self.big_a = 0.0;
        }
        if self.a != 1.0 {
            let a = self.a as f32;
            self.v.iter_mut().for_each(|v| *v *= a);
            self.a = 1.0;
        }
    }

    fn add_difference(&mut self, problem: &Problem<'_>, i: usize, worker: &Worker<f32>, by: f64) {
        let step = (by / self.a) as f32;
        let at = problem.sentences.range(i);
        let (layout, slots) = (&problem.layout, &problem.slots);
        let Self { v, u, big_a, .. } = self;
        if u.is_empty() {
            layout.each_difference(slots, at, &worker.gold, &worker.y_hat, |place, x| {
                v[place] += step * x;
            });
        } else {
            layout.each_difference(slots, at, &worker.gold, &worker.y_hat, |place, x| {
                let delta = step * x;
                v[place] += delta;
                u[place] -= *big_a * f64::from(delta);
            });
        }
    }

    fn end_step(&mut self, weight: f64) {
        if !self.u.is_empty() {
            self.big_a += weight * self.a;
            self.total += weight;
        }
    }

    /// The weights, averaged if that was asked for.
    fn mean(&self) -> Vec<f32> {
        if self.total == 0.0 {
            return self.v.iter().map(|v| (self.a * f64::from(*v)) as f32).collect();
        }
        let mean = |(&v, &u): (&f32, &f64)| ((self.big_a * f64::from(v) + u) / self.total) as f32;
        self.v.iter().zip(&self.u).map(mean).collect()
    }
}
