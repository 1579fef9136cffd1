//! A structure of its own: which item of one list belongs to which of another, learnt from matched lists.
//!
//!     cargo run --release -p lineal-erm --example matching
//!
//! An output is a permutation, its parts are the n² pairs, and the argmax is the assignment problem, which `lineal_model::assignment` solves in n³. The sum over
//! all permutations is a permanent, which nobody can compute: so there is a max oracle and no sum oracle, and the logistic loss is refused.

use lineal_erm::structured::{LearnSpec, Loss, Solver, Update, learn_max};
use lineal_linalg::{Rng, Scalar};
use lineal_model::assignment::assign;
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure};
use std::ops::ControlFlow;

/// Pairs of lists of equal length with the right partner of each item.
pub struct Matching {
    /// How many features a pair of items has, and so how many weights there are.
    pub n_features: usize,
    /// The examples.
    pub lists: Vec<Lists>,
}

/// Two lists of n items.
pub struct Lists {
    /// `[(left·n + right)·n_features + feature]`.
    pub features: Vec<f32>,
    /// The right partner of each left item.
    pub gold: Vec<u32>,
}

impl Matching {
    fn pair(&self, i: usize, left: usize, right: usize) -> &[f32] {
        let Lists { features, gold } = &self.lists[i];
        let at = (left * gold.len() + right) * self.n_features;
        &features[at..at + self.n_features]
    }
}

impl<F: Scalar> Structure<F> for Matching {
    type Output = Vec<u32>;
    type Parts = Vec<F>;
    type Scratch = ();

    fn n_examples(&self) -> usize {
        self.lists.len()
    }
    fn dim(&self) -> usize {
        self.n_features
    }
    fn work(&self) -> usize {
        self.lists.iter().map(|lists| lists.features.len()).sum()
    }
    fn size(&self, i: usize) -> usize {
        self.lists[i].gold.len()
    }
    fn log_outputs(&self, i: usize) -> f64 {
        (1..=self.lists[i].gold.len()).map(|k| (k as f64).ln()).sum()
    }
    fn scratch(&self) {}
    fn gold(&self, i: usize, y: &mut Vec<u32>) {
        y.clone_from(&self.lists[i].gold);
    }

    fn scores(&self, i: usize, w: &[F], scale: F, (): &mut (), theta: &mut Vec<F>) {
        let n = self.lists[i].gold.len();
        theta.clear();
        theta.extend((0..n * n).map(|at| {
            let x = self.pair(i, at / n, at % n);
            scale * x.iter().zip(w).fold(F::ZERO, |sum, (&x, &w)| sum + F::from_f32(x) * w)
        }));
    }
    fn accumulate(&self, i: usize, g: &Vec<F>, (): &mut (), into: &mut [F]) {
        let n = self.lists[i].gold.len();
        for (at, &g) in g.iter().enumerate().filter(|(_, g)| **g != F::ZERO) {
            let x = self.pair(i, at / n, at % n);
            into.iter_mut().zip(x).for_each(|(into, &x)| *into += g * F::from_f32(x));
        }
    }
    fn each_difference(
        &self,
        i: usize,
        plus: &Vec<u32>,
        minus: &Vec<u32>,
        (): &mut (),
        mut f: impl FnMut(usize, F),
    ) {
        for (left, (&p, &m)) in plus.iter().zip(minus).enumerate().filter(|(_, (p, m))| p != m) {
            let (x, other) = (self.pair(i, left, p as usize), self.pair(i, left, m as usize));
            for (at, (&x, &other)) in x.iter().zip(other).enumerate() {
                f(at, F::from_f32(x) - F::from_f32(other));
            }
        }
    }
    fn score(&self, _: usize, theta: &Vec<F>, y: &Vec<u32>) -> f64 {
        y.iter().enumerate().map(|(left, &r)| theta[left * y.len() + r as usize].to_f64()).sum()
    }
    fn add_output(&self, _: usize, y: &Vec<u32>, a: F, mu: &mut Vec<F>) {
        y.iter().enumerate().for_each(|(left, &r)| mu[left * y.len() + r as usize] += a);
    }
}

