//! All projective trees of second order as a packed forest.
//!
//! The items are those of [the maximum](super::max): open spans have the grandparent part as their part, linked ones the sibling part, whose score must include that of its arc.
//! An arc has one sibling part in each tree that has the arc, so its probability is the sum of theirs.

use super::SecondOrder;
use super::max::modifiers_up_to;
use crate::forest::{EMPTY, Forest, NONE};

/// Numbers of items, `NONE` where there is none. Buffers of one thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Items {
    /// `[end, arc into the head]`
    complete: Vec<u32>,
    /// One row for each arc h → m, over the arcs into h; one place for the root.
    open: Vec<u32>,
    rows: Vec<u32>,
    /// For each sibling part, from the first.
    linked: Vec<u32>,
    /// `[head, modifier]` → arc or `NONE`
    arc_at: Vec<u32>,
}

impl Items {
    /// Packs the trees. `false` if there are none.
    pub(crate) fn pack(&mut self, parts: &SecondOrder, forest: &mut Forest) -> bool {
        let arcs = parts.arcs();
        let (n, len) = (arcs.n_words(), arcs.len());
        forest.clear();
        if n == 0 {
            return true;
        }
        self.rows.clear();
        let mut size = 0;
        for arc in 0..len {
            self.rows.push(size as u32);
            size += arcs.range(arcs.head(arc)).len().max(usize::from(arcs.is_root(arc)));
        }
        for (table, size) in [
            (&mut self.complete, (n + 1) * len),
            (&mut self.open, size),
            (&mut self.linked, parts.all_siblings().len()),
            (&mut self.arc_at, (n + 1) * (n + 1)),
        ] {
            table.clear();
            table.resize(size, NONE);
        }
        for arc in 0..len {
            let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
            self.arc_at[head * (n + 1) + modifier] = arc as u32;
            self.complete[modifier * len + arc] = EMPTY;
        }
        for j in 1..=n {
            for i in (0..j).rev() {
                for (head, modifier) in [(i, j), (j, i)] {
                    let arc = self.arc_at[head * (n + 1) + modifier];
                    if arc != NONE {
                        self.link(parts, arc as usize, forest);
                        self.open_arc(parts, arc as usize, forest);
                    }
                }
                if i > 0 {
                    self.complete_span(parts, i, j, forest);
                    self.complete_span(parts, j, i, forest);
                }
            }
        }
        for &arc in parts.arcs_from(0) {
            let open = self.open[self.rows[arc as usize] as usize];
            forest.edge(open, self.complete[n * len + arc as usize]);
        }
        forest.close(NONE) != NONE
    }

    fn link(&mut self, parts: &SecondOrder, arc: usize, forest: &mut Forest) {
        let (arcs, len) = (parts.arcs(), parts.arcs().len());
        let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
        for part in parts.siblings(arc) {
            if let Some(inner) = parts.inner(part) {
                let (left, right) = if head < modifier { (inner, arc) } else { (arc, inner) };
                for r in arcs.modifier(left)..arcs.modifier(right) {
                    forest
                        .edge(self.complete[r * len + left], self.complete[(r + 1) * len + right]);
                }
            } else {
                let beside = if head < modifier { head + 1 } else { head - 1 };
                forest.edge(self.complete[beside * len + arc], EMPTY);
            }
            self.linked[part - parts.all_siblings().start] = forest.close(part as u32);
        }
    }

    fn open_arc(&mut self, parts: &SecondOrder, arc: usize, forest: &mut Forest) {
        if parts.arcs().is_root(arc) {
            self.open_place(parts, arc, 0, NONE, forest);
        }
        for part in parts.grandparents(arc) {
            let place = parts.upper(part) - parts.arcs().range(parts.arcs().head(arc)).start;
            self.open_place(parts, arc, place, part as u32, forest);
        }
    }

    fn open_place(
        &mut self,
        parts: &SecondOrder,
        arc: usize,
        place: usize,
        own: u32,
        forest: &mut Forest,
    ) {
        for part in parts.siblings(arc) {
            let before = match parts.inner(part) {
                None => EMPTY,
                Some(inner) => self.open[self.rows[inner] as usize + place],
            };
            forest.edge(before, self.linked[part - parts.all_siblings().start]);
        }
        self.open[self.rows[arc] as usize + place] = forest.close(own);
    }

    fn complete_span(&mut self, parts: &SecondOrder, head: usize, end: usize, forest: &mut Forest) {
        let (arcs, at) = (parts.arcs(), end * parts.arcs().len());
        let (low, high) = (head.min(end), head.max(end));
        let modifiers = modifiers_up_to(parts, head, end);
        for (place, upper) in arcs.range(head).enumerate() {
            if (low..=high).contains(&arcs.head(upper)) {
                continue;
            }
            for &arc in modifiers {
                let open = self.open[self.rows[arc as usize] as usize + place];
                forest.edge(open, self.complete[at + arc as usize]);
            }
            self.complete[at + upper] = forest.close(NONE);
        }
    }
}
