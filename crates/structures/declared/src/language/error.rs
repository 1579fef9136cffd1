//! What is wrong with a declaration, where, and what would fix it.

use std::fmt;

/// Why a declaration was refused. Displays as `3:18: there is no label `Lco` of entity; did you mean `Loc`?`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LanguageError {
    /// The line, from 1.
    pub line: usize,
    /// The column of the word, in characters from 1.
    pub column: usize,
    /// The word, or nothing at the end of a line.
    pub word: String,
    /// What is wrong with it and what would fix it.
    pub message: String,
}

impl fmt::Display for LanguageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for LanguageError {}

/// `; did you mean …?` if a name is near, or a list of what there is.
pub(crate) fn suggestion<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let near = names.iter().map(|name| (distance(word, name), *name)).min();
    match near {
        Some((d, name)) if d <= 1 + word.chars().count() / 3 => format!("; did you mean `{name}`?"),
        _ if names.is_empty() => String::new(),
        _ => {
            let more = if names.len() > 12 { ", …" } else { "" };
            format!("; there is {}{more}", names[..names.len().min(12)].join(", "))
        }
    }
}

/// How many letters must be changed, inserted or removed, capitals aside.
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.to_lowercase(), b.to_lowercase());
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, c) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, d) in b.iter().enumerate() {
            let replaced = corner + usize::from(c != *d);
            corner = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("Loc", "loc"), 0);
        assert_eq!(suggestion("Lco", ["Peop", "Loc"].into_iter()), "; did you mean `Loc`?");
        assert_eq!(suggestion("zzzzz", ["a", "b"].into_iter()), "; there is a, b");
    }
}
