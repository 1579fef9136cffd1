//! Flags about bracketed trees: `--task constituency`.

use clap::Args;

/// The heading of everything about bracketed trees.
pub const CONSTITUENCY: &str = "Bracketed trees (--task constituency)";

/// Choices of `train --task constituency`. It also has --template, --hash, --passive-aggressive and --max-size of sequences, and --candidates (spans per word) and --tags of dependency
/// trees.
#[derive(Args, Clone, Debug, Default)]
pub struct ConstituencyArgs {
    /// Sisters that the symbols of a split phrase remember [default: 0]
    #[arg(long, value_name = "H", help_heading = CONSTITUENCY)]
    pub horizontal: Option<usize>,

    /// Labels with those of so many generations: 1 for NP alone, 2 for NP under S [default: 2]
    #[arg(long, value_name = "V", help_heading = CONSTITUENCY)]
    pub vertical: Option<usize>,

    /// Keep the functions of labels (NP-SBJ), which are cut otherwise
    #[arg(long, help_heading = CONSTITUENCY)]
    pub functions: bool,
}
