//! The interface to the learners: scores of parts, their way back, and the argmax.

use super::{Labelling, LabellingScratch, Rounded};
use crate::decode::Decoder;
use crate::nodes::NodeFeatures;
use crate::potts::Potts;
use lineal_model::VOID;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure};
use std::ops::Range;

impl<F: Rounded, N: NodeFeatures> Structure<F> for Labelling<'_, N> {
    type Output = Vec<u8>;
    type Parts = Vec<F>;
    type Scratch = LabellingScratch<F>;

    fn n_examples(&self) -> usize {
        self.examples.len()
    }

    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn nonnegative(&self) -> Range<usize> {
        self.model.edge_weights()
    }

    /// How much the loss of an example counts. It is a sum over nodes, so that not the shares but shares times nodes add up to 1.
    fn share(&self, i: usize) -> f64 {
        self.shares[i]
    }

    fn work(&self) -> usize {
        self.work
    }

    fn size(&self, i: usize) -> usize {
        self.examples[i].gold.len()
    }

    fn log_outputs(&self, i: usize) -> f64 {
        self.examples[i].gold.len() as f64 * (self.model.n_labels as f64).ln()
    }

    fn scratch(&self) -> LabellingScratch<F> {
        LabellingScratch {
            decoder: Decoder::default(),
            own: Vec::new(),
            cost: Vec::new(),
            known: Vec::new(),
            parts: Vec::new(),
            features: Vec::new(),
        }
    }

    fn is_whole(&self, i: usize) -> bool {
        self.whole[i]
    }

    fn gold(&self, i: usize, y: &mut Vec<u8>) {
        y.clear();
        // Where the label is not known any will do: the argmax within what is known comes next.
        y.extend(self.examples[i].gold.iter().map(|&label| if label == VOID { 0 } else { label }));
    }

    fn scores(&self, i: usize, w: &[F], scale: F, _: &mut LabellingScratch<F>, theta: &mut Vec<F>) {
        self.model.scores(&self.examples[i].input, w, scale, theta);
    }

    fn accumulate(&self, i: usize, g: &Vec<F>, _: &mut LabellingScratch<F>, into: &mut [F]) {
        self.model.accumulate(&self.examples[i].input, g, into);
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Vec<u8>,
        minus: &Vec<u8>,
        s: &mut LabellingScratch<F>,
        mut f: impl FnMut(usize, F),
    ) {
        let (input, model) = (&self.examples[i].input, &self.model);
        let k = model.columns();
        let differ = || (0..plus.len()).filter(|&node| plus[node] != minus[node]);
        let dim = model.dim();
        if differ().count() * model.n_features >= 2 * dim {
            // Many nodes differ: over all weights once.
            s.parts.clear();
            s.parts.resize(plus.len() * k + input.topology.n_edges(), F::ZERO);
            self.add_output(i, plus, F::ONE, &mut s.parts);
            self.add_output(i, minus, -F::ONE, &mut s.parts);
            s.features.clear();
            s.features.resize(dim, F::ZERO);
            model.accumulate(input, &s.parts, &mut s.features);
            s.features.iter().enumerate().for_each(|(at, &v)| f(at, v));
            return;
        }
        let bias_at = model.n_features * k;
        let has_bias = model.bias != 0.0;
        for node in differ() {
            let mut side = |label: u8, sign: F| {
                // Of two labels only label 1 has weights.
                let column = if k == 1 {
                    usize::from(label).checked_sub(1)
                } else {
                    Some(usize::from(label))
                };
                if let Some(column) = column {
                    input.nodes.each(node, |j, x| f(j * k + column, sign * F::from_f32(x)));
                    if has_bias {
                        f(bias_at + column, sign * F::from_f32(model.bias));
                    }
                }
            };
            side(plus[node], F::ONE);
            side(minus[node], -F::ONE);
        }
        let at = model.edge_weights();
        if at.is_empty() {
            return;
        }
        input.topology.each_edge(|edge| {
            let (in_plus, in_minus) =
                (plus[edge.from] != plus[edge.to], minus[edge.from] != minus[edge.to]);
            if in_plus != in_minus {
                let sign = if in_plus { -F::ONE } else { F::ONE };
                let features = &input.edges[edge.index * at.len()..(edge.index + 1) * at.len()];
                features.iter().zip(at.clone()).for_each(|(&x, at)| f(at, sign * F::from_f32(x)));
            }
        });
    }

    fn score(&self, i: usize, theta: &Vec<F>, y: &Vec<u8>) -> f64 {
        let k = self.model.columns();
        let (nodes, edges) = theta.split_at(y.len() * k);
        let of_node = |(node, &label): (usize, &u8)| match k {
            1 => nodes[node].to_f64() * f64::from(label),
            _ => nodes[node * k + usize::from(label)].to_f64(),
        };
        let mut sum: f64 = y.iter().enumerate().map(of_node).sum();
        self.examples[i].input.topology.each_edge(|edge| {
            if y[edge.from] != y[edge.to] {
                sum += edges[edge.index].to_f64();
            }
        });
        sum
    }

    fn add_output(&self, i: usize, y: &Vec<u8>, a: F, mu: &mut Vec<F>) {
        let k = self.model.columns();
        let (nodes, edges) = mu.split_at_mut(y.len() * k);
        for (node, &label) in y.iter().enumerate() {
            match k {
                1 if label == 1 => nodes[node] += a,
                1 => {}
                _ => nodes[node * k + usize::from(label)] += a,
            }
        }
        self.examples[i].input.topology.each_edge(|edge| {
            if y[edge.from] != y[edge.to] {
                edges[edge.index] += a;
            }
        });
    }
}

