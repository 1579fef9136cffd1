//! An output code from a file: a line of `+ - 0` a class, in the order of the classes, or `name: +-0…` lines in any order.

use anyhow::{anyhow, bail};
use lineal::reduce::{Code, Error};

use super::{class_of, reminder};
use crate::talk::count;

/// The code of a file as one line per class, in the order of the classes.
pub fn of_classes(text: &str, file: &str, classes: &[String]) -> anyhow::Result<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines: Vec<Line> =
        (1..).zip(text.lines()).filter_map(|(at, line)| Line::new(at, line)).collect();
    let n_named = lines.iter().filter(|line| line.name.is_some()).count();
    if let Some(odd) = lines.iter().find(|line| line.name.is_some() != (n_named > 0)) {
        bail!(
            "{file}:{}: a codeword without a `name:` where others have one; name all or none",
            odd.at
        );
    }
    if n_named == 0 && lines.len() != classes.len() {
        bail!(
            "{file} has {}, but the data {}: {}; one line per class",
            count(lines.len(), "codeword"),
            count(classes.len(), "class"),
            reminder(classes)
        );
    }
    let mut line_of: Vec<Option<&Line>> = vec![None; classes.len()];
    for (i, line) in lines.iter().enumerate() {
        let class = match &line.name {
            None => i,
            Some(name) => {
                class_of(name, classes).map_err(|why| anyhow!("{file}:{}: {why}", line.at))?
            }
        };
        if let Some(other) = line_of[class] {
            bail!(
                "{file}:{}: class `{}` has a codeword already, in line {}",
                line.at,
                classes[class],
                other.at
            );
        }
        line_of[class] = Some(line);
    }
    let words: Vec<&Line> = line_of.iter().flatten().copied().collect();
    if let Some(missing) = line_of.iter().position(Option::is_none) {
        bail!("{file}: no codeword for class `{}`; every class needs one", classes[missing]);
    }
    let text: String = words.iter().map(|line| format!("{}\n", line.word)).collect();
    match text.parse::<Code>() {
        Ok(code) => Ok(code.to_string()),
        Err(error) => bail!("{}", place(&error, file, &words, classes)),
    }
}

struct Line<'a> {
    /// From 1.
    at: usize,
    name: Option<String>,
    word: &'a str,
}

impl<'a> Line<'a> {
    /// `None` for blank lines and comments.
    fn new(at: usize, line: &'a str) -> Option<Self> {
        if line.trim_start().starts_with('#') {
            return None;
        }
        // A name may have a colon or a # in it; a codeword has neither.
        let (name, word) = match line.rsplit_once(':') {
            Some((name, word)) => (Some(unquoted(name.trim())), word),
            None => (None, line),
        };
        let word = word.split('#').next().unwrap_or_default().trim();
        (name.is_some() || !word.is_empty()).then_some(Self { at, name, word })
    }
}

fn unquoted(name: &str) -> String {
    let inner = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(name).to_owned()
}

/// What is wrong with the code, in the file's lines and the user's names.
fn place(error: &Error, file: &str, words: &[&Line], classes: &[String]) -> String {
    let at = |class: usize| words.get(class).map_or(0, |line| line.at);
    match error {
        Error::Text { line, message, .. } => format!("{file}:{}: {message}", at(line - 1)),
        Error::Ragged { class, found, expected } => {
            format!(
                "{file}:{}: {} where the codeword of `{}` has {expected}",
                at(*class),
                count(*found, "sign"),
                classes[0]
            )
        }
        Error::RepeatedRow(a, b) => format!(
            "{file}:{}: `{}` has the codeword of `{}`: add a column on which they differ",
            at(*b),
            classes[*b],
            classes[*a]
        ),
        Error::EmptyRow(class) => {
            format!(
                "{file}:{}: `{}` has only zeros: it takes part in no problem",
                at(*class),
                classes[*class]
            )
        }
        Error::ConstantColumn(l) => {
            format!("{file}: column {} needs a class with + and a class with -", l + 1)
        }
        Error::RepeatedColumn(a, b) => format!(
            "{file}: column {} is a copy or the complement of column {}: drop one of them",
            b + 1,
            a + 1
        ),
        other => format!("{file}: {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes() -> Vec<String> {
        ["a", "b: c", "#d"].map(str::to_owned).to_vec()
    }

    fn said(text: &str) -> String {
        of_classes(text, "f", &classes()).unwrap_err().to_string()
    }

    #[test]
    fn lines_come_in_the_order_of_the_classes_or_by_name() {
        let code = "++-\n+-+\n-++\n";
        assert_eq!(of_classes(code, "f", &classes()).unwrap(), code);
        let named = "# mine\n\"#d\": -1 +1 +1\nb: c: +-+ # second\n\na: ++-\n";
        assert_eq!(of_classes(named, "f", &classes()).unwrap(), code);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, why) in [
            ("++\n+-\n", "f has 2 codewords, but the data 3 classes: a, b: c, #d"),
            ("a: ++\n+-\n", "f:2: a codeword without a `name:`"),
            ("a: ++\nx: +-\n", "f:2: `x` is not a class of the data"),
            ("a: ++\na: +-\n", "f:2: class `a` has a codeword already, in line 1"),
            ("a: ++-\nb: c: +-+\n", "no codeword for class `#d`"),
            ("++-\n+-+\n-+x\n", "f:3: `x` is not +, - or 0"),
            ("++-\n+-+\n-+\n", "f:3: 2 signs where the codeword of `a` has 3"),
            ("+--\n+--\n-++\n", "f: column 2 is a copy or the complement of column 1"),
            ("++\n+-\n++\n", "f: column 1 needs a class with +"),
            ("+-\n-+\n", "2 codewords"),
        ] {
            assert!(said(text).contains(why), "{text:?}: {}", said(text));
        }
    }
}
