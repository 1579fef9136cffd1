//! The weights of a stochastic run, and the mean of all of its iterates, at the cost of the weights that a step touches.
//!
//! ```text
//! w = a·v                        shrinking by l2 changes one number (Shalev-Shwartz et al., Pegasos, 2007; Bottou's SGD)
//! Σₜ cₜ wₜ = A·v + u             with u touched only where v is (Xu, 2011): where v changes by δ, u changes by −A·δ
//! ```
//!
//! A free weight (a bias, after the penalised ones) is stored as b/a. The mean is Σ cₜ wₜ / Σ cₜ over the iterates after each step, whatever the loss; the
//! weights cₜ are the caller's: 1 for plain means, t where later iterates of a convex objective are worth more (Lacoste-Julien, Schmidt, Bach 2012).

use lineal_linalg::{Row, Scalar, Sink, kernels};
use std::ops::Range;

/// An iterate w = a·v, and the weighted sum of all iterates once averaging has started.
#[derive(Clone, Debug)]
pub struct Iterate<F> {
    a: f64,
    v: Vec<F>,
    n_penalised: usize,
    average: Option<Average>,
}

/// Sums over all steps: in f32 the millionth would be lost in rounding.
#[derive(Clone, Debug)]
struct Average {
    big_a: f64,
    u: Vec<f64>,
    /// Σ cₜ.
    total: f64,
    /// A row's gradient times −A.
    wide: Vec<f64>,
}

impl<F: Scalar> Iterate<F> {
    /// Starts at `w`, of which the first `n_penalised` shrink.
    pub fn new(w: Vec<F>, n_penalised: usize) -> Self {
        Self { a: 1.0, v: w, n_penalised, average: None }
    }

    /// v.
    #[inline]
    pub fn direction(&self) -> &[F] {
        &self.v
    }

    /// v, for steps that no mean has to know: before averaging or without it. A step in w is one of 1/a in v.
    #[inline]
    pub fn direction_mut(&mut self) -> &mut [F] {
        debug_assert!(self.average.is_none());
        &mut self.v
    }

    /// a.
    #[inline]
    pub fn factor(&self) -> f64 {
        self.a
    }

    /// a, as the weights' number.
    #[inline]
    pub fn scale(&self) -> F {
        F::from_f64(self.a)
    }

    /// From now on every step counts in the mean. Does nothing if that was so before.
    pub fn start_average(&mut self) {
        if self.average.is_none() {
            let (u, wide) = (vec![0.0; self.v.len()], Vec::new());
            self.average = Some(Average { big_a: 0.0, u, total: 0.0, wide });
        }
    }

    /// Whether steps count in a mean.
    pub fn is_averaged(&self) -> bool {
        self.average.is_some()
    }

    /// w ← by·w for the penalised weights; the free ones, stored as b/a, are divided to stay.
    pub fn shrink(&mut self, by: f64) {
        if by == 1.0 {
            return;
        }
        let a = self.a * by;
        // Pegasos' first step multiplies by exactly 0; a too small a would overflow v.
        if a.abs() < 1e-6 {
            self.fold_by(by);
            return;
        }
        self.a = a;
        let undo = F::from_f64(1.0 / by);
        for j in self.n_penalised..self.v.len() {
            let delta = self.v[j] * undo - self.v[j];
            self.v[j] += delta;
            if let Some(average) = &mut self.average {
                average.u[j] -= average.big_a * delta.to_f64();
            }
        }
    }

    /// Writes a into v, so that a = 1 again, and A into u. Rounding of v is multiplied by A in the mean: called once per epoch, it does not grow.
    pub fn fold(&mut self) {
        self.fold_by(1.0);
    }

