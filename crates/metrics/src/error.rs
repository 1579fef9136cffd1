//! Why there is no metric.

/// Input that has no answer. The program rules all but [`Error::Empty`] out before it gets here.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No rows.
    #[error("there is nothing to evaluate: the data has no rows")]
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
    /// A class that there is not.
    #[error("row {row}: the {what} class {class} is not one of the {n_classes} of the model")]
    Class {
        /// The row, from 1.
        row: usize,
        /// Gold or predicted.
        what: &'static str,
        /// The class.
        class: u32,
        /// How many classes there are.
        n_classes: usize,
    },
    /// A label that there is not.
    #[error("row {row}: the {what} label {label} is not one of the {n_labels} of the model")]
    Label {
        /// The row, from 1.
        row: usize,
        /// Gold, predicted or ranked.
        what: &'static str,
        /// The label.
        label: u32,
        /// How many labels there are.
        n_labels: usize,
    },
    /// Lists that do not lie one after the other.
    #[error("the starts of the {what} lists must rise from 0 to the number of labels in them")]
    Lists {
        /// Gold or predicted.
        what: &'static str,
    },
    /// A value that is not a number, or not a probability.
    #[error("row {row}: the {what} {value} is out of range")]
    Value {
        /// The row, from 1.
        row: usize,
        /// What it should be.
        what: &'static str,
        /// What it is.
        value: f64,
    },
}

impl Error {
    pub(crate) fn unless_len(
        what: &'static str,
        expected: usize,
        found: usize,
    ) -> Result<(), Self> {
        if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
    }

    pub(crate) fn unless_finite(what: &'static str, values: &[f64]) -> Result<(), Self> {
        match values.iter().position(|v| !v.is_finite()) {
            None => Ok(()),
            Some(i) => Err(Error::Value { row: i + 1, what, value: values[i] }),
        }
    }
}
