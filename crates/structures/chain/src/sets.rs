//! Which labels may stand where: bitsets, and the grammar of a label set.

/// Rows of label sets, one bit per label: the labels allowed at each position, or those that may follow each label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelSets {
    n_labels: usize,
    words: usize,
    bits: Vec<u64>,
}

impl LabelSets {
    /// `n_rows` sets with every label in them.
    pub fn full(n_rows: usize, n_labels: usize) -> Self {
        let mut sets = Self::empty(0, n_labels);
        sets.reset(n_rows);
        sets
    }

    /// `n_rows` sets with no label in them.
    pub fn empty(n_rows: usize, n_labels: usize) -> Self {
        let words = n_labels.div_ceil(64);
        Self { n_labels, words, bits: vec![0; n_rows * words] }
    }

    /// Makes it `n_rows` full sets, keeping the memory.
    pub fn reset(&mut self, n_rows: usize) {
        self.bits.clear();
        for _ in 0..n_rows {
            for word in 0..self.words {
                let rest = self.n_labels - word * 64;
                self.bits.push(if rest >= 64 { u64::MAX } else { (1 << rest) - 1 });
            }
        }
    }

    /// How many labels there are to choose from.
    pub fn n_labels(&self) -> usize {
        self.n_labels
    }

    /// How many sets.
    pub fn n_rows(&self) -> usize {
        self.bits.len().checked_div(self.words).unwrap_or(0)
    }

    /// The words of a set: bit `l % 64` of word `l / 64` is label `l`.
    #[inline]
    pub fn row(&self, row: usize) -> &[u64] {
        &self.bits[row * self.words..(row + 1) * self.words]
    }

    /// Is the label in the set?
    #[inline]
    pub fn contains(&self, row: usize, label: usize) -> bool {
        debug_assert!(label < self.n_labels);
        self.bits[row * self.words + label / 64] >> (label % 64) & 1 == 1
    }

    /// Puts a label in.
    ///
    /// # Panics
    /// If there is no such label or row.
    pub fn insert(&mut self, row: usize, label: usize) {
        assert!(label < self.n_labels, "label {label} of {}", self.n_labels);
        self.bits[row * self.words + label / 64] |= 1 << (label % 64);
    }

    /// Takes a label out.
    ///
    /// # Panics
    /// If there is no such label or row.
    pub fn remove(&mut self, row: usize, label: usize) {
        assert!(label < self.n_labels, "label {label} of {}", self.n_labels);
        self.bits[row * self.words + label / 64] &= !(1 << (label % 64));
    }

    /// Leaves nothing but one label: a position whose label is known.
    ///
    /// # Panics
    /// If there is no such label or row.
    pub fn keep_only(&mut self, row: usize, label: usize) {
        self.clear(row);
        self.insert(row, label);
    }

    /// Takes every label out.
    pub fn clear(&mut self, row: usize) {
        self.bits[row * self.words..(row + 1) * self.words].fill(0);
    }

    /// The labels of a set, rising.
    pub fn labels(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        bits_of(self.row(row))
    }

    /// How many labels a set has.
    pub fn len(&self, row: usize) -> usize {
        self.row(row).iter().map(|w| w.count_ones() as usize).sum()
    }

    /// Has the set no label?
    pub fn is_empty(&self, row: usize) -> bool {
        self.row(row).iter().all(|&w| w == 0)
    }

    /// The words of all sets, one after the other.
    pub(crate) fn words(&self) -> &[u64] {
        &self.bits
    }

    /// Replaces all sets by those of these words; false, with nothing meant by what is left, if they are not as many or have labels that do not exist.
    pub(crate) fn set_words(&mut self, words: &[u64]) -> bool {
        if words.len() != self.bits.len() {
            return false;
        }
        self.bits.copy_from_slice(words);
        let last = self.n_labels - self.words.saturating_sub(1) * 64;
        let most = if last >= 64 { u64::MAX } else { (1 << last) - 1 };
        (0..self.n_rows()).all(|row| self.row(row).last().is_none_or(|&word| word & !most == 0))
    }

