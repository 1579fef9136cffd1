//! One text, made ready: lower-cased, cut into tokens, and enumerated feature by feature.

use super::lower::lower_into;
use super::plan::{Block, Kind, Plan};
use super::scan::{marks, split, words};
use super::spec::Tokens;
use super::tables::{PAD, ZEROS};
use unicode_segmentation::UnicodeSegmentation;

/// Appends the numbers of strings in a padded buffer to a list; [`NONE`](super::tables::NONE) for those without one.
pub(crate) trait Lookup: FnMut(&[u8], &[(usize, usize)], &mut Vec<u32>) {}

impl<F: FnMut(&[u8], &[(usize, usize)], &mut Vec<u32>)> Lookup for F {}

/// Strings that are gathered before they are looked up.
const TOGETHER: usize = 512;

/// A text and the buffers that its features are read from.
#[derive(Default)]
pub(crate) struct Page {
    /// The text, lower-cased if so asked, then [`PAD`] zeros.
    text: String,
    tokens: Vec<(usize, usize)>,
    /// Tokens or whitespace-separated words, one space between them; then the pad.
    joined: Vec<u8>,
    /// Where each of them stands in `joined`, and in `text`.
    places: Vec<Place>,
    /// Where the characters of one word start.
    cuts: Vec<usize>,
    /// Strings to be looked up together.
    spans: Vec<(usize, usize)>,
}

#[derive(Clone, Copy)]
struct Place {
    start: usize,
    end: usize,
    from: usize,
}

impl Page {
    /// Takes a text in.
    pub(crate) fn read(&mut self, plan: &Plan, text: &str) {
        self.text.clear();
        if plan.spec.lowercase {
            lower_into(text, &mut self.text);
        } else {
            self.text.push_str(text);
        }
        self.tokens.clear();
        let needs_tokens = plan.blocks.iter().any(|block| block.kind != Kind::Chars);
        if needs_tokens {
            let tokens = &mut self.tokens;
            let push = |start, end| tokens.push((start, end));
            match (&plan.spec.tokens, &plan.pattern) {
                (Tokens::Words, _) => words(&self.text, push),
                (Tokens::Whitespace, _) => split(&self.text, push),
                (Tokens::WordsAndMarks, _) => marks(&self.text, push),
                (_, Some(pattern)) if pattern.has_group => {
                    let groups = pattern.regex.captures_iter(&self.text);
                    tokens.extend(groups.filter_map(|c| c.get(1)).map(|m| (m.start(), m.end())));
                }
                (_, Some(pattern)) => {
                    tokens
                        .extend(pattern.regex.find_iter(&self.text).map(|m| (m.start(), m.end())));
                }
                (_, None) => {
                    let words = self.text.unicode_word_indices();
                    tokens.extend(words.map(|(at, word)| (at, at + word.len())));
                }
            }
        }
        self.text.push_str(ZEROS);
        if plan.stop_words.is_some() {
            let buffer = self.text.as_bytes();
            self.tokens.retain(|&(start, end)| !plan.is_stopped(buffer, start, end));
        }
    }

    /// Appends the number of each string of a block: of tokens if its features are n-grams of tokens, else of features, in
    /// the order of [`names`](Self::names).
    pub(crate) fn strings(&mut self, block: &Block, mut lookup: impl Lookup, out: &mut Vec<u32>) {
        let (lo, hi) = block.range;
        let mut spans = std::mem::take(&mut self.spans);
        match block.kind {
            Kind::Words if block.is_chained || hi == 1 => {
                lookup(self.text.as_bytes(), &self.tokens, out);
            }
            Kind::Words => {
                self.join_tokens();
                for n in lo..=hi {
                    spans.extend(
                        self.places.windows(n).map(|gram| (gram[0].start, gram[n - 1].end)),
                    );
                }
                lookup(&self.joined, &spans, out);
            }
            Kind::Chars => {
                self.join_split();
                self.char_windows(lo, hi, |buffer, _, start, end| {
                    spans.push((start, end));
                    if spans.len() == TOGETHER {
                        lookup(buffer, &spans, out);
                        spans.clear();
                    }
                });
                lookup(&self.joined, &spans, out);
            }
            Kind::Prefixes | Kind::Suffixes => {
                self.ends(block.kind, lo, hi, |start, end| spans.push((start, end)));
                lookup(self.text.as_bytes(), &spans, out);
            }
        }
        spans.clear();
        self.spans = spans;
    }

