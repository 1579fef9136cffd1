//! The best projective tree of second order, over candidate arcs only.
//!
//! Spans know the head of their head, as the g-spans of Koo and Collins (2010), whose model 1 has the grandparents and model 2 the siblings as well. With
//! a = (g → h) and b = (h → m), each the best of what it stands for:
//!
//! - complete(a, e): h with all its modifiers up to the end e on one side and what hangs on them, if g is the head of h;
//! - open(a, b): the same up to m, with the arc b, the modifiers of m beyond it still missing;
//! - linked(p), p = (h, s, m): the words between s and m, which hang on either, with the scores of p and b. It does not depend on g.
//!
//! ```text
//! linked(h, s, m)    = θ(b) + θ(p) + max over s ≤ r < m of complete(h → s, r) + complete(h → m, r + 1)
//! linked(h, none, m) = θ(b) + θ(p) + complete(h → m, h + 1)
//! open(a, b)         = θ(g → h → m) + max { linked(h, none, m), max over s of open(a, h → s) + linked(h, s, m) }
//! complete(a, e)     = max over m up to e of open(a, b) + complete(b, e)
//! ```
//!
//! and likewise to the left. The best tree is the maximum over the root's arcs b of open(b) + complete(b, n). For C candidates per word that is about n²·C² additions,
//! of which the inner loops run over the candidate heads g of h, which are contiguous: `complete` is `[e, a]`, one row of all arcs for each position, and `open` has one
//! row for each arc b, over the arcs into h (one place for the root). No back pointers are kept: the way back repeats the maxima that the best tree is made of.
//!
//! From the scores of a word's arcs its best one is taken first. This moves all trees alike and keeps the digits that decide, in f32 as well.

use super::SecondOrder;
use super::parts::NONE;
use lineal_linalg::Scalar;

/// Tables of one thread. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub(crate) struct Chart<F> {
    complete: Vec<F>,
    open: Vec<F>,
    /// Where the row of each arc starts in `open`.
    rows: Vec<u32>,
    /// For each sibling part, from the first.
    linked: Vec<F>,
    /// `[head, modifier]` → arc or `NONE`
    arc_at: Vec<u32>,
    /// The best score of each word's arcs.
    top: Vec<F>,
    stack: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
enum Item {
    /// Arc, end.
    Complete(usize, usize),
    /// Place of g → h among the arcs into h, arc h → m.
    Open(usize, usize),
    /// The arcs of two siblings, from the left.
    Between(usize, usize),
}

impl<F: Scalar> Chart<F> {
    /// The best tree, left in `heads`. `false` if there is none.
    pub(crate) fn max(&mut self, parts: &SecondOrder, theta: &[F], heads: &mut Vec<u32>) -> bool {
        let n = parts.arcs().n_words();
        heads.clear();
        heads.resize(n, 0);
        if n == 0 {
            return true;
        }
        self.fill(parts, theta);
        let mut best = (-F::INFINITY, 0);
        for &arc in parts.arcs_from(0) {
            let arc = arc as usize;
            let score =
                self.open[self.rows[arc] as usize] + self.complete[n * parts.arcs().len() + arc];
            if score > best.0 {
                best = (score, arc);
            }
        }
        if best.0 == -F::INFINITY {
            return false;
        }
        self.stack.clear();
        heads[parts.arcs().modifier(best.1) - 1] = 0;
        self.stack.extend([Item::Open(0, best.1), Item::Complete(best.1, n)]);
        self.follow(parts, heads);
        true
    }

