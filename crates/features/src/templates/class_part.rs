//! How a part of the class puts classes into groups.

use super::expression::Expression;
use std::collections::HashMap;

/// The group of each class, numbered in order of appearance.
pub(crate) fn groups(part: &Expression, classes: &[String]) -> Vec<u32> {
    let mut known = HashMap::new();
    classes
        .iter()
        .map(|class| {
            let next = known.len() as u32;
            *known.entry(part.of_class(class)).or_insert(next)
        })
        .collect()
}
