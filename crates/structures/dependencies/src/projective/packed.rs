//! All projective trees of first order as a packed forest.
//!
//! The items are those of [Eisner's algorithm](super::eisner): open spans have the arc as their part, complete ones have none.

use crate::Arcs;
use crate::forest::{EMPTY, Forest, NONE};

/// Numbers of items, `[head, other end]` with stride n + 1, `NONE` where there is none. Buffers of one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    /// To the right of the head above the diagonal, to the left below it.
    complete: Vec<u32>,
    open: Vec<u32>,
    /// `[head, modifier]` → arc or `NONE`
    arc_at: Vec<u32>,
}

impl Items {
    /// Packs the trees of `arcs`. `false` if there are none.
    pub(crate) fn pack(&mut self, arcs: &Arcs, forest: &mut Forest) -> bool {
        let n = arcs.n_words();
        let s = n + 1;
        forest.clear();
        for table in [&mut self.complete, &mut self.open, &mut self.arc_at] {
            table.clear();
            table.resize(s * s, NONE);
        }
        for arc in 0..arcs.len() {
            self.arc_at[arcs.head(arc) * s + arcs.modifier(arc)] = arc as u32;
        }
        (0..s).for_each(|i| self.complete[i * s + i] = EMPTY);
        for j in 1..=n {
            for i in (1..j).rev() {
                for (head, modifier) in [(i, j), (j, i)] {
                    self.open(s, head, modifier, i..j, forest);
                }
                for m in i + 1..=j {
                    forest.edge(self.open[i * s + m], self.complete[m * s + j]);
                }
                self.complete[i * s + j] = forest.close(NONE);
                for m in i..j {
                    forest.edge(self.open[j * s + m], self.complete[m * s + i]);
                }
                self.complete[j * s + i] = forest.close(NONE);
            }
            let splits = if arcs.single_root() { 0..1 } else { 0..j };
            self.open(s, 0, j, splits, forest);
            if !arcs.single_root() || j == n {
                for m in 1..=j {
                    forest.edge(self.open[m], self.complete[m * s + j]);
                }
                self.complete[j] = forest.close(NONE);
            }
        }
        self.complete[n] != NONE
    }

    fn open(
        &mut self,
        s: usize,
        head: usize,
        modifier: usize,
        splits: std::ops::Range<usize>,
        forest: &mut Forest,
    ) {
        let arc = self.arc_at[head * s + modifier];
        if arc == NONE {
            return;
        }
        let (i, j) = (head.min(modifier), head.max(modifier));
        for r in splits {
            forest.edge(self.complete[i * s + r], self.complete[j * s + r + 1]);
        }
        self.open[head * s + modifier] = forest.close(arc);
    }
}
