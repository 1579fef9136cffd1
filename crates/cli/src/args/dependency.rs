//! Flags about dependency trees: `--task dependency`.

use std::path::PathBuf;

use clap::Args;
use lineal::{DecoderKind, LabellerKind};

use super::choice::choice;

/// The heading of everything about trees.
pub const DEPENDENCY: &str = "Dependency trees (--task dependency)";

/// Choices of `train --task dependency`. It also has --order, --template, --forbid, --hash, --passive-aggressive and --max-size of sequences.
#[derive(Args, Clone, Debug, Default)]
pub struct DependencyArgs {
    /// Which trees are allowed [default: as in the training trees]
    #[arg(long, value_name = "D", help_heading = DEPENDENCY, value_parser = choice::<DecoderKind>(&[
        ("projective", "no two arcs cross: Eisner's algorithm; --order 2 scores siblings and grandparents"),
        ("nonprojective", "any tree: Chu–Liu–Edmonds"),
    ]))]
    pub decoder: Option<DecoderKind>,

    /// How many possible heads of each word (constituency: spans per word) a small first model keeps for the parser; 0 keeps all [default: 20]
    #[arg(long, value_name = "K", help_heading = DEPENDENCY)]
    pub candidates: Option<usize>,

    /// How relations are predicted [default: second]
    #[arg(long, value_name = "L", help_heading = DEPENDENCY, value_parser = choice::<LabellerKind>(&[
        ("second", "by a second model that sees the tree"),
        ("joint", "together with the heads"),
    ]))]
    pub labeller: Option<LabellerKind>,

    /// Train on predicted parts of speech: `jackknife` tags each sentence by a tagger that was not trained on it; or name the file of a tagger (the model then tags sentences before it parses them), or a CoNLL-U file with the same sentences and other tags. constituency: only jackknife
    #[arg(long, value_name = "jackknife|FILE", help_heading = DEPENDENCY)]
    pub tags: Option<String>,

    /// Let several words depend on the root
    #[arg(long, help_heading = DEPENDENCY)]
    pub many_roots: bool,
}

impl DependencyArgs {
    /// The file of a tagger or of tagged sentences, if one is named.
    pub fn tags_file(&self) -> Option<PathBuf> {
        self.tags
            .as_deref()
            .filter(|tags| !matches!(*tags, "jackknife" | "gold"))
            .map(PathBuf::from)
    }
}
