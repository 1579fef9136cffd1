//! Losses of one score.

/// A loss of a target and a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loss {
    /// max(0, margin − y·s); the perceptron's with a margin of 0.
    Hinge {
        /// The margin.
        margin: f64,
    },
    /// max(0, 1 − y·s)².
    SquaredHinge,
    /// ln(1 + eˢ) − y·s, for targets of 0 and 1.
    Logistic,
    /// The squared hinge that turns linear at y·s = −1.
    ModifiedHuber,
    /// ½(s − y)².
    Squared,
    /// ½r² up to r = δ, linear beyond.
    Huber {
        /// δ.
        delta: f64,
    },
    /// max(0, |y − s| − ε).
    Epsilon {
        /// ε.
        epsilon: f64,
    },
    /// max(0, |y − s| − ε)².
    SquaredEpsilon {
        /// ε.
        epsilon: f64,
    },
}

impl Loss {
    /// The loss of a score.
    pub fn value(self, y: f64, s: f64) -> f64 {
        match self {
            Loss::Hinge { margin } => (margin - y * s).max(0.0),
            Loss::SquaredHinge => (1.0 - y * s).max(0.0).powi(2),
            Loss::Logistic => {
                let softplus = if s > 0.0 { s + (-s).exp().ln_1p() } else { s.exp().ln_1p() };
                softplus - y * s
            }
            Loss::ModifiedHuber => match y * s {
                m if m >= 1.0 => 0.0,
                m if m >= -1.0 => (1.0 - m) * (1.0 - m),
                m => -4.0 * m,
            },
            Loss::Squared => 0.5 * (s - y) * (s - y),
            Loss::Huber { delta } => match (s - y).abs() {
                r if r <= delta => 0.5 * r * r,
                r => delta * (r - 0.5 * delta),
            },
            Loss::Epsilon { epsilon } => ((y - s).abs() - epsilon).max(0.0),
            Loss::SquaredEpsilon { epsilon } => ((y - s).abs() - epsilon).max(0.0).powi(2),
        }
    }

    /// Its derivative by the score.
    pub fn gradient(self, y: f64, s: f64) -> f64 {
        match self {
            // At the corner the margin counts as missed: a perceptron at 0 learns.
            Loss::Hinge { margin } => {
                if y * s <= margin {
                    -y
                } else {
                    0.0
                }
            }
            Loss::SquaredHinge => -2.0 * y * (1.0 - y * s).max(0.0),
            Loss::Logistic => {
                // In the order of scikit-learn's operations: steps near a border repeat a difference of one rounding many times over.
                if s > -37.0 {
                    let e = (-s).exp();
                    ((1.0 - y) - y * e) / (1.0 + e)
                } else {
                    s.exp() - y
                }
            }
            Loss::ModifiedHuber => match y * s {
                m if m >= 1.0 => 0.0,
                m if m >= -1.0 => -2.0 * (1.0 - m) * y,
                _ => -4.0 * y,
            },
            Loss::Squared => s - y,
            Loss::Huber { delta } => (s - y).clamp(-delta, delta),
            Loss::Epsilon { epsilon } => match y - s {
                r if r > epsilon => -1.0,
                r if -r > epsilon => 1.0,
                _ => 0.0,
            },
            Loss::SquaredEpsilon { epsilon } => match y - s {
                r if r > epsilon => -2.0 * (r - epsilon),
                r if -r > epsilon => 2.0 * (-r - epsilon),
                _ => 0.0,
            },
        }
    }

    /// Which way a score should move: to the side of its target.
    pub(crate) fn direction(self, y: f64, s: f64) -> f64 {
        match self {
            Loss::Hinge { .. } => y,
            _ if y - s < 0.0 => -1.0,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_derivatives() {
        let losses = [
            Loss::Hinge { margin: 1.0 },
            Loss::SquaredHinge,
            Loss::Logistic,
            Loss::ModifiedHuber,
            Loss::Squared,
            Loss::Huber { delta: 0.7 },
            Loss::Epsilon { epsilon: 0.2 },
            Loss::SquaredEpsilon { epsilon: 0.2 },
        ];
        for loss in losses {
            for y in [-1.0, 0.0, 1.0] {
                for s in [-3.1, -0.93, -0.31, 0.13, 0.57, 2.9] {
                    let h = 1e-6;
                    let slope = (loss.value(y, s + h) - loss.value(y, s - h)) / (2.0 * h);
                    let gradient = loss.gradient(y, s);
                    assert!(
                        (slope - gradient).abs() < 1e-6,
                        "{loss:?} {y} {s}: {slope} {gradient}"
                    );
                }
            }
        }
    }
}
