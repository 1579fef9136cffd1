//! What a template reads of a cell: all of it, or something made of it.

use super::hash::hash_bytes;
use std::fmt;

/// A function of a cell's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    /// The text itself.
    Whole,
    /// In lower case.
    Lower,
    /// Upper-case letters become `X`, lower-case ones `x`, digits `0`, others stay; what repeats is written once: `Xx-0`.
    Shape,
    /// The first so many characters; nothing if there are fewer.
    Prefix(u32),
    /// The last so many characters; nothing if there are fewer.
    Suffix(u32),
    /// Runs of digits become `0`: `0,0.0`, `0s`; nothing if there is no digit.
    Digits,
    /// `upper`, `lower`, `title` or `mixed`, by the case of the letters; nothing if there are none.
    Caps,
}

impl View {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (name, length) = match text.split_once(':') {
            Some((name, length)) => (name, Some(length)),
            None => (text, None),
        };
        let view = match (name, length) {
            ("lower", None) => View::Lower,
            ("shape", None) => View::Shape,
            ("digits", None) => View::Digits,
            ("caps", None) => View::Caps,
            ("prefix" | "suffix", Some(length)) => {
                let n = length.parse().ok().filter(|n| (1..=99).contains(n));
                let n = n.ok_or_else(|| format!("`{length}` is not a length from 1 to 99"))?;
                if name == "prefix" { View::Prefix(n) } else { View::Suffix(n) }
            }
            _ => {
                return Err(format!(
                    "`{text}` is none of lower, shape, digits, caps, prefix:N, suffix:N"
                ));
            }
        };
        Ok(view)
    }

    /// The hash of what is read, 0 if there is nothing.
    #[inline]
    pub(crate) fn hash(self, cell: &str, buffer: &mut String) -> u64 {
        match self {
            View::Whole => hash_bytes(cell.as_bytes()),
            _ => self.read(cell, buffer).map_or(0, |text| hash_bytes(text.as_bytes())),
        }
    }

    /// What is read, if there is something.
    pub(crate) fn read<'a>(self, cell: &'a str, buffer: &'a mut String) -> Option<&'a str> {
        buffer.clear();
        match self {
            View::Whole => return Some(cell),
            View::Prefix(n) => {
                let end = end_of_chars(cell.char_indices().map(|(i, c)| i + c.len_utf8()), n)?;
                return Some(&cell[..end]);
            }
            View::Suffix(n) => {
                let start = end_of_chars(cell.char_indices().rev().map(|(i, _)| i), n)?;
                return Some(&cell[start..]);
            }
            View::Lower if cell.is_ascii() => {
                buffer.push_str(cell);
                buffer.make_ascii_lowercase();
            }
            View::Lower => buffer.extend(cell.chars().flat_map(char::to_lowercase)),
            View::Shape => {
                for c in cell.chars() {
                    let class = if c.is_uppercase() {
                        'X'
                    } else if c.is_alphabetic() {
                        'x'
                    } else if c.is_numeric() {
                        '0'
                    } else {
                        c
                    };
                    if !buffer.ends_with(class) {
                        buffer.push(class);
                    }
                }
            }
            View::Digits => {
                let mut any = false;
                for c in cell.chars() {
                    any |= c.is_numeric();
                    if !c.is_numeric() {
                        buffer.push(c);
                    } else if !buffer.ends_with('0') {
                        buffer.push('0');
                    }
                }
                if !any {
                    return None;
                }
            }
            View::Caps => return caps(cell),
        }
        Some(buffer)
    }
}

fn end_of_chars(mut ends: impl Iterator<Item = usize>, n: u32) -> Option<usize> {
    ends.nth(n as usize - 1)
}

fn caps(cell: &str) -> Option<&'static str> {
    let mut letters = cell.chars().filter(|c| c.is_alphabetic());
    let first = letters.next()?.is_uppercase();
    let (mut upper, mut lower) = (false, false);
    for c in letters {
        if c.is_uppercase() {
            upper = true;
        } else {
            lower = true;
        }
    }
    Some(match (first, upper, lower) {
        (true, _, false) => "upper",
        (true, false, true) => "title",
        (false, false, _) => "lower",
        _ => "mixed",
    })
}

impl fmt::Display for View {
    /// As a template writes it after the column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            View::Whole => Ok(()),
            View::Lower => f.write_str(",lower"),
            View::Shape => f.write_str(",shape"),
            View::Digits => f.write_str(",digits"),
            View::Caps => f.write_str(",caps"),
            View::Prefix(n) => write!(f, ",prefix:{n}"),
            View::Suffix(n) => write!(f, ",suffix:{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_view_reads_what_it_says() {
        let read = |view: View, cell: &str| view.read(cell, &mut String::new()).map(str::to_string);
        let some = |text: &str| Some(text.to_string());
        assert_eq!(read(View::Lower, "McDonald"), some("mcdonald"));
        assert_eq!(read(View::Lower, "ÄÖ-X"), some("äö-x"));
        assert_eq!(read(View::Shape, "McDonald-80s"), some("XxXx-0x"));
        assert_eq!(read(View::Prefix(3), "Zürich"), some("Zür"));
        assert_eq!(read(View::Suffix(3), "Café"), some("afé"));
        assert_eq!(read(View::Suffix(4), "Café"), some("Café"));
        assert_eq!(read(View::Prefix(5), "Café"), None);
        assert_eq!(read(View::Digits, "1,234.50"), some("0,0.0"));
        assert_eq!(read(View::Digits, "1990s"), some("0s"));
        assert_eq!(read(View::Digits, "ten"), None);
        for (cell, want) in [
            ("IBM", "upper"),
            ("I", "upper"),
            ("The", "title"),
            ("the", "lower"),
            ("eBay", "mixed"),
            ("McA", "mixed"),
        ] {
            assert_eq!(read(View::Caps, cell), some(want), "{cell}");
        }
        assert_eq!(read(View::Caps, "80%"), None);
        assert_eq!(View::Whole.hash("a", &mut String::new()), hash_bytes(b"a"));
        assert_eq!(View::Caps.hash("80", &mut String::new()), 0);
    }

    #[test]
    fn views_are_written_as_they_are_parsed() {
        for text in ["lower", "shape", "digits", "caps", "prefix:3", "suffix:12"] {
            assert_eq!(View::parse(text).unwrap().to_string(), format!(",{text}"));
        }
        for text in ["upper", "prefix", "prefix:0", "suffix:x", "lower:2", ""] {
            assert!(View::parse(text).is_err(), "{text}");
        }
    }
}
