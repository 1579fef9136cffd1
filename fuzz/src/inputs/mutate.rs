//! Mutations of bytes and text: what a file looks like after an accident, or after somebody has tried.

use super::Target;
use super::model_file::Parts;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Numbers at edges.
pub const NUMBERS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1000000000000",
    "1e999",
    "-1e999",
    "nan",
    "inf",
    "-0",
    "0.1",
    "1e-320",
    "3.5e38",
    "1e30",
    "1e308",
    "00001",
    "+1",
    "0x10",
    "1e",
    ".",
    "-",
];

/// Bytes and tokens that matter in most text formats.
const TOKENS: &[&str] = &[
    "\n",
    "\r\n",
    "\t",
    " ",
    "\0",
    "\u{feff}",
    ",",
    ":",
    ";",
    "\"",
    "'",
    "=",
    "#",
    "|",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "_",
    "*",
    "-",
    "\\",
    "\n\n",
    "ä",
    "\u{2028}",
    "🙂",
    "\u{301}",
    "\n=====\n",
    "null",
    "true",
    "<edge>",
    "qid:",
];

/// What a text never grows beyond while it is changed; no target takes as much.
const MOST_BYTES: usize = 1 << 20;

/// A source of mutations, the same for the same seed.
#[derive(Debug)]
pub struct Mutator {
    rng: Pcg64Mcg,
    tokens: &'static [&'static str],
}

impl Mutator {
    /// With the tokens of a format beside the general ones.
    pub fn new(seed: u64, tokens: &'static [&'static str]) -> Self {
        Self { rng: Pcg64Mcg::seed_from_u64(seed), tokens }
    }

    /// A number below `n`, 0 if there is none.
    pub fn below(&mut self, n: usize) -> usize {
        if n == 0 { 0 } else { self.rng.random_range(0..n) }
    }

    /// An input like `input`, with pieces of `other`.
    pub fn input(&mut self, target: &Target, input: &[u8], other: &[u8]) -> Vec<u8> {
        let n_choices = target.choices.min(input.len());
        let (choices, body) = input.split_at(n_choices);
        let mut new = choices.to_vec();
        new.resize(target.choices, 0);
        if target.choices > 0 && self.below(3) == 0 {
            for _ in 0..1 + self.below(3) {
                let at = self.below(target.choices);
                new[at] = self.below(256) as u8;
            }
            if self.below(2) == 0 {
                new.extend_from_slice(body);
                return new;
            }
        }
        let body = match (target.is_model, self.below(8)) {
            (true, 1..) => match Parts::of(body) {
                Some(mut parts) => {
                    for _ in 0..1 + self.below(2) {
                        parts.mutate(self);
                    }
                    parts.to_bytes()
                }
                None => self.splice(body, other),
            },
            (_, 0) => self.splice(body, other.get(target.choices..).unwrap_or_default()),
            _ => self.text(body),
        };
        new.extend(body);
        new.truncate(target.max_bytes);
        new
    }

    /// A piece of one in the place of a piece of the other.
    fn splice(&mut self, body: &[u8], other: &[u8]) -> Vec<u8> {
        let (a, b) = self.range(body.len());
        let (c, d) = self.range(other.len());
        [&body[..a], &other[c..d], &body[b..]].concat()
    }

    fn range(&mut self, n: usize) -> (usize, usize) {
        let (a, b) = (self.below(n + 1), self.below(n + 1));
        (a.min(b), a.max(b))
    }

    /// A few changes of text.
    pub fn text(&mut self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        let n_changes = [1, 1, 1, 2, 2, 3, 5, 10][self.below(8)];
        for _ in 0..n_changes {
            self.change(&mut text);
            // Lines of lines that were repeated.
            text.truncate(MOST_BYTES);
        }
        text
    }

    fn change(&mut self, text: &mut Vec<u8>) {
        let n = text.len();
        match self.below(16) {
            0 if n > 0 => text[self.below(n)] ^= 1 << self.below(8),
            1 if n > 0 => text[self.below(n)] = self.below(256) as u8,
            2 => text.truncate(self.below(n + 1)),
            3 => {
                let (a, b) = self.range(n);
                text.drain(a..b.min(a + 40));
            }
            4 => {
                let (a, b) = self.range(n);
                let piece = text[a..b.min(a + 40)].to_vec();
                self.insert(text, &piece);
            }
            5 | 6 => self.line(text),
            7..=9 => self.number(text),
            10 | 11 => self.swap_fields(text),
            12 => {
                // Much of one thing: long names, deep nesting.
                let token = self.token();
                let times = [2, 8, 64, 300][self.below(4)];
                self.insert(text, token.repeat(times).as_bytes());
            }
            _ => {
                let token = self.token();
                self.insert(text, token.as_bytes());
            }
        }
    }

    fn token(&mut self) -> &'static str {
        match self.below(3) {
            0 => NUMBERS[self.below(NUMBERS.len())],
            1 if !self.tokens.is_empty() => self.tokens[self.below(self.tokens.len())],
            _ => TOKENS[self.below(TOKENS.len())],
        }
    }

    fn insert(&mut self, text: &mut Vec<u8>, piece: &[u8]) {
        let at = self.below(text.len() + 1);
        text.splice(at..at, piece.iter().copied());
    }

    /// Doubles, removes or moves a line.
    fn line(&mut self, text: &mut Vec<u8>) {
        let mut lines: Vec<Vec<u8>> =
            text.split_inclusive(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
        let n = lines.len();
        if n == 0 {
            return;
        }
        let (a, b) = (self.below(n), self.below(n));
        match self.below(4) {
            0 => drop(lines.remove(a)),
            1 => lines.insert(b, lines[a].clone()),
            2 => lines.swap(a, b),
            _ => {
                let line = lines[a].clone();
                let times = [1, 3, 20][self.below(3)];
                (0..times).for_each(|_| lines.insert(b, line.clone()));
            }
        }
        *text = lines.concat();
    }

    /// Replaces a number.
    fn number(&mut self, text: &mut Vec<u8>) {
        let n = text.len();
        let from = self.below(n.max(1));
        let is_digit = |b: &u8| b.is_ascii_digit();
        let Some(start) = (from..n).find(|&i| is_digit(&text[i])) else { return };
        let end = (start..n).find(|&i| !is_digit(&text[i])).unwrap_or(n);
        let new = match self.below(3) {
            0 => self.below(20).to_string(),
            1 => format!("{}", self.below(2000) as f64 / 100.0 - 5.0),
            _ => NUMBERS[self.below(NUMBERS.len())].to_owned(),
        };
        text.splice(start..end, new.bytes());
    }

    /// Puts one word in the place of another.
    fn swap_fields(&mut self, text: &mut Vec<u8>) {
        let is_gap = |b: &u8| b" \t\n,:;|()[]{}\"=".contains(b);
        let mut words = Vec::new();
        let mut start = 0;
        for (i, b) in text.iter().enumerate() {
            if is_gap(b) {
                if i > start {
                    words.push(start..i);
                }
                start = i + 1;
            }
        }
        if words.is_empty() {
            return;
        }
        let from = words[self.below(words.len())].clone();
        let to = words[self.below(words.len())].clone();
        let word = text[from].to_vec();
        text.splice(to, word);
    }
}
