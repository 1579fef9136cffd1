//! Maximal flow by two search trees that are never thrown away.
//!
//! Boykov, Kolmogorov, *An Experimental Comparison of Min-Cut/Max-Flow Algorithms for Energy Minimization in Vision* (PAMI 2004), with the distances and time stamps of Kolmogorov's
//! thesis (2004, §3.2). A tree grows from each terminal along arcs that can still carry something; where the two meet, the path is filled, which cuts nodes off; these *orphans* look for
//! another parent of their tree (`adopt.rs`) or become free. What differs:
//!
//! - Terminal capacities are one signed number per node, so that flow source → node → sink never exists.
//! - Flow between neighbours of opposite sign is sent while capacities are filled in, before any tree exists. On images that is most of the flow.
//! - Over a grid, sweeps send what staircases can carry (`sweep.rs`).
//! - The links of a node are tested together, without branches, and the memory of nodes that wait is asked for ahead.
//! - Of the roots only those wait to be grown from that have an open arc to a node that is not in their tree.

use super::network::{CHUNK, Edge, Network, Node, QUEUED, Stored, select};
use super::waiting::Waiting;
use super::{Capacity, Scale};
use std::collections::VecDeque;

/// Nodes whose memory is asked for before they are grown from: they come from all over the image.
const AHEAD: usize = 6;

/// A minimum cut, whatever the graph.
pub trait Cut {
    /// Integers of capacities.
    type Cap: Capacity;
    /// Forgets everything and sets the terminal capacity of every node (index) and the capacities of every edge, forwards and backwards.
    fn fill(
        &mut self,
        terminal: impl FnMut(usize) -> Self::Cap,
        edges: impl FnMut(Edge) -> (Self::Cap, Self::Cap),
    );
    /// Finds a minimum cut, from the flow that is there; returns its energy.
    fn solve(&mut self) -> i128;
    /// Adds to the terminal capacity of a node: above 0 towards the source's side.
    fn add_terminal(&mut self, node: usize, by: Self::Cap);
    /// Whether a node is on the sink's side of the cut. Nodes for which both sides are as good are on the source's.
    fn is_sink(&self, node: usize) -> bool;
    /// How many nodes.
    fn n_nodes(&self) -> usize;
}

/// A graph, a flow in it and the search trees of the two terminals.
#[derive(Clone, Debug)]
pub struct Flow<N> {
    pub(super) net: N,
    /// Nodes to grow from.
    pub(super) queue: Waiting,
    pub(super) orphans: VecDeque<u32>,
    /// Places whose terminal capacity was changed since the last solution.
    pub(super) changed: Vec<u32>,
    /// What distances are compared within: one moment per filled path.
    pub(super) time: u32,
    /// Σ min(c, 0) + flow.
    energy: i128,
    /// Whether there are trees.
    grown: bool,
}

