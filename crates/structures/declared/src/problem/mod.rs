//! Declared problems for the learners, and what a learnt one answers.

mod blocks;
mod cache;
mod cost;
mod predict;
mod structure;

pub use cache::AnswerCache;
pub use predict::{Explanation, FeatureShare, PredictError, Prediction, Predictor};
pub use structure::{Problem, ProblemOptions, ProblemScratch, Rivals};
