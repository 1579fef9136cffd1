//! All trees of small sentences, one by one.

use lineal_dependencies::{Arcs, tree};
use lineal_linalg::{Rng, Scalar};
use proptest::prelude::*;

/// A sentence with random candidates and scores.
#[derive(Clone, Debug)]
pub struct Problem {
    pub arcs: Arcs,
    pub projective: bool,
    seed: u64,
    scale: f64,
}

impl Problem {
    /// `len` numbers, whole ones from −8 to 8 times the scale: with scale 1 ties are many and sums are exact.
    pub fn scores<F: Scalar>(&self, len: usize) -> Vec<F> {
        let mut rng = Rng::new(self.seed ^ 0x5eed);
        (0..len).map(|_| F::from_f64(((rng.unit() * 17.0).floor() - 8.0) * self.scale)).collect()
    }

    /// All trees of candidates that have the right number of roots and, if asked for, no crossing arcs.
    pub fn trees(&self) -> Vec<Vec<u32>> {
        let mut trees = vec![Vec::new()];
        for modifier in 1..=self.arcs.n_words() {
            trees = trees
                .iter()
                .flat_map(|heads: &Vec<u32>| {
                    self.arcs
                        .heads(modifier)
                        .iter()
                        .map(move |&head| [&heads[..], &[head]].concat())
                })
                .collect();
        }
        trees.retain(|heads| {
            tree::is_tree(heads)
                && (!self.projective || tree::is_projective(heads))
                && (!self.arcs.single_root() || heads.is_empty() || tree::n_roots(heads) == 1)
        });
        trees
    }

    /// Whether the first `words` words have a tree if the others may have any head.
    pub fn feasible_up_to(&self, words: usize) -> bool {
        let n = self.arcs.n_words();
        let mut arcs = Arcs::default();
        arcs.reset(n, self.arcs.single_root());
        for modifier in 1..=n as u32 {
            for head in (0..=n as u32).filter(|&head| head != modifier) {
                if modifier as usize > words || self.arcs.find(head, modifier as usize).is_some() {
                    arcs.push(head, modifier);
                }
            }
        }
        !Problem { arcs, ..self.clone() }.trees().is_empty()
    }

    /// Checks that a refusal is right and points at the first word that leaves no tree.
    pub fn check_infeasible(&self, at: usize) {
        assert!(self.trees().is_empty());
        assert!(!self.feasible_up_to(at + 1));
        assert!(self.feasible_up_to(at));
    }
}

/// Sentences of up to `max_words` words; some with all arcs, others with a random part of them that may leave no tree.
pub fn problems(projective: bool, max_words: usize) -> impl Strategy<Value = Problem> {
    let density = prop_oneof![Just(1.0), 0.3f64..1.0];
    let scale = prop_oneof![Just(1.0), Just(0.37)];
    (0..=max_words, any::<u64>(), density, any::<bool>(), scale).prop_map(
        move |(n, seed, density, single_root, scale)| {
            let mut rng = Rng::new(seed);
            let mut arcs = Arcs::default();
            arcs.reset(n, single_root);
            for modifier in 1..=n as u32 {
                for head in (0..=n as u32).filter(|&head| head != modifier) {
                    if rng.unit() < density {
                        arcs.push(head, modifier);
                    }
                }
            }
            Problem { arcs, projective, seed, scale }
        },
    )
}

/// log Σ exp, and the probability of each.
pub fn softmax(scores: &[f64]) -> (f64, Vec<f64>) {
    let top = scores.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let sum: f64 = scores.iter().map(|score| (score - top).exp()).sum();
    let log_z = top + sum.ln();
    (log_z, scores.iter().map(|score| (score - log_z).exp()).collect())
}
