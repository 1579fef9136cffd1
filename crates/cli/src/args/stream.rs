//! Flags of training on a stream.

use std::path::PathBuf;

use clap::Args;
use lineal::UpdateKind;

use super::choice::{at_least_one, choice, positive};

const HEADING: &str = "Streams";

/// Flags of `--stream`.
#[derive(Args, Clone, Debug)]
pub struct StreamArgs {
    /// Learn row by row without keeping rows in memory, for files larger than memory: one pass, or --epochs N. Text is hashed
    /// [default: --hash 18 to 20, fewer bits for more classes]
    #[arg(long, help_heading = HEADING)]
    pub stream: bool,

    /// How a gradient becomes a step [default: adagrad for text, else normalised]
    #[arg(long, value_name = "U", help_heading = HEADING, value_parser = choice::<UpdateKind>(&[
        ("plain", "the same --rate for all weights, falling by --schedule"),
        ("adagrad", "a rate for each weight, which falls with the gradients that it has seen"),
        ("normalised", "the same, and independent of the units of features"),
    ]))]
    pub update: Option<UpdateKind>,

    /// Continue from a model that --stream trained, with its loss and update; DATA may have new classes. If a pass over DATA was interrupted, it is finished.
    /// Sequences, trees, rankings: start from the weights that this model has for the same features and labels
    #[arg(long, value_name = "MODEL", help_heading = HEADING)]
    pub resume: Option<PathBuf>,

    /// Seconds between checkpoints of the model [default: 60]
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = positive, help_heading = HEADING)]
    pub checkpoint: Option<f64>,

    /// Rows to hold in memory, and shuffle, at a time [default: 16384 for text, else 4096]
    #[arg(long, value_name = "ROWS", value_parser = at_least_one, help_heading = HEADING)]
    pub chunk: Option<usize>,

    /// Number of first rows from which columns, their types and names are determined [default: 20000]
    #[arg(long, value_name = "ROWS", value_parser = at_least_one, help_heading = HEADING)]
    pub sample: Option<usize>,
}

impl StreamArgs {
    /// Whether rows are not kept.
    pub fn is_on(&self) -> bool {
        self.stream || self.resume.is_some() || self.given().is_some()
    }

    /// A flag that only streams have, if one is there.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--update", self.update.is_some()),
            ("--checkpoint", self.checkpoint.is_some()),
            ("--chunk", self.chunk.is_some()),
            ("--sample", self.sample.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(flag, _)| flag)
    }
}
