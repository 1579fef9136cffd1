//! Declared structures: labels of variables that factors and rules tie together, as a user declares them.
//!
//! [`DeclaredSpec`] holds the declaration and what else only this task can choose, [`Training`](crate::Training) runs it, [`DeclaredModel`] answers, measures, explains and saves itself. The language is
//! that of [`lineal_declared::language`]; examples are JSON lines.
//!
//! ```
//! use lineal::{DeclaredData, DeclaredSpec, Source, declaration, train};
//!
//! let text = "variable person { host guest }\nfeatures person: names[start]\nrule exactly 1 person = host\n";
//! let declared = declaration(text)?;
//! let lines = r#"{"names": ["ann", "bob"], "person": [{"start": 0, "label": "host"}, {"start": 1, "label": "guest"}]}
//! {"names": ["ann", "cid"], "person": [{"start": 0, "label": "host"}, {"start": 1, "label": "guest"}]}"#;
//! let source = Source::Memory { name: "train.jsonl".into(), bytes: lines.into() };
//! let data = DeclaredData::read(source, &declared)?;
//!
//! let spec = DeclaredSpec { declaration: text.into(), ..DeclaredSpec::default() };
//! let (model, _) = train(&data, &spec.into())?;
//! assert_eq!(model.predict(&data)?[0].labels, [0, 1]);
//! # Ok::<(), lineal::Error>(())
//! ```

mod data;
mod metrics;
mod model;
mod spec;
mod train;

pub use data::DeclaredData;
pub use metrics::DeclaredMetrics;
pub use model::{DeclaredAnswer, DeclaredExplanation, DeclaredModel, RankedLabels};
pub use spec::{DeclaredOptions, DeclaredSpec};

use crate::Error;
use lineal_declared::Declaration;
use std::sync::Arc;

/// Reads a declaration; a mistake is told with its line and column.
pub fn declaration(text: &str) -> Result<Arc<Declaration>, Error> {
    match Declaration::parse(text) {
        Ok(declaration) => Ok(Arc::new(declaration)),
        Err(error) => Err(Error::request(error.to_string())),
    }
}
