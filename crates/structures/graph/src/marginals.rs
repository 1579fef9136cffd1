//! What another label for one node would cost: the best score of all less the best with that label, by going on from the solved flow (Kohli, Torr, *Measuring Uncertainty in Graph Cut Solutions*, 2008).
//!
//! For two labels the node is forced to its other label, the cut repaired, and the force taken back: two repairs per node, exact. With more labels the same is asked within the expansion moves from the labelling that was found: for
//! each α one cut and two repairs per node that has another label. The best that a move reaches is no more than the best of all, so that costs are then upper bounds.
//!
//! A repair touches what the force moves, usually some tens of nodes: on a 96 × 72 image all nodes take some hundredths of a second, in the worst case (one weak region that flips as a whole) seconds.

use crate::decode::{Decoder, Effort, Engine};
use crate::expansion::expand;
use crate::flow::{Capacity, Cut};
use crate::potts::{Potts, columns};

/// The best labelling, and what each other label would cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marginals {
    /// The labelling.
    pub labels: Vec<u8>,
    /// Its score.
    pub score: f64,
    /// How many labels.
    pub n_labels: usize,
    /// `costs[node · n_labels + label]`: the best score of all less the best with this label here. 0 for the label that the node has, infinite for one that it must not have.
    pub costs: Vec<f64>,
}

impl Marginals {
    /// The costs of the labels of a node.
    pub fn of(&self, node: usize) -> &[f64] {
        &self.costs[node * self.n_labels..(node + 1) * self.n_labels]
    }

    /// By how much the label of a node leads over the next best.
    pub fn lead(&self, node: usize) -> f64 {
        let other = |(label, &cost): (usize, &f64)| {
            (label != usize::from(self.labels[node])).then_some(cost)
        };
        self.of(node).iter().enumerate().filter_map(other).fold(f64::INFINITY, f64::min)
    }

    /// exp(−cost) over the sum for all labels of the node: 1 where it is sure, 1/K where all labels are as good.
    pub fn confidence(&self, node: usize) -> f64 {
        let own = self.of(node)[usize::from(self.labels[node])];
        1.0 / self.of(node).iter().map(|cost| (own - cost).exp()).sum::<f64>()
    }
}

impl<C: Capacity> Decoder<C> {
    /// The best labelling and the costs of all others, node by node. `nodes` are those to ask about; costs of the others stay 0.
    pub fn marginals(
        &mut self,
        potts: &Potts<'_>,
        effort: &Effort,
        nodes: impl Iterator<Item = usize> + Clone,
    ) -> Marginals {
        let (n, k) = (potts.topology.n_nodes(), potts.n_labels);
        let mut found = Marginals { n_labels: k, costs: vec![0.0; n * k], ..Marginals::default() };
        found.score = self.best(potts, effort, &mut found.labels).score;
        if k < 2 {
            return found;
        }
        let (scale, _) = potts.scale::<C>();
        let asked = nodes.filter(|&node| node < n);
        for node in asked.clone() {
            if let Some(known) = potts.known(node) {
                let costs = &mut found.costs[node * k..(node + 1) * k];
                costs.fill(f64::INFINITY);
                costs[usize::from(known)] = 0.0;
            }
        }
        let free = asked.filter(|&node| potts.known(node).is_none());
        if columns(k) == 1 {
            self.solve_two(potts, scale);
            let Some(engine) = self.solved() else { return found };
            let least = engine.solve();
            for node in free {
                let label = usize::from(found.labels[node]);
                let force = if label == 1 { C::FORCE } else { -C::FORCE };
                found.costs[node * k + 1 - label] =
                    scale.back(forced(engine, node, force) - least).max(0.0);
            }
            return found;
        }
        for alpha in 0..k {
            if !expand(self, potts, scale, alpha as u8, &found.labels) {
                continue;
            }
            let Some(engine) = self.solved() else { return found };
            // The labelling is what no move improves, but for rounding: costs are against it.
            let least = engine.solve();
            for node in free.clone().filter(|&node| usize::from(found.labels[node]) != alpha) {
                let cost = scale.back(forced(engine, node, -C::FORCE) - least);
                found.costs[node * k + alpha] = cost.max(0.0);
            }
        }
        found
    }
}

/// The least energy with a node forced to one side; the cut is then as it was.
fn forced<C: Capacity>(engine: &mut Engine<C>, node: usize, force: C) -> i128 {
    engine.add_terminal(node, force);
    let energy = engine.solve();
    engine.add_terminal(node, -force);
    engine.solve();
    // The energy of the force itself is 0 on its own side and above 0, and FORCE·1 on the sink's side below 0.
    if force < C::ZERO { energy - i128::from(force.to_i64()) } else { energy }
}
