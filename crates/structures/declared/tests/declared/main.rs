//! Inference, the language and the problem against enumeration.

mod automata;
mod enumeration;
mod faults;
mod grounded;
mod partial;
