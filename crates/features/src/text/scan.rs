//! Where tokens begin and end.
//!
//! A text that is all ASCII is cut 64 bytes at a time: one bit a byte says whether it is inside a token, and tokens begin and end where the bit changes. That does not guess a branch wrong at
//! the end of every word, as going byte by byte does. Other texts go byte by byte.

use super::unicode::{is_space, word_chars};
use lineal_linalg::bytes::within;

/// Calls `f(start, end)` for each maximal run of two or more letters, digits and underscores: `(?u)\b\w\w+\b`.
#[inline]
pub(crate) fn words(text: &str, mut f: impl FnMut(usize, usize)) {
    let f = |start, end, is_char: bool| {
        if !is_char {
            f(start, end);
        }
    };
    if text.is_ascii() {
        ascii_runs(text.as_bytes(), word_bytes, f);
    } else {
        runs(text, |b| b.is_ascii_alphanumeric() || b == b'_', |c| word_chars().has(c), f);
    }
}

/// Calls `f(start, end)` for what whitespace separates: Python's `str.split`.
#[inline]
pub(crate) fn split(text: &str, mut f: impl FnMut(usize, usize)) {
    let f = |start, end, _| f(start, end);
    if text.is_ascii() {
        ascii_runs(text.as_bytes(), solid_bytes, f);
    } else {
        runs(text, |b| !is_space(char::from(b)), |c| !is_space(c), f);
    }
}

/// Calls `f(start, end)` for each maximal run of letters, digits and underscores, and for each character that is neither
/// that nor a space: `\w+|[^\w\s]`.
#[inline]
pub(crate) fn marks(text: &str, mut f: impl FnMut(usize, usize)) {
    let bytes = text.as_bytes();
    let (mut at, mut run) = (0, None);
    while at < bytes.len() {
        let (n, is_word, is_gap) = match bytes[at] {
            b if b.is_ascii_alphanumeric() || b == b'_' => (1, true, false),
            b if b.is_ascii() => (1, false, is_space(char::from(b))),
            _ => match text[at..].chars().next() {
                Some(c) => (c.len_utf8(), word_chars().has(c), is_space(c)),
                None => return,
            },
        };
        if is_word {
            run.get_or_insert(at);
        } else {
            if let Some(start) = run.take() {
                f(start, at);
            }
            if !is_gap {
                f(at, at + n);
            }
        }
        at += n;
    }
    if let Some(start) = run {
        f(start, at);
    }
}

#[inline(always)]
fn word_bytes(block: &[u8; 64]) -> u64 {
    within(block, [(b'a', b'z'), (b'A', b'Z'), (b'0', b'9'), (b'_', b'_')])
}

#[inline(always)]
fn solid_bytes(block: &[u8; 64]) -> u64 {
    !within(block, [(9, 13), (28, 32)])
}

/// Maximal runs of bytes that `mask` has bits of, with whether a run is a single character.
#[inline(always)]
fn ascii_runs(text: &[u8], mask: impl Fn(&[u8; 64]) -> u64, mut f: impl FnMut(usize, usize, bool)) {
    let mut start = None;
    let mut last = 0; // whether the byte before the block is inside
    let mut cut = |base: usize, mask: u64| {
        let mut edges = mask ^ (mask << 1 | last);
        last = mask >> 63;
        while edges != 0 {
            let at = base + edges.trailing_zeros() as usize;
            edges &= edges - 1;
            match start.take() {
                None => start = Some(at),
                Some(start) => f(start, at, at - start == 1),
            }
        }
    };
    let (blocks, rest) = text.as_chunks::<64>();
    for (i, block) in blocks.iter().enumerate() {
        cut(64 * i, mask(block));
    }
    let mut block = [0; 64];
    block[..rest.len()].copy_from_slice(rest);
    // What lies past the end is outside.
    let n_rest = rest.len() as u32;
    cut(64 * blocks.len(), mask(&block) & !(u64::MAX << n_rest));
}

/// Maximal runs of characters, with whether a run is a single one.
#[inline(always)]
fn runs(
    text: &str,
    ascii: impl Fn(u8) -> bool,
    wide: impl Fn(char) -> bool,
    mut f: impl FnMut(usize, usize, bool),
) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii() && ascii(bytes[at]) {
            at += 1;
        }
        if at < bytes.len() && !bytes[at].is_ascii() {
            let (end, next, n_chars) = wide_run(text, at, &ascii, &wide);
            let n_chars = n_chars + (at - start);
            if n_chars > 0 {
                f(start, end, n_chars == 1);
            }
            at = next;
        } else {
            if at > start {
                f(start, at, at - start == 1);
            }
            at += 1;
        }
    }
}

