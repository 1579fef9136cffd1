//! `AΠ = QR` with column pivoting, and least squares of least norm.

use crate::kernels;

/// A factorisation `AΠ = QR` with column pivoting, ready to solve least squares.
///
/// ```
/// use lineal_linalg::dense::Qr;
///
/// // Columns (1, 1, 1) and (0, 1, 2): the line through three points.
/// let qr = Qr::new(vec![1.0, 1.0, 1.0, 0.0, 1.0, 2.0], 3, 2);
/// let mut x = [0.0; 2];
/// qr.least_squares(&[1.0, 3.0, 5.0], &mut x);
/// assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 2.0).abs() < 1e-14);
/// ```
#[derive(Clone, Debug)]
pub struct Qr {
    /// R on and above the diagonal, reflections `v` (with `v[k] = 1` understood) below it.
    a: Vec<f64>,
    tau: Vec<f64>,
    /// `order[k]` is the column of A that stands at `k`.
    order: Vec<usize>,
    m: usize,
    n: usize,
    rank: usize,
    /// Of the transposed first `rank` rows of R, where `rank < n`.
    transposed: Option<Box<Qr>>,
}

impl Qr {
    /// Factors the column-major `m × n` matrix `a`; `m` may be less than `n`.
    ///
    /// Its rank is the number of diagonal entries of R above `max(m, n) · ε` times the first.
    ///
    /// # Panics
    /// If `a` does not have `m · n` numbers.
    pub fn new(a: Vec<f64>, m: usize, n: usize) -> Self {
        Self::with_tolerance(a, m, n, m.max(n) as f64 * f64::EPSILON)
    }

    /// [`Qr::new`] with another relative tolerance for the rank.
    ///
    /// # Panics
    /// If `a` does not have `m · n` numbers.
    pub fn with_tolerance(a: Vec<f64>, m: usize, n: usize, tolerance: f64) -> Self {
        let mut qr = Self::factor(a, m, n, tolerance);
        if qr.rank < n {
            let rank = qr.rank;
            let mut rows = vec![0.0; n * rank];
            for (i, row) in rows.chunks_exact_mut(n).enumerate() {
                for j in i..n {
                    row[j] = qr.a[j * m + i];
                }
            }
            qr.transposed = Some(Box::new(Self::factor(rows, n, rank, 0.0)));
        }
        qr
    }

    /// The numerical rank.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Writes the `x` (length `n`) that minimises `‖Ax − b‖`; among several, the one of least norm.
    ///
    /// # Panics
    /// If `b` is not `m` long or `x` not `n`.
    pub fn least_squares(&self, b: &[f64], x: &mut [f64]) {
        assert_eq!((b.len(), x.len()), (self.m, self.n), "the lengths of b and x");
        let mut c = b.to_vec();
        self.apply_q_transposed(&mut c);
        let mut y = vec![0.0; self.n];
        match &self.transposed {
            None => {
                y.copy_from_slice(&c[..self.n]);
                self.solve_r(&mut y);
            }
            // R₁ = TᵀQ₂ᵀ up to a permutation of rows, so y = Q₂T⁻ᵀc has no part outside R₁'s row space.
            Some(rows) => {
                for (y, &at) in y.iter_mut().zip(&rows.order) {
                    *y = c[at];
                }
                rows.solve_r_transposed(&mut y);
                rows.apply_q(&mut y);
            }
        }
        for (&at, &y) in self.order.iter().zip(&y) {
            x[at] = y;
        }
    }

