//! The documents of a query by rising score, and every pair of different grades in O(n log n).
//!
//! All pairs (i, j) with grade i > grade j are the union of few products: split the groups of grades in two, every document of the upper half with every one of the lower
//! half, and go on with either half. Splits keep the order by score, so that after one sort each level of the recursion costs one walk. Halves have about the same number of documents, and
//! the depth is at most about 2 log₂ n: a group of more than a third of its documents is alone after two more splits.

use crate::queries::Query;

/// A document in order.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Entry {
    pub(crate) score: f64,
    pub(crate) document: u32,
    pub(crate) group: u32,
}

/// Buffers for the order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sorted {
    entries: Vec<Entry>,
    spare: Vec<Entry>,
}

/// What to do with a product of pairs: all of `better` with all of `worse`, either by rising score.
pub(crate) trait Product {
    fn add(&mut self, better: &[Entry], worse: &[Entry]);
}

impl Sorted {
    /// Visits all pairs of different grades.
    pub(crate) fn each_product(
        &mut self,
        query: &Query<'_>,
        scores: &[f64],
        visit: &mut dyn Product,
    ) {
        self.sort(query, scores);
        self.spare.resize(self.entries.len(), Entry::default());
        split(&mut self.entries, &mut self.spare, query, 0..query.n_groups(), visit);
    }

    fn sort(&mut self, query: &Query<'_>, scores: &[f64]) {
        self.entries.clear();
        self.entries.extend(
            scores.iter().zip(query.group_of).zip(0..).map(|((&score, &group), document)| Entry {
                score,
                document,
                group,
            }),
        );
        // Ties by number: the same sums at any time.
        self.entries
            .sort_unstable_by(|a, b| a.score.total_cmp(&b.score).then(a.document.cmp(&b.document)));
    }
}

fn split(
    entries: &mut [Entry],
    spare: &mut [Entry],
    query: &Query<'_>,
    groups: std::ops::Range<usize>,
    visit: &mut dyn Product,
) {
    if groups.len() < 2 {
        return;
    }
    let first = query.places(groups.start).start;
    let half = (first + entries.len() / 2) as u32;
    let ends = &query.group_ends[groups.start..groups.end - 1];
    // The last end up to the half, or the next one if that is nearer.
    let after = ends.partition_point(|&end| end <= half).min(ends.len() - 1);
    let nearer = after > 0 && half - ends[after - 1] <= ends[after].abs_diff(half);
    let middle = groups.start + if nearer { after } else { after + 1 };
    let n_better = query.group_ends[middle - 1] as usize - first;

    let (mut at_better, mut at_worse) = (0, n_better);
    for entry in entries.iter() {
        let at = match (entry.group as usize) < middle {
            true => &mut at_better,
            false => &mut at_worse,
        };
        spare[*at] = *entry;
        *at += 1;
    }
    entries.copy_from_slice(spare);
    let (better, worse) = entries.split_at_mut(n_better);
    visit.add(better, worse);
    let (spare_better, spare_worse) = spare.split_at_mut(n_better);
    split(better, spare_better, query, groups.start..middle, visit);
    split(worse, spare_worse, query, middle..groups.end, visit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::Queries;
    use lineal_linalg::{Dense, Matrix, Rng};

    struct Collect(Vec<(u32, u32)>);

    impl Product for Collect {
        fn add(&mut self, better: &[Entry], worse: &[Entry]) {
            for list in [better, worse] {
                assert!(list.is_sorted_by(|a, b| a.score <= b.score));
            }
            for high in better {
                self.0.extend(worse.iter().map(|low| (high.document, low.document)));
            }
        }
    }

    #[test]
    fn products_are_all_pairs_once() {
        let mut rng = Rng::new(1);
        for n in 0..40 {
            for n_grades in [1, 2, 3, 7, 100] {
                let mut grade = || (rng.next_u64() % n_grades) as f32;
                let grades: Vec<f32> = (0..n).map(|_| grade()).collect();
                let scores: Vec<f64> = (0..n).map(|_| (rng.unit() * 8.0).floor()).collect();
                let x = Matrix::Dense(Dense::new(n, 0, vec![]).unwrap());
                let ends = [n];
                let queries = Queries::new(&x, &ends, &grades).unwrap();
                let mut found = Collect(Vec::new());
                Sorted::default().each_product(&queries.query(0), &scores, &mut found);
                found.0.sort_unstable();
                let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
                let all = all.filter(|&(i, j)| grades[i] > grades[j]);
                let all: Vec<(u32, u32)> = all.map(|(i, j)| (i as u32, j as u32)).collect();
                assert_eq!(found.0, all);
                assert_eq!(queries.query(0).n_pairs(), all.len() as f64);
            }
        }
    }
}
