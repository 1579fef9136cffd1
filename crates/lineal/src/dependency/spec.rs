//! What dependency parsing alone can choose, with its defaults.

use crate::request::spec::choice;
use crate::structured::TagsKind;
use lineal_data::ArcEnd;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// Choices about dependency trees beside those of every [`TrainSpec`](crate::TrainSpec).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DependencySpec {
    /// Whether arcs may cross; by default as the training trees have it: projective unless that would change many of their heads.
    pub decoder: Option<DecoderKind>,
    /// 1 for scores of single arcs, 2 for siblings and grandparents, too; by default 2 where arcs may not cross.
    pub order: Option<u32>,
    /// The text of a template file; the built-in templates if there is none.
    pub templates: Option<String>,
    /// The weights of trees are in a table of 2 to the power of this; by default 23 for order 2 and 22 for order 1.
    pub hash_bits: Option<u32>,
    /// Heads per word that a small local model leaves to choose from; 0 for all. By default at most 20, and fewer for words whose head is clear.
    pub candidates: Option<usize>,
    /// How relations are found.
    pub labeller: LabellerKind,
    /// Where the parts of speech of the training data come from.
    pub tags: TagsKind,
    /// Exactly one word of a sentence depends on the root.
    pub single_root: bool,
    /// Arcs that are never predicted: the part of speech of the head, and of the word. See [`read_forbidden_arcs`](crate::read_forbidden_arcs).
    pub forbidden: Vec<(ArcEnd, ArcEnd)>,
}

impl Default for DependencySpec {
    fn default() -> Self {
        Self {
            decoder: None,
            order: None,
            templates: None,
            hash_bits: None,
            candidates: None,
            labeller: LabellerKind::Second,
            tags: TagsKind::Gold,
            single_root: true,
            forbidden: Vec::new(),
        }
    }
}

choice! {
    /// Which trees there are.
    DecoderKind {
        /// No two arcs cross: Eisner's algorithm.
        Projective = "projective",
        /// Any tree: Chu–Liu–Edmonds.
        Nonprojective = "nonprojective",
    }
}

choice! {
    /// How relations are found.
    LabellerKind {
        /// By a second model that sees the tree.
        Second = "second",
        /// Together with the heads.
        Joint = "joint",
    }
}
