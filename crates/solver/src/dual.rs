//! Block-coordinate ascent in the dual, with a proof at the end.
//!
//! Maximises D(μ) = Σᵢ dᵢ(μᵢ) − penalty*(Σᵢ Aᵢμᵢ) block by block, keeping the primal weights w(μ) up to date on the way: Hsieh et al. (ICML
//! 2008) for one number a block, Shalev-Shwartz & Zhang (JMLR 2013) in general, Lacoste-Julien et al. (ICML 2013) for blocks that are lists of outputs.
//!
//! Which blocks a pass visits is one of two ways, each in `pick.rs`: *shrinking* for blocks of numbers ([`dual`]), *gap sampling* for blocks whose steps are
//! dear ([`dual_by_gaps`]). The shares of the gap seen on the way tell when it is worth computing the true gap over *all* blocks, and that alone
//! decides when to stop: a poor choice of blocks can cost time, never correctness.

use crate::interrupt::Interrupt;
use crate::pick::{GapSampling, Pick, Shrinking};
use crate::{Monitor, Outcome, Pass, Stop, Verdict};
use lineal_linalg::Scalar;
use std::convert::Infallible;
use std::ops::Range;

/// A dual problem that keeps its own variables: what the driver needs of any.
pub trait Blocks<F> {
    /// Why a step may fail.
    type Error;

    /// Number of blocks.
    fn n_blocks(&self) -> usize;
    /// Ascends in block `i` and moves the weights along.
    fn step(&mut self, i: usize) -> Result<DualStep, Self::Error>;
    /// Block `i` comes soon: the place to prefetch its data.
    fn prefetch(&self, i: usize, soon: Soon) {
        let _ = (i, soon);
    }
    /// How many neighbours stay together when the order is shuffled.
    fn run(&self) -> usize {
        1
    }
    /// Called after each pass.
    fn end_pass(&mut self) {}
    /// About what the optimum will be, where that costs much less than a certificate: it tells when one is worth trying.
    fn estimate(&self) -> Option<f64> {
        None
    }
    /// The primal value at the weights to return and a proven bound on its distance from the optimum. The blocks' shares of the gap overwrite `gaps`, unless
    /// that is empty.
    fn certify(&mut self, gaps: &mut [f64]) -> Result<(f64, f64), Self::Error>;
    /// The weights to return.
    fn weights(&self) -> &[F];
}

/// A problem whose dual variables are numbers in one vector, block after block.
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
    /// Whether a constraint couples the blocks.
    fn is_coupled(&self) -> bool {
        false
    }
    /// Called after each pass: the place for multipliers of constraints that couple the blocks, and for cheaper passes over parts of them.
    fn end_pass(&mut self, mu: &mut [F], w: &mut [F]) {
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
/// Runs until the gap is within the tolerance. `mu` and `w = w(mu)` are where it starts and ends; zeros are a start.
pub fn dual<F: Scalar, P: DualBlocks<F>>(
    config: &Dual,
    problem: &mut P,
    mu: &mut [F],
    w: &mut [F],
    monitor: &mut Monitor<'_, F>,
) -> Outcome {
    let scratch = problem.scratch();
    let (n, coupled) = (problem.n_blocks(), problem.is_coupled());
    let pick = Shrinking::new(n, config.shrink, coupled, config.seed);
    let mut numbers = Numbers { problem, mu, w, scratch };
    match ascend(config.stop, &mut numbers, pick, monitor) {
        Ok(outcome) => outcome,
        Err(never) => match never {},
    }
}

/// Runs until the gap is within the tolerance, drawing blocks in proportion to their gaps.
pub fn dual_by_gaps<F: Scalar, B: Blocks<F>>(
    stop: Stop,
    seed: u64,
    blocks: &mut B,
    monitor: &mut Monitor<'_, F>,
) -> Result<Outcome, B::Error> {
    let pick = GapSampling::new(blocks.n_blocks(), seed);
    ascend(stop, blocks, pick, monitor)
}

fn ascend<F: Scalar, B: Blocks<F>>(
    stop: Stop,
    blocks: &mut B,
    mut pick: impl Pick,
    monitor: &mut Monitor<'_, F>,
) -> Result<Outcome, B::Error> {
    let n = blocks.n_blocks();
    let interrupt = Interrupt::current();
    let mut order = Vec::new();
    let (mut value, mut gap) = (f64::INFINITY, f64::INFINITY);
    let mut next_certify = pick.first_certificate();
    // Blocks that are left out cost nothing, so a pass counts by the blocks it visits; at least a hundredth, so that every run ends.
    let mut work = 0.0;
    let mut pass = 0;
    loop {
        pass += 1;
        pick.start_pass(pass, stop.enough(value), blocks.run(), &mut order);
        for (at, &i) in order.iter().enumerate() {
            if interrupt.is_stopped() {
                break;
            }
            let i = i as usize;
            for (ahead, soon) in AHEAD {
                if let Some(&next) = order.get(at + ahead) {
                    blocks.prefetch(next as usize, soon);
                }
            }
            let step = blocks.step(i)?;
            pick.visited(pass, i, step);
        }
        if interrupt.is_stopped() {
            return Ok(Outcome::default());
        }
        blocks.end_pass();

        work += (order.len() as f64 / n.max(1) as f64).max(0.01);
        let last = work >= stop.max_passes as f64;
        // It hardly changes after some passes, and walks over all dual variables.
        if gap.is_infinite()
            && pass.is_power_of_two()
            && let Some(estimate) = blocks.estimate()
        {
            (value, next_certify) = (estimate, pick.next_certificate(0));
        }
        let gap_seen = pick.gap_seen();
        let seems_done = pick.seems_done(gap_seen, stop.enough(value));
        let certified = last || pass >= next_certify || seems_done;
        if certified {
            (value, gap) = blocks.certify(pick.gaps())?;
            next_certify = pick.next_certificate(pass);
        }
        if interrupt.is_stopped() {
            return Ok(Outcome::default());
        }
        let state = Pass {
            pass: work.ceil() as usize,
            w: blocks.weights(),
            value: if certified { value } else { f64::INFINITY },
            gap: certified.then_some(gap),
            gap_estimate: Some(gap_seen),
            grad_norm: None,
        };
        let broken = monitor(&state).is_break();
        if broken && !certified {
            (value, gap) = blocks.certify(pick.gaps())?;
        }
        let converged =
            gap.is_finite() && stop.verdict(value, Some(gap), 0.0, 0.0) == Verdict::Converged;
        if converged || broken || last {
            let passes = work.ceil() as usize;
            return Ok(Outcome { passes, value, gap: Some(gap), converged, ..Outcome::default() });
        }
        if seems_done {
            pick.wake(pass);
        }
    }
}

/// Blocks of numbers, with what a run over them holds.
struct Numbers<'r, F, P: DualBlocks<F>> {
    problem: &'r mut P,
    mu: &'r mut [F],
    w: &'r mut [F],
    scratch: P::Scratch,
}

