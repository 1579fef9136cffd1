//! Sums over all pairs of targets and sources in O(n) once both are sorted.
//!
//! For each target t the sum over all sources s of σ(t − s), and the sum over all pairs of log(1 + exp(t − s)). The line is cut into cells [c, c + 1), c whole. Between two cells:
//!
//! - **near** (|Δ| ≤ 4): polynomials of [`chebyshev`](super::chebyshev). A cell's sources enter through P moments, P² products give a polynomial on the cell of the targets,
//!   which each evaluates. If a cell has few documents, pair by pair.
//! - **far to the right** (t − s ≤ −4): with z = e^(t − s), log(1 + z) = Σₖ (−1)^(k+1) zᵏ/k and σ = Σₖ (−1)^(k+1) zᵏ. zᵏ is a product of a number of the target and one of the source, and
//!   the sum over sources runs from cell to cell, decaying.
//! - **far to the left** (t − s ≥ 4): log(1 + exp x) = x + log(1 + exp(−x)) and σ(x) = 1 − σ(−x), where Σ x needs only the count and the sum of distances.
//!
//! **Error.** Series alternate and fall, so that the rest after K terms is below the next one: relative to the first term z at most z^K ≤ e^(−4K) = 2.3e-16 for K = 9. All sums but these
//! series have terms ≥ 0 and cannot cancel, and in the series the first term is at least 50 times the second. So each sum is right to some 1e-15 relative to itself, however small. The whole costs
//! P multiplications for each document twice, and for each cell with many of them up to 9·2·P².

use super::chebyshev::{KERNELS, LANES, NEAR, P, add_moments, evaluate};
use lineal_linalg::special::{log1p_exp, sigmoid};

/// Terms of the series.
const K: usize = 9;
/// A cell with fewer documents is taken pair by pair.
const MANY: usize = 8;
/// Targets whose sum is taken before it is added to the others: less rounding.
const CHUNK: usize = 256;
/// The distance of cells from which on they are far.
const FAR: f64 = NEAR as f64 + 1.0;

/// Working memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Cells {
    targets: Line,
    sources: Line,
}

/// Sorted scores, cut into cells.
#[derive(Clone, Debug, Default)]
struct Line {
    scores: Vec<f64>,
    cells: Vec<Cell>,
    /// Of the cells with many documents.
    moments: Vec<[f64; P]>,
}

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Where it starts on the line.
    at: f64,
    start: usize,
    end: usize,
    /// Its place in `moments`.
    moments: Option<usize>,
}

impl Cells {
    /// Adds Σ σ(low − high) to either side; returns Σ log(1 + exp(low − high)). Both lists rise.
    pub(super) fn add(
        &mut self,
        high: &[f64],
        low: &[f64],
        of_high: &mut [f64],
        of_low: &mut [f64],
    ) -> f64 {
        let Self { targets, sources } = self;
        targets.cut(low.iter().copied());
        sources.cut(high.iter().copied());
        let value = field(targets, sources, of_low, true);
        // Mirrored, the better documents are the targets: low − high = (−high) − (−low).
        targets.cut(high.iter().rev().map(|score| -score));
        sources.cut(low.iter().rev().map(|score| -score));
        of_high.reverse();
        field(targets, sources, of_high, false);
        of_high.reverse();
        value
    }
}

impl Line {
    fn cut(&mut self, scores: impl Iterator<Item = f64>) {
        let Self { scores: own, cells, moments } = self;
        own.clear();
        own.extend(scores);
        cells.clear();
        moments.clear();
        let mut start = 0;
        while start < own.len() {
            let at = own[start].floor();
            let length = own[start..].iter().take_while(|score| score.floor() == at).count();
            // What is not a number is a cell of its own.
            let end = start + length.max(1);
            let is_many = end - start >= MANY;
            if is_many {
                let mut sums = [0.0; P];
                add_moments(own[start..end].iter().map(|score| score - at), &mut sums);
                moments.push(sums);
            }
            let moments = is_many.then(|| moments.len() - 1);
            cells.push(Cell { at, start, end, moments });
            start = end;
        }
    }

    fn of(&self, cell: &Cell) -> &[f64] {
        &self.scores[cell.start..cell.end]
    }
}

/// Adds Σ over sources of σ(target − source) for each target to `out`; returns the sum over all pairs of log(1 + exp(target − source)) if it is `wanted`.
fn field(targets: &Line, sources: &Line, out: &mut [f64], wanted: bool) -> f64 {
    near(targets, sources, out, wanted)
        + far_left(targets, sources, out, wanted)
        + far_right(targets, sources, out, wanted)
}

