//! An output on Frank–Wolfe's list: itself, or where weights are few its vector of features.

use super::problem::{Problem, Worker};
use lineal_linalg::{Scalar, kernels};
use lineal_model::structure::{MaxOracle, Structure};

/// A vertex of the polytope of an example's outputs.
#[derive(PartialEq)]
pub(crate) enum Vertex<Y, F> {
    /// The output y.
    Output(Y),
    /// Ψ(gold) − Ψ(y), of which the score follows: score(gold) − ⟨w, Ψ(gold) − Ψ(y)⟩.
    Features(Vec<F>),
}

impl<Y, F: Scalar> Vertex<Y, F> {
    /// What the worker found to be best.
    pub(crate) fn new<S: MaxOracle<F, Output = Y>>(
        problem: &Problem<'_, S, F>,
        i: usize,
        worker: &mut Worker<S, F>,
        dense: bool,
    ) -> Self
    where
        Y: Clone,
    {
        let Worker { y_hat, gold, s, .. } = worker;
        if !dense {
            return Self::Output(y_hat.clone());
        }
        let mut below = vec![F::ZERO; problem.dim()];
        problem.structure.each_difference(i, gold, y_hat, s, |place, v| below[place] += v);
        Self::Features(below)
    }

    /// Its score, without costs.
    pub(crate) fn score<S: Structure<F, Output = Y>>(
        &self,
        structure: &S,
        i: usize,
        theta: &S::Parts,
        w: &[F],
        gold_score: f64,
    ) -> f64 {
        match self {
            Self::Output(y) => structure.score(i, theta, y),
            Self::Features(below) => gold_score - kernels::dot64(w, below),
        }
    }

    /// `f(weight, value)` over Ψ(gold) − Ψ(this).
    pub(crate) fn each_below_gold<S: Structure<F, Output = Y>>(
        &self,
        structure: &S,
        i: usize,
        gold: &Y,
        s: &mut S::Scratch,
        mut f: impl FnMut(usize, F),
    ) {
        match self {
            Self::Output(y) => structure.each_difference(i, gold, y, s, f),
            Self::Features(below) => below.iter().enumerate().for_each(|(at, &v)| f(at, v)),
        }
    }

    /// `f(weight, value)` over Ψ(this) − Ψ(other).
    pub(crate) fn each_difference<S: Structure<F, Output = Y>>(
        &self,
        structure: &S,
        i: usize,
        other: &Self,
        s: &mut S::Scratch,
        mut f: impl FnMut(usize, F),
    ) {
        match (self, other) {
            (Self::Output(y), Self::Output(other)) => {
                structure.each_difference(i, y, other, s, f);
            }
            (Self::Features(below), Self::Features(other)) => {
                for (at, (&this, &other)) in below.iter().zip(other).enumerate() {
                    f(at, other - this);
                }
            }
            // All vertices of a run are of one kind.
            _ => {}
        }
    }
}
