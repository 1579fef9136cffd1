//! From scores to probabilities that can be believed, and to decisions.
//!
//! Three steps, each a few functions and a type that serialises:
//!
//! 1. **Calibrate**: maps from a score to P(yes), fitted on held-out scores: [`Platt`], [`Isotonic`], [`Temperature`], or
//!    [`Calibration`] for all columns of a model.
//! 2. **Couple**: the answers of binary questions become probabilities of K classes that sum to one: [`couple`].
//! 3. **Decide**: [`thresholds`] turn scores of labels into sets of labels.
//!
//! This crate must not know how a score was made: no model, feature, loss or solver, and no file. Whoever calls it sees to it
//! that scores are held out (cross-fitted). What is valid is checked once, when [`Answers`] and [`Held`] are made; nothing
//! below them fails. No probability is ever NaN, whatever the scores.
//!
//! ```
//! use lineal_calibrate::{Aim, Calibration, Held, Kind, Truth, thresholds};
//!
//! // Held-out scores of three classes, one row per example.
//! let scores = [2.0, 0.1, -1.0, 0.3, 0.5, -0.2, -1.5, 0.25, 3.0, 1.0, 0.9, -2.0, -0.5, 1.5, 0.7, 0.1, 0.0, 0.6];
//! let held = Held::new(3, &scores, Truth::Classes(&[0, 1, 2, 1, 1, 2]))?;
//! let calibration = Calibration::fit(Kind::Temperature, &held);
//! let mut p = [0.0; 3];
//! calibration.classes(&[1.2, 0.7, -0.4], &mut p);
//! assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12 && p[0] > p[1] && p[1] > p[2]);
//!
//! // The same scores as those of three labels, any number of which may be true: a threshold each.
//! let labels = Truth::Labels { start: &[0, 1, 3, 4, 5, 6, 6], ids: &[0, 0, 1, 2, 0, 1] };
//! let held = Held::new(3, &scores, labels)?;
//! let cuts = thresholds(Aim::F1 { floor: 0.1 }, &held)?;
//! assert_eq!(cuts, [0.2, 0.375, 1.85]);
//! # Ok::<(), lineal_calibrate::Error>(())
//! ```

mod calibration;
pub mod couple;
mod error;
mod held;
mod isotonic;
mod platt;
mod temperature;
mod threshold;

pub use calibration::{Calibration, Kind};
pub use error::Error;
pub use held::{Answers, Held, Truth};
pub use isotonic::Isotonic;
pub use platt::Platt;
pub use temperature::Temperature;
pub use threshold::{Aim, NEVER, threshold, thresholds};
