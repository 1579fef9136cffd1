//! Two ways to pick the blocks of a pass in the dual.
//!
//! **Shrinking** visits all blocks that are not calm, in a fresh order in which runs of neighbours stay together: what lies side by side in memory is read side by
//! side. It differs from LIBLINEAR's thresholds on projected gradients: a block is *calm* when its exact step moved nothing or its own share of
//! the duality gap is far below what the tolerance allows or what others have on average; a calm block sits out 1, 3, 7, … passes, never more than half of the run so far. When
//! the shares add up to less than the tolerance and the true gap does not, everybody is woken.
//!
//! **Gap sampling** (Osokin et al., ICML 2016) draws as many blocks as there are, after a first pass over all, in proportion to the gap that their last visit
//! found, with a share of chance so that none is forgotten: for blocks whose step costs an argmax.

use crate::DualStep;
use lineal_linalg::Rng;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Which blocks a pass visits, and when the true gap is worth its price.
pub(crate) trait Pick {
    /// The blocks of a pass overwrite `order`. `enough` is the gap that would end the run, infinite if that is not known yet.
    fn start_pass(&mut self, pass: usize, enough: f64, run: usize, order: &mut Vec<u32>);
    /// What a block's step told.
    fn visited(&mut self, pass: usize, i: usize, step: DualStep);
    /// About the gap, from what was seen.
    fn gap_seen(&self) -> f64;
    /// Whether the run seems to be at its end.
    fn seems_done(&self, gap_seen: f64, enough: f64) -> bool;
    /// The pass of the first certificate, at the latest.
    fn first_certificate(&self) -> usize;
    /// The pass of the next one, at the latest.
    fn next_certificate(&self, pass: usize) -> usize;
    /// Where a certificate leaves the gaps of all blocks, if they are of use.
    fn gaps(&mut self) -> &mut [f64];
    /// It seemed to be the end, and was not.
    fn wake(&mut self, pass: usize);
}

/// The longest that a calm block sits out, as a power of two.
const MAX_CALM: u8 = 6;
const LONGEST_CALM: usize = 1 << MAX_CALM;
/// A block is calm when its share of the gap is below this part of an equal share of the tolerance.
const CALM_SHARE: f64 = 0.1;
/// … or below this part of the mean of those that the last pass visited. With a weak penalty all blocks move a little in every pass: Crammer and Singer's loss at C = 10 took 88 passes
/// without and 65 with it on trec to a tolerance of 1e-2, 78 and 63 on banking77 to 3e-2, and at C = 1 nearly as many as without.
const CALM_MEAN: f64 = 0.2;
/// The gap is computed at least this often, so that progress is seen.
const CERTIFY_EVERY: usize = 50;

/// Blocks that are calm sit out.
pub(crate) struct Shrinking {
    shrink: bool,
    coupled: bool,
    rng: Pcg64Mcg,
    calm: Vec<u8>,
    /// The pass that each block is due in.
    due: Vec<u32>,
    calm_gap: f64,
    longest_wait: usize,
    /// The share of the gap that the last visit of each block found.
    gaps: Vec<f64>,
    /// Of the blocks visited in this pass, and how many they are.
    gap_visited: f64,
    n_visited: usize,
    blocks_due: Vec<u32>,
    runs: Vec<u32>,
}

impl Shrinking {
    /// Where a constraint is `coupled` to all blocks, those with small shares take part in every pass: its multipliers would move without them.
    pub(crate) fn new(n: usize, shrink: bool, coupled: bool, seed: u64) -> Self {
        Self {
            shrink,
            coupled,
            rng: Pcg64Mcg::seed_from_u64(seed),
            calm: vec![0; n],
            due: vec![1; n],
            calm_gap: 0.0,
            longest_wait: 0,
            gaps: vec![0.0; n],
            gap_visited: 0.0,
            n_visited: 0,
            blocks_due: Vec::new(),
            runs: Vec::new(),
        }
    }
}

