//! Flags about images and graphs: `--task segment`.

use std::str::FromStr;

use clap::Args;
use lineal::data::{MaskLabel, MaskValue};

use super::choice::at_least_one;

/// The heading of everything about images.
pub const SEGMENT: &str = "Images and graphs (--task segment)";

/// Choices of `train --task segment`.
#[derive(Args, Clone, Debug, Default)]
pub struct SegmentArgs {
    /// Label N superpixels of each image instead of its pixels: faster, and coarser
    #[arg(long, value_name = "N", value_parser = at_least_one, help_heading = SEGMENT)]
    pub superpixels: Option<usize>,

    /// Label every pixel or node separately, without borders
    #[arg(long, help_heading = SEGMENT)]
    pub no_edges: bool,

    /// Neighbours of a pixel: 4 or 8 [default: 8]
    #[arg(long, value_name = "N", value_parser = neighbours, help_heading = SEGMENT)]
    pub neighbours: Option<usize>,

    /// Labels and their values in masks: background=0,horse=255, or road=#804080 [default: every value is a label]
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = ',', value_parser = MaskLabel::from_str, help_heading = SEGMENT)]
    pub mask_labels: Vec<MaskLabel>,

    /// Smallest grey value of the foreground, for masks with many grey values, such as JPEG files
    #[arg(long, value_name = "GREY", help_heading = SEGMENT)]
    pub mask_threshold: Option<u16>,

    /// Mask values that are not labels: such pixels are not counted
    #[arg(long, value_name = "VALUE,…", value_delimiter = ',', value_parser = MaskValue::from_str, help_heading = SEGMENT)]
    pub mask_void: Vec<MaskValue>,
}

fn neighbours(text: &str) -> Result<usize, String> {
    match text {
        "4" => Ok(4),
        "8" => Ok(8),
        _ => Err("must be 4 or 8".to_owned()),
    }
}

/// What `predict` gives of images and graphs.
#[derive(Args, Clone, Debug, Default)]
pub struct SegmentAskArgs {
    /// Also draw the labels over each image, in colours: NAME.overlay.png in the folder of -o
    #[arg(long, help_heading = SEGMENT)]
    pub overlay: bool,

    /// Also give the confidence of each label: by how much the score falls if this label must be another one. For images, NAME.confidence.png in the folder of -o (white is certain); for graphs and declared
    /// structures, a number in the JSON lines
    #[arg(long, help_heading = SEGMENT)]
    pub confidence: bool,
}
