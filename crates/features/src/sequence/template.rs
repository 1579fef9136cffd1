//! Template files in CRF++'s syntax.
//!
//! A line is a template: `U…` for attributes of a label, `B…` for attributes of a transition, `#` a comment. In it `%x[row,column]` stands for the cell of that
//! column (from 0) so many tokens away; before the first token it reads `_B-1`, `_B-2`, …, after the last `_B+1`, …. The text around it
//! makes attributes of different lines different: with the same text, as in `U:%x[-1,0]` and `U:%x[1,0]`, they are the same. `B` alone is the plain transition.
//!
//! More than CRF++ knows: `%x[row,column,view]` reads something made of the cell: `lower`, `shape`, `digits`, `caps`, `prefix:N` or
//! `suffix:N` (see [`expand`](super::expand)). Where there is nothing to read (no prefix of four in `the`), the line makes no attribute.

use super::Error;
use super::hash::{combine, hash_bytes};
use super::view::View;

/// What is read of each token: a column, through a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) column: usize,
    pub(crate) view: View,
}

/// `%x[offset, …]`
#[derive(Clone, Copy, Debug)]
pub(crate) struct Macro {
    /// Which of the sources.
    pub(crate) source: usize,
    pub(crate) offset: i32,
}

#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// The hash of the text around the macros.
    pub(crate) seed: u64,
    pub(crate) macros: Vec<Macro>,
    /// The text before, between and after the macros.
    pub(crate) text: Vec<String>,
}

/// Parsed templates.
#[derive(Clone, Debug)]
pub struct Templates {
    text: String,
    pub(crate) unary: Vec<Template>,
    pub(crate) pairs: Vec<Template>,
    pub(crate) sources: Vec<Source>,
    transitions: bool,
}

/// How far from its token a template may look. CRF++ stops at 8.
const MAX_OFFSET: i32 = 1000;

impl Templates {
    /// Parses a template file.
    ///
    /// ```
    /// use lineal_features::sequence::Templates;
    /// let templates = Templates::parse("# words\nU00:%x[-1,0]\nU01:%x[-1,0]/%x[0,0]\nB\n")?;
    /// assert_eq!((templates.n_unary(), templates.n_pairs()), (2, 0));
    /// assert!(templates.has_transitions());
    /// let error = Templates::parse("U00:%x[-1;0]").unwrap_err();
    /// assert_eq!(error.to_string(), "template line 1: `%x[-1;0]` should be %x[row,column]");
    /// # Ok::<(), lineal_features::sequence::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut templates = Self {
            text: text.to_string(),
            unary: Vec::new(),
            pairs: Vec::new(),
            sources: Vec::new(),
            transitions: false,
        };
        for (i, line) in text.lines().enumerate() {
            let line = line.trim_end();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let error = |problem| Error::Template { line: i + 1, problem };
            let template = templates.parse_line(line).map_err(error)?;
            match line.as_bytes()[0] {
                b'U' => templates.unary.push(template),
                b'B' if template.macros.is_empty() => templates.transitions = true,
                b'B' => templates.pairs.push(template),
                _ => {
                    let problem = format!("`{line}` begins neither with U nor with B nor with #");
                    return Err(error(problem));
                }
            }
        }
        if templates.unary.is_empty() && templates.pairs.is_empty() && !templates.transitions {
            let problem = "no template at all: write one per line, as `U00:%x[0,0]`".to_string();
            return Err(Error::Template { line: text.lines().count().max(1), problem });
        }
        Ok(templates)
    }

    /// The file as it was given: what to store.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Templates of labels.
    pub fn n_unary(&self) -> usize {
        self.unary.len()
    }

    /// Templates of transitions that look at the tokens.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Is there a plain `B`?
    pub fn has_transitions(&self) -> bool {
        self.transitions
    }

    /// The highest column that is read.
    pub fn max_column(&self) -> Option<usize> {
        self.sources.iter().map(|s| s.column).max()
    }

    /// The columns that are read; the same one may come again.
    pub fn columns(&self) -> impl Iterator<Item = usize> + '_ {
        self.sources.iter().map(|source| source.column)
    }

    /// An error if the data has too few columns.
    pub fn check_columns(&self, n_columns: usize) -> Result<(), Error> {
        match self.max_column() {
            Some(column) if column >= n_columns => Err(Error::Column { column, n_columns }),
            _ => Ok(()),
        }
    }

    /// How far from its token any template looks.
    pub(crate) fn reach(&self) -> usize {
        let all = self.unary.iter().chain(&self.pairs);
        let offsets = all.flat_map(|t| &t.macros).map(|m| m.offset.unsigned_abs() as usize);
        offsets.max().unwrap_or(0)
    }

    fn parse_line(&mut self, line: &str) -> Result<Template, String> {
        let mut template = Template { seed: 0, macros: Vec::new(), text: Vec::new() };
        let mut rest = line;
        let mut identity = String::new();
        while let Some(at) = rest.find('%') {
            template.text.push(rest[..at].to_string());
            identity.push_str(&rest[..at]);
            let Some(inside) = rest[at..].strip_prefix("%x[") else {
                let shown: String = rest[at..].chars().take(8).collect();
                return Err(format!("`{shown}` is no macro: only %x[row,column] is known"));
            };
            let Some((inside, after)) = inside.split_once(']') else {
                return Err(format!("`{}` has no closing bracket", &rest[at..]));
            };
            let (source, offset) = parse_macro(inside)?;
            // The view belongs to the attribute, the place does not.
            identity.push('\0');
            identity.push_str(&source.view.to_string());
            identity.push('\0');
            let known = self.sources.iter().position(|s| *s == source);
            let source = known.unwrap_or_else(|| {
                self.sources.push(source);
                self.sources.len() - 1
            });
            template.macros.push(Macro { source, offset });
            rest = after;
        }
        template.text.push(rest.to_string());
        identity.push_str(rest);
        template.seed = combine(1, hash_bytes(identity.as_bytes()));
        Ok(template)
    }
}

