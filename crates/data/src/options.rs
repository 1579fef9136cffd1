//! Options for reading a file.

use std::path::PathBuf;

use crate::encoding::Encoding;
use crate::format::Format;
use crate::schema::TargetKind;

/// How to read a file. The default guesses the format and the types of columns, and reads classes.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadOptions {
    /// The format, if the name does not show it or shows a wrong one.
    pub format: Option<Format>,
    /// Whether labels are classes, sets of labels, numbers, or grades of documents. [`read_with`](crate::read_with) follows the schema instead.
    pub target: TargetKind,
    /// The column with the label. `None` takes the one named label, class, target or y (or labels for sets of labels, grade or relevance for grades).
    pub label: Option<String>,
    /// The character between the labels in a csv or tsv cell, for [`TargetKind::Labels`]. JSON has lists.
    pub label_separator: char,
    /// The column with example weights.
    pub weight: Option<String>,
    /// For [`TargetKind::Grades`]: the column with the query of each row. `None` takes the one named query, qid or query_id.
    pub query: Option<String>,
    /// Columns that must be numbers.
    pub numeric: Vec<String>,
    /// Columns whose values are names, even if they look like numbers.
    pub categorical: Vec<String>,
    /// Hash the values of all categorical columns into one table of 2 to this power features, instead of one feature per value, so that memory is bounded
    /// whatever values occur.
    pub hash_categories: Option<u8>,
    /// Columns of running text, for [`read_text`](crate::read_text).
    pub text: Vec<String>,
    /// Whether columns with many long and different values are read as text. The façade's `read_features` does this if no column is named.
    pub guess_text: bool,
    /// Columns to leave out.
    pub ignore: Vec<String>,
    /// Whether the first row of a csv or tsv file names the columns; without a header they are "1", "2", …. `None` decides by the rows
    /// after it, or by the schema.
    pub header: Option<bool>,
    /// The ASCII character that separates the cells of a csv file; `None` decides by the first rows.
    pub delimiter: Option<u8>,
    /// How characters are encoded; `None` for UTF-8, or UTF-16 with a byte order mark.
    pub encoding: Option<Encoding>,
    /// Whether labels that the schema of a [`stream`](crate::stream) does not have become new classes.
    pub grow_classes: bool,
    /// Whether a blank line of fastText is a row without text, so that each line has an answer; otherwise blank lines are skipped.
    pub blank_rows: bool,
    /// With a schema: whether to leave out rows without a label, as learning a schema does, because they are only read to be compared with a model's answers. Tables alone (csv, tsv, JSON lines) have such rows.
    pub only_labelled: bool,
    /// With a schema: whether a label that is a number stays unread, because only answers are wanted.
    pub without_labels: bool,
    /// Whether to refuse what is otherwise repaired with a warning: bytes of text that are not UTF-8, missing numbers, rows without a label, and two columns with one name.
    pub strict: bool,
    /// The labels of an IDX file of images; `None` takes the file with the matching name.
    pub labels_file: Option<PathBuf>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            format: None,
            target: TargetKind::Classes,
            label: None,
            label_separator: ',',
            weight: None,
            query: None,
            numeric: Vec::new(),
            categorical: Vec::new(),
            hash_categories: None,
            text: Vec::new(),
            guess_text: false,
            ignore: Vec::new(),
            header: None,
            delimiter: None,
            encoding: None,
            grow_classes: false,
            blank_rows: false,
            only_labelled: false,
            without_labels: false,
            strict: false,
            labels_file: None,
        }
    }
}

impl ReadOptions {
    /// Whether one of these names is that of a column that the user named, or of a label as it is usually called. Positions ("1", "2", …) do not count, as columns
    /// without a header have them.
    pub(crate) fn names_one_of(&self, names: &[String]) -> bool {
        let single = [&self.label, &self.weight, &self.query].into_iter().flatten();
        let lists = [&self.numeric, &self.categorical, &self.text, &self.ignore];
        let mut said = single.chain(lists.into_iter().flatten());
        let is_usual = |name: &String| matches!(&**name, "label" | "class" | "target");
        if self.label.is_none() && names.iter().any(is_usual) {
            return true;
        }
        said.any(|said| said.parse::<usize>().is_err() && names.contains(said))
    }
}
