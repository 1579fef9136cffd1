//! A model whose task was not built in is refused with the feature that it needs. `cargo xtask builds` runs this without any feature, too.

use lineal::{AnyModel, Task};
use serde_json::json;

fn is_built_in(task: Task) -> bool {
    match task {
        Task::Classify | Task::Multilabel | Task::Regress => true,
        Task::Tag => cfg!(feature = "tag"),
        Task::Dependency => cfg!(feature = "dependency"),
        Task::Constituency => cfg!(feature = "constituency"),
        Task::Rank => cfg!(feature = "rank"),
        Task::Segment => cfg!(feature = "segment"),
        Task::Declared => cfg!(feature = "declared"),
    }
}

#[test]
fn a_task_that_was_not_built_in_is_named() {
    for &task in Task::ALL {
        let file = lineal_model::file::encode(&json!({ "task": task.as_str() }), &[]).unwrap();
        let Err(why) = AnyModel::from_bytes(&file) else {
            panic!("{task:?} was read without weights")
        };
        let why = why.to_string();
        let names_it = why.contains(&format!("enable the feature `{}`", task.as_str()));
        assert_eq!(names_it, !is_built_in(task), "{task:?}: {why}");
    }
}
