//! Ways to make a code. All are deterministic: randomness comes from a seed.

use super::{BitRows, Code, canonical, check_size};
use crate::{Error, duels::pairs};
use rand::{Rng, RngExt, SeedableRng, seq::index};
use rand_pcg::Pcg64Mcg;
use std::collections::HashSet;

/// Word operations that a search for a good random code may spend: a fraction of a second.
const BUDGET: usize = 30_000_000;

/// Random words among which a greedy code picks each of its codewords.
const CANDIDATES: usize = 64;

impl Code {
    /// One column a class, + for it and − for all others; d = 2. Of two classes one column: the other is its
    /// complement.
    pub fn one_vs_all(n_classes: usize) -> Result<Self, Error> {
        let n_columns = if n_classes == 2 { 1 } else { n_classes };
        Self::by_entry(n_classes, n_columns, |class, column| if class == column { 1 } else { -1 })
    }

    /// One column a pair of classes a < b in the order (0,1), (0,2), …, + for a and − for b; d = 1.
    pub fn one_vs_one(n_classes: usize) -> Result<Self, Error> {
        let pairs = pairs(n_classes)?;
        Self::by_entry(n_classes, pairs.len(), |class, column| {
            let (a, b) = pairs[column];
            i8::from(class as u32 == a) - i8::from(class as u32 == b)
        })
    }

    /// All 2^(K−1) − 1 different columns without zeros, for 2 to 12 classes; d = 2^(K−2) for K > 2.
    pub fn exhaustive(n_classes: usize) -> Result<Self, Error> {
        const MAX: usize = 12;
        if n_classes > MAX {
            let remedy = format!("2^{} columns; it is for at most {MAX} classes", n_classes - 1);
            return Err(Error::Size { what: "an exhaustive code", n_classes, remedy });
        }
        check_size(n_classes, 1)?;
        Self::by_entry(n_classes, (1 << (n_classes - 1)) - 1, |class, column| {
            numbered_column(column + 1, class)
        })
    }

    /// Rows of Sylvester's Hadamard matrix of order n, the power of two from K up, without its constant column: n − 1
    /// columns, and all codewords at the same distance, d = n/2. No code of as many columns and n classes does better.
    pub fn hadamard(n_classes: usize) -> Result<Self, Error> {
        check_size(n_classes, 1)?;
        let order = n_classes.checked_next_power_of_two().unwrap_or(usize::MAX);
        // Rows 1, 2, 4, … are among the K, and row 0 is all +: no two columns agree or are complements on them.
        Self::by_entry(n_classes, order - 1, |class, column| {
            if (class & (column + 1)).count_ones() % 2 == 0 { 1 } else { -1 }
        })
    }

    /// Random columns of + and −, all different; of several draws the one of the largest minimum distance.
    pub fn random_dense(n_classes: usize, n_columns: usize, seed: u64) -> Result<Self, Error> {
        check_size(n_classes, n_columns)?;
        check_columns("a dense code", n_classes, n_columns, max_dense(n_classes))?;
        best_draw("a random dense code", n_classes, n_columns, 1, seed, |rng| {
            if n_classes <= 16 {
                let numbers = index::sample(rng, (1 << (n_classes - 1)) - 1, n_columns);
                let column =
                    |number| (0..n_classes).map(|k| numbered_column(number + 1, k)).collect();
                return Some(numbers.iter().map(column).collect());
            }
            distinct_columns(n_columns, || {
                (0..n_classes).map(|_| if rng.random() { 1 } else { -1 }).collect()
            })
        })
    }

    /// Random columns, each entry 0 with probability ½ and + or − with ¼; of several draws the one of the largest
    /// minimum distance. Half as many rows a column as a dense code.
    pub fn random_sparse(n_classes: usize, n_columns: usize, seed: u64) -> Result<Self, Error> {
        check_size(n_classes, n_columns)?;
        check_columns("a sparse code", n_classes, n_columns, max_sparse(n_classes))?;
        best_draw("a random sparse code", n_classes, n_columns, 1, seed, |rng| {
            distinct_columns(n_columns, || {
                (0..n_classes).map(|_| [0, 0, 1, -1][rng.random_range(0..4)]).collect()
            })
        })
    }

    /// Codewords of + and − chosen one after the other, each the farthest from all before it among random candidates;
    /// usually a larger minimum distance than [`random_dense`](Self::random_dense) of as many columns.
    pub fn greedy(n_classes: usize, n_columns: usize, seed: u64) -> Result<Self, Error> {
        check_size(n_classes, n_columns)?;
        check_columns("a greedy code", n_classes, n_columns, max_dense(n_classes))?;
        best_draw("a greedy code", n_classes, n_columns, CANDIDATES, seed, |rng| {
            let words = farthest_words(n_classes, n_columns, rng);
            let bit = |word: &[u64], l: usize| word[l / 64] >> (l % 64) & 1 == 1;
            let mut drawn = 0..n_columns;
            // The greedy columns first; where one is constant or a repetition, a random one takes its place.
            distinct_columns(n_columns, || match drawn.next() {
                Some(l) => words.iter().map(|word| if bit(word, l) { 1 } else { -1 }).collect(),
                None => (0..n_classes).map(|_| if rng.random() { 1 } else { -1 }).collect(),
            })
        })
    }

