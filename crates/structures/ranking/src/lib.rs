//! Learning to rank: documents of a query in the order of their scores ⟨w, x⟩.
//!
//! [`Queries`] are rows of features by query with a grade for each; a [`Ranking`] makes them examples for the learners of structures. Two families of outputs:
//!
//! | outputs | argmax | smooth | learners |
//! |---|---|---|---|
//! | [`Decisions::Pairs`] | n log n | n log n | all: RankSVM by the hinge, RankNet by the logistic loss |
//! | [`Decisions::SquaredPairs`] | that of `Pairs` | n log n | those of the logistic loss |
//! | [`Decisions::Softmax`] | n | n | all |
//! | [`Decisions::PlackettLuce`] | n | n | all |
//! | [`Orders::Ndcg`] | n log n | – | those of the hinge and the perceptron |
//! | [`Orders::AveragePrecision`] | n log n | – | those of the hinge and the perceptron |
//!
//! This crate must not know files, flags or solvers.
//!
//! ```
//! use lineal_linalg::{Dense, Matrix};
//! use lineal_ranking::{Decisions, Normalise, Queries, Ranking, order};
//!
//! // Two queries of three and two documents; the first feature is what grades follow.
//! let x = Dense::new(5, 2, vec![3.0, 1.0, 1.0, 0.0, 2.0, 1.0, 5.0, 1.0, 4.0, 0.0])?;
//! let x = Matrix::Dense(x);
//! let queries = Queries::new(&x, &[3, 5], &[2.0, 0.0, 1.0, 1.0, 0.0])?;
//! let ranking = Ranking::new(queries, Decisions::Pairs, Normalise::default());
//! assert_eq!(ranking.n_decisions(), 4.0);
//! assert_eq!(order(&ranking.queries().scores(0, &[1.0f32, 0.0])), [0, 2, 1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod decisions;
mod gain;
mod listed;
mod oracle;
mod orders;
mod parts;
mod predict;
mod problem;
mod queries;
mod sorted;

pub use decisions::Decisions;
pub use gain::{Gain, discount};
pub use orders::Orders;
pub use parts::{Documents, Outcome};
pub use predict::{Reason, order, probability_above};
pub use problem::{Normalise, Ranking, RankingScratch};
pub use queries::{Queries, QueryError, group_rows};
