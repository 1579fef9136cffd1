//! Text into sparse rows.

mod assemble;
mod counts;
mod encoder;
mod fit;
mod hashed;
mod lower;
mod merge;
mod murmur;
mod names;
mod ngrams;
mod order;
mod page;
mod plan;
mod rows;
mod scan;
mod sort;
mod spec;
mod stop;
mod tables;
mod tally;
mod unicode;
mod vocabulary;
mod weigh;

pub use counts::TextCounts;
pub use encoder::{EncodedRows, FeatureSpan, TextEncoder, TextParts, TextScratch};
pub use fit::TextFit;
pub use names::Collisions;
pub use rows::TextRows;
pub use spec::{DocFreq, Norm, StopWords, TextSpec, Tokens, Weights};
pub use stop::ENGLISH;
