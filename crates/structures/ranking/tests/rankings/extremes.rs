//! What is at the ends: one document, equal grades, no documents, scores of ±1e30, long lists.

use super::{argmax, identity, smooth_loss};
use lineal_linalg::{Dense, Matrix, Rng};
use lineal_model::structure::{Ask, MaxOracle, Structure};
use lineal_ranking::{Decisions, Documents, Gain, Normalise, Orders, Outcome, Queries, Ranking};

const DECISIONS: [Decisions; 4] = [
    Decisions::Pairs,
    Decisions::SquaredPairs,
    Decisions::Softmax(Gain::Exponential),
    Decisions::PlackettLuce,
];
const ORDERS: [Orders; 3] = [
    Orders::Ndcg { at: None, gain: Gain::Exponential },
    Orders::Ndcg { at: Some(3), gain: Gain::Linear },
    Orders::AveragePrecision { above: 0.0 },
];

#[test]
fn nothing_to_learn_is_no_loss() {
    for grades in [vec![], vec![2.0], vec![0.0; 4], vec![3.0; 4]] {
        let n = grades.len();
        let (x, ends) = (identity(n), [n]);
        let scores: Vec<f64> = (0..n).map(|at| at as f64).collect();
        let queries = || Queries::new(&x, &ends, &grades).unwrap();
        for decisions in DECISIONS {
            let ranking = Ranking::new(queries(), decisions, Normalise::Queries);
            assert_eq!((ranking.n_decisions(), ranking.n_informative()), (0.0, 0));
            assert_eq!(Structure::<f64>::share(&ranking, 0), 0.0);
            assert_eq!(smooth_loss(&ranking, &scores), (0.0, vec![0.0; n]));
            assert_eq!(argmax(&ranking, &scores, Ask::Augmented).0.score, 0.0);
        }
        for orders in ORDERS {
            let ranking = Ranking::new(queries(), orders, Normalise::Queries);
            assert_eq!(ranking.n_decisions(), 0.0);
            assert_eq!(argmax(&ranking, &scores, Ask::Augmented).0.score, 0.0);
        }
    }
}

#[test]
fn huge_scores_are_finite() {
    let grades = [0.0, 2.0, 1.0, 0.0, 2.0, 1.0];
    let scores = [1e30, -1e30, 0.0, -1e30, 1e30, 1e-30];
    let (x, ends) = (identity(6), [6]);
    let queries = || Queries::new(&x, &ends, &grades).unwrap();
    for decisions in DECISIONS {
        let ranking = Ranking::new(queries(), decisions, Normalise::default());
        let (loss, grad) = smooth_loss(&ranking, &scores);
        assert!(loss.is_finite() && loss >= 0.0, "{decisions:?} {loss}");
        assert!(grad.iter().all(|g| g.is_finite()), "{decisions:?} {grad:?}");
        assert!(argmax(&ranking, &scores, Ask::Augmented).0.score.is_finite());
    }
    for orders in ORDERS {
        let ranking = Ranking::new(queries(), orders, Normalise::default());
        let (found, y) = argmax(&ranking, &scores, Ask::Augmented);
        assert!(found.score.is_finite() && (0.0..=1.0).contains(&y.cost), "{found:?}");
    }
}

/// What is not a number goes through without a panic; learners then say that they diverged.
#[test]
fn what_is_not_a_number_does_not_panic() {
    let grades = [0.0, 2.0, 1.0, 0.0, 2.0, 1.0];
    let (x, ends) = (identity(6), [6]);
    let queries = || Queries::new(&x, &ends, &grades).unwrap();
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let theta = Documents::from(vec![value, 1.0, value, -value, 0.0, 2.0]);
        for decisions in DECISIONS {
            let ranking = Ranking::new(queries(), decisions, Normalise::default());
            let (mut s, mut y) = (Structure::<f64>::scratch(&ranking), Outcome::default());
            ranking.argmax(0, &mut theta.clone(), Ask::Augmented, &mut s, &mut y).unwrap();
            use lineal_model::structure::SumOracle;
            ranking.log_partition(0, &theta, Ask::Plain, &mut s).unwrap();
        }
        for orders in ORDERS {
            let ranking = Ranking::new(queries(), orders, Normalise::default());
            let (mut s, mut y) = (Structure::<f64>::scratch(&ranking), Outcome::default());
            for ask in [Ask::Plain, Ask::Augmented] {
                ranking.argmax(0, &mut theta.clone(), ask, &mut s, &mut y).unwrap();
            }
        }
    }
}

/// Lists that no table of merged groups fits: the bound holds, and nothing takes forever.
#[test]
fn long_lists_of_many_grades_have_a_bound() {
    let n = 1500;
    let mut rng = Rng::new(4);
    let grades: Vec<f32> = (0..n).map(|_| (rng.next_u64() % 9) as f32).collect();
    let values: Vec<f32> = (0..n).map(|_| rng.unit() as f32).collect();
    let x = Matrix::Dense(Dense::new(n, 1, values).unwrap());
    let ends = [n];
    let queries = Queries::new(&x, &ends, &grades).unwrap();
    let orders = Orders::Ndcg { at: None, gain: Gain::Exponential };
    let ranking = Ranking::new(queries, orders, Normalise::default());
    let (mut s, mut theta, mut y) = (ranking.scratch(), Documents::default(), Outcome::default());
    let mut gold = Outcome::default();
    Structure::<f64>::gold(&ranking, 0, &mut gold);
    for w in [0.0f64, 0.3, -2.0] {
        ranking.scores(0, &[w], 1.0, &mut s, &mut theta);
        let found = ranking.argmax(0, &mut theta.clone(), Ask::Augmented, &mut s, &mut y).unwrap();
        assert!(found.upper >= found.score && found.upper >= ranking.score(0, &theta, &gold));
        assert!((0.0..=1.0).contains(&y.cost) && found.upper - found.score <= 1.0);
    }
}
