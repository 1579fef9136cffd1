//! From a spec and data to a certified model. Without the feature `train` there is what a model that was trained is made of: its weights and its report.

#[cfg(feature = "train")]
pub(crate) mod certify;
#[cfg(feature = "train")]
pub(crate) mod columns;
#[cfg(feature = "train")]
pub(crate) mod crossfit;
#[cfg(feature = "train")]
pub(crate) mod fit;
#[cfg(feature = "train")]
pub(crate) mod joint;
#[cfg(feature = "train")]
pub(crate) mod learner;
#[cfg(feature = "train")]
pub(crate) mod losses;
#[cfg(feature = "train")]
pub(crate) mod monitor;
#[cfg(feature = "train")]
pub(crate) mod prepare;
pub(crate) mod report;
#[cfg(feature = "train")]
pub(crate) mod sample;
#[cfg(feature = "train")]
pub(crate) mod shards;
#[cfg(feature = "train")]
pub(crate) mod strategy;
#[cfg(feature = "train")]
pub(crate) mod summary;
#[cfg(feature = "train")]
mod training;
#[cfg(feature = "train")]
pub(crate) mod warm;
#[cfg(feature = "train")]
pub(crate) mod watch;
pub(crate) mod weights;

#[cfg(feature = "train")]
pub use training::{Trainable, Training, train};
#[cfg(feature = "train")]
pub(crate) use training::{Trained, fit_all, precision};
