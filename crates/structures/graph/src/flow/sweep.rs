//! Flow by sweeps over a grid, before any tree is grown.
//!
//! A sweep sends what it can along two directions, one of rows and one of columns, so that its paths are staircases. Against the flow, each pixel learns what is wanted behind it: what it lacks itself, and what the two pixels
//! that it leads to ask for. It asks one half of that from each of the two pixels before it, or less where arcs carry less, so that nothing is promised twice. Along the flow, each pixel then sends what it has:
//!
//! ```text
//! want(p) = max(0, plan(p, →) + plan(p, ↓) − excess(p))        plan(left of p, →) + plan(above p, ↓) ≤ want(p)
//! ```
//!
//! All of it arrives at pixels that lack something, so that the trees have less to find; the labels do not depend on which maximal flow proves them. Where weak pixels stand between strong edges, seven sweeps leave the trees one
//! path in fifteen to find, and the cut takes a third of the time; on pure noise one path in three.
//!
//! Sweeps go down and up by turns, and a row is asked for the next sweep as soon as this one has passed it: memory is walked once per sweep. Inside there are no branches but loops.

use super::Capacity;
use super::grid::Grid;
use std::ops::Range;

/// The most sweeps that are worth their time: each pair of directions twice.
const SWEEPS: usize = 8;
/// A sweep that sends less than this part of what pixels have was the last.
const WORTHWHILE: i128 = 32;

/// Bands of rows that are swept first: if that does not help, nothing else is. Of images with clear objects little is left after neighbours were evened out.
const SAMPLES: usize = 4;
const SAMPLE_ROWS: usize = 16;
const SAMPLE_WORTHWHILE: i128 = 8;

/// What the pixels of some rows are to send, with an empty row above and below.
struct Plans<C> {
    first: usize,
    along: Vec<C>,
    across: Vec<C>,
}

/// What a sweep does with one row.
type OfRow<C, const D: usize> = fn(&mut Grid<C, D>, usize, &mut Plans<C>) -> i128;

impl<C: Capacity, const D: usize> Grid<C, D> {
    /// Right and down, left and up, left and down, right and up: first asked for, then sent.
    const DIRECTIONS: [[OfRow<C, D>; 2]; 4] = [
        [Self::ask::<0, 2>, Self::send::<0, 2>],
        [Self::ask::<1, 3>, Self::send::<1, 3>],
        [Self::ask::<1, 2>, Self::send::<1, 2>],
        [Self::ask::<0, 3>, Self::send::<0, 3>],
    ];

    /// Sweeps as long as it helps. `had` is what all pixels have, those that lack something aside. Returns how much was sent to pixels that lacked it.
    pub(super) fn sweep_all(&mut self, had: i128) -> i128 {
        let height = self.height();
        let (mut sent, mut left) = (0, 0);
        if height >= 4 * SAMPLES * SAMPLE_ROWS {
            for sample in 0..SAMPLES {
                let first = (2 * sample + 1) * height / (2 * SAMPLES) - SAMPLE_ROWS / 2;
                let rows = first..first + SAMPLE_ROWS;
                let had = rows.clone().map(|y| self.has(y)).sum();
                let now = self.sweep_rows(rows, had, 1);
                (sent, left) = (sent + now, left + had - now);
            }
            if sent * SAMPLE_WORTHWHILE < left {
                return sent;
            }
        }
        sent + self.sweep_rows(0..height, had - sent, SWEEPS)
    }

    fn has(&mut self, y: usize) -> i128 {
        let width = self.width();
        let (own, _) = self.two_rows(y, true);
        own[1..=width].iter().map(|p| i128::from(p.node.excess.max(C::ZERO).to_i64())).sum()
    }

    fn sweep_rows(&mut self, rows: Range<usize>, had: i128, n_sweeps: usize) -> i128 {
        let width = self.width();
        let plan = || vec![C::ZERO; (rows.len() + 2) * width];
        let mut plans = Plans { first: rows.start, along: plan(), across: plan() };
        for y in rows.clone().rev() {
            Self::DIRECTIONS[0][0](self, y, &mut plans);
        }
        let mut left = had;
        for sweep in 0..n_sweeps {
            let [_, send] = Self::DIRECTIONS[sweep % 4];
            let [ask, _] = Self::DIRECTIONS[(sweep + 1) % 4];
            let (mut left_now, mut passed) = (0, None);
            for i in 0..rows.len() {
                // As they send: down and up by turns.
                let y = if sweep % 2 == 0 { rows.start + i } else { rows.end - 1 - i };
                left_now += send(self, y, &mut plans);
                match passed {
                    Some(y) => _ = ask(self, y, &mut plans),
                    // Nothing is behind the row that the next sweep ends at.
                    None => plans.across[(y + 1 - rows.start) * width..][..width].fill(C::ZERO),
                }
                passed = Some(y);
            }
            passed.map(|y| ask(self, y, &mut plans));
            let sent = left - left_now;
            left = left_now;
            if sent * WORTHWHILE < left {
                break;
            }
        }
        had - left
    }

    /// What the pixels of a row ask for, along direction H of rows and V of columns.
    fn ask<const H: usize, const V: usize>(&mut self, y: usize, plans: &mut Plans<C>) -> i128 {
        let (width, zero) = (self.width(), C::ZERO);
        let (own, before) = self.two_rows(y, V == 3);
        let slot = y - plans.first + 1;
        let along = &mut plans.along[slot * width..][..width];
        let upper = if V == 3 { slot } else { slot - 1 };
        let (above, below) = plans.across[upper * width..][..2 * width].split_at_mut(width);
        let (across, across_before) = if V == 3 { (above, below) } else { (below, above) };
        let mut asked = zero;
        for i in 0..width {
            let x = if H == 0 { width - 1 - i } else { i };
            along[x] = asked;
            let want = (asked + across[x] - own[x + 1].node.excess).max(zero);
            let by_row = own[if H == 0 { x } else { x + 2 }].residual[H];
            let by_column = before[x].residual[V];
            asked = want.half().max(want - by_column).min(by_row);
            across_before[x] = (want - asked).min(by_column);
        }
        0
    }

    /// Sends what was asked of the pixels of a row. Returns what they have left.
    fn send<const H: usize, const V: usize>(&mut self, y: usize, plans: &mut Plans<C>) -> i128 {
        let (width, zero) = (self.width(), C::ZERO);
        let (own, next) = self.two_rows(y, V == 2);
        let slot = y - plans.first + 1;
        let along = &plans.along[slot * width..][..width];
        let across = &plans.across[slot * width..][..width];
        let own = &mut own[1..=width];
        let (mut left, mut arrives) = (0i128, zero);
        for i in 0..width {
            let x = if H == 0 { i } else { width - 1 - i };
            let pixel = &mut own[x];
            let excess = pixel.node.excess + arrives;
            let has = excess.max(zero);
            let by_row = has.min(along[x]);
            let by_column = (has - by_row).min(across[x]);
            pixel.node.excess = excess - by_row - by_column;
            pixel.residual[H ^ 1] += arrives;
            pixel.residual[H] -= by_row;
            pixel.residual[V] -= by_column;
            next[x].node.excess += by_column;
            next[x].residual[V ^ 1] += by_column;
            left += i128::from((has - by_row - by_column).to_i64());
            arrives = by_row;
        }
        left
    }
}