    /// Puts the labels of other sets in; false if they are not of the same rows and labels.
    pub(crate) fn unite(&mut self, other: &Self) -> bool {
        let fits = self.n_labels == other.n_labels && self.bits.len() == other.bits.len();
        if fits {
            self.bits.iter_mut().zip(&other.bits).for_each(|(own, other)| *own |= other);
        }
        fits
    }

    fn is_full(&self) -> bool {
        self.bits.iter().map(|w| w.count_ones() as usize).sum::<usize>()
            == self.n_labels * self.n_rows()
    }
}

/// The positions of the bits that are set, rising.
pub(crate) fn bits_of(words: &[u64]) -> impl Iterator<Item = usize> + '_ {
    words.iter().enumerate().flat_map(|(i, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(i * 64 + bit)
        })
    })
}

/// What may begin, end and follow what: the same for every sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grammar {
    next: LabelSets,
    start: LabelSets,
    end: LabelSets,
}

impl Grammar {
    /// Forbids nothing.
    pub fn free(n_labels: usize) -> Self {
        Self {
            next: LabelSets::full(n_labels, n_labels),
            start: LabelSets::full(1, n_labels),
            end: LabelSets::full(1, n_labels),
        }
    }

    /// Permits what the sets have: the labels that may follow each label, begin, and end.
    pub(crate) fn from_sets(next: LabelSets, start: LabelSets, end: LabelSets) -> Self {
        Self { next, start, end }
    }

    /// How many labels it speaks of.
    pub fn n_labels(&self) -> usize {
        self.next.n_labels()
    }

    /// Forbids `to` right after `from`.
    pub fn forbid(&mut self, from: usize, to: usize) {
        self.next.remove(from, to);
    }

    /// Forbids a label at the first position.
    pub fn forbid_start(&mut self, label: usize) {
        self.start.remove(0, label);
    }

    /// Forbids a label at the last position.
    pub fn forbid_end(&mut self, label: usize) {
        self.end.remove(0, label);
    }

    /// May `to` follow `from`?
    #[inline]
    pub fn permits(&self, from: usize, to: usize) -> bool {
        self.next.contains(from, to)
    }

    /// May a sequence begin with the label?
    #[inline]
    pub fn permits_start(&self, label: usize) -> bool {
        self.start.contains(0, label)
    }

    /// May a sequence end with the label?
    #[inline]
    pub fn permits_end(&self, label: usize) -> bool {
        self.end.contains(0, label)
    }

    /// The labels that may follow each label.
    pub fn next(&self) -> &LabelSets {
        &self.next
    }

    /// Whether nothing is forbidden.
    pub fn is_free(&self) -> bool {
        self.has_free_transitions() && self.start.is_full() && self.end.is_full()
    }

    /// Whether every label may follow every other.
    pub fn has_free_transitions(&self) -> bool {
        self.next.is_full()
    }

    pub(crate) fn start_row(&self) -> &[u64] {
        self.start.row(0)
    }

    pub(crate) fn end_row(&self) -> &[u64] {
        self.end.row(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_cross_the_border_of_a_word() {
        let mut sets = LabelSets::full(2, 70);
        assert_eq!((sets.len(0), sets.n_rows()), (70, 2));
        sets.keep_only(1, 66);
        assert_eq!(sets.labels(1).collect::<Vec<_>>(), [66]);
        sets.insert(1, 3);
        assert_eq!(sets.labels(1).collect::<Vec<_>>(), [3, 66]);
        sets.remove(1, 66);
        assert!(sets.contains(1, 3) && !sets.contains(1, 66) && sets.contains(0, 69));
        sets.clear(1);
        assert!(sets.is_empty(1) && !sets.is_empty(0));
    }

    #[test]
    fn a_grammar_knows_when_it_is_free() {
        let mut grammar = Grammar::free(65);
        assert!(grammar.is_free());
        grammar.forbid_end(64);
        assert!(!grammar.is_free() && grammar.has_free_transitions());
        grammar.forbid(64, 0);
        assert!(!grammar.permits(64, 0) && grammar.permits(0, 64) && !grammar.permits_end(64));
    }
}
