//! Inference, the language and the problem against enumeration.

mod assignments;
mod automata;
mod common;
mod enumeration;
mod faults;
mod grounded;
mod partial;
