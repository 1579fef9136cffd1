//! Orders with the cost 1 − NDCG.
//!
//! With P pairs of different grades, discounts D₁ > D₂ > … (0 after the first k) and gains gᵢ over their ideal sum, the order that gives document i rank rᵢ has
//!
//! ```text
//! score(π) = (1/P) Σ over pairs ±(scoreᵢ − scoreⱼ)        cost(π) = 1 − Σᵢ D(rᵢ) gᵢ
//! ```
//!
//! with + for pairs in the order of their grades: the features of partial orders (Joachims 2002), for which equal grades in any order are the same, so that there is one gold output and the loss is
//! convex. (Discounts as features, Σ D(rᵢ) scoreᵢ, make the argmax a sort by scoreᵢ − gᵢ, but then documents of equal grade are pushed together, at a cost in accuracy: on MQ2008 NDCG@10 was
//! at best .70 in place of .72.)
//!
//! If document i is the qᵢ-th of its group of n_g, rᵢ − qᵢ documents of other grades are above it, so that its amount is (n − n_g − 2(rᵢ − qᵢ))/P: linear in its rank.
//! Score + cost is the sum of −(2/P) rᵢ scoreᵢ − D(rᵢ) gᵢ and of what no rank changes: an **assignment** of documents to ranks. In the best one each group is in the order of
//! its scores (swapping two documents of a group changes no cost), so that it remains to merge the groups:
//!
//! - **two groups, whole list**: if the j-th lower document passes the upper ones after the i-th, score + cost grows by (g − g′)(D(i + j) − D(R + j)) less 2/P times its distances to them, whatever the rest
//!   does, and as D is convex, [`interleave`] finds all places in n log n.
//! - **otherwise**: the first k ranks by dynamic programming over how many documents of each group they hold, Π (n_g + 1) states at most, each group's next document for the next rank; after rank k
//!   nothing costs anything, and the rest is sorted by score. With few grades and k = 10 only the sort grows with n.
//! - **many grades**: where the table would be too large, the Hungarian algorithm in n³, for lists of up to 512 documents.
//!
//! In longer lists k is cut to what fits the table. Taking no gain after the cut for certain makes every order cost more, so that the optimum of the cut problem is an upper bound of the true one, and the
//! order that attains it is returned with the bound.
//!
//! The loss is that of Chakrabarti, Khanna, Sawant, Bhattacharyya, *Structured learning for non-smooth ranking losses* (KDD 2008); the ways to merge are our own.

use super::interleave::interleave;
use crate::gain::{Gain, discount};
use crate::oracle::{Best, Buffers, Scored};
use crate::queries::Query;
use lineal_model::assignment::assign;

/// The most states of the table, 12 bytes each.
const MOST_STATES: f64 = (1 << 20) as f64;
/// The most steps of the table.
const MOST_STEPS: f64 = (1 << 24) as f64;
/// The longest list that goes to the Hungarian algorithm.
const LONGEST: usize = 512;

pub(super) fn prepare(
    query: &Query<'_>,
    k: Option<usize>,
    gain: Gain,
    grade: &dyn Fn(u32) -> f64,
    gold: &mut [f64],
    worth: &mut Vec<f64>,
) -> f64 {
    let start = worth.len();
    worth.resize(start + query.n(), 0.0);
    let worth = &mut worth[start..];
    if query.n_groups() < 2 || k == Some(0) || !gain.of_query(query, grade, worth) {
        return 0.0;
    }
    let ranked = query.by_grade.iter().take(k.unwrap_or(query.n())).enumerate();
    let ideal: f64 = ranked.map(|(rank, &d)| discount(rank) * worth[d as usize]).sum();
    worth.iter_mut().for_each(|worth| *worth /= ideal);
    let n_pairs = query.n_pairs();
    for group in 0..query.n_groups() {
        let places = query.places(group);
        let amount = ((query.n() - places.end) as f64 - places.start as f64) / n_pairs;
        query.group(group).iter().for_each(|&d| gold[d as usize] = amount);
    }
    1.0
}