/// Goes on from a character outside ASCII. Gives where the run ends, where to look next, and how many characters it took.
#[inline(never)]
fn wide_run(
    text: &str,
    from: usize,
    ascii: &impl Fn(u8) -> bool,
    wide: &impl Fn(char) -> bool,
) -> (usize, usize, usize) {
    let mut n_chars = 0;
    for (offset, c) in text[from..].char_indices() {
        let inside = if c.is_ascii() { ascii(c as u8) } else { wide(c) };
        if !inside {
            return (from + offset, from + offset + c.len_utf8(), n_chars);
        }
        n_chars += 1;
    }
    (text.len(), text.len(), n_chars)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    fn cut(text: &str, scan: impl Fn(&str, &mut Vec<(usize, usize)>)) -> Vec<&str> {
        let mut spans = Vec::new();
        scan(text, &mut spans);
        spans.into_iter().map(|(start, end)| &text[start..end]).collect()
    }

    fn cut_words(text: &str) -> Vec<&str> {
        cut(text, |text, out| words(text, |start, end| out.push((start, end))))
    }

    fn cut_split(text: &str) -> Vec<&str> {
        cut(text, |text, out| split(text, |start, end| out.push((start, end))))
    }

    #[test]
    fn words_of_two_characters_or_more() {
        assert_eq!(cut_words("I can't, e.g. x_1 a b"), ["can", "x_1"]);
        assert_eq!(
            cut_words("naïve é éa ½x 東京 東 \u{301}ab"),
            ["naïve", "éa", "½x", "東京", "ab"]
        );
        assert_eq!(cut_words(""), [""; 0]);
        assert_eq!(cut_words("é"), [""; 0]);
        assert_eq!(cut_words("xé"), ["xé"]);
    }

    #[test]
    fn every_ascii_byte_is_where_it_belongs() {
        for b in 0..128u8 {
            let text = format!("{0}{0}", char::from(b));
            let is_word = b.is_ascii_alphanumeric() || b == b'_';
            assert_eq!(cut_words(&text).len(), usize::from(is_word), "{b}");
            assert_eq!(cut_split(&text).len(), usize::from(!is_space(char::from(b))), "{b}");
        }
        for n in [62, 63, 64, 65, 127, 128, 129] {
            let text = "a".repeat(n);
            assert_eq!(cut_words(&text), [text.as_str()]);
        }
    }

    #[test]
    fn splits_where_python_does() {
        // python3: "a\x1cb\xa0c\u200bd\x85 e".split()
        assert_eq!(cut_split("a\u{1c}b\u{a0}c\u{200b}d\u{85} e"), ["a", "b", "c\u{200b}d", "e"]);
    }

    proptest! {
        #[test]
        fn words_equal_the_regular_expression(text in r"[a-cÀ-æ0-2_ .\-\u{300}-\u{303}Ⅷ東\u{93f}Σ]{0,30}") {
            let regex = Regex::new(r"[\p{L}\p{N}_]{2,}").unwrap();
            let want: Vec<&str> = regex.find_iter(&text).map(|m| m.as_str()).collect();
            prop_assert_eq!(cut_words(&text), want);
        }

        #[test]
        fn words_of_ascii_equal_the_regular_expression(text in r"[a-cX-Z09_@`{ .]{0,200}") {
            let regex = Regex::new(r"\w{2,}").unwrap();
            let want: Vec<&str> = regex.find_iter(&text).map(|m| m.as_str()).collect();
            prop_assert_eq!(cut_words(&text), want);
        }

        #[test]
        fn marks_equal_the_regular_expression(text in r"[a-cÀ-æ0-2_ .!?'\-\u{300}-\u{303}Ⅷ東\u{a0}Σ]{0,40}") {
            let regex = Regex::new(r"[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]").unwrap();
            let want: Vec<&str> = regex.find_iter(&text).map(|m| m.as_str()).collect();
            let cut = cut(&text, |text, out| marks(text, |start, end| out.push((start, end))));
            prop_assert_eq!(cut, want);
        }

        #[test]
        fn split_of_ascii_equals_the_standard_library(text in r"[a-c\t\n\r ~]{0,200}") {
            let want: Vec<&str> = text.split_whitespace().collect();
            prop_assert_eq!(cut_split(&text), want);
        }

        #[test]
        fn split_equals_the_standard_library(text in r"[a-c\t\n \u{a0}\u{2003}é東]{0,30}") {
            let want: Vec<&str> = text.split_whitespace().collect();
            prop_assert_eq!(cut_split(&text), want);
        }
    }
}
