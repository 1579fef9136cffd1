//! What the tasks with structured outputs share: the request to the learner, its observer, the report.

mod request;
mod watch;

pub(crate) use watch::{Metric, Observer, report};
