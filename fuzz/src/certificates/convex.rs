//! A convex problem written out in full, and a minimiser of its own.
//!
//! ```text
//! P(w) = Σ weight · loss(terms) + (l2/2) Σ wⱼ² + l1 Σ |wⱼ|        over the penalised weights
//! ```
//!
//! A term has a list of outputs, each with an affine score ⟨d, w⟩ + c relative to the gold one, whose score is 0: a maximum, a log-sum of exponentials, a squared maximum. Whatever the toolkit
//! trains becomes such a list by enumeration. Nothing here uses the toolkit's losses, solvers or kernels.
//!
//! **Values** are sums of products without error (two-product, two-sum; Ogita, Rump, Oishi 2005), so that a value is known to a few units in the last place.
//!
//! **The minimiser** replaces a maximum by μ·log Σ exp(·/μ) and follows the minimum by Newton's method while μ falls from the size of the problem to 10⁻¹² of it, in variables scaled to features of
//! size 1. Constraints are logarithmic barriers with the same μ. Every point on the way is a candidate: what it finds need not be the optimum to refute a bound.

/// What becomes of a term's scores.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// The largest.
    Max,
    /// log Σ exp.
    LogSum,
    /// The square of the largest.
    SquaredMax,
    /// ½s² of the one score.
    Squared,
    /// Huber's loss of the one score.
    Huber(f64),
    /// 0 if all but the gold score are at most 0, else infinite.
    Constraint,
}

/// A loss of affine scores.
#[derive(Clone, Debug)]
pub struct Term {
    /// Its factor.
    pub weight: f64,
    /// What becomes of the scores.
    pub kind: Kind,
    /// d and c of each output but the gold one (of `Squared` and `Huber`, of the residual).
    pub outputs: Vec<(Vec<f64>, f64)>,
}

/// A problem.
#[derive(Clone, Debug, Default)]
pub struct Convex {
    /// Number of weights.
    pub dim: usize,
    /// Whether a weight is penalised.
    pub penalised: Vec<bool>,
    /// The factor of ½‖w‖².
    pub l2: f64,
    /// The factor of ‖w‖₁.
    pub l1: f64,
    /// Weights that must be ≥ 0.
    pub nonnegative: Vec<usize>,
    /// Losses.
    pub terms: Vec<Term>,
}

/// a + b and what it lost.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let s = a + b;
    let t = s - a;
    (s, (a - (s - t)) + (b - t))
}

/// A sum in twice the precision.
#[derive(Clone, Copy, Default)]
struct Sum(f64, f64);

impl Sum {
    fn add(&mut self, v: f64) {
        let (s, e) = two_sum(self.0, v);
        *self = Self(s, self.1 + e);
    }

    fn add_product(&mut self, a: f64, b: f64) {
        let p = a * b;
        self.add(p);
        self.1 += a.mul_add(b, -p);
    }

    fn get(self) -> f64 {
        self.0 + self.1
    }
}

fn dot(a: &[f64], b: &[f64], c: f64) -> f64 {
    let mut sum = Sum(c, 0.0);
    a.iter().zip(b).for_each(|(&a, &b)| sum.add_product(a, b));
    sum.get()
}

impl Convex {
    /// What the losses at `w` are made of: the absolute values of all that is added up. In f64 they are known to a part of this.
    pub fn size(&self, w: &[f64]) -> f64 {
        let of_term = |term: &Term| {
            let of_output = |(d, c): &(Vec<f64>, f64)| {
                let score = dot(d, w, *c).abs();
                let parts: f64 = d.iter().zip(w).map(|(d, w)| (d * w).abs()).sum();
                (parts + c.abs()) * (1.0 + score)
            };
            let one = if term.kind == Kind::LogSum { 1.0 } else { 0.0 };
            term.weight * (one + term.outputs.iter().map(of_output).sum::<f64>())
        };
        self.terms.iter().map(of_term).sum()
    }

