//! What the oracles of dependency trees cost, in microseconds per sentence: the least of many repetitions.
//!
//!     cargo run --release -p lineal-dependencies --example oracles

use lineal_dependencies::{Arcs, NonProjective, Projective, SecondOrder, SecondOrderProjective};
use lineal_linalg::{Rng, Scalar};
use std::hint::black_box;
use std::time::Instant;

fn main() {
    for n in [10, 25, 50, 100] {
        println!("{n} words");
        run::<f32>("f32, all arcs", &Arcs::full(n, true), n <= 25);
        run::<f32>("f32, 10 heads per word", &candidates(n, 10), true);
        run::<f64>("f64, 10 heads per word", &candidates(n, 10), true);
    }
}

/// Heads near each word, the root, and others at random, as a pruner leaves them.
fn candidates(n: usize, n_heads: usize) -> Arcs {
    let mut rng = Rng::new(2);
    let mut arcs = Arcs::default();
    arcs.reset(n, true);
    for modifier in 1..=n as u32 {
        let mut heads: Vec<u32> = (0..=n as u32).filter(|&head| head != modifier).collect();
        let mut keys: Vec<f64> = (0..=n as u32)
            .map(|head| if head == 0 { 0.0 } else { head.abs_diff(modifier) as f64 * rng.unit() })
            .collect();
        keys[modifier as usize - 1] = 0.0;
        heads.sort_by(|&a, &b| keys[a as usize].total_cmp(&keys[b as usize]));
        heads.truncate(n_heads);
        heads.sort_unstable();
        heads.iter().for_each(|&head| arcs.push(head, modifier));
    }
    arcs
}

/// Microseconds.
fn least<T>(mut f: impl FnMut() -> T) -> f64 {
    let mut least = f64::INFINITY;
    let from = Instant::now();
    while from.elapsed().as_secs_f64() < 0.3 {
        let from = Instant::now();
        black_box(f());
        least = least.min(from.elapsed().as_secs_f64());
    }
    least * 1e6
}

fn run<F: Scalar>(name: &str, arcs: &Arcs, second_order: bool) {
    let mut rng = Rng::new(1);
    let mut parts = SecondOrder::default();
    parts.build(arcs);
    let theta: Vec<F> = (0..parts.len()).map(|_| F::from_f64(6.0 * rng.unit() - 3.0)).collect();
    let (mut heads, mut mu) = (Vec::new(), vec![F::ZERO; parts.len()]);

    let of_arcs = &theta[..arcs.len()];
    let mut oracle = Projective::default();
    let max = least(|| oracle.max(arcs, of_arcs, &mut heads));
    let log_z = least(|| oracle.log_partition(arcs, of_arcs));
    let sums = least(|| oracle.expect(arcs, of_arcs, &mut mu[..arcs.len()]));
    let k_best = least(|| oracle.k_best(arcs, of_arcs, 10));
    print_line(name, "projective", [max, log_z, sums, k_best]);

    let mut oracle = NonProjective::default();
    let max = least(|| oracle.max(arcs, of_arcs, &mut heads));
    let log_z = least(|| oracle.log_partition(arcs, of_arcs));
    let sums = least(|| oracle.expect(arcs, of_arcs, &mut mu[..arcs.len()]));
    let k_best = least(|| oracle.k_best(arcs, of_arcs, 10));
    print_line(name, "non-projective", [max, log_z, sums, k_best]);

    if second_order {
        let mut oracle = SecondOrderProjective::default();
        let build = least(|| parts.build(arcs));
        let max = least(|| oracle.max(&parts, &theta, &mut heads));
        let log_z = least(|| oracle.log_partition(&parts, &theta));
        let sums = least(|| oracle.expect(&parts, &theta, &mut mu));
        let k_best = least(|| oracle.k_best(&parts, &theta, 10));
        print_line(name, "second order", [max, log_z, sums, k_best]);
        println!("  {:>40} {} parts, numbered in {build:.1}", "", parts.len());
    }
}

fn print_line(name: &str, oracle: &str, [max, log_z, sums, k_best]: [f64; 4]) {
    println!(
        "  {name:<24} {oracle:<15} max {max:7.1}  log Z {log_z:8.1}  marginals {sums:8.1}  10 best {k_best:8.1}"
    );
}
