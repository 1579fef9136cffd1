//! What the flow algorithm asks of a graph, and the record of a node.

use super::Capacity;
use std::ops::Range;

/// A link at a node, as it is stored: the direction of a pixel's neighbour in one byte, or an arc's number.
pub trait Stored: Copy + PartialEq + Default + Send + Sync {
    /// Not in a tree.
    const FREE: Self;
    /// The terminal itself.
    const TERMINAL: Self;
    /// It lost its parent a moment ago.
    const ORPHAN: Self;
    /// Stores a link.
    fn new(link: u32) -> Self;
    /// The stored link.
    fn link(self) -> u32;
}

macro_rules! stored {
    ($($of:ty),*) => {$(
        impl Stored for $of {
            const FREE: Self = <$of>::MAX;
            const TERMINAL: Self = <$of>::MAX - 1;
            const ORPHAN: Self = <$of>::MAX - 2;

            #[inline(always)]
            fn new(link: u32) -> Self {
                link as $of
            }

            #[inline(always)]
            fn link(self) -> u32 {
                u32::from(self)
            }
        }
    )*};
}

stored!(u8, u32);

/// A node's part in the search trees.
#[derive(Clone, Copy, Debug)]
pub struct Node<C, P> {
    /// What is left of the terminal capacity: above 0 from the source, below 0 to the sink.
    pub(super) excess: C,
    /// When the distance was last known to be right.
    pub(super) stamp: u32,
    /// The number of arcs to the terminal, as far as it is known. A guide only: it stops at the largest.
    pub(super) distance: u16,
    /// The link towards the terminal.
    pub(super) parent: P,
    /// [`SINK`], [`QUEUED`] and [`CHANGED`].
    pub(super) flags: u8,
}

/// It belongs to the sink's tree, if to any.
pub(super) const SINK: u8 = 1;
/// It waits to be grown from.
pub(super) const QUEUED: u8 = 2;
/// Its terminal capacity was changed since the last solution.
pub(super) const CHANGED: u8 = 4;

impl<C: Capacity, P: Stored> Default for Node<C, P> {
    fn default() -> Self {
        Self { excess: C::ZERO, stamp: 0, distance: 0, parent: P::FREE, flags: 0 }
    }
}

impl<C: Capacity, P: Stored> Node<C, P> {
    #[inline(always)]
    pub(super) fn is_free(&self) -> bool {
        self.parent == P::FREE
    }

    #[inline(always)]
    pub(super) fn is_sink(&self) -> bool {
        self.flags & SINK != 0
    }

    /// Whether it belongs to this tree.
    #[inline(always)]
    pub(super) fn is_in(&self, sink: bool) -> bool {
        !self.is_free() & (self.is_sink() == sink)
    }

    #[inline(always)]
    pub(super) fn join(&mut self, sink: bool, parent: P, stamp: u32, distance: u16) {
        self.flags = self.flags & !SINK | u8::from(sink);
        (self.parent, self.stamp, self.distance) = (parent, stamp, distance);
    }
}

/// An edge between two neighbours, as [`Network::fill`] names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Its number.
    pub index: usize,
    /// The node that it starts at.
    pub from: usize,
    /// The node that it leads to.
    pub to: usize,
    /// Of a grid: 0 to the right, 1 down, 2 down and right, 3 down and left. Of a graph: 0.
    pub axis: usize,
}

/// A graph with residual capacities. A *place* is where a node's record lies; links of a place lead to its neighbours.
pub trait Network {
    /// Integers of capacities.
    type Cap: Capacity;
    /// How a link is stored in a node.
    type Parent: Stored;

    /// How many nodes.
    fn n_nodes(&self) -> usize;
    /// The place of a node.
    fn place(&self, node: usize) -> u32;
    /// All places that may hold a node.
    fn places(&self) -> Range<u32>;
    /// Asks for the memory of a place and its neighbours, which will be looked at soon.
    fn prefetch(&self, place: u32);
    /// The record at a place.
    fn node(&self, place: u32) -> &Node<Self::Cap, Self::Parent>;
    /// The record at a place, to change.
    fn node_mut(&mut self, place: u32) -> &mut Node<Self::Cap, Self::Parent>;
    /// The links of a place.
    fn links(&self, place: u32) -> Range<u32>;
    /// Where a link leads to.
    fn head(&self, place: u32, link: u32) -> u32;
    /// The link at `head` that leads back.
    fn back(&self, link: u32) -> u32;
    /// What a link can still carry from `place`.
    fn residual(&self, place: u32, link: u32) -> Self::Cap;
    /// Sends an amount along a link.
    fn push(&mut self, place: u32, link: u32, amount: Self::Cap);
    /// Forgets all flow, sets the terminal capacity of every node and the capacities of every edge, forwards and backwards, and evens out neighbours of opposite sign. A negative capacity of an edge counts as 0, one above
    /// [`Capacity::LIMIT`] as that. Returns Σ min(c, 0) + what was sent.
    fn fill(
        &mut self,
        terminal: impl FnMut(usize) -> Self::Cap,
        capacities: impl FnMut(Edge) -> (Self::Cap, Self::Cap),
    ) -> i128;
    /// Bytes that it holds.
    fn bytes(&self) -> usize;
}

/// A capacity within its bounds.
#[inline(always)]
pub(super) fn bounded<C: Capacity>(capacity: C) -> C {
    capacity.max(C::ZERO).min(C::LIMIT)
}

/// A terminal capacity within its bounds.
#[inline(always)]
pub(super) fn bounded_terminal<C: Capacity>(capacity: C) -> C {
    capacity.max(-C::FORCE).min(C::FORCE)
}

/// What flows from a node to a neighbour (below 0: back), if one has something left from the source and the other to the sink. Without branches: signs of noise cannot be guessed.
#[inline(always)]
pub(super) fn exchange<C: Capacity>(own: C, other: C, there: C, back: C) -> C {
    let given = own.min(-other).min(there).max(C::ZERO);
    let taken = other.min(-own).min(back).max(C::ZERO);
    given - taken
}

/// Links that are looked at together.
pub(super) const CHUNK: usize = 8;

/// Of the links from `from` until before `end`, but [`CHUNK`] at most, those that a test chooses. All are tested before any is used, and the test should have no branches: which neighbours matter cannot be guessed, and their
/// records come from memory at the same time.
#[inline(always)]
pub(super) fn select(from: u32, end: u32, test: impl Fn(u32) -> bool) -> Selected {
    let mut chosen = 0u32;
    for i in 0..(end - from).min(CHUNK as u32) {
        chosen |= u32::from(test(from + i)) << i;
    }
    Selected { from, chosen }
}

/// The links that [`select`] has chosen, one bit each.
pub(super) struct Selected {
    from: u32,
    chosen: u32,
}

impl Iterator for Selected {
    type Item = u32;

    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.chosen == 0 {
            return None;
        }
        let first = self.chosen.trailing_zeros();
        self.chosen &= self.chosen - 1;
        Some(self.from + first)
    }
}