    /// P(w), to a few units in the last place; infinite where a constraint does not hold.
    pub fn value(&self, w: &[f64]) -> f64 {
        let mut total = Sum::default();
        for term in &self.terms {
            let scores = term.outputs.iter().map(|(d, c)| dot(d, w, *c));
            let loss = match term.kind {
                Kind::Max => scores.fold(0.0, f64::max),
                Kind::SquaredMax => scores.fold(0.0, f64::max).powi(2),
                Kind::LogSum => {
                    let scores: Vec<f64> = scores.chain([0.0]).collect();
                    let top = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                    // All but the largest: log1p keeps what is small.
                    let first = scores.iter().position(|&s| s == top).unwrap_or(0);
                    let rest = scores.iter().enumerate().filter(|&(r, _)| r != first);
                    top + rest.map(|(_, s)| (s - top).exp()).sum::<f64>().ln_1p()
                }
                Kind::Squared => scores.map(|s| 0.5 * s * s).sum(),
                Kind::Huber(delta) => scores
                    .map(|s| {
                        let g = s.clamp(-delta, delta);
                        g * (s - 0.5 * g)
                    })
                    .sum(),
                Kind::Constraint => {
                    if scores.fold(f64::NEG_INFINITY, f64::max) <= 0.0 {
                        0.0
                    } else {
                        f64::INFINITY
                    }
                }
            };
            total.add_product(term.weight, loss);
        }
        for (w, _) in w.iter().zip(&self.penalised).filter(|(_, p)| **p) {
            total.add_product(0.5 * self.l2 * w, *w);
            total.add_product(self.l1, w.abs());
        }
        match self.nonnegative.iter().all(|&j| w[j] >= 0.0) {
            true => total.get(),
            false => f64::INFINITY,
        }
    }

    /// How large the features of each weight are.
    fn sizes(&self) -> Vec<f64> {
        let mut sizes = vec![0.0f64; self.dim];
        for (d, _) in self.terms.iter().filter(|t| t.weight > 0.0).flat_map(|t| &t.outputs) {
            sizes.iter_mut().zip(d).for_each(|(size, d)| *size = size.max(d.abs()));
        }
        sizes.into_iter().map(|s| if s > 0.0 { s } else { 1.0 }).collect()
    }

    /// The lowest value found from each of the starts, and where.
    pub fn minimise(&self, starts: &[Vec<f64>]) -> (f64, Vec<f64>) {
        let mut best = (f64::INFINITY, vec![0.0; self.dim]);
        let sizes = self.sizes();
        for start in starts {
            let mut search = Search { problem: self, sizes: &sizes, best: &mut best };
            search.follow(start);
        }
        best
    }
}

struct Search<'a> {
    problem: &'a Convex,
    sizes: &'a [f64],
    best: &'a mut (f64, Vec<f64>),
}

