//! Templates as they are written.

use crate::language::names;
use crate::language::{Declaration, LanguageError, Path, Words, resolve};

/// Terms that stand together in one feature.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// As it is written.
    pub text: String,
    pub(crate) terms: Vec<Term>,
}

impl Template {
    /// The columns of tokens that it asks for.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter_map(|term| match term {
            Term::Tokens { column, .. } => Some(column.as_str()),
            _ => None,
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Term {
    Tokens { column: String, range: Range, change: Vec<Change> },
    Length(Range),
    Order(Path, Path),
    Distance(Path, Path),
    Number { kind: usize, range: Range },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Range {
    One(Position),
    From(Position, Position),
    Between(Path, Path),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Position {
    pub path: Path,
    pub anchor: Anchor,
    pub offset: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Last,
    End,
}

/// What is done to the tokens, the innermost first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    Lower,
    Shape,
    Prefix(usize),
    Suffix(usize),
    Join,
    Pairs,
    Set,
}

/// Templates up to the end of the line.
pub(crate) fn parse(
    words: &mut Words,
    declaration: &Declaration,
    kind: usize,
) -> Result<Vec<Template>, LanguageError> {
    let mut templates = Vec::new();
    while !words.is_end() {
        let before = words.clone();
        let mut terms = vec![term(words, declaration, kind, 0)?];
        while words.takes("&") {
            terms.push(term(words, declaration, kind, 0)?);
        }
        words.takes(",");
        templates.push(Template { text: words.text_since(&before), terms });
    }
    Ok(templates)
}

fn term(
    words: &mut Words,
    declaration: &Declaration,
    kind: usize,
    depth: usize,
) -> Result<Term, LanguageError> {
    let name = words.name("a template such as tokens[start]")?;
    if words.takes("[") {
        let range = range(words, declaration, kind)?;
        words.expect("]", " after the place of tokens")?;
        return Ok(Term::Tokens { column: name.text, range, change: Vec::new() });
    }
    words.expect("(", ", or `[`,")?;
    if depth > 20 {
        return Err(words.wrong("functions are nested too deeply"));
    }
    let path = |words: &mut Words| {
        let names = names(words)?;
        resolve(words, declaration, kind, &names)
    };
    let term = match name.text.as_str() {
        "length" => Term::Length(range(words, declaration, kind)?),
        "order" | "distance" => {
            let first = path(words)?;
            words.expect(",", " between two variables")?;
            let second = path(words)?;
            if name.text == "order" {
                Term::Order(first, second)
            } else {
                Term::Distance(first, second)
            }
        }
        "number" => {
            let of = words.name("a kind of variables")?;
            let names = declaration.variables().iter().map(|kind| kind.name.as_str());
            let of = declaration
                .kind_named(&of.text)
                .ok_or_else(|| words.unknown(&of, "variable", names))?;
            words.expect(",", " before the range")?;
            Term::Number { kind: of, range: range(words, declaration, kind)? }
        }
        function => {
            let change = match function {
                "lower" => Change::Lower,
                "shape" => Change::Shape,
                "join" => Change::Join,
                "pairs" => Change::Pairs,
                "set" => Change::Set,
                "prefix" | "suffix" => {
                    let n = words.number()?.max(0) as usize;
                    words.expect(",", " after the number of letters")?;
                    if function == "prefix" { Change::Prefix(n) } else { Change::Suffix(n) }
                }
                _ => {
                    let functions = [
                        "lower", "shape", "prefix", "suffix", "join", "pairs", "set", "length",
                        "order", "distance", "number",
                    ];
                    return Err(words.unknown(&name, "function", functions.into_iter()));
                }
            };
            match term(words, declaration, kind, depth + 1)? {
                Term::Tokens { column, range, change: mut changes } => {
                    changes.push(change);
                    Term::Tokens { column, range, change: changes }
                }
                _ => {
                    return Err(words.at(
                        &name,
                        format!("`{}` is for tokens; write {0}(tokens[start])", name.text),
                    ));
                }
            }
        }
    };
    words.expect(")", ": a parenthesis is open")?;
    Ok(term)
}

fn range(
    words: &mut Words,
    declaration: &Declaration,
    kind: usize,
) -> Result<Range, LanguageError> {
    if words.takes("between") {
        let first = names(words)?;
        words.takes(",");
        let second = names(words)?;
        let resolve = |path| resolve(words, declaration, kind, path);
        return Ok(Range::Between(resolve(&first)?, resolve(&second)?));
    }
    let first = position(words, declaration, kind)?;
    if words.takes("..") {
        return Ok(Range::From(first, position(words, declaration, kind)?));
    }
    Ok(Range::One(first))
}

/// `[LINK. …] start|last|end [±N]`
fn position(
    words: &mut Words,
    declaration: &Declaration,
    kind: usize,
) -> Result<Position, LanguageError> {
    let mut path = names(words)?;
    let Some(mut anchor) = path.pop() else {
        return Err(words.wrong("a position must stand here"));
    };
    let mut offset = 0;
    // `start-1` is one word.
    if let Some((name, number)) = anchor.text.clone().rsplit_once('-') {
        offset =
            -number.parse::<i64>().ok().filter(|n| *n <= 10_000).ok_or_else(|| {
                words.at(&anchor, format!("`{number}` is not a number of tokens"))
            })?;
        anchor.text = name.to_owned();
    } else if words.takes("+") {
        offset = words.number()?;
    } else if words.takes("-") {
        offset = -words.number()?;
    }
    let path = if path.is_empty() { Vec::new() } else { resolve(words, declaration, kind, &path)? };
    let anchor = match anchor.text.as_str() {
        "start" => Anchor::Start,
        "last" => Anchor::Last,
        "end" => Anchor::End,
        _ => return Err(words.unknown(&anchor, "position", ["start", "last", "end"].into_iter())),
    };
    Ok(Position { path, anchor, offset })
}