    /// A usual number of columns for a dense code, ⌈10 log₂ K⌉, or all that there are.
    pub fn usual_dense_columns(n_classes: usize) -> usize {
        usual(10.0, n_classes, max_dense(n_classes))
    }

    /// A usual number of columns for a sparse code, ⌈15 log₂ K⌉, or all that there are.
    pub fn usual_sparse_columns(n_classes: usize) -> usize {
        usual(15.0, n_classes, max_sparse(n_classes))
    }

    fn by_entry(
        n_classes: usize,
        n_columns: usize,
        entry: impl Fn(usize, usize) -> i8,
    ) -> Result<Self, Error> {
        check_size(n_classes, n_columns)?;
        let entry = &entry;
        let entries =
            (0..n_classes).flat_map(|k| (0..n_columns).map(move |l| entry(k, l))).collect();
        Self::new(n_classes, n_columns, entries)
    }
}

/// Entry of a class in the `number`-th column without zeros, from 1: class 0 is +, class k is − where bit k − 1 is set.
fn numbered_column(number: usize, class: usize) -> i8 {
    if class > 0 && number >> (class - 1) & 1 == 1 { -1 } else { 1 }
}

/// How many different columns without zeros there are, complements and constants not counted: 2^(K−1) − 1.
fn max_dense(n_classes: usize) -> usize {
    match n_classes {
        0 => 0,
        1..=32 => (1 << (n_classes - 1)) - 1,
        _ => usize::MAX,
    }
}

/// The same with zeros: (3^K − 2^(K+1) + 1)/2.
fn max_sparse(n_classes: usize) -> usize {
    match n_classes {
        0 => 0,
        1..=20 => (3usize.pow(n_classes as u32) + 1 - (1 << (n_classes + 1))) / 2,
        _ => usize::MAX,
    }
}

fn usual(times: f64, n_classes: usize, max: usize) -> usize {
    ((times * (n_classes as f64).log2()).ceil() as usize).min(max)
}

/// Refuses more columns than there are, and fewer than K codewords need.
fn check_columns(
    what: &'static str,
    n_classes: usize,
    n_columns: usize,
    max: usize,
) -> Result<(), Error> {
    let refuse = |remedy| Err(Error::Size { what, n_classes, remedy });
    if n_columns > max {
        return refuse(format!("there are only {max} different columns, not {n_columns}"));
    }
    let words = if what == "a sparse code" { 3f64 } else { 2f64 };
    if words.powf(n_columns as f64) < n_classes as f64 {
        return refuse(format!("{n_columns} columns give too few codewords; ask for more"));
    }
    Ok(())
}

/// Draws up to 100 codes, as the budget allows, and keeps the first of the largest minimum distance. A draw costs about
/// `effort` times what its distance costs.
fn best_draw(
    what: &'static str,
    n_classes: usize,
    n_columns: usize,
    effort: usize,
    seed: u64,
    mut draw: impl FnMut(&mut Pcg64Mcg) -> Option<Vec<Vec<i8>>>,
) -> Result<Code, Error> {
    let mut rng = Pcg64Mcg::seed_from_u64(seed);
    let work = [n_classes, n_classes, n_columns.div_ceil(64), effort];
    let work = work.into_iter().fold(1, usize::saturating_mul);
    let mut n_draws = (BUDGET / work).clamp(1, 100);
    let mut best: Option<(i64, Code)> = None;
    // Where the budget is for one draw it may still take a few to get a valid one.
    for _ in 0..n_draws.max(10) {
        let Some(columns) = draw(&mut rng) else { continue };
        let Ok(code) = Code::by_entry(n_classes, n_columns, |k, l| columns[l][k]) else { continue };
        if n_draws == 1 && best.is_none() {
            return Ok(code);
        }
        let distance = BitRows::new(&code).min_half_distance();
        if best.as_ref().is_none_or(|(largest, _)| distance > *largest) {
            best = Some((distance, code));
        }
        n_draws -= 1;
        if n_draws == 0 {
            break;
        }
    }
    best.map(|(_, code)| code).ok_or_else(|| {
        let remedy = format!("no draw of {n_columns} columns told all classes apart; ask for more");
        Error::Size { what, n_classes, remedy }
    })
}

/// Draws columns and keeps those that have both signs and do not repeat another. `None` if that takes too long.
fn distinct_columns(n_columns: usize, mut draw: impl FnMut() -> Vec<i8>) -> Option<Vec<Vec<i8>>> {
    let mut known = HashSet::with_capacity(n_columns);
    let mut columns = Vec::with_capacity(n_columns);
    for _ in 0..1000 + 100 * n_columns {
        let mut column = draw();
        if canonical(&mut column) && known.insert(column.clone()) {
            columns.push(column);
            if columns.len() == n_columns {
                return Some(columns);
            }
        }
    }
    None
}