fn near(targets: &Line, sources: &Line, out: &mut [f64], wanted: bool) -> f64 {
    let (mut value, mut first) = (0.0, 0);
    for target in &targets.cells {
        while first < sources.cells.len() && target.at - sources.cells[first].at >= FAR {
            first += 1;
        }
        let mut local = [0.0; P];
        let mut any = false;
        for source in &sources.cells[first..] {
            let delta = target.at - source.at;
            if delta <= -FAR {
                break;
            }
            let (Some(to), Some(from)) = (target.moments, source.moments) else {
                value += pairs(targets.of(target), sources.of(source), &mut out[target.start..]);
                continue;
            };
            // Both cells start at whole numbers.
            let kernel = (delta + NEAR as f64) as usize;
            let moments = &sources.moments[from];
            let times = |c: &[f64; P]| c.iter().zip(moments).map(|(c, m)| c * m).sum::<f64>();
            for (local, c) in local.iter_mut().zip(&KERNELS.derivative[kernel]) {
                *local += times(c);
            }
            if wanted {
                let of_targets = targets.moments[to].iter();
                value += of_targets
                    .zip(&KERNELS.value[kernel])
                    .map(|(moment, c)| moment * times(c))
                    .sum::<f64>();
            }
            any = true;
        }
        if any {
            let scores = targets.of(target).chunks(LANES);
            for (scores, out) in scores.zip(out[target.start..target.end].chunks_mut(LANES)) {
                let t = std::array::from_fn(|l| scores.get(l).map_or(0.0, |s| s - target.at));
                out.iter_mut().zip(evaluate(&local, &t)).for_each(|(out, sum)| *out += sum);
            }
        }
    }
    value
}

fn pairs(targets: &[f64], sources: &[f64], out: &mut [f64]) -> f64 {
    let mut value = 0.0;
    for (target, out) in targets.iter().zip(out) {
        for source in sources {
            *out += sigmoid(target - source);
            value += log1p_exp(target - source);
        }
    }
    value
}

/// Σ e^(−k·distance) over documents for k = 1 … K, seen from a place that moves away from them.
#[derive(Default)]
struct Decaying([f64; K]);

impl Decaying {
    fn push(&mut self, distance: f64) {
        let z = (-distance).exp();
        let mut power = 1.0;
        for sum in &mut self.0 {
            power *= z;
            *sum += power;
        }
    }

    fn advance(&mut self, by: f64) {
        let z = (-by).exp();
        let mut power = 1.0;
        for sum in &mut self.0 {
            power *= z;
            *sum *= power;
        }
    }

    /// Σₖ (−1)^(k+1) Eₖ zᵏ, and the same with 1/k: a target's σ and log(1 + ·) at z = e^(−its own distance).
    fn series(&self, distance: f64, wanted: bool) -> (f64, f64) {
        let z = (-distance).exp();
        let sigma = (0..K).rev().fold(0.0, |sum, k| z * (self.0[k] - sum));
        if !wanted {
            return (sigma, 0.0);
        }
        let over_k = |sum: f64, k: usize| z * (self.0[k] / (k + 1) as f64 - sum);
        (sigma, (0..K).rev().fold(0.0, over_k))
    }
}

fn far_left(targets: &Line, sources: &Line, out: &mut [f64], wanted: bool) -> f64 {
    let (mut value, mut next, mut place) = (0.0, 0, f64::NAN);
    let (mut decaying, mut count, mut distances) = (Decaying::default(), 0.0, 0.0);
    for target in &targets.cells {
        if count > 0.0 {
            let by = target.at - place;
            decaying.advance(by);
            distances += count * by;
        }
        place = target.at;
        while next < sources.cells.len() && place - sources.cells[next].at >= FAR {
            for source in sources.of(&sources.cells[next]) {
                decaying.push(place - source);
                count += 1.0;
                distances += place - source;
            }
            next += 1;
        }
        if count == 0.0 {
            continue;
        }
        let scores = targets.of(target).chunks(CHUNK);
        for (scores, out) in scores.zip(out[target.start..target.end].chunks_mut(CHUNK)) {
            let mut sum = 0.0;
            for (score, out) in scores.iter().zip(out) {
                let (sigma, rest) = decaying.series(score - place, wanted);
                *out += count - sigma;
                sum += count * (score - place) + distances + rest;
            }
            value += sum;
        }
    }
    if wanted { value } else { 0.0 }
}

fn far_right(targets: &Line, sources: &Line, out: &mut [f64], wanted: bool) -> f64 {
    let (mut value, mut rest, mut place) = (0.0, sources.cells.len(), f64::NAN);
    let (mut decaying, mut any) = (Decaying::default(), false);
    for target in targets.cells.iter().rev() {
        if any {
            decaying.advance(place - (target.at + 1.0));
        }
        place = target.at + 1.0;
        while rest > 0 && sources.cells[rest - 1].at - target.at >= FAR {
            let cell = sources.of(&sources.cells[rest - 1]);
            cell.iter().for_each(|source| decaying.push(source - place));
            any = true;
            rest -= 1;
        }
        if !any {
            continue;
        }
        let scores = targets.of(target).chunks(CHUNK);
        for (scores, out) in scores.zip(out[target.start..target.end].chunks_mut(CHUNK)) {
            let mut sum = 0.0;
            for (score, out) in scores.iter().zip(out) {
                let (sigma, log) = decaying.series(place - score, wanted);
                *out += sigma;
                sum += log;
            }
            value += sum;
        }
    }
    value
}
