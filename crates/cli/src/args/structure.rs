//! Flags of the tasks with structured outputs, for the commands that train several models.

use std::path::Path;

use clap::{Args, Parser};
use lineal::{Learner, LossKind, Task};

use super::constituency::ConstituencyArgs;
use super::declared::DeclaredArgs;
use super::dependency::DependencyArgs;
use super::rank::RankArgs;
use super::segment::SegmentArgs;
use super::tag::TagArgs;
use super::train::TrainArgs;
use crate::exit::usage;

/// What each structured task can choose.
#[derive(Args, Clone, Debug, Default)]
pub struct StructureArgs {
    #[command(flatten)]
    pub tag: TagArgs,

    #[command(flatten)]
    pub dependency: DependencyArgs,

    #[command(flatten)]
    pub constituency: ConstituencyArgs,

    #[command(flatten)]
    pub rank: RankArgs,

    #[command(flatten)]
    pub segment: SegmentArgs,

    #[command(flatten)]
    pub declared: DeclaredArgs,
}

/// `train` by itself, to have its defaults.
#[derive(Parser)]
struct Bare {
    #[command(flatten)]
    train: TrainArgs,
}

impl StructureArgs {
    /// The flags of a `train` on this data that has no others.
    pub fn train(&self, data: &Path, task: Task) -> anyhow::Result<TrainArgs> {
        if self.tag.max_size.is_some() {
            return usage(
                "--max-size makes one model smaller: leave it out here, and give it to train",
            );
        }
        let bare = Bare::try_parse_from(["train", "DATA", "-o", "-"])?.train;
        let Self { tag, dependency, constituency, rank, segment, declared } = self.clone();
        let data = data.to_owned();
        Ok(TrainArgs { data, task, tag, dependency, constituency, rank, segment, declared, ..bare })
    }
}

/// A loss of rows, or a learner of structures.
#[derive(Clone, Debug, PartialEq)]
pub struct LossName(String);

impl std::str::FromStr for LossName {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        Ok(Self(s.to_owned()))
    }
}

impl LossName {
    /// Each once, as losses of rows.
    pub fn losses(names: &[Self]) -> anyhow::Result<Vec<LossKind>> {
        Self::each(names, "rows have other losses, and structures have --task tag, rank and so on")
    }

    /// Each once, as learners of structures.
    pub fn learners(names: &[Self]) -> anyhow::Result<Vec<Learner>> {
        Self::each(names, "it is a loss of rows")
    }

    fn each<T: std::str::FromStr + PartialEq>(
        names: &[Self],
        else_: &str,
    ) -> anyhow::Result<Vec<T>> {
        let mut once = Vec::new();
        for Self(name) in names {
            let Ok(one) = name.parse() else {
                return usage(format!("--losses {name}: {else_}; leave it out"));
            };
            if !once.contains(&one) {
                once.push(one);
            }
        }
        Ok(once)
    }
}
