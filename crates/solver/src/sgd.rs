//! Stochastic gradient descent on mean loss + (l2/2)‖w‖², one example or one mini-batch a step:
//!
//! ```text
//! w ← w − ηₜ l2 w − ηₜ (1/B) Σ_{i in batch} ∇ lossᵢ(w)
//! ```
//!
//! The weights are kept as w = a·v, so that the shrinking by l2 changes one number and a step costs the nonzeros of
//! its rows (Shalev-Shwartz et al., Pegasos, 2007; Bottou's SGD). A free bias is stored as b/a. The running sum of all
//! iterates is kept as Σw = A·v + u with u touched only where v is (Xu, 2011), so averaging is sparse too.

use crate::{Error, Monitor, Outcome, Pass};
use lineal_linalg::{Row, Scalar, Sink};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A sum over examples whose gradients touch few weights.
pub trait Stochastic<F> {
    /// Working memory of [`slope`](Self::slope).
    type Scratch;

    /// Number of weights.
    fn dim(&self) -> usize;
    /// Number of examples.
    fn n_examples(&self) -> usize;
    /// How many of the weights, from the front, l2 shrinks.
    fn n_penalised(&self) -> usize;
    /// The largest number of parts of an example.
    fn max_parts(&self) -> usize;
    /// Working memory.
    fn scratch(&self) -> Self::Scratch;
    /// The loss of example `i` at the weights `scale · v`; its gradient in score space overwrites the front of `g`, whose length
    /// is returned.
    fn slope(
        &self,
        i: usize,
        v: &[F],
        scale: F,
        s: &mut Self::Scratch,
        g: &mut [F],
    ) -> (f64, usize);
    /// Adds Ψᵢᵀ g to the sink.
    fn spread(&self, i: usize, g: &[F], sink: &mut impl Sink<F>);
}

/// How the rate falls with the step t = 1, 2, ….
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Schedule {
    /// ηₜ = η.
    Constant,
    /// ηₜ = η / (1 + η·l2·t), or η / (1 + t/n) without a penalty.
    Inverse,
    /// ηₜ = 1 / (l2·t); η is not used.
    Pegasos,
}

/// Which examples the steps of an epoch see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draws {
    /// Each once, in a fresh random order.
    Shuffled,
    /// Each once, in the order given.
    InOrder,
    /// As many as there are, drawn with replacement.
    WithReplacement,
}

/// How to run [`sgd`].
#[derive(Clone, Copy, Debug)]
pub struct Sgd {
    /// Passes over the data.
    pub epochs: usize,
    /// Examples a step.
    pub batch_size: usize,
    /// η.
    pub rate: f64,
    /// How it falls.
    pub schedule: Schedule,
    /// The factor of ½‖w‖².
    pub l2: f64,
    /// Return the mean of the iterates after the first epoch (of all, if there is only one).
    pub average: bool,
    /// The order of examples.
    pub draws: Draws,
    /// Stop after an epoch in which no example changed the weights (a perceptron that separates).
    pub stop_when_still: bool,
    /// Of the order of examples.
    pub seed: u64,
}

impl Default for Sgd {
    fn default() -> Self {
        Self {
            epochs: 20,
            batch_size: 1,
            rate: 0.1,
            schedule: Schedule::Inverse,
            l2: 0.0,
            average: false,
            draws: Draws::Shuffled,
            stop_when_still: false,
            seed: 0,
        }
    }
}

