//! Queries as examples of the learners: a score for each document, θᵢ = ⟨w, xᵢ⟩, and no bias, which would cancel.

mod curvature;
mod newton;

use crate::oracle::{Buffers, Oracle, Scored, Smooth};
use crate::parts::{Documents, Outcome};
use crate::queries::Queries;
use lineal_linalg::{Row, Scalar, kernels};
use lineal_model::structure::{
    Around, Ask, Found, Infeasible, MaxOracle, Smoothed, Structure, SumOracle,
};
use std::ops::Range;
use std::sync::OnceLock;

/// How losses of queries are added up. Queries without a decision (one grade, no relevant document) count nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Normalise {
    /// The mean over all decisions of all queries: with n pairs, `l2 = 1 / (C·n)` is the objective of a linear SVM over explicit pairs with C, and long lists count more. The weight of a
    /// query is that of each of its pairs.
    #[default]
    Decisions,
    /// The mean over queries of the mean over the decisions of each (`svm_rank_learn -l 2`): every query counts the same.
    Queries,
}

/// The problem of ranking the documents of queries by [`Decisions`](crate::Decisions) or [`Orders`](crate::Orders).
#[derive(Clone, Debug)]
pub struct Ranking<'a, O> {
    queries: Queries<'a>,
    oracle: O,
    /// How much the loss of each query counts.
    shares: Vec<f64>,
    n_decisions: f64,
    n_informative: usize,
    total_weight: f64,
    /// μ of the gold output for each document.
    gold: Vec<f64>,
    /// What the oracle keeps for each document, or nothing.
    worth: Vec<f64>,
    /// See [`size`](Structure::size); computed when it is asked for.
    size: OnceLock<usize>,
}

/// Working memory of [`Ranking`].
#[derive(Clone, Debug)]
pub struct RankingScratch<F> {
    buffers: Buffers,
    scores: Vec<f64>,
    amounts: Vec<f64>,
    /// As many as weights, zeros between calls; empty for sparse rows.
    features: Vec<F>,
}

impl<'a, O: Oracle> Ranking<'a, O> {
    /// The queries to learn from.
    pub fn new(queries: Queries<'a>, oracle: O, normalise: Normalise) -> Self {
        let n_documents =
            queries.len().checked_sub(1).map_or(0, |last| queries.documents(last).end);
        let (mut gold, mut worth) = (vec![0.0; n_documents], Vec::new());
        let of_query = |q: usize| {
            let documents = queries.documents(q);
            let grade =
                |document: u32| f64::from(queries.grade(documents.start + document as usize));
            let gold = &mut gold[documents.clone()];
            let n = oracle.prepare(&queries.query(q), &grade, gold, &mut worth);
            if n == 0.0 {
                gold.fill(0.0);
            }
            n
        };
        let mut shares: Vec<f64> = (0..queries.len()).map(of_query).collect();
        let (mut n_decisions, mut total, mut n_informative) = (0.0, 0.0, 0);
        for (q, share) in shares.iter_mut().enumerate() {
            let (n, weight) = (*share, queries.weight(q));
            if n > 0.0 {
                n_decisions += weight * n;
                n_informative += usize::from(weight > 0.0);
                *share = match normalise {
                    Normalise::Decisions => weight,
                    Normalise::Queries => weight / n,
                };
                total += *share * n;
            }
        }
        if total > 0.0 {
            shares.iter_mut().for_each(|share| *share /= total);
        }
        Self {
            queries,
            oracle,
            shares,
            n_decisions,
            n_informative,
            total_weight: total,
            gold,
            worth,
            size: OnceLock::new(),
        }
    }