pub(super) fn best(
    at: &Scored<'_>,
    k: Option<usize>,
    augmented: bool,
    s: &mut Buffers,
    amounts: &mut [f64],
) -> Best {
    let (query, n) = (&at.query, at.query.n());
    let k = k.unwrap_or(n).min(n);
    // Every group by falling score, and one order of all of them.
    let (by_group, order) = (&mut s.places, &mut s.order);
    by_group.clear();
    by_group.extend_from_slice(query.by_grade);
    let score = |document: u32| at.scores[document as usize];
    for group in 0..query.n_groups() {
        by_group[query.places(group)]
            .sort_unstable_by(|&a, &b| score(b).total_cmp(&score(a)).then(a.cmp(&b)));
    }
    let mut groups = Groups { at, by_group, k, order, slack: 0.0 };
    if !augmented {
        groups.merge_rest(&vec![0; query.n_groups()]);
    } else if query.n_groups() == 2 && k == n {
        groups.two();
    } else {
        groups.many();
    }
    let slack = groups.slack;

    let scale = 1.0 / query.n_pairs();
    let (mut counts, mut gained) = (vec![0.0; query.n_groups()], 0.0);
    for (rank, &document) in order.iter().enumerate() {
        let group = query.group_of[document as usize] as usize;
        let others = (n - query.places(group).len()) as f64;
        // Ranks and counts from 0: their difference is the number of others above.
        amounts[document as usize] = scale * (others - 2.0 * (rank as f64 - counts[group]));
        counts[group] += 1.0;
        gained += if rank < k { discount(rank) * at.worth[document as usize] } else { 0.0 };
    }
    // Rounding must not make a cost negative.
    Best { cost: (1.0 - gained).max(0.0), slack }
}

/// The groups of a query, to be merged into an order.
struct Groups<'g> {
    at: &'g Scored<'g>,
    /// As `by_grade`, every group by falling score.
    by_group: &'g [u32],
    k: usize,
    order: &'g mut Vec<u32>,
    /// How much more than the order that was found the best one may have.
    slack: f64,
}

