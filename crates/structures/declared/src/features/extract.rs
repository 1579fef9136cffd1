//! What templates give for a variable of an example.

use super::template::{Anchor, Change, Position, Range, Template, Term};
use crate::ground::Ground;
use crate::language::{Declaration, Path};
use std::collections::BTreeMap;
use std::fmt::Write;

/// Calls `f(name, value)` for each feature of a variable: its bias, those that the example lists for it, and those of the templates.
pub fn each_feature(
    declaration: &Declaration,
    ground: &Ground,
    variable: usize,
    templates: &[Template],
    f: &mut dyn FnMut(&str, f32),
) {
    for (own, value) in &ground.features[variable] {
        // No template ends like this.
        f(&format!("{own}#"), *value);
    }
    each_template(declaration, ground, variable, templates, f);
}

/// The same without what the example lists: for factors.
pub(crate) fn each_template(
    declaration: &Declaration,
    ground: &Ground,
    variable: usize,
    templates: &[Template],
    f: &mut dyn FnMut(&str, f32),
) {
    let at = At { declaration, ground, variable };
    let mut name = String::new();
    f("bias", 1.0);
    for (number, template) in templates.iter().enumerate() {
        let mut combined: Vec<(String, f32)> = vec![(String::new(), 1.0)];
        for term in &template.terms {
            let values = at.values(term);
            combined = combined
                .iter()
                .flat_map(|(so_far, a)| {
                    values.iter().map(move |(value, b)| {
                        let joined = if so_far.is_empty() {
                            value.clone()
                        } else {
                            format!("{so_far}&{value}")
                        };
                        (joined, a * b)
                    })
                })
                .collect();
        }
        for (value, times) in combined {
            name.clear();
            // Writing to a string does not fail. The number keeps apart what two templates have in common.
            let _ = write!(name, "{}={value}#{number}", template.text);
            f(&name, times);
        }
    }
}

struct At<'a> {
    declaration: &'a Declaration,
    ground: &'a Ground,
    variable: usize,
}

impl At<'_> {
    fn values(&self, term: &Term) -> Vec<(String, f32)> {
        let once = |text: String| vec![(text, 1.0)];
        match term {
            Term::Tokens { column, range, change } => {
                self.tokens(column, range, change).unwrap_or_default()
            }
            Term::Length(range) => {
                let range = self.range(range);
                range.map(|(from, to)| once(bucket((to - from).max(0)))).unwrap_or_default()
            }
            Term::Order(a, b) => match (self.span(a), self.span(b)) {
                (Some(a), Some(b)) => once(if a.0 <= b.0 { "<" } else { ">" }.into()),
                _ => Vec::new(),
            },
            Term::Distance(a, b) => {
                self.between(a, b).map(|(from, to)| once(bucket(to - from))).unwrap_or_default()
            }
            Term::Number { kind, range } => {
                let Some((from, to)) = self.range(range) else { return Vec::new() };
                let spans =
                    &self.ground.spans[self.ground.starts[*kind]..self.ground.starts[kind + 1]];
                let inside = |span: &&Option<(usize, usize)>| {
                    span.is_some_and(|(start, end)| start as i64 >= from && end as i64 <= to)
                };
                once(bucket(spans.iter().filter(inside).count() as i64))
            }
        }
    }

    fn span(&self, path: &Path) -> Option<(i64, i64)> {
        let variable = self.ground.follow(self.declaration, self.variable, path)?;
        let (start, end) = self.ground.spans[variable as usize]?;
        Some((start as i64, end as i64))
    }

    fn place(&self, position: &Position) -> Option<i64> {
        let (start, end) = self.span(&position.path)?;
        let anchor = match position.anchor {
            Anchor::Start => start,
            Anchor::Last => end - 1,
            Anchor::End => end,
        };
        Some(anchor + position.offset)
    }

    /// The tokens between two spans; none where they touch or overlap.
    fn between(&self, a: &Path, b: &Path) -> Option<(i64, i64)> {
        let (a, b) = (self.span(a)?, self.span(b)?);
        let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
        Some((first.1, second.0.max(first.1)))
    }

    fn range(&self, range: &Range) -> Option<(i64, i64)> {
        match range {
            Range::One(position) => self.place(position).map(|at| (at, at + 1)),
            Range::From(from, to) => Some((self.place(from)?, self.place(to)?)),
            Range::Between(a, b) => self.between(a, b),
        }
    }

    fn tokens(&self, column: &str, range: &Range, change: &[Change]) -> Option<Vec<(String, f32)>> {
        let (_, column) = self.ground.columns.iter().find(|(name, _)| name == column)?;
        let (from, to) = self.range(range)?;
        let n = column.len() as i64;
        // Outside stands one marker on each side.
        let mut tokens: Vec<String> = (from.max(-1)..to.min(n + 1))
            .map(|at| match at {
                _ if at < 0 => "<".to_owned(),
                _ if at >= n => ">".to_owned(),
                _ => column[at as usize].clone(),
            })
            .collect();
        let mut is_set = false;
        for change in change {
            match change {
                Change::Lower => tokens.iter_mut().for_each(|token| *token = token.to_lowercase()),
                Change::Shape => tokens.iter_mut().for_each(|token| *token = shape(token)),
                Change::Prefix(n) => {
                    tokens.iter_mut().for_each(|token| *token = token.chars().take(*n).collect());
                }
                Change::Suffix(n) => tokens.iter_mut().for_each(|token| {
                    let skipped = token.chars().count().saturating_sub(*n);
                    *token = token.chars().skip(skipped).collect();
                }),
                Change::Join => tokens = vec![tokens.join(" ")],
                Change::Pairs => tokens = tokens.windows(2).map(|pair| pair.join(" ")).collect(),
                Change::Set => is_set = true,
            }
        }
        let mut counts: BTreeMap<String, f32> = BTreeMap::new();
        for token in tokens {
            *counts.entry(token).or_insert(0.0) += 1.0;
        }
        if is_set {
            counts.values_mut().for_each(|count| *count = 1.0);
        }
        Some(counts.into_iter().collect())
    }
}

/// Capitals X, small letters x, digits d, the rest as it is; repeats once.
fn shape(token: &str) -> String {
    let mut shape = String::new();
    for c in token.chars() {
        let c = match c {
            _ if c.is_uppercase() => 'X',
            _ if c.is_alphabetic() => 'x',
            _ if c.is_numeric() => 'd',
            _ => c,
        };
        if !shape.ends_with(c) {
            shape.push(c);
        }
    }
    shape
}

fn bucket(n: i64) -> String {
    match n {
        0..=4 => n.to_string(),
        5..=6 => "5-6".into(),
        7..=10 => "7-10".into(),
        11..=20 => "11-20".into(),
        _ => "21-".into(),
    }
}
