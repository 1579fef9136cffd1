//! Going on from a solved flow when terminal capacities have changed: Kohli, Torr, *Dynamic Graph Cuts for Efficient Inference in Markov Random Fields* (PAMI 2007).
//!
//! A flow rewrites the energy without changing it, energy(x) = constant + Σ excess(i)·x(i) + residual arcs, so that a change of c(i) by δ changes what is left of it by δ, whatever has flowed. The trees
//! stay but at the changed nodes: one whose excess is gone is an orphan if it was a root, one that has some is a root of its side, and if it was in the other tree, its children there are orphans.

use super::network::{CHANGED, Network, Stored};
use super::{Capacity, Flow};

impl<N: Network> Flow<N> {
    /// Remembers that the trees must be repaired here.
    pub(super) fn mark(&mut self, place: u32) {
        let node = self.net.node_mut(place);
        if node.flags & CHANGED == 0 {
            node.flags |= CHANGED;
            self.changed.push(place);
        }
    }

    /// A node is now in the tree that `sink` says, and was in the other one: its children there are orphans, and nodes with an open arc between them must look at it again, should it become free.
    fn leave(&mut self, place: u32, sink: bool) {
        for link in self.net.links(place) {
            let (head, back) = (self.net.head(place, link), self.net.back(link));
            let open = match sink {
                true => self.net.residual(head, back),
                false => self.net.residual(place, link),
            };
            let other = self.net.node_mut(head);
            if other.is_free() || other.is_sink() == sink {
                continue;
            }
            if other.parent == N::Parent::new(back) {
                other.parent = N::Parent::ORPHAN;
                self.orphans.push_back(head);
            }
            if open > N::Cap::ZERO {
                self.enqueue(head);
            }
        }
    }

    /// Makes the trees fit what has changed.
    pub(super) fn repair(&mut self) {
        self.next_moment();
        while let Some(place) = self.changed.pop() {
            let time = self.time;
            let node = self.net.node_mut(place);
            node.flags &= !CHANGED;
            let zero = N::Cap::ZERO;
            if node.excess == zero {
                if node.parent == N::Parent::TERMINAL {
                    node.parent = N::Parent::ORPHAN;
                    self.orphans.push_back(place);
                }
                continue;
            }
            let sink = node.excess < zero;
            let leaves = !node.is_free() && node.is_sink() != sink;
            let joins = leaves || node.is_free();
            node.join(sink, N::Parent::TERMINAL, time, 1);
            if leaves {
                self.leave(place, sink);
            }
            if joins {
                self.enqueue(place);
            }
        }
        self.adopt_all();
    }
}
