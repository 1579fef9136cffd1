//! Queries of up to four documents for the registry: choices for pairs, of documents and of one document after the other, and whole orders.

use lineal_linalg::{Dense, Matrix};
use lineal_model::structure::{Ask, Structure};
use lineal_ranking::{Decisions, Gain, Normalise, Orders, Outcome, Queries, Ranking};

const GRADES: [f32; 21] = [
    2.0, 0.0, 1.0, 0.0, // the first query must have something to learn from
    1.0, 0.0, //
    0.0, 0.0, 1.0, //
    1.0, 2.0, 1.0, 0.0, //
    3.0, //
    1.0, 1.0, //
    0.0, 2.0, 0.0, //
    0.0, 1.0,
];
const ENDS: [usize; 8] = [4, 6, 9, 13, 14, 16, 19, 21];

fn with_queries<R>(run: impl FnOnce(Queries<'_>) -> R) -> R {
    let value = |row: usize, at: usize| {
        let noise = ((row * 37 + at * 101 + row * at * 7) % 64) as f32 / 64.0;
        noise + if at == 0 { 0.3 * GRADES[row] } else { 0.0 }
    };
    let x = (0..GRADES.len()).flat_map(|row| (0..3).map(move |at| value(row, at))).collect();
    let x = Matrix::Dense(Dense::new(GRADES.len(), 3, x).unwrap());
    run(Queries::new(&x, &ENDS, &GRADES).unwrap())
}

pub fn with_decisions(decisions: Decisions, run: &mut dyn FnMut(&Ranking<'_, Decisions>)) {
    with_queries(|queries| run(&Ranking::new(queries, decisions, Normalise::default())));
}

pub fn with_orders(orders: Orders, run: &mut dyn FnMut(&Ranking<'_, Orders>)) {
    with_queries(|queries| run(&Ranking::new(queries, orders, Normalise::default())));
}

fn grades(i: usize) -> Vec<f32> {
    let start = if i == 0 { 0 } else { ENDS[i - 1] };
    GRADES[start..ENDS[i]].to_vec()
}

/// The gold output if that is asked for, or if there is nothing to decide.
fn gold<S: Structure<f64, Output = Outcome>>(s: &S, i: usize, ask: Ask) -> Option<Vec<Outcome>> {
    let mut y = Outcome::default();
    s.gold(i, &mut y);
    (ask == Ask::Gold || s.share(i) == 0.0).then(|| vec![y])
}

/// Every pair swapped or not.
pub fn pairs(s: &Ranking<'_, Decisions>, i: usize, ask: Ask) -> Vec<Outcome> {
    let grades = grades(i);
    let none = Outcome { amounts: vec![0.0; grades.len()], cost: 0.0 };
    let mut all = vec![none];
    for (a, b) in better_pairs(&grades) {
        let swapped = |y: &Outcome| {
            let mut y = y.clone();
            (y.amounts[a], y.amounts[b], y.cost) =
                (y.amounts[a] - 1.0, y.amounts[b] + 1.0, y.cost + 1.0);
            y
        };
        let more: Vec<Outcome> = all.iter().map(swapped).collect();
        all.extend(more);
    }
    gold(s, i, ask).unwrap_or(all)
}

fn better_pairs(grades: &[f32]) -> Vec<(usize, usize)> {
    let n = grades.len();
    let all = (0..n).flat_map(|a| (0..n).map(move |b| (a, b)));
    all.filter(|&(a, b)| grades[a] > grades[b]).collect()
}

/// Every document alone.
pub fn documents(s: &Ranking<'_, Decisions>, i: usize, ask: Ask) -> Vec<Outcome> {
    let grades = grades(i);
    let gain = |document: usize| 2f64.powf(f64::from(grades[document])) - 1.0;
    let most = (0..grades.len()).map(gain).fold(0.0, f64::max);
    let one = |document: usize| {
        let mut amounts = vec![0.0; grades.len()];
        amounts[document] = 1.0;
        Outcome { amounts, cost: 1.0 - gain(document) / most }
    };
    gold(s, i, ask).unwrap_or_else(|| (0..grades.len()).map(one).collect())
}

/// For every document above the lowest grade one of its own or a lower grade.
pub fn choices(s: &Ranking<'_, Decisions>, i: usize, ask: Ask) -> Vec<Outcome> {
    let grades = grades(i);
    let lowest = grades.iter().copied().fold(f32::INFINITY, f32::min);
    let mut all = vec![Outcome { amounts: vec![0.0; grades.len()], cost: 0.0 }];
    for &grade in grades.iter().filter(|grade| **grade > lowest) {
        let longer = |y: &Outcome| {
            let rivals = (0..grades.len()).filter(|&rival| grades[rival] <= grade);
            let choose = |rival: usize| {
                let mut y = y.clone();
                y.amounts[rival] += 1.0;
                y.cost += if grades[rival] < grade { 1.0 } else { 0.0 };
                y
            };
            rivals.map(choose).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    gold(s, i, ask).unwrap_or(all)
}

/// Every order by the mean over pairs, with a cost.
fn orders(n: usize, pairs: &[(usize, usize)], cost: &dyn Fn(&[usize]) -> f64) -> Vec<Outcome> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        let longer = |y: &Vec<usize>| {
            let free = (0..n).filter(|document| !y.contains(document));
            free.map(|document| [&y[..], &[document]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    let outcome = |order: &Vec<usize>| {
        let place = |document: usize| order.iter().position(|&d| d == document);
        let mut amounts = vec![0.0; n];
        for &(a, b) in pairs {
            let sign = if place(a) < place(b) { 1.0 } else { -1.0 } / pairs.len() as f64;
            amounts[a] += sign;
            amounts[b] -= sign;
        }
        Outcome { amounts, cost: cost(order) }
    };
    all.iter().map(outcome).collect()
}

pub const NDCG: Orders = Orders::Ndcg { at: Some(3), gain: Gain::Exponential };

pub fn by_ndcg(s: &Ranking<'_, Orders>, i: usize, ask: Ask) -> Vec<Outcome> {
    let grades = grades(i);
    let dcg = |order: &[usize]| -> f64 {
        let gain = |document: &usize| 2f64.powf(f64::from(grades[*document])) - 1.0;
        order.iter().take(3).zip(2..).map(|(d, at)| gain(d) / f64::from(at).log2()).sum()
    };
    let mut ideal: Vec<usize> = (0..grades.len()).collect();
    ideal.sort_by(|&a, &b| grades[b].total_cmp(&grades[a]));
    let cost = |order: &[usize]| 1.0 - dcg(order) / dcg(&ideal);
    gold(s, i, ask).unwrap_or_else(|| orders(grades.len(), &better_pairs(&grades), &cost))
}

pub const PRECISION: Orders = Orders::AveragePrecision { above: 0.0 };

pub fn by_precision(s: &Ranking<'_, Orders>, i: usize, ask: Ask) -> Vec<Outcome> {
    let relevance: Vec<f32> = grades(i).iter().map(|&grade| grade.min(1.0)).collect();
    let cost = |order: &[usize]| {
        let (mut relevant, mut sum) = (0.0, 0.0);
        for (rank, _) in order.iter().enumerate().filter(|(_, d)| relevance[**d] > 0.0) {
            relevant += 1.0;
            sum += relevant / (rank + 1) as f64;
        }
        1.0 - sum / relevant
    };
    gold(s, i, ask).unwrap_or_else(|| orders(relevance.len(), &better_pairs(&relevance), &cost))
}
