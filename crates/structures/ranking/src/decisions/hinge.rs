//! The pairs that a document of lower grade wins, or loses by less than the margin: counts, never pairs.
//!
//! The output is a choice for each pair, swapped or not; its score relative to the gold output is Σ over swapped pairs of scoreⱼ − scoreᵢ, its cost the number of swapped pairs.
//! So pairs decouple: (i, j) is swapped where scoreⱼ + margin > scoreᵢ, and μ is a count for each document: how often it was swapped up less how often down.

use crate::listed::is_short;
use crate::oracle::{Buffers, Scored};
use crate::sorted::{Entry, Product};

struct Swaps<'b> {
    augmented: bool,
    amounts: &'b mut [f64],
    swapped: f64,
    /// How many of the worse documents stop right before each of the better ones.
    stops: &'b mut Vec<u32>,
}

pub(super) fn best(at: &Scored<'_>, augmented: bool, s: &mut Buffers, amounts: &mut [f64]) -> f64 {
    if is_short(&at.query) {
        // Without a margin ties count as swapped. Counts are exact in any order.
        let swapped = |is: bool| if is { (1.0, 1.0) } else { (0.0, 0.0) };
        return match augmented {
            true => s.listed.sum(at, amounts, |lead| swapped(lead < 1.0)),
            false => s.listed.sum(at, amounts, |lead| swapped(lead <= 0.0)),
        };
    }
    let Buffers { sorted, places, .. } = s;
    let mut swaps = Swaps { augmented, amounts, swapped: 0.0, stops: places };
    sorted.each_product(&at.query, at.scores, &mut swaps);
    swaps.swapped
}

impl Product for Swaps<'_> {
    fn add(&mut self, better: &[Entry], worse: &[Entry]) {
        let Self { augmented, amounts, swapped, stops } = self;
        stops.clear();
        stops.resize(better.len() + 1, 0);
        let mut until = 0;
        for low in worse {
            // Without a margin ties count as swapped.
            let is_swapped = |high: &Entry| match *augmented {
                true => high.score - low.score < 1.0,
                false => high.score <= low.score,
            };
            while until < better.len() && is_swapped(&better[until]) {
                until += 1;
            }
            stops[until] += 1;
            amounts[low.document as usize] += until as f64;
            *swapped += until as f64;
        }
        let mut above = worse.len();
        for (high, &stops) in better.iter().zip(stops.iter()) {
            above -= stops as usize;
            amounts[high.document as usize] -= above as f64;
        }
    }
}
