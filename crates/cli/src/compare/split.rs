//! A share of the rows to measure on.

use anyhow::bail;
use lineal::{Dataset, FeatureSpec, Features, ReadOptions, Source};

use crate::args::CompareArgs;
use crate::random::Random;
use crate::talk::count;

/// Rows to train on, rows to measure on, and how both became features.
pub struct Split {
    pub train: Dataset,
    pub test: Dataset,
    pub features: Features,
}

/// Holds out a share of the rows, both parts in the order of the file. What is learnt of text is learnt from the rows to train on.
pub fn by_share(
    source: &Source,
    args: &CompareArgs,
    options: &ReadOptions,
    spec: &FeatureSpec,
) -> anyhow::Result<Split> {
    let (data, features) = lineal::read_features(source, options, spec)?;
    let [train, test] = parts(data.n_rows(), "row", &data.source, args)?;
    if features.is_empty() {
        return Ok(Split { train: data.select(&train), test: data.select(&test), features });
    }
    drop(data);
    let (train, features) = lineal::read_features_of(source, options, spec, &train)?;
    let all = features.read(source, options, &train.schema)?;
    Ok(Split { test: all.select(&test), train, features })
}

/// The numbers of rows or examples to train on and to measure on.
pub fn parts(
    n: usize,
    what: &str,
    source: &str,
    args: &CompareArgs,
) -> anyhow::Result<[Vec<usize>; 2]> {
    let share = args.holdout.unwrap_or(0.2);
    let n_test = ((n as f64 * share).round() as usize).max(1);
    if n_test >= n {
        bail!("{source}: {} are too few to hold out {share} of them", count(n, what));
    }
    let mut order: Vec<usize> = (0..n).collect();
    let mut random = Random::new(args.seed);
    for i in (1..n).rev() {
        order.swap(i, random.below(i + 1));
    }
    let mut train = order.split_off(n_test);
    train.sort_unstable();
    order.sort_unstable();
    Ok([train, order])
}