/// K words of L bits, each the one of up to [`CANDIDATES`] random words with the largest distance to the nearest word before.
fn farthest_words(n_classes: usize, n_columns: usize, rng: &mut impl Rng) -> Vec<Vec<u64>> {
    let n_words = n_columns.div_ceil(64);
    let unused = (64 - n_columns % 64) % 64;
    let n_candidates = (BUDGET / (n_classes * n_classes * n_words)).clamp(1, CANDIDATES);
    let mut words: Vec<Vec<u64>> = Vec::with_capacity(n_classes);
    for _ in 0..n_classes {
        let mut best: Option<(u32, Vec<u64>)> = None;
        for _ in 0..n_candidates {
            let mut word: Vec<u64> = (0..n_words).map(|_| rng.next_u64()).collect();
            word[n_words - 1] >>= unused;
            let apart =
                |other: &Vec<u64>| other.iter().zip(&word).map(|(a, b)| (a ^ b).count_ones()).sum();
            let rivals = if n_candidates > 1 { &words[..] } else { &[] };
            let nearest: u32 = rivals.iter().map(apart).min().unwrap_or(0);
            if best.as_ref().is_none_or(|(farthest, _)| nearest > *farthest) {
                best = Some((nearest, word));
            }
        }
        words.extend(best.map(|(_, word)| word));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_the_theory() {
        for k in 3..=9 {
            assert_eq!(Code::one_vs_all(k).unwrap().min_distance(), 2);
            assert_eq!(Code::one_vs_one(k).unwrap().min_distance(), 1);
            let exhaustive = Code::exhaustive(k).unwrap();
            assert_eq!(exhaustive.n_columns(), (1 << (k - 1)) - 1);
            assert_eq!(exhaustive.min_distance(), 1 << (k - 2));
            let hadamard = Code::hadamard(k).unwrap();
            assert_eq!(hadamard.n_columns(), k.next_power_of_two() - 1);
            assert_eq!(hadamard.min_distance(), k.next_power_of_two() / 2);
            assert_eq!(hadamard.corrects(), (k.next_power_of_two() / 2 - 1) / 2);
        }
        assert_eq!(Code::one_vs_all(2).unwrap().n_columns(), 1);
        assert_eq!(Code::exhaustive(2).unwrap().n_columns(), 1);
        assert_eq!(Code::hadamard(2).unwrap().n_columns(), 1);
    }

    #[test]
    fn random_codes_follow_their_seed() {
        for k in [2, 3, 4, 5, 10, 17, 40, 300] {
            let dense = Code::random_dense(k, Code::usual_dense_columns(k), 7).unwrap();
            assert_eq!(dense, Code::random_dense(k, dense.n_columns(), 7).unwrap());
            let sparse = Code::random_sparse(k, Code::usual_sparse_columns(k), 7).unwrap();
            assert_eq!(sparse, Code::random_sparse(k, sparse.n_columns(), 7).unwrap());
            let greedy = Code::greedy(k, dense.n_columns(), 7).unwrap();
            assert_eq!(greedy, Code::greedy(k, dense.n_columns(), 7).unwrap());
            assert!(dense.entries.iter().chain(&greedy.entries).all(|&entry| entry != 0));
        }
        assert_ne!(Code::random_dense(10, 30, 1).unwrap(), Code::random_dense(10, 30, 2).unwrap());
    }

    #[test]
    fn greedy_words_lie_farther_apart_than_random_ones() {
        for (k, l) in [(16, 31), (26, 48), (100, 67)] {
            let greedy = Code::greedy(k, l, 3).unwrap().min_distance();
            let random = Code::random_dense(k, l, 3).unwrap().min_distance();
            assert!(greedy > random, "K = {k}, L = {l}: {greedy} and {random}");
        }
    }

    #[test]
    fn impossible_codes_are_refused_with_a_remedy() {
        let said = |code: Result<Code, Error>| code.unwrap_err().to_string();
        assert!(said(Code::exhaustive(13)).contains("at most 12"));
        assert!(said(Code::random_dense(4, 8, 1)).contains("only 7 different columns"));
        assert!(said(Code::random_dense(20, 4, 1)).contains("too few codewords"));
        assert!(said(Code::random_dense(1000, 10, 1)).contains("ask for more"));
        assert!(said(Code::random_sparse(3, 7, 1)).contains("only 6 different columns"));
        assert!(said(Code::hadamard(usize::MAX)).contains("ask for fewer"));
        assert!(said(Code::one_vs_one(1000)).contains("ask for fewer"));
        for k in [0, 1] {
            assert!(Code::one_vs_all(k).is_err() && Code::one_vs_one(k).is_err());
            assert!(Code::exhaustive(k).is_err() && Code::hadamard(k).is_err());
            assert!(Code::random_dense(k, 1, 1).is_err() && Code::greedy(k, 1, 1).is_err());
        }
    }
}
