//! An upper bound on the score of every labelling, by sequential message passing: TRW-S of Kolmogorov (PAMI 2006), in the form of his SRMP (PAMI 2015).
//!
//! With energies −score, moving amounts m between a node and its edges changes no labelling's energy, so that for any of them
//!
//! ```text
//! minimum ≥ Σᵢ min over k of (own(i, k) + Σ m(edge → i, k)) + Σ over edges of min over (k, l) of (c·[k ≠ l] − m(edge → i, k) − m(edge → j, l))
//! ```
//!
//! Node by node, forwards and then backwards, a node takes what its edges can give, m(edge → i, k) = min(−m(k), c + min −m) with m of the other end, and hands equal parts of all that it has to the edges that lead onwards. No step lowers the
//! bound, and it is a bound whatever the messages are: it is summed up afresh in the end. Messages are 2·K numbers per edge; a round takes 4·K steps per edge.

use crate::potts::Potts;

/// Messages and the edges of every node.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessagePassing {
    /// `messages[(2 · edge + end) · n_labels + label]`: what the node at that end has taken from the edge.
    messages: Vec<f64>,
    /// The edges of node i, with the end that it is: `links[first[i]..first[i + 1]]`, as 2·edge + end.
    links: Vec<u32>,
    first: Vec<u32>,
    /// The node at each end.
    ends: Vec<u32>,
    total: Vec<f64>,
}

impl MessagePassing {
    /// No labelling scores more. Ends early when that is proved of one with the score `reached`.
    pub(crate) fn upper_bound(&mut self, potts: &Potts<'_>, rounds: usize, reached: f64) -> f64 {
        self.prepare(potts);
        let n = potts.topology.n_nodes();
        let mut best = f64::INFINITY;
        for round in 0..rounds {
            (0..n).for_each(|node| self.visit(potts, node, true));
            (0..n).rev().for_each(|node| self.visit(potts, node, false));
            // The sum costs as much as a quarter of a round.
            if round % 5 == 4 || round + 1 == rounds {
                best = best.min(-self.energy_bound(potts));
                if best <= reached {
                    break;
                }
            }
        }
        best
    }

    fn prepare(&mut self, potts: &Potts<'_>) {
        let (n, n_edges) = (potts.topology.n_nodes(), potts.topology.n_edges());
        self.messages.clear();
        self.messages.resize(2 * n_edges * potts.n_labels, 0.0);
        self.ends.clear();
        self.first.clear();
        self.first.resize(n + 1, 0);
        potts.topology.each_edge(|edge| {
            for end in [edge.from, edge.to] {
                self.ends.push(end as u32);
                self.first[end + 1] += 1;
            }
        });
        for i in 0..n {
            self.first[i + 1] += self.first[i];
        }
        let mut next = self.first.clone();
        self.links.clear();
        self.links.resize(2 * n_edges, 0);
        for (link, &end) in self.ends.iter().enumerate() {
            self.links[next[end as usize] as usize] = link as u32;
            next[end as usize] += 1;
        }
    }

    /// −score of a label at a node, edges aside. Labels that it must not have cost more than all of the others could save.
    fn own(potts: &Potts<'_>, node: usize, label: usize) -> f64 {
        match potts.known(node) {
            Some(known) if usize::from(known) != label => {
                1e3 * (1.0 + potts.own(node, label as u8).abs())
            }
            _ => -potts.own(node, label as u8),
        }
    }

    fn visit(&mut self, potts: &Potts<'_>, node: usize, forwards: bool) {
        let k = potts.n_labels;
        let Self { messages, links, first, ends, total } = self;
        let links = &links[first[node] as usize..first[node + 1] as usize];
        total.clear();
        total.extend((0..k).map(|label| Self::own(potts, node, label)));
        let mut n_onwards = 0;
        for &link in links {
            let (own, other) = (link as usize * k, (link ^ 1) as usize * k);
            let cost = potts.cost[link as usize / 2].max(0.0);
            let other = &mut messages[own.min(other)..own.max(other) + k];
            let (low, high) = other.split_at_mut(k);
            let (own, other) = if link % 2 == 0 { (low, high) } else { (high, low) };
            let least = other.iter().fold(f64::INFINITY, |least, &m| least.min(-m));
            for ((own, &other), total) in own.iter_mut().zip(&*other).zip(&mut *total) {
                *own = (-other).min(cost + least);
                *total += *own;
            }
            n_onwards += usize::from((ends[(link ^ 1) as usize] as usize > node) == forwards);
        }
        if n_onwards == 0 {
            return;
        }
        let part = 1.0 / n_onwards.max(links.len() - n_onwards) as f64;
        for &link in links {
            if (ends[(link ^ 1) as usize] as usize > node) == forwards {
                let own = &mut messages[link as usize * k..][..k];
                own.iter_mut().zip(&*total).for_each(|(own, total)| *own -= part * total);
            }
        }
    }

    fn energy_bound(&mut self, potts: &Potts<'_>) -> f64 {
        let k = potts.n_labels;
        let mut bound = 0.0;
        for node in 0..potts.topology.n_nodes() {
            let links = &self.links[self.first[node] as usize..self.first[node + 1] as usize];
            let of_label = |label: usize| {
                let taken = links.iter().map(|&link| self.messages[link as usize * k + label]);
                Self::own(potts, node, label) + taken.sum::<f64>()
            };
            bound += (0..k).map(of_label).fold(f64::INFINITY, f64::min);
        }
        for (edge, both) in self.messages.chunks_exact(2 * k).enumerate() {
            let (a, b) = both.split_at(k);
            let least = |m: &[f64]| m.iter().fold(f64::INFINITY, |least, &m| least.min(-m));
            let same = a.iter().zip(b).fold(f64::INFINITY, |least, (a, b)| least.min(-a - b));
            bound += same.min(potts.cost[edge].max(0.0) + least(a) + least(b));
        }
        bound
    }
}
