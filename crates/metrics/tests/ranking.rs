//! Ranking metrics: figures of scikit-learn, definitions spelt out, and enumeration of the orders of ties.

use lineal_metrics::{
    Error, QueryScores, RankedQueries, RankingMetrics, RankingOptions, ScoreTies, ranking,
};
use proptest::prelude::*;

fn one(grades: &[f64], scores: &[f64], options: &RankingOptions) -> QueryScores {
    let queries = RankedQueries { start: &[0, grades.len()], grades, scores };
    ranking(&queries, options).unwrap().by_query.remove(0)
}

fn averaged() -> RankingOptions {
    RankingOptions { ties: ScoreTies::Average, ..RankingOptions::default() }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// scikit-learn 1.9.1: with `gain = 2.0**g - 1`, `ndcg_score([gain], [s], k=k)` for k in (1, 3, 5, 10, None), `average_precision_score(g > 0, s)`
/// and `average_precision_score(g > 1, s)`, on grades and scores of `numpy.random.default_rng(12)`.
#[test]
fn as_scikit_learn_counts() {
    let grades = [2., 1., 3., 3., 0., 0., 0., 0., 2., 1., 1., 0.];
    let scores = [
        -0.626955, -1.320663, -0.107753, 0.998764, -0.021948, 0.49588, -1.910769, 0.147064,
        -0.906943, 1.775389, 0.886849, 0.949349,
    ];
    let ndcg = [0.14285714285714285, 0.41934771841425666, 0.4006185877885888, 0.6428372662277673];
    for options in [RankingOptions::default(), averaged()] {
        let query = one(&grades, &scores, &options);
        assert!(query.ndcg_at.unwrap().iter().zip(ndcg).all(|(&a, b)| near(a, b)));
        assert!(near(query.ndcg.unwrap(), 0.6610868049792278));
        assert!(near(query.average_precision.unwrap(), 0.7202741702741702));
        let strict = RankingOptions { relevance_threshold: 1.0, ..options };
        let query = one(&grades, &scores, &strict);
        assert!(near(query.average_precision.unwrap(), 0.37083333333333335));
        assert_eq!((query.relevant, query.reciprocal_rank), (4, Some(0.5)));
    }
    // Scores with ties, which `ndcg_score` averages.
    let grades = [0., 1., 2., 0., 2., 2., 2., 3., 1., 3., 3., 3., 1., 0., 3., 3., 1., 2., 0., 3.];
    let scores = [
        0.8, -1.6, 0.8, -0.6, -0.5, -1.4, -0.1, -0.2, 0.2, -0.5, 0.1, 1.8, 0.4, -0.6, 1.0, -0.1,
        0.6, 0.6, -0.4, -1.9,
    ];
    let ndcg = [1.0, 0.81564050049106, 0.6582725891144229, 0.656430746213386];
    let query = one(&grades, &scores, &averaged());
    assert!(query.ndcg_at.unwrap().iter().zip(ndcg).all(|(&a, b)| near(a, b)));
    assert!(near(query.ndcg.unwrap(), 0.8704415261611026));
}

/// Three queries: of four documents, of one relevant document, and of two that are not.
fn sample(options: &RankingOptions) -> RankingMetrics {
    let queries = RankedQueries {
        start: &[0, 4, 5, 7],
        grades: &[0.0, 2.0, 1.0, 0.0, 1.0, 0.0, 0.0],
        scores: &[0.9, 0.5, 0.5, 0.1, -3.0, 1.0, 2.0],
    };
    ranking(&queries, options).unwrap()
}

#[test]
fn counted_by_hand() {
    let m = sample(&RankingOptions::default());
    assert_eq!((m.queries, m.queries_with_relevant, m.documents, m.pairs), (3, 2, 7, 5));
    // Ranks of the first query: grades 0, 2, 1, 0.
    let log3 = 3f64.log2();
    let ndcg = (3.0 / log3 + 0.5) / (3.0 + 1.0 / log3);
    let first = &m.by_query[0];
    assert!(near(first.ndcg.unwrap(), ndcg));
    assert!(near(first.average_precision.unwrap(), (1.0 / 2.0 + 2.0 / 3.0) / 2.0));
    assert_eq!((first.reciprocal_rank, first.relevant, first.documents), (Some(0.5), 2, 4));
    // (2, 1) is a tie; both are below the first and above the last document: 2 · 1 + ½ of 5.
    assert_eq!((first.pairwise_accuracy, first.pairs), (Some(0.5), 5));
    assert_eq!((m.pairwise_accuracy, m.pooled_pairwise_accuracy), (Some(0.5), Some(0.5)));
    let last = &m.by_query[2];
    assert_eq!((last.ndcg, last.average_precision, last.reciprocal_rank), (None, None, None));
    assert_eq!((last.pairwise_accuracy, last.pairs), (None, 0));
    assert_eq!((m.by_query[1].ndcg, m.by_query[1].pairs), (Some(1.0), 0));
    // A query without a relevant document counts 0, or not at all.
    let some = m.with_relevant.unwrap();
    assert!(near(m.all.ndcg, (ndcg + 1.0) / 3.0) && near(some.ndcg, (ndcg + 1.0) / 2.0));
    assert!(near(m.all.mrr, 1.5 / 3.0) && near(some.mrr, 1.5 / 2.0));
    assert!(near(m.all.map * 3.0, some.map * 2.0));
    assert_eq!((m.all.ndcg_at[&1], some.ndcg_at[&1]), (1.0 / 3.0, 0.5));
    assert!(near(some.ndcg_at[&10], some.ndcg));
}

#[test]
fn no_query_has_a_relevant_document() {
    let queries = RankedQueries { start: &[0, 2], grades: &[0.0; 2], scores: &[1.0, 2.0] };
    let m = ranking(&queries, &RankingOptions::default()).unwrap();
    assert_eq!((m.all.ndcg, m.all.map, m.all.mrr, m.with_relevant), (0.0, 0.0, 0.0, None));
    assert_eq!((m.pairwise_accuracy, m.pooled_pairwise_accuracy), (None, None));
}

#[test]
fn zeros_of_both_signs_are_a_tie() {
    for scores in [[0.0, -0.0], [-0.0, 0.0]] {
        let query = one(&[0.0, 1.0], &scores, &RankingOptions::default());
        assert_eq!((query.reciprocal_rank, query.pairwise_accuracy), (Some(0.5), Some(0.5)));
        let query = one(&[0.0, 1.0], &scores, &averaged());
        assert_eq!(query.reciprocal_rank, Some(0.75));
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let options = RankingOptions::default();
    let with = |start: &[usize], grades: &[f64], scores: &[f64]| {
        ranking(&RankedQueries { start, grades, scores }, &options).unwrap_err()
    };
    assert_eq!(with(&[0], &[], &[]), Error::Empty);
    assert!(matches!(with(&[0, 1], &[1.0, 1.0], &[1.0, 1.0]), Error::Lists { .. }));
    assert!(matches!(with(&[0, 2, 2], &[1.0, 1.0], &[1.0, 1.0]), Error::Lists { .. }));
    assert!(matches!(with(&[0, 1], &[1.0], &[]), Error::Length { .. }));
    assert!(matches!(with(&[0, 1], &[1.0], &[f64::NAN]), Error::Value { what: "score", .. }));
    for grade in [-1.0, f64::NAN, f64::INFINITY, 513.0] {
        assert!(matches!(with(&[0, 1], &[grade], &[1.0]), Error::Value { what: "grade", .. }));
    }
    let queries = RankedQueries { start: &[0, 1], grades: &[1.0], scores: &[1.0] };
    let options = RankingOptions { cutoffs: vec![0], ..options };
    assert!(ranking(&queries, &options).is_err());
}

#[test]
fn json_has_the_names_of_eval() {
    let json = serde_json::to_value(sample(&RankingOptions::default())).unwrap();
    assert!(json["all"]["ndcg_at"]["10"].is_f64() && json["with_relevant"]["map"].is_f64());
    assert!(json["by_query"][2]["ndcg"].is_null() && json["all"]["mrr"].is_f64());
}

/// All orders of the numbers below `n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for i in 0..n {
        let insert = |order: &Vec<usize>| {
            (0..=order.len())
                .map(|at| [&order[..at], &[i], &order[at..]].concat())
                .collect::<Vec<_>>()
        };
        all = all.iter().flat_map(insert).collect();
    }
    all
}

