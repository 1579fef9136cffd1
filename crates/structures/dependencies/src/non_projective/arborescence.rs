//! The best tree whose arcs may cross: the maximum spanning arborescence (Chu and Liu 1965, Edmonds 1967), in time n² (Tarjan 1977).
//!
//! Every word takes its best head. Words that then form a cycle become one *node*, and an arc u → v into the cycle counts as what it gains over the arc of the cycle that it
//! replaces, θ(u → v) − θ(best arc into v). The node takes its best head in turn, until every node hangs on the root. Unfolded from the last node, the best arc of
//! each node replaces one arc of its cycle and keeps the others.
//!
//! Nodes are the root 0, the words 1 … n, then cycles in the order in which they were found, 2n at most. `gain` is `[node, source]` with stride n + 1: the sources stay single words, so
//! that a cycle of c nodes is merged in c·n steps. Gains are kept in f64.
//!
//! **One root.** Arcs from the root are taken only into nodes that have no other arc left. That is Edmonds' algorithm with weights (number of root arcs, score) in lexicographic
//! order, in which it is as right as in the order of numbers: it finds the best among the trees with the fewest root arcs. If these are not one, no tree has one.

use crate::Arcs;
use lineal_linalg::Scalar;

/// Buffers of one thread, with the nodes of the last call. They grow and never shrink.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arborescence {
    n: usize,
    /// −∞ where no arc is left.
    pub(super) gain: Vec<f64>,
    /// The arc behind each gain.
    pub(super) arc: Vec<u32>,
    /// The source of the best arc into each node.
    pub(super) source: Vec<u32>,
    /// The cycle that each node is part of, or `NONE`.
    pub(super) cycle: Vec<u32>,
    state: Vec<State>,
    /// The outermost node of each word.
    outermost: Vec<u32>,
    /// Whether the arc into an outer node replaces that into this one.
    pub(super) replaced: Vec<bool>,
    path: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Waiting,
    OnPath,
    /// Hangs on the root.
    Done,
}

pub(super) const NONE: u32 = u32::MAX;

impl Arborescence {
    /// The best tree of the arcs that are `allowed`, left in `heads`. `false` if there is none.
    pub(crate) fn max<F: Scalar>(
        &mut self,
        arcs: &Arcs,
        theta: &[F],
        allowed: impl Fn(usize) -> bool,
        heads: &mut Vec<u32>,
    ) -> bool {
        let n = arcs.n_words();
        heads.clear();
        heads.resize(n, 0);
        self.load(arcs, theta, allowed);
        for word in 1..=n {
            if !self.grow(self.outermost[word], arcs.single_root()) {
                return false;
            }
        }
        self.unfold(arcs, heads);
        !arcs.single_root() || n == 0 || crate::tree::n_roots(heads) == 1
    }

    pub(super) fn stride(&self) -> usize {
        self.n + 1
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.cycle.len()
    }

    /// What the best arc into a node gains.
    pub(super) fn best_gain(&self, node: usize) -> f64 {
        self.gain[node * self.stride() + self.source[node] as usize]
    }

    /// The best arc into a node.
    pub(super) fn best_arc(&self, node: usize) -> usize {
        self.arc[node * self.stride() + self.source[node] as usize] as usize
    }

    fn load<F: Scalar>(&mut self, arcs: &Arcs, theta: &[F], allowed: impl Fn(usize) -> bool) {
        self.n = arcs.n_words();
        let s = self.stride();
        self.gain.clear();
        self.gain.resize(s * s, f64::NEG_INFINITY);
        self.arc.clear();
        self.arc.resize(s * s, NONE);
        for arc in (0..arcs.len()).filter(|&arc| allowed(arc)) {
            let place = arcs.modifier(arc) * s + arcs.head(arc);
            self.gain[place] = theta[arc].to_f64();
            self.arc[place] = arc as u32;
        }
        self.outermost.clear();
        self.outermost.extend(0..s as u32);
        self.source.clear();
        self.cycle.clear();
        self.state.clear();
        self.replaced.clear();
        (0..s).for_each(|_| self.add_node(State::Waiting));
        self.state[0] = State::Done;
    }

    fn add_node(&mut self, state: State) {
        self.source.push(NONE);
        self.cycle.push(NONE);
        self.state.push(state);
        self.replaced.push(false);
    }

    /// Takes best arcs backwards from a node until the root is reached. `false` if a node has no arc.
    fn grow(&mut self, start: u32, single_root: bool) -> bool {
        let s = self.stride();
        let mut node = start;
        self.path.clear();
        while self.state[node as usize] != State::Done {
            if self.state[node as usize] == State::OnPath {
                node = self.contract(node);
            }
            self.state[node as usize] = State::OnPath;
            self.path.push(node);
            let row = &self.gain[node as usize * s..][..s];
            let mut best = (0, f64::NEG_INFINITY);
            for (source, &gain) in row.iter().enumerate().skip(1) {
                if gain > best.1 {
                    best = (source, gain);
                }
            }
            if row[0] > best.1 && (!single_root || best.1 == f64::NEG_INFINITY) {
                best = (0, row[0]);
            }
            if best.1 == f64::NEG_INFINITY {
                return false;
            }
            self.source[node as usize] = best.0 as u32;
            node = self.outermost[best.0];
        }
        self.path.iter().for_each(|&node| self.state[node as usize] = State::Done);
        true
    }

    /// Makes one node of the path's end from `first` on.
    fn contract(&mut self, first: u32) -> u32 {
        let s = self.stride();
        let new = self.n_nodes();
        self.add_node(State::Waiting);
        self.gain.resize((new + 1) * s, f64::NEG_INFINITY);
        self.arc.resize((new + 1) * s, NONE);
        let (old_gain, new_gain) = self.gain.split_at_mut(new * s);
        let (old_arc, new_arc) = self.arc.split_at_mut(new * s);
        while let Some(member) = self.path.pop() {
            let from = member as usize * s;
            let cycle_arc = old_gain[from + self.source[member as usize] as usize];
            for source in 0..s {
                let gain = old_gain[from + source] - cycle_arc;
                if gain > new_gain[source] {
                    new_gain[source] = gain;
                    new_arc[source] = old_arc[from + source];
                }
            }
            self.cycle[member as usize] = new as u32;
            if member == first {
                break;
            }
        }
        for (word, outermost) in self.outermost.iter_mut().enumerate() {
            if self.cycle[*outermost as usize] == new as u32 {
                *outermost = new as u32;
                new_gain[word] = f64::NEG_INFINITY;
            }
        }
        new as u32
    }

    /// From the last node to the first: the arc into a node also enters the nodes inside that hold its modifier.
    fn unfold(&mut self, arcs: &Arcs, heads: &mut [u32]) {
        for node in (1..self.n_nodes()).rev() {
            if self.replaced[node] {
                continue;
            }
            let arc = self.best_arc(node);
            let mut inner = arcs.modifier(arc);
            heads[inner - 1] = arcs.head(arc) as u32;
            while inner != node {
                self.replaced[inner] = true;
                inner = self.cycle[inner] as usize;
            }
        }
    }
}
