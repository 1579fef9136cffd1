//! The projective tree that is nearest to a given one, for training a projective parser on trees with crossing arcs.
//!
//! Among the projective trees with the most arcs in common, one whose other words hang from near ancestors of their true head: lifting an arc
//! towards the root keeps more of its meaning than moving it elsewhere (pseudo-projective parsing, Nivre and Nilsson 2005, lifts as well).

use crate::tree::{ROOT, is_projective};
use crate::{Arcs, Projective};
use lineal_model::structure::Infeasible;
use std::ops::Range;

/// Leaves the nearest projective tree in `heads`, each of which must be 0 or a word.
pub fn projectivize(heads: &mut Vec<u32>, single_root: bool) -> Result<(), Infeasible> {
    if is_projective(heads) {
        return Ok(());
    }
    let n = heads.len();
    let arcs = Arcs::full(n, single_root);
    let mut theta = vec![0.0f64; arcs.len()];
    for modifier in 1..=n {
        let mut ancestor = heads[modifier - 1];
        let mut lifts = 0;
        // A tree has no path longer than its words; the bound is for lists of heads that are not trees.
        while lifts <= n {
            if let Some(arc) = arcs.find(ancestor, modifier) {
                // All lifted arcs together count less than one true arc.
                theta[arc] = if lifts == 0 { 1.0 } else { 1.0 / ((n + 1) * (lifts + 1)) as f64 };
            }
            if ancestor == ROOT {
                break;
            }
            ancestor = heads[ancestor as usize - 1];
            lifts += 1;
        }
    }
    Projective::default().max(&arcs, &theta, heads)?;
    Ok(())
}

/// The nearest projective trees of many sentences, each with the words of a range; an error names the sentence.
pub fn projectivize_all(
    heads: &[u32],
    sentences: impl IntoIterator<Item = Range<usize>>,
    single_root: bool,
) -> Result<Vec<u32>, (usize, Infeasible)> {
    let mut nearest = Vec::with_capacity(heads.len());
    for (i, words) in sentences.into_iter().enumerate() {
        let mut tree = heads[words].to_vec();
        projectivize(&mut tree, single_root).map_err(|found| (i, found))?;
        nearest.extend(tree);
    }
    Ok(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{is_tree, n_roots};

    #[test]
    fn a_projective_tree_stays() {
        let mut heads = vec![2, 0, 4, 2];
        projectivize(&mut heads, true).unwrap();
        assert_eq!(heads, [2, 0, 4, 2]);
    }

    #[test]
    fn a_crossing_arc_is_lifted() {
        // 2 → 5 crosses 3 → 4 … : a hearing(2) is(3) scheduled(4) on(5) it: 5 hangs from 2.
        let mut heads = vec![2, 4, 4, 0, 2];
        projectivize(&mut heads, true).unwrap();
        assert_eq!(heads, [2, 4, 4, 0, 4]);
    }

    #[test]
    fn as_many_arcs_as_possible_are_kept() {
        // Every tree over 5 words with one root, against every projective one.
        let n = 5usize;
        let all: Vec<Vec<u32>> = (0..(n as u32 + 1).pow(n as u32))
            .map(|mut code| {
                (0..n)
                    .map(|_| {
                        let head = code % (n as u32 + 1);
                        code /= n as u32 + 1;
                        head
                    })
                    .collect::<Vec<u32>>()
            })
            .filter(|heads| is_tree(heads) && n_roots(heads) == 1)
            .collect();
        let common = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        for heads in all.iter().step_by(7) {
            let mut nearest = heads.clone();
            projectivize(&mut nearest, true).unwrap();
            assert!(is_tree(&nearest) && is_projective(&nearest) && n_roots(&nearest) == 1);
            let best = all.iter().filter(|h| is_projective(h)).map(|h| common(h, heads)).max();
            assert_eq!(Some(common(&nearest, heads)), best, "{heads:?}");
        }
    }
}
