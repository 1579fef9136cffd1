//! Labels of nodes by their own scores and by the costs of edges between different labels: the score to maximise,
//!
//! ```text
//! score(y) = Σᵢ own(i, yᵢ) − Σ over edges (i, j) of cost(i, j)·[yᵢ ≠ yⱼ],        cost ≥ 0
//! ```

use crate::flow::{Capacity, Scale};
use crate::topology::{Shape, Topology};
use lineal_model::VOID;

/// Scores of one example. With two labels `own` has one number per node, the score of label 1 over that of label 0; with more, one for each node and label.
#[derive(Clone, Copy, Debug)]
pub struct Potts<'a> {
    /// Which nodes are neighbours.
    pub topology: &'a Topology,
    /// How many labels.
    pub n_labels: usize,
    /// Scores of nodes: `own[node · columns + label]`.
    pub own: &'a [f64],
    /// Costs of edges whose ends differ. A negative one is taken for 0.
    pub cost: &'a [f64],
    /// Labels that nodes must have, [`VOID`] where any will do; empty if all may have any.
    pub known: &'a [u8],
}

/// How many numbers a node has: one for two labels.
pub const fn columns(n_labels: usize) -> usize {
    if n_labels == 2 { 1 } else { n_labels }
}

impl Potts<'_> {
    /// The score of a label at a node, edges aside.
    #[inline(always)]
    pub fn own(&self, node: usize, label: u8) -> f64 {
        match self.n_labels {
            2 => self.own[node] * f64::from(label),
            k => self.own[node * k + usize::from(label)],
        }
    }

    /// The label that a node must have, if it must have one.
    #[inline(always)]
    pub fn known(&self, node: usize) -> Option<u8> {
        self.known.get(node).copied().filter(|&label| label != VOID)
    }

    /// The score of a labelling.
    pub fn score(&self, y: &[u8]) -> f64 {
        let nodes: f64 = y.iter().enumerate().map(|(node, &label)| self.own(node, label)).sum();
        let mut cut = 0.0;
        self.topology.each_edge(|edge| {
            if y[edge.from] != y[edge.to] {
                cut += self.cost[edge.index].max(0.0);
            }
        });
        nodes - cut
    }

    /// Every node alone: its best label, or the one that it must have. Of equally good ones the first.
    pub fn alone(&self, y: &mut Vec<u8>) {
        y.clear();
        let label = |node: usize| {
            self.known(node).unwrap_or_else(|| match self.n_labels {
                2 => u8::from(self.own[node] > 0.0),
                k => {
                    let own = &self.own[node * k..(node + 1) * k];
                    (0..k).fold(0, |best, at| if own[at] > own[best] { at } else { best }) as u8
                }
            })
        };
        y.extend((0..self.topology.n_nodes()).map(label));
    }

    /// Integers for its cuts, in which the labels of nodes can be fixed; and the sum of all capacities.
    pub(crate) fn scale<C: Capacity>(&self) -> (Scale, f64) {
        let [largest, total, heaviest] = self.range();
        (Scale::new::<C>(largest, total, heaviest), total)
    }

    /// Largest absolute terminal capacity or edge cost that a cut of it may need, the sum of all, and the most that the edges of a node cost together (0 for grids, whose nodes have few).
    fn range(&self) -> [f64; 3] {
        let (mut largest, mut total) = (0.0f64, 0.0);
        let is_graph = matches!(self.topology.shape, Shape::Graph(_));
        let weigh = self.n_labels > 2 || is_graph;
        let mut weight = vec![0.0; if weigh { self.topology.n_nodes() } else { 0 }];
        self.topology.each_edge(|edge| {
            let cost = self.cost[edge.index].max(0.0);
            largest = largest.max(cost);
            total += cost;
            if weigh {
                weight[edge.from] += cost;
                weight[edge.to] += cost;
            }
        });
        for node in 0..self.topology.n_nodes() {
            let spread = match self.n_labels {
                2 => self.own[node].abs(),
                k => {
                    let own = &self.own[node * k..(node + 1) * k];
                    let (low, high) =
                        own.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &s| {
                            (low.min(s), high.max(s))
                        });
                    // A move adds costs of edges to the differences of scores.
                    high - low + weight[node]
                }
            };
            largest = largest.max(spread);
            total += spread;
        }
        let heaviest = if is_graph { weight.iter().copied().fold(0.0, f64::max) } else { 0.0 };
        [largest, total, heaviest]
    }
}
