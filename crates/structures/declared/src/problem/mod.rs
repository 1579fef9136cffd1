//! Declared problems for the learners, and what a learnt one answers.

mod cost;
mod predict;
mod structure;

pub use predict::{Explanation, FeatureShare, PredictError, Prediction, Predictor};
pub use structure::{Problem, ProblemOptions, ProblemScratch, Rivals};