impl Search<'_> {
    /// Takes a point as a candidate, moved to where constraints hold if it is near.
    fn offer(&mut self, u: &[f64]) {
        let mut w: Vec<f64> = u.iter().zip(self.sizes).map(|(u, s)| u / s).collect();
        self.problem.nonnegative.iter().for_each(|&j| w[j] = w[j].max(0.0));
        if let Some(ratio) = self.margin_ratio(&w) {
            // Margins grow with the weights: divided by the smallest they all hold.
            w.iter_mut().for_each(|w| *w /= ratio * (1.0 - 1e-15));
        }
        let value = self.problem.value(&w);
        if value < self.best.0 {
            *self.best = (value, w);
        }
    }

    /// The smallest −⟨d, w⟩ / c over constraints, where there are any and it is positive.
    fn margin_ratio(&self, w: &[f64]) -> Option<f64> {
        let constraints = self.problem.terms.iter().filter(|t| t.kind == Kind::Constraint);
        let ratios = constraints.flat_map(|t| &t.outputs).map(|(d, c)| -dot(d, w, 0.0) / c);
        let smallest = ratios.fold(f64::INFINITY, f64::min);
        (smallest > 0.0 && smallest.is_finite()).then_some(smallest)
    }

    fn follow(&mut self, start: &[f64]) {
        let mut u: Vec<f64> = start.iter().zip(self.sizes).map(|(w, s)| w * s).collect();
        if let Some(ratio) = self.margin_ratio(start) {
            u.iter_mut().for_each(|u| *u *= 1.1 / ratio);
        }
        self.problem.nonnegative.iter().for_each(|&j| u[j] = u[j].max(1e-3));
        self.offer(&u);
        let scale = self.problem.value(start).min(self.best.0).clamp(1e-300, 1e300);
        let mut mu = 0.1 * scale;
        while mu > 1e-12 * scale {
            self.newton(&mut u, mu);
            self.offer(&u);
            mu *= 0.15;
        }
    }

    fn newton(&mut self, u: &mut Vec<f64>, mu: f64) {
        let n = u.len();
        let (mut grad, mut hessian) = (vec![0.0; n], vec![0.0; n * n]);
        for _ in 0..12 {
            let value = self.smooth(u, mu, Some((&mut grad, &mut hessian)));
            let Some(step) = solve(&hessian, &grad) else { return };
            let slope: f64 = step.iter().zip(&grad).map(|(s, g)| s * g).sum();
            if slope.is_nan() || slope <= 1e-15 * value.abs() {
                return;
            }
            let mut t = 1.0;
            let moved = loop {
                let trial: Vec<f64> = u.iter().zip(&step).map(|(u, s)| u - t * s).collect();
                if self.smooth(&trial, mu, None) <= value - 1e-4 * t * slope {
                    break Some(trial);
                }
                t *= 0.4;
                if t < 1e-8 {
                    break None;
                }
            };
            let Some(trial) = moved else { return };
            *u = trial;
        }
    }

    /// The smooth objective in scaled variables; gradient and Hessian overwrite what is given.
    fn smooth(&self, u: &[f64], mu: f64, mut out: Option<(&mut Vec<f64>, &mut Vec<f64>)>) -> f64 {
        let problem = self.problem;
        let w: Vec<f64> = u.iter().zip(self.sizes).map(|(u, s)| u / s).collect();
        let n = w.len();
        if let Some((grad, hessian)) = &mut out {
            grad.fill(0.0);
            hessian.fill(0.0);
        }
        let mut total = 0.0;
        for term in &problem.terms {
            let scores: Vec<f64> = term.outputs.iter().map(|(d, c)| dot(d, &w, *c)).collect();
            // Value, slope of each score, and the Hessian in score space as diag(h) − a·s sᵀ.
            let (value, slopes, diagonal, outer): (f64, Vec<f64>, Vec<f64>, f64) = match term.kind {
                Kind::Squared => {
                    let value = scores.iter().map(|s| 0.5 * s * s).sum();
                    (value, scores.clone(), vec![1.0; scores.len()], 0.0)
                }
                Kind::Huber(delta) => {
                    let g: Vec<f64> = scores.iter().map(|s| s.clamp(-delta, delta)).collect();
                    let value = g.iter().zip(&scores).map(|(g, s)| g * (s - 0.5 * g)).sum();
                    let h = scores.iter().map(|s| if s.abs() <= delta { 1.0 } else { 0.0 });
                    (value, g, h.collect(), 0.0)
                }
                Kind::Constraint => {
                    if scores.iter().any(|&s| s >= 0.0) {
                        return f64::INFINITY;
                    }
                    let value = scores.iter().map(|s| -mu * (-s).ln()).sum();
                    let slopes = scores.iter().map(|s| -mu / s).collect();
                    (value, slopes, scores.iter().map(|s| mu / (s * s)).collect(), 0.0)
                }
                Kind::Max | Kind::LogSum | Kind::SquaredMax => {
                    let heat = match term.kind {
                        Kind::LogSum => 1.0,
                        // The square root has the units of the score.
                        Kind::SquaredMax => mu.sqrt(),
                        _ => mu,
                    };
                    let top = scores.iter().copied().fold(0.0, f64::max);
                    let e: Vec<f64> = scores.iter().map(|s| ((s - top) / heat).exp()).collect();
                    let z = e.iter().sum::<f64>() + (-top / heat).exp();
                    let m = top + heat * z.ln();
                    let p: Vec<f64> = e.iter().map(|e| e / z).collect();
                    let h: Vec<f64> = p.iter().map(|p| p / heat).collect();
                    match term.kind {
                        Kind::SquaredMax => {
                            // (m²)' = 2m p and (m²)'' = 2m (diag p − p pᵀ)/heat + 2 p pᵀ, in terms of slopes s = 2m p.
                            let s: Vec<f64> = p.iter().map(|p| 2.0 * m * p).collect();
                            let h = h.iter().map(|h| 2.0 * m * h).collect();
                            let outer =
                                if m > 0.0 { (2.0 * m / heat - 2.0) / (4.0 * m * m) } else { 0.0 };
                            (m * m, s, h, outer)
                        }
                        _ => (m, p, h, 1.0 / heat),
                    }
                }
            };
            let weight = if term.kind == Kind::Constraint { 1.0 } else { term.weight };
            total += weight * value;
            if let Some((grad, hessian)) = &mut out {
                let mut mean = vec![0.0; n];
                for (((d, _), &s), &h) in term.outputs.iter().zip(&slopes).zip(&diagonal) {
                    let d: Vec<f64> = d.iter().zip(self.sizes).map(|(d, z)| d / z).collect();
                    for j in 0..n {
                        mean[j] += s * d[j];
                        let by = weight * h * d[j];
                        if by != 0.0 {
                            (0..n).for_each(|k| hessian[j * n + k] += by * d[k]);
                        }
                    }
                }
                for j in 0..n {
                    grad[j] += weight * mean[j];
                    let by = weight * outer * mean[j];
                    if by != 0.0 {
                        (0..n).for_each(|k| hessian[j * n + k] -= by * mean[k]);
                    }
                }
            }
        }
        for j in 0..n {
            let (size, penalised) = (self.sizes[j], problem.penalised[j]);
            let mut add = |value: f64, slope: f64, curve: f64| {
                total += value;
                if let Some((grad, hessian)) = &mut out {
                    grad[j] += slope;
                    hessian[j * n + j] += curve;
                }
            };
            if penalised {
                let l2 = problem.l2;
                add(0.5 * l2 * w[j] * w[j], l2 * w[j] / size, l2 / (size * size));
            }
            if penalised && problem.l1 > 0.0 {
                // |w| by √(w² + h²), in the units of w.
                let h = mu / problem.l1 / problem.dim as f64;
                let root = w[j].hypot(h);
                let curve = (h / root).powi(2) / root;
                add(
                    problem.l1 * root,
                    problem.l1 * w[j] / root / size,
                    problem.l1 * curve / (size * size),
                );
            }
            if problem.nonnegative.contains(&j) {
                if u[j] <= 0.0 {
                    return f64::INFINITY;
                }
                add(-mu * u[j].ln(), -mu / u[j], mu / (u[j] * u[j]));
            }
        }
        if total.is_nan() { f64::INFINITY } else { total }
    }
}