/// Runs the epochs, starting and ending in `w`. `Outcome::value` is the mean loss that the last epoch's steps
/// saw before each changed the weights; `converged` only tells that an epoch changed nothing.
pub fn sgd<F: Scalar, P: Stochastic<F>>(
    config: &Sgd,
    problem: &P,
    w: &mut [F],
    monitor: &mut Monitor<'_, F>,
) -> Result<Outcome, Error> {
    let n = problem.n_examples();
    let parts = problem.max_parts();
    let batch = config.batch_size.clamp(1, n.max(1));
    let mut rng = Pcg64Mcg::seed_from_u64(config.seed);
    let mut scratch = problem.scratch();
    let mut order: Vec<usize> = (0..n).collect();
    let mut slopes = vec![F::ZERO; batch * parts];
    let mut lens = vec![0; batch];
    let mut iterate = Iterate::new(w.to_vec(), problem.n_penalised());
    let mut step = 0u64;
    let mut outcome = Outcome { updates: Some(0), ..Outcome::default() };

    for epoch in 1..=config.epochs {
        match config.draws {
            Draws::Shuffled => order.shuffle(&mut rng),
            Draws::InOrder => {}
            Draws::WithReplacement => order.fill_with(|| rng.random_range(0..n)),
        }
        if config.average && (epoch == 2 || config.epochs == 1) {
            iterate.start_average();
        }
        let (mut loss, mut updates) = (0.0, 0u64);
        for examples in order.chunks(batch) {
            step += 1;
            let t = step as f64;
            let eta = match config.schedule {
                Schedule::Constant => config.rate,
                Schedule::Inverse if config.l2 > 0.0 => {
                    config.rate / (1.0 + config.rate * config.l2 * t)
                }
                Schedule::Inverse => config.rate / (1.0 + t * batch as f64 / n as f64),
                Schedule::Pegasos => 1.0 / (config.l2 * t),
            };
            // All slopes of the batch are taken at the same weights, then spread.
            for (b, &i) in examples.iter().enumerate() {
                let g = &mut slopes[b * parts..(b + 1) * parts];
                let (value, len) = problem.slope(i, &iterate.v, iterate.scale(), &mut scratch, g);
                loss += value;
                lens[b] = len;
            }
            iterate.shrink(1.0 - eta * config.l2);
            let factor = F::from_f64(-eta / examples.len() as f64 / iterate.a);
            for (b, &i) in examples.iter().enumerate() {
                let g = &mut slopes[b * parts..b * parts + lens[b]];
                if g.iter().all(|&g| g == F::ZERO) {
                    continue;
                }
                updates += 1;
                g.iter_mut().for_each(|g| *g *= factor);
                problem.spread(i, g, &mut iterate);
            }
            iterate.end_step();
        }
        // Rounding of v is multiplied by big_a in the mean: it must not grow over the epochs.
        if iterate.average.is_some() {
            iterate.fold(1.0);
        }
        outcome.passes = epoch;
        outcome.value = loss / n as f64;
        outcome.updates = outcome.updates.map(|u| u + updates);
        if !outcome.value.is_finite() {
            return Err(Error::Diverged { value: outcome.value, pass: epoch });
        }
        iterate.write(w);
        let state = Pass {
            pass: epoch,
            w,
            value: outcome.value,
            gap: None,
            gap_estimate: None,
            grad_norm: None,
        };
        if monitor(&state).is_break() {
            break;
        }
        if config.stop_when_still && updates == 0 {
            outcome.converged = true;
            break;
        }
    }
    Ok(outcome)
}

/// w = a·v, and Σw = big_a·v + u once averaging has started.
struct Iterate<F> {
    a: f64,
    v: Vec<F>,
    n_penalised: usize,
    average: Option<Average>,
}

/// Sums over all steps: in f32 the millionth would be lost in rounding.
struct Average {
    big_a: f64,
    u: Vec<f64>,
    steps: u64,
    g: Vec<f64>,
}

impl<F: Scalar> Iterate<F> {
    fn new(w: Vec<F>, n_penalised: usize) -> Self {
        Self { a: 1.0, v: w, n_penalised, average: None }
    }

    fn scale(&self) -> F {
        F::from_f64(self.a)
    }

    fn start_average(&mut self) {
        self.average =
            Some(Average { big_a: 0.0, u: vec![0.0; self.v.len()], steps: 0, g: Vec::new() });
    }

