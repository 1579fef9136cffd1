//! Lines of JSON as most are, read without a copy: objects of strings, numbers and words.
//!
//! Strings are most of a file of texts. They are checked 64 bytes at a time, and stay where they are: text is unescaped when it is
//! put where it goes. Whatever is wrong or out of the ordinary is left to serde_json, which then reads the whole line, so that what is
//! taken and what messages say is the same.

use std::borrow::Cow;

use lineal_linalg::bytes::within;
use serde::de::IgnoredAny;

use super::Want;
use super::json::{Json, Values};
use super::jsonl::Names;

/// The values of a line's object; `None` where serde_json shall read it.
pub(super) fn values<'a>(line: &'a str, names: &Names, wanted: &[Want]) -> Option<Values<'a>> {
    let mut values = vec![None; names.len()];
    let (mut has_others, mut near) = (false, 0);
    let mut cursor = Cursor { line, at: 0 };
    cursor.take(b'{')?;
    if cursor.next()? == b'}' {
        cursor.at += 1;
        return cursor.is_at_end().then_some(Values { values, has_others });
    }
    loop {
        let key = match cursor.string()? {
            (key, false) => key,
            _ => return None,
        };
        cursor.take(b':')?;
        if names.is_parent(key) {
            return None;
        }
        match names.find(key, near) {
            None => {
                has_others = true;
                cursor.value(Want::No)?;
            }
            Some(at) if values[at].is_none() => {
                let value = cursor.value(wanted[at])?;
                let is_wanted = !matches!(wanted[at], Want::No | Want::Later);
                values[at] = Some(if is_wanted { value } else { Json::Null });
                near = at + 1;
            }
            Some(_) => return None, // given twice
        }
        let end = cursor.next()?;
        cursor.at += 1;
        match end {
            b',' => {}
            b'}' if cursor.is_at_end() => return Some(Values { values, has_others }),
            _ => return None,
        }
    }
}

/// A place in a line.
struct Cursor<'a> {
    line: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn bytes(&self) -> &'a [u8] {
        self.line.as_bytes()
    }

    /// The next byte that is not a space. The cursor stands before it.
    fn next(&mut self) -> Option<u8> {
        loop {
            match *self.bytes().get(self.at)? {
                b' ' | b'\t' | b'\r' | b'\n' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Steps over a byte, after spaces.
    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    fn is_at_end(&mut self) -> bool {
        self.next().is_none()
    }

    /// A string without its quotes, and whether it has escapes.
    fn string(&mut self) -> Option<(&'a str, bool)> {
        self.take(b'"')?;
        let (end, has_escapes) = checked_end(self.bytes(), self.at)?;
        let string = self.line.get(self.at..end)?;
        self.at = end + 1;
        Some((string, has_escapes))
    }

    fn value(&mut self, want: Want) -> Option<Json<'a>> {
        match self.next()? {
            b'"' if want == Want::Later => {
                self.at = end(self.bytes(), self.at + 1)? + 1;
                Some(Json::Null)
            }
            b'"' => {
                let (raw, has_escapes) = self.string()?;
                Some(match want {
                    Want::No | Want::Later => Json::Null,
                    _ if !has_escapes => Json::Text(Cow::Borrowed(raw)),
                    Want::Yes => Json::Text(Cow::Owned(unescaped(raw))),
                    Want::Text => Json::Escaped(raw),
                })
            }
            b'0'..=b'9' => self.number(),
            b'n' => self.word("null", Json::Null),
            b't' => self.word("true", Json::Bool(true)),
            b'f' => self.word("false", Json::Bool(false)),
            _ => self.other(want),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Option<Json<'a>> {
        self.line.get(self.at..)?.starts_with(word).then(|| {
            self.at += word.len();
            value
        })
    }

    /// Numbers of a few digits; what else looks like one is [`other`](Self::other).
    fn number(&mut self) -> Option<Json<'a>> {
        let rest = &self.bytes()[self.at..];
        let n = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let goes_on = matches!(rest.get(n), Some(b'.' | b'e' | b'E'));
        if goes_on || n > 15 || n > 1 && rest[0] == b'0' {
            return self.other(Want::Yes);
        }
        self.at += n;
        let digits = rest[..n].iter().map(|digit| u64::from(digit - b'0'));
        Some(Json::Number(digits.fold(0, |all, digit| 10 * all + digit) as f64))
    }

    /// A value of any kind.
    fn other(&mut self, want: Want) -> Option<Json<'a>> {
        let rest = serde_json::Deserializer::from_str(self.line.get(self.at..)?);
        let (value, n) = if matches!(want, Want::No | Want::Later) {
            let mut values = rest.into_iter::<IgnoredAny>();
            (values.next()?.map(|_| Json::Null), values.byte_offset())
        } else {
            let mut values = rest.into_iter::<Json<'a>>();
            (values.next()?, values.byte_offset())
        };
        self.at += n;
        value.ok()
    }
}

