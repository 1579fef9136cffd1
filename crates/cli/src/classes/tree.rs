//! A label tree from a file: `((a b) (c d))` over class names, or over class numbers from 0.

use anyhow::{anyhow, bail};
use lineal::reduce::{Error, Tree};

use super::{class_of, reminder};

/// The tree of a file over class numbers.
pub fn of_classes(text: &str, file: &str, classes: &[String]) -> anyhow::Result<String> {
    let tokens = tokens(text).map_err(|why| anyhow!("{file}:{why}"))?;
    let by_number = is_numbered(&tokens, classes);
    let mut numbered = String::new();
    for (line, token) in &tokens {
        match token {
            Token::Mark(mark) => numbered.push(*mark),
            Token::Leaf { name, .. } => {
                let class = match name.parse::<usize>() {
                    Ok(class) if by_number && class < classes.len() => class,
                    Ok(class) if by_number => bail!(
                        "{file}:{line}: there is no class number {class}: the {} classes count from 0",
                        classes.len()
                    ),
                    _ => class_of(name, classes).map_err(|why| anyhow!("{file}:{line}: {why}"))?,
                };
                numbered.push_str(&format!(" {class} "));
            }
        }
    }
    match numbered.parse::<Tree>() {
        Err(Error::Leaf { class, times: 0, .. }) => missing(file, class as usize, classes),
        Err(Error::Leaf { class, times, .. }) => {
            bail!(
                "{file}: class `{}` stands {times} times in the tree; once is right",
                classes[class as usize]
            )
        }
        // One line was parsed: its columns are not the file's.
        Err(Error::Text { message, .. }) => bail!("{file}: {message}"),
        Err(other) => bail!("{file}: {other}"),
        Ok(tree) if tree.n_classes() < classes.len() => missing(file, tree.n_classes(), classes),
        Ok(tree) => Ok(tree.to_string()),
    }
}

fn missing(file: &str, class: usize, classes: &[String]) -> anyhow::Result<String> {
    bail!(
        "{file}: class `{}` is not in the tree; it needs each of the {} classes once: {}",
        classes[class],
        classes.len(),
        reminder(classes)
    )
}

enum Token {
    /// A parenthesis.
    Mark(char),
    /// A class, by name or number.
    Leaf { name: String, quoted: bool },
}

/// Whether leaves are class numbers: all are whole numbers, and not all are names.
fn is_numbered(tokens: &[(usize, Token)], classes: &[String]) -> bool {
    let leaves = || {
        tokens.iter().filter_map(|(_, token)| match token {
            Token::Leaf { name, quoted } => Some((name, *quoted)),
            Token::Mark(_) => None,
        })
    };
    leaves().all(|(name, quoted)| !quoted && name.parse::<u32>().is_ok())
        && leaves().any(|(name, _)| !classes.contains(name))
}

/// Parentheses and leaves with their lines; `#` at the start of a word begins a comment.
fn tokens(text: &str) -> Result<Vec<(usize, Token)>, String> {
    let mut tokens = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let mut chars = content.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '#' => break,
                '(' | ')' => tokens.push((line, Token::Mark(c))),
                '"' => {
                    let name =
                        quoted(&mut chars).ok_or(format!("{line}: a quote is not closed"))?;
                    tokens.push((line, Token::Leaf { name, quoted: true }));
                }
                c if c.is_whitespace() || c == ',' || c == '\u{feff}' => {}
                c => {
                    let mut name = String::from(c);
                    let ends = |c: &char| c.is_whitespace() || ['(', ')', ','].contains(c);
                    while let Some(c) = chars.next_if(|c| !ends(c)) {
                        name.push(c);
                    }
                    tokens.push((line, Token::Leaf { name, quoted: false }));
                }
            }
        }
    }
    Ok(tokens)
}

/// The rest of a quoted name; `\"` and `\\` are a quote and a backslash in it.
fn quoted(chars: &mut impl Iterator<Item = char>) -> Option<String> {
    let mut name = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(name),
            '\\' => name.push(chars.next()?),
            c => name.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn classes(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn leaves_are_names_or_numbers() {
        let odd = classes(&["a", "new york", "say \"hi\"", "c#"]);
        let text = "# mine\n((\"new york\", a)\n (c# \"say \\\"hi\\\"\")) # end\n";
        assert_eq!(of_classes(text, "f", &odd).unwrap(), "((1 0) (3 2))");
        assert_eq!(of_classes("((0 1) (2 3))", "f", &odd).unwrap(), "((0 1) (2 3))");
        // Where names are numbers, names they are, unless one of them is none.
        let digits = classes(&["1", "2", "3"]);
        assert_eq!(of_classes("((1 2) 3)", "f", &digits).unwrap(), "((0 1) 2)");
        assert_eq!(of_classes("((1 2) 0)", "f", &digits).unwrap(), "((1 2) 0)");
    }

    #[test]
    fn what_is_wrong_is_named() {
        let classes = classes(&["a", "b", "c", "d"]);
        for (text, why) in [
            ("((a b) c)", "class `d` is not in the tree"),
            ("((a c) d)", "class `b` is not in the tree"),
            ("((a b) (c a))", "class `a` stands 2 times"),
            ("((a b) (c (d a)))", "class `a` stands 2 times"),
            ("((a b)\n (c x))", "f:2: `x` is not a class of the data, which are a, b, c, d"),
            ("((0 1) (2 4))", "there is no class number 4"),
            ("((a b) (c d)", "ends early"),
            ("(a b c d)", "third child"),
            ("((a \"b) (c d))", "f:1: a quote is not closed"),
            ("", "ends early"),
        ] {
            let said = of_classes(text, "f", &classes).unwrap_err().to_string();
            assert!(said.contains(why), "{text:?}: {said}");
        }
    }
}
