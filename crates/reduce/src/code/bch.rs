//! Binary primitive BCH codes as code matrices: K words of an algebraic code whose distance is known beforehand.
//!
//! Bose and Ray-Chaudhuri 1960, Hocquenghem 1959; Dietterich and Bakiri, JAIR 1995, section 2.3.4, took them for many classes. With α a
//! primitive element of GF(2^m) and n = 2^m − 1, the words are the c ∈ {0,1}ⁿ with Σ_j c_j α^(ij) = 0 for δ − 1 consecutive i, which makes
//! any two of them differ in δ places at least: the *designed distance*. All words are sums of
//!
//! ```text
//! c_j = Tr(β α^(sj)),   Tr(x) = x + x² + x⁴ + … ∈ {0, 1},
//! ```
//!
//! one s a cyclotomic coset {s, 2s, 4s, …} mod n whose negatives are not among those i, and β from a basis of the coset's field.
//!
//! Words are taken so that the columns stay apart: first 0, so that no column is another's complement, then the m words of
//! s = 1, on which column j has the bits of α^j (in the dual basis): all different, and none 0. That takes K > m. Then the
//! others of s = 1, the simplex code, all 2^(m−1) apart, then sums with the next cosets.

use super::{Code, check_size};
use crate::Error;

/// Primitive polynomials of degree 3 to 12, bit i the coefficient of xⁱ.
const PRIMITIVE: [u32; 10] = [0xB, 0x13, 0x25, 0x43, 0x89, 0x11D, 0x211, 0x409, 0x805, 0x1053];

impl Code {
    /// K words of the binary primitive BCH code of `n_columns` = 2^m − 1 columns, m from 3 to 12, with the largest designed
    /// distance ([`bch_distance`](Self::bch_distance)) that has as many words. It takes more than m classes.
    pub fn bch(n_classes: usize, n_columns: usize) -> Result<Self, Error> {
        check_size(n_classes, n_columns)?;
        let (field, design) = Design::new(n_classes, n_columns)?;
        let basis = design.basis(&field);
        let rows: Vec<Vec<i8>> = word_numbers(field.m, n_classes)
            .map(|number| {
                let chosen = basis.iter().enumerate().filter(|(i, _)| number >> i & 1 == 1);
                let mut row = vec![1; n_columns];
                for (_, word) in chosen {
                    row.iter_mut().zip(word).filter(|(_, bit)| **bit).for_each(|(e, _)| *e = -*e);
                }
                row
            })
            .collect();
        Self::from_rows(&rows)
    }

    /// The distance that two rows of [`bch`](Self::bch) have at least; their actual minimum may be larger.
    pub fn bch_distance(n_classes: usize, n_columns: usize) -> Result<usize, Error> {
        Ok(Design::new(n_classes, n_columns)?.1.distance)
    }

    /// A usual number of columns for a BCH code: the first 2^m − 1 from ⌈5 log₂ K⌉ up, fewer where K ≤ m forbids that. From
    /// 4 classes up.
    pub fn usual_bch_columns(n_classes: usize) -> usize {
        let wanted = (5.0 * (n_classes as f64).log2()).ceil() as usize;
        let m = (3..12).find(|m| (1 << m) > wanted).unwrap_or(12);
        (1 << m.min(n_classes.saturating_sub(1)).max(3)) - 1
    }
}

/// 0, then 1, 2, 4, … 2^(m−1), then all other numbers, rising.
fn word_numbers(m: usize, n_words: usize) -> impl Iterator<Item = usize> {
    let first = [0].into_iter().chain((0..m).map(|i| 1 << i));
    let others = (3usize..).filter(move |&i| !i.is_power_of_two() || i >= 1 << m);
    first.chain(others).take(n_words)
}

/// Which words a code has.
struct Design {
    distance: usize,
    /// The s of words, the least of its coset each, 1 first.
    cosets: Vec<usize>,
}

impl Design {
    fn new(n_classes: usize, n_columns: usize) -> Result<(Field, Self), Error> {
        let refuse = |remedy: String| Err(Error::Size { what: "a BCH code", n_classes, remedy });
        let m = (n_columns.saturating_add(1)).trailing_zeros() as usize;
        if n_columns.saturating_add(1) != 1 << m || !(3..=12).contains(&m) {
            return refuse(format!("it has 7, 15, 31, … or 4095 columns, not {n_columns}"));
        }
        if n_classes <= m {
            return refuse(format!("{n_columns} columns need {} classes; ask for fewer", m + 1));
        }
        let field = Field::new(m);
        // Zeros at 0, 1, 2, … or at 1, 2, …; the first have one word fewer a bit, and are one farther apart.
        let designs = [0, 1].into_iter().filter_map(|from| Self::farthest(&field, from, n_classes));
        match designs.max_by_key(|design| design.distance) {
            Some(design) => Ok((field, design)),
            None => refuse(format!("{n_columns} columns have too few words; ask for more")),
        }
    }

    /// The longest run of zeros from α^from up that leaves enough words.
    fn farthest(field: &Field, from: usize, n_classes: usize) -> Option<Self> {
        let n = field.n;
        let mut is_zero = vec![false; n];
        let mut best = None;
        for i in from..n - 1 {
            let mut conjugate = i;
            while !is_zero[conjugate] {
                is_zero[conjugate] = true;
                conjugate = 2 * conjugate % n;
            }
            // Word s has nonzeros at the coset of −s.
            let may = |s: usize| !is_zero[(n - s) % n];
            let dimension = (0..n).filter(|&s| may(s)).count();
            let enough = dimension >= usize::BITS as usize || 1 << dimension >= n_classes;
            if !(may(1) && enough) {
                break;
            }
            let distance = i - from + 2;
            if distance >= 3 {
                best = Some((distance, is_zero.clone()));
            }
        }
        let (distance, is_zero) = best?;
        let least = |&s: &usize| field.coset(s).all(|t| s <= t);
        // The all-ones word, s = 0, last.
        let cosets = (1..n).chain([0]).filter(least).filter(|s| !is_zero[(n - s) % n]).collect();
        Some(Self { distance, cosets })
    }

