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
                for link in self.net.links(place) {
                    let (head, back) = (self.net.head(place, link), self.net.back(link));
                    let child = self.net.node_mut(head);
                    if child.parent == N::Parent::new(back) && child.is_sink() != sink {
                        child.parent = N::Parent::ORPHAN;
                        self.orphans.push_back(head);
                    }
                }
            }
            if joins {
                self.enqueue(place);
            }
        }
        self.adopt_all();
    }
}
