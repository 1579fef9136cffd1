//! Why nothing was fitted.

/// Held-out scores, or a code or tree, that do not fit together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No rows, or none with a weight.
    #[error("there are no held-out rows with a weight above 0 to calibrate on")]
    Empty,
    /// Two inputs do not belong together.
    #[error("{expected} {what} are needed and {found} were given")]
    Length {
        /// What was counted.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
    /// A score or weight that is not finite, or below 0 where it must not be.
    #[error("{what} {at} is {value}; it must be {wanted}")]
    Value {
        /// What it is.
        what: &'static str,
        /// Its place, from 0.
        at: usize,
        /// Its value.
        value: f64,
        /// What would do.
        wanted: &'static str,
    },
    /// A setting out of its range.
    #[error("the {what} is {value}; it must be {wanted}")]
    Setting {
        /// What it is.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What would do.
        wanted: &'static str,
    },
    /// A class or label that there is not.
    #[error("row {row} has {what} {id}, but there are {n} of them, counted from 0")]
    Id {
        /// The row, from 0.
        row: usize,
        /// "class" or "label".
        what: &'static str,
        /// Its number.
        id: u32,
        /// How many there are.
        n: usize,
    },
    /// Starts that do not rise, entries that are not those of a code, parents that come after their children.
    #[error("{0}")]
    Shape(&'static str),
}

impl Error {
    pub(crate) fn unless_len(
        what: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), Self> {
        if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
    }

    /// Scores must be finite: an infinite one says nothing of how far the others are apart.
    pub(crate) fn unless_finite(scores: &[f64]) -> Result<(), Self> {
        match scores.iter().position(|s| !s.is_finite()) {
            None => Ok(()),
            Some(at) => {
                Err(Error::Value { what: "score", at, value: scores[at], wanted: "finite" })
            }
        }
    }

    pub(crate) fn unless_weights(weights: &[f32]) -> Result<(), Self> {
        let wanted = "finite and not negative";
        match weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            None if weights.iter().all(|&w| w == 0.0) => Err(Error::Empty),
            None => Ok(()),
            Some(at) => Err(Error::Value { what: "weight", at, value: weights[at].into(), wanted }),
        }
    }
}