impl Pick for Shrinking {
    fn start_pass(&mut self, pass: usize, enough: f64, run: usize, order: &mut Vec<u32>) {
        let n = self.due.len();
        // Written first and kept or not: which blocks are due is too random for branches.
        self.blocks_due.resize(n, 0);
        let mut n_due = 0;
        for (i, &at) in (0u32..).zip(&self.due) {
            self.blocks_due[n_due] = i;
            n_due += usize::from(at == pass as u32);
        }
        self.blocks_due.truncate(n_due);
        self.runs.clear();
        self.runs.extend(0..self.blocks_due.len().div_ceil(run) as u32);
        self.runs.shuffle(&mut self.rng);
        order.clear();
        for &at in &self.runs {
            let start = at as usize * run;
            order
                .extend_from_slice(&self.blocks_due[start..self.blocks_due.len().min(start + run)]);
        }
        let part = if self.coupled { 0.0 } else { CALM_MEAN };
        let by_mean = part * self.gap_visited / self.n_visited.max(1) as f64;
        let by_share = if enough.is_finite() { CALM_SHARE * enough / n as f64 } else { 0.0 };
        self.calm_gap = by_share.max(by_mean);
        // What is calm early in a run may not stay so: nobody waits longer than half of the run so far.
        self.longest_wait = (pass / 2).clamp(2, LONGEST_CALM);
        (self.gap_visited, self.n_visited) = (0.0, order.len());
    }

    #[inline]
    fn visited(&mut self, pass: usize, i: usize, step: DualStep) {
        self.gap_visited += step.gap;
        self.gaps[i] = step.gap;
        self.calm[i] = if step.moved && step.gap > self.calm_gap || !self.shrink {
            0
        } else {
            (self.calm[i] + 1).min(MAX_CALM)
        };
        let wait = (1 << self.calm[i]).min(self.longest_wait);
        self.due[i] = (pass + wait) as u32;
    }

    /// What blocks that sit out had when they were last visited counts, too: they are left out for being below others, not for being done.
    fn gap_seen(&self) -> f64 {
        if self.coupled { self.gap_visited } else { self.gaps.iter().sum() }
    }

    fn seems_done(&self, gap_seen: f64, enough: f64) -> bool {
        gap_seen <= enough
    }

    fn first_certificate(&self) -> usize {
        1
    }

    fn next_certificate(&self, pass: usize) -> usize {
        pass + CERTIFY_EVERY
    }

    fn gaps(&mut self) -> &mut [f64] {
        &mut []
    }

    fn wake(&mut self, pass: usize) {
        if self.shrink {
            self.due.fill(pass as u32 + 1);
        }
    }
}

/// The share of blocks drawn by chance.
const BY_CHANCE: f64 = 0.2;
/// A certificate costs a pass: it is computed after this many at most.
const CERTIFY_SAMPLED_EVERY: usize = 10;

/// Blocks come in proportion to their gaps.
pub(crate) struct GapSampling {
    rng: Rng,
    /// What the last visit of each block found.
    gaps: Vec<f64>,
}

impl GapSampling {
    pub(crate) fn new(n: usize, seed: u64) -> Self {
        Self { rng: Rng::new(seed), gaps: vec![f64::INFINITY; n] }
    }

    /// As many blocks as there are, most of them in proportion to their gaps.
    fn draw(&mut self, draws: &mut [u32]) {
        let (gaps, rng) = (&self.gaps, &mut self.rng);
        let n = gaps.len();
        let total: f64 = gaps.iter().map(|gap| gap.max(0.0)).sum();
        let by_gap = if total > 0.0 { ((1.0 - BY_CHANCE) * n as f64) as usize } else { 0 };
        // Evenly spaced arrows into the line of gaps: fewer repeats than independent draws.
        let (spacing, mut at) = (total / by_gap.max(1) as f64, 0.0);
        let mut next = rng.unit() * spacing;
        let mut drawn = 0;
        for (i, gap) in gaps.iter().enumerate() {
            at += gap.max(0.0);
            while next < at && drawn < by_gap {
                draws[drawn] = i as u32;
                drawn += 1;
                next += spacing;
            }
        }
        for draw in &mut draws[drawn..] {
            *draw = (rng.next_u64() % n as u64) as u32;
        }
    }
}

