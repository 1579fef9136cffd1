//! What is asked for, and whether it makes sense.

#[cfg(feature = "train")]
mod check;
mod choices;
pub(crate) mod cost;
pub(crate) mod spec;
mod threshold;

#[cfg(feature = "train")]
pub(crate) use check::Request;
