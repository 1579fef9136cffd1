//! Functions with a known minimum. None of them has heard of data.
#![allow(dead_code, missing_docs, reason = "each test file uses some of them")]

use lineal_linalg::{Scalar, kernels};
use lineal_solver::{CurvedObjective, L1, Objective};

/// Entries in [−1, 1), the same every time.
pub fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// ½(w − best)ᵀA(w − best) + least, where A = PDP has eigenvalues D from 1 down to 1/condition and P reflects.
pub struct Quadratic {
    pub best: Vec<f64>,
    pub least: f64,
    /// Says value − least when asked for its gap.
    pub knows_gap: bool,
    pub gaps_asked: Vec<f64>,
    eigenvalues: Vec<f64>,
    mirror: Vec<f64>,
}

impl Quadratic {
    pub fn new(n: usize, condition: f64, seed: u64) -> Self {
        let exponent = |j: usize| -(j as f64) / (n.max(2) - 1) as f64;
        let eigenvalues = (0..n).map(|j| condition.powf(exponent(j))).collect();
        let (best, mirror) = (noise(n, seed), noise(n, seed ^ 77));
        Self { best, least: 0.0, knows_gap: false, gaps_asked: vec![], eigenvalues, mirror }
    }

    fn reflect(&self, v: &mut [f64]) {
        let u = &self.mirror;
        kernels::axpy(-2.0 * kernels::dot64(u, v) / kernels::dot64(u, u), u, v);
    }

    fn multiply(&self, mut v: Vec<f64>) -> Vec<f64> {
        self.reflect(&mut v);
        v.iter_mut().zip(&self.eigenvalues).for_each(|(v, e)| *v *= e);
        self.reflect(&mut v);
        v
    }
}

impl<F: Scalar> Objective<F> for Quadratic {
    fn dim(&self) -> usize {
        self.best.len()
    }

    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let off: Vec<f64> = w.iter().zip(&self.best).map(|(w, best)| w.to_f64() - best).collect();
        let product = self.multiply(off.clone());
        for (grad, &product) in grad.iter_mut().zip(&product) {
            *grad = F::from_f64(product);
        }
        0.5 * kernels::dot64(&off, &product) + self.least
    }

    fn gap(&mut self, w: &[F], _grad: &[F], enough: f64) -> Option<f64> {
        self.gaps_asked.push(enough);
        let mut grad = vec![F::ZERO; w.len()];
        let gap = self.value_grad(w, &mut grad) - self.least;
        self.knows_gap.then_some(if gap > enough { f64::INFINITY } else { gap })
    }
}

impl<F: Scalar> CurvedObjective<F> for Quadratic {
    fn curve_at(&mut self, _w: &[F]) {}

    fn hess_vec(&mut self, v: &[F], out: &mut [F]) {
        let product = self.multiply(v.iter().map(|v| v.to_f64()).collect());
        for (out, product) in out.iter_mut().zip(product) {
            *out = F::from_f64(product);
        }
    }
}

/// Σ 100 (wᵢ₊₁ − wᵢ²)² + (1 − wᵢ)², least at all ones.
pub struct Rosenbrock {
    pub n: usize,
    at: Vec<f64>,
}

impl Rosenbrock {
    pub fn new(n: usize) -> Self {
        Self { n, at: vec![0.0; n] }
    }
}

impl<F: Scalar> Objective<F> for Rosenbrock {
    fn dim(&self) -> usize {
        self.n
    }

    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        grad.fill(F::ZERO);
        let mut value = 0.0;
        for i in 0..self.n - 1 {
            let (a, b) = (w[i].to_f64(), w[i + 1].to_f64());
            let r = b - a * a;
            value += 100.0 * r * r + (1.0 - a) * (1.0 - a);
            grad[i] += F::from_f64(-400.0 * a * r - 2.0 * (1.0 - a));
            grad[i + 1] += F::from_f64(200.0 * r);
        }
        value
    }
}

impl<F: Scalar> CurvedObjective<F> for Rosenbrock {
    fn curve_at(&mut self, w: &[F]) {
        self.at = w.iter().map(|w| w.to_f64()).collect();
    }

    fn hess_vec(&mut self, v: &[F], out: &mut [F]) {
        out.fill(F::ZERO);
        for i in 0..self.n - 1 {
            let (a, b) = (self.at[i], self.at[i + 1]);
            let (v_a, v_b) = (v[i].to_f64(), v[i + 1].to_f64());
            out[i] += F::from_f64((1200.0 * a * a - 400.0 * b + 2.0) * v_a - 400.0 * a * v_b);
            out[i + 1] += F::from_f64(200.0 * v_b - 400.0 * a * v_a);
        }
    }
}

