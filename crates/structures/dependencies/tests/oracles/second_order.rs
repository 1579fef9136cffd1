//! Projective trees of second order.

use crate::enumeration::{Problem, problems};
use lineal_dependencies::{SecondOrder, SecondOrderProjective};
use lineal_linalg::Scalar;
use proptest::prelude::*;

/// The parts of a tree, found by looking at all parts.
fn parts_of(parts: &SecondOrder, heads: &[u32]) -> Vec<usize> {
    let arcs = parts.arcs();
    let has = |arc: usize| heads[arcs.modifier(arc) - 1] == arcs.head(arc) as u32;
    (0..parts.len())
        .filter(|&part| {
            if part < arcs.len() {
                return has(part);
            }
            if parts.all_grandparents().contains(&part) {
                let arc =
                    (0..arcs.len()).find(|&arc| parts.grandparents(arc).contains(&part)).unwrap();
                return has(arc) && has(parts.upper(part));
            }
            let outer = parts.outer(part);
            let (head, modifier) = (arcs.head(outer), arcs.modifier(outer));
            let side: Vec<usize> = (head.min(modifier) + 1..head.max(modifier))
                .filter(|&word| heads[word - 1] == head as u32)
                .collect();
            let nearest = if head < modifier { side.last() } else { side.first() };
            has(outer) && parts.inner(part).map(|inner| arcs.modifier(inner)) == nearest.copied()
        })
        .collect()
}

fn max<F: Scalar>(problem: &Problem) {
    let mut parts = SecondOrder::default();
    parts.build(&problem.arcs);
    let theta: Vec<F> = problem.scores(parts.len());
    let mut heads = Vec::new();
    match SecondOrderProjective::default().max(&parts, &theta, &mut heads) {
        Ok(score) => {
            let trees = problem.trees();
            let best = trees
                .iter()
                .map(|tree| parts.score(&theta, tree))
                .fold(f64::NEG_INFINITY, f64::max);
            assert!((score - best).abs() < 1e-4, "{score} of {heads:?}, but there is {best}");
            assert_eq!(score, parts.score(&theta, &heads));
            assert!(trees.contains(&heads));
        }
        Err(infeasible) => problem.check_infeasible(infeasible.at),
    }
}

proptest! {
    #[test]
    fn parts_of_trees(problem in problems(true, 5)) {
        let mut parts = SecondOrder::default();
        parts.build(&problem.arcs);
        for heads in problem.trees() {
            let mut found = Vec::new();
            prop_assert!(parts.each_part(&heads, |part| found.push(part)));
            found.sort_unstable();
            prop_assert_eq!(found, parts_of(&parts, &heads));
        }
    }

    #[test]
    fn best_tree(problem in problems(true, 6)) {
        max::<f64>(&problem);
        max::<f32>(&problem);
    }
}
