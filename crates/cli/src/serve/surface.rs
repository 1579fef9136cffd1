//! The objective around the weights of one score: what a solver walks down.
//!
//! One score is a·x + b·y + c. Its a and b are varied over a square, everything else stays as it was learnt:
//!
//! - joint: the objective of all classes, mean ℓ(s₁ … s_K, y) + (λ/2)‖W‖²;
//! - one-vs-all and one-vs-one: that of the one binary problem, over the points that it sees.

use lineal::costs::{NoCost, ZeroOne};
use lineal::loss::{Hinge, Logistic, Loss, Squared, SquaredHinge};
use lineal::space::{Binary, Classes};
use lineal::{LossKind, Model, Strategy};
use serde_json::{Value, json};

/// Squares along a side.
const SQUARES: usize = 48;
/// With more points than this the sides are cut less finely.
const POINTS: usize = 1500;
/// How far the square reaches beyond the weights.
const BEYOND: f64 = 1.7;
const INSIDE: f64 = 1.1;

/// A point of the plane and the number of its class.
pub type Point = (f64, f64, u32);

/// One score among those of a model, with the points that its problem has.
pub struct Surface<'a> {
    loss: LossKind,
    /// Half of the problem's λ.
    half: f64,
    /// a, b and c of every score of the problem, of which `varied` is varied.
    scores: Vec<[f64; 3]>,
    varied: usize,
    points: Vec<&'a Point>,
    /// What the points of a binary problem count as yes.
    yes: Option<u32>,
}

impl<'a> Surface<'a> {
    /// None where there is no such score, or the model's objective is not one of its scores: output codes, trees, maps.
    pub fn new(model: &Model, points: &'a [Point], column: usize) -> Option<Self> {
        let report = model.report();
        let columns: Vec<[f64; 3]> = (model.bias().iter().enumerate())
            .map(|(l, c)| [model.weight(0, l), model.weight(1, l), *c])
            .collect();
        let own = *columns.get(column)?;
        let k = model.classes().len() as u32;
        let n_points = points.len();
        let all = || points.iter().collect::<Vec<_>>();
        let (scores, varied, points, yes) = match report.strategy {
            _ if model.features().map().is_some() => return None,
            _ if k == 2 => (vec![own], 0, all(), Some(1)),
            Strategy::Joint => (columns, column, all(), None),
            Strategy::Ova => (vec![own], 0, all(), Some(column as u32)),
            Strategy::Ovo => {
                let mut pairs = (0..k).flat_map(|a| (a + 1..k).map(move |b| (a, b)));
                let (a, b) = pairs.nth(column)?;
                let seen = points.iter().filter(|point| point.2 == a || point.2 == b);
                // The first of two classes is the yes of their duel.
                (vec![own], 0, seen.collect(), Some(a))
            }
            _ => return None,
        };
        // A duel of few points is penalised as if they were all: C is what a point counts.
        let half = report.l2 / 2.0 * n_points as f64 / points.len().max(1) as f64;
        Some(Self { loss: report.loss, half, scores, varied, points, yes })
    }

    /// The objective where the score has these weights.
    pub fn at(&self, a: f64, b: f64) -> f64 {
        let mut s = vec![0.0; self.scores.len()];
        let mut grad = s.clone();
        let mut sum = 0.0;
        for &&(x, y, class) in &self.points {
            for (l, (s, [wa, wb, c])) in s.iter_mut().zip(&self.scores).enumerate() {
                let (wa, wb) = if l == self.varied { (a, b) } else { (*wa, *wb) };
                *s = wa * x + wb * y + c;
            }
            sum += match self.yes {
                Some(yes) => self.loss_of(Binary, &mut s, u32::from(class == yes), &mut grad),
                None => self.loss_of(Classes(self.scores.len()), &mut s, class, &mut grad),
            };
        }
        let others: f64 = (self.scores.iter().enumerate())
            .filter(|(l, _)| *l != self.varied)
            .map(|(_, [a, b, _])| a * a + b * b)
            .sum();
        sum / self.points.len().max(1) as f64 + self.half * (a * a + b * b + others)
    }

    fn loss_of<S>(&self, space: S, scores: &mut [f64], y: u32, grad: &mut [f64]) -> f64
    where
        Hinge<ZeroOne>: Loss<f64, S>,
        Hinge<NoCost>: Loss<f64, S>,
        Logistic<NoCost>: Loss<f64, S>,
        SquaredHinge<ZeroOne>: Loss<f64, S>,
        Squared: Loss<f64, S>,
        S: lineal::space::OutputSpace<f64, Output = u32>,
    {
        match self.loss {
            LossKind::Hinge => Hinge(ZeroOne).value_grad(space, scores, y, grad),
            LossKind::Perceptron => Hinge(NoCost).value_grad(space, scores, y, grad),
            LossKind::SquaredHinge => SquaredHinge(ZeroOne).value_grad(space, scores, y, grad),
            LossKind::Squared => Squared.value_grad(space, scores, y, grad),
            _ => Logistic(NoCost).value_grad(space, scores, y, grad),
        }
    }

    /// The square, its values row by row from below, and where the weights are in it. `reach` is half its side, around 0; more where the weights would lie outside.
    pub fn json(&self, reach: Option<f64>) -> Value {
        let [a, b, _] = self.scores[self.varied];
        let farthest = a.abs().max(b.abs());
        let reach = match reach.filter(|reach| reach.is_finite() && *reach > 0.0) {
            Some(reach) => reach.max(INSIDE * farthest),
            None => BEYOND * farthest.max(0.5),
        };
        let n = if self.points.len() > POINTS { SQUARES / 2 } else { SQUARES };
        let middle = |i: usize| reach * ((2 * i + 1) as f64 / n as f64 - 1.0);
        let values: Vec<f64> =
            (0..n * n).map(|at| self.at(middle(at % n), middle(at / n))).collect();
        json!({"reach": reach, "squares": n, "values": values, "at": [a, b], "value": self.at(a, b)})
    }
}