impl<N: Network> Flow<N> {
    /// Over a graph without capacities: [`fill`](Cut::fill) comes next.
    pub fn new(net: N) -> Self {
        let (queue, orphans, changed) = (Waiting::default(), VecDeque::new(), Vec::new());
        Self { net, queue, orphans, changed, time: 0, energy: 0, grown: false }
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> usize {
        self.net.bytes()
            + 4 * (self.queue.capacity() + self.orphans.capacity() + self.changed.capacity())
    }

    /// The energy of the cut as it is now, of floats.
    pub fn energy(&self, scale: Scale) -> f64 {
        scale.back(self.energy)
    }

    /// The place of a node, if there is such a node and it has been filled.
    #[inline(always)]
    fn known_place(&self, node: usize) -> Option<u32> {
        let known = node < self.net.n_nodes() && !self.net.places().is_empty();
        known.then(|| self.net.place(node))
    }

    /// Adds to what is left of a terminal capacity, and the energy's constant follows.
    pub(super) fn change(&mut self, place: u32, by: N::Cap) {
        let node = self.net.node_mut(place);
        let before = node.excess.min(N::Cap::ZERO);
        node.excess = node.excess.plus(by);
        let after = node.excess.min(N::Cap::ZERO);
        self.energy += i128::from(after.to_i64()) - i128::from(before.to_i64());
    }

    /// Makes roots of all nodes with something left, and queues those at a border: with an open arc to a node that has nothing, or is of the other sign.
    fn plant(&mut self) {
        let zero = N::Cap::ZERO;
        let Self { net, queue, .. } = self;
        for place in net.places() {
            let excess = net.node(place).excess;
            if excess == zero {
                continue;
            }
            let sink = excess < zero;
            let at_border = net.links(place).fold(false, |before, link| {
                let head = net.head(place, link);
                let (open, same) = match sink {
                    true => (net.residual(head, net.back(link)), net.node(head).excess < zero),
                    false => (net.residual(place, link), net.node(head).excess > zero),
                };
                before | ((open > zero) & !same)
            });
            let node = net.node_mut(place);
            node.join(sink, N::Parent::TERMINAL, 0, 1);
            if at_border {
                node.flags |= QUEUED;
                queue.push(place);
            }
        }
    }

    #[inline(always)]
    pub(super) fn enqueue(&mut self, place: u32) {
        let node = self.net.node_mut(place);
        if node.flags & QUEUED == 0 {
            node.flags |= QUEUED;
            self.queue.push(place);
        }
    }

    fn grow_all(&mut self) {
        while let Some((place, soon)) = self.queue.pop(AHEAD) {
            if let Some(soon) = soon {
                self.net.prefetch(soon);
            }
            let node = self.net.node_mut(place);
            node.flags &= !QUEUED;
            // Adoption may free a node that waits, and growth put it into the other tree.
            while !self.net.node(place).is_free() {
                let met = match self.net.node(place).is_sink() {
                    true => self.grow::<true>(place),
                    false => self.grow::<false>(place),
                };
                let Some((tail, link)) = met else { break };
                self.augment(tail, link);
                self.next_moment();
                self.adopt_all();
            }
        }
    }

    /// Takes in the free neighbours of a node. Returns the arc from the source's tree to the sink's, if one is met.
    #[inline(always)]
    fn grow<const IN_SINK: bool>(&mut self, place: u32) -> Option<(u32, u32)> {
        let Self { net, queue, .. } = self;
        let &Node { stamp, distance, .. } = net.node(place);
        let onwards = distance.saturating_add(1);
        let links = net.links(place);
        for from in links.clone().step_by(CHUNK) {
            let chosen = select(from, links.end, |link| {
                let (head, back) = (net.head(place, link), net.back(link));
                let open = match IN_SINK {
                    true => net.residual(head, back),
                    false => net.residual(place, link),
                };
                let other = net.node(head);
                let nearer = (other.stamp <= stamp) & (other.distance > onwards);
                (open > N::Cap::ZERO) & (other.is_free() | (other.is_sink() != IN_SINK) | nearer)
            });
            for link in chosen {
                let (head, back) = (net.head(place, link), net.back(link));
                let other = net.node_mut(head);
                if other.is_free() {
                    other.join(IN_SINK, N::Parent::new(back), stamp, onwards);
                    if other.flags & QUEUED == 0 {
                        other.flags |= QUEUED;
                        queue.push(head);
                    }
                } else if other.is_sink() != IN_SINK {
                    return Some(if IN_SINK { (head, back) } else { (place, link) });
                } else {
                    // A shorter way to the terminal.
                    (other.parent, other.stamp) = (N::Parent::new(back), stamp);
                    other.distance = onwards;
                }
            }
        }
        None
    }

    /// Fills the path through an arc from the source's tree to the sink's. Nodes whose arc to their parent is full become orphans.
    fn augment(&mut self, tail: u32, link: u32) {
        let Self { net, orphans, .. } = self;
        let zero = N::Cap::ZERO;
        let top = net.head(tail, link);
        let mut amount = net.residual(tail, link);
        let mut at = tail;
        loop {
            let parent = net.node(at).parent;
            if parent == N::Parent::TERMINAL {
                amount = amount.min(net.node(at).excess);
                break;
            }
            let up = net.head(at, parent.link());
            amount = amount.min(net.residual(up, net.back(parent.link())));
            at = up;
        }
        at = top;
        loop {
            let parent = net.node(at).parent;
            if parent == N::Parent::TERMINAL {
                amount = amount.min(-net.node(at).excess);
                break;
            }
            amount = amount.min(net.residual(at, parent.link()));
            at = net.head(at, parent.link());
        }

        net.push(tail, link, amount);
        at = tail;
        loop {
            let parent = net.node(at).parent;
            if parent == N::Parent::TERMINAL {
                let node = net.node_mut(at);
                node.excess -= amount;
                if node.excess == zero {
                    node.parent = N::Parent::ORPHAN;
                    orphans.push_front(at);
                }
                break;
            }
            let (up, down) = (net.head(at, parent.link()), net.back(parent.link()));
            net.push(up, down, amount);
            if net.residual(up, down) == zero {
                net.node_mut(at).parent = N::Parent::ORPHAN;
                orphans.push_front(at);
            }
            at = up;
        }
        at = top;
        loop {
            let parent = net.node(at).parent;
            if parent == N::Parent::TERMINAL {
                let node = net.node_mut(at);
                node.excess += amount;
                if node.excess == zero {
                    node.parent = N::Parent::ORPHAN;
                    orphans.push_front(at);
                }
                break;
            }
            net.push(at, parent.link(), amount);
            let up = net.head(at, parent.link());
            if net.residual(at, parent.link()) == zero {
                net.node_mut(at).parent = N::Parent::ORPHAN;
                orphans.push_front(at);
            }
            at = up;
        }
        self.energy += i128::from(amount.to_i64());
    }

    /// Distances found from now on count as new.
    pub(super) fn next_moment(&mut self) {
        if self.time == u32::MAX {
            for place in self.net.places() {
                let node = self.net.node_mut(place);
                (node.stamp, node.distance) = (0, 0);
            }
            self.time = 0;
        }
        self.time += 1;
    }
}

impl<N: Network> Cut for Flow<N> {
    type Cap = N::Cap;

    fn fill(
        &mut self,
        terminal: impl FnMut(usize) -> N::Cap,
        edges: impl FnMut(Edge) -> (N::Cap, N::Cap),
    ) {
        self.queue.clear();
        self.orphans.clear();
        self.changed.clear();
        (self.time, self.energy, self.grown) = (0, 0, false);
        self.energy = self.net.fill(terminal, edges);
    }

    fn solve(&mut self) -> i128 {
        if self.grown {
            self.repair();
        } else {
            self.plant();
            self.grown = true;
        }
        self.grow_all();
        self.energy
    }

    fn add_terminal(&mut self, node: usize, by: N::Cap) {
        if let Some(place) = self.known_place(node) {
            self.change(place, by);
            self.mark(place);
        }
    }

    fn is_sink(&self, node: usize) -> bool {
        let is_sink =
            |place: u32| !self.net.node(place).is_free() && self.net.node(place).is_sink();
        self.known_place(node).is_some_and(is_sink)
    }

    fn n_nodes(&self) -> usize {
        self.net.n_nodes()
    }
}
