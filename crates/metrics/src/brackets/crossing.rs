//! Whether a span crosses any gold one, without looking at each.
//!
//! A span (s, e) crosses a gold span (a, b) if s < a < e < b or a < s < b < e. So it crosses one if, among gold spans that start inside of it, some end is above e, or among
//! those that end inside of it, some start is below s. With the greatest end for each start, and the least start for each end, that is a maximum and a minimum over
//! a stretch of places, which sparse tables answer at once: level k has the best of each stretch of 2^k places, n log n numbers for n words.

/// Gold spans of a sentence.
pub(super) struct GoldSpans {
    /// By start: the greatest end, 0 without a span.
    ends: Vec<Vec<usize>>,
    /// By end: how far the least start is below the number of words; 0 without a span. So both tables are of maxima.
    starts: Vec<Vec<usize>>,
    n_words: usize,
}

impl GoldSpans {
    pub(super) fn new(n_words: usize, spans: impl Iterator<Item = (usize, usize)>) -> Self {
        let mut ends = vec![0; n_words + 1];
        let mut starts = vec![0; n_words + 1];
        for (start, end) in spans {
            ends[start] = ends[start].max(end);
            starts[end] = starts[end].max(n_words - start);
        }
        Self { ends: levels(ends), starts: levels(starts), n_words }
    }

    /// Whether some gold span crosses this one.
    pub(super) fn cross(&self, start: usize, end: usize) -> bool {
        // Places strictly inside.
        let (from, to) = (start + 1, end);
        from < to
            && (greatest(&self.ends, from, to) > end
                || greatest(&self.starts, from, to) > self.n_words - start)
    }
}

/// A sparse table.
fn levels(first: Vec<usize>) -> Vec<Vec<usize>> {
    let mut levels = vec![first];
    let mut width = 1;
    while let Some(last) = levels.last().filter(|last| last.len() > width) {
        let next = (0..last.len() - width).map(|at| last[at].max(last[at + width])).collect();
        levels.push(next);
        width *= 2;
    }
    levels
}

/// The greatest of the places `from..to`, which is not empty.
fn greatest(levels: &[Vec<usize>], from: usize, to: usize) -> usize {
    let k = (to - from).ilog2() as usize;
    levels[k][from].max(levels[k][to - (1 << k)])
}
