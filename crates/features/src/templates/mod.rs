//! Templates of joint features Ψ(x, y): a line says what to look at in the columns of a row, and at which part of the class.
//!
//! ```text
//! word                            the cell of the column `word`, with the whole class
//! suffix:1-3(word)                its last one, two and three characters
//! shape(word) & previous          both at once
//! suffix:2(word) * before:-(class)    classes that begin alike up to a dash share the weight
//! ```
//!
//! What a template finds in training data is hashed; nothing is learnt but the names of frequent features. Each part of the class has
//! columns of its own, so that a model knows by a column's number which classes share its weights.
//!
//! ```
//! use lineal_features::templates::Templates;
//!
//! let templates = Templates::parse("word\nsuffix:2(word) * prefix:1(class)", 10)?;
//! let classes = ["NN", "NNS", "VBG"].map(str::to_owned);
//! let regions = templates.regions(&classes);
//! assert_eq!(regions, [(1024, vec![0, 1, 2]), (1024, vec![0, 0, 1])]);
//! let slots = templates.bind(&["word".into()])?;
//! let (rows, _) = templates.encode(&["running"], &slots)?;
//! assert_eq!((rows.n_cols(), rows.row(0).nnz()), (2048, 2));
//! # Ok::<(), lineal_features::Error>(())
//! ```

mod class_part;
mod encode;
mod expression;
mod names;
mod parse;

pub use encode::Templates;
pub use names::TemplateNames;
