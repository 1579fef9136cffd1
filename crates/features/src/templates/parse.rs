//! From lines to templates.

use super::expression::{Expression, Function};
use crate::Error;

/// What is looked at, all at once, and the part of the class that it is seen with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Template {
    pub(crate) factors: Vec<Expression>,
    pub(crate) class: Expression,
}

/// All lines but empty ones and comments. Columns are numbered in order of appearance.
pub(crate) fn parse(text: &str, columns: &mut Vec<String>) -> Result<Vec<Template>, Error> {
    let mut templates = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let mut parser = Parser { text: line, at: 0, columns };
        let refuse =
            |why: String| Error::Template { line: i + 1, text: line.trim().to_owned(), why };
        if parser.is_at_end() {
            continue;
        }
        let template = parser.template().map_err(refuse)?;
        if templates.contains(&template) {
            return Err(refuse("the same as a line above".into()));
        }
        templates.push(template);
    }
    if templates.is_empty() {
        let why = "there is no template; a line such as `word` or `suffix:3(word)` is one".into();
        return Err(Error::Template { line: 1, text: String::new(), why });
    }
    Ok(templates)
}

const FUNCTIONS: &str =
    "prefix:N, suffix:N, shape, lower, words, before:TEXT, after:TEXT and number";

struct Parser<'a> {
    text: &'a str,
    at: usize,
    columns: &'a mut Vec<String>,
}

impl<'a> Parser<'a> {
    fn template(&mut self) -> Result<Template, String> {
        let mut factors = vec![self.expression()?];
        while self.take('&') {
            factors.push(self.expression()?);
        }
        if factors.iter().any(Expression::is_of_class) {
            return Err(
                "the class goes to the right of a star, as in `word * prefix:1(class)`; a column of that name is \"class\""
                    .into(),
            );
        }
        let mut class = Expression::Class;
        if self.take('*') {
            class = self.expression()?;
            if !class.is_of_class() {
                return Err(format!("right of the star stands a part of the class, not `{class}`"));
            }
            let mut inner = &class;
            while let Expression::Call(function, of) = inner {
                if matches!(function, Function::Words | Function::Number) {
                    return Err(format!("`{function}` is of columns, not of the class"));
                }
                if let Function::Prefix(lo, hi) | Function::Suffix(lo, hi) = function
                    && lo != hi
                {
                    return Err(
                        "a class has one part for a line; write a line for each length".into()
                    );
                }
                inner = of;
            }
        }
        match self.rest() {
            "" => Ok(Template { factors, class }),
            rest => Err(format!("what is `{rest}`? After a column comes nothing, `&` or `*`")),
        }
    }

    fn expression(&mut self) -> Result<Expression, String> {
        if let Some(name) = self.quoted()? {
            return Ok(self.column(name));
        }
        let name = self.word(|c| !c.is_whitespace() && !"&*():#\"".contains(c));
        if name.is_empty() {
            return Err(match self.rest() {
                "" => "a column is missing at the end".into(),
                rest => format!("a column is missing before `{rest}`"),
            });
        }
        let argument = match self.take_now(':') {
            true => Some(match self.quoted()? {
                Some(text) => text,
                None => self.word(|c| !c.is_whitespace() && c != '('),
            }),
            false => None,
        };
        if !self.take('(') {
            return match (name.as_str(), argument) {
                (_, Some(_)) => Err(format!("`{name}:` needs a column, as in {name}:3(word)")),
                ("class", None) => Ok(Expression::Class),
                ("always", None) => Ok(Expression::Always),
                (_, None) => Ok(self.column(name)),
            };
        }
        let function = function(&name, argument.as_deref())?;
        let of = self.expression()?;
        if !self.take(')') {
            return Err(format!("a `)` is missing after `{of}`"));
        }
        if of == Expression::Always || matches!(&of, Expression::Call(Function::Number, _)) {
            return Err(format!("`{function}` of `{of}` makes no sense"));
        }
        Ok(Expression::Call(function, Box::new(of)))
    }

    fn column(&mut self, name: String) -> Expression {
        let at = self.columns.iter().position(|column| *column == name).unwrap_or_else(|| {
            self.columns.push(name.clone());
            self.columns.len() - 1
        });
        Expression::Column(at, name)
    }

