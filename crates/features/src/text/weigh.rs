//! From counts to values: dampening, idf, norm.

use super::spec::{Norm, Weights};
use std::sync::LazyLock;

/// What turns counts into values.
pub(crate) struct Weigher<'a> {
    pub(crate) weights: Weights,
    pub(crate) norm: Norm,
    /// One per column, or empty for none.
    pub(crate) idf: &'a [f32],
    /// The block of each column, for [`Norm::L2PerBlock`]; else empty.
    pub(crate) block_of: &'a [u8],
    pub(crate) n_blocks: usize,
}

/// scikit-learn's smooth idf of a column that `df` of `n_docs` documents have.
pub(crate) fn smooth_idf(df: u32, n_docs: usize) -> f32 {
    (((1.0 + n_docs as f64) / (1.0 + f64::from(df))).ln() + 1.0) as f32
}

/// 1 + ln of small counts, which most are.
static SUBLINEAR_TF: LazyLock<[f64; 64]> =
    LazyLock::new(|| std::array::from_fn(|n| sublinear_tf(n as u32)));

fn sublinear_tf(count: u32) -> f64 {
    f64::from(count).ln() + 1.0
}

/// Σ v² in four sums, so that one addition need not wait for the last.
fn norm_sq(values: &[f32]) -> f64 {
    let mut sums = [0.0f64; 4];
    let (fours, rest) = values.as_chunks::<4>();
    for four in fours {
        for (sum, &v) in sums.iter_mut().zip(four) {
            *sum += f64::from(v) * f64::from(v);
        }
    }
    for (sum, &v) in sums.iter_mut().zip(rest) {
        *sum += f64::from(v) * f64::from(v);
    }
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

impl Weigher<'_> {
    /// Whether the value of a count, before idf, is the count.
    pub(crate) fn is_plain(&self) -> bool {
        matches!(self.weights, Weights::Counts | Weights::TfIdf { sublinear: false })
    }

    /// The value of a count, before idf.
    #[inline]
    pub(crate) fn of_count(&self, count: u32) -> f64 {
        match self.weights {
            Weights::Counts | Weights::TfIdf { sublinear: false } => f64::from(count),
            Weights::Binary => 1.0,
            Weights::Sublinear | Weights::TfIdf { sublinear: true } => {
                SUBLINEAR_TF.get(count as usize).copied().unwrap_or_else(|| sublinear_tf(count))
            }
        }
    }

    /// Fills `val` for sorted entries, each `column << 32 | count`.
    pub(crate) fn fill(&self, entries: &[u64], idx: &mut [u32], val: &mut [f32]) {
        for ((&entry, idx), val) in entries.iter().zip(&mut *idx).zip(&mut *val) {
            *idx = (entry >> 32) as u32;
            *val = self.of_count(entry as u32) as f32;
        }
        self.finish(idx, val);
    }

    /// Multiplies by idf, then scales the row. Sums are in order of columns, in f64.
    pub(crate) fn finish(&self, idx: &[u32], val: &mut [f32]) {
        if !self.idf.is_empty() {
            for (&j, v) in idx.iter().zip(&mut *val) {
                *v *= self.idf[j as usize];
            }
        }
        match self.norm {
            Norm::None => {}
            Norm::L2 => {
                let norm_sq = norm_sq(val);
                if norm_sq > 0.0 {
                    let scale = 1.0 / norm_sq.sqrt();
                    val.iter_mut().for_each(|v| *v = (f64::from(*v) * scale) as f32);
                }
            }
            Norm::L2PerBlock => self.scale_blocks(idx, val),
        }
    }

    fn scale_blocks(&self, idx: &[u32], val: &mut [f32]) {
        let block = |j: u32| self.block_of.get(j as usize).map_or(0, |&b| b as usize);
        let mut scales = vec![0.0f64; self.n_blocks.max(1)];
        for (&j, &v) in idx.iter().zip(&*val) {
            scales[block(j)] += f64::from(v) * f64::from(v);
        }
        for scale in &mut scales {
            *scale = if *scale > 0.0 { 1.0 / scale.sqrt() } else { 0.0 };
        }
        for (&j, v) in idx.iter().zip(val) {
            *v = (f64::from(*v) * scales[block(j)]) as f32;
        }
    }
}
