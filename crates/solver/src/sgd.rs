//! Stochastic gradient descent on mean loss + (l2/2)‖w‖², one example or one mini-batch a step:
//!
//! ```text
//! w ← w − ηₜ l2 w − ηₜ (1/B) Σ_{i in batch} ∇ lossᵢ(w)
//! ```
//!
//! A step costs the nonzeros of its rows, shrinking and averaging included: see [`Iterate`].

use crate::{Error, Interrupt, Iterate, Monitor, Outcome, Pass};
use lineal_linalg::{Scalar, Sink};
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

impl Schedule {
    /// ηₜ for step `t` after `passes` = t/n passes over the examples, counted with fractions.
    pub fn rate(self, rate: f64, l2: f64, t: f64, passes: f64) -> f64 {
        match self {
            Self::Constant => rate,
            Self::Inverse if l2 > 0.0 => rate / (1.0 + rate * l2 * t),
            Self::Inverse => rate / (1.0 + passes),
            Self::Pegasos => 1.0 / (l2 * t),
        }
    }
}

/// What is returned of the iterates of stochastic steps, of which there is one after each step t = 1, 2, ….
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Averaging {
    /// The last one.
    Last,
    /// The mean of all: for updates that minimise nothing, as the perceptron's.
    Equal,
    /// The mean in which the t-th counts t times: later iterates of a convex objective are worth more (Lacoste-Julien, Schmidt, Bach 2012).
    Rising,
}

impl Averaging {
    /// How much the t-th iterate counts in the mean.
    pub fn weight(self, t: f64) -> f64 {
        match self {
            Averaging::Last | Averaging::Equal => 1.0,
            Averaging::Rising => t,
        }
    }
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
    /// What is returned of the iterates, of which there is one after each step.
    pub average: Averaging,
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
            average: Averaging::Last,
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
    if config.average != Averaging::Last {
        iterate.start_average();
    }
    let interrupt = Interrupt::current();
    let mut step = 0u64;
    let mut outcome = Outcome { updates: Some(0), ..Outcome::default() };

    for epoch in 1..=config.epochs {
        match config.draws {
            Draws::Shuffled => order.shuffle(&mut rng),
            Draws::InOrder => {}
            Draws::WithReplacement => order.fill_with(|| rng.random_range(0..n)),
        }
        let (mut loss, mut updates) = (0.0, 0u64);
        for examples in order.chunks(batch) {
            if interrupt.is_stopped() {
                return Ok(outcome);
            }
            step += 1;
            let t = step as f64;
            let passes = t * batch as f64 / n as f64;
            let eta = config.schedule.rate(config.rate, config.l2, t, passes);
            // All slopes of the batch are taken at the same weights, then spread.
            for (b, &i) in examples.iter().enumerate() {
                let g = &mut slopes[b * parts..(b + 1) * parts];
                let (value, len) =
                    problem.slope(i, iterate.direction(), iterate.scale(), &mut scratch, g);
                loss += value;
                lens[b] = len;
            }
            iterate.shrink(1.0 - eta * config.l2);
            let factor = F::from_f64(-eta / examples.len() as f64 / iterate.factor());
            for (b, &i) in examples.iter().enumerate() {
                let g = &mut slopes[b * parts..b * parts + lens[b]];
                if g.iter().all(|&g| g == F::ZERO) {
                    continue;
                }
                updates += 1;
                g.iter_mut().for_each(|g| *g *= factor);
                problem.spread(i, g, &mut iterate);
            }
            iterate.end_step(config.average.weight(t));
        }
        // Rounding of v is multiplied by big_a in the mean: it must not grow over the epochs.
        if iterate.is_averaged() {
            iterate.fold();
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
            average: Averaging::Rising,
            ..Sgd::default()
        };
        let mut w = [0.0f32];
        sgd(&config, &Towards1, &mut w, &mut silent()).unwrap();
        assert!((w[0] - 0.5).abs() < 1e-3, "{}", w[0]);
    }
}
