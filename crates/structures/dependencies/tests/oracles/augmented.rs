//! Trees by score + number of wrong heads: costs are scores of arcs.

use crate::enumeration::{Problem, problems};
use lineal_dependencies::{Arcs, NonProjective, Projective, SecondOrder, SecondOrderProjective};
use proptest::prelude::*;

/// Adds 1 to every arc that the gold tree does not have.
fn augment(arcs: &Arcs, gold: &[u32], theta: &mut [f64]) {
    for arc in 0..arcs.len() {
        if gold[arcs.modifier(arc) - 1] != arcs.head(arc) as u32 {
            theta[arc] += 1.0;
        }
    }
}

fn check(
    problem: &Problem,
    theta: &[f64],
    score: impl Fn(&[f64], &[u32]) -> f64,
    max: impl Fn(&[f64], &mut Vec<u32>) -> f64,
) {
    let trees = problem.trees();
    for gold in trees.iter().step_by(1 + trees.len() / 3) {
        let wrong = |tree: &[u32]| tree.iter().zip(gold).filter(|(a, b)| a != b).count() as f64;
        let best =
            trees.iter().map(|tree| score(theta, tree) + wrong(tree)).fold(f64::MIN, f64::max);
        let mut augmented = theta.to_vec();
        augment(&problem.arcs, gold, &mut augmented);
        let mut heads = Vec::new();
        let found = max(&augmented, &mut heads);
        assert!((found - best).abs() < 1e-9, "{found} of {heads:?}, but there is {best}");
        assert!((score(theta, &heads) + wrong(&heads) - best).abs() < 1e-9);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn projective(problem in problems(true, 5)) {
        let theta = problem.scores(problem.arcs.len());
        check(&problem, &theta, |theta, tree| problem.arcs.score(theta, tree), |theta, heads| {
            Projective::default().max(&problem.arcs, theta, heads).unwrap()
        });
    }

    #[test]
    fn second_order(problem in problems(true, 5)) {
        let mut parts = SecondOrder::default();
        parts.build(&problem.arcs);
        let theta = problem.scores(parts.len());
        check(&problem, &theta, |theta, tree| parts.score(theta, tree), |theta, heads| {
            SecondOrderProjective::default().max(&parts, theta, heads).unwrap()
        });
    }

    #[test]
    fn non_projective(problem in problems(false, 5)) {
        let theta = problem.scores(problem.arcs.len());
        check(&problem, &theta, |theta, tree| problem.arcs.score(theta, tree), |theta, heads| {
            NonProjective::default().max(&problem.arcs, theta, heads).unwrap()
        });
    }
}