    /// What is left, without a comment.
    fn rest(&mut self) -> &'a str {
        self.skip();
        let rest = &self.text[self.at..];
        if rest.starts_with('#') { "" } else { rest.trim_end() }
    }

    fn is_at_end(&mut self) -> bool {
        self.rest().is_empty()
    }

    fn skip(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn take(&mut self, c: char) -> bool {
        self.skip();
        self.take_now(c)
    }

    fn take_now(&mut self, c: char) -> bool {
        let is_next = self.text[self.at..].starts_with(c);
        self.at += if is_next { c.len_utf8() } else { 0 };
        is_next
    }

    fn word(&mut self, belongs: impl Fn(char) -> bool) -> String {
        self.skip();
        let rest = &self.text[self.at..];
        let len = rest.find(|c| !belongs(c)).unwrap_or(rest.len());
        self.at += len;
        rest[..len].to_owned()
    }

    /// `"…"`, if that comes next.
    fn quoted(&mut self) -> Result<Option<String>, String> {
        if !self.take('"') {
            return Ok(None);
        }
        let rest = &self.text[self.at..];
        let end = rest.find('"').ok_or("a quotation mark is missing at the end")?;
        self.at += end + 1;
        Ok(Some(rest[..end].to_owned()))
    }
}

fn function(name: &str, argument: Option<&str>) -> Result<Function, String> {
    let lengths = || {
        let text = argument.unwrap_or("");
        let (lo, hi) = text.split_once('-').unwrap_or((text, text));
        match (lo.parse::<usize>(), hi.parse::<usize>()) {
            (Ok(lo), Ok(hi)) if 1 <= lo && lo <= hi && hi <= 64 => Ok((lo, hi)),
            _ => Err(format!(
                "`{name}:{text}` needs a length, or two, from 1 to 64: {name}:3, {name}:1-3"
            )),
        }
    };
    let cut = || match argument {
        Some(cut) if !cut.is_empty() => Ok(cut.to_owned()),
        _ => Err(format!("`{name}` needs a text: {name}:- or {name}:\" \"")),
    };
    let found = match name {
        "prefix" => lengths().map(|(lo, hi)| Function::Prefix(lo, hi)),
        "suffix" => lengths().map(|(lo, hi)| Function::Suffix(lo, hi)),
        "before" => return cut().map(Function::Before),
        "after" => return cut().map(Function::After),
        "shape" => Ok(Function::Shape),
        "lower" => Ok(Function::Lower),
        "words" => Ok(Function::Words),
        "number" => Ok(Function::Number),
        _ => return Err(format!("`{name}` is no function; there are {FUNCTIONS}")),
    }?;
    match (&found, argument) {
        (Function::Prefix(..) | Function::Suffix(..), _) | (_, None) => Ok(found),
        (_, Some(argument)) => Err(format!("`{name}` takes no `:{argument}`")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text, &mut Vec::new()).unwrap_err().to_string()
    }

    #[test]
    fn lines_are_read_and_shown_alike() {
        let text = "# words\nword\n\nsuffix:1-3( lower(word) )  # ends\nshape(word) & \"the tag\" * before:-(class)\n\
                    always * prefix:1(class)\nbefore:\" \"(word) & number(age)\n";
        let mut columns = Vec::new();
        let templates = parse(text, &mut columns).unwrap();
        assert_eq!(columns, ["word", "the tag", "age"]);
        let shown: Vec<String> = templates
            .iter()
            .map(|t| {
                let factors: Vec<String> = t.factors.iter().map(Expression::to_string).collect();
                format!("{} * {}", factors.join(" & "), t.class)
            })
            .collect();
        assert_eq!(
            shown,
            [
                "word * class",
                "suffix:1-3(lower(word)) * class",
                "shape(word) & the tag * before:-(class)",
                "always * prefix:1(class)",
                "before: (word) & number(age) * class",
            ]
        );
    }

    #[test]
    fn what_cannot_be_read_is_said_with_its_line() {
        assert_eq!(
            message("word\nsufix:3(word)"),
            format!(
                "templates, line 2: `sufix:3(word)`: `sufix` is no function; there are {FUNCTIONS}"
            )
        );
        assert!(message("suffix(word)").contains("needs a length"));
        assert!(message("suffix:0(word)").contains("from 1 to 64"));
        assert!(message("suffix:3").contains("needs a column"));
        assert!(message("suffix:3(word").contains("`)` is missing"));
        assert!(message("word &").contains("missing at the end"));
        assert!(message("* class").contains("missing before `* class`"));
        assert!(message("word * tag").contains("a part of the class, not `tag`"));
        assert!(message("class").contains("right of a star"));
        assert!(message("word tag").contains("what is `tag`"));
        assert!(message("word\nword * class").contains("the same as a line above"));
        assert!(message("word * words(class)").contains("not of the class"));
        assert!(message("word * prefix:1-2(class)").contains("each length"));
        assert!(message("shape:2(word)").contains("takes no `:2`"));
        assert!(message("\"word").contains("quotation mark"));
        assert!(message("# nothing\n").contains("no template"));
        assert!(message("lower(number(age))").contains("makes no sense"));
    }
}
