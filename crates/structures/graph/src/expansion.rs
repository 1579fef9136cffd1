//! More than two labels: α-expansion (Boykov, Veksler, Zabih, *Fast Approximate Energy Minimization via Graph Cuts*, PAMI 2001), and a proof of how good its labelling is.
//!
//! A move lets every node keep its label or take α, the best of all such choices by one cut. With x = 1 for taking α and the costs c of edges between labels that differ, for the labels a, b ≠ α of two ends
//!
//! ```text
//! a = b      c·[x ≠ x′]                                        arcs of c both ways
//! a ≠ b      c·(1 − x x′) = c − c x′ + c (1 − x) x′            one arc of c, and −c for x′
//! b = α      c·(1 − x)                                          −c for x
//! ```
//!
//! A labelling that no move improves has at most twice the cost of the best one, where the cost of a node is what its score lies below its best; the costs of nodes alone are another bound, and message passing (`bound.rs`) gives a
//! third, which is usually far better. The smallest of the three is reported.

use crate::decode::{Decoded, Decoder, Effort, beyond_rounding, enumerate};
use crate::flow::{Capacity, Cut, Scale};
use crate::potts::Potts;

/// Moves from the labels of nodes alone until none helps.
pub(crate) fn best<C: Capacity>(
    decoder: &mut Decoder<C>,
    potts: &Potts<'_>,
    effort: &Effort,
    y: &mut Vec<u8>,
) -> Decoded {
    let (scale, total) = potts.scale::<C>();
    potts.alone(y);
    let nodes_alone: f64 = y.iter().enumerate().map(|(node, &label)| potts.own(node, label)).sum();
    let mut score = potts.score(y);
    let mut moved = y.clone();
    let mut since_help = 0;
    'rounds: for _ in 0..effort.rounds {
        for alpha in 0..potts.n_labels {
            if since_help == potts.n_labels {
                break 'rounds;
            }
            since_help += 1;
            if !expand(decoder, potts, scale, alpha as u8, y) {
                continue;
            }
            moved.copy_from_slice(y);
            if let Some(engine) = decoder.solved() {
                for (node, label) in moved.iter_mut().enumerate() {
                    if engine.is_sink(node) {
                        *label = alpha as u8;
                    }
                }
            }
            let now = potts.score(&moved);
            if now > score + 4.0 * f64::EPSILON * total {
                score = now;
                y.copy_from_slice(&moved);
                since_help = 1;
            }
        }
    }
    let local = since_help == potts.n_labels;
    let mut slack = nodes_alone - score;
    if local {
        // nodes_alone − best ≥ half of nodes_alone − score, what rounding takes from each of the moves aside.
        let n_terms = potts.n_labels * (potts.topology.n_nodes() + potts.topology.n_edges());
        slack = slack.min(0.5 * slack + 2.0 * scale.error() * n_terms as f64);
    }
    if slack > 0.0 && effort.bound_rounds > 0 {
        let bound = decoder.messages.upper_bound(potts, effort.bound_rounds, score);
        slack = slack.min(bound - score + 4.0 * f64::EPSILON * total);
    }
    slack = beyond_rounding(slack.max(0.0), total);
    if slack > 0.0 && enumerate(potts, effort.enumerate, y) {
        (score, slack) = (potts.score(y), 0.0);
    }
    Decoded { score, slack }
}

/// Solves the cut of a move. False if there is nothing that could take α.
pub(crate) fn expand<C: Capacity>(
    decoder: &mut Decoder<C>,
    potts: &Potts<'_>,
    scale: Scale,
    alpha: u8,
    y: &[u8],
) -> bool {
    let mut terminals = std::mem::take(&mut decoder.terminals);
    terminals.clear();
    let gain = |(node, &label): (usize, &u8)| potts.own(node, label) - potts.own(node, alpha);
    terminals.extend(y.iter().enumerate().map(gain));
    potts.topology.each_edge(|edge| {
        let (from, to) = (y[edge.from], y[edge.to]);
        let cost = potts.cost[edge.index].max(0.0);
        match (from == alpha, to == alpha) {
            (true, false) => terminals[edge.to] -= cost,
            (false, true) => terminals[edge.from] -= cost,
            (false, false) if from != to => terminals[edge.to] -= cost,
            _ => {}
        }
    });
    let some = y.iter().any(|&label| label != alpha);
    if let Some(engine) = decoder.engine(potts.topology).filter(|_| some) {
        let terminal = |node: usize| match potts.known(node) {
            _ if y[node] == alpha => C::ZERO,
            Some(_) => C::FORCE,
            None => scale.of(terminals[node]),
        };
        engine.fill(terminal, |edge| {
            let (from, to) = (y[edge.from], y[edge.to]);
            if from == alpha || to == alpha {
                return (C::ZERO, C::ZERO);
            }
            let cost = scale.of(potts.cost[edge.index].max(0.0));
            (cost, if from == to { cost } else { C::ZERO })
        });
        engine.solve();
    }
    decoder.terminals = terminals;
    some
}