impl<F: Rounded, N: NodeFeatures> MaxOracle<F> for Labelling<'_, N> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        s: &mut LabellingScratch<F>,
        y: &mut Vec<u8>,
    ) -> Result<Found, Infeasible> {
        let example = &self.examples[i];
        let (k, topology) = (self.model.columns(), example.input.topology);
        let (nodes, edges) = theta.split_at(topology.n_nodes() * k);
        s.own.clear();
        s.own.extend(nodes.iter().map(|score| score.to_f64()));
        if ask == Ask::Augmented {
            for (node, &gold) in example.gold.iter().enumerate().filter(|(_, gold)| **gold != VOID)
            {
                let wrong = self.wrong(gold);
                match k {
                    1 => s.own[node] += if gold == 0 { wrong } else { -wrong },
                    _ => {
                        let labels = s.own[node * k..(node + 1) * k].iter_mut().enumerate();
                        labels
                            .filter(|(label, _)| *label != usize::from(gold))
                            .for_each(|(_, own)| *own += wrong);
                    }
                }
            }
        }
        s.cost.clear();
        s.cost.extend(edges.iter().map(|score| -score.to_f64()));
        // Only weights that learners never make reward a difference: a cut leaves that out, and the bound counts it.
        let rewards: f64 = s.cost.iter().map(|cost| (-cost).max(0.0)).sum();
        s.known.clear();
        if ask == Ask::Gold {
            s.known.extend_from_slice(example.gold);
        }
        let potts = Potts {
            topology,
            n_labels: self.model.n_labels,
            own: &s.own,
            cost: &s.cost,
            known: &s.known,
        };
        let slack = s.decoder.best(&potts, &self.options.effort, y).slack;
        let cost = if ask == Ask::Augmented { MaxOracle::<F>::cost(self, i, y) } else { 0.0 };
        let score = self.score(i, theta, y) + cost;
        Ok(Found { score, upper: score + slack + rewards })
    }

    fn cost(&self, i: usize, y: &Vec<u8>) -> f64 {
        let gold = self.examples[i].gold.iter();
        let wrong = gold.zip(y).filter(|(gold, label)| **gold != VOID && gold != label);
        wrong.map(|(&gold, _)| self.wrong(gold)).sum()
    }
}
