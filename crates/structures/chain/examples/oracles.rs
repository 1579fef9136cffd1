//! What the oracles cost, in nanoseconds a position: the least of many repetitions.
//!
//!     cargo run --release -p lineal-chain --example oracles

use lineal_chain::{Chain, Grammar, LabelSets, PairChain, Scratch, Transitions};
use lineal_linalg::Rng;
use lineal_linalg::Scalar;
use std::time::Instant;

fn main() {
    run_pairs(24, 22);
    for (n, k) in [(24, 22), (24, 50), (1000, 22), (100_000, 10), (200, 500)] {
        run::<f32>("f32", n, k);
        run::<f64>("f64", n, k);
    }
}

/// Order 2 over all pairs of labels.
fn run_pairs(n: usize, k: usize) {
    let mut rng = Rng::new(1);
    let mut scores =
        |len: usize| (0..len).map(|_| (6.0 * rng.unit() - 3.0) as f32).collect::<Vec<f32>>();
    let pairs = PairChain::new(&Grammar::free(k));
    let mut transitions = pairs.transitions();
    pairs.load(&scores(k * k * k), &scores(k), &scores(k), &mut transitions);
    transitions.prepare_sums();
    let mut unary = Vec::new();
    pairs.unary(&scores(n * k), &scores(k * k), None, &mut unary);
    let (mut s, mut labels, mut triples) = (Scratch::new(), Vec::new(), vec![0.0; k * k * k]);
    let mut least = [f64::INFINITY; 2];
    for _ in 0..200 {
        let from = Instant::now();
        Chain::new(&transitions, &unary).viterbi(&mut s, &mut labels).unwrap();
        least[0] = least[0].min(from.elapsed().as_secs_f64());
        let from = Instant::now();
        let chain = Chain::new(&transitions, &unary);
        pairs.add_triples(&mut chain.posterior(&mut s).unwrap(), &mut triples);
        least[1] = least[1].min(from.elapsed().as_secs_f64());
    }
    let [viterbi, sums] = least.map(|seconds| seconds * 1e9 / n as f64);
    println!(
        "order 2, {} states: viterbi {viterbi:.0}  forward-backward {sums:.0}",
        pairs.n_states()
    );
}

fn run<F: Scalar>(name: &str, n: usize, k: usize) {
    let mut rng = Rng::new(1);
    let mut scores =
        |len: usize| (0..len).map(|_| F::from_f64(6.0 * rng.unit() - 3.0)).collect::<Vec<F>>();
    let mut transitions = Transitions::new(Grammar::free(k));
    let (weights, start, end) = (scores(k * k), scores(k), scores(k));
    transitions.load(&weights, &start, &end);
    let unary = scores(n * k);
    let mut s = Scratch::new();
    let mut labels = Vec::new();
    let repeats = (200_000_000 / (n * k * k)).clamp(2, 5000);
    let per_position = |f: &mut dyn FnMut()| {
        let mut least = f64::INFINITY;
        for _ in 0..repeats {
            let from = Instant::now();
            f();
            least = least.min(from.elapsed().as_secs_f64());
        }
        least * 1e9 / n as f64
    };

    let viterbi = per_position(&mut || {
        Chain::new(&transitions, &unary).viterbi(&mut s, &mut labels).unwrap();
    });
    let mut counts = vec![F::ZERO; k * k];
    let mut sums = |transitions: &mut Transitions<F>, s: &mut Scratch<F>, reload: bool| {
        per_position(&mut || {
            if reload {
                transitions.load(&weights, &start, &end);
            } else {
                transitions.prepare_sums();
            }
            Chain::new(transitions, &unary).posterior(s).unwrap().add_transitions(&mut counts);
        })
    };
    let reloaded = sums(&mut transitions, &mut s, true);
    let prepared = sums(&mut transitions, &mut s, false);
    let log_z = per_position(&mut || {
        Chain::new(&transitions, &unary).log_partition(&mut s).unwrap();
    });
    let all = LabelSets::full(n, k);
    let constrained = per_position(&mut || {
        let chain = Chain::new(&transitions, &unary).with_allowed(&all);
        chain.posterior(&mut s).unwrap().add_transitions(&mut counts);
    });
    let extreme: Vec<F> = unary.iter().map(|&u| u * F::from_f64(3000.0)).collect();
    let in_logs = per_position(&mut || {
        let chain = Chain::new(&transitions, &extreme).with_allowed(&all);
        chain.posterior(&mut s).unwrap().add_transitions(&mut counts);
    });
    println!(
        "{name} n={n:6} K={k:3}  viterbi {viterbi:7.0}  forward-backward {reloaded:7.0} (prepared {prepared:7.0}, log Z {log_z:7.0}, sets {constrained:7.0}, log space {in_logs:8.0})"
    );
}
