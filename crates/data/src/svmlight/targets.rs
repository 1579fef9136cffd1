//! LIBSVM labels to targets.

use std::collections::HashMap;

use super::label::RawLabels;
use crate::dataset::{Targets, UNSEEN};
use crate::error::{Error, ErrorKind, count};
use crate::label_lists::{Labels, LabelsBuilder};
use crate::labels::{ClassIndex, Recent, number_name, numbers_first};
use crate::schema::TargetKind;

/// The classes that occur, in order, and each row's.
pub(super) fn learn(labels: RawLabels, target: TargetKind) -> (Vec<String>, Targets) {
    if matches!(target, TargetKind::Real | TargetKind::Grades) {
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
    classes.extend(labels.others.iter().flatten().cloned());
    classes.sort_unstable_by(|a, b| numbers_first(a, b));
    classes.dedup();
    let mut index = ClassIndex::new(&classes);
    let ids = class_ids(&labels, &mut index);
    let y = match target {
        TargetKind::Labels => Targets::Labels(lists(&labels, ids)),
        _ => Targets::Classes(ids),
    };
    (classes, y)
}

/// The classes of an index. Rows without any label make a dataset without targets.
pub(super) fn apply(
    labels: RawLabels,
    target: TargetKind,
    index: &mut ClassIndex,
    file: &str,
) -> Result<Targets, Error> {
    let n_missing = labels.others.iter().filter(|name| name.is_none()).count();
    if n_missing == labels.numbers.len() {
        return Ok(Targets::None);
    }
    if matches!(target, TargetKind::Real | TargetKind::Grades) {
        if n_missing > 0 {
            let n = count(n_missing, "row");
            let message = format!("{n} without a label while others have one; give all or none");
            return Err(Error::new(ErrorKind::Label, file, message));
        }
        return Ok(Targets::Real(labels.numbers));
    }
    let ids = class_ids(&labels, index);
    Ok(match target {
        TargetKind::Labels => Targets::Labels(lists(&labels, ids)),
        _ => Targets::Classes(ids),
    })
}

/// Where labels are sets, empty ones for targets that are not there.
pub(super) fn or_empty(y: Targets, target: TargetKind, n_rows: usize) -> Targets {
    if y != Targets::None || target != TargetKind::Labels {
        return y;
    }
    let mut lists = LabelsBuilder::default();
    for _ in 0..n_rows {
        lists.end_row();
    }
    Targets::Labels(lists.finish())
}

/// Each row's ids, sorted.
fn lists(labels: &RawLabels, ids: Vec<u32>) -> Labels {
    let mut lists = LabelsBuilder::default();
    let mut ids = ids.into_iter();
    let mut start = 0;
    for &end in &labels.ends {
        ids.by_ref().take(end - start).for_each(|id| lists.push(id));
        lists.end_row();
        start = end;
    }
    lists.finish()
}

fn class_ids(labels: &RawLabels, index: &mut ClassIndex) -> Vec<u32> {
    let mut others = labels.others.iter();
    let mut recent = Recent::new();
    let id = |&value: &f64| match value.is_nan().then(|| others.next()).flatten() {
        Some(Some(name)) => index.id(name),
        Some(None) => index.add_unseen("no label"),
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
