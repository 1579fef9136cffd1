//! Features of spans: templates over the words at and around both ends, hashed into a table of weights.
//!
//! [`Templates`] are read from a file in a small syntax or [built in](BUILT_IN). [`Sentences`] keep a hash for each property that they read. `keys.rs` turns these into what each end of a span
//! contributes to its features, once per sentence; `table.rs` finds the weights.

mod error;
pub(crate) mod keys;
pub(crate) mod names;
pub(crate) mod sentences;
pub(crate) mod table;
pub(crate) mod templates;

pub use error::TemplateError;
pub(crate) use lineal_model::hash;
pub use sentences::Sentences;
pub use templates::{BUILT_IN, Section, Templates};
