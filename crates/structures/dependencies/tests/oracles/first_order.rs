//! Projective trees, scored by their arcs.

use crate::enumeration::{Problem, problems};
use lineal_dependencies::Projective;
use lineal_linalg::Scalar;
use proptest::prelude::*;

fn max<F: Scalar>(problem: &Problem) {
    let arcs = &problem.arcs;
    let theta: Vec<F> = problem.scores(arcs.len());
    let mut heads = Vec::new();
    match Projective::default().max(arcs, &theta, &mut heads) {
        Ok(score) => {
            let trees = problem.trees();
            let best =
                trees.iter().map(|tree| arcs.score(&theta, tree)).fold(f64::NEG_INFINITY, f64::max);
            assert!((score - best).abs() < 1e-4, "{score} of {heads:?}, but there is {best}");
            assert_eq!(score, arcs.score(&theta, &heads));
            assert!(trees.contains(&heads));
        }
        Err(infeasible) => problem.check_infeasible(infeasible.at),
    }
}

proptest! {
    #[test]
    fn best_tree(problem in problems(true, 6)) {
        max::<f64>(&problem);
        max::<f32>(&problem);
    }
}
