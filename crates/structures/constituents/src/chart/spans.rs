//! The spans of a sentence that a derivation may have.

/// No span.
const NONE: u32 = u32::MAX;

/// Candidate spans of one sentence, shorter ones first and then from left to right. All single words are among them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans {
    n: usize,
    ends: Vec<(u32, u32)>,
    /// `[i·(n + 1) + j]`: the number of the span of the words i to j − 1.
    numbers: Vec<u32>,
}

impl Spans {
    /// All spans of `n` words.
    pub fn all(n: usize) -> Self {
        let mut spans = Self::default();
        spans.fill(n, |_, _| true);
        spans
    }

    /// Makes these the spans of `n` words for which `keep(start, end)`. Single words and the span of all words are kept in any case.
    pub fn fill(&mut self, n: usize, keep: impl Fn(usize, usize) -> bool) {
        self.n = n;
        self.ends.clear();
        self.numbers.clear();
        self.numbers.resize(n * (n + 1), NONE);
        for length in 1..=n {
            for i in 0..=n - length {
                let j = i + length;
                if length == 1 || length == n || keep(i, j) {
                    self.numbers[i * (n + 1) + j] = self.ends.len() as u32;
                    self.ends.push((i as u32, j as u32));
                }
            }
        }
    }

    /// How many words.
    pub fn n_words(&self) -> usize {
        self.n
    }

    /// How many spans.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none: no words.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The words of a span, as (first, one after the last).
    #[inline]
    pub fn words(&self, span: usize) -> (usize, usize) {
        let (i, j) = self.ends[span];
        (i as usize, j as usize)
    }

    /// The number of a span.
    #[inline]
    pub fn number(&self, i: usize, j: usize) -> Option<usize> {
        let number = *self.numbers.get(i * (self.n + 1) + j)?;
        (number != NONE).then_some(number as usize)
    }

    /// The two parts of a span, for each place where it can be split.
    #[inline]
    pub(crate) fn splits(&self, span: usize) -> impl Iterator<Item = (usize, usize)> {
        let (i, j) = self.words(span);
        let width = self.n + 1;
        let left = self.numbers[i * width + i + 1..i * width + j].iter();
        let right = self.numbers[(i + 1) * width..].iter().skip(j).step_by(width);
        let both = left.zip(right).filter(|&(&left, &right)| left != NONE && right != NONE);
        both.map(|(&left, &right)| (left as usize, right as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_numbers_and_parts() {
        let all = Spans::all(4);
        assert_eq!((all.len(), all.words(4), all.number(0, 4)), (10, (0, 2), Some(9)));
        let parts = |spans: &Spans, i, j| -> Vec<((usize, usize), (usize, usize))> {
            let span = spans.number(i, j).unwrap();
            spans.splits(span).map(|(a, b)| (spans.words(a), spans.words(b))).collect()
        };
        assert_eq!(parts(&all, 1, 4), [((1, 2), (2, 4)), ((1, 3), (3, 4))]);
        let mut some = Spans::default();
        some.fill(4, |i, j| (i, j) == (1, 4));
        assert_eq!(some.len(), 6);
        assert_eq!(parts(&some, 0, 4), [((0, 1), (1, 4))]);
        assert!(parts(&some, 1, 4).is_empty() && parts(&some, 0, 1).is_empty());
        assert!(Spans::all(0).is_empty());
    }
}
