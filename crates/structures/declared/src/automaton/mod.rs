//! Rules about a sequence of labels as one automaton, and the best sequences that it accepts: constraints for taggers.
//!
//! Each rule of [`Declaration::of_labels`](crate::Declaration::of_labels) is a small automaton: a count, the last few labels, a pattern. [`Automaton::compile`] makes their product, state by state as
//! it is reached, up to a limit. [`decode`] is Viterbi over label × state, [`k_best`] keeps the k best ways to each.
//!
//! ```
//! use lineal_declared::Declaration;
//! use lineal_declared::automaton::{Automaton, decode};
//!
//! let labels = ["O", "B-PER", "I-PER"].map(String::from);
//! let rules = Declaration::of_labels(&labels, "at most 1 spans of PER\nlabel in { O } implies next != I-PER")?;
//! let automaton = Automaton::compile(&rules)?;
//! let unary = [0.0, 2.0, 0.0, 0.0, 1.0, 0.0, 0.0, 3.0, 0.0];
//! let (sequence, score) = decode(&unary, &[0.0; 9], 3, &automaton).unwrap();
//! assert_eq!((sequence, score), (vec![0, 0, 1], 3.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod compile;
mod decode;

pub use compile::{Automaton, CompileError};
pub use decode::{decode, k_best};
