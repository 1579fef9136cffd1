//! A structure seen through a list of its examples with other shares, and through an argmax that may be lazy.

use lineal_linalg::Scalar;
use lineal_model::structure::{
    Around, Ask, Found, Infeasible, MaxOracle, Smoothed, Structure, SumOracle,
};
use std::ops::Range;

/// Example i is `examples[i]` of `inner`.
pub struct View<'a, S> {
    pub inner: &'a S,
    pub examples: Vec<usize>,
    pub shares: Vec<f64>,
    /// The augmented argmax may answer with the gold output where it is this near to the best, and then says how good the best is.
    pub slack: f64,
}

impl<'a, S> View<'a, S> {
    /// These examples, each counted as often as its weight says.
    pub fn new(inner: &'a S, weighted: &[(usize, f64)]) -> Self {
        let total: f64 = weighted.iter().map(|one| one.1).sum();
        let examples = weighted.iter().map(|one| one.0).collect();
        let shares = weighted.iter().map(|one| one.1 / total).collect();
        Self { inner, examples, shares, slack: 0.0 }
    }
}

impl<F: Scalar, S: Structure<F>> Structure<F> for View<'_, S> {
    type Output = S::Output;
    type Parts = S::Parts;
    type Scratch = S::Scratch;

    fn n_examples(&self) -> usize {
        self.examples.len()
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn n_penalised(&self) -> usize {
        self.inner.n_penalised()
    }
    fn nonnegative(&self) -> Range<usize> {
        self.inner.nonnegative()
    }
    fn share(&self, i: usize) -> f64 {
        self.shares[i]
    }
    fn work(&self) -> usize {
        self.inner.work()
    }
    fn size(&self, i: usize) -> usize {
        self.inner.size(self.examples[i])
    }
    fn log_outputs(&self, i: usize) -> f64 {
        self.inner.log_outputs(self.examples[i])
    }
    fn scratch(&self) -> S::Scratch {
        self.inner.scratch()
    }
    fn is_whole(&self, i: usize) -> bool {
        self.inner.is_whole(self.examples[i])
    }
    fn gold(&self, i: usize, y: &mut S::Output) {
        self.inner.gold(self.examples[i], y);
    }
    fn load(&self, w: &[F], scale: F, sums: bool, s: &mut S::Scratch) {
        self.inner.load(w, scale, sums, s);
    }
    fn load_parts(&self, theta: &S::Parts, s: &mut S::Scratch) {
        self.inner.load_parts(theta, s);
    }
    fn scores(&self, i: usize, w: &[F], scale: F, s: &mut S::Scratch, theta: &mut S::Parts) {
        self.inner.scores(self.examples[i], w, scale, s, theta);
    }
    fn accumulate(&self, i: usize, g: &S::Parts, s: &mut S::Scratch, into: &mut [F]) {
        self.inner.accumulate(self.examples[i], g, s, into);
    }
    fn each_touched(
        &self,
        i: usize,
        g: &S::Parts,
        s: &mut S::Scratch,
        f: impl FnMut(Range<usize>),
    ) {
        self.inner.each_touched(self.examples[i], g, s, f);
    }
    fn each_difference(
        &self,
        i: usize,
        plus: &S::Output,
        minus: &S::Output,
        s: &mut S::Scratch,
        f: impl FnMut(usize, F),
    ) {
        self.inner.each_difference(self.examples[i], plus, minus, s, f);
    }
    fn score(&self, i: usize, theta: &S::Parts, y: &S::Output) -> f64 {
        self.inner.score(self.examples[i], theta, y)
    }
    fn add_output(&self, i: usize, y: &S::Output, a: F, mu: &mut S::Parts) {
        self.inner.add_output(self.examples[i], y, a, mu);
    }
}

impl<F: Scalar, S: MaxOracle<F>> MaxOracle<F> for View<'_, S> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut S::Parts,
        ask: Ask,
        s: &mut S::Scratch,
        y: &mut S::Output,
    ) -> Result<Found, Infeasible> {
        let mut gold = S::Output::default();
        self.gold(i, &mut gold);
        let gold_score = self.score(i, theta, &gold);
        let found = self.inner.argmax(self.examples[i], theta, ask, s, y)?;
        if ask == Ask::Augmented && self.slack > 0.0 && found.score - gold_score <= self.slack {
            *y = gold;
            return Ok(Found { score: gold_score, upper: found.upper });
        }
        Ok(found)
    }
    fn cost(&self, i: usize, y: &S::Output) -> f64 {
        self.inner.cost(self.examples[i], y)
    }
    fn is_curved(&self) -> bool {
        self.slack == 0.0 && self.inner.is_curved()
    }
    fn n_duals(&self, i: usize) -> usize {
        self.inner.n_duals(self.examples[i])
    }
    fn smoothed(
        &self,
        i: usize,
        theta: &S::Parts,
        around: Around<'_>,
        s: &mut S::Scratch,
        grad: &mut S::Parts,
        moved: &mut [f32],
    ) -> Smoothed {
        self.inner.smoothed(self.examples[i], theta, around, s, grad, moved)
    }
    fn add_hessian(
        &self,
        i: usize,
        theta: &S::Parts,
        around: Option<Around<'_>>,
        factor: f64,
        s: &mut S::Scratch,
        into: &mut [f64],
    ) {
        self.inner.add_hessian(self.examples[i], theta, around, factor, s, into);
    }
}

impl<F: Scalar, S: SumOracle<F>> SumOracle<F> for View<'_, S> {
    fn log_partition(
        &self,
        i: usize,
        theta: &S::Parts,
        ask: Ask,
        s: &mut S::Scratch,
    ) -> Result<f64, Infeasible> {
        self.inner.log_partition(self.examples[i], theta, ask, s)
    }
    fn expect(
        &self,
        i: usize,
        theta: &S::Parts,
        ask: Ask,
        s: &mut S::Scratch,
        mu: &mut S::Parts,
    ) -> Result<f64, Infeasible> {
        self.inner.expect(self.examples[i], theta, ask, s, mu)
    }
    fn concentrate(&self, i: usize, theta: &mut S::Parts) {
        self.inner.concentrate(self.examples[i], theta);
    }
}
