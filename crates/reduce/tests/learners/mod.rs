//! Binary learners over points of the plane, small enough to be seen to be right.
#![allow(dead_code)]

use lineal_reduce::{BinaryLearner, BinaryScorer, BinaryTask};
use std::convert::Infallible;

pub type Point = [f64; 2];

/// ⟨slope, x⟩ + bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    pub slope: Point,
    pub bias: f64,
}

impl BinaryScorer for Plane {
    type Inputs = [Point];
    fn score(&self, x: &Point) -> f64 {
        self.slope[0] * x[0] + self.slope[1] * x[1] + self.bias
    }
}

/// The plane of least squared error to the signs, exactly: 3×3 normal equations by Cramer's rule.
pub struct LeastSquares;

impl BinaryLearner for LeastSquares {
    type Scorer = Plane;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, [Point]>) -> Result<Plane, Infallible> {
        let (mut a, mut b) = ([[0.0; 3]; 3], [0.0; 3]);
        for example in task.iter() {
            let z = [example.x[0], example.x[1], 1.0];
            for i in 0..3 {
                b[i] += example.weight * z[i] * example.sign;
                for j in 0..3 {
                    a[i][j] += example.weight * z[i] * z[j];
                }
            }
        }
        let solved = [0, 1, 2].map(|column| {
            let mut replaced = a;
            for i in 0..3 {
                replaced[i][column] = b[i];
            }
            determinant(replaced) / determinant(a)
        });
        Ok(Plane { slope: [solved[0], solved[1]], bias: solved[2] })
    }
}

fn determinant(a: [[f64; 3]; 3]) -> f64 {
    a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1])
        - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
        + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0])
}

/// Halfway between the two sums: crude, but on integer points its scores are exact.
pub struct MeanDifference;

impl BinaryLearner for MeanDifference {
    type Scorer = Plane;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, [Point]>) -> Result<Plane, Infallible> {
        let mut plane = Plane { slope: [0.0; 2], bias: 0.0 };
        for example in task.iter() {
            plane.slope[0] += example.sign * example.x[0] / 64.0;
            plane.slope[1] += example.sign * example.x[1] / 64.0;
            plane.bias += example.sign / 8.0;
        }
        Ok(plane)
    }
}

/// Yes on one side of a threshold on one coordinate.
#[derive(Debug)]
pub struct Stump {
    axis: usize,
    threshold: f64,
    side: f64,
}

impl BinaryScorer for Stump {
    type Inputs = [Point];
    fn score(&self, x: &Point) -> f64 {
        self.side * (x[self.axis] - self.threshold)
    }
}

/// The stump of the least weighted error among thresholds at the points.
pub struct BestStump;

impl BinaryLearner for BestStump {
    type Scorer = Stump;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, [Point]>) -> Result<Stump, Infallible> {
        let mut best = (f64::INFINITY, Stump { axis: 0, threshold: 0.0, side: 1.0 });
        for x in (0..task.len()).map(|i| task.x(i)) {
            for (axis, side) in [(0, 1.0), (0, -1.0), (1, 1.0), (1, -1.0)] {
                let stump = Stump { axis, threshold: x[axis], side };
                let is_wrong = |e: &lineal_reduce::Example<&Point>| {
                    (stump.score(e.x) >= 0.0) != (e.sign > 0.0)
                };
                let wrong: f64 = task.iter().filter(is_wrong).map(|e| e.weight).sum();
                if wrong < best.0 {
                    best = (wrong, stump);
                }
            }
        }
        Ok(best.1)
    }
}

/// Remembers which rows take part and their signs, but no point: those it looks up.
pub struct Neighbours<'d> {
    points: &'d [Point],
    rows: Vec<(u32, f64)>,
}

impl BinaryScorer for Neighbours<'_> {
    type Inputs = [Point];
    /// How much nearer the nearest positive point is than the nearest negative one.
    fn score(&self, x: &Point) -> f64 {
        let nearest = |sign: f64| {
            let own = self
                .rows
                .iter()
                .filter(|(_, s)| *s == sign)
                .map(|(row, _)| self.points[*row as usize]);
            own.map(|p| (p[0] - x[0]).hypot(p[1] - x[1])).fold(f64::INFINITY, f64::min)
        };
        nearest(-1.0) - nearest(1.0)
    }
}

/// One nearest neighbour over points that it borrows itself.
pub struct Nearest<'d>(pub &'d [Point]);

impl<'d> BinaryLearner for Nearest<'d> {
    type Scorer = Neighbours<'d>;
    type Error = Infallible;
    fn fit(&self, task: &BinaryTask<'_, [Point]>) -> Result<Neighbours<'d>, Infallible> {
        let rows = task.rows().iter().copied().zip(task.iter().map(|e| e.sign));
        Ok(Neighbours { points: self.0, rows: rows.collect() })
    }
}