    fn load(&mut self, parts: &SecondOrder, theta: &[F]) {
        let arcs = parts.arcs();
        let (n, len) = (arcs.n_words(), arcs.len());
        self.arc_at.clear();
        self.arc_at.resize((n + 1) * (n + 1), NONE);
        self.rows.clear();
        let mut size = 0;
        for arc in 0..len {
            let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
            self.arc_at[head * (n + 1) + modifier] = arc as u32;
            self.rows.push(size as u32);
            size += arcs.range(head).len().max(usize::from(head == 0));
        }
        self.top.clear();
        self.top.resize(n + 1, F::ZERO);
        for word in 1..=n {
            let own = &theta[arcs.range(word)];
            self.top[word] = own.iter().fold(-F::INFINITY, |top, &score| larger(top, score));
        }
        for (table, size) in [
            (&mut self.open, size),
            (&mut self.complete, (n + 1) * len),
            (&mut self.linked, parts.all_siblings().len()),
        ] {
            if table.len() < size {
                table.resize(size, F::ZERO);
            }
        }
        for word in 1..=n {
            self.complete[word * len..][arcs.range(word)].fill(F::ZERO);
        }
    }

    fn fill(&mut self, parts: &SecondOrder, theta: &[F]) {
        self.load(parts, theta);
        let n = parts.arcs().n_words();
        for j in 1..=n {
            for i in (0..j).rev() {
                for (head, modifier) in [(i, j), (j, i)] {
                    let arc = self.arc_at[head * (n + 1) + modifier];
                    if arc != NONE {
                        self.link(parts, theta, arc as usize);
                        self.open_arc(parts, theta, arc as usize);
                    }
                }
                if i > 0 {
                    self.complete_span(parts, i, j);
                    self.complete_span(parts, j, i);
                }
            }
        }
    }

    /// linked(h, s, m) for all s of an arc h → m.
    fn link(&mut self, parts: &SecondOrder, theta: &[F], arc: usize) {
        let (arcs, first) = (parts.arcs(), parts.all_siblings().start);
        let len = arcs.len();
        let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
        let own = theta[arc] - self.top[modifier];
        let beside = if head < modifier { head + 1 } else { head - 1 };
        for part in parts.siblings(arc) {
            let between = match parts.inner(part) {
                None => self.complete[beside * len + arc],
                Some(inner) => {
                    let (left, right) = if head < modifier { (inner, arc) } else { (arc, inner) };
                    let splits = arcs.modifier(left)..arcs.modifier(right);
                    splits.fold(-F::INFINITY, |top, r| {
                        larger(
                            top,
                            self.complete[r * len + left] + self.complete[(r + 1) * len + right],
                        )
                    })
                }
            };
            self.linked[part - first] = own + theta[part] + between;
        }
    }

    /// open(a, b) for all a = (g → h) of an arc b = (h → m).
    fn open_arc(&mut self, parts: &SecondOrder, theta: &[F], arc: usize) {
        let (arcs, first) = (parts.arcs(), parts.all_siblings().start);
        let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
        let start = self.rows[arc] as usize;
        let width = arcs.range(head).len().max(usize::from(head == 0));
        let siblings = parts.siblings(arc);
        self.open[start..start + width].fill(self.linked[siblings.start - first]);
        for part in siblings {
            let linked = self.linked[part - first];
            if let Some(inner) = parts.inner(part)
                && linked > -F::INFINITY
            {
                let from = self.rows[inner] as usize;
                // The rows of the arcs of one head do not overlap.
                let (row, inner) = if start < from {
                    let (before, after) = self.open.split_at_mut(from);
                    (&mut before[start..start + width], &after[..width])
                } else {
                    let (before, after) = self.open.split_at_mut(start);
                    (&mut after[..width], &before[from..from + width])
                };
                for (open, &inner) in row.iter_mut().zip(inner) {
                    *open = larger(*open, inner + linked);
                }
            }
        }
        if head == 0 {
            return;
        }
        // Heads of h before the arc, between its ends, and after it: those between have no part.
        let (low, high) = (head.min(modifier), head.max(modifier));
        let row = &mut self.open[start..start + width];
        let grandparents = arcs.heads(head);
        let before = grandparents.partition_point(|&g| (g as usize) < low);
        let inside = grandparents[before..].partition_point(|&g| g as usize <= high);
        let own = &theta[parts.grandparents(arc)];
        row[before..before + inside].fill(-F::INFINITY);
        row[..before].iter_mut().zip(&own[..before]).for_each(|(open, &theta)| *open += theta);
        row[before + inside..]
            .iter_mut()
            .zip(&own[before..])
            .for_each(|(open, &theta)| *open += theta);
    }

