//! Features of words and arcs: templates over the columns of a sentence, hashed into a table of weights.
//!
//! [`Templates`] are read from a file in a small syntax ([`Section`] lists what they describe; `syntax.rs` has the whole of it) or [built in](BUILT_IN). [`Sentences`] keep a hash for
//! each cell that they read. `keys.rs` turns these into what each word contributes to its features, once per sentence; `weights.rs` adds the weights of a part up.
//!
//! ```
//! use lineal_dependencies::features::{Section, Sentences, Templates};
//!
//! let templates = Templates::parse("[arcs]\nh.upos m.upos\nh.form m.form:lower", &["form", "upos"])?;
//! assert_eq!(templates.n_templates(Section::Arcs), 2);
//! let sentences = Sentences::hash(&templates, [&["Dogs", "NOUN", "bark", "VERB"][..]]);
//! assert_eq!((sentences.len(), sentences.n_words()), (1, 2));
//! # Ok::<(), lineal_dependencies::features::TemplateError>(())
//! ```

mod error;
pub(crate) mod keys;
pub(crate) mod names;
pub(crate) mod relation;
pub(crate) mod sentences;
pub(crate) mod slots;
mod syntax;
pub(crate) mod templates;
mod weights;

pub use error::TemplateError;
pub(crate) use lineal_model::hash;
pub use sentences::Sentences;
pub use syntax::Section;
pub use templates::{BUILT_IN, Templates};
