//! Stochastic gradient steps of one binary problem or one regression, epoch by epoch, with the schedules, the order and the averages of scikit-learn's `SGDClassifier`,
//! `SGDRegressor`, `Perceptron` and `PassiveAggressiveClassifier`: whoever changes the import gets the same weights.
//!
//! The library's own stochastic solver is [`solver::sgd`](https://docs.rs/lineal-solver); this one exists for its manners. When to stop is the caller's business: an
//! epoch tells what it saw.
//!
//! ```
//! use lineal_linalg::{Dense, Matrix};
//! use lineal_steps::{Loss, Rate, Settings, Steps};
//!
//! let x = Matrix::Dense(Dense::new(2, 1, vec![-1.0, 1.0]).unwrap());
//! let settings = Settings { loss: Loss::Hinge { margin: 1.0 }, rate: Rate::Constant { eta: 0.1 }, bias: false, ..Settings::default() };
//! let mut steps = Steps::new(vec![0.0], 0.0);
//! let seen = steps.epoch(&settings, &x, &[-1.0, 1.0], None, &[0, 1]);
//! assert!((seen.loss - 1.9).abs() < 1e-15); // 1, and 0.9 after the first step
//! assert!((steps.weights()[0] - 0.2).abs() < 1e-15);
//! ```

mod loss;
mod order;
mod weights;

pub use loss::Loss;
pub use order::shuffle;

use lineal_linalg::{Matrix, Row};
use weights::ScaledWeights;

/// No gradient counts for more.
const MAX_GRADIENT: f64 = 1e12;

/// How large steps are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rate {
    /// The same always; `adaptive` schedules change it between epochs.
    Constant {
        /// η.
        eta: f64,
    },
    /// 1 / (α·(t₀ + t − 1)), with Bottou's t₀.
    Optimal,
    /// η / tᵖ.
    Inverse {
        /// η.
        eta: f64,
        /// p.
        power: f64,
    },
    /// Just as far as the row needs, and at most this far: PA-I.
    PassiveAggressive {
        /// The longest step.
        longest: f64,
    },
    /// Just as far as the row needs, less by a term: PA-II.
    SoftPassiveAggressive {
        /// The larger, the closer to what the row needs.
        firmness: f64,
    },
}

/// What does not change from epoch to epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The loss.
    pub loss: Loss,
    /// How large steps are.
    pub rate: Rate,
    /// The factor of the penalty.
    pub alpha: f64,
    /// The share of it that is ‖w‖₁; none for no penalty at all.
    pub l1_ratio: Option<f64>,
    /// Whether there is a bias.
    pub bias: bool,
    /// A factor on steps of the bias; below 1 for sparse rows.
    pub bias_decay: f64,
    /// A factor on rows with a positive target.
    pub weight_positive: f64,
    /// A factor on the others.
    pub weight_negative: f64,
    /// Average from this step on; 0 for never.
    pub average_from: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            loss: Loss::Hinge { margin: 1.0 },
            rate: Rate::Optimal,
            alpha: 1e-4,
            l1_ratio: None,
            bias: true,
            bias_decay: 1.0,
            weight_positive: 1.0,
            weight_negative: 1.0,
            average_from: 0,
        }
    }
}

/// What an epoch saw on its way, summed over its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// The losses, each before the row's own step.
    pub loss: f64,
    /// The losses and the penalties.
    pub objective: f64,
}

/// Weights on their way.
#[derive(Clone, Debug)]
pub struct Steps {
    w: ScaledWeights,
    bias: f64,
    average_bias: f64,
    /// The number of the next step, from 1.
    t: f64,
    /// What ‖w‖₁ would have taken from each weight by now, and what it took.
    due: f64,
    paid: Vec<f64>,
}

impl Steps {
    /// From these weights and this bias.
    pub fn new(weights: Vec<f64>, bias: f64) -> Self {
        let paid = vec![0.0; weights.len()];
        Self { w: ScaledWeights::new(weights), bias, average_bias: 0.0, t: 1.0, due: 0.0, paid }
    }

    /// Goes on where earlier calls ended: the number of the next step, and the averages so far.
    pub fn resume(mut self, t: f64, average: Option<(Vec<f64>, f64)>) -> Self {
        self.t = t;
        if let Some((weights, bias)) = average {
            self.w.set_average(weights);
            self.average_bias = bias;
        }
        // What ‖w‖₁ is due starts anew with each call, as there.
        self.due = 0.0;
        self.paid.fill(0.0);
        self
    }

