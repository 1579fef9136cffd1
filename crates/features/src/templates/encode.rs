//! Templates at work: rows of cells in, hashed columns out.

use super::class_part::groups;
use super::expression::{Expression, Found};
use super::names::TemplateNames;
use super::parse::{Template, parse};
use crate::Error;
use crate::text::TextRows;
use lineal_linalg::Csr;
use rayon::prelude::*;

/// Rows that one thread works on at a time.
const CHUNK: usize = 256;

/// Templates, and the columns that their features are hashed into: 2^bits for each part of the class that they name.
#[derive(Clone, Debug, PartialEq)]
pub struct Templates {
    text: String,
    bits: u8,
    columns: Vec<String>,
    /// Each with the number of its part of the class.
    lines: Vec<(Template, usize)>,
    /// The whole class first, if any line has it.
    parts: Vec<Expression>,
}

impl Templates {
    /// Reads templates, a line each.
    pub fn parse(text: &str, bits: u8) -> Result<Self, Error> {
        if !(1..=24).contains(&bits) {
            return Err(Error::setting("hash", bits, "between 1 and 24 bits can be hashed into"));
        }
        let mut columns = Vec::new();
        let templates = parse(text, &mut columns)?;
        let mut parts: Vec<Expression> = Vec::new();
        for template in &templates {
            if !parts.contains(&template.class) {
                parts.push(template.class.clone());
            }
        }
        parts.sort_by_key(|part| *part != Expression::Class);
        if parts.len() << bits > u32::MAX as usize / 2 {
            let remedy =
                format!("{} parts of the class are too many for so many bits", parts.len());
            return Err(Error::setting("hash", bits, remedy));
        }
        let place = |class: &Expression| parts.iter().position(|part| part == class).unwrap_or(0);
        let lines = templates.into_iter().map(|t| (place(&t.class), t)).map(|(p, t)| (t, p));
        let lines = lines.collect();
        Ok(Self { text: text.to_owned(), bits, columns, lines, parts })
    }

    /// The templates as they were written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The logarithm of the number of columns of each part of the class.
    pub fn bits(&self) -> u8 {
        self.bits
    }

    /// How many templates there are.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// There is one at least.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// The columns of the data that they look at.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// How many columns rows have.
    pub fn n_features(&self) -> usize {
        self.parts.len() << self.bits
    }

    /// For each part of the class: its number of columns, and which classes it takes for one.
    pub fn regions(&self, classes: &[String]) -> Vec<(usize, Vec<u32>)> {
        self.parts.iter().map(|part| (1 << self.bits, groups(part, classes))).collect()
    }

    /// Where the columns that templates look at are among the texts of a row.
    pub fn bind(&self, slots: &[String]) -> Result<Vec<usize>, Error> {
        let find = |column: &String| {
            slots.iter().position(|slot| slot == column).ok_or_else(|| Error::Template {
                line: self.line_of(column),
                text: column.clone(),
                why: format!("the data has no such column of text; there are {}", slots.join(", ")),
            })
        };
        self.columns.iter().map(find).collect()
    }

    /// The first line that has a column.
    fn line_of(&self, column: &str) -> usize {
        self.text.lines().position(|line| line.contains(column)).unwrap_or(0) + 1
    }

    /// What the features of a hashed column are called.
    pub fn feature_name(&self, column: usize, names: &TemplateNames) -> String {
        let name = names.get(column as u32).map_or_else(|| format!("#{column}"), str::to_owned);
        match self.parts.get(column >> self.bits) {
            None | Some(Expression::Class) => name,
            Some(part) => format!("{name} * {part}"),
        }
    }

    /// The rows of some cells, and the names that occurred in them. `slots` comes from [`bind`](Self::bind).
    ///
    /// The error is a cell that should be a number.
    pub fn encode(
        &self,
        rows: &(impl TextRows + ?Sized),
        slots: &[usize],
    ) -> Result<(Csr, TemplateNames), Error> {
        if slots.len() != self.columns.len() || slots.iter().any(|&slot| slot >= rows.n_slots()) {
            return Err(Error::Columns { found: rows.n_slots(), expected: self.columns.len() });
        }
        let chunks: Result<Vec<Chunk>, Error> = (0..rows.n_rows().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| {
                let mut done = Chunk::default();
                for row in chunk * CHUNK..rows.n_rows().min((chunk + 1) * CHUNK) {
                    self.encode_row(&|column: usize| rows.get(row, slots[column]), &mut done)?;
                }
                Ok(done)
            })
            .collect();
        let (mut indptr, mut idx, mut val) = (vec![0], Vec::new(), Vec::new());
        let mut names = TemplateNames::default();
        for chunk in chunks? {
            for len in chunk.lens {
                indptr.push(indptr.last().copied().unwrap_or(0) + len);
            }
            idx.extend(chunk.idx);
            val.extend(chunk.val);
            names.extend(chunk.names);
        }
        let rows = Csr::new(self.n_features(), indptr, idx, val).expect("columns in order");
        Ok((rows, names))
    }

