//! The maps of a whole model: one per column, or one temperature for all.

use crate::held::Held;
use crate::{Error, Isotonic, Platt, Temperature, couple};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Which map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A sigmoid a column: two numbers, for a few hundred held-out rows and more.
    Platt,
    /// One step-like curve per column, for a thousand rows and more; it assumes only that a higher score is no less likely.
    Isotonic,
    /// One number: no class moves up or down.
    Temperature,
}

/// Maps from the L scores of a model to L probabilities, each between 0 and 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Calibration {
    /// A sigmoid a column.
    Platt(Vec<Platt>),
    /// A curve a column.
    Isotonic(Vec<Isotonic>),
    /// One temperature.
    Temperature(Temperature),
}

impl Calibration {
    /// Fits the maps; columns in parallel, with the same result at any number of threads. A column that no held-out row
    /// is asked says ½.
    pub fn fit(kind: Kind, held: &Held<'_>) -> Self {
        let columns = (0..held.n_columns()).into_par_iter().map(|column| held.column(column));
        match kind {
            Kind::Platt => Self::Platt(columns.map(|c| Platt::fit(&c.answers())).collect()),
            Kind::Isotonic => {
                Self::Isotonic(columns.map(|c| Isotonic::fit(&c.answers())).collect())
            }
            Kind::Temperature => Self::Temperature(Temperature::fit(held)),
        }
    }

    /// Which map it is.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Platt(_) => Kind::Platt,
            Self::Isotonic(_) => Kind::Isotonic,
            Self::Temperature(_) => Kind::Temperature,
        }
    }

    /// Number of columns, or `None` for a temperature, which has no columns of its own. A model file that says
    /// otherwise than the model has been tampered with.
    pub fn n_columns(&self) -> Option<usize> {
        match self {
            Self::Platt(maps) => Some(maps.len()),
            Self::Isotonic(maps) => Some(maps.len()),
            Self::Temperature(_) => None,
        }
    }

    /// P(yes) of each column: for labels, pairs, output codes and nodes of trees. `scores` and `out` have L entries.
    pub fn columns(&self, scores: &[f64], out: &mut [f64]) {
        let pairs = out.iter_mut().zip(scores);
        match self {
            Self::Platt(maps) => pairs.zip(maps).for_each(|((p, &s), map)| *p = map.proba(s)),
            Self::Isotonic(maps) => pairs.zip(maps).for_each(|((p, &s), map)| *p = map.proba(s)),
            Self::Temperature(t) => pairs.for_each(|(p, &s)| *p = t.sigmoid(s)),
        }
    }

    /// Probabilities of K classes from their K scores, or of two classes from one score, that sum to one: the softmax of
    /// a temperature, or columns brought to a sum of one. For maps fitted on [`Truth::Classes`](crate::Truth::Classes).
    pub fn classes(&self, scores: &[f64], out: &mut [f64]) {
        match (self, out) {
            (_, [no, yes]) if scores.len() == 1 => {
                self.columns(scores, std::slice::from_mut(yes));
                *no = 1.0 - *yes;
            }
            (Self::Temperature(t), out) => t.softmax(scores, out),
            (_, out) => {
                self.columns(scores, out);
                couple::one_vs_all(out);
            }
        }
    }
}

impl FromStr for Kind {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        match text {
            "platt" => Ok(Self::Platt),
            "isotonic" => Ok(Self::Isotonic),
            "temperature" => Ok(Self::Temperature),
            _ => Err(Error::Shape("a calibration is platt, isotonic or temperature")),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Platt => "platt",
            Self::Isotonic => "isotonic",
            Self::Temperature => "temperature",
        })
    }
}
