//! A line as words, and a place in it.

use super::error::{LanguageError, suggestion};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    pub text: String,
    pub column: usize,
    /// Written in quotes: a name, whatever it looks like.
    pub quoted: bool,
}

impl Word {
    pub(crate) fn is_name(&self) -> bool {
        self.quoted || self.text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    }
}

/// The words of a line from some place on.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    words: Vec<Word>,
    at: usize,
    line: usize,
    end: usize,
}

impl Words {
    /// Cuts a line into words; what follows `#` is a comment.
    pub(crate) fn new(text: &str, line: usize) -> Result<Self, LanguageError> {
        let chars: Vec<char> = text.chars().collect();
        let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
        let mut words = Vec::new();
        let mut at = 0;
        while at < chars.len() {
            let (c, start) = (chars[at], at);
            if c == '#' {
                break;
            }
            if c.is_whitespace() {
                at += 1;
                continue;
            }
            let mut quoted = false;
            let text: String = if c == '"' {
                quoted = true;
                let close = chars[at + 1..].iter().position(|&c| c == '"').ok_or_else(|| {
                    LanguageError {
                        line,
                        column: start + 1,
                        word: chars[start..].iter().collect(),
                        message: "the quote is not closed; write another \" on the same line"
                            .into(),
                    }
                })?;
                at += close + 2;
                chars[start + 1..at - 1].iter().collect()
            } else if part_of_name(c) {
                // A hyphen, slash or colon belongs to a name if letters stand on both sides: B-PER, JJ/NN.
                while at < chars.len()
                    && (part_of_name(chars[at])
                        || ("-/'$".contains(chars[at])
                            && chars.get(at + 1).is_some_and(|&c| part_of_name(c))))
                {
                    at += 1;
                }
                chars[start..at].iter().collect()
            } else {
                let pair: String = chars[at..(at + 2).min(chars.len())].iter().collect();
                let len = if ["!=", ">=", "<=", ".."].contains(&pair.as_str()) { 2 } else { 1 };
                at += len;
                chars[start..at].iter().collect()
            };
            words.push(Word { text, column: start + 1, quoted });
        }
        Ok(Self { words, at: 0, line, end: chars.len() + 1 })
    }

    /// The words from an earlier place to this one.
    pub(crate) fn text_since(&self, before: &Words) -> String {
        let words = &self.words[before.at..self.at.min(self.words.len())];
        let mut text = String::new();
        for word in words.iter().filter(|word| word.text != ",") {
            let touches = text.ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if touches && word.is_name() {
                text.push(' ');
            }
            text.push_str(&word.text);
        }
        text
    }

    /// How often a word stands in the line: conditions are nested no deeper.
    pub(crate) fn count(&self, texts: &[&str]) -> usize {
        self.words.iter().filter(|word| texts.contains(&word.text.as_str())).count()
    }

    pub(crate) fn line(&self) -> usize {
        self.line
    }

    pub(crate) fn peek(&self) -> Option<&Word> {
        self.words.get(self.at)
    }

    pub(crate) fn peek_at(&self, n: usize) -> Option<&Word> {
        self.words.get(self.at + n)
    }

    pub(crate) fn is_end(&self) -> bool {
        self.at >= self.words.len()
    }

    pub(crate) fn advance(&mut self) -> Option<Word> {
        let word = self.words.get(self.at).cloned();
        self.at += 1;
        word
    }

    /// Whether the next word is this one, unquoted.
    pub(crate) fn sees(&self, text: &str) -> bool {
        self.peek().is_some_and(|word| !word.quoted && word.text == text)
    }

    /// Takes the next word if it is this one.
    pub(crate) fn takes(&mut self, text: &str) -> bool {
        let sees = self.sees(text);
        self.at += usize::from(sees);
        sees
    }

    pub(crate) fn expect(&mut self, text: &str, why: &str) -> Result<(), LanguageError> {
        if self.takes(text) {
            Ok(())
        } else {
            Err(self.wrong(&format!("`{text}` must stand here{why}")))
        }
    }

    pub(crate) fn name(&mut self, what: &str) -> Result<Word, LanguageError> {
        match self.peek() {
            Some(word) if word.is_name() => {
                let word = word.clone();
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.wrong(&format!("{what} must stand here"))),
        }
    }

    /// A whole number, with its sign.
    pub(crate) fn number(&mut self) -> Result<i64, LanguageError> {
        let sign = if self.takes("-") { -1 } else { 1 };
        let number = self.peek().and_then(|word| word.text.parse::<i64>().ok());
        match number.filter(|n| (0..=10_000).contains(n)) {
            Some(number) => {
                self.at += 1;
                Ok(sign * number)
            }
            None => Err(self.wrong("a whole number up to 10000 must stand here")),
        }
    }

    pub(crate) fn finish(&self) -> Result<(), LanguageError> {
        if self.is_end() { Ok(()) } else { Err(self.wrong("nothing may follow here")) }
    }

    /// An error at the next word.
    pub(crate) fn wrong(&self, message: &str) -> LanguageError {
        let (word, column) = match self.peek() {
            Some(word) => (word.text.clone(), word.column),
            None => (String::new(), self.end),
        };
        let message = match self.peek() {
            Some(_) => format!("`{word}`: {message}"),
            None => format!("the line ends too early: {message}"),
        };
        LanguageError { line: self.line, column, word, message }
    }

    /// An error at a word that was taken.
    pub(crate) fn at(&self, word: &Word, message: String) -> LanguageError {
        LanguageError { line: self.line, column: word.column, word: word.text.clone(), message }
    }

    /// A name that does not exist.
    pub(crate) fn unknown<'a>(
        &self,
        word: &Word,
        what: &str,
        names: impl Iterator<Item = &'a str>,
    ) -> LanguageError {
        let message =
            format!("there is no {what} `{}`{}", word.text, suggestion(&word.text, names));
        self.at(word, message)
    }
}
