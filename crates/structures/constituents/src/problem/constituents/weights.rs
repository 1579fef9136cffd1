//! The weights of parts: scores, gradients and differences of derivations, all by the same keys.

use super::{Constituents, ConstituentsScratch, SECTIONS};
use crate::derivation::Derivation;
use crate::features::Section;
use crate::features::table::Runs;
use crate::grammar::{LEFT, RIGHT};
use crate::problem::ConstituentParts;
use lineal_linalg::Scalar;

/// A part is one number, so that equal ones of two derivations are found by sorting: two bits for the section, twenty each for the first word and the end, the rest for the column; or the
/// section of pairs and the number of a pair.
const COLUMN_BITS: u32 = 22;
const WORD_BITS: u32 = 20;
const SECTION_SHIFT: u32 = COLUMN_BITS + 2 * WORD_BITS;
const PAIRS: u64 = 3;

fn part_of_span(section: usize, start: u32, end: u32, column: usize) -> u64 {
    let words = u64::from(start) << WORD_BITS | u64::from(end);
    (section as u64) << SECTION_SHIFT | words << COLUMN_BITS | column as u64
}

/// Section, first word and end; `None` for a pair.
fn span_of(part: u64) -> Option<(usize, usize, usize)> {
    let word = |shift: u32| ((part >> shift) & ((1 << WORD_BITS) - 1)) as usize;
    let section = part >> SECTION_SHIFT;
    (section != PAIRS).then(|| (section as usize, word(COLUMN_BITS + WORD_BITS), word(COLUMN_BITS)))
}

fn column_of(part: u64) -> usize {
    (part & ((1 << COLUMN_BITS) - 1)) as usize
}

fn pair_of(part: u64) -> usize {
    (part & u64::from(u32::MAX)) as usize
}