    /// The queries.
    pub fn queries(&self) -> &Queries<'a> {
        &self.queries
    }

    /// How many decisions all queries take (pairs, choices, or orders), each as often as the weight of its query says.
    pub fn n_decisions(&self) -> f64 {
        self.n_decisions
    }

    /// What the losses are divided by for their mean: the weights of all decisions, or of all queries with one.
    pub fn total_weight(&self) -> f64 {
        self.total_weight
    }

    /// How many queries there is something to learn from. If none, all weights stay 0.
    pub fn n_informative(&self) -> usize {
        self.n_informative
    }

    fn is_informative(&self, i: usize) -> bool {
        self.shares[i] > 0.0
    }

    /// Calls the oracle with scores in f64.
    fn with_scores<F: Scalar, R>(
        &self,
        i: usize,
        theta: &[F],
        s: &mut RankingScratch<F>,
        f: impl FnOnce(&O, &Scored<'_>, &mut Buffers, &mut [f64]) -> R,
    ) -> R {
        let RankingScratch { buffers, scores, amounts, .. } = s;
        scores.clear();
        scores.extend(theta.iter().map(|score| score.to_f64()));
        amounts.clear();
        amounts.resize(theta.len(), 0.0);
        let documents = self.queries.documents(i);
        let gold = &self.gold[documents.clone()];
        let worth = self.worth.get(documents).unwrap_or(&[]);
        let at = Scored { query: self.queries.query(i), scores, gold, worth };
        f(&self.oracle, &at, buffers, amounts)
    }

    /// `f(weight, Σ aᵢ xᵢ)` over the documents with an amount; for dense rows once for each weight, with the sum in `features`.
    fn each_feature<F: Scalar>(
        &self,
        i: usize,
        amounts: impl Iterator<Item = F>,
        features: &mut Vec<F>,
        mut f: impl FnMut(usize, F),
    ) {
        let documents = self.queries.documents(i).zip(amounts).filter(|(_, a)| *a != F::ZERO);
        if !self.queries.is_dense() {
            for (document, a) in documents {
                self.queries.row(document).for_each(|at, x| f(at, a * F::from_f32(x)));
            }
            return;
        }
        features.resize(self.queries.n_features(), F::ZERO);
        for (document, a) in documents {
            kernels::add_outer(self.queries.row(document), &[a], features);
        }
        for (at, sum) in features.iter_mut().enumerate() {
            f(at, std::mem::take(sum));
        }
    }
}

impl<'a, O: Oracle, F: Scalar> Structure<F> for Ranking<'a, O> {
    type Output = Outcome;
    type Parts = Documents<F>;
    type Scratch = RankingScratch<F>;

    fn n_examples(&self) -> usize {
        self.queries.len()
    }

    fn dim(&self) -> usize {
        self.queries.n_features()
    }

    /// How much the loss of a query counts. The loss is a sum over decisions, so that not the shares but shares times decisions add up to 1.
    fn share(&self, i: usize) -> f64 {
        self.shares[i]
    }

    fn work(&self) -> usize {
        // Sorting a document costs about as much as 20 products.
        2 * self.queries.n_values() + 20 * self.gold.len()
    }

    /// The same for all queries: ten times the greatest curvature of one. The rate of stochastic steps, a tenth and less for sizes above a hundred, is then at most 1 / curvature, which the
    /// squared hinge needs: its gradients are not bounded, and steps that are too long would grow and grow.
    fn size(&self, _: usize) -> usize {
        *self.size.get_or_init(|| (10.0 * self.steepest()).clamp(1.0, 1e9) as usize)
    }

    fn log_outputs(&self, i: usize) -> f64 {
        if self.is_informative(i) { self.oracle.loss_at_zero(&self.queries.query(i)) } else { 0.0 }
    }

    fn scratch(&self) -> RankingScratch<F> {
        let (scores, amounts, features) = (Vec::new(), Vec::new(), Vec::new());
        RankingScratch { buffers: Buffers::default(), scores, amounts, features }
    }

    fn gold(&self, i: usize, y: &mut Outcome) {
        y.amounts.clear();
        y.amounts.extend_from_slice(&self.gold[self.queries.documents(i)]);
        y.cost = 0.0;
    }

    fn scores(
        &self,
        i: usize,
        w: &[F],
        scale: F,
        _: &mut RankingScratch<F>,
        theta: &mut Documents<F>,
    ) {
        theta.squared = false;
        theta.values.clear();
        let score = |document: usize| scale * kernels::dot(self.queries.row(document), w);
        theta.values.extend(self.queries.documents(i).map(score));
    }

    fn accumulate(&self, i: usize, g: &Documents<F>, _: &mut RankingScratch<F>, into: &mut [F]) {
        if g.squared {
            self.add_diagonal(i, g.values.first().copied().unwrap_or(F::ZERO), into);
            return;
        }
        for (document, &g) in self.queries.documents(i).zip(&g.values) {
            if g != F::ZERO {
                kernels::add_outer(self.queries.row(document), &[g], into);
            }
        }
    }

    fn each_touched(
        &self,
        i: usize,
        g: &Documents<F>,
        _: &mut RankingScratch<F>,
        mut f: impl FnMut(Range<usize>),
    ) {
        if self.queries.is_dense() {
            f(0..self.queries.n_features());
            return;
        }
        for (document, &g) in self.queries.documents(i).zip(&g.values) {
            if let (true, Row::Sparse(row)) = (g != F::ZERO, self.queries.row(document)) {
                row.idx().iter().for_each(|&at| f(at as usize..at as usize + 1));
            }
        }
    }