impl Pick for GapSampling {
    fn start_pass(&mut self, pass: usize, _: f64, _: usize, order: &mut Vec<u32>) {
        if pass == 1 {
            order.clear();
            order.extend(0..self.gaps.len() as u32);
        } else {
            self.draw(order);
        }
        shuffle(order, &mut self.rng);
    }

    fn visited(&mut self, _: usize, i: usize, step: DualStep) {
        self.gaps[i] = step.gap;
    }

    fn gap_seen(&self) -> f64 {
        self.gaps.iter().sum()
    }

    /// Gaps of visits long ago are too small: half of what would be enough.
    fn seems_done(&self, gap_seen: f64, enough: f64) -> bool {
        enough.is_finite() && gap_seen <= 0.5 * enough
    }

    fn first_certificate(&self) -> usize {
        3
    }

    fn next_certificate(&self, pass: usize) -> usize {
        pass + CERTIFY_SAMPLED_EVERY.min(1 + pass / 2)
    }

    fn gaps(&mut self) -> &mut [f64] {
        &mut self.gaps
    }

    fn wake(&mut self, _: usize) {}
}

/// A random order (Fisher and Yates).
pub fn shuffle(order: &mut [u32], rng: &mut Rng) {
    for i in (1..order.len()).rev() {
        order.swap(i, (rng.next_u64() % (i as u64 + 1)) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_has_each_due_block_once() {
        for (n, run) in [(0, 1), (1, 8), (7, 1), (100, 1), (100, 8), (103, 8)] {
            let due = |i: usize| i % 3 != 1;
            let mut pick = Shrinking::new(n, true, false, 1);
            (0..n).filter(|&i| !due(i)).for_each(|i| pick.due[i] = 9);
            let (mut first, mut second) = (Vec::new(), Vec::new());
            pick.start_pass(1, 0.0, run, &mut first);
            pick.start_pass(1, 0.0, run, &mut second);
            assert!(n < 7 || first != second);
            for mut drawn in [first, second] {
                drawn.sort_unstable();
                assert_eq!(drawn, (0..n as u32).filter(|&i| due(i as usize)).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_block_far_below_the_others_sits_out_and_still_counts() {
        let mut pick = Shrinking::new(3, true, false, 1);
        let mut order = Vec::new();
        let mut visited = Vec::new();
        for pass in 1..=3 {
            pick.start_pass(pass, f64::INFINITY, 1, &mut order);
            for &i in &order {
                let gap = if i == 2 { 0.01 } else { 1.0 };
                pick.visited(pass, i as usize, DualStep { gap, moved: true });
            }
            assert_eq!(pick.gap_seen(), 2.01);
            visited.push(order.len());
        }
        assert_eq!(visited, [3, 3, 2]);
    }

    #[test]
    fn a_block_with_half_of_the_gap_comes_as_often_as_all_others() {
        let mut pick = GapSampling::new(100, 7);
        let mut order = Vec::new();
        pick.start_pass(1, 0.0, 1, &mut order);
        let mut all = order.clone();
        all.sort_unstable();
        assert_eq!(all, (0..100).collect::<Vec<_>>());
        for i in 0..100 {
            let gap = if i == 7 { 99.0 } else { 1.0 };
            pick.visited(1, i, DualStep { gap, moved: true });
        }
        assert_eq!(pick.gap_seen(), 198.0);
        pick.start_pass(2, 0.0, 1, &mut order);
        let visits = order.iter().filter(|&&i| i == 7).count();
        assert!(order.len() == 100 && (38..=44).contains(&visits), "{visits}");
    }
}
