//! What dependency parsing alone can choose, with its defaults.

use serde::{Deserialize, Serialize};

/// Choices about dependency trees beside those of every [`TrainSpec`](crate::TrainSpec).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DependencySpec {}
