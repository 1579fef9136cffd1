//! Codes as text: one line per class, of `+` (or `1`, `+1`), `-` (or `-1`) and `0`, with or without blanks and commas between;
//! `#` starts a comment.

use super::Code;
use crate::Error;
use std::fmt;
use std::str::FromStr;

impl FromStr for Code {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut rows: Vec<Vec<i8>> = Vec::new();
        for (line, content) in (1..).zip(text.lines()) {
            let content = content.split('#').next().unwrap_or_default();
            let row = parse_row(content).map_err(|(column, found)| Error::Text {
                line,
                column,
                message: format!("`{found}` is not +, - or 0"),
            })?;
            if !row.is_empty() {
                rows.push(row);
            }
        }
        Self::from_rows(&rows)
    }
}

/// The entries of a line, or the 1-based place of a character that is none.
fn parse_row(content: &str) -> Result<Vec<i8>, (usize, char)> {
    let mut row = Vec::new();
    let mut chars = (1..).zip(content.chars()).peekable();
    while let Some((column, c)) = chars.next() {
        match c {
            '+' | '-' | '−' => {
                chars.next_if(|(_, next)| *next == '1');
                row.push(if c == '+' { 1 } else { -1 });
            }
            '1' => row.push(1),
            '0' => row.push(0),
            ',' => {}
            c if c.is_whitespace() || c == '\u{feff}' => {}
            _ => return Err((column, c)),
        }
    }
    Ok(row)
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for class in 0..self.n_classes() {
            let symbol = |entry: &i8| ['-', '0', '+'][(*entry + 1) as usize];
            writeln!(f, "{}", self.row(class).iter().map(symbol).collect::<String>())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_there_and_back() {
        for code in [Code::random_sparse(6, 20, 1).unwrap(), Code::hadamard(5).unwrap()] {
            assert_eq!(code.to_string().parse::<Code>().unwrap(), code);
        }
        let spaced =
            "# three classes\n+1 -1, 0\n\n −  0 1 # the second\n0+-\n".parse::<Code>().unwrap();
        assert_eq!(spaced.to_string(), "+-0\n-0+\n0+-\n");
    }

    #[test]
    fn bad_text_is_refused_with_its_place() {
        let said = |text: &str| text.parse::<Code>().unwrap_err().to_string();
        assert_eq!(said("++\n+x\n"), "line 2, column 2: `x` is not +, - or 0");
        assert_eq!(said("+-\n+\n"), "class 1 has 1 code entries, class 0 has 2");
        assert_eq!(
            said("++\n+-\n"),
            "column 0 of the code needs a class with + and a class with -"
        );
        assert!(said("").contains("takes two"));
    }
}