fn parse_macro(inside: &str) -> Result<(Source, i32), String> {
    let shape = || format!("`%x[{inside}]` should be %x[row,column]");
    let (row, column) = inside.split_once(',').ok_or_else(shape)?;
    let (column, view) = match column.split_once(',') {
        Some((column, view)) => (column, View::parse(view.trim())?),
        None => (column, View::Whole),
    };
    let offset: i32 = row.trim().parse().map_err(|_| shape())?;
    let column: usize = column.trim().parse().map_err(|_| shape())?;
    if offset.unsigned_abs() > MAX_OFFSET as u32 {
        return Err(format!("row {offset} is more than {MAX_OFFSET} tokens away"));
    }
    Ok((Source { column, view }, offset))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_line_and_problem() {
        for (text, want) in [
            (
                "U00:%x[0,0]\nX01",
                "template line 2: `X01` begins neither with U nor with B nor with #",
            ),
            (
                "#\n\nU:%y[0,0]",
                "template line 3: `%y[0,0]` is no macro: only %x[row,column] is known",
            ),
            ("U:%x[0,0", "template line 1: `%x[0,0` has no closing bracket"),
            ("U:%x[a,0]", "template line 1: `%x[a,0]` should be %x[row,column]"),
            ("U:%x[0,-1]", "template line 1: `%x[0,-1]` should be %x[row,column]"),
            (
                "U:%x[0,0,up]",
                "template line 1: `up` is none of lower, shape, digits, caps, prefix:N, suffix:N",
            ),
            ("U:%x[9999999,0]", "template line 1: row 9999999 is more than 1000 tokens away"),
            (
                "# nothing\n",
                "template line 1: no template at all: write one per line, as `U00:%x[0,0]`",
            ),
        ] {
            assert_eq!(Templates::parse(text).unwrap_err().to_string(), want);
        }
    }

    #[test]
    fn columns_are_checked_against_the_data() {
        let templates = Templates::parse("U:%x[0,3]\nB1:%x[0,1]").unwrap();
        assert!(templates.check_columns(4).is_ok());
        let error = templates.check_columns(3).unwrap_err().to_string();
        assert!(error.contains("column 3") && error.contains("has 3"), "{error}");
        assert!(!templates.has_transitions());
        assert_eq!((templates.n_pairs(), templates.reach()), (1, 0));
    }

    #[test]
    fn the_text_around_macros_is_the_identity() {
        let seeds = |text: &str| -> Vec<u64> {
            Templates::parse(text).unwrap().unary.iter().map(|t| t.seed).collect()
        };
        let s = seeds("U:%x[-1,0]\nU:%x[1,0]\nU1:%x[1,0]\nU:%x[1,0,lower]\nU:%x[0,0]/%x[1,0]");
        assert_eq!(s[0], s[1]);
        assert!(s[1] != s[2] && s[1] != s[3] && s[1] != s[4]);
    }

    #[test]
    fn windows_line_ends_are_no_part_of_a_template() {
        let templates = Templates::parse("U00:%x[0,0]\r\nB\r\n").unwrap();
        assert!(templates.has_transitions());
        assert_eq!(templates.unary[0].text, ["U00:", ""]);
    }
}
