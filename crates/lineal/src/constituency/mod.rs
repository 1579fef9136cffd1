//! Constituency parsing: a bracketed tree over the words of a sentence.
//!
//! [`ConstituencySpec`] holds what only these trees can choose, [`Training`](crate::Training) runs it, [`ConstituencyModel`] parses, measures, explains and saves itself. A model is learnt in stages: a
//! tagger for sentences that come without parts of speech, a pruner that leaves a few spans, and the trees.
//!
//! ```
//! use lineal::{ConstituencySpec, Source, constituency_options, read_brackets, train};
//!
//! let text = "(S (NP (DT the) (NN dog)) (VP (VBZ sleeps)))\n(S (NP (DT a) (NN cat)) (VP (VBZ sleeps)))\n";
//! let source = Source::Memory { name: "train.mrg".into(), bytes: text.into() };
//! let data = read_brackets(source, &constituency_options())?;
//!
//! let (model, _) = train(&data, &ConstituencySpec::default().into())?;
//! let parsed = &model.parse(&data)?[0];
//! assert_eq!(parsed.phrases[1].label, "NP");
//! # Ok::<(), lineal::Error>(())
//! ```

mod model;
mod spec;
mod tags;
mod train;

pub use model::ConstituencyModel;
pub use spec::ConstituencySpec;

use lineal_data::BracketReadOptions;

/// How trees are read by default: without functions and traces.
pub fn constituency_options() -> BracketReadOptions {
    BracketReadOptions { cut_functions: true, ..BracketReadOptions::default() }
}
