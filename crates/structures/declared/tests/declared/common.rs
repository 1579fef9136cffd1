//! What several tests need.

use lineal_declared::inference::{Domains, Program};
use lineal_linalg::Rng;

/// A number from 0 to n − 1.
pub fn below(rng: &mut Rng, n: usize) -> usize {
    (rng.next_u64() % n as u64) as usize
}

/// All legal outputs within the domains with their scores, best first.
pub fn enumerate(program: &Program, theta: &[f64], domains: &Domains) -> Vec<(Vec<u32>, f64)> {
    let n = program.n_variables();
    let total: usize = (0..n).map(|v| program.n_labels(v)).product();
    let mut all = Vec::new();
    for mut number in 0..total {
        let labels: Vec<u32> = (0..n)
            .map(|v| {
                let label = number % program.n_labels(v);
                number /= program.n_labels(v);
                label as u32
            })
            .collect();
        let allowed = (0..n).all(|v| domains.permits(program, v, labels[v] as usize));
        if allowed && program.is_legal(&labels) {
            let score = program.score(theta, &labels);
            all.push((labels, score));
        }
    }
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    all
}
