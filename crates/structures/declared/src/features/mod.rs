//! Templates: features of variables and factors from the tokens of an example.
//!
//! An example may have columns of tokens (`tokens`, `pos`, …), and a variable a span of them: the fields `start` and `end` (the first one after it; without it the span is one token). A template names
//! tokens relative to the span of the variable, or of what it links to:
//!
//! | template | what |
//! |---|---|
//! | `tokens[start]`, `tokens[last]`, `tokens[end]`, `tokens[start-2]` | one token; `last` is the last of the span, `end` the first after it |
//! | `tokens[head.start]` | a token of the variable that a link leads to |
//! | `tokens[start..end]`, `tokens[head.end..tail.start+1]` | each token of a range, as a bag |
//! | `tokens[between head tail]` | the tokens between two spans, whichever comes first |
//! | `lower(T)`, `shape(T)`, `prefix(3, T)`, `suffix(3, T)` | of each token in lower case; its shape (`Xx-d`); its first or last letters |
//! | `join(T)`, `pairs(T)`, `set(T)` | all tokens in one feature; neighbouring ones two by two; each different one once (a bag counts) |
//! | `length(R)` | how many tokens a range has: 0, 1, 2, 3, 4, 5–6, 7–10, 11–20, more |
//! | `order(head, tail)` | which of two spans comes first |
//! | `distance(head, tail)` | how many tokens lie between, as `length` |
//! | `number(entity, R)` | how many variables of a kind have their spans in a range |
//! | `T & U` | both together: every feature of T with every one of U |
//!
//! Outside the sentence stand `<` and `>`. If a column, a span or a link is missing, the template gives nothing. Every variable and factor has a bias besides, and the features that
//! the example lists by name.
//!
//! Features are 64 bits of a hash while they are made; a [`Vocabulary`] numbers those that training met.

mod extract;
mod template;
mod vocabulary;

pub use extract::each_feature;
pub(crate) use extract::each_template;
pub use template::Template;
pub(crate) use template::parse;
pub use vocabulary::Vocabulary;
