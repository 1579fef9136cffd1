//! A checked [`TextSpec`]: what every other file here works from.

use super::murmur::murmur3_32_str;
use super::spec::{DocFreq, Norm, StopWords, TextSpec, Tokens};
use super::stop::ENGLISH;
use super::tables::{NONE, Strings, ZEROS};
use crate::Error;
use regex::Regex;

/// The most blocks there can be: a block's number is stored as one ASCII character in front of a name.
const MAX_BLOCKS: usize = 127;

/// The most bits of a hashed column: a row's indices stay below 2³¹.
const MAX_BITS: u8 = 30;

/// One kind of feature of one text column: the features of a block have names of their own.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub(crate) slot: usize,
    pub(crate) kind: Kind,
    /// Shortest and longest n.
    pub(crate) range: (usize, usize),
    /// Whether its features are n-grams that are told by their words, one after the other, instead of by their name. Tokens of a
    /// pattern may hold spaces: there, n-grams of different tokens may have one name and are one feature.
    pub(crate) is_chained: bool,
    /// What stands in front of its features' names.
    prefix: String,
    /// Where hashing its names starts: 0 without a prefix, so that scikit-learn's numbers come out.
    pub(crate) seed: u32,
}

impl Block {
    /// Whether single strings are features, not only n-grams of them.
    pub(crate) fn has_strings(&self) -> bool {
        !self.is_chained || self.range.0 == 1
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Words,
    Chars,
    Prefixes,
    Suffixes,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Words, Kind::Chars, Kind::Prefixes, Kind::Suffixes];

    fn mark(self) -> &'static str {
        match self {
            Kind::Words => "",
            Kind::Chars => "c:",
            Kind::Prefixes => "p:",
            Kind::Suffixes => "s:",
        }
    }
}

#[derive(Clone)]
pub(crate) struct Plan {
    pub(crate) spec: TextSpec,
    pub(crate) n_slots: usize,
    pub(crate) blocks: Vec<Block>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) stop_words: Option<Strings>,
    several_kinds: bool,
}

/// A compiled [`Tokens::Pattern`].
#[derive(Clone)]
pub(crate) struct Pattern {
    pub(crate) regex: Regex,
    /// Whether the token is the group instead of the match.
    pub(crate) has_group: bool,
}

impl Plan {
    pub(crate) fn new(spec: TextSpec) -> Result<Self, Error> {
        check_counts(&spec)?;
        check_slots(&spec.slots)?;
        let ranges = [
            ("ngrams", spec.ngrams, 8),
            ("chars", spec.chars, 32),
            ("prefixes", spec.prefixes, 32),
            ("suffixes", spec.suffixes, 32),
        ];
        for (name, range, max) in ranges {
            if let Some((lo, hi)) = range
                && !(1 <= lo && lo <= hi && hi <= max)
            {
                let remedy = format!("lengths rise, from 1 at least to {max} at most");
                return Err(Error::setting(name, format!("{lo}-{hi}"), remedy));
            }
        }
        let kinds: Vec<_> = Kind::ALL
            .into_iter()
            .zip(ranges)
            .filter_map(|(kind, (_, range, _))| {
                range.map(|(lo, hi)| (kind, (lo as usize, hi as usize)))
            })
            .collect();
        if kinds.is_empty() {
            let remedy = "with neither chars, prefixes nor suffixes there are no features";
            return Err(Error::setting("ngrams", "none", remedy));
        }
        let several_kinds = kinds.len() > 1;
        let n_slots = spec.slots.len().max(1);
        let mut blocks = Vec::new();
        for slot in 0..n_slots {
            for &(kind, range) in &kinds {
                let mut prefix = String::new();
                if n_slots > 1 {
                    prefix = format!("{}:", spec.slots[slot]);
                }
                if several_kinds {
                    prefix.push_str(kind.mark());
                }
                let seed = if prefix.is_empty() { 0 } else { murmur3_32_str(&prefix, 0) };
                let has_pattern = matches!(spec.tokens, Tokens::Pattern(_));
                let is_chained = kind == Kind::Words && range.1 > 1 && !has_pattern;
                blocks.push(Block { slot, kind, range, is_chained, prefix, seed });
            }
        }
        if blocks.len() > MAX_BLOCKS {
            let remedy = format!("columns × kinds of features must not exceed {MAX_BLOCKS}");
            return Err(Error::setting("slots", n_slots, remedy));
        }
        let pattern = match &spec.tokens {
            Tokens::Pattern(pattern) => Some(Pattern::new(pattern)?),
            _ => None,
        };
        let stop_words = stop_table(&spec.stop_words);
        Ok(Self { spec, n_slots, blocks, pattern, stop_words, several_kinds })
    }

    /// Whether stored names start with their block's number.
    pub(crate) fn has_marks(&self) -> bool {
        self.blocks.len() > 1
    }

    /// Splits a stored name into its block and the rest, if there is such a block.
    pub(crate) fn split_name<'a>(&self, stored: &'a str) -> Option<(usize, &'a str)> {
        if !self.has_marks() {
            return Some((0, stored));
        }
        let block = usize::from(*stored.as_bytes().first()?);
        (block < self.blocks.len()).then(|| (block, &stored[1..]))
    }

    /// What users read: `subject:c:ing`.
    pub(crate) fn show_name(&self, block: usize, bare: &str) -> String {
        let block = &self.blocks[block];
        // A word that looks like another kind's feature says that it is a word.
        let looks_marked = self.several_kinds
            && block.kind == Kind::Words
            && ["c:", "p:", "s:", "w:"].iter().any(|mark| bare.starts_with(mark));
        format!("{}{}{bare}", block.prefix, if looks_marked { "w:" } else { "" })
    }

    /// Whether a token, at `start..end` of a padded buffer, is a stop word.
    pub(crate) fn is_stopped(&self, buffer: &[u8], start: usize, end: usize) -> bool {
        self.stop_words.as_ref().is_some_and(|words| words.find(buffer, start, end) != NONE)
    }
}