/// NDCG, average precision and reciprocal rank of grades in the order of their ranks, by their definitions.
fn by_definition(grades: &[f64]) -> [f64; 3] {
    let dcg = |grades: &[f64]| -> f64 {
        (1..).zip(grades).map(|(r, g)| (2f64.powf(*g) - 1.0) / (1.0 + r as f64).log2()).sum()
    };
    let mut best = grades.to_vec();
    best.sort_by(|a, b| b.total_cmp(a));
    let is_relevant: Vec<bool> = grades.iter().map(|&g| g > 0.0).collect();
    let ranks: Vec<usize> = (1..=grades.len()).filter(|&r| is_relevant[r - 1]).collect();
    let precision =
        |&r: &usize| is_relevant[..r].iter().filter(|&&is| is).count() as f64 / r as f64;
    let ap = ranks.iter().map(precision).sum::<f64>() / ranks.len() as f64;
    [dcg(grades) / dcg(&best), ap, 1.0 / ranks[0] as f64]
}

fn values(query: &QueryScores) -> [f64; 3] {
    [query.ndcg, query.average_precision, query.reciprocal_rank].map(Option::unwrap)
}

proptest! {
    #[test]
    fn ties_are_averaged_over_their_orders(documents in prop::collection::vec((0..3u8, 0..3u8), 1..7)) {
        let grades: Vec<f64> = documents.iter().map(|d| f64::from(d.0)).collect();
        let scores: Vec<f64> = documents.iter().map(|d| f64::from(d.1)).collect();
        prop_assume!(grades.iter().any(|&g| g > 0.0));
        let fits = |order: &Vec<usize>| order.is_sorted_by(|&a, &b| scores[a] >= scores[b]);
        let all: Vec<[f64; 3]> = orders(grades.len())
            .into_iter()
            .filter(fits)
            .map(|order| by_definition(&order.iter().map(|&i| grades[i]).collect::<Vec<_>>()))
            .collect();
        let found = values(&one(&grades, &scores, &averaged()));
        for (c, value) in found.iter().enumerate() {
            let mean = all.iter().map(|v| v[c]).sum::<f64>() / all.len() as f64;
            prop_assert!((value - mean).abs() < 1e-12, "{c}: {value} is not {mean}");
        }
    }

    #[test]
    fn as_the_definitions_say(documents in prop::collection::vec((0..5u8, -20..20i8), 1..80)) {
        let grades: Vec<f64> = documents.iter().map(|d| f64::from(d.0) / 2.0).collect();
        let scores: Vec<f64> = documents.iter().map(|d| f64::from(d.1) / 4.0).collect();
        let query = one(&grades, &scores, &RankingOptions::default());
        if grades.iter().any(|&g| g > 0.0) {
            let mut order: Vec<usize> = (0..grades.len()).collect();
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
            let expected = by_definition(&order.iter().map(|&i| grades[i]).collect::<Vec<_>>());
            prop_assert!(values(&query).iter().zip(expected).all(|(&a, b)| near(a, b)));
        }
        let (mut right, mut pairs) = (0.0, 0);
        for a in 0..grades.len() {
            for b in 0..grades.len() {
                if grades[a] > grades[b] {
                    pairs += 1;
                    right += if scores[a] > scores[b] { 1.0 } else if scores[a] == scores[b] { 0.5 } else { 0.0 };
                }
            }
        }
        prop_assert_eq!(query.pairs, pairs);
        prop_assert_eq!(query.pairwise_accuracy, (pairs > 0).then(|| right / pairs as f64));
    }
}