/// Where the string that goes on at `at` ends, whatever is in it.
fn end(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let quote = at + memchr::memchr(b'"', line.get(at..)?)?;
        // Where quotes are close to each other, backslashes are counted again: those between them alone.
        let n_slashes = line[at..quote].iter().rev().take_while(|&&byte| byte == b'\\').count();
        if n_slashes.is_multiple_of(2) {
            return Some(quote);
        }
        at = quote + 1;
    }
}

/// The same, and whether it has escapes; `None` if something is wrong with it.
fn checked_end(line: &[u8], mut at: usize) -> Option<(usize, bool)> {
    let mut has_escapes = false;
    'blocks: loop {
        let rest = line.get(at..)?;
        let mut marks = match rest.first_chunk() {
            Some(block) => marks(block),
            None => {
                let mut block = [b' '; 64];
                block[..rest.len()].copy_from_slice(rest);
                marks(&block)
            }
        };
        while marks != 0 {
            let i = marks.trailing_zeros() as usize;
            match rest[i] {
                b'"' => return Some((at + i, has_escapes)),
                b'\\' => has_escapes = true,
                _ => return None, // a control character
            }
            let after = i + match SIMPLE[usize::from(*rest.get(i + 1)?)] {
                0 => numbered(&rest[i..])?.1,
                _ => 2,
            };
            if after >= 64 {
                at += after;
                continue 'blocks;
            }
            marks &= u64::MAX << after;
        }
        at += 64;
    }
}

/// Which bytes within a string are not themselves.
#[inline(always)]
fn marks(block: &[u8; 64]) -> u64 {
    within(block, [(0, 31), (b'"', b'"'), (b'\\', b'\\')])
}

/// What a backslash and a character stand for; 0 for none, and for those that go on.
const SIMPLE: [u8; 256] = {
    let mut table = [0; 256];
    let (written, meant) = (b"n\"\\/trbf", b"\n\"\\/\t\r\x08\x0c");
    let mut i = 0;
    while i < written.len() {
        table[written[i] as usize] = meant[i];
        i += 1;
    }
    table
};

/// `\u` and four digits, or two of these for a character beyond them.
fn numbered(text: &[u8]) -> Option<(char, usize)> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digit = |d: &u8| char::from(*d).to_digit(16);
        digits.iter().try_fold(0, |all, d| Some(all << 4 | digit(d)?))
    };
    let first = unit(0)?;
    match char::from_u32(first) {
        Some(c) => Some((c, 6)),
        None => {
            let pair = [first as u16, unit(6)? as u16];
            let c = char::decode_utf16(pair).next()?.ok()?;
            Some((c, 12))
        }
    }
}

/// A string without its escapes, which were checked.
pub(super) fn unescaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    unescape_into(raw, &mut out);
    out
}

/// Appends a string without its escapes, which were checked.
pub(super) fn unescape_into(raw: &str, out: &mut String) {
    out.reserve(raw.len());
    let bytes = raw.as_bytes();
    let (mut at, mut from) = (0, 0);
    while let Some(block) = bytes.get(at..).and_then(|rest| rest.first_chunk()) {
        let mut slashes = within(block, [(b'\\', b'\\')]);
        let mut next = at + 64;
        while slashes != 0 {
            let slash = at + slashes.trailing_zeros() as usize;
            from = push_escape(raw, from, slash, out);
            if from >= at + 64 {
                next = from;
                break;
            }
            slashes &= u64::MAX << (from - at);
        }
        at = next;
    }
    while let Some(n) = bytes.get(at..).and_then(|rest| memchr::memchr(b'\\', rest)) {
        from = push_escape(raw, from, at + n, out);
        at = from;
    }
    out.push_str(raw.get(from..).unwrap_or_default());
}