/// (H + τI) x = g by Cholesky's method, with the least τ that works.
fn solve(hessian: &[f64], grad: &[f64]) -> Option<Vec<f64>> {
    let n = grad.len();
    let largest = (0..n).map(|j| hessian[j * n + j]).fold(0.0, f64::max);
    if !largest.is_finite() {
        return None;
    }
    let mut tau = 1e-15 * largest + f64::MIN_POSITIVE;
    'try_again: for _ in 0..40 {
        let mut l = hessian.to_vec();
        for j in 0..n {
            l[j * n + j] += tau;
            for k in 0..=j {
                let mut sum = l[j * n + k];
                for i in 0..k {
                    sum -= l[j * n + i] * l[k * n + i];
                }
                if j == k {
                    if sum.is_nan() || sum <= 0.0 {
                        tau *= 30.0;
                        continue 'try_again;
                    }
                    l[j * n + j] = sum.sqrt();
                } else {
                    l[j * n + k] = sum / l[k * n + k];
                }
            }
        }
        let mut x = grad.to_vec();
        for j in 0..n {
            (0..j).for_each(|k| x[j] -= l[j * n + k] * x[k]);
            x[j] /= l[j * n + j];
        }
        for j in (0..n).rev() {
            (j + 1..n).for_each(|k| x[j] -= l[k * n + j] * x[k]);
            x[j] /= l[j * n + j];
        }
        return x.iter().all(|x| x.is_finite()).then_some(x);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(kind: Kind, outputs: Vec<(Vec<f64>, f64)>) -> Convex {
        let terms = vec![Term { weight: 1.0, kind, outputs }];
        Convex { dim: 1, penalised: vec![true], l2: 1.0, terms, ..Convex::default() }
    }

    #[test]
    fn minima_that_are_known() {
        // max(0, 1 − w) + ½w²: at 1, where the hinge ends. max(0, 1 − w)² + ½w²: at ⅔. ½(w − 3)² + ½w²: at 1½.
        for (kind, d, c, minimum) in [
            (Kind::Max, -1.0, 1.0, 0.5),
            (Kind::SquaredMax, -1.0, 1.0, 1.0 / 3.0),
            (Kind::Squared, 1.0, -3.0, 2.25),
            (Kind::Huber(1.0), 1.0, -3.0, 2.0),
            (Kind::Constraint, -1.0, 2.0, 2.0),
        ] {
            let start = if kind == Kind::Constraint { 5.0 } else { 0.0 };
            let (value, _) = problem(kind, vec![(vec![d], c)]).minimise(&[vec![start]]);
            assert!((value - minimum).abs() < 1e-9, "{kind:?}: {value}");
        }
        // log(1 + e⁻ʷ) + ½w²: where w = σ(−w).
        let (value, w) = problem(Kind::LogSum, vec![(vec![-1.0], 0.0)]).minimise(&[vec![0.0]]);
        assert!((w[0] - 0.401_058_137_541_547).abs() < 1e-6, "{w:?}");
        assert!((value - 0.592_8).abs() < 1e-3, "{value}");
    }

    #[test]
    fn values_keep_what_cancels() {
        let outputs = vec![(vec![1e16], 1.0), (vec![-1e16], 1.0)];
        let problem = Convex { l2: 0.0, ..problem(Kind::Max, outputs) };
        assert_eq!(problem.value(&[1e-16]), 2.0);
        assert_eq!(dot(&[1e16, 1.0, -1e16], &[1.0, 1.0, 1.0], 0.0), 1.0);
    }
}
