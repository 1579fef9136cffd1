//! What a user may say about images and their masks.

use super::mask::{MaskLabel, MaskValue};

/// How to read images and masks.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageReadOptions {
    /// The labels with their values in masks. Empty: every value that occurs in a mask is a label, in the order of the values, named by its value.
    pub labels: Vec<MaskLabel>,
    /// Grey values from here on are foreground, those below background: for masks that went through JPEG or were scaled. Excludes `labels`, but for two names.
    pub threshold: Option<u16>,
    /// Values of pixels that have no label and count nowhere.
    pub void: Vec<MaskValue>,
    /// The most pixels that an image may have.
    pub max_pixels: usize,
    /// Whether masks are left alone: nothing is known of labels.
    pub ignore_masks: bool,
    /// Whether an image without a mask is an error, as it is where labels are learnt or counted.
    pub require_masks: bool,
}

impl Default for ImageReadOptions {
    fn default() -> Self {
        Self {
            labels: Vec::new(),
            threshold: None,
            void: Vec::new(),
            max_pixels: 100_000_000,
            ignore_masks: false,
            require_masks: false,
        }
    }
}
