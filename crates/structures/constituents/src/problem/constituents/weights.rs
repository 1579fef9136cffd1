//! The weights of parts: scores, gradients and differences of derivations, all by the same keys.

use super::{Constituents, ConstituentsScratch, SECTIONS};
use crate::derivation::Derivation;
use crate::features::table::Runs;
use crate::grammar::{LEFT, RIGHT};
use crate::problem::ConstituentParts;
use lineal_linalg::Scalar;

/// A part as one number, so that equal ones of two derivations are found by sorting: section, words and column, or the number of a pair.
fn part_of_span(section: usize, start: u32, end: u32, column: usize) -> u64 {
    (section as u64) << 62 | u64::from(start) << 42 | u64::from(end) << 22 | column as u64
}

/// The section that stands for pairs.
const PAIRS: u64 = 3;

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
                parts.extend(number.map(|number| PAIRS << 62 | number as u64));
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
        let mut hashed = u64::MAX;
        let mut visit = |part: u64, value: F| {
            if part >> 62 == PAIRS {
                let number = (part & u64::from(u32::MAX)) as usize;
                return f(self.n_hashed() + number, value);
            }
            let (section, words) = ((part >> 62) as usize, part >> 22);
            if hashed != words {
                let (i, j) = ((part >> 42) & 0xf_ffff, (part >> 22) & 0xf_ffff);
                s.hashes.clear();
                s.keys[section].hashes(&s.wholes, i as usize, j as usize, &mut s.hashes);
                hashed = words;
            }
            let runs = self.runs(SECTIONS[section]);
            let column = (part & 0x3f_ffff) as usize;
            s.hashes.iter().for_each(|&hash| f(runs.start(hash) + column, value));
        };
        let (mut x, mut y) = (a.iter().copied().peekable(), b.iter().copied().peekable());
        loop {
            match (x.peek(), y.peek()) {
                (Some(p), Some(q)) if p == q => {
                    x.next();
                    y.next();
                }
                (Some(&p), q) if q.is_none_or(|&q| p < q) => {
                    visit(p, F::ONE);
                    x.next();
                }
                (_, Some(&q)) => {
                    visit(q, -F::ONE);
                    y.next();
                }
                _ => break,
            }
        }
        (s.parts, s.other_parts) = (a, b);
    }
}
