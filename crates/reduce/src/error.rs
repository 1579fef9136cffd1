//! What went wrong, with the value and what would fix it.

use thiserror::Error;

/// Why examples, a code or a tree were refused.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to learn from.
    #[error("no training rows")]
    NoRows,
    /// Row numbers are 32 bits wide.
    #[error("{0} rows, but at most 4294967295 can be numbered")]
    TooManyRows(usize),
    /// Inputs and labels, or inputs and weights, differ in number.
    #[error("{inputs} inputs but {others} {what}")]
    Lengths {
        /// How many inputs there are.
        inputs: usize,
        /// How many of the other thing.
        others: usize,
        /// The other thing.
        what: &'static str,
    },
    /// A label that is not a class.
    #[error("row {row} has class {y}, but the {n_classes} classes count from 0")]
    Label {
        /// 0-based row.
        row: usize,
        /// Its label.
        y: u32,
        /// How many classes there are.
        n_classes: usize,
    },
    /// A weight below zero or not finite.
    #[error("row {0} has a weight that is negative or not finite")]
    Weight(usize),
    /// A table of costs that is not K × K.
    #[error("{n_classes} classes need {n_classes} × {n_classes} costs, not {found}")]
    Costs {
        /// How many classes there are.
        n_classes: usize,
        /// How many costs were given.
        found: usize,
    },
    /// A cost below zero or not finite.
    #[error("the cost of predicting {y_hat} for class {y} is negative or not finite")]
    Cost {
        /// The true class.
        y: usize,
        /// The predicted one.
        y_hat: usize,
    },
    /// A code, a tree or a table of costs is for another number of classes.
    #[error("the {what} is for {made_for} classes, the examples have {n_classes}")]
    Classes {
        /// "code", "tree" or "cost table".
        what: &'static str,
        /// Its number of classes.
        made_for: usize,
        /// That of the examples.
        n_classes: usize,
    },
    /// This kind of code or tree does not exist for so many classes.
    #[error("{what} for {n_classes} classes: {remedy}")]
    Size {
        /// What was asked for.
        what: &'static str,
        /// For how many classes.
        n_classes: usize,
        /// What would work.
        remedy: String,
    },
    /// A row of a code is not as long as the first.
    #[error("class {class} has {found} code entries, class 0 has {expected}")]
    Ragged {
        /// The class whose row it is.
        class: usize,
        /// Its length.
        found: usize,
        /// The length of the first row.
        expected: usize,
    },
    /// A code entry other than −1, 0 and 1.
    #[error("class {class}, column {column}: {value} is not -1, 0 or 1")]
    Entry {
        /// 0-based class.
        class: usize,
        /// 0-based column.
        column: usize,
        /// What stands there.
        value: i8,
    },
    /// A column that separates nothing.
    #[error("column {0} of the code needs a class with + and a class with -")]
    ConstantColumn(usize),
    /// A column that asks what another asks.
    #[error("column {1} of the code is a copy or the complement of column {0}: drop one of them")]
    RepeatedColumn(usize, usize),
    /// Two classes that no decoding can tell apart.
    #[error("classes {0} and {1} have the same code: add a column on which they differ")]
    RepeatedRow(usize, usize),
    /// A class in no column.
    #[error("class {0} has only zeros in the code: it takes part in no problem")]
    EmptyRow(usize),
    /// Text that is no code or tree.
    #[error("line {line}, column {column}: {message}")]
    Text {
        /// 1-based line.
        line: usize,
        /// 1-based character in the line.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A class that a tree has not, or more than once.
    #[error("the tree has {n_leaves} leaves, but class {class} stands {times} times, not once")]
    Leaf {
        /// How many leaves there are.
        n_leaves: usize,
        /// The class.
        class: u32,
        /// How often it stands there.
        times: usize,
    },
}

/// Why a reduction was not learnt.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FitError<E: std::error::Error + 'static> {
    /// The reduction does not fit the examples.
    #[error(transparent)]
    Setup(#[from] Error),
    /// The binary learner failed. Of several failures this is the one of the lowest problem.
    #[error("binary problem {problem} ({question}): {source}")]
    Learner {
        /// Number of the problem, from 0.
        problem: usize,
        /// What it asked, such as "class 3 against the rest".
        question: String,
        /// What the learner said.
        source: E,
    },
}