impl<F: Scalar, P: DualBlocks<F>> Blocks<F> for Numbers<'_, F, P> {
    type Error = Infallible;

    #[inline]
    fn n_blocks(&self) -> usize {
        self.problem.n_blocks()
    }

    #[inline]
    fn step(&mut self, i: usize) -> Result<DualStep, Infallible> {
        let mu = &mut self.mu[self.problem.block(i)];
        Ok(self.problem.step(i, mu, self.w, &mut self.scratch))
    }

    #[inline]
    fn prefetch(&self, i: usize, soon: Soon) {
        self.problem.prefetch(i, soon, self.mu, self.w);
    }

    fn run(&self) -> usize {
        self.problem.run()
    }

    fn end_pass(&mut self) {
        self.problem.end_pass(self.mu, self.w);
    }

    fn estimate(&self) -> Option<f64> {
        self.problem.estimate(self.mu, self.w)
    }

    fn certify(&mut self, _: &mut [f64]) -> Result<(f64, f64), Infallible> {
        Ok(self.problem.certify(self.mu, self.w))
    }

    fn weights(&self) -> &[F] {
        self.w
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::silent;

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

    /// Progress once counted loops and the report work: with blocks left out they differed.
    #[test]
    fn progress_and_report_count_the_same_passes() {
        let (mut mu, mut w) = ([0.0; 6], [0.0; 6]);
        let config = Dual { stop: Stop { tol: -1.0, max_passes: 3 }, ..Dual::default() };
        let (mut seen, mut loops) = (0, 0);
        let outcome = dual(&config, &mut Bounds(6), &mut mu, &mut w, &mut |p| {
            (seen, loops) = (p.pass, loops + 1);
            std::ops::ControlFlow::Continue(())
        });
        // Nothing moves after the first pass, so that later ones leave blocks out.
        assert!(loops > outcome.passes, "{loops}");
        assert_eq!(seen, outcome.passes);
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

    /// Counts its steps, and throws the switch at the fourth.
    struct Counted<'c> {
        steps: &'c std::cell::Cell<usize>,
        switch: Interrupt,
    }

    impl DualBlocks<f64> for Counted<'_> {
        type Scratch = ();
        fn dim(&self) -> usize {
            1
        }
        fn n_blocks(&self) -> usize {
            100
        }
        fn block(&self, i: usize) -> Range<usize> {
            i..i + 1
        }
        fn scratch(&self) {}
        fn step(&self, _: usize, _: &mut [f64], _: &mut [f64], (): &mut ()) -> DualStep {
            self.steps.set(self.steps.get() + 1);
            if self.steps.get() == 4 {
                self.switch.stop();
            }
            DualStep { gap: 1.0, moved: true }
        }
        fn certify(&mut self, _: &mut [f64], _: &mut [f64]) -> (f64, f64) {
            unreachable!("a run that was interrupted proves nothing")
        }
    }

    #[test]
    fn an_interrupt_ends_a_pass() {
        let (steps, switch) = (std::cell::Cell::new(0), Interrupt::new());
        let mut problem = Counted { steps: &steps, switch: switch.clone() };
        let (mut mu, mut w) = ([0.0; 100], [0.0]);
        let run = || dual(&Dual::default(), &mut problem, &mut mu, &mut w, &mut silent());
        assert!(!switch.scope(run).converged);
        assert_eq!(steps.get(), 4);
    }
}
