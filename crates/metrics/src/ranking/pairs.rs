//! Pairs in the right order, counted in n log n.
//!
//! Documents come by rising score. For each, a Fenwick tree over the ranks of grades (Fenwick 1994) tells how many of those with lower scores have a lower grade.

/// How many pairs of different grades are in the right order, those of equal scores counting half, and how many there are. `order` has the documents by
/// falling score.
pub(super) fn right_pairs(grades: &[f64], scores: &[f64], order: &[usize]) -> (f64, u64) {
    let mut distinct = grades.to_vec();
    distinct.sort_unstable_by(f64::total_cmp);
    let same_grade: u64 = distinct.chunk_by(|a, b| a == b).map(|run| pairs_of(run.len())).sum();
    distinct.dedup();
    let pairs = pairs_of(grades.len()) - same_grade;
    if pairs == 0 {
        return (0.0, 0);
    }
    let mut below = Counts(vec![0; distinct.len()]);
    let mut doubled = 0;
    let mut run_grades = Vec::new();
    for run in order.chunk_by(|&a, &b| scores[a] == scores[b]).rev() {
        run_grades.clear();
        run_grades.extend(run.iter().map(|&i| distinct.partition_point(|&g| g < grades[i])));
        doubled += 2 * run_grades.iter().map(|&rank| below.before(rank)).sum::<u64>();
        run_grades.sort_unstable();
        let same: u64 = run_grades.chunk_by(|a, b| a == b).map(|run| pairs_of(run.len())).sum();
        doubled += pairs_of(run.len()) - same;
        run_grades.iter().for_each(|&rank| below.add(rank));
    }
    (doubled as f64 / 2.0, pairs)
}

fn pairs_of(n: usize) -> u64 {
    let n = n as u64;
    n * n.saturating_sub(1) / 2
}

/// How many of each rank there are, as sums over stretches of ranks.
struct Counts(Vec<u64>);

impl Counts {
    fn add(&mut self, rank: usize) {
        let mut at = rank + 1;
        while let Some(count) = self.0.get_mut(at - 1) {
            *count += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// How many there are below a rank.
    fn before(&self, rank: usize) -> u64 {
        let (mut at, mut sum) = (rank, 0);
        while at > 0 {
            sum += self.0[at - 1];
            at &= at - 1;
        }
        sum
    }
}