    /// One step for each row of `order`, a list of rows. `y` is ±1 for margins, 0 or 1 for the logistic loss, any number for regression.
    ///
    /// # Panics
    /// If `y`, `weights` or the rows of `x` are fewer than `order` says, or rows are wider than the weights.
    pub fn epoch(
        &mut self,
        settings: &Settings,
        x: &Matrix,
        y: &[f64],
        weights: Option<&[f64]>,
        order: &[u32],
    ) -> Seen {
        let Settings { loss, alpha, .. } = *settings;
        let l1_ratio = settings.l1_ratio.unwrap_or(0.0);
        let start = match settings.rate {
            Rate::Optimal => {
                let typical = (1.0 / alpha.sqrt()).sqrt();
                let first = typical / loss.gradient(1.0, -typical).max(1.0);
                1.0 / (first * alpha)
            }
            _ => 0.0,
        };
        let passive = matches!(
            settings.rate,
            Rate::PassiveAggressive { .. } | Rate::SoftPassiveAggressive { .. }
        );
        let mut seen = Seen::default();
        for &i in order {
            let i = i as usize;
            let (row, y) = (x.row(i), y[i]);
            let score = self.w.dot(&row) + self.bias;
            let eta = match settings.rate {
                Rate::Constant { eta } => eta,
                Rate::Optimal => 1.0 / (alpha * (start + self.t - 1.0)),
                Rate::Inverse { eta, power } => eta / self.t.powf(power),
                Rate::PassiveAggressive { longest: eta }
                | Rate::SoftPassiveAggressive { firmness: eta } => eta,
            };
            let value = loss.value(y, score);
            seen.loss += value;
            seen.objective += value;
            if settings.l1_ratio.is_some() && !passive {
                let (l2, l1) =
                    (self.w.norm_sq(), if l1_ratio > 0.0 { self.w.norm_1() } else { 0.0 });
                seen.objective += alpha * ((1.0 - l1_ratio) * 0.5 * l2 + l1_ratio * l1);
            }
            let mut step = match settings.rate {
                Rate::PassiveAggressive { longest } => {
                    let norm = norm_sq(&row);
                    if norm == 0.0 {
                        continue;
                    }
                    longest.min(value / norm) * loss.direction(y, score)
                }
                Rate::SoftPassiveAggressive { firmness } => {
                    value / (norm_sq(&row) + 0.5 / firmness) * loss.direction(y, score)
                }
                _ => -eta * loss.gradient(y, score).clamp(-MAX_GRADIENT, MAX_GRADIENT),
            };
            let of_class =
                if y > 0.0 { settings.weight_positive } else { settings.weight_negative };
            step *= of_class * weights.map_or(1.0, |weights| weights[i]);
            if settings.l1_ratio.is_some() {
                self.w.scale((1.0 - (1.0 - l1_ratio) * eta * alpha).max(0.0));
            }
            if step != 0.0 {
                self.w.add(&row, step);
                if settings.bias {
                    self.bias += step * settings.bias_decay;
                }
            }
            let from = settings.average_from as f64;
            if from > 0.0 && from <= self.t {
                let n = self.t - from + 1.0;
                self.w.take_into_average(&row, step, n);
                self.average_bias += (self.bias - self.average_bias) / n;
            }
            if l1_ratio > 0.0 && settings.l1_ratio.is_some() {
                self.due += l1_ratio * eta * alpha;
                self.w.truncate(&row, self.due, &mut self.paid);
            }
            self.t += 1.0;
        }
        seen
    }

    /// The weights as they are now.
    pub fn weights(&self) -> Vec<f64> {
        self.w.to_vec()
    }

    /// The weights but for a common factor above 0, which scikit-learn leaves out where it measures on held-out rows: the same stops need the same.
    pub fn unscaled(&self) -> Vec<f64> {
        self.w.unscaled().to_vec()
    }

    /// The bias as it is now.
    pub fn bias(&self) -> f64 {
        self.bias
    }

    /// The averages, of weights and bias.
    pub fn averages(&self) -> (Vec<f64>, f64) {
        (self.w.average(), self.average_bias)
    }

    /// The number of the next step.
    pub fn t(&self) -> f64 {
        self.t
    }
}

fn norm_sq(row: &Row<'_>) -> f64 {
    row.values().iter().map(|&v| f64::from(v) * f64::from(v)).sum()
}