    /// complete(a, e) for all a = (g → h). Those of g between h and e are never read.
    fn complete_span(&mut self, parts: &SecondOrder, head: usize, end: usize) {
        let arcs = parts.arcs();
        let at = end * arcs.len();
        let uppers = arcs.range(head);
        let (width, to) = (uppers.len(), at + uppers.start);
        self.complete[to..to + width].fill(-F::INFINITY);
        for &arc in modifiers_up_to(parts, head, end) {
            let rest = self.complete[at + arc as usize];
            if rest > -F::INFINITY {
                let row = &self.open[self.rows[arc as usize] as usize..][..width];
                for (complete, &open) in self.complete[to..to + width].iter_mut().zip(row) {
                    *complete = larger(*complete, open + rest);
                }
            }
        }
    }

    fn follow(&mut self, parts: &SecondOrder, heads: &mut [u32]) {
        let (arcs, first) = (parts.arcs(), parts.all_siblings().start);
        let len = arcs.len();
        while let Some(item) = self.stack.pop() {
            match item {
                Item::Complete(upper, end) => {
                    let head = arcs.modifier(upper);
                    let place = upper - arcs.range(head).start;
                    let found = first_max(modifiers_up_to(parts, head, end).iter().map(|&arc| {
                        let open = self.open[self.rows[arc as usize] as usize + place];
                        (arc as usize, open + self.complete[end * len + arc as usize])
                    }));
                    if let Some(arc) = found {
                        heads[arcs.modifier(arc) - 1] = head as u32;
                        self.stack.extend([Item::Open(place, arc), Item::Complete(arc, end)]);
                    }
                }
                Item::Open(place, arc) => {
                    let (head, modifier) = (arcs.head(arc), arcs.modifier(arc));
                    let found = first_max(parts.siblings(arc).map(|part| {
                        let before = match parts.inner(part) {
                            None => F::ZERO,
                            Some(inner) => self.open[self.rows[inner] as usize + place],
                        };
                        (part, before + self.linked[part - first])
                    }));
                    if let Some(inner) = found.and_then(|part| parts.inner(part)) {
                        heads[arcs.modifier(inner) - 1] = head as u32;
                        let (left, right) =
                            if head < modifier { (inner, arc) } else { (arc, inner) };
                        self.stack.extend([Item::Open(place, inner), Item::Between(left, right)]);
                    } else {
                        let beside = if head < modifier { head + 1 } else { head - 1 };
                        self.stack.push(Item::Complete(arc, beside));
                    }
                }
                Item::Between(left, right) => {
                    let splits = arcs.modifier(left)..arcs.modifier(right);
                    let found = first_max(splits.map(|r| {
                        let score =
                            self.complete[r * len + left] + self.complete[(r + 1) * len + right];
                        (r, score)
                    }));
                    if let Some(r) = found {
                        self.stack.extend([Item::Complete(left, r), Item::Complete(right, r + 1)]);
                    }
                }
            }
        }
    }
}

/// The arcs from a head to modifiers on the side of `end`, up to it; none if the head is the end.
#[inline(always)]
pub(super) fn modifiers_up_to(parts: &SecondOrder, head: usize, end: usize) -> &[u32] {
    let (arcs, from) = (parts.arcs(), parts.arcs_from(head));
    let (low, high) = if head < end { (head + 1, end) } else { (end, head.saturating_sub(1)) };
    let start = from.partition_point(|&arc| arcs.modifier(arc as usize) < low);
    let len = from[start..].partition_point(|&arc| arcs.modifier(arc as usize) <= high);
    &from[start..start + len]
}

#[inline(always)]
fn larger<F: Scalar>(a: F, b: F) -> F {
    if b > a { b } else { a }
}

/// The first with the highest score, if one is above −∞.
fn first_max<F: Scalar>(scores: impl Iterator<Item = (usize, F)>) -> Option<usize> {
    let mut best = (None, -F::INFINITY);
    for (at, score) in scores {
        if score > best.1 {
            best = (Some(at), score);
        }
    }
    best.0
}
