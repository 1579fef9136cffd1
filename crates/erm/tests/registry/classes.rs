//! Classes as a structure, one-hot: the twin of the flat multiclass model.

use lineal_linalg::{Rng, Scalar};
use lineal_model::structure::{Ask, Found, Infeasible, MaxOracle, Structure, SumOracle};
use std::ops::Range;

/// Dense rows and their classes; the weights of a feature lie side by side.
pub struct OneHot {
    pub n_classes: usize,
    pub n_features: usize,
    pub x: Vec<f32>,
    pub y: Vec<u32>,
}

impl OneHot {
    pub fn new(n: usize, n_classes: usize, n_features: usize, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let y: Vec<u32> = (0..n).map(|_| (rng.next_u64() % n_classes as u64) as u32).collect();
        let mut value = |at: usize| {
            let hint = y[at / n_features] as usize == at % n_features;
            rng.unit() as f32 + if hint { 0.5 } else { 0.0 }
        };
        let x = (0..n * n_features).map(&mut value).collect();
        Self { n_classes, n_features, x, y }
    }

    fn row(&self, i: usize) -> &[f32] {
        &self.x[i * self.n_features..(i + 1) * self.n_features]
    }
}

impl<F: Scalar> Structure<F> for OneHot {
    type Output = u32;
    type Parts = Vec<F>;
    type Scratch = ();

    fn n_examples(&self) -> usize {
        self.y.len()
    }
    fn dim(&self) -> usize {
        self.n_classes * self.n_features
    }
    fn share(&self, _: usize) -> f64 {
        1.0 / self.y.len() as f64
    }
    fn work(&self) -> usize {
        self.x.len() * self.n_classes
    }
    fn size(&self, _: usize) -> usize {
        1
    }
    fn log_outputs(&self, _: usize) -> f64 {
        (self.n_classes as f64).ln()
    }
    fn scratch(&self) {}
    fn gold(&self, i: usize, y: &mut u32) {
        *y = self.y[i];
    }
    fn scores(&self, i: usize, w: &[F], scale: F, (): &mut (), theta: &mut Vec<F>) {
        theta.clear();
        theta.resize(self.n_classes, F::ZERO);
        for (&x, w) in self.row(i).iter().zip(w.chunks_exact(self.n_classes)) {
            theta.iter_mut().zip(w).for_each(|(part, &w)| *part += scale * F::from_f32(x) * w);
        }
    }
    fn accumulate(&self, i: usize, g: &Vec<F>, (): &mut (), into: &mut [F]) {
        for (&x, into) in self.row(i).iter().zip(into.chunks_exact_mut(self.n_classes)) {
            into.iter_mut().zip(g).for_each(|(into, &g)| *into += F::from_f32(x) * g);
        }
    }
    fn each_touched(&self, _: usize, _: &Vec<F>, (): &mut (), mut f: impl FnMut(Range<usize>)) {
        f(0..Structure::<F>::dim(self));
    }
    fn each_difference(
        &self,
        i: usize,
        plus: &u32,
        minus: &u32,
        (): &mut (),
        mut f: impl FnMut(usize, F),
    ) {
        if plus == minus {
            return;
        }
        for (j, &x) in self.row(i).iter().enumerate() {
            f(j * self.n_classes + *plus as usize, F::from_f32(x));
            f(j * self.n_classes + *minus as usize, -F::from_f32(x));
        }
    }
    fn score(&self, _: usize, theta: &Vec<F>, y: &u32) -> f64 {
        theta[*y as usize].to_f64()
    }
    fn add_output(&self, _: usize, y: &u32, a: F, mu: &mut Vec<F>) {
        mu[*y as usize] += a;
    }
}

impl<F: Scalar> MaxOracle<F> for OneHot {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Vec<F>,
        ask: Ask,
        (): &mut (),
        y: &mut u32,
    ) -> Result<Found, Infeasible> {
        if ask == Ask::Augmented {
            theta.iter_mut().for_each(|part| *part += F::ONE);
            theta[self.y[i] as usize] -= F::ONE;
        }
        let best = |best: usize, k: usize| if theta[k] > theta[best] { k } else { best };
        *y = if ask == Ask::Gold { self.y[i] } else { (0..theta.len()).fold(0, best) as u32 };
        Ok(Found::exact(theta[*y as usize].to_f64()))
    }
    fn cost(&self, i: usize, y: &u32) -> f64 {
        f64::from(u8::from(self.y[i] != *y))
    }
}

impl<F: Scalar> SumOracle<F> for OneHot {
    fn log_partition(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        s: &mut (),
    ) -> Result<f64, Infeasible> {
        self.expect(i, theta, ask, s, &mut Vec::new())
    }
    fn expect(
        &self,
        i: usize,
        theta: &Vec<F>,
        ask: Ask,
        (): &mut (),
        mu: &mut Vec<F>,
    ) -> Result<f64, Infeasible> {
        mu.clear();
        if ask == Ask::Gold {
            mu.resize(theta.len(), F::ZERO);
            mu[self.y[i] as usize] = F::ONE;
            return Ok(theta[self.y[i] as usize].to_f64());
        }
        let scores: Vec<f64> = theta.iter().map(|part| part.to_f64()).collect();
        let log_z = super::log_sum_exp(&scores);
        mu.extend(scores.iter().map(|score| F::from_f64((score - log_z).exp())));
        Ok(log_z)
    }
}