    fn each_difference(
        &self,
        i: usize,
        plus: &Outcome,
        minus: &Outcome,
        s: &mut RankingScratch<F>,
        f: impl FnMut(usize, F),
    ) {
        let amounts = plus.amounts.iter().zip(&minus.amounts);
        let amounts = amounts.map(|(plus, minus)| F::from_f64(plus - minus));
        self.each_feature(i, amounts, &mut s.features, f);
    }

    fn score(&self, _: usize, theta: &Documents<F>, y: &Outcome) -> f64 {
        theta.values.iter().zip(&y.amounts).map(|(score, amount)| score.to_f64() * amount).sum()
    }

    fn add_output(&self, _: usize, y: &Outcome, a: F, mu: &mut Documents<F>) {
        for (mu, amount) in mu.values.iter_mut().zip(&y.amounts) {
            *mu += a * F::from_f64(*amount);
        }
    }
}

impl<'a, O: Oracle, F: Scalar> MaxOracle<F> for Ranking<'a, O> {
    fn argmax(
        &self,
        i: usize,
        theta: &mut Documents<F>,
        ask: Ask,
        s: &mut RankingScratch<F>,
        y: &mut Outcome,
    ) -> Result<Found, Infeasible> {
        if ask == Ask::Gold || !self.is_informative(i) {
            Structure::<F>::gold(self, i, y);
            return Ok(Found::exact(self.score(i, theta, y)));
        }
        let augmented = ask == Ask::Augmented;
        let best = self.with_scores(i, &theta.values, s, |oracle, at, buffers, amounts| {
            oracle.best(at, augmented, buffers, amounts)
        });
        y.amounts.clone_from(&s.amounts);
        y.cost = best.cost;
        let score = self.score(i, theta, y) + if augmented { y.cost } else { 0.0 };
        Ok(Found { score, upper: score + best.slack })
    }

    fn cost(&self, _: usize, y: &Outcome) -> f64 {
        y.cost
    }

    fn is_curved(&self) -> bool {
        self.oracle.pair_second_derivative().is_some() && self.has_few_pairs()
    }

    fn n_duals(&self, i: usize) -> usize {
        if self.is_informative(i) { self.queries.query(i).n_pairs() as usize } else { 0 }
    }

    fn smoothed(
        &self,
        i: usize,
        theta: &Documents<F>,
        around: Around<'_>,
        s: &mut RankingScratch<F>,
        grad: &mut Documents<F>,
        moved: &mut [f32],
    ) -> Smoothed {
        grad.squared = false;
        grad.values.clear();
        if !self.is_informative(i) {
            grad.values.resize(theta.values.len(), F::ZERO);
            return Smoothed::default();
        }
        let smoothed = self.smooth_hinge(i, &theta.values, around, s, moved);
        grad.values.extend(s.amounts.iter().map(|&amount| F::from_f64(amount)));
        smoothed
    }

    fn add_hessian(
        &self,
        i: usize,
        theta: &Documents<F>,
        around: Option<Around<'_>>,
        factor: f64,
        s: &mut RankingScratch<F>,
        into: &mut [f64],
    ) {
        self.add_pair_hessian(i, &theta.values, around, factor, s, into);
    }
}

impl<'a, O: Smooth, F: Scalar> SumOracle<F> for Ranking<'a, O> {
    fn log_partition(
        &self,
        i: usize,
        theta: &Documents<F>,
        ask: Ask,
        s: &mut RankingScratch<F>,
    ) -> Result<f64, Infeasible> {
        self.expect(i, theta, ask, s, &mut Documents::default())
    }

    fn expect(
        &self,
        i: usize,
        theta: &Documents<F>,
        ask: Ask,
        s: &mut RankingScratch<F>,
        mu: &mut Documents<F>,
    ) -> Result<f64, Infeasible> {
        mu.squared = false;
        mu.values.clear();
        if ask == Ask::Gold || !self.is_informative(i) {
            let gold = &self.gold[self.queries.documents(i)];
            mu.values.extend(gold.iter().map(|&amount| F::from_f64(amount)));
            let terms = theta.values.iter().zip(gold);
            return Ok(terms.map(|(score, amount)| score.to_f64() * amount).sum());
        }
        let value = self.with_scores(i, &theta.values, s, |oracle, at, buffers, amounts| {
            oracle.value_grad(at, buffers, amounts)
        });
        mu.values.extend(s.amounts.iter().map(|&amount| F::from_f64(amount)));
        Ok(value)
    }

    fn concentrate(&self, i: usize, theta: &mut Documents<F>) {
        if !self.is_informative(i) {
            return;
        }
        let documents = self.queries.documents(i);
        let mut scores = vec![0.0; documents.len()];
        self.oracle.settle(&self.queries.query(i), &self.gold[documents], &mut scores);
        for (theta, score) in theta.values.iter_mut().zip(scores) {
            *theta += F::from_f64(score);
        }
    }
}
