//! From the columns of a sentence, or named attributes, to numbered attributes of each position.
//!
//! [`Templates`] say what is read; [`expand`] writes them from a short list. An [`ExtractorBuilder`] reads the training data once, numbers what it sees and gives the
//! [`Extractor`] that prediction uses. Attributes have no text on the way: each cell is hashed once, each template hashes the hashes of
//! its cells, and the 64 bits are looked up. Attributes that come with names of their own ([`named_attributes`]) go into an [`IndexBuilder`] directly. A [`Vectorizer`] does either, with columns
//! that a [`Lexicon`] adds.

mod crfsuite;
mod error;
mod extract;
mod hash;
mod lexicon;
mod table;
mod template;
mod vectorizer;
mod view;
mod vocabulary;

pub use crfsuite::{NamedAttribute, named_attributes};
pub use error::{Error, TokenError};
pub use extract::{ExtractScratch, Extractor, ExtractorBuilder, Names, Sentence};
pub use hash::hash_bytes;
pub use lexicon::{Lexicon, Tokenizer, parse_clusters};
pub use table::{AttributeIndex, Cut, IndexBuilder, Order, Renumber};
pub use template::Templates;
pub use vectorizer::{AttributeRows, AttributeSource, Vectorizer};
pub use vocabulary::{FeatureColumns, expand, expand_at};