/// Appends what is from `from` up to an escape, and what this stands for. Gives where it ends.
#[inline]
fn push_escape(raw: &str, from: usize, slash: usize, out: &mut String) -> usize {
    out.push_str(&raw[from..slash]);
    let escape = &raw.as_bytes()[slash..];
    let (c, n) = match SIMPLE[usize::from(escape.get(1).copied().unwrap_or_default())] {
        0 => numbered(escape).unwrap_or((char::REPLACEMENT_CHARACTER, 1)),
        byte => (char::from(byte), 2),
    };
    out.push(c);
    slash + n
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::json;
    use proptest::prelude::*;

    fn names() -> Names {
        let mut names = Names::default();
        ["id", "label", "text"].iter().for_each(|name| names.add(name));
        names
    }

    /// What both readers say of a line, or that the quick one leaves it.
    fn check(line: &str) -> bool {
        let names = names();
        let wants = [[Want::Yes; 3], [Want::No; 3], [Want::Yes, Want::No, Want::Text]];
        let quick = wants.map(|wanted| {
            let quick = values(line, &names, &wanted)?;
            let slow =
                json::slow_values(line, &names, &wanted).unwrap_or_else(|e| panic!("{line}: {e}"));
            assert_eq!(quick.has_others, slow.has_others, "{line}");
            let plain = |value: Option<Json<'_>>| match value {
                Some(Json::Escaped(raw)) => format!("{:?}", unescaped(raw)),
                value => value.map_or("nothing".to_owned(), |value| value.to_string()),
            };
            let [quick, slow] = [quick, slow].map(|v| v.values.into_iter().map(plain));
            assert!(quick.eq(slow), "{line}");
            Some(())
        });
        assert!(quick.iter().all(|q| q.is_some() == quick[0].is_some()), "{line}");
        quick[0].is_some()
    }

    #[test]
    fn ordinary_lines_are_read_as_by_serde() {
        let long = "x\\n".repeat(100);
        for line in [
            "{}",
            " { } \r",
            r#"{"id": 1, "label": "a", "text": "b c"}"#,
            r#"{"text":"\"\\\\\/\b\f\n\r\t\u00e9\ud83d\ude00","label":null,"id":true}"#,
            r#"{"id": -1.5e3, "x": [1, {"y": "]"}], "label": 0.25, "other": 12}"#,
            r#"{"id": 12345678901234567890, "text": {"a": 1}}"#,
            r#"{"text": "\\"}"#,
            &format!("{{\"text\": \"{long}\\\\\", \"id\": 7}}"),
        ] {
            assert!(check(line), "{line}");
        }
    }

    #[test]
    fn what_is_wrong_is_left_to_serde() {
        for line in [
            "",
            "[]",
            "{",
            r#"{"id"}"#,
            r#"{"id":}"#,
            r#"{"id":1,}"#,
            r#"{"id":1} x"#,
            r#"{"id":01}"#,
            r#"{"id":1 2}"#,
            r#"{"id":1e999}"#,
            r#"{"id":nul}"#,
            r#"{"id":1,"id":2}"#,
            r#"{"text":"a"#,
            r#"{"text":"\"#,
            r#"{"text":"\x"}"#,
            r#"{"text":"\u12g4"}"#,
            r#"{"text":"\ud83d"}"#,
            r#"{"text":"\ude00\ud83d"}"#,
            "{\"text\":\"a\tb\"}",
            "{\"text\":\"a\0b\"}",
        ] {
            assert!(!check(line), "{line}");
        }
    }

    #[test]
    fn a_string_that_is_looked_at_later_ends_where_it_does() {
        for text in ["", "a", r#"\""#, r"\\", r#"\\\""#, r#"a\"\"b\\"#, r"\n\\\\"] {
            let line = format!("{{\"text\": \"{text}\", \"id\": 7}}");
            let wanted = [Want::Yes, Want::No, Want::Later];
            let values = values(&line, &names(), &wanted).unwrap().values;
            assert_eq!(values, [Some(Json::Number(7.0)), None, Some(Json::Null)], "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_string_survives(text in r#"[ab"\\/\n\t\u{1}\u{7f}é東😀]{0,150}"#) {
            let written = serde_json::Value::from(text.as_str()).to_string();
            let ascii: String = written
                .chars()
                .flat_map(|c| match c.is_ascii() {
                    true => vec![c.to_string()],
                    false => c.encode_utf16(&mut [0; 2]).iter().map(|u| format!("\\u{u:04x}")).collect(),
                })
                .collect();
            for written in [&written, &ascii] {
                let line = format!("{{\"id\":3,\"text\":{written},\"label\":{written}}}");
                prop_assert!(check(&line));
                let values = values(&line, &names(), &[Want::No, Want::Yes, Want::Text]).unwrap();
                let read = values.values[1].clone();
                prop_assert_eq!(read, Some(Json::Text(text.as_str().into())));
                let raw = &written[1..written.len() - 1];
                prop_assert_eq!(unescaped(raw), text.as_str());
            }
        }

        #[test]
        fn no_line_is_read_otherwise_than_by_serde(line in r#"\{("(id|label|text|x)" ?: ?("[a\\"n]{0,3}"|-?[0-9.e]{1,3}|null|tru|\[1?\]),? ?){0,3}\}"#) {
            check(&line);
        }
    }
}