impl Pattern {
    fn new(pattern: &str) -> Result<Self, Error> {
        let refuse = |why: String| Error::Pattern { pattern: pattern.to_owned(), why };
        let regex = Regex::new(pattern).map_err(|e| {
            // The message repeats the expression over several lines; its last line says what is wrong.
            let message = e.to_string();
            let last = message.lines().last().unwrap_or_default().trim();
            refuse(last.trim_start_matches("error: ").to_owned())
        })?;
        if regex.captures_len() > 2 {
            return Err(refuse("has several groups; write `(?:…)` for all but the token's".into()));
        }
        Ok(Self { has_group: regex.captures_len() == 2, regex })
    }
}

fn stop_table(stop_words: &StopWords) -> Option<Strings> {
    let mut table = Strings::default();
    let mut add = |word: &str| {
        let buffer = format!("{word}{ZEROS}");
        table.find_or_insert(buffer.as_bytes(), 0, word.len(), 0);
    };
    match stop_words {
        StopWords::None => return None,
        StopWords::English => ENGLISH.iter().for_each(|word| add(word)),
        StopWords::List(words) => words.iter().for_each(|word| add(word)),
    }
    Some(table)
}

fn check_counts(spec: &TextSpec) -> Result<(), Error> {
    for (name, df) in [("min_df", spec.min_df), ("max_df", spec.max_df)] {
        match df {
            DocFreq::Count(0) => {
                return Err(Error::setting(name, 0, "a feature occurs in 1 document at least"));
            }
            DocFreq::Fraction(share) if !(0.0..=1.0).contains(&share) => {
                return Err(Error::setting(name, share, "a share lies between 0.0 and 1.0"));
            }
            _ => {}
        }
    }
    if spec.max_features == Some(0) {
        return Err(Error::setting("max_features", 0, "keep 1 at least"));
    }
    let Some(bits) = spec.hash_bits else { return Ok(()) };
    if !(1..=MAX_BITS).contains(&bits) {
        let remedy = format!("between 1 and {MAX_BITS} bits can be hashed into");
        return Err(Error::setting("hash_bits", bits, remedy));
    }
    let plain = TextSpec::default();
    if spec.min_df != plain.min_df || spec.max_df != plain.max_df || spec.max_features.is_some() {
        let remedy = "hashing has no vocabulary for min_df, max_df or max_features to choose from";
        return Err(Error::setting("hash_bits", bits, remedy));
    }
    if spec.norm == Norm::L2PerBlock {
        let remedy = "hashed blocks share columns, so only the whole row can be scaled";
        return Err(Error::setting("norm", "l2-per-block", remedy));
    }
    Ok(())
}

/// Refuses names with which `a:b` could be of two columns.
fn check_slots(slots: &[String]) -> Result<(), Error> {
    if slots.len() < 2 {
        return Ok(());
    }
    for (i, a) in slots.iter().enumerate() {
        for (k, b) in slots.iter().enumerate() {
            let clash =
                b.strip_prefix(a.as_str()).is_some_and(|r| r.is_empty() || r.starts_with(':'));
            if i != k && clash {
                let remedy =
                    format!("features would be named like those of `{a}`; rename a column");
                return Err(Error::setting("slots", format!("`{b}`"), remedy));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(spec: TextSpec) -> String {
        Plan::new(spec).map(|_| ()).unwrap_err().to_string()
    }

    #[test]
    fn settings_that_make_no_sense_are_refused() {
        let plain = TextSpec::default;
        let message = refused(TextSpec { ngrams: Some((2, 1)), ..plain() });
        assert_eq!(message, "ngrams 2-1: lengths rise, from 1 at least to 8 at most");
        let message = refused(TextSpec { min_df: DocFreq::Fraction(1.5), ..plain() });
        assert_eq!(message, "min_df 1.5: a share lies between 0.0 and 1.0");
        let message = refused(TextSpec { min_df: DocFreq::Fraction(f64::NAN), ..plain() });
        assert!(message.starts_with("min_df NaN"), "{message}");
        let message = refused(TextSpec { tokens: Tokens::Pattern("(a".into()), ..plain() });
        assert_eq!(message, "token pattern `(a`: unclosed group");
        let message = refused(TextSpec { tokens: Tokens::Pattern("(a)(b)".into()), ..plain() });
        assert!(message.contains("several groups"), "{message}");
        let message = refused(TextSpec { slots: vec!["a".into(), "a:b".into()], ..plain() });
        assert!(message.contains("rename a column"), "{message}");
        let message = refused(TextSpec { hash_bits: Some(40), ..plain() });
        assert_eq!(message, "hash_bits 40: between 1 and 30 bits can be hashed into");
        refused(TextSpec { ngrams: None, ..plain() });
        refused(TextSpec { hash_bits: Some(8), min_df: DocFreq::Count(2), ..plain() });
    }

    #[test]
    fn names_of_kinds_do_not_meet() {
        let spec = TextSpec { chars: Some((3, 3)), ..TextSpec::default() };
        let plan = Plan::new(spec).unwrap();
        assert_eq!(plan.show_name(0, "cat"), "cat");
        assert_eq!(plan.show_name(0, "c:at"), "w:c:at");
        assert_eq!(plan.show_name(1, "at "), "c:at ");
        let spec = TextSpec { slots: vec!["title".into(), "body".into()], ..TextSpec::default() };
        let plan = Plan::new(spec).unwrap();
        assert_eq!(plan.show_name(1, "c:at"), "body:c:at");
    }
}