    /// Calls `f(buffer, start, end)` with where the name of each feature of a block is in a padded buffer, shorter n-grams
    /// first.
    pub(crate) fn names(&mut self, block: &Block, mut f: impl FnMut(&[u8], usize, usize)) {
        let (lo, hi) = block.range;
        match block.kind {
            Kind::Words => {
                if lo == 1 {
                    let buffer = self.text.as_bytes();
                    self.tokens.iter().for_each(|&(start, end)| f(buffer, start, end));
                }
                if hi == 1 {
                    return;
                }
                self.join_tokens();
                for n in lo.max(2)..=hi {
                    for gram in self.places.windows(n) {
                        f(&self.joined, gram[0].start, gram[n - 1].end);
                    }
                }
            }
            Kind::Chars => {
                self.join_split();
                self.char_windows(lo, hi, |buffer, _, start, end| f(buffer, start, end));
            }
            Kind::Prefixes | Kind::Suffixes => {
                let buffer = self.text.as_bytes();
                self.ends(block.kind, lo, hi, |start, end| f(buffer, start, end));
            }
        }
    }

    /// Where in the lower-cased text each feature of a block is, in the order of [`names`](Self::names).
    pub(crate) fn spans(&mut self, block: &Block) -> Vec<(usize, usize)> {
        let (lo, hi) = block.range;
        let mut out = Vec::new();
        match block.kind {
            Kind::Words => {
                for n in lo..=hi {
                    out.extend(self.tokens.windows(n).map(|gram| (gram[0].0, gram[n - 1].1)));
                }
            }
            Kind::Chars => {
                self.join_split();
                self.char_windows(lo, hi, |_, word, start, end| {
                    // The spaces around a word are not the text's.
                    let back = |at: usize| at.clamp(word.start, word.end) - word.start + word.from;
                    out.push((back(start), back(end)));
                });
            }
            Kind::Prefixes | Kind::Suffixes => {
                self.ends(block.kind, lo, hi, |start, end| out.push((start, end)));
            }
        }
        out
    }

    /// Tokens with one space between them.
    fn join_tokens(&mut self) {
        self.joined.clear();
        self.places.clear();
        let buffer = self.text.as_bytes();
        for &(from, to) in &self.tokens {
            let start = self.joined.len();
            let end = start + to - from;
            // Eight bytes at a time, then cut: most words are one store instead of a call.
            for at in (from..to).step_by(PAD) {
                let eight: [u8; PAD] = buffer[at..at + PAD].try_into().expect("a pad follows");
                self.joined.extend_from_slice(&eight);
            }
            self.joined.truncate(end);
            self.joined.push(b' ');
            self.places.push(Place { start, end, from });
        }
        self.joined.extend_from_slice(ZEROS.as_bytes());
    }

    /// What whitespace separates, each word with a space before and after it.
    fn join_split(&mut self) {
        self.joined.clear();
        self.joined.push(b' ');
        self.places.clear();
        let (joined, places) = (&mut self.joined, &mut self.places);
        let text = &self.text[..self.text.len() - PAD];
        split(text, |from, to| {
            let start = joined.len();
            joined.extend_from_slice(&text.as_bytes()[from..to]);
            places.push(Place { start, end: joined.len(), from });
            joined.push(b' ');
        });
        self.joined.extend_from_slice(ZEROS.as_bytes());
    }

