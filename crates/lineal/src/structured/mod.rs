//! What the tasks with structured outputs share: the request to the learners, the run and its report, the model and its file.

mod learner;
mod model;
mod request;
mod run;
mod tables;
#[cfg(feature = "tag")]
pub(crate) mod tags;

pub use learner::Learner;
pub use model::{Ask, Examples, Header, StructuredModel};
pub(crate) use model::{check_word, description, encode, in_chunks, unfit};
pub(crate) use request::Learning;
pub(crate) use run::{
    Counts, Metric, Run, TreeCounts, fit, learn_pruner, stage, train_and_held_out,
};
pub(crate) use tables::{PRUNER, TREES, TableInfo, Tables};
#[cfg(feature = "tag")]
pub use tags::TagsKind;
