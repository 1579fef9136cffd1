//! What `import lineal` is made of below Python: arrays become the library's matrices, and what the library says becomes arrays.
//! Nothing is computed here. The estimators are in `python/lineal`.

mod arrays;
mod errors;
mod fit;
mod images;
mod items;
mod model;
mod reasons;
mod run;
mod shards;
mod steps;
mod structured;
mod table;
mod tag_shards;
mod text;
mod tune;

use pyo3::prelude::*;

/// The extension module of the package `lineal`.
#[pymodule]
mod _lineal {
    #[pymodule_export]
    use crate::fit::fit;
    #[pymodule_export]
    use crate::images::{explain_images, fit_images, label_images};
    #[pymodule_export]
    use crate::items::{attribute_names, items_text};
    #[pymodule_export]
    use crate::model::Model;
    #[pymodule_export]
    use crate::shards::{TextCounts, shard_answer, train_distributed};
    #[pymodule_export]
    use crate::steps::{Steps, shuffle_order};
    #[pymodule_export]
    use crate::structured::{Structured, fit_ranking, fit_structured};
    #[pymodule_export]
    use crate::table::{explain_table, fit_table, table_classes, table_scores};
    #[pymodule_export]
    use crate::tag_shards::{TagCounts, TagPlan, TagShard, tag_survey, train_distributed_tags};
    #[pymodule_export]
    use crate::text::{TextEncoder, fit_text};
    #[pymodule_export]
    use crate::tune::tune;

    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