    fn factor(mut a: Vec<f64>, m: usize, n: usize, tolerance: f64) -> Self {
        assert_eq!(a.len(), m * n, "numbers in a {m} × {n} matrix");
        let norm = |v: &[f64]| kernels::dot64(v, v).sqrt();
        let mut order: Vec<usize> = (0..n).collect();
        let mut norms: Vec<f64> = (0..n).map(|j| norm(&a[j * m..(j + 1) * m])).collect();
        // The norm that was last computed, not downdated: what the rounding error is relative to.
        let mut exact_norms = norms.clone();
        let steps = m.min(n);
        let mut tau = vec![0.0; steps];
        let mut rank = 0;
        for k in 0..steps {
            let pivot = (k..n).fold(k, |best, j| if norms[j] > norms[best] { j } else { best });
            if pivot != k {
                let (left, right) = a.split_at_mut(pivot * m);
                left[k * m..(k + 1) * m].swap_with_slice(&mut right[..m]);
                order.swap(k, pivot);
                norms[pivot] = norms[k];
                exact_norms[pivot] = exact_norms[k];
            }
            let (done, rest) = a.split_at_mut((k + 1) * m);
            let v = &mut done[k * m + k..];
            tau[k] = reflection(v);
            let diagonal = std::mem::replace(&mut v[0], 1.0);
            for (at, column) in rest.chunks_exact_mut(m).enumerate() {
                let column = &mut column[k..];
                kernels::axpy(-tau[k] * kernels::dot64(v, column), v, column);
                let j = k + 1 + at;
                if norms[j] > 0.0 {
                    let left = (1.0 - (column[0] / norms[j]).powi(2)).max(0.0);
                    if left * (norms[j] / exact_norms[j]).powi(2) <= f64::EPSILON.sqrt() {
                        norms[j] = norm(&column[1..]);
                        exact_norms[j] = norms[j];
                    } else {
                        norms[j] *= left.sqrt();
                    }
                }
            }
            v[0] = diagonal;
            let first = a[0].abs();
            if rank == k && diagonal.abs() > tolerance * first {
                rank = k + 1;
            }
        }
        Self { a, tau, order, m, n, rank, transposed: None }
    }

    /// `c ← Qᵀc`.
    fn apply_q_transposed(&self, c: &mut [f64]) {
        for k in 0..self.tau.len() {
            self.reflect(k, c);
        }
    }

    /// `c ← Qc`.
    fn apply_q(&self, c: &mut [f64]) {
        for k in (0..self.tau.len()).rev() {
            self.reflect(k, c);
        }
    }

    fn reflect(&self, k: usize, c: &mut [f64]) {
        let v = &self.a[k * self.m + k + 1..(k + 1) * self.m];
        let along = self.tau[k] * (c[k] + kernels::dot64(v, &c[k + 1..]));
        c[k] -= along;
        kernels::axpy(-along, v, &mut c[k + 1..]);
    }

    /// `y ← R⁻¹y`, full rank.
    fn solve_r(&self, y: &mut [f64]) {
        for j in (0..self.n).rev() {
            let column = &self.a[j * self.m..=j * self.m + j];
            y[j] /= column[j];
            let y_j = y[j];
            kernels::axpy(-y_j, &column[..j], &mut y[..j]);
        }
    }

    /// The first `n` of `y ← R⁻ᵀy`, full rank.
    fn solve_r_transposed(&self, y: &mut [f64]) {
        for j in 0..self.n {
            let column = &self.a[j * self.m..=j * self.m + j];
            y[j] = (y[j] - kernels::dot64(&column[..j], &y[..j])) / column[j];
        }
    }
}

/// Makes `v` the reflection `I − τvvᵀ` (with `v[0] = 1` understood) that maps it to `(β, 0, …)`; `v[0]` becomes β.
fn reflection(v: &mut [f64]) -> f64 {
    let (head, tail) = v.split_at_mut(1);
    let below = kernels::dot64(tail, tail);
    if below == 0.0 {
        return 0.0;
    }
    let alpha = head[0];
    // The sign that does not cancel.
    let beta = -(alpha * alpha + below).sqrt().copysign(alpha);
    for v in tail {
        *v /= alpha - beta;
    }
    head[0] = beta;
    (beta - alpha) / beta
}