    /// Words whose sums are all words: of each coset as many as it has members.
    fn basis(&self, field: &Field) -> Vec<Vec<bool>> {
        let mut basis = Vec::new();
        for &s in &self.cosets {
            // β = α^(si) for i below the coset's size: powers of α^s are a basis of the field that α^s generates.
            for i in 0..field.coset(s).count() {
                let word = (0..field.n).map(|j| field.trace(s * (i + j), field.coset(s).count()));
                basis.push(word.collect());
            }
        }
        basis
    }
}

/// GF(2^m): powers of α as polynomials in α, bit i the coefficient of αⁱ.
struct Field {
    m: usize,
    n: usize,
    power: Vec<u32>,
}

impl Field {
    fn new(m: usize) -> Self {
        let n = (1 << m) - 1;
        let next = |x: &u32| {
            let x = x << 1;
            Some(if x >> m & 1 == 1 { x ^ PRIMITIVE[m - 3] } else { x })
        };
        Self { m, n, power: std::iter::successors(Some(1), next).take(n).collect() }
    }

    /// s, 2s, 4s, … mod n, each once.
    fn coset(&self, s: usize) -> impl Iterator<Item = usize> {
        let n = self.n;
        let mut next = Some(s);
        std::iter::from_fn(move || {
            let now = next?;
            next = Some(2 * now % n).filter(|&t| t != s);
            Some(now)
        })
    }

    /// x + x² + x⁴ + …, `size` terms, at x = α^i of a field of 2^size elements.
    fn trace(&self, i: usize, size: usize) -> bool {
        let terms = (0..size).scan(i % self.n, |i, _| {
            let now = *i;
            *i = 2 * *i % self.n;
            Some(now)
        });
        // The sum is 0 or 1.
        terms.fold(0, |sum, i| sum ^ self.power[i]) == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_run_through_all_of_the_field() {
        for m in 3..=12 {
            let mut seen = Field::new(m).power;
            seen.sort_unstable();
            assert!(seen.into_iter().eq(1..1 << m), "m = {m}");
        }
    }

    #[test]
    fn words_are_as_far_apart_as_designed() {
        for (n_columns, classes) in [
            (7, vec![4, 5, 8, 9, 16]),
            (15, vec![5, 6, 16, 17, 32, 33, 64, 128, 129, 1024]),
            (31, vec![6, 20, 32, 33, 64, 65, 1024, 2000]),
            (63, vec![7, 26, 64, 65, 100, 128, 129, 1000]),
            (127, vec![8, 100, 128, 300]),
            (255, vec![9, 300]),
        ] {
            for k in classes {
                let code = Code::bch(k, n_columns).unwrap();
                let designed = Code::bch_distance(k, n_columns).unwrap();
                assert_eq!((code.n_classes(), code.n_columns()), (k, n_columns));
                let found = code.min_distance();
                assert!(found >= designed, "K = {k}, L = {n_columns}: {found} < {designed}");
            }
        }
    }

    /// Lin and Costello, *Error control coding*, table 6.1 and appendix C: (n, dimension, 2t + 1). The even-weight half of such
    /// a code is one farther apart.
    #[test]
    fn designed_distances_are_those_of_the_tables() {
        for (n, dimension, distance) in [
            (7, 4, 3),
            (15, 11, 3),
            (15, 7, 5),
            (15, 5, 7),
            (31, 26, 3),
            (31, 21, 5),
            (31, 16, 7),
            (31, 11, 11),
            (31, 6, 15),
            (63, 24, 15),
            (63, 18, 21),
            (63, 16, 23),
            (63, 10, 27),
            (63, 7, 31),
            (127, 15, 55),
            (127, 8, 63),
            (255, 21, 111),
            (255, 13, 119),
            (255, 9, 127),
        ] {
            let found = |dimension: usize| Code::bch_distance(1 << dimension, n).unwrap();
            assert_eq!(found(dimension), distance, "({n}, {dimension})");
            assert_eq!(found(dimension - 1), distance + 1, "({n}, {dimension} − 1)");
        }
    }

    #[test]
    fn bad_sizes_are_refused_with_a_remedy() {
        let said = |k, l| Code::bch(k, l).unwrap_err().to_string();
        assert!(said(10, 16).contains("7, 15, 31"));
        assert!(said(10, 3).contains("7, 15, 31") && said(10, 8191).contains("7, 15, 31"));
        assert_eq!(
            said(4, 15),
            "a BCH code for 4 classes: 15 columns need 5 classes; ask for fewer"
        );
        assert!(said(17, 7).contains("ask for more"));
        assert!(Code::bch(1, 7).is_err() && Code::bch(0, 7).is_err() && Code::bch(10, 0).is_err());
        assert!(Code::bch(10, usize::MAX).is_err() && Code::bch_distance(10, usize::MAX).is_err());
        for k in 4..200 {
            let columns = Code::usual_bch_columns(k);
            let code = Code::bch(k, columns).unwrap();
            assert!(code.min_distance() >= 3, "{k} {columns}");
        }
    }
}