impl Constituents<'_> {
    /// Computes the keys of sentence `i`, unless they are there.
    pub(super) fn load_keys<F>(&self, i: usize, s: &mut ConstituentsScratch<F>) {
        if s.loaded == Some(i) {
            return;
        }
        s.loaded = Some(i);
        let sentence = self.sentences.get(i);
        s.wholes.load(&sentence);
        for (keys, section) in s.keys.iter_mut().zip(SECTIONS) {
            keys.load(self.templates, section, &sentence);
        }
    }

    /// Scores all parts of the sentence whose keys are loaded.
    pub(super) fn score_parts<F: Scalar>(
        &self,
        w: &[F],
        s: &mut ConstituentsScratch<F>,
        theta: &mut ConstituentParts<F>,
    ) {
        let ConstituentParts { values, shape } = theta;
        let (hashed, pairs) = w.split_at(self.n_hashed());
        values.clear();
        values.extend_from_slice(pairs);
        values.resize(self.n_parts(&shape.spans), F::ZERO);
        let runs = SECTIONS.map(|section| (self.offset(section), self.runs(section)));
        let (rows, n_pairs) = (shape.spans.len(), pairs.len());
        for span in 0..rows {
            let (i, j) = shape.spans.words(span);
            let row = &mut values[n_pairs + span * self.stride()..];
            for (keys, (offset, runs)) in s.keys.iter().zip(runs) {
                // The whole sentence is nobody's child.
                if offset > 0 && span == rows - 1 {
                    continue;
                }
                s.hashes.clear();
                keys.hashes(&s.wholes, i, j, &mut s.hashes);
                runs.sum(hashed, &s.hashes, &mut row[offset..]);
            }
        }
    }

    /// `f(where the weights lie, hashes of the features, numbers)` for each span and section that has a number other than 0.
    pub(super) fn each_row<F: Scalar>(
        &self,
        parts: &ConstituentParts<F>,
        s: &mut ConstituentsScratch<F>,
        mut f: impl FnMut(Runs, &[u32], &[F]),
    ) {
        let ConstituentParts { values, shape } = parts;
        let rows = &values[self.grammar.pairs().len().min(values.len())..];
        for (span, row) in rows.chunks_exact(self.stride()).enumerate() {
            let (i, j) = shape.spans.words(span);
            for (keys, section) in s.keys.iter().zip(SECTIONS) {
                let (offset, runs) = (self.offset(section), self.runs(section));
                let row = &row[offset..offset + runs.width()];
                if row.iter().any(|value| *value != F::ZERO) {
                    s.hashes.clear();
                    keys.hashes(&s.wholes, i, j, &mut s.hashes);
                    f(runs, &s.hashes, row);
                }
            }
        }
    }

    fn sorted_parts(&self, y: &Derivation, parts: &mut Vec<u64>) {
        let grammar = self.grammar;
        parts.clear();
        y.each(|node, children| {
            let symbol = node.symbol as usize;
            parts.push(part_of_span(0, node.start, node.end, grammar.column(symbol)));
            let Some([left, right]) = children else { return };
            let category = grammar.categories()[symbol] as usize;
            parts.push(part_of_span(1, left.start, left.end, category));
            parts.push(part_of_span(2, right.start, right.end, category));
            for (side, child) in [(LEFT, left), (RIGHT, right)] {
                let number = grammar.pairs().number(side, node.symbol, child.symbol);
                parts.extend(number.map(|number| PAIRS << SECTION_SHIFT | number as u64));
            }
        });
        parts.sort_unstable();
    }

    /// The weights of parts that two derivations do not share.
    pub(super) fn each_difference_of<F: Scalar>(
        &self,
        plus: &Derivation,
        minus: &Derivation,
        s: &mut ConstituentsScratch<F>,
        mut f: impl FnMut(usize, F),
    ) {
        let (mut a, mut b) = (std::mem::take(&mut s.parts), std::mem::take(&mut s.other_parts));
        self.sorted_parts(plus, &mut a);
        self.sorted_parts(minus, &mut b);
        // The section and words whose features are in `s.hashes`.
        let mut hashed = u64::MAX;
        each_unshared(&a, &b, |part, is_plus| {
            let value = if is_plus { F::ONE } else { -F::ONE };
            let Some((section, i, j)) = span_of(part) else {
                return f(self.n_hashed() + pair_of(part), value);
            };
            if hashed != part >> COLUMN_BITS {
                s.hashes.clear();
                s.keys[section].hashes(&s.wholes, i, j, &mut s.hashes);
                hashed = part >> COLUMN_BITS;
            }
            let (runs, column) = (self.runs(SECTIONS[section]), column_of(part));
            s.hashes.iter().for_each(|&hash| f(runs.start(hash) + column, value));
        });
        (s.parts, s.other_parts) = (a, b);
    }

    /// The parts that two derivations of sentence `i` do not share, with their weights.
    pub(in crate::problem) fn differences(
        &self,
        i: usize,
        plus: &Derivation,
        minus: &Derivation,
    ) -> Vec<Difference> {
        let mut s = ConstituentsScratch::<f32>::default();
        self.load_keys(i, &mut s);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        self.sorted_parts(plus, &mut a);
        self.sorted_parts(minus, &mut b);
        let mut all: Vec<Difference> = Vec::new();
        each_unshared(&a, &b, |part, is_plus| {
            let value = if is_plus { 1.0 } else { -1.0 };
            let Some((section, i, j)) = span_of(part) else {
                let column = pair_of(part);
                let indices = vec![self.n_hashed() + column];
                // A pair may come several times, always one after the other.
                match all.last_mut().filter(|last| last.span.is_none() && last.column == column) {
                    Some(last) => last.value += value,
                    None => all.push(Difference { span: None, column, value, indices }),
                }
                return;
            };
            s.hashes.clear();
            s.keys[section].hashes(&s.wholes, i, j, &mut s.hashes);
            let (runs, column) = (self.runs(SECTIONS[section]), column_of(part));
            let indices = s.hashes.iter().map(|&hash| runs.start(hash) + column).collect();
            all.push(Difference { span: Some((SECTIONS[section], i, j)), column, value, indices });
        });
        all
    }
}

/// A part that one of two derivations has and the other has not.
pub(in crate::problem) struct Difference {
    /// Section and words; `None` for a pair.
    pub(in crate::problem) span: Option<(Section, usize, usize)>,
    /// Column, category, or number of the pair.
    pub(in crate::problem) column: usize,
    /// How much more often the first derivation has it.
    pub(in crate::problem) value: f64,
    /// Its weights, in the order of the templates.
    pub(in crate::problem) indices: Vec<usize>,
}

/// `f(part, whether it is of `a`)` for the parts of two sorted lists that do not cancel.
fn each_unshared(a: &[u64], b: &[u64], mut f: impl FnMut(u64, bool)) {
    let (mut a, mut b) = (a.iter().copied().peekable(), b.iter().copied().peekable());
    loop {
        match (a.peek(), b.peek()) {
            (Some(p), Some(q)) if p == q => {
                a.next();
                b.next();
            }
            (Some(&p), q) if q.is_none_or(|&q| p < q) => {
                f(p, true);
                a.next();
            }
            (_, Some(&q)) => {
                f(q, false);
                b.next();
            }
            _ => return,
        }
    }
}