    fn encode_row<'a>(
        &self,
        cell: &impl Fn(usize) -> &'a str,
        chunk: &mut Chunk,
    ) -> Result<(), Error> {
        chunk.row.clear();
        for (template, part) in &self.lines {
            // All combinations of what the factors found.
            let mut all = vec![Found { text: String::new(), value: 1.0 }];
            for factor in &template.factors {
                let mut found = Vec::new();
                factor.find(cell, &mut found).map_err(|cell| {
                    Error::setting("template", factor, format!("{cell:?} is not a number"))
                })?;
                let with = |before: &Found| {
                    let prefix = if before.text.is_empty() {
                        String::new()
                    } else {
                        format!("{} & ", before.text)
                    };
                    let join = |one: &Found| {
                        let text = match one.text.as_str() {
                            "" => format!("{prefix}{factor}"),
                            text => format!("{prefix}{factor}={text}"),
                        };
                        Found { text, value: before.value * one.value }
                    };
                    found.iter().map(join).collect::<Vec<_>>()
                };
                all = all.iter().flat_map(with).collect();
            }
            for found in all {
                let hash = hash(found.text.as_bytes());
                let column = (*part as u32) << self.bits | hash & ((1 << self.bits) - 1);
                chunk.row.push((column, found.value));
                chunk.names.note(column, 1, || found.text.clone(), |kept| kept == found.text);
            }
        }
        chunk.row.sort_by_key(|&(column, _)| column);
        let before = chunk.idx.len();
        for equals in chunk.row.chunk_by(|a, b| a.0 == b.0) {
            chunk.idx.push(equals[0].0);
            chunk.val.push(equals.iter().map(|&(_, value)| value).sum());
        }
        chunk.lens.push(chunk.idx.len() - before);
        Ok(())
    }
}

#[derive(Default)]
struct Chunk {
    lens: Vec<usize>,
    idx: Vec<u32>,
    val: Vec<f32>,
    row: Vec<(u32, f32)>,
    names: TemplateNames,
}

/// FNV-1a (Fowler, Noll, Vo), its bits mixed so that any of them will do.
fn hash(bytes: &[u8]) -> u32 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for &byte in bytes {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use lineal_linalg::Row;

    struct Table(Vec<[&'static str; 2]>);

    impl TextRows for Table {
        fn n_rows(&self) -> usize {
            self.0.len()
        }
        fn n_slots(&self) -> usize {
            2
        }
        fn get(&self, row: usize, slot: usize) -> &str {
            self.0[row][slot]
        }
    }

    fn named(
        templates: &Templates,
        rows: &Csr,
        names: &TemplateNames,
        i: usize,
    ) -> Vec<(String, f32)> {
        let Row::Sparse(row) = rows.row(i) else { return Vec::new() };
        let mut all: Vec<(String, f32)> = row
            .idx()
            .iter()
            .zip(row.val())
            .map(|(&j, &v)| (templates.feature_name(j as usize, names), v))
            .collect();
        all.sort_by(|a, b| a.0.cmp(&b.0));
        all
    }

    #[test]
    fn a_row_has_what_its_templates_find() {
        let text = "word\nsuffix:1-2(word) & number(age)\nalways * prefix:1(class)\nwords(word)\n";
        let templates = Templates::parse(text, 16).unwrap();
        let slots = templates.bind(&["age".into(), "word".into()]).unwrap();
        let table = Table(vec![["2", "so so"], ["3", ""], ["", "ab"]]);
        let (rows, names) = templates.encode(&table, &slots).unwrap();
        let want = [
            ("always * prefix:1(class)", 1.0),
            ("suffix:1-2(word)=o & number(age)", 2.0),
            ("suffix:1-2(word)=so & number(age)", 2.0),
            ("word=so so", 1.0),
            ("words(word)=so", 2.0),
        ];
        let want = want.map(|(name, value)| (name.to_owned(), value));
        assert_eq!(named(&templates, &rows, &names, 0), want);
        assert_eq!(named(&templates, &rows, &names, 1).len(), 1);
        assert_eq!(named(&templates, &rows, &names, 2).len(), 3);
        let err = templates.encode(&Table(vec![["x", "ab"]]), &slots).unwrap_err().to_string();
        assert_eq!(err, "template number(age): \"x\" is not a number");
        let err = templates.bind(&["word".into()]).unwrap_err().to_string();
        assert!(err.starts_with("templates, line 2: `age`: the data has no such column"), "{err}");
    }

    #[test]
    fn parts_of_the_class_have_columns_of_their_own() {
        let templates = Templates::parse("a * before:-(class)\na\na * after:-(class)", 4).unwrap();
        let classes = ["B-NP", "I-NP", "O"].map(str::to_owned);
        let groups: Vec<Vec<u32>> = templates
            .regions(&classes)
            .into_iter()
            .map(|(n, groups)| {
                assert_eq!(n, 16);
                groups
            })
            .collect();
        assert_eq!(groups, [vec![0, 1, 2], vec![0, 1, 2], vec![0, 0, 1]]);
        let (rows, _) = templates.encode(&["x"], &[0]).unwrap();
        let Row::Sparse(row) = rows.row(0) else { panic!("sparse") };
        let low = row.idx()[0];
        assert_eq!(row.idx(), [low, low + 16, low + 32]);
        assert!(low < 16);
        assert!(Templates::parse("a", 25).unwrap_err().to_string().contains("24 bits"));
    }
}
