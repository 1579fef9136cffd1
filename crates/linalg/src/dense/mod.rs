//! Several dense rows at once ([`block_scores`], [`block_add`]), outer products of sparse rows ([`add_outer_square`]), and small dense factorisations in f64: `A = LLᵀ` and `AΠ = QR`, and the Gram matrix that leads to the first.
//!
//! Layouts, chosen so that every inner loop is contiguous:
//!
//! - [`cholesky`], [`cholesky_solve`], [`gram`]: `n × n`, **row-major**, only the lower triangle (with the
//!   diagonal) is read and written. What the strict upper triangle holds stays as it was.
//! - [`Qr`]: `m × n`, **column-major** (column `j` is `a[j*m..(j+1)*m]`), because a reflection acts on columns.
//!
//! Cholesky is the right-looking blocked one (Golub & Van Loan, *Matrix Computations*, 4th ed., algorithm 4.2.2
//! with §4.2.6's blocks): factor 64 columns, then take their outer product off the rest. Nearly all of its n³/3
//! multiply–adds are in that update, which runs over tiles held in registers. Every sum has a fixed order,
//! the same with and without AVX2, and nothing is fused: the bits do not depend on the machine.
//!
//! QR is Householder's with column pivoting (Golub & Van Loan, algorithm 5.4.1), with norms downdated and
//! recomputed as in LAPACK's `dlaqp2`. For a rank-deficient matrix a second factorisation, of the transposed leading
//! rows of R, gives the solution of least norm (the complete orthogonal decomposition, §5.5.7).

mod block;
mod cholesky;
mod outer;
mod qr;

pub use block::{BLOCK, block_add, block_scores};
pub use cholesky::{
    GramBlock, NotPositiveDefinite, cholesky, cholesky_solve, cholesky_while, condition_estimate,
    gram,
};
pub use outer::add_outer_square;
pub use qr::Qr;

#[cfg(test)]
mod tests {
    use super::cholesky::{TILE, tile_halves, tile_product};
    use super::*;
    use crate::kernels;
    use proptest::prelude::*;

