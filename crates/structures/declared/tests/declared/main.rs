//! Inference, the language and the problem against enumeration.

mod enumeration;