impl<F: Scalar> MaxOracle<F> for Matching {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        (): &mut (),
        y: &mut Vec<u32>,
    ) -> Result<Found, Infeasible> {
        let gold = &self.lists[i].gold;
        let n = gold.len();
        if ask == Ask::Augmented {
            // 1 for each wrong partner.
            theta.iter_mut().for_each(|part| *part += F::ONE);
            self.add_output(i, gold, -F::ONE, theta);
        }
        match ask {
            Ask::Gold => y.clone_from(gold),
            _ => *y = assign(n, &|right, left| theta[left * n + right].to_f64()),
        }
        Ok(Found::exact(self.score(i, theta, y)))
    }

    fn cost(&self, i: usize, y: &Vec<u32>) -> f64 {
        self.lists[i].gold.iter().zip(y).filter(|(gold, y)| gold != y).count() as f64
    }
}

/// Right items are the left ones in another order and with noise; half of the features are noise alone. A pair's features are how far its items differ.
pub fn example(n_lists: usize, longest: u64, n_features: usize, seed: u64) -> Matching {
    let mut rng = Rng::new(seed);
    let lists = (0..n_lists).map(|_| {
        let n = 2 + (rng.next_u64() % (longest - 1)) as usize;
        let left: Vec<f64> = (0..n * n_features).map(|_| rng.unit()).collect();
        let mut gold: Vec<u32> = (0..n as u32).collect();
        lineal_solver::shuffle(&mut gold, &mut rng);
        let mut right = vec![0.0; n * n_features];
        for (item, &r) in gold.iter().enumerate() {
            for at in 0..n_features {
                let truth = if 2 * at < n_features { left[item * n_features + at] } else { 0.5 };
                right[r as usize * n_features + at] = truth + 0.6 * (rng.unit() - 0.5);
            }
        }
        let far = |at: usize| {
            let (pair, feature) = (at / n_features, at % n_features);
            let (l, r) = (pair / n * n_features + feature, pair % n * n_features + feature);
            (left[l] - right[r]).abs() as f32
        };
        Lists { features: (0..n * n * n_features).map(far).collect(), gold }
    });
    Matching { n_features, lists: lists.collect() }
}

/// The share of items that get their partner.
fn accuracy(test: &Matching, w: &[f32]) -> f64 {
    let (mut theta, mut y, mut right, mut all) = (Vec::new(), Vec::new(), 0.0, 0.0);
    for i in 0..test.lists.len() {
        test.scores(i, w, 1.0, &mut (), &mut theta);
        if test.argmax(i, &mut theta, Ask::Plain, &mut (), &mut y).is_ok() {
            right += y.len() as f64 - MaxOracle::<f32>::cost(test, i, &y);
            all += y.len() as f64;
        }
    }
    right / all
}

#[allow(dead_code, reason = "the registry test takes the structure alone")]
fn main() {
    let (train, test) = (example(200, 12, 6, 1), example(200, 12, 6, 2));
    let hinge = LearnSpec { loss: Loss::Hinge, l2: 1e-2, tol: 1e-4, ..LearnSpec::default() };
    let perceptron = LearnSpec { loss: Loss::Perceptron, passes: 20, ..LearnSpec::default() };
    let passive = Update::PassiveAggressive { aggressiveness: 0.1 };
    for (name, spec) in [
        ("averaged perceptron", perceptron.clone()),
        ("passive–aggressive", LearnSpec { update: passive, ..perceptron }),
        ("hinge, Pegasos", LearnSpec { solver: Solver::Sgd, passes: 20, ..hinge.clone() }),
        ("hinge, Frank–Wolfe", hinge.clone()),
        ("logistic", LearnSpec { loss: Loss::Logistic, ..hinge }),
    ] {
        match learn_max(&train, &spec, None, &mut |_| ControlFlow::Continue(())) {
            Ok(learnt) => {
                let right = 100.0 * accuracy(&test, &learnt.w);
                println!("{name}: {right:.1} % right partners, {:?}", learnt.report);
            }
            Err(error) => println!("{name}: {error}"),
        }
    }
}
