//! Examples, and the problems that a declaration makes of them.

mod example;
mod instances;
mod rules;

pub use example::{Example, ExampleError, Record, Value};
pub use instances::{Examples, Ground, GroundFactor};