    /// `char_wb`: calls `f(buffer, word, start, end)` for windows of n characters over a word and the spaces around it. A
    /// word that is no longer than n counts once, and not for longer windows.
    #[inline(always)]
    fn char_windows(
        &mut self,
        lo: usize,
        hi: usize,
        mut f: impl FnMut(&[u8], &Place, usize, usize),
    ) {
        let buffer = self.joined.as_slice();
        for word in &self.places {
            let (first, last) = (word.start - 1, word.end + 1);
            let mut f = |start, end| f(buffer, word, start, end);
            if buffer[word.start..word.end].is_ascii() {
                for n in lo..=hi {
                    if first + n >= last {
                        f(first, last);
                        break;
                    }
                    for start in first..=last - n {
                        f(start, start + n);
                    }
                }
            } else {
                self.cuts.clear();
                self.cuts.extend((first..=last).filter(|&at| is_boundary(buffer[at])));
                for n in lo..=hi {
                    if n + 1 >= self.cuts.len() {
                        f(first, last);
                        break;
                    }
                    for cuts in self.cuts.windows(n + 1) {
                        f(cuts[0], cuts[n]);
                    }
                }
            }
        }
    }

    /// First or last characters of tokens.
    #[inline(always)]
    fn ends(&self, kind: Kind, lo: usize, hi: usize, mut f: impl FnMut(usize, usize)) {
        for &(start, end) in &self.tokens {
            let token = &self.text[start..end];
            for n in lo..=hi {
                if kind == Kind::Prefixes {
                    let mut chars = token.char_indices().map(|(at, _)| at).chain([token.len()]);
                    let Some(at) = chars.nth(n) else { break };
                    f(start, start + at);
                } else {
                    let Some((at, _)) = token.char_indices().nth_back(n - 1) else { break };
                    f(start + at, end);
                }
            }
        }
    }
}

/// Whether a character starts with this byte of UTF-8.
fn is_boundary(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::TextSpec;

    fn names(spec: TextSpec, text: &str) -> Vec<String> {
        let plan = Plan::new(spec).unwrap();
        let mut page = Page::default();
        page.read(&plan, text);
        let mut out = Vec::new();
        for (b, block) in plan.blocks.iter().enumerate() {
            let before = out.len();
            page.names(block, |buffer, start, end| {
                let name = std::str::from_utf8(&buffer[start..end]).unwrap();
                out.push(plan.show_name(b, name));
            });
            assert_eq!(page.spans(block).len(), out.len() - before);
        }
        out
    }

    #[test]
    fn word_ngrams_skip_stop_words() {
        let spec = TextSpec {
            ngrams: Some((1, 2)),
            stop_words: crate::text::StopWords::English,
            ..TextSpec::default()
        };
        assert_eq!(names(spec, "The cat on the mat"), ["cat", "mat", "cat mat"]);
    }

    #[test]
    fn characters_within_words() {
        let chars =
            |lo, hi| TextSpec { ngrams: None, chars: Some((lo, hi)), ..TextSpec::default() };
        // CountVectorizer(analyzer='char_wb', ngram_range=(3, 5)).build_analyzer()('ab\tÉcole')
        let want = " ab|ab | ab | éc|éco|col|ole|le | éco|écol|cole|ole | écol|école|cole ";
        assert_eq!(names(chars(3, 5), "ab\tÉcole").join("|"), want);
        // ngram_range=(1, 2), 'a bc'
        assert_eq!(names(chars(1, 2), "a bc").join("|"), " |a| | a|a | |b|c| | b|bc|c ");
    }

    #[test]
    fn ends_of_tokens() {
        let spec = TextSpec {
            ngrams: None,
            prefixes: Some((1, 2)),
            suffixes: Some((2, 3)),
            ..TextSpec::default()
        };
        assert_eq!(names(spec, "Über an"), ["p:ü", "p:üb", "p:a", "p:an", "s:er", "s:ber", "s:an"]);
    }

    #[test]
    fn tokens_of_each_sort() {
        let with = |tokens| TextSpec { tokens, ..TextSpec::default() };
        let text = "I can't: 3.14  foo-bar";
        assert_eq!(names(with(Tokens::Words), text), ["can", "14", "foo", "bar"]);
        assert_eq!(names(with(Tokens::Unicode), text), ["i", "can't", "3.14", "foo", "bar"]);
        assert_eq!(names(with(Tokens::Whitespace), text), ["i", "can't:", "3.14", "foo-bar"]);
        assert_eq!(names(with(Tokens::Pattern(r"\d+".into())), text), ["3", "14"]);
        assert_eq!(names(with(Tokens::Pattern(r"(\w+)-".into())), text), ["foo"]);
    }
}
