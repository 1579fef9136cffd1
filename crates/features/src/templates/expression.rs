//! What a template looks at: cells, and functions of them.

use std::fmt;

/// The cell of a column, something that is always there, or a function of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expression {
    /// A column by its number among those of all templates, and its name.
    Column(usize, String),
    /// The class.
    Class,
    /// Always there.
    Always,
    Call(Function, Box<Expression>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Function {
    /// The first n characters, for each n of a range; nothing where there are fewer.
    Prefix(usize, usize),
    /// The last n characters.
    Suffix(usize, usize),
    /// `Xx-d` of `McD-42`, with runs of a kind as one: upper case, lower case, digits; all else as it is.
    Shape,
    Lower,
    /// Each word between whitespace.
    Words,
    /// What comes before the first such string; all, if there is none.
    Before(String),
    /// What comes after it; nothing, if there is none.
    After(String),
    /// The cell as a number.
    Number,
}

/// What an expression found: a text, and how much it counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) text: String,
    pub(crate) value: f32,
}

impl Expression {
    /// Appends what is found in a row; an empty cell has nothing. The error is a cell that is not a number.
    pub(crate) fn find<'a>(
        &self,
        cell: &impl Fn(usize) -> &'a str,
        out: &mut Vec<Found>,
    ) -> Result<(), String> {
        match self {
            Expression::Class => Ok(()),
            Expression::Always => {
                out.push(Found { text: String::new(), value: 1.0 });
                Ok(())
            }
            Expression::Column(at, _) => {
                let text = cell(*at);
                if !text.is_empty() {
                    out.push(Found { text: text.to_owned(), value: 1.0 });
                }
                Ok(())
            }
            Expression::Call(function, of) => {
                let mut inner = Vec::new();
                of.find(cell, &mut inner)?;
                for found in inner {
                    function.apply(&found.text, |text, value| {
                        out.push(Found { text, value: value * found.value });
                    })?;
                }
                Ok(())
            }
        }
    }

    /// The part of a class that it names; the whole class where there is no such part.
    pub(crate) fn of_class(&self, class: &str) -> String {
        let Expression::Call(function, of) = self else { return class.to_owned() };
        let inner = of.of_class(class);
        let mut part = None;
        let done = function.apply(&inner, |text, _| part = part.take().or(Some(text)));
        match (done, part) {
            (Ok(()), Some(part)) if !part.is_empty() => part,
            _ => inner,
        }
    }

    /// Whether it is of the class.
    pub(crate) fn is_of_class(&self) -> bool {
        match self {
            Expression::Class => true,
            Expression::Column(..) | Expression::Always => false,
            Expression::Call(_, of) => of.is_of_class(),
        }
    }
}

impl Function {
    fn apply(&self, text: &str, mut f: impl FnMut(String, f32)) -> Result<(), String> {
        match self {
            Function::Prefix(lo, hi) => {
                for n in *lo..=*hi {
                    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                    let Some(end) = ends.nth(n) else { break };
                    f(text[..end].to_owned(), 1.0);
                }
            }
            Function::Suffix(lo, hi) => {
                for n in *lo..=*hi {
                    let Some((start, _)) = text.char_indices().nth_back(n - 1) else { break };
                    f(text[start..].to_owned(), 1.0);
                }
            }
            Function::Shape => f(shape(text), 1.0),
            Function::Lower => f(text.to_lowercase(), 1.0),
            Function::Words => text.split_whitespace().for_each(|word| f(word.to_owned(), 1.0)),
            Function::Before(cut) => {
                let (before, _) = text.split_once(cut.as_str()).unwrap_or((text, ""));
                if !before.is_empty() {
                    f(before.to_owned(), 1.0);
                }
            }
            Function::After(cut) => {
                if let Some((_, after)) = text.split_once(cut.as_str())
                    && !after.is_empty()
                {
                    f(after.to_owned(), 1.0);
                }
            }
            Function::Number => match text.trim().parse::<f32>() {
                Ok(value) if value.is_finite() => f(String::new(), value),
                _ => return Err(text.to_owned()),
            },
        }
        Ok(())
    }
}

fn shape(text: &str) -> String {
    let kind = |c: char| match c {
        c if c.is_uppercase() => 'X',
        c if c.is_alphabetic() => 'x',
        c if c.is_numeric() => 'd',
        c => c,
    };
    let mut shape = String::new();
    for c in text.chars().map(kind) {
        if !(matches!(c, 'X' | 'x' | 'd') && shape.ends_with(c)) {
            shape.push(c);
        }
    }
    shape
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expression::Column(_, name) => f.write_str(name),
            Expression::Class => f.write_str("class"),
            Expression::Always => f.write_str("always"),
            Expression::Call(function, of) => write!(f, "{function}({of})"),
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Function::Prefix(lo, hi) if lo == hi => write!(f, "prefix:{lo}"),
            Function::Prefix(lo, hi) => write!(f, "prefix:{lo}-{hi}"),
            Function::Suffix(lo, hi) if lo == hi => write!(f, "suffix:{lo}"),
            Function::Suffix(lo, hi) => write!(f, "suffix:{lo}-{hi}"),
            Function::Shape => f.write_str("shape"),
            Function::Lower => f.write_str("lower"),
            Function::Words => f.write_str("words"),
            Function::Before(cut) => write!(f, "before:{cut}"),
            Function::After(cut) => write!(f, "after:{cut}"),
            Function::Number => f.write_str("number"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_of_a_cell() {
        let all = |function: Function, text: &str| {
            let mut out = Vec::new();
            function.apply(text, |text, _| out.push(text)).unwrap();
            out
        };
        assert_eq!(all(Function::Prefix(1, 3), "éa"), ["é", "éa"]);
        assert_eq!(all(Function::Suffix(2, 3), "naïve"), ["ve", "ïve"]);
        assert_eq!(all(Function::Suffix(2, 2), "a"), [""; 0]);
        assert_eq!(all(Function::Shape, "McDonald's-42"), ["XxXx'x-d"]);
        assert_eq!(all(Function::Words, " to  be "), ["to", "be"]);
        assert_eq!(all(Function::Before("-".into()), "B-NP-x"), ["B"]);
        assert_eq!(all(Function::Before("-".into()), "O"), ["O"]);
        assert_eq!(all(Function::After("-".into()), "B-NP-x"), ["NP-x"]);
        assert_eq!(all(Function::After("-".into()), "O"), [""; 0]);
        assert_eq!(Function::Number.apply("x1", |_, _| ()).unwrap_err(), "x1");
    }

    #[test]
    fn a_class_without_the_part_stands_for_itself() {
        let after = Function::After("-".into());
        let after = Expression::Call(after, Box::new(Expression::Class));
        assert_eq!((after.of_class("B-NP"), after.of_class("O")), ("NP".into(), "O".into()));
        let prefix = Expression::Call(Function::Prefix(3, 3), Box::new(Expression::Class));
        assert_eq!((prefix.of_class("VERB"), prefix.of_class("X")), ("VER".into(), "X".into()));
        assert_eq!(Expression::Class.of_class("VERB"), "VERB");
    }
}
