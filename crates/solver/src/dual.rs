//! Block-coordinate ascent in the dual, with shrinking and a proof at the end.
//!
//! Maximises D(μ) = Σᵢ dᵢ(μᵢ) − penalty*(Σᵢ Aᵢμᵢ) block by block, each block exactly, keeping the primal weights
//! w(μ) up to date on the way: Hsieh et al. (ICML 2008) for one number a block, Shalev-Shwartz & Zhang (JMLR 2013) in
//! general. Each pass takes the blocks in a fresh order: runs of neighbours are shuffled, so that what lies side by side in memory is
//! read side by side.
//!
//! Shrinking differs from LIBLINEAR's thresholds on projected gradients. A block is *calm* when its exact step moved
//! nothing or its own share of the duality gap is far below what the tolerance allows; a calm block sits out 1, 3, 7, …
//! passes, never more than half of the run so far. When the shares seen on the way add up to less than the tolerance the true gap is computed over
//! *all* blocks; if it is not small enough, everybody is woken. So shrinking can cost time, never correctness.

use crate::{Monitor, Outcome, Pass, Stop, Verdict};
use lineal_linalg::Scalar;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::ops::Range;

/// A problem whose dual falls into blocks.
pub trait DualBlocks<F> {
    /// Working memory of a step.
    type Scratch;

    /// Number of weights.
    fn dim(&self) -> usize;
    /// Number of blocks.
    fn n_blocks(&self) -> usize;
    /// Where block `i` lies among the dual variables; the last block's end is their number.
    fn block(&self, i: usize) -> Range<usize>;
    /// Working memory for [`step`](Self::step).
    fn scratch(&self) -> Self::Scratch;
    /// Maximises over block `i` and moves `w` along.
    fn step(&self, i: usize, mu: &mut [F], w: &mut [F], scratch: &mut Self::Scratch) -> DualStep;
    /// Block `i` comes soon: the place to prefetch its data.
    fn prefetch(&self, i: usize, soon: Soon, mu: &[F], w: &[F]) {
        let _ = (i, soon, mu, w);
    }
    /// How many neighbours stay together when the order is shuffled: more than 1 where blocks are so small that single ones in random order
    /// would have the processor wait for memory.
    fn run(&self) -> usize {
        1
    }
    /// Called after each pass: the place for multipliers of constraints that couple the blocks.
    fn end_pass(&mut self, mu: &[F], w: &mut [F]) {
        let _ = (mu, w);
    }
    /// About what the optimum will be, where that costs much less than a certificate: it tells when one is worth trying.
    fn estimate(&self, mu: &[F], w: &[F]) -> Option<f64> {
        let _ = (mu, w);
        None
    }
    /// The primal value at `w` and a proven bound on its distance from the optimum. May set `w` to w(μ) computed
    /// afresh, so that rounding does not pile up, and move both a little, to where the proof is best.
    fn certify(&mut self, mu: &mut [F], w: &mut [F]) -> (f64, f64);
}

/// How soon a block comes: each time what the last time asked for has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Soon {
    /// Where does its data lie?
    Far,
    /// What is its data?
    Near,
    /// What does its data refer to?
    Next,
}

/// What a block's step tells the driver.
#[derive(Clone, Copy, Debug)]
pub struct DualStep {
    /// The block's share of the duality gap before the step.
    pub gap: f64,
    /// Whether anything changed.
    pub moved: bool,
}

/// How to run [`dual`].
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    /// When to stop.
    pub stop: Stop,
    /// Leave calm blocks out for a while.
    pub shrink: bool,
    /// Of the order of the blocks.
    pub seed: u64,
}

impl Default for Dual {
    fn default() -> Self {
        Self { stop: Stop::default(), shrink: true, seed: 0 }
    }
}

/// How many blocks ahead data is asked for.
const AHEAD: [(usize, Soon); 3] = [(12, Soon::Far), (6, Soon::Near), (3, Soon::Next)];
/// The longest that a calm block sits out, as a power of two.
const MAX_CALM: u8 = 6;
const LONGEST_CALM: usize = 1 << MAX_CALM;
/// A block is calm when its share of the gap is below this part of an equal share of the tolerance.
const CALM_SHARE: f64 = 0.1;
/// The gap is computed at least this often, so that progress is seen.
const CERTIFY_EVERY: usize = 50;

