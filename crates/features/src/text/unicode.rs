//! Sets of characters as Python sees them.

use regex_syntax::hir::{Class, HirKind};
use std::sync::OnceLock;

/// A set of characters, one bit each.
pub(crate) struct CharSet {
    bits: Vec<u64>,
}

impl CharSet {
    /// The characters of a regular expression's class.
    fn of(class: &str) -> Self {
        let mut bits = vec![0u64; 0x11_0000 / 64];
        let class = regex_syntax::parse(class).expect("the class is a constant of this file");
        if let HirKind::Class(Class::Unicode(ranges)) = class.kind() {
            for range in ranges.ranges() {
                for c in range.start() as usize..=range.end() as usize {
                    bits[c / 64] |= 1 << (c % 64);
                }
            }
        }
        Self { bits }
    }

    #[inline]
    pub(crate) fn has(&self, c: char) -> bool {
        self.bits[c as usize / 64] >> (c as usize % 64) & 1 == 1
    }
}

/// Python's `\w` on `str`: letters, numbers and the underscore. Checked against Python 3.11 on every character of
/// Unicode 14; marks, which Rust's `is_alphanumeric` partly takes in, are not among them.
pub(crate) fn word_chars() -> &'static CharSet {
    static SET: OnceLock<CharSet> = OnceLock::new();
    SET.get_or_init(|| CharSet::of(r"[\p{L}\p{N}_]"))
}

/// Cased and case-ignorable characters, which decide how a capital sigma is lowered.
pub(crate) fn cased() -> &'static (CharSet, CharSet) {
    static SETS: OnceLock<(CharSet, CharSet)> = OnceLock::new();
    SETS.get_or_init(|| (CharSet::of(r"\p{Cased}"), CharSet::of(r"\p{Case_Ignorable}")))
}

/// Python's `str.isspace`: Unicode's white space and the four ASCII separators.
#[inline]
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}
