//! Dependency parsing: a head and a relation for each word of a sentence.

mod spec;

pub use spec::DependencySpec;
