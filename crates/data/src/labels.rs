//! Label names to class ids.

use std::cmp::Ordering;
use std::collections::HashMap;

use crate::dataset::UNSEEN;
use crate::error::{count, quote};
use crate::number::parse_f64;
use crate::schema::TargetKind;

/// One name for all spellings of a number: `+1`, `1` and `1.0` are `1`.
pub(crate) fn number_name(value: f64) -> String {
    // -0 is 0.
    if value == 0.0 { "0".to_owned() } else { value.to_string() }
}

/// Numbers by value, then other names by bytes. For LIBSVM, whose labels are numbers.
pub(crate) fn numbers_first(a: &str, b: &str) -> Ordering {
    match (finite(a), finite(b)) {
        (Some(x), Some(y)) => x.total_cmp(&y).then_with(|| a.cmp(b)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    }
}

/// By value if all are numbers, else all by bytes. For tables, whose labels are text.
pub(crate) fn sort_names(names: &mut [String]) {
    if names.iter().all(|name| finite(name).is_some()) {
        names.sort_unstable_by(|a, b| numbers_first(a, b));
    } else {
        names.sort_unstable();
    }
}

/// Why a label is not a grade. What is not finite is left to the caller, which has a message for all labels.
pub(crate) fn check_grade(label: &[u8], value: Option<f64>) -> Result<(), String> {
    match value {
        None => Err(format!(
            "grade {} is not a number; ranking needs one of at least 0 on each row",
            quote(label)
        )),
        Some(value) if value < 0.0 => Err(format!(
            "grade {} is negative; grades are numbers of at least 0, the higher the more relevant. Add to all of them, or \
             remove the rows if it marks documents that nobody judged",
            quote(label)
        )),
        Some(value) if value.is_finite() && value > MAX_GRADE => Err(format!(
            "grade {} is above {MAX_GRADE}: gains are 2 to the power of a grade; number the grades 0, 1, 2, …",
            quote(label)
        )),
        Some(_) => Ok(()),
    }
}

/// Above it the gains of a query could add up to infinity.
pub(crate) const MAX_GRADE: f64 = 512.0;

fn finite(name: &str) -> Option<f64> {
    parse_f64(name).filter(|v| v.is_finite())
}

/// What was last looked up of 64 numbers, to spare one hash per row: most files have few labels.
pub(crate) struct Recent([(u64, u32); 64]);

impl Recent {
    pub(crate) fn new() -> Self {
        // No label has these bits: they are a NaN.
        Self([(u64::MAX, 0); 64])
    }

    /// The id that `find` gives for a number, without asking again.
    pub(crate) fn id(&mut self, value: f64, find: impl FnOnce(f64) -> u32) -> u32 {
        let bits = (value + 0.0).to_bits();
        let entry = &mut self.0[(bits.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 58) as usize];
        if entry.0 != bits {
            *entry = (bits, find(value));
        }
        entry.1
    }
}

/// Finds the id of a label's name, and remembers what it did not find.
pub(crate) struct ClassIndex {
    ids: HashMap<String, u32>,
    /// By value, where only one class has it: a file may say `1.0` for what was `1` at training.
    by_number: HashMap<u64, Option<u32>>,
    /// Where labels that are not known become classes: those that did.
    fresh: Option<Vec<String>>,
    n_given: usize,
    unseen: usize,
    unseen_names: Vec<String>,
}

impl ClassIndex {
    pub(crate) fn new(classes: &[String]) -> Self {
        let mut index = Self {
            ids: HashMap::with_capacity(classes.len()),
            by_number: HashMap::new(),
            fresh: None,
            n_given: classes.len(),
            unseen: 0,
            unseen_names: Vec::new(),
        };
        for (id, name) in (0..UNSEEN).zip(classes) {
            index.insert(name, id);
        }
        index
    }

    /// An index to which labels that it does not have are added.
    pub(crate) fn growing(classes: &[String]) -> Self {
        Self { fresh: Some(Vec::new()), ..Self::new(classes) }
    }

    /// Names that were added, in the order of their ids.
    pub(crate) fn fresh(&self) -> &[String] {
        self.fresh.as_deref().unwrap_or_default()
    }

    fn insert(&mut self, name: &str, id: u32) {
        self.ids.insert(name.to_owned(), id);
        if let Some(value) = finite(name) {
            let entry = self.by_number.entry((value + 0.0).to_bits());
            entry.and_modify(|e| *e = None).or_insert(Some(id));
        }
    }

    /// The id, or [`UNSEEN`].
    pub(crate) fn id(&mut self, name: &str) -> u32 {
        let id = self.ids.get(name).copied().or_else(|| self.find_number(finite(name)?));
        id.unwrap_or_else(|| match &mut self.fresh {
            None => self.add_unseen(name),
            Some(fresh) => {
                let id = u32::try_from(self.n_given + fresh.len()).unwrap_or(UNSEEN);
                fresh.push(name.to_owned());
                self.insert(name, id);
                id
            }
        })
    }

    /// The name of a class, by a walk over all.
    pub(crate) fn name(&self, id: u32) -> Option<&str> {
        self.ids.iter().find(|(_, other)| **other == id).map(|(name, _)| name.as_str())
    }

    /// The id of a label that is a number, without spelling it.
    pub(crate) fn id_of_number(&mut self, value: f64) -> u32 {
        self.find_number(value).unwrap_or_else(|| self.id(&number_name(value)))
    }

    /// The id of the one class that is this number.
    pub(crate) fn find_number(&self, value: f64) -> Option<u32> {
        *self.by_number.get(&(value + 0.0).to_bits())?
    }

    /// Notes a label that is not known, or not given.
    pub(crate) fn add_unseen(&mut self, name: &str) -> u32 {
        self.unseen += 1;
        let shown = quote(name);
        if self.unseen_names.len() < 3 && !self.unseen_names.contains(&shown) {
            self.unseen_names.push(shown);
        }
        UNSEEN
    }

    /// What to tell the user of labels that were not found.
    pub(crate) fn warning(&self, file: &str, target: TargetKind) -> Option<String> {
        let what = match target {
            TargetKind::Labels => count(self.unseen, "label"),
            _ => format!("{} with a label", count(self.unseen, "row")),
        };
        let names = self.unseen_names.join(", ");
        (self.unseen > 0).then(|| {
            format!("{file}: {what} that training did not see ({names}); each counts as wrong")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> Vec<String> {
        let mut names: Vec<String> = names.iter().map(|&n| n.to_owned()).collect();
        sort_names(&mut names);
        names
    }

    #[test]
    fn order_of_classes() {
        assert_eq!(sorted(&["10", "9", "-1"]), ["-1", "9", "10"]);
        assert_eq!(sorted(&["10", "9", "x"]), ["10", "9", "x"]);
        let mut names = ["x", "10", "9", "nan"];
        names.sort_by(|a, b| numbers_first(a, b));
        assert_eq!(names, ["9", "10", "nan", "x"]);
    }

    #[test]
    fn numbers_have_one_name() {
        for (value, name) in [(1.0, "1"), (-0.0, "0"), (0.5, "0.5"), (1e3, "1000")] {
            assert_eq!(number_name(value), name);
        }
    }

    #[test]
    fn lookup_is_by_name_then_by_number() {
        let classes = ["1".to_owned(), "2.0".to_owned(), "2.00".to_owned(), "a".to_owned()];
        let mut index = ClassIndex::new(&classes);
        assert_eq!(index.id("a"), 3);
        assert_eq!(index.id("+1.0"), 0);
        assert_eq!(index.id("2.0"), 1);
        assert_eq!(index.id_of_number(1.0), 0);
        assert_eq!(index.warning("f", TargetKind::Classes), None);
        assert_eq!(index.id("2"), UNSEEN);
        assert_eq!(index.id("b"), UNSEEN);
        for (target, said) in [
            (TargetKind::Classes, "2 rows with a label that"),
            (TargetKind::Labels, "2 labels that"),
        ] {
            assert!(index.warning("f", target).unwrap().contains(said));
        }
    }
}
