//! Features of words and arcs: templates over the columns of a sentence, hashed into a table of weights.

mod error;
pub(crate) mod hash;
pub(crate) mod keys;
pub(crate) mod names;
pub(crate) mod relation;
pub(crate) mod sentences;
pub(crate) mod slots;
mod syntax;
pub(crate) mod templates;
mod weights;

pub use error::TemplateError;
pub use sentences::Sentences;
pub use syntax::Section;
pub use templates::{BUILT_IN, Templates};
