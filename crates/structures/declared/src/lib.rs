//! Argmax over whatever the user declares: variables with labels, factors over several of them, features of both, and rules.
//!
//! - **Language.** A [`Declaration`] is parsed from text, or made by a [`DeclarationBuilder`]; see [`language`].
//! - **Inference.** The best output that keeps the rules, with a bound: independent labels, elimination, sweeps, branch and bound; the k best, forced labels, and the
//!   rules that contradict each other; see [`inference`].
//! - **Features.** Templates over the tokens of an example; see [`features`].
//! - **Problem.** A [`Problem`] is [`Examples`] with gold labels for the learners of structures; a [`Predictor`] answers with learnt weights and explains.
//! - **Automata.** The same rules for sequence taggers; see [`automaton`].
//!
//! This crate must not know files, flags, losses or solvers of weights.
//!
//! ```
//! use lineal_declared::{Declaration, Example, Examples, Predictor, Record, SolveOptions, Vocabulary};
//!
//! let declaration = Declaration::parse(
//!     "variable entity { Peop Loc }
//!      variable relation(head: entity, tail: entity) { none Live_In } all pairs
//!      rule relation = Live_In implies head = Peop and tail = Loc
//!      rule exactly 1 relation = Live_In",
//! )?;
//! let entity = |label: &str| Record::new([("label", label.into())]);
//! let relation = Record::new([("head", 0.into()), ("tail", 1.into()), ("label", "Live_In".into())]);
//! let lists = vec![("entity".into(), vec![entity("Peop"), entity("Loc")]), ("relation".into(), vec![relation])];
//! let examples = Examples::new(&declaration, vec![Example { lists, weight: 1.0, columns: vec![] }])?;
//! let vocabulary = Vocabulary::learn(&declaration, &examples, 1);
//! // No weights are learnt: the rules alone decide.
//! let w = vec![0.0; vocabulary.dim()];
//! let predictor = Predictor::new(&declaration, &vocabulary, &w, SolveOptions::default());
//! let best = predictor.k_best(examples.get(0), &[], 10)?;
//! assert_eq!(best.len(), 2);
//! let only = predictor.predict(examples.get(0), &[Some(0), None, None, None])?;
//! assert_eq!(only.labels, [0, 1, 1, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod automaton;
pub mod features;
mod ground;
pub mod inference;
pub mod language;
mod problem;

pub use features::Vocabulary;
pub use ground::{Example, ExampleError, Examples, Ground, GroundFactor, Record, Value};
pub use inference::{Method, SolveOptions};
pub use language::{Condition, Declaration, DeclarationBuilder, LanguageError};
pub use problem::{
    AnswerCache, Explanation, FeatureShare, PredictError, Prediction, Predictor, Problem,
    ProblemOptions, ProblemScratch, Rivals,
};