    /// Entries in [−1, 1), the same every time.
    fn noise(len: usize, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        };
        (0..len).map(|_| next()).collect()
    }

    /// A + Aᵀ over the lower triangle's mirror.
    fn symmetric(lower: &[f64], n: usize, i: usize, j: usize) -> f64 {
        lower[i.max(j) * n + i.min(j)]
    }

    fn gram_by_definition(x: &[f64], n: usize, scale: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; n * n];
        for (x, s) in x.chunks_exact(n).zip(scale) {
            for i in 0..n {
                for j in 0..=i {
                    out[i * n + j] += s * x[i] * (s * x[j]);
                }
            }
        }
        out
    }

    fn positive_definite(n: usize, seed: u64) -> Vec<f64> {
        let mut a = vec![0.0; n * n];
        gram(&noise((n + 2) * n, seed), n, None, &mut a);
        for i in 0..n {
            a[i * n + i] += 0.1;
        }
        a
    }

    /// 1 / (i + j + 1): the least squares problem that normal equations cannot do.
    fn hilbert(m: usize, n: usize) -> Vec<f64> {
        (0..n).flat_map(|j| (0..m).map(move |i| 1.0 / (i + j + 1) as f64)).collect()
    }

    fn times(a: &[f64], m: usize, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; m];
        for (column, &x) in a.chunks_exact(m).zip(x) {
            kernels::axpy(x, column, &mut out);
        }
        out
    }

    /// ‖Aᵀ(Ax − b)‖∞.
    fn normal_residual(a: &[f64], m: usize, x: &[f64], b: &[f64]) -> f64 {
        let mut r = times(a, m, x);
        kernels::axpy(-1.0, b, &mut r);
        a.chunks_exact(m).map(|column| kernels::dot64(column, &r).abs()).fold(0.0, f64::max)
    }

    #[test]
    fn what_is_stopped_ends_between_rows() {
        let n = 200;
        let stopping_after = |n_asked: u32| {
            let left = std::cell::Cell::new(n_asked);
            move || {
                left.set(left.get().saturating_sub(1));
                left.get() > 0
            }
        };
        let a = positive_definite(n, 5);
        let mut l = a.clone();
        cholesky_while(&mut l, n, &stopping_after(10)).unwrap();
        // The first columns are factored, and their product is taken off the first rows alone.
        assert_ne!(l[..n], a[..n]);
        assert_eq!(l[(n - 1) * n + 100..], a[(n - 1) * n + 100..]);
    }

    #[test]
    fn parts_of_a_gram_matrix_are_the_whole() {
        let (n, rows) = (37, 50);
        let x = noise(n * rows, 6);
        let mut whole = vec![0.0; n * n];
        gram(&x, n, None, &mut whole);
        let mut block = GramBlock::new(n);
        block.fill(&x, None);
        let mut parts = vec![0.0; n * n];
        for (at, part) in parts.chunks_mut(2 * GramBlock::STEP * n).enumerate() {
            block.add_to(2 * GramBlock::STEP * at, part);
        }
        assert_eq!(parts, whole);
    }

    proptest! {
        #[test]
        fn gram_is_the_sum_of_outer_products(n in 1usize..30, rows in 0usize..150, seed: u64) {
            let (x, scale) = (noise(n * rows, seed), noise(rows, seed ^ 1));
            let mut out = vec![0.0; n * n];
            gram(&x, n, Some(&scale), &mut out);
            for (got, want) in out.iter().zip(gram_by_definition(&x, n, &scale)) {
                prop_assert!((got - want).abs() < 1e-12);
            }
        }

        #[test]
        fn cholesky_reproduces_and_solves(n in 1usize..150, seed: u64) {
            let a = positive_definite(n, seed);
            let mut l = a.clone();
            cholesky(&mut l, n).unwrap();
            for i in 0..n {
                for j in 0..=i {
                    let product = kernels::dot64(&l[i * n..=i * n + j], &l[j * n..=j * n + j]);
                    prop_assert!((product - a[i * n + j]).abs() < 1e-12 * n as f64);
                }
            }
            let x = noise(n, seed ^ 2);
            let mut b: Vec<f64> = (0..n)
                .map(|i| (0..n).map(|j| symmetric(&a, n, i, j) * x[j]).sum())
                .collect();
            cholesky_solve(&l, n, &mut b);
            for (got, want) in b.iter().zip(&x) {
                prop_assert!((got - want).abs() < 1e-8);
            }
        }

        #[test]
        fn residual_is_orthogonal_to_the_range(m in 1usize..40, n in 1usize..20, rank in 1usize..20, seed: u64) {
            // A = BC of rank at most `rank`, over- or underdetermined.
            let (b, c) = (noise(m * rank, seed), noise(rank * n, seed ^ 3));
            let a: Vec<f64> = c.chunks_exact(rank).flat_map(|c| times(&b, m, c)).collect();
            let rhs = noise(m, seed ^ 4);
            let qr = Qr::with_tolerance(a.clone(), m, n, 1e-10);
            prop_assert!(qr.rank() <= rank.min(m).min(n));
            let mut x = vec![0.0; n];
            qr.least_squares(&rhs, &mut x);
            prop_assert!(normal_residual(&a, m, &x, &rhs) < 1e-7);
            // Least norm: x is in the row space, so it is a fixed point of x ↦ least_squares(Ax).
            let mut again = vec![0.0; n];
            qr.least_squares(&times(&a, m, &x), &mut again);
            for (x, again) in x.iter().zip(&again) {
                prop_assert!((x - again).abs() <= 1e-6 * (1.0 + x.abs()));
            }
        }
    }

    #[test]
    fn both_builds_give_the_same_bits() {
        let (rows, cols) = (noise(64 * TILE, 1), noise(64 * TILE, 2));
        let (rows, cols) = (rows.as_chunks().0, cols.as_chunks().0);
        let mut sums = [[0.0; TILE]; TILE];
        tile_halves(rows, cols, &mut sums);
        assert_eq!(tile_product(rows, cols), sums);
    }

    #[test]
    fn upper_triangle_is_not_touched() {
        let n = 70;
        let mut a = positive_definite(n, 7);
        for i in 0..n {
            a[i * n + i + 1..(i + 1) * n].fill(f64::NAN);
        }
        cholesky(&mut a, n).unwrap();
        for i in 0..n {
            assert!(a[i * n..=i * n + i].iter().all(|v| v.is_finite()));
            assert!(a[i * n + i + 1..(i + 1) * n].iter().all(|v| v.is_nan()));
        }
    }

    #[test]
    fn singular_and_indefinite_matrices_are_refused() {
        assert_eq!(cholesky(&mut [1.0, 0.0, 2.0, 1.0], 2).unwrap_err().row, 1);
        assert!(cholesky(&mut [0.0], 1).is_err());
        assert!(cholesky(&mut [f64::NAN], 1).is_err());
        // Rank 80 of 100: the bad pivot is in the second block, where rounding of 80 rows may hide the first one.
        let n = 100;
        let mut a = vec![0.0; n * n];
        gram(&noise(80 * n, 5), n, None, &mut a);
        assert!((80..=82).contains(&cholesky(&mut a, n).unwrap_err().row));
        assert!(cholesky(&mut [], 0).is_ok());
    }

    #[test]
    fn condition_estimate_is_exact_on_diagonals() {
        let mut a = [4.0, 0.0, 0.0, 1e-6];
        cholesky(&mut a, 2).unwrap();
        assert!((condition_estimate(&a, 2) / 4e6 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn qr_solves_hilbert_where_normal_equations_fail() {
        let (m, n) = (8, 8);
        let a = hilbert(m, n);
        let ones = vec![1.0; n];
        let b = times(&a, m, &ones);
        let error = |x: &[f64]| x.iter().map(|x| (x - 1.0).abs()).fold(0.0, f64::max);
        let mut x = vec![0.0; n];
        let qr = Qr::new(a.clone(), m, n);
        qr.least_squares(&b, &mut x);
        assert_eq!(qr.rank(), 8);
        assert!(error(&x) < 1e-4, "{x:?}");

        // H is symmetric: its rows are its columns. κ(HᵀH) ≈ 2e20.
        let mut normal = vec![0.0; n * n];
        gram(&a, n, None, &mut normal);
        let mut y: Vec<f64> = a.chunks_exact(m).map(|column| kernels::dot64(column, &b)).collect();
        let failed = match cholesky(&mut normal, n) {
            Err(_) => true,
            Ok(()) => {
                cholesky_solve(&normal, n, &mut y);
                error(&y) > 1e-2
            }
        };
        assert!(failed, "{y:?}");
    }

    #[test]
    fn twin_columns_share_the_weight() {
        let qr = Qr::new(vec![1.0, 2.0, 1.0, 2.0, 0.0, 0.0], 2, 3);
        assert_eq!(qr.rank(), 1);
        let mut x = [9.0; 3];
        qr.least_squares(&[2.0, 4.0], &mut x);
        assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14 && x[2].abs() < 1e-14);
        Qr::new(vec![0.0; 6], 3, 2).least_squares(&[1.0; 3], &mut x[..2]);
        assert_eq!(x[..2], [0.0, 0.0]);
    }
}
