//! Flags about bracketed trees: `--task constituency`.

use clap::Args;

/// The heading of everything about bracketed trees.
pub const CONSTITUENCY: &str = "Bracketed trees (--task constituency)";

/// Choices of `train --task constituency`. It also has --template, --hash, --passive-aggressive and --max-size of sequences, and --candidates (spans per word) and --tags of dependency
/// trees.
#[derive(Args, Clone, Debug, Default)]
pub struct ConstituencyArgs {
    /// Number of sisters that intermediate symbols include [default: 0]
    #[arg(long, value_name = "H", help_heading = CONSTITUENCY)]
    pub horizontal: Option<usize>,

    /// Number of generations that labels include: 1 for NP, 2 for NP under S [default: 2]
    #[arg(long, value_name = "V", help_heading = CONSTITUENCY)]
    pub vertical: Option<usize>,

    /// Keep function tags (NP-SBJ), which are removed otherwise
    #[arg(long, help_heading = CONSTITUENCY)]
    pub functions: bool,
}
