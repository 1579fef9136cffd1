//! The best output under constraints, each answer with a bound.
//!
//! A [`Program`] is the shape of a problem: variables, tables, constraints, and the plan by which it is taken apart. With scores it is [`solve`]d:
//!
//! | step | when | exact |
//! |---|---|---|
//! | the best label of each variable | no table counts, and the labels are legal | yes |
//! | elimination of variables into small tables | constraints and factors over few variables, above all trees | yes |
//! | a sweep over states of labels and constraints | chains with counts and patterns | yes |
//! | a flow | assignments with capacities: only counts, and each label in at most two of them | yes |
//! | branch and bound with bounds by dual ascent; depth first where only pairs of variables are left; by the linear relaxation where the ascent stalls | everything else | unless a limit strikes; then with a bound |
//! | an integer program | [`Method::Integer`] | yes |
//!
//! On top of the argmax: the [`k_best`] outputs, [`max_marginals`] (the best score with each label forced), and the [`conflict`] of rules that no output can keep.

mod conflict;
mod constraint;
mod dual;
mod groups;
mod integer;
mod k_best;
mod network;
mod pairwise;
mod plan;
mod program;
mod relaxation;
mod search;
mod solve;
mod sweep;

pub use conflict::conflict;
pub use constraint::{Constraint, Counter, DEAD, Dfa, Kind};
pub(crate) use k_best::loose_bound;
pub use k_best::{k_best, max_marginals};
pub use program::{Domains, Program, Table};
pub(crate) use solve::best as first_best;
pub use solve::{Method, NoSolution, Scratch, Solution, SolveOptions, solve};
