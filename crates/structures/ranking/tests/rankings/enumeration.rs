//! Argmaxes over whole orders and over decisions, by trying all.

use super::{argmax, dot, gold, identity, near};
use lineal_model::structure::Ask;
use lineal_ranking::{Decisions, Gain, Normalise, Orders, Queries, Ranking};
use proptest::prelude::*;

/// All orders of n documents.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |order: &Vec<usize>| {
            let free = (0..n).filter(|document| !order.contains(document));
            free.map(|document| [&order[..], &[document]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// NDCG@k as it is defined.
fn ndcg(order: &[usize], grades: &[f32], k: usize, gain: Gain) -> f64 {
    let dcg = |grades: &[f64]| -> f64 {
        let gains = grades.iter().map(|&grade| match gain {
            Gain::Exponential => 2f64.powf(grade.max(0.0)) - 1.0,
            Gain::Linear => grade.max(0.0),
        });
        gains.zip(1..=k).map(|(gain, rank)| gain / (1.0 + rank as f64).log2()).sum()
    };
    let of_order: Vec<f64> = order.iter().map(|&d| f64::from(grades[d])).collect();
    let mut ideal = of_order.clone();
    ideal.sort_by(|a, b| b.total_cmp(a));
    dcg(&of_order) / dcg(&ideal)
}

/// Average precision as it is defined.
fn average_precision(order: &[usize], is_relevant: &dyn Fn(usize) -> bool) -> f64 {
    let (mut sum, mut relevant) = (0.0, 0.0);
    for (rank, _) in order.iter().enumerate().filter(|(_, d)| is_relevant(**d)) {
        relevant += 1.0;
        sum += relevant / (rank + 1) as f64;
    }
    sum / relevant
}

/// The mean over pairs of ±(scoreᵢ − scoreⱼ), + where the order agrees.
fn pair_score(order: &[usize], scores: &[f64], is_better: &dyn Fn(usize, usize) -> bool) -> f64 {
    let place = |document: usize| order.iter().position(|&d| d == document).unwrap();
    let (mut sum, mut n) = (0.0, 0.0);
    for i in 0..order.len() {
        for j in (0..order.len()).filter(|&j| is_better(i, j)) {
            let sign = if place(i) < place(j) { 1.0 } else { -1.0 };
            sum += sign * (scores[i] - scores[j]);
            n += 1.0;
        }
    }
    sum / n
}

fn check(
    grades: &[f32],
    scores: &[f64],
    orders_kind: Orders,
    is_better: &dyn Fn(usize, usize) -> bool,
    measure: &dyn Fn(&[usize]) -> f64,
) {
    let n = grades.len();
    let (x, ends) = (identity(n), [n]);
    let queries = Queries::new(&x, &ends, grades).unwrap();
    let ranking = Ranking::new(queries, orders_kind, Normalise::default());
    assert_eq!(ranking.n_decisions(), 1.0);
    let mut ideal: Vec<usize> = (0..n).collect();
    ideal.sort_by(|&a, &b| grades[b].total_cmp(&grades[a]));
    assert!(near(measure(&ideal), 1.0, 1e-12));
    let of_gold = pair_score(&ideal, scores, is_better);
    assert!(near(dot(scores, &gold(&ranking).amounts), of_gold, 1e-9));
    for ask in [Ask::Plain, Ask::Augmented] {
        let cost = |order: &[usize]| if ask == Ask::Augmented { 1.0 - measure(order) } else { 0.0 };
        let value = |order: &Vec<usize>| pair_score(order, scores, is_better) + cost(order);
        let best = orders(n).iter().map(value).fold(f64::NEG_INFINITY, f64::max);
        let (found, y) = argmax(&ranking, scores, ask);
        assert!(near(found.score, best, 1e-9), "{orders_kind:?} {ask:?} {found:?} {best}");
        assert_eq!(found.upper, found.score);
        // The outcome is that of an order indeed.
        let same = |order: &&Vec<usize>| {
            near(1.0 - measure(order), y.cost, 1e-9)
                && near(pair_score(order, scores, is_better), dot(scores, &y.amounts), 1e-9)
        };
        assert!(orders(n).iter().find(same).is_some(), "{y:?}");
    }
}

fn grades_and_scores() -> impl Strategy<Value = (Vec<f32>, Vec<f64>)> {
    // Scores on a grid, so that ties come; at several sizes, as costs are at most 1.
    (2usize..=6, 2u32..=6, prop::sample::select(vec![0.05, 0.3, 1.0, 5.0])).prop_flat_map(
        |(n, n_grades, size)| {
            let grades = prop::collection::vec((0..n_grades).prop_map(|g| g as f32), n);
            let scores =
                prop::collection::vec((-8i32..=8).prop_map(move |s| f64::from(s) * size), n);
            (grades, scores)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn ndcg_orders((grades, scores) in grades_and_scores(), k in 1usize..=7, linear in any::<bool>()) {
        prop_assume!(grades.iter().any(|&g| g != grades[0]));
        let gain = if linear { Gain::Linear } else { Gain::Exponential };
        let at = (k < 7).then_some(k);
        let is_better = |i: usize, j: usize| grades[i] > grades[j];
        let measure = |order: &[usize]| ndcg(order, &grades, k, gain);
        check(&grades, &scores, Orders::Ndcg { at, gain }, &is_better, &measure);
    }

    #[test]
    fn average_precision_orders((grades, scores) in grades_and_scores(), above in 0u32..3) {
        let above = above as f32;
        let is_relevant = |d: usize| grades[d] > above;
        let n = (0..grades.len()).filter(|&d| is_relevant(d)).count();
        prop_assume!(n > 0 && n < grades.len());
        let is_better = |i: usize, j: usize| is_relevant(i) && !is_relevant(j);
        let measure = |order: &[usize]| average_precision(order, &is_relevant);
        check(&grades, &scores, Orders::AveragePrecision { above }, &is_better, &measure);
    }

    #[test]
    fn pairs((grades, scores) in grades_and_scores()) {
        let n = grades.len();
        let (x, ends) = (identity(n), [n]);
        let queries = Queries::new(&x, &ends, &grades).unwrap();
        let ranking = Ranking::new(queries, Decisions::Pairs, Normalise::default());
        for (ask, margin) in [(Ask::Plain, 0.0), (Ask::Augmented, 1.0)] {
            let (found, y) = argmax(&ranking, &scores, ask);
            let (mut loss, mut swapped, mut amounts) = (0.0, 0.0, vec![0.0; n]);
            for i in 0..n {
                for j in (0..n).filter(|&j| grades[i] > grades[j]) {
                    let violation = margin - (scores[i] - scores[j]);
                    loss += violation.max(0.0);
                    // Ties count as swapped without a margin, and not with one.
                    if violation > 0.0 || (violation == 0.0 && ask == Ask::Plain) {
                        swapped += 1.0;
                        amounts[i] -= 1.0;
                        amounts[j] += 1.0;
                    }
                }
            }
            prop_assert!(near(found.score, loss, 1e-9), "{found:?} {loss}");
            prop_assert_eq!((y.cost, y.amounts), (swapped, amounts));
        }
    }

    #[test]
    fn choices((grades, scores) in grades_and_scores()) {
        let n = grades.len();
        prop_assume!(grades.iter().any(|&g| g != grades[0]));
        let (x, ends) = (identity(n), [n]);
        let queries = Queries::new(&x, &ends, &grades).unwrap();
        let lowest = grades.iter().copied().fold(f32::INFINITY, f32::min);
        let highest = grades.iter().copied().fold(0.0, f32::max);
        let plackett_luce = Ranking::new(queries.clone(), Decisions::PlackettLuce, Normalise::default());
        let softmax = Ranking::new(queries, Decisions::Softmax(Gain::Linear), Normalise::default());
        for ask in [Ask::Plain, Ask::Augmented] {
            let with_cost = |cost: f64| if ask == Ask::Augmented { cost } else { 0.0 };
            let stage = |i: usize| {
                let allowed = (0..n).filter(|&j| grades[j] <= grades[i]);
                let values = allowed.map(|j| {
                    scores[j] + with_cost(if grades[j] < grades[i] { 1.0 } else { 0.0 })
                });
                values.fold(f64::NEG_INFINITY, f64::max)
            };
            let best: f64 = (0..n).filter(|&i| grades[i] > lowest).map(stage).sum();
            prop_assert!(near(argmax(&plackett_luce, &scores, ask).0.score, best, 1e-12));
            let cost = |d: usize| with_cost(1.0 - f64::from(grades[d] / highest));
            let best = (0..n).map(|d| scores[d] + cost(d)).fold(f64::NEG_INFINITY, f64::max);
            prop_assert!(near(argmax(&softmax, &scores, ask).0.score, best, 1e-6));
        }
    }
}
