//! Features: from raw text to sparse rows, and from rows to rows with more features.
//!
//! This crate must not know labels, losses, files or flags. Text comes from whoever has [`text::TextRows`], in batches; what comes out is
//! a [`Csr`](lineal_linalg::Csr) and an encoder that gives the same values for new text.
//!
//! ```
//! use lineal_features::text::{TextEncoder, TextSpec};
//!
//! let tickets = ["My invoice is wrong", "The invoice never came", "Cannot log in"];
//! let (encoder, rows) = TextEncoder::fit(TextSpec::default(), &tickets)?;
//! assert_eq!(encoder.feature_name(0), "invoice"); // by falling document frequency
//! let again = encoder.encode(&tickets)?;
//! assert_eq!(again, rows);
//! # Ok::<(), lineal_features::Error>(())
//! ```

mod error;
pub mod map;
pub mod sequence;
pub mod templates;
pub mod text;

pub use error::Error;
