//! What declared structures alone can choose, with their defaults.

use lineal_declared::SolveOptions;
use serde::{Deserialize, Serialize};

/// Choices about declared structures beside those of every [`TrainSpec`](crate::TrainSpec).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DeclaredSpec {
    /// The text of the declaration.
    pub declaration: String,
    /// Rules are kept by answers only: in training every variable, with its factors, is free.
    pub local: bool,
    /// Features that come less often have no weights.
    pub min_count: usize,
    /// The most nodes of a search for the best output; what is then best comes with a bound.
    pub max_nodes: usize,
    /// The most seconds of a search, if any: answers may then differ from run to run.
    pub seconds: Option<f64>,
}

/// How long answers about data may take, where not as long as the model says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeclaredOptions {
    /// The most nodes of a search.
    pub max_nodes: Option<usize>,
    /// The most seconds of a search.
    pub seconds: Option<f64>,
}

impl DeclaredOptions {
    pub(super) fn over(self, own: SolveOptions) -> SolveOptions {
        SolveOptions {
            max_nodes: self.max_nodes.unwrap_or(own.max_nodes),
            seconds: self.seconds.or(own.seconds),
            ..own
        }
    }
}

impl Default for DeclaredSpec {
    fn default() -> Self {
        let SolveOptions { max_nodes, seconds, .. } = SolveOptions::default();
        Self { declaration: String::new(), local: false, min_count: 1, max_nodes, seconds }
    }
}

impl DeclaredSpec {
    pub(super) fn solving(&self) -> SolveOptions {
        let Self { max_nodes, seconds, .. } = *self;
        SolveOptions { max_nodes, seconds, ..SolveOptions::default() }
    }
}
