//! All trees of small sentences, one by one.

use lineal_dependencies::{Arcs, RankedTree, tree};
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

/// All trees of a problem with their scores, which come in f64 from scores of parts that may be rounded.
pub struct Truth {
    trees: Vec<Vec<u32>>,
    scores: Vec<f64>,
}

impl Truth {
    pub fn new(problem: &Problem, score: impl Fn(&[u32]) -> f64) -> Self {
        let trees = problem.trees();
        let scores = trees.iter().map(|tree| score(tree)).collect();
        Self { trees, scores }
    }

    fn score(&self, heads: &[u32]) -> f64 {
        let at = self.trees.iter().position(|tree| tree == heads);
        self.scores[at.unwrap_or_else(|| panic!("{heads:?} is not a tree of the problem"))]
    }

    pub fn check_max(&self, heads: &[u32], score: f64) {
        let best = self.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!((score - best).abs() < 1e-4, "{score} of {heads:?}, but there is {best}");
        assert_eq!(score, self.score(heads));
    }

    /// The scores of a list must be the highest ones, and its trees different.
    pub fn check_k_best(&self, ranked: &[RankedTree], k: usize) {
        let mut scores = self.scores.clone();
        scores.sort_by(|a, b| b.total_cmp(a));
        scores.truncate(k);
        assert_eq!(ranked.len(), scores.len());
        for (tree, best) in ranked.iter().zip(scores) {
            assert!((tree.score - best).abs() < 1e-9, "{tree:?}, but there is {best}");
            assert_eq!(tree.score, self.score(&tree.heads));
        }
        let mut trees: Vec<_> = ranked.iter().map(|tree| &tree.heads).collect();
        trees.sort_unstable();
        trees.dedup();
        assert_eq!(trees.len(), ranked.len());
    }

    /// `mu` has the probability of each part.
    pub fn check_sums(
        &self,
        log_partition: f64,
        mu: &[f64],
        parts_of: impl Fn(&[u32]) -> Vec<usize>,
    ) {
        let top = self.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.scores.iter().map(|score| (score - top).exp()).sum();
        let truth = top + sum.ln();
        assert!((log_partition - truth).abs() < 1e-9, "{log_partition}, but it is {truth}");
        let mut marginals = vec![0.0; mu.len()];
        for (tree, score) in self.trees.iter().zip(&self.scores) {
            parts_of(tree).iter().for_each(|&part| marginals[part] += (score - truth).exp());
        }
        for (part, (mu, truth)) in mu.iter().zip(&marginals).enumerate() {
            assert!((mu - truth).abs() < 1e-9, "part {part}: {mu}, but it is {truth}");
        }
    }

    /// Frequencies of trees among samples are within 6 standard deviations of their probabilities.
    pub fn check_samples(&self, log_partition: f64, samples: &[Vec<u32>]) {
        let n = samples.len() as f64;
        samples.iter().for_each(|tree| assert!(self.trees.contains(tree)));
        for (tree, score) in self.trees.iter().zip(&self.scores) {
            let p = (score - log_partition).exp();
            let count = samples.iter().filter(|sample| *sample == tree).count() as f64;
            let deviation = (n * p * (1.0 - p)).max(0.0).sqrt();
            assert!(
                (count - n * p).abs() <= 6.0 * deviation + 3.0,
                "{tree:?}: {count} of {}",
                n * p
            );
        }
    }
}

/// The derivative of `f` at `theta` by central differences, for each part.
pub fn differences(theta: &[f64], mut f: impl FnMut(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let mut moved = theta.to_vec();
    (0..theta.len())
        .map(|part| {
            moved[part] = theta[part] + step;
            let above = f(&moved);
            moved[part] = theta[part] - step;
            let below = f(&moved);
            moved[part] = theta[part];
            (above - below) / (2.0 * step)
        })
        .collect()
}

pub fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (at, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance, "at {at}: {a} and {b}");
    }
}

/// Random scores between −`scale` and `scale`.
pub fn random<F: Scalar>(len: usize, scale: f64, seed: u64) -> Vec<F> {
    let mut rng = Rng::new(seed);
    (0..len).map(|_| F::from_f64((2.0 * rng.unit() - 1.0) * scale)).collect()
}

/// `n_heads` random candidates for each word, and those of a chain that makes a tree possible.
pub fn sparse(n: usize, n_heads: usize, seed: u64) -> Arcs {
    let mut rng = Rng::new(seed);
    let mut arcs = Arcs::default();
    arcs.reset(n, true);
    for modifier in 1..=n as u32 {
        let mut heads: Vec<u32> = (0..n_heads)
            .map(|_| (rng.unit() * (n + 1) as f64) as u32)
            .filter(|&head| head != modifier)
            .chain([modifier - 1])
            .collect();
        heads.sort_unstable();
        heads.dedup();
        heads.iter().for_each(|&head| arcs.push(head, modifier));
    }
    arcs
}
