//! Flags about rankings: `--task rank`.

use clap::Args;
use lineal::RankKind;

use super::choice::{at_least_one, choice};

/// The heading of everything about rankings.
pub const RANK: &str = "Rankings (--task rank)";

/// Choices of `train --task rank`. Documents are rows: --standardize, --text, --map and the like are for them, too.
#[derive(Args, Clone, Debug, Default)]
pub struct RankArgs {
    /// Tables: the column with the query of each document [default: the one named query, qid or query_id]
    #[arg(long, value_name = "COL", help_heading = RANK)]
    pub query: Option<String>,

    /// What the loss compares [default: pairs]
    #[arg(long, value_name = "R", help_heading = RANK, value_parser = choice::<RankKind>(&[
        ("pairs", "every pair of different grades: hinge (RankSVM), squared-hinge (the default), logistic (RankNet)"),
        ("softmax", "which document comes first (ListNet)"),
        ("plackett-luce", "the likelihood of an order that agrees with the grades (ListMLE)"),
        ("ndcg", "whole orders with the cost 1 − NDCG: hinge, perceptron"),
        ("map", "whole orders with the cost 1 − average precision: hinge, perceptron"),
    ]))]
    pub rank: Option<RankKind>,

    /// --rank ndcg: number of ranks that count [default: all]
    #[arg(long, value_name = "K", value_parser = at_least_one, help_heading = RANK)]
    pub ndcg_at: Option<usize>,

    /// Give every query the same weight, instead of every pair
    #[arg(long, help_heading = RANK)]
    pub per_query: bool,
}
