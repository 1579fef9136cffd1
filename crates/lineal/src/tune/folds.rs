//! Rows dealt to folds, classes evenly.

use crate::Error;
use lineal_data::Targets;
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// The order in which rows are assigned to folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// At random.
    Seeded(u64),
    /// As they come: the folds of scikit-learn's `StratifiedKFold` and `KFold` without shuffling.
    InOrder,
}

/// The fold of each row. Classes are spread evenly: each fold has its share of every class, to within one row.
pub fn folds(
    y: &Targets,
    n_rows: usize,
    n_folds: usize,
    shuffle: Shuffle,
) -> Result<Vec<u32>, Error> {
    let Targets::Classes(y) = y else { return plain_folds(n_rows, n_folds, shuffle) };
    let order = order(n_rows, n_folds, shuffle)?;
    let mut fold = vec![0; n_rows];
    // Classes are numbered as they come. Sorted by that number, every n_folds-th row tells how many rows of which class a fold gets.
    let mut number = vec![usize::MAX; y.iter().map(|&c| c as usize + 1).max().unwrap_or(0)];
    let mut rows_of: Vec<Vec<usize>> = Vec::new();
    for &i in &order {
        let class = y[i] as usize;
        if number[class] == usize::MAX {
            number[class] = rows_of.len();
            rows_of.push(Vec::new());
        }
        rows_of[number[class]].push(i);
    }
    let most = rows_of.iter().map(Vec::len).max().unwrap_or(0);
    if most < n_folds {
        return Err(Error::request(format!(
            "every class has fewer rows than there are folds ({n_folds}); lower spec.folds"
        )));
    }
    let mut before = 0;
    for rows in &rows_of {
        let mut share = vec![0usize; n_folds];
        (before..before + rows.len()).for_each(|at| share[at % n_folds] += 1);
        before += rows.len();
        let dealt = share.iter().enumerate().flat_map(|(f, &n)| std::iter::repeat_n(f as u32, n));
        rows.iter().zip(dealt).for_each(|(&i, f)| fold[i] = f);
    }
    Ok(fold)
}

/// The fold of each of `n` examples, whatever they are. The first folds have one more where they cannot be alike.
pub(super) fn plain_folds(n: usize, n_folds: usize, shuffle: Shuffle) -> Result<Vec<u32>, Error> {
    let order = order(n, n_folds, shuffle)?;
    let mut fold = vec![0; n];
    let (each, more) = (n / n_folds, n % n_folds);
    let mut at = 0;
    for f in 0..n_folds {
        let size = each + usize::from(f < more);
        order[at..at + size].iter().for_each(|&i| fold[i] = f as u32);
        at += size;
    }
    Ok(fold)
}

/// In which order examples are dealt.
fn order(n: usize, n_folds: usize, shuffle: Shuffle) -> Result<Vec<usize>, Error> {
    if !(2..=1000).contains(&n_folds) {
        return Err(Error::request(format!("spec.folds must be from 2 to 1000, not {n_folds}")));
    }
    if n < n_folds {
        return Err(Error::request(format!(
            "{n_folds} folds need at least {n_folds} examples, and there are {n}; lower spec.folds"
        )));
    }
    let mut order: Vec<usize> = (0..n).collect();
    if let Shuffle::Seeded(seed) = shuffle {
        order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed ^ 0xf01d));
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_order_they_are_those_of_scikit_learn() {
        // for _, test in StratifiedKFold(3).split(y, y): print(test), scikit-learn 1.9.1, with
        // y = [1, 0, 0, 2, 1, 0, 2, 2, 0, 1, 0, 0, 1]; and the same with KFold(3).
        let y = Targets::Classes(vec![1, 0, 0, 2, 1, 0, 2, 2, 0, 1, 0, 0, 1]);
        let stratified = folds(&y, 13, 3, Shuffle::InOrder).unwrap();
        assert_eq!(stratified, [0, 0, 0, 0, 0, 1, 1, 2, 1, 1, 2, 2, 2]);
        let plain = folds(&Targets::Real(vec![0.0; 13]), 13, 3, Shuffle::InOrder).unwrap();
        assert_eq!(plain, [0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    }

    #[test]
    fn classes_are_spread_evenly() {
        let y: Vec<u32> = (0..997).map(|i| (i * i % 7) as u32 % 4).collect();
        let mut count = [0usize; 4];
        y.iter().for_each(|&c| count[c as usize] += 1);
        let fold = folds(&Targets::Classes(y.clone()), 997, 5, Shuffle::Seeded(3)).unwrap();
        for f in 0..5 {
            for c in 0..4u32 {
                let n = (0..997).filter(|&i| fold[i] == f && y[i] == c).count();
                assert!(n.abs_diff(count[c as usize] / 5) <= 1, "{f} {c}: {n}");
            }
        }
        assert_ne!(fold, folds(&Targets::Classes(y), 997, 5, Shuffle::Seeded(4)).unwrap());
    }

    #[test]
    fn too_few_rows() {
        let y = Targets::Classes(vec![0, 1, 0]);
        assert!(folds(&y, 3, 5, Shuffle::InOrder).is_err());
        assert!(folds(&y, 3, 3, Shuffle::InOrder).is_err());
        assert!(folds(&y, 3, 1, Shuffle::InOrder).is_err());
    }
}
