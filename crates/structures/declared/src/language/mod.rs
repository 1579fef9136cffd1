//! The declaration language: a line for each variable, factor, list of features, cost and rule.
//!
//! ```text
//! variable entity { Peop Loc Org Other } from entities by type
//! variable relation(head: entity, tail: entity) { none Live_In Located_In Kill } from relations by type all pairs
//! factor   types(relation, relation.head, relation.tail)
//! features entity: tokens[start..end] shape(tokens[start]) tokens[start-1]
//! features relation: tokens[between head tail] order(head, tail)
//! cost     relation 2
//! rule     relation = Live_In implies head = Peop and tail = Loc
//! rule     at most 1 relation = Kill
//! ```
//!
//! What follows `#` is a comment. Names have letters, digits and `_`, and inside `-`, `/`, `'` and `$` (`B-PER`); any other name stands in quotes (`"."`).
//!
//! # Variables
//!
//! `variable NAME [(LINK: KIND, …)] { LABEL … } [from LIST] [by FIELD] [all pairs]`
//!
//! A kind of variables with its labels. The instances of an example stand in the list `LIST` (by default `NAME`), one object each; the field `FIELD` (by default `label`) has the gold label, or nothing
//! where it is unknown. A link is a field with the number of another instance, from 0; it may be missing. `next` and `previous` are links that every kind has: the
//! neighbours in the list. With `all pairs` there is an instance for every ordered pair of what the two links lead to; pairs that the list does not name have the first label, and if there is no
//! list, nothing is known of them.
//!
//! # Factors
//!
//! `factor NAME(PATH, PATH, …) [shares FACTOR]`
//!
//! A weight for each joint label of variables that hang together: `relation.head` is the head of a relation, `token.next` the token after it. There is a factor for each variable of
//! the kind whose links exist. A factor that `shares` has the weights of an earlier one over the same kinds. With features of its own, each joint label has a
//! weight for each of them.
//!
//! # Features
//!
//! `features NAME: TEMPLATE …` for a variable or a factor; see [`features`](crate::features) for the templates. Features that an example lists by name come in addition.
//!
//! # Costs
//!
//! `cost NAME NUMBER { LABEL NUMBER }`: what a wrong label costs where a loss asks for it, 1 by default; and what it costs where a certain label would have been right. A higher cost of
//! labels that are rare finds more of them: `cost relation 1 Kill 3`.
//!
//! # Rules
//!
//! ```text
//! rule CONDITION                                        for each variable of the one kind that it names
//! rule (at most | at least | exactly) N [of] IS [per LINK]
//! rule (at most | at least | exactly) N spans of NAME [in KIND]
//! rule SUM (>= | <= | = | < | >) SUM                    SUM: numbers and [N *] count(IS), joined by + and -
//! rule sequence KIND matches PATTERN
//!
//! CONDITION: IS, not, and, or, implies, iff, parentheses
//! IS:        PATH = LABEL, PATH != LABEL, PATH in { LABEL … }, PATH not in { LABEL … }, and in conditions PATH = PATH
//! PATTERN:   labels in a row, . for any label, * + ? | and parentheses
//! ```
//!
//! A condition is taken apart into clauses (`a implies b and c` is `a implies b` and `a implies c`); a clause in which a link is missing is not asked for, the others are. `per LINK` counts separately for each
//! variable of the kind that the link leads to, also for those that no link points to: `at least 1 … per LINK` cannot be kept there. Spans are counted as they are measured: by the labels
//! that begin them (B-, S-, U-), and an I- or E- that follows no open span of its type begins one, too; with `per LINK` by B-, S- and U- alone. Rules may contradict each other; that is found out when outputs are asked for, and then the [rules in conflict](crate::inference::conflict) are named.
//!
//! # Walk-throughs
//!
//! Entities and relations:
//!
//! ```
//! use lineal_declared::Declaration;
//!
//! let declaration = Declaration::parse(
//!     "variable entity { Peop Loc Org Other } from entities by type
//!      variable relation(head: entity, tail: entity) { none Live_In Kill } from relations by type all pairs
//!      factor types(relation, relation.head, relation.tail)
//!      rule relation = Live_In implies head = Peop and tail = Loc
//!      rule relation = Kill implies head = Peop and tail = Peop
//!      rule at most 1 relation = Kill
//!      rule at most 1 relation = Live_In per head
//!      rule 2*count(entity = Peop) - count(relation = Live_In) >= 0",
//! )?;
//! assert_eq!(declaration.rules()[0].line, 4);
//! # Ok::<(), lineal_declared::LanguageError>(())
//! ```
//!
//! A chain, a tree, a grid:
//!
//! ```
//! use lineal_declared::Declaration;
//!
//! let chain = "variable token { B I O }\nfactor step(token, token.next)\nrule sequence token matches (B I* | O)*";
//! let tree = "variable node(parent: node) { a b }\nfactor edge(node, node.parent)";
//! let grid = "variable pixel(right: pixel, down: pixel) { dark light }
//!             factor across(pixel, pixel.right)
//!             factor along(pixel, pixel.down) shares across";
//! for text in [chain, tree, grid] {
//!     Declaration::parse(text)?;
//! }
//! # Ok::<(), lineal_declared::LanguageError>(())
//! ```

mod builder;
mod declaration;
mod error;
mod formula;
mod parse;
mod pattern;
mod rules;
mod words;

pub use builder::{Condition, DeclarationBuilder};
pub use declaration::{Declaration, Factor, Hop, Link, Path, Rule, VariableKind};
pub use error::LanguageError;

pub(crate) use declaration::{Literal, RuleBody, Term};
pub(crate) use parse::{names, resolve};
pub(crate) use words::Words;