impl Groups<'_> {
    fn score(&self, document: u32) -> f64 {
        self.at.scores[document as usize]
    }

    /// The `i`-th document of a group.
    fn document(&self, group: usize, i: usize) -> u32 {
        self.by_group[self.at.query.places(group).start + i]
    }

    /// Appends all documents after the first `taken` of each group by falling score, of equal ones the lower grade first.
    fn merge_rest(&mut self, taken: &[usize]) {
        let query = self.at.query;
        if taken.iter().all(|&taken| taken == 0) {
            self.order.clear();
        }
        let start = self.order.len();
        for (group, &taken) in taken.iter().enumerate() {
            let places = query.places(group);
            self.order.extend_from_slice(&self.by_group[places.start + taken..places.end]);
        }
        let key =
            |document: u32| (self.at.scores[document as usize], query.group_of[document as usize]);
        self.order[start..].sort_unstable_by(|&a, &b| {
            let (a_key, b_key) = (key(a), key(b));
            b_key.0.total_cmp(&a_key.0).then(b_key.1.cmp(&a_key.1)).then(a.cmp(&b))
        });
    }

    /// The best order of two groups.
    fn two(&mut self) {
        let query = self.at.query;
        let (upper, lower) = self.by_group.split_at(query.places(0).end);
        let worth = |list: &[u32]| self.at.worth[list[0] as usize];
        let worth = worth(upper) - worth(lower);
        let top = self.score(upper[0]).max(self.score(lower[0]));
        let mut sums = vec![0.0];
        for &document in upper {
            sums.push(sums[sums.len() - 1] + self.score(document) - top);
        }
        let n_pairs = upper.len() as f64 * lower.len() as f64;
        let discounts: Vec<f64> = (0..query.n() + 1).map(discount).collect();
        let mut above = vec![0; lower.len()];
        interleave(upper.len(), &mut above, &|j, i| {
            let count = (upper.len() - i) as f64;
            let lead = sums[upper.len()] - sums[i] - count * (self.score(lower[j]) - top);
            // Ranks from 0: those of the upper ones after the i-th were i + j … and become i + j + 1 ….
            worth * (discounts[i + j] - discounts[upper.len() + j]) - 2.0 / n_pairs * lead
        });
        self.order.clear();
        let mut next = 0;
        for (&document, &above) in lower.iter().zip(&above) {
            self.order.extend_from_slice(&upper[next..above as usize]);
            next = above as usize;
            self.order.push(document);
        }
        self.order.extend_from_slice(&upper[next..]);
    }

    /// The best order of any groups, or one with a bound.
    fn many(&mut self) {
        let (query, n) = (self.at.query, self.at.query.n());
        let sizes: Vec<usize> = (0..query.n_groups()).map(|g| query.places(g).len()).collect();
        let states = |k: usize| -> f64 { sizes.iter().map(|&n| n.min(k) as f64 + 1.0).product() };
        // Each state tries all groups; each last state, of which all groups but one can be chosen, sorts k places.
        let largest = |k: usize| sizes.iter().map(|&n| n.min(k) + 1).max().unwrap_or(1) as f64;
        let steps = |k: usize| states(k) * (sizes.len() as f64 + 8.0 * k as f64 / largest(k));
        let fits = |k: usize| states(k) <= MOST_STATES && steps(k) <= MOST_STEPS;
        let cube = (n as f64).powi(3);
        if fits(self.k) && (steps(self.k) <= cube || n > LONGEST) {
            self.table(self.k, &sizes);
        } else if n <= LONGEST {
            let scale = 2.0 / query.n_pairs();
            let top = self.top();
            *self.order = assign(n, &|document, rank| {
                let gained = if rank < self.k { discount(rank) } else { 0.0 };
                -scale * rank as f64 * (self.at.scores[document] - top)
                    - gained * self.at.worth[document]
            });
        } else {
            // The longest cut that fits; states grow with k.
            let (mut low, mut high) = (0, self.k);
            while low + 1 < high {
                let middle = (low + high) / 2;
                if fits(middle) { low = middle } else { high = middle }
            }
            self.table(low, &sizes);
        }
    }

    /// The greatest score.
    fn top(&self) -> f64 {
        self.at.scores.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The best order whose ranks after the first k cost nothing, by dynamic programming. A state is how many documents of each group the first ranks hold, in mixed radix.
    fn table(&mut self, k: usize, sizes: &[usize]) {
        let query = self.at.query;
        // All documents by score, for what follows the first k.
        self.merge_rest(&vec![0; sizes.len()]);
        if k > 0 {
            let all = std::mem::take(self.order);
            let (first, taken) = self.best_first(k, sizes, &all);
            *self.order = first;
            self.merge_rest(&taken);
        }
        // What the ranks after the cut gain is what the bound does not know of.
        let cut = self.order.iter().enumerate().take(self.k).skip(k);
        self.slack = cut.map(|(rank, &d)| discount(rank) * self.at.worth[d as usize]).sum();
        debug_assert_eq!(self.order.len(), query.n());
    }

    /// The first k documents of the best order, and how many of each group they are.
    fn best_first(&self, k: usize, sizes: &[usize], all: &[u32]) -> (Vec<u32>, Vec<usize>) {
        let query = self.at.query;
        let radix: Vec<usize> = sizes.iter().map(|&size| size.min(k) + 1).collect();
        let mut strides = vec![1; radix.len()];
        for group in 1..radix.len() {
            strides[group] = strides[group - 1] * radix[group - 1];
        }
        let scale = 2.0 / query.n_pairs();
        let top = self.top();
        let value =
            |rank: usize, document: u32| -scale * rank as f64 * (self.score(document) - top);
        let worth: Vec<f64> =
            (0..radix.len()).map(|g| self.at.worth[self.document(g, 0) as usize]).collect();

        // The rest by score: sums of scores, and of scores times places, up to each place.
        let mut sums = vec![(0.0, 0.0)];
        let mut place_of = vec![0; all.len()];
        for (place, &document) in all.iter().enumerate() {
            let (sum, by_place) = sums[place];
            let score = self.score(document) - top;
            sums.push((sum + score, by_place + place as f64 * score));
            place_of[document as usize] = place;
        }
        // Between the places of those taken the rest closes up: after t of them, the document at place p has rank p + k − t.
        let mut taken_places = Vec::with_capacity(k);
        let mut rest = |counts: &[usize]| {
            taken_places.clear();
            for (group, &count) in counts.iter().enumerate() {
                let documents = (0..count).map(|i| self.document(group, i));
                taken_places.extend(documents.map(|document| place_of[document as usize]));
            }
            taken_places.sort_unstable();
            let (mut sum, mut start) = (0.0, 0);
            for t in 0..=k {
                let end = taken_places.get(t).copied().unwrap_or(all.len());
                let scores = sums[end].0 - sums[start].0;
                sum += sums[end].1 - sums[start].1 + (k - t) as f64 * scores;
                start = (end + 1).min(all.len());
            }
            -scale * sum
        };

        let n_states: usize = radix.iter().product();
        let mut best = vec![f64::NEG_INFINITY; n_states];
        let mut last = vec![0u32; n_states];
        let mut counts = vec![0; radix.len()];
        let mut end = (f64::NEG_INFINITY, 0);
        best[0] = 0.0;
        for state in 0..n_states {
            let total: usize = counts.iter().sum();
            if 0 < total && total <= k {
                let rank = total - 1;
                for group in (0..radix.len()).filter(|&group| counts[group] > 0) {
                    let document = self.document(group, counts[group] - 1);
                    let own = value(rank, document) - discount(rank) * worth[group];
                    let sum = best[state - strides[group]] + own;
                    if sum > best[state] {
                        (best[state], last[state]) = (sum, group as u32);
                    }
                }
            }
            if total == k {
                let sum = best[state] + rest(&counts);
                if sum > end.0 {
                    end = (sum, state);
                }
            }
            // The next state.
            for group in 0..radix.len() {
                counts[group] += 1;
                if counts[group] < radix[group] {
                    break;
                }
                counts[group] = 0;
            }
        }
        // Back from the best end.
        let count = |state: usize, group: usize| state / strides[group] % radix[group];
        let taken: Vec<usize> = (0..radix.len()).map(|g| count(end.1, g)).collect();
        let (mut state, mut first) = (end.1, Vec::with_capacity(k));
        while state > 0 {
            let group = last[state] as usize;
            // A state that nothing reached: scores that are not numbers.
            let Some(i) = count(state, group).checked_sub(1) else { break };
            first.push(self.document(group, i));
            state -= strides[group];
        }
        first.reverse();
        match first.len() == k {
            true => (first, taken),
            false => (Vec::new(), vec![0; sizes.len()]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::Queries;
    use lineal_linalg::{Dense, Matrix, Rng};
    use lineal_model::assignment::assign;

    /// Score + cost of an order, from the pairs.
    fn value(at: &Scored<'_>, k: usize, order: &[u32]) -> f64 {
        let (mut sum, mut cost) = (0.0, 1.0);
        for (rank, &above) in order.iter().enumerate() {
            cost -= if rank < k { discount(rank) * at.worth[above as usize] } else { 0.0 };
            for &below in &order[rank + 1..] {
                let [a, b] = [above as usize, below as usize];
                // In the right order + (better − worse), in the wrong one − (better − worse): both times what is above less what is below.
                if at.query.group_of[a] != at.query.group_of[b] {
                    sum += at.scores[a] - at.scores[b];
                }
            }
        }
        sum / at.query.n_pairs() + cost
    }

    /// The ways to merge groups agree where several apply, and a cut gives a bound.
    #[test]
    fn all_ways_find_the_best_order() {
        let mut rng = Rng::new(11);
        for case in 0..200u64 {
            let (n, n_grades) = (2 + (case % 24) as usize, 2 + case % 4);
            let mut grades: Vec<f32> = (0..n).map(|_| (rng.next_u64() % n_grades) as f32).collect();
            (grades[0], grades[1]) = (0.0, 1.0);
            let size = [0.1, 1.0, 10.0][case as usize % 3];
            let scores: Vec<f64> = (0..n).map(|_| size * rng.unit()).collect();
            let x = Matrix::Dense(Dense::new(n, 0, vec![]).unwrap());
            let ends = [n];
            let queries = Queries::new(&x, &ends, &grades).unwrap();
            let query = queries.query(0);
            let grade = |document: u32| f64::from(grades[document as usize]);
            for k in [n, 1 + n / 2, 2] {
                let (mut gold, mut worth) = (vec![0.0; n], Vec::new());
                prepare(&query, Some(k), Gain::Exponential, &grade, &mut gold, &mut worth);
                let at = Scored { query, scores: &scores, gold: &gold, worth: &worth };
                let mut by_group = query.by_grade.to_vec();
                for group in 0..query.n_groups() {
                    by_group[query.places(group)]
                        .sort_by(|&a, &b| scores[b as usize].total_cmp(&scores[a as usize]));
                }
                let sizes: Vec<usize> =
                    (0..query.n_groups()).map(|g| query.places(g).len()).collect();
                let run = |way: &dyn Fn(&mut Groups<'_>)| {
                    let mut order = Vec::new();
                    let by_group = &by_group;
                    let mut groups = Groups { at: &at, by_group, k, order: &mut order, slack: 0.0 };
                    way(&mut groups);
                    let slack = groups.slack;
                    (value(&at, k, &order), slack)
                };
                let (best, slack) = run(&|groups| groups.table(k, &sizes));
                assert_eq!(slack, 0.0);
                let scale = 2.0 / query.n_pairs();
                let by_assignment = run(&|groups| {
                    *groups.order = assign(n, &|document, rank| {
                        let gained = if rank < k { discount(rank) } else { 0.0 };
                        -scale * rank as f64 * scores[document] - gained * worth[document]
                    });
                });
                assert!((by_assignment.0 - best).abs() < 1e-9, "{by_assignment:?} {best}");
                if query.n_groups() == 2 && k == n {
                    let by_two = run(&|groups| groups.two());
                    assert!((by_two.0 - best).abs() < 1e-9, "{by_two:?} {best}");
                }
                for cut in 0..k {
                    let (found, slack) = run(&|groups| groups.table(cut, &sizes));
                    assert!(found <= best + 1e-9 && best <= found + slack + 1e-9, "{k} {cut}");
                }
            }
        }
    }
}