/// ½(w₁² − w₂)² + ½(w₁ − 1)², least at (1, 1): the example of the documentation.
#[derive(Default)]
pub struct Valley {
    at: [f64; 2],
}

impl<F: Scalar> Objective<F> for Valley {
    fn dim(&self) -> usize {
        2
    }

    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let (a, b) = (w[0].to_f64(), w[1].to_f64());
        let (r, s) = (a * a - b, a - 1.0);
        grad[0] = F::from_f64(2.0 * a * r + s);
        grad[1] = F::from_f64(-r);
        0.5 * r * r + 0.5 * s * s
    }
}

impl<F: Scalar> CurvedObjective<F> for Valley {
    fn curve_at(&mut self, w: &[F]) {
        self.at = [w[0].to_f64(), w[1].to_f64()];
    }

    fn hess_vec(&mut self, v: &[F], out: &mut [F]) {
        let ([a, b], v) = (self.at, [v[0].to_f64(), v[1].to_f64()]);
        out[0] = F::from_f64((6.0 * a * a - 2.0 * b + 1.0) * v[0] - 2.0 * a * v[1]);
        out[1] = F::from_f64(-2.0 * a * v[0] + v[1]);
    }
}

/// Σᵢ φ(⟨xᵢ, w⟩ − yᵢ) + ½ l2 ‖w‖², rows `x` one after the other: squares, or squares of the positive part only, which
/// have a gradient but no Hessian at the kink.
pub struct Fit {
    pub x: Vec<f64>,
    pub y: Vec<f64>,
    pub n: usize,
    pub l1: L1,
    pub l2: f64,
    pub one_sided: bool,
    active: Vec<f64>,
}

impl Fit {
    pub fn new(n_rows: usize, n: usize, seed: u64) -> Self {
        let (x, y) = (noise(n_rows * n, seed), noise(n_rows, seed ^ 5));
        let active = vec![1.0; n_rows];
        Self { x, y, n, l1: L1::default(), l2: 0.0, one_sided: false, active }
    }

    /// The whole objective, l1 included.
    pub fn value(&mut self, w: &[f64]) -> f64 {
        let mut grad = vec![0.0; self.n];
        let abs: f64 = w[..self.l1.until].iter().map(|w| w.abs()).sum();
        self.value_grad(w, &mut grad) + self.l1.l1 * abs
    }
}

impl<F: Scalar> Objective<F> for Fit {
    fn dim(&self) -> usize {
        self.n
    }

    fn l1(&self) -> L1 {
        self.l1
    }

    fn value_grad(&mut self, w: &[F], grad: &mut [F]) -> f64 {
        let w: Vec<f64> = w.iter().map(|w| w.to_f64()).collect();
        let mut sum: Vec<f64> = w.iter().map(|w| self.l2 * w).collect();
        let mut value = 0.5 * self.l2 * kernels::dot64(&w, &w);
        for (x, y) in self.x.chunks_exact(self.n).zip(&self.y) {
            let r = kernels::dot64(x, &w) - y;
            let r = if self.one_sided { r.max(0.0) } else { r };
            value += 0.5 * r * r;
            kernels::axpy(r, x, &mut sum);
        }
        for (grad, sum) in grad.iter_mut().zip(sum) {
            *grad = F::from_f64(sum);
        }
        value
    }
}

impl<F: Scalar> CurvedObjective<F> for Fit {
    fn curve_at(&mut self, w: &[F]) {
        let w: Vec<f64> = w.iter().map(|w| w.to_f64()).collect();
        for ((active, x), y) in self.active.iter_mut().zip(self.x.chunks_exact(self.n)).zip(&self.y)
        {
            let positive = kernels::dot64(x, &w) > *y;
            *active = if positive || !self.one_sided { 1.0 } else { 0.0 };
        }
    }

    fn hess_vec(&mut self, v: &[F], out: &mut [F]) {
        let v: Vec<f64> = v.iter().map(|v| v.to_f64()).collect();
        let mut sum: Vec<f64> = v.iter().map(|v| self.l2 * v).collect();
        for (x, active) in self.x.chunks_exact(self.n).zip(&self.active) {
            kernels::axpy(active * kernels::dot64(x, &v), x, &mut sum);
        }
        for (out, sum) in out.iter_mut().zip(sum) {
            *out = F::from_f64(sum);
        }
    }
}
