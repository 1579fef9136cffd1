//! LIBSVM labels to targets.

use std::collections::HashMap;

use super::scan::RawLabels;
use crate::dataset::{Targets, UNSEEN};
use crate::error::{Error, ErrorKind, count};
use crate::labels::{ClassIndex, Recent, number_name, numbers_first};
use crate::schema::{Schema, TargetKind};

/// The classes that occur, in order, and each row's.
pub(super) fn learn(labels: RawLabels, target: TargetKind) -> (Vec<String>, Targets) {
    if target == TargetKind::Real {
        return (Vec::new(), Targets::Real(labels.numbers));
    }
    let mut spelt: HashMap<u64, String> = HashMap::new();
    let mut recent = Recent::new();
    for &value in labels.numbers.iter().filter(|v| !v.is_nan()) {
        recent.id(value, |value| {
            spelt.entry((value + 0.0).to_bits()).or_insert_with(|| number_name(value));
            0
        });
    }
    let mut classes: Vec<String> = spelt.into_values().collect();
    classes.extend(labels.others.iter().filter_map(|(_, name)| name.clone()));
    classes.sort_unstable_by(|a, b| numbers_first(a, b));
    classes.dedup();
    let mut index = ClassIndex::new(&classes);
    let ids = class_ids(&labels, &mut index);
    (classes, Targets::Classes(ids))
}

/// The schema's classes. Rows without any label make a dataset without targets.
pub(super) fn apply(
    labels: RawLabels,
    schema: &Schema,
    file: &str,
    warnings: &mut Vec<String>,
) -> Result<Targets, Error> {
    let n_missing = labels.others.iter().filter(|(_, name)| name.is_none()).count();
    if n_missing == labels.numbers.len() {
        return Ok(Targets::None);
    }
    if schema.target == TargetKind::Real {
        if n_missing > 0 {
            let n = count(n_missing, "row");
            let message = format!("{n} without a label while others have one; give all or none");
            return Err(Error::new(ErrorKind::Label, file, message));
        }
        return Ok(Targets::Real(labels.numbers));
    }
    let mut index = ClassIndex::new(&schema.classes);
    let ids = class_ids(&labels, &mut index);
    warnings.extend(index.warning(file));
    Ok(Targets::Classes(ids))
}

fn class_ids(labels: &RawLabels, index: &mut ClassIndex<'_>) -> Vec<u32> {
    let mut others = labels.others.iter();
    let mut recent = Recent::new();
    let id = |&value: &f64| match value.is_nan().then(|| others.next()).flatten() {
        Some((_, Some(name))) => index.id(name),
        Some((_, None)) => index.miss("no label"),
        // Unseen labels are counted, so that only those found may be remembered.
        None => match recent.id(value, |value| index.find_number(value).unwrap_or(UNSEEN)) {
            UNSEEN => index.id_of_number(value),
            id => id,
        },
    };
    labels.numbers.iter().map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{read, read_with};
    use super::*;

    #[test]
    fn names_come_after_numbers() {
        let d = read(b"spam 1:1\n10 1:1\nham 1:1\n9 1:1\n9.0\n", "t", TargetKind::Classes).unwrap();
        assert_eq!(d.schema.classes, ["9", "10", "ham", "spam"]);
        assert_eq!(d.y, Targets::Classes(vec![3, 1, 2, 0, 0]));
    }

    #[test]
    fn unseen_labels_are_counted_and_named() {
        let d = read(b"1 1:1\n-1 1:1\n", "t", TargetKind::Classes).unwrap();
        let t = read_with(b"+1 1:1\n7 1:1\nx 1:1\n1:2\n", "t", &d.schema).unwrap();
        assert_eq!(t.y, Targets::Classes(vec![1, UNSEEN, UNSEEN, UNSEEN]));
        assert!(t.warnings[0].contains("3 rows with a label"), "{:?}", t.warnings);
        assert!(t.warnings[0].contains("`7`, `x`, `no label`"), "{:?}", t.warnings);
        let t = read_with(b"1:1\n \n2:1\n", "t", &d.schema).unwrap();
        assert_eq!((t.y, t.warnings.len()), (Targets::None, 1));
    }

    #[test]
    fn real_labels_are_numbers() {
        let d = read(b"0.1 1:1\n-2e3\n", "t", TargetKind::Real).unwrap();
        assert_eq!(d.y, Targets::Real(vec![0.1, -2000.0]));
        assert!(read(b"0.1 1:1\nx 1:1\n", "t", TargetKind::Real).is_err());
        assert!(read_with(b"0.1 1:1\n1:1\n", "t", &d.schema).is_err());
    }
}