    /// w ← by·w for the penalised weights; the free ones, stored as b/a, are divided to stay.
    fn shrink(&mut self, by: f64) {
        if by == 1.0 {
            return;
        }
        let a = self.a * by;
        // Pegasos' first step multiplies by exactly 0; a too small a would overflow v.
        if a.abs() < 1e-6 {
            self.fold(by);
            return;
        }
        self.a = a;
        let undo = F::from_f64(1.0 / by);
        for j in self.n_penalised..self.v.len() {
            let delta = self.v[j] * undo - self.v[j];
            self.v[j] += delta;
            if let Some(average) = &mut self.average {
                average.u[j] -= average.big_a * delta.to_f64();
            }
        }
    }

    /// Writes a and the shrinking into v, so that a = 1 again.
    fn fold(&mut self, by: f64) {
        if let Some(average) = &mut self.average {
            for (u, &v) in average.u.iter_mut().zip(&self.v) {
                *u += average.big_a * v.to_f64();
            }
            average.big_a = 0.0;
        }
        let (all, shrunk) = (F::from_f64(self.a), F::from_f64(self.a * by));
        let (penalised, free) = self.v.split_at_mut(self.n_penalised);
        penalised.iter_mut().for_each(|v| *v *= shrunk);
        free.iter_mut().for_each(|v| *v *= all);
        self.a = 1.0;
    }

    fn end_step(&mut self) {
        if let Some(average) = &mut self.average {
            average.big_a += self.a;
            average.steps += 1;
        }
    }

    /// The weights, averaged if that was asked for.
    fn write(&self, w: &mut [F]) {
        match &self.average {
            Some(avg) if avg.steps > 0 => {
                for (w, (&v, &u)) in w.iter_mut().zip(self.v.iter().zip(&avg.u)) {
                    *w = F::from_f64((avg.big_a * v.to_f64() + u) / avg.steps as f64);
                }
            }
            _ => {
                let a = self.scale();
                for (w, &v) in w.iter_mut().zip(&self.v) {
                    *w = a * v;
                }
            }
        }
    }
}

impl<F: Scalar> Sink<F> for Iterate<F> {
    fn add_row(&mut self, at: usize, x: Row<'_>, g: &[F]) {
        lineal_linalg::kernels::add_outer(x, g, &mut self.v[at..]);
        if let Some(Average { big_a, u, g: wide, .. }) = &mut self.average {
            wide.clear();
            wide.extend(g.iter().map(|g| -*big_a * g.to_f64()));
            lineal_linalg::kernels::add_outer(x, wide, &mut u[at..]);
        }
    }

    fn add_block(&mut self, at: usize, g: &[F]) {
        for (c, &g) in g.iter().enumerate() {
            self.v[at + c] += g;
            if let Some(average) = &mut self.average {
                average.u[at + c] -= average.big_a * g.to_f64();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silent;

    /// One weight and a target: loss ½(w − 1)², each example the same.
    struct Towards1;

    impl Stochastic<f32> for Towards1 {
        type Scratch = ();
        fn dim(&self) -> usize {
            1
        }
        fn n_examples(&self) -> usize {
            1000
        }
        fn n_penalised(&self) -> usize {
            1
        }
        fn max_parts(&self) -> usize {
            1
        }
        fn scratch(&self) {}
        fn slope(
            &self,
            _: usize,
            v: &[f32],
            scale: f32,
            (): &mut (),
            g: &mut [f32],
        ) -> (f64, usize) {
            g[0] = v[0] * scale - 1.0;
            (0.5 * f64::from(g[0] * g[0]), 1)
        }
        fn spread(&self, _: usize, g: &[f32], sink: &mut impl Sink<f32>) {
            sink.add_block(0, g);
        }
    }

    #[test]
    fn the_mean_of_millions_of_f32_iterates_keeps_its_digits() {
        // With l2 = 1 the optimum is ½; at a rate of 1e-3 all iterates after the first epochs are there.
        let config = Sgd {
            epochs: 3000,
            rate: 1e-3,
            schedule: Schedule::Constant,
            l2: 1.0,
            average: true,
            ..Sgd::default()
        };
        let mut w = [0.0f32];
        sgd(&config, &Towards1, &mut w, &mut silent()).unwrap();
        assert!((w[0] - 0.5).abs() < 1e-3, "{}", w[0]);
    }
}
