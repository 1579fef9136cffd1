//! A sentence for what often is not meant in a table.

use std::collections::BTreeSet;

use lineal::Dataset;

/// Fewer classes than this are not asked about.
const CLASSES: usize = 5;

/// What to say of the training data, if each row is to get one class.
pub fn lines(data: &Dataset) -> Vec<String> {
    let classes = &data.schema.classes;
    data.schema.columns.as_ref().and_then(|_| lists(classes)).into_iter().collect()
}

/// Classes that look like lists of a few labels.
fn lists(classes: &[String]) -> Option<String> {
    let with = |separator: char| {
        let mut lists = classes.iter().filter(|class| class.contains(separator));
        let first = lists.next()?;
        let n_lists = 1 + lists.count();
        let labels: BTreeSet<&str> =
            classes.iter().flat_map(|class| class.split(separator)).map(str::trim).collect();
        let is_likely = classes.len() >= CLASSES
            && 2 * n_lists >= classes.len()
            && 2 * labels.len() <= classes.len();
        is_likely.then_some((first, labels.len(), separator))
    };
    let (first, n_labels, separator) = [',', ';', '|'].into_iter().find_map(with)?;
    let flag = match separator {
        ',' => String::new(),
        other => format!(" --label-separator '{other}'"),
    };
    Some(format!(
        "note: most of the {} classes are lists of {n_labels} labels, such as {first:?}; if a row can have several labels, say --task multilabel{flag}",
        classes.len()
    ))
}
