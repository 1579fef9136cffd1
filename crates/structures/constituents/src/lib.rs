//! Constituency trees over the words of a sentence: grammar, oracles, features of spans, problems to learn.
//!
//! A [`Tree`] has labelled brackets over words whose parts of speech are given. A [`Grammar`] is read off trees: it makes binary [`Derivation`]s of them (phrases over the same words become one node,
//! longer phrases are split in two) and trees of these again. A derivation scores
//!
//! ```text
//! Σ over nodes of label(i, j, A)  +  Σ over nodes A → B C of left(i, k, A) + right(k, j, A) + pair(A, left, B) + pair(A, right, C)
//! ```
//!
//! where `label`, `left` and `right` are sums of weights of features of a span, so that a sentence of n words has O(n²) rows of features ("Less grammar, more features", Hall, Durrett
//! and Klein 2014; Stern, Andreas and Klein 2017).
//!
//! | oracle | algorithm | time |
//! |---|---|---|
//! | best derivation | CYK | n³·symbols + n²·pairs |
//! | sums and probabilities of parts | inside–outside | the same |
//! | k best | lazily from the chart (Huang and Chiang 2005) | little more |
//!
//! [`problem::SpanClassifier`] prunes spans, [`problem::Constituents`] has the trees, and [`parser::Parser`] runs both; brackets that must hold are [`problem::Known`].
//!
//! This crate must not know files, flags, losses or solvers.
//!
//! ```
//! use lineal_constituents::{Grammar, GrammarSpec, Phrase, Tree};
//!
//! // (S (NP (NP dogs) and (NP cats)) bark)
//! let phrases = [("S", 0, 4), ("NP", 0, 3), ("NP", 0, 1), ("NP", 2, 3)];
//! let tree = Tree::new(4, phrases.map(|(label, i, j)| Phrase::new(label, i, j)).to_vec())?;
//! let tags = ["NNS", "CC", "NNS", "VBP"];
//! let grammar = Grammar::read([(&tree, &tags[..])].into_iter(), GrammarSpec { vertical: 1, ..GrammarSpec::default() });
//! let derivation = grammar.derive(&tree, &tags).unwrap();
//! let names: Vec<String> = derivation.nodes.iter().map(|node| grammar.name(node.symbol)).collect();
//! assert_eq!(names, ["S", "NP", "@NP", "NP", "CC", "NP", "VBP"]);
//! assert_eq!(grammar.restore(&derivation), tree);
//! # Ok::<(), lineal_constituents::TreeError>(())
//! ```

mod chart;
mod derivation;
pub mod features;
mod grammar;
pub mod parser;
pub mod problem;
mod tree;

pub use chart::Spans;
pub use derivation::{Derivation, Node};
pub use grammar::{
    Branching, Grammar, GrammarError, GrammarSpec, GrammarTables, Kind, Pairs, Symbol,
};
pub use tree::{Phrase, Tree, TreeError};