    fn fold_by(&mut self, by: f64) {
        if let Some(average) = self.average.as_mut().filter(|average| average.big_a != 0.0) {
            for (u, &v) in average.u.iter_mut().zip(&self.v) {
                *u += average.big_a * v.to_f64();
            }
            average.big_a = 0.0;
        }
        if self.a * by != 1.0 || self.a != 1.0 {
            let (all, shrunk) = (F::from_f64(self.a), F::from_f64(self.a * by));
            let (penalised, free) = self.v.split_at_mut(self.n_penalised);
            penalised.iter_mut().for_each(|v| *v *= shrunk);
            free.iter_mut().for_each(|v| *v *= all);
            self.a = 1.0;
        }
    }

    /// v[at] += delta.
    #[inline]
    pub fn add(&mut self, at: usize, delta: F) {
        self.v[at] += delta;
        if let Some(average) = &mut self.average {
            average.u[at] -= average.big_a * delta.to_f64();
        }
    }

    /// Adds what lies in a range of `spare` to v, and leaves zeros there.
    #[inline]
    pub fn take_range(&mut self, range: Range<usize>, spare: &mut [F]) {
        for at in range {
            let delta = std::mem::replace(&mut spare[at], F::ZERO);
            if delta != F::ZERO {
                self.add(at, delta);
            }
        }
    }

    /// A step has been made, which counts `weight` in the mean.
    #[inline]
    pub fn end_step(&mut self, weight: f64) {
        if let Some(average) = &mut self.average {
            average.big_a += weight * self.a;
            average.total += weight;
        }
    }

    /// The weights to return, averaged if that was asked for.
    pub fn write(&self, w: &mut [F]) {
        match &self.average {
            Some(average) if average.total > 0.0 => {
                for (w, (&v, &u)) in w.iter_mut().zip(self.v.iter().zip(&average.u)) {
                    *w = F::from_f64((average.big_a * v.to_f64() + u) / average.total);
                }
            }
            _ => {
                let a = self.scale();
                for (w, &v) in w.iter_mut().zip(&self.v) {
                    *w = a * v;
                }
            }
        }
    }

    /// As [`write`](Self::write), into a new vector.
    pub fn weights(&self) -> Vec<F> {
        let mut w = self.v.clone();
        self.write(&mut w);
        w
    }
}

impl<F: Scalar> Sink<F> for Iterate<F> {
    fn add_row(&mut self, at: usize, x: Row<'_>, g: &[F]) {
        kernels::add_outer(x, g, &mut self.v[at..]);
        if let Some(Average { big_a, u, wide, .. }) = &mut self.average {
            wide.clear();
            wide.extend(g.iter().map(|g| -*big_a * g.to_f64()));
            kernels::add_outer(x, wide, &mut u[at..]);
        }
    }

    fn add_block(&mut self, at: usize, g: &[F]) {
        for (c, &g) in g.iter().enumerate() {
            self.add(at + c, g);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::Rng;

    #[test]
    fn the_mean_is_that_of_all_iterates() {
        let mut rng = Rng::new(3);
        for rising in [false, true] {
            let mut iterate = Iterate::new(vec![0.5f64, -1.0, 2.0, 0.25], 3);
            let mut naive = iterate.weights();
            let (mut sum, mut total) = ([0.0; 4], 0.0);
            iterate.start_average();
            for t in 1..=200u32 {
                // The first step of Pegasos multiplies by 0.
                let by = if t == 1 { 0.0 } else { 1.0 - 1.0 / f64::from(t) };
                iterate.shrink(by);
                naive[..3].iter_mut().for_each(|w| *w *= by);
                for _ in 0..2 {
                    let (at, delta) = ((rng.next_u64() % 4) as usize, rng.unit() - 0.5);
                    let step = delta / iterate.factor();
                    iterate.add(at, step);
                    naive[at] += delta;
                }
                let weight = if rising { f64::from(t) } else { 1.0 };
                iterate.end_step(weight);
                sum.iter_mut().zip(&naive).for_each(|(sum, w)| *sum += weight * w);
                total += weight;
                if t % 50 == 0 {
                    iterate.fold();
                }
            }
            for (w, sum) in iterate.weights().iter().zip(sum) {
                assert!((w - sum / total).abs() < 1e-12, "{w} {}", sum / total);
            }
        }
    }
}
