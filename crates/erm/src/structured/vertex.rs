//! An output on Frank–Wolfe's list: itself, or where weights are few its vector of features.

use super::problem::{Problem, Worker};
use lineal_linalg::Scalar;
use lineal_model::structure::{MaxOracle, Structure};

/// A vertex of the polytope of an example's outputs.
#[derive(PartialEq)]
pub(crate) enum Vertex<Y> {
    /// The output y.
    Output(Y),
    /// Ψ(gold) − Ψ(y) in f64, of which the score follows: score(gold) − ⟨w, Ψ(gold) − Ψ(y)⟩.
    Features(Vec<f64>),
}

impl<Y> Vertex<Y> {
    /// What the worker found to be best.
    pub(crate) fn new<S, F>(
        problem: &Problem<'_, S, F>,
        i: usize,
        worker: &mut Worker<S, F>,
        wide: &mut <S as Structure<f64>>::Scratch,
        dense: bool,
    ) -> Self
    where
        F: Scalar,
        S: MaxOracle<F, Output = Y> + MaxOracle<f64, Output = Y>,
        Y: Clone + PartialEq,
    {
        let Worker { y_hat, gold, .. } = worker;
        if !dense {
            return Self::Output(y_hat.clone());
        }
        let mut below = vec![0.0; problem.dim()];
        let add = |place: usize, v: f64| below[place] += v;
        Structure::<f64>::each_difference(problem.structure, i, gold, y_hat, wide, add);
        Self::Features(below)
    }

    /// Its score, without costs.
    pub(crate) fn score<F: Scalar, S: Structure<F, Output = Y>>(
        &self,
        structure: &S,
        i: usize,
        theta: &S::Parts,
        w: &[F],
        gold_score: f64,
    ) -> f64 {
        match self {
            Self::Output(y) => structure.score(i, theta, y),
            Self::Features(below) => {
                let along = |(w, below): (&F, &f64)| w.to_f64() * below;
                gold_score - w.iter().zip(below).map(along).sum::<f64>()
            }
        }
    }

    /// `f(weight, value)` over Ψ(gold) − Ψ(this).
    pub(crate) fn each_below_gold<F: Scalar, S: Structure<F, Output = Y>>(
        &self,
        structure: &S,
        i: usize,
        gold: &Y,
        s: &mut S::Scratch,
        mut f: impl FnMut(usize, F),
    ) {
        match self {
            Self::Output(y) => structure.each_difference(i, gold, y, s, f),
            Self::Features(below) => {
                below.iter().enumerate().for_each(|(at, &v)| f(at, F::from_f64(v)));
            }
        }
    }

    /// `f(weight, value)` over Ψ(this) − Ψ(other).
    pub(crate) fn each_difference<F: Scalar, S: Structure<F, Output = Y>>(
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
                    f(at, F::from_f64(other - this));
                }
            }
            // All vertices of a run are of one kind.
            _ => {}
        }
    }
}
