//! The outer product of a sparse row with itself.

use crate::SparseRow;

/// `out[i·n + j] += by · xᵢ xⱼ` for i ≥ j: the lower triangle of a symmetric `n × n` matrix, row-major. With `constant`, an entry of 1 at that column, behind all others, is part of the row.
///
/// # Panics
/// If the row, or the constant, has a column that `out` has not, or the constant is not behind the row's last column.
pub fn add_outer_square(
    x: SparseRow<'_>,
    constant: Option<usize>,
    by: f64,
    n: usize,
    out: &mut [f64],
) {
    let (idx, val) = (x.idx(), x.val());
    let last = idx.last().map_or(0, |&j| j as usize);
    let inside = constant.unwrap_or(last) < n && n.saturating_mul(n) <= out.len();
    let behind = constant.is_none_or(|at| idx.is_empty() || last < at);
    assert!(inside && behind, "a row that does not fit into {n} × {n}");
    // SAFETY: indices rise, so that all are below n, and out has n × n entries.
    unsafe {
        if val.iter().all(|&v| v == 1.0) {
            add(idx, |_| 1.0, by, n, out);
        } else {
            add(idx, |at| f64::from(val[at]), by, n, out);
        }
    }
    if let Some(at) = constant {
        let line = &mut out[at * n..][..=at];
        for (&j, &v) in idx.iter().zip(val) {
            line[j as usize] += by * f64::from(v);
        }
        line[at] += by;
    }
}

/// # Safety
/// All of `idx` are below `n`, and `out` has `n × n` entries.
#[inline(always)]
unsafe fn add(idx: &[u32], value: impl Fn(usize) -> f64, by: f64, n: usize, out: &mut [f64]) {
    for (at, &j) in idx.iter().enumerate() {
        let (line, v) = (j as usize * n, by * value(at));
        for (before, &j2) in idx[..=at].iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { *out.get_unchecked_mut(line + j2 as usize) += v * value(before) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Row;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_what_the_definition_says(
            entries in prop::collection::btree_map(0u32..20, -2.0f32..2.0, 0..15),
            ones: bool,
            constant: bool,
            by in -2.0f64..2.0,
        ) {
            let idx: Vec<u32> = entries.keys().copied().collect();
            let val: Vec<f32> = entries.values().map(|&v| if ones { 1.0 } else { v }).collect();
            let n = 21;
            let start: Vec<f64> = (0..n * n).map(|i| i as f64).collect();
            let mut out = start.clone();
            let Some(Row::Sparse(row)) = Row::sparse(&idx, &val) else { panic!("indices rise") };
            add_outer_square(row, constant.then_some(20), by, n, &mut out);
            let mut x = vec![0.0; n];
            idx.iter().zip(&val).for_each(|(&j, &v)| x[j as usize] = f64::from(v));
            x[20] = f64::from(u8::from(constant));
            for i in 0..n {
                for j in 0..n {
                    let want = if j <= i { start[i * n + j] + by * x[i] * x[j] } else { start[i * n + j] };
                    prop_assert_eq!(out[i * n + j], want);
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "does not fit into 3 × 3")]
    fn a_row_that_is_too_long_is_refused() {
        let Some(Row::Sparse(row)) = Row::sparse(&[0, 3], &[1.0, 1.0]) else {
            panic!("indices rise")
        };
        add_outer_square(row, None, 1.0, 3, &mut [0.0; 9]);
    }
}
