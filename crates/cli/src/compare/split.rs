//! A share of the rows to measure on.

use anyhow::bail;
use lineal::Dataset;

use crate::random::Random;

/// The rows to train on and those to measure on, both in the order of the file.
pub fn by_share(data: &Dataset, share: f64, seed: u64) -> anyhow::Result<[Dataset; 2]> {
    let n_rows = data.n_rows();
    let n_test = ((n_rows as f64 * share).round() as usize).max(1);
    if n_test >= n_rows {
        bail!("{}: {n_rows} rows are too few to hold out {share} of them", data.source);
    }
    let mut order: Vec<usize> = (0..n_rows).collect();
    let mut random = Random::new(seed);
    for i in (1..n_rows).rev() {
        order.swap(i, random.below(i + 1));
    }
    let (test, train) = order.split_at_mut(n_test);
    test.sort_unstable();
    train.sort_unstable();
    Ok([data.select(train), data.select(test)])
}
