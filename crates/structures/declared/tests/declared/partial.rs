//! Gold labels that are known in part: completed by the best legal output that has them, and without a cost where nothing is known.

use lineal_declared::{
    Declaration, Example, Examples, Problem, ProblemOptions, Record, Value, Vocabulary,
};
use lineal_linalg::Rng;
use lineal_model::structure::{Ask, MaxOracle, Structure};

const DECLARATION: &str = "variable token { B I O }
factor step(token, token.next)
cost token 1 B 2.5
rule sequence token matches (B I* | O)*
rule at most 2 token = B";

fn is_legal(y: &[u32]) -> bool {
    let starts = y.first() != Some(&1);
    starts && y.windows(2).all(|p| p != [2, 1]) && y.iter().filter(|l| **l == 0).count() <= 2
}

#[test]
fn partial_gold_is_completed_by_the_best_legal_output() {
    let declaration = Declaration::parse(DECLARATION).unwrap();
    let gold = [Some(0u32), None, None, Some(2), None];
    let record = |(t, label): (usize, &Option<u32>)| {
        let features = ("features", Value::Features(vec![(format!("f{t}"), 1.0)]));
        let label = label.map(|l| ("label", Value::from(["B", "I", "O"][l as usize])));
        Record::new([features].into_iter().chain(label))
    };
    let records: Vec<Record> = gold.iter().enumerate().map(record).collect();
    let lists = vec![("token".to_owned(), records)];
    let examples =
        Examples::new(&declaration, vec![Example { lists, columns: Vec::new(), weight: 1.0 }])
            .unwrap();
    let vocabulary = Vocabulary::learn(&declaration, &examples, 1);
    let problem = Problem::new(&declaration, &vocabulary, &examples, ProblemOptions::default());
    assert!(!Structure::<f64>::is_whole(&problem, 0));
    let mut rng = Rng::new(8);
    let mut s = Structure::<f64>::scratch(&problem);
    for _ in 0..50 {
        let w: Vec<f64> = (0..vocabulary.dim()).map(|_| 4.0 * rng.unit() - 2.0).collect();
        let mut theta = Vec::new();
        problem.scores(0, &w, 1.0, &mut s, &mut theta);
        let cost = |y: &[u32]| {
            let wrong = |(gold, label): (&Option<u32>, &u32)| match gold {
                Some(gold) if gold != label => [2.5, 1.0, 1.0][*gold as usize],
                _ => 0.0,
            };
            gold.iter().zip(y).map(wrong).sum::<f64>()
        };
        for ask in [Ask::Plain, Ask::Augmented, Ask::Gold] {
            let mut best = f64::NEG_INFINITY;
            for number in 0..243u32 {
                let y: Vec<u32> = (0..5).map(|t| number / 3u32.pow(t) % 3).collect();
                let has_known =
                    gold.iter().zip(&y).all(|(gold, label)| gold.is_none_or(|g| g == *label));
                if is_legal(&y) && (ask != Ask::Gold || has_known) {
                    let own = problem.score(0, &theta, &y);
                    best = best.max(own + if ask == Ask::Augmented { cost(&y) } else { 0.0 });
                }
            }
            let mut y = Vec::new();
            let found = problem.argmax(0, &mut theta.clone(), ask, &mut s, &mut y).unwrap();
            assert!(is_legal(&y) && (found.score - best).abs() < 1e-9, "{ask:?} {found:?} {best}");
            assert!((MaxOracle::<f64>::cost(&problem, 0, &y) - cost(&y)).abs() < 1e-12);
        }
    }
}
