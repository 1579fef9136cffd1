//! Dependency parsing: a head and a relation for each word of a sentence.
//!
//! [`DependencySpec`] holds what only trees can choose, [`Training`](crate::Training) runs it, [`DependencyModel`] parses, measures, explains and saves itself. A
//! model is learnt in stages, each a structure of `lineal_dependencies` and each by the same learners: a pruner that leaves a few heads for each word, the trees, and the
//! relations.
//!
//! ```
//! use lineal::{DependencySpec, Source, TreebankOptions, read_treebank, train};
//!
//! let text = "1\tshe\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\tsleeps\t_\tVERB\t_\t_\t0\troot\t_\t_\n\n".repeat(3);
//! let source = Source::Memory { name: "train.conllu".into(), bytes: text.into_bytes() };
//! let data = read_treebank(source, &TreebankOptions::default())?;
//!
//! let (model, _) = train(&data, &DependencySpec::default().into())?;
//! let parsed = &model.parse(&data)?[0];
//! assert_eq!(parsed.heads, [2, 0]);
//! assert_eq!(model.relation(parsed.relations[0]), "nsubj");
//! # Ok::<(), lineal::Error>(())
//! ```

mod model;
mod spec;
mod train;

pub use model::DependencyModel;
pub use spec::{DecoderKind, DependencySpec, LabellerKind};
