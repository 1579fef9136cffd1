//! Codewords as two planes of bits, to count disagreements 64 columns at a time.

use super::Code;

/// Row k of each plane is `words` words: a bit where the entry is +, a bit where it is −.
#[derive(Clone, Debug)]
pub(crate) struct BitRows {
    words: usize,
    plus: Vec<u64>,
    minus: Vec<u64>,
}

impl BitRows {
    pub(crate) fn new(code: &Code) -> Self {
        let words = code.n_columns().div_ceil(64);
        let plane = |sign: i8| {
            let mut plane = vec![0u64; code.n_classes() * words];
            for class in 0..code.n_classes() {
                for (l, _) in
                    code.row(class).iter().enumerate().filter(|(_, entry)| **entry == sign)
                {
                    plane[class * words + l / 64] |= 1 << (l % 64);
                }
            }
            plane
        };
        Self { words, plus: plane(1), minus: plane(-1) }
    }

    fn row(&self, class: usize) -> (&[u64], &[u64]) {
        let span = class * self.words..(class + 1) * self.words;
        (&self.plus[span.clone()], &self.minus[span])
    }

    /// How many entries of the class are not 0, among the columns of `asked`.
    pub(crate) fn nonzeros(&self, class: usize, asked: &[u64]) -> u32 {
        let (plus, minus) = self.row(class);
        plus.iter().zip(minus).zip(asked).map(|((p, m), a)| ((p | m) & a).count_ones()).sum()
    }

    /// How many of the answers `yes` (to the columns of `asked`) contradict the class.
    pub(crate) fn contradictions(&self, class: usize, asked: &[u64], yes: &[u64]) -> u32 {
        let (plus, minus) = self.row(class);
        let words = plus.iter().zip(minus).zip(asked.iter().zip(yes));
        words.map(|((p, m), (a, y))| (((p & !y) | (m & y)) & a).count_ones()).sum()
    }

    /// Twice the minimum distance as [`Code::min_distance`] defines it, before rounding; may be negative.
    pub(crate) fn min_half_distance(&self) -> i64 {
        let all = vec![u64::MAX; self.words];
        let n_classes = self.plus.len() / self.words.max(1);
        let nonzeros: Vec<i64> = (0..n_classes).map(|k| self.nonzeros(k, &all).into()).collect();
        let mut least = i64::MAX;
        for r in 0..n_classes {
            let (plus, minus) = self.row(r);
            for q in r + 1..n_classes {
                let (p, m) = self.row(q);
                let opposed: u32 = (0..self.words)
                    .map(|i| ((plus[i] & m[i]) | (minus[i] & p[i])).count_ones())
                    .sum();
                least = least.min(2 * i64::from(opposed) - (nonzeros[r] - nonzeros[q]).abs());
            }
        }
        least
    }
}