/// Runs until the gap is within the tolerance. `mu` and `w = w(mu)` are where it starts and ends; zeros are a start.
pub fn dual<F: Scalar, P: DualBlocks<F>>(
    config: &Dual,
    problem: &mut P,
    mu: &mut [F],
    w: &mut [F],
    monitor: &mut Monitor<'_, F>,
) -> Outcome {
    let n = problem.n_blocks();
    let mut rng = Pcg64Mcg::seed_from_u64(config.seed);
    let mut scratch = problem.scratch();
    let mut calm = vec![0u8; n];
    // The pass that each block is due in.
    let mut due = vec![1usize; n];
    let mut order = Order::default();

    let (mut value, mut gap) = (f64::INFINITY, f64::INFINITY);
    let mut next_certify = 1;
    // Calm blocks cost nothing, so a pass counts by the blocks it visits; at least a hundredth, so that every run ends.
    let mut work = 0.0;
    let mut pass = 0;
    loop {
        pass += 1;
        let order = order.draw(due.iter().map(|&at| at == pass), problem.run(), &mut rng);

        let calm_gap =
            if value.is_finite() { CALM_SHARE * config.stop.enough(value) / n as f64 } else { 0.0 };
        // What is calm early in a run may not stay so: nobody waits longer than half of the run so far.
        let longest_wait = (pass / 2).clamp(2, LONGEST_CALM);
        let mut gap_seen = 0.0;
        for (at, &i) in order.iter().enumerate() {
            let i = i as usize;
            for (ahead, soon) in AHEAD {
                if let Some(&next) = order.get(at + ahead) {
                    problem.prefetch(next as usize, soon, mu, w);
                }
            }
            let step = problem.step(i, &mut mu[problem.block(i)], w, &mut scratch);
            gap_seen += step.gap;
            calm[i] = if step.moved && step.gap > calm_gap || !config.shrink {
                0
            } else {
                (calm[i] + 1).min(MAX_CALM)
            };
            let wait = (1 << calm[i]).min(longest_wait);
            due[i] = pass + wait;
        }
        problem.end_pass(mu, w);

        work += (order.len() as f64 / n.max(1) as f64).max(0.01);
        let last = work >= config.stop.max_passes as f64;
        let mut look = next_certify;
        if gap.is_infinite()
            && let Some(estimate) = problem.estimate(mu, w)
        {
            (value, look) = (estimate, CERTIFY_EVERY);
        }
        let seems_done = gap_seen <= config.stop.enough(value);
        let certified = last || pass >= look || seems_done;
        if certified {
            (value, gap) = problem.certify(mu, w);
            next_certify = pass + CERTIFY_EVERY;
        }
        let state = Pass {
            pass,
            w,
            value: if certified { value } else { f64::INFINITY },
            gap: certified.then_some(gap),
            gap_estimate: Some(gap_seen),
            grad_norm: None,
        };
        let broken = monitor(&state).is_break();
        if broken && !certified {
            (value, gap) = problem.certify(mu, w);
        }
        let converged = config.stop.verdict(value, Some(gap), 0.0, 0.0) == Verdict::Converged;
        if converged || broken || last {
            return Outcome {
                passes: work.ceil() as usize,
                value,
                gap: Some(gap),
                converged,
                ..Outcome::default()
            };
        }
        if seems_done && config.shrink {
            due.fill(pass + 1);
        }
    }
}

/// The order of the blocks in a pass.
#[derive(Default)]
struct Order {
    due: Vec<u32>,
    runs: Vec<u32>,
    blocks: Vec<u32>,
}

impl Order {
    /// A random order of the blocks that are due, `run` neighbours together.
    fn draw(
        &mut self,
        is_due: impl Iterator<Item = bool>,
        run: usize,
        rng: &mut Pcg64Mcg,
    ) -> &[u32] {
        self.due.clear();
        self.due.extend((0u32..).zip(is_due).filter(|&(_, due)| due).map(|(i, _)| i));
        self.runs.clear();
        self.runs.extend(0..self.due.len().div_ceil(run) as u32);
        self.runs.shuffle(rng);
        self.blocks.clear();
        for &at in &self.runs {
            let start = at as usize * run;
            self.blocks.extend_from_slice(&self.due[start..self.due.len().min(start + run)]);
        }
        &self.blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silent;

    #[test]
    fn an_order_has_each_due_block_once() {
        for (n, run) in [(0, 1), (1, 8), (7, 1), (100, 1), (100, 8), (103, 8)] {
            let due = |i: usize| i % 3 != 1;
            let mut rng = Pcg64Mcg::seed_from_u64(1);
            let mut order = Order::default();
            let first = order.draw((0..n).map(due), run, &mut rng).to_vec();
            let second = order.draw((0..n).map(due), run, &mut rng).to_vec();
            assert!(n < 7 || first != second);
            for mut drawn in [first, second] {
                drawn.sort_unstable();
                assert_eq!(drawn, (0..n as u32).filter(|&i| due(i as usize)).collect::<Vec<_>>());
            }
        }
    }

    /// min ½‖w‖² subject to wⱼ ≥ j, whose dual is max Σ j·μⱼ − ½μⱼ² over μ ≥ 0: one block a coordinate.
    struct Bounds(usize);

    impl DualBlocks<f64> for Bounds {
        type Scratch = ();
        fn dim(&self) -> usize {
            self.0
        }
        fn n_blocks(&self) -> usize {
            self.0
        }
        fn block(&self, i: usize) -> Range<usize> {
            i..i + 1
        }
        fn scratch(&self) {}
        fn step(&self, i: usize, mu: &mut [f64], w: &mut [f64], _: &mut ()) -> DualStep {
            let to = (i as f64 - 2.0).max(0.0);
            let moved = to != mu[0];
            mu[0] = to;
            w[i] = to;
            DualStep { gap: f64::from(u8::from(moved)), moved }
        }
        fn certify(&mut self, mu: &mut [f64], w: &mut [f64]) -> (f64, f64) {
            let value: f64 = w.iter().map(|w| 0.5 * w * w).sum();
            let dual: f64 =
                mu.iter().enumerate().map(|(i, m)| (i as f64 - 2.0) * m - 0.5 * m * m).sum();
            (value, value - dual)
        }
    }

    #[test]
    fn separable_blocks_end_with_a_zero_gap() {
        let (mut mu, mut w) = ([0.0; 6], [0.0; 6]);
        let outcome = dual(&Dual::default(), &mut Bounds(6), &mut mu, &mut w, &mut silent());
        assert!(outcome.converged);
        assert_eq!(outcome.gap, Some(0.0));
        assert_eq!(w, [0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    }

    #[test]
    fn a_monitor_can_end_the_run() {
        let (mut mu, mut w) = ([0.0; 6], [0.0; 6]);
        let stop = Stop { tol: -1.0, max_passes: 100 };
        let config = Dual { stop, shrink: false, ..Dual::default() };
        let outcome = dual(&config, &mut Bounds(6), &mut mu, &mut w, &mut |p| {
            if p.pass == 3 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        });
        assert_eq!((outcome.passes, outcome.converged), (3, false));
    }
}
