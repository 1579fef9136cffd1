//! Trains each loss on a LETOR file and prints what it comes to on another.
//!
//!     cargo run --release -p lineal-ranking --example letor -- train.letor.gz test.letor.gz [options]
//!
//! Options: `--loss NAME` (one in place of all), `--c 0.1,1,10` (for each C a line; with n decisions `l2 = 1 / (C·n)`), `--tol T`, `--passes N`, `--queries` (each query counts the same),
//! `--standardise`, `--folds K` (cross-validation over the training queries in place of the test file), `--repeats R` (that many divisions into folds).

use lineal_erm::structured::{LearnSpec, Learnt, Loss, Solver, learn, learn_max};
use lineal_linalg::{Dense, Matrix, Rng};
use lineal_ranking::{
    Decisions, Gain, Normalise, Orders, Queries, Ranking, discount, group_rows, order,
};
use std::io::Read;
use std::ops::ControlFlow;
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Documents of a file, gathered by query.
struct Letor {
    x: Matrix,
    grades: Vec<f32>,
    ends: Vec<usize>,
}

fn read(path: &str, n_features: Option<usize>) -> Result<Letor> {
    let bytes = std::fs::read(path)?;
    let mut text = String::new();
    match path.ends_with(".gz") {
        true => flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text)?,
        false => (&bytes[..]).read_to_string(&mut text)?,
    };
    let (mut grades, mut ids, mut entries) = (Vec::new(), Vec::new(), Vec::new());
    for line in text.lines() {
        let mut fields = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(grade) = fields.next() else { continue };
        grades.push(grade.parse::<f32>()?);
        let id = fields.next().and_then(|field| field.strip_prefix("qid:"));
        ids.push(id.ok_or("a line without qid")?.parse::<u64>()?);
        let mut row: Vec<(usize, f32)> = Vec::new();
        for field in fields {
            let (at, value) = field.split_once(':').ok_or("a feature without a colon")?;
            row.push((at.parse::<usize>()?.checked_sub(1).ok_or("feature 0")?, value.parse()?));
        }
        entries.push(row);
    }
    let widest = entries.iter().flatten().map(|entry| entry.0 + 1).max().unwrap_or(0);
    let n_features = n_features.unwrap_or(widest);
    let (rows, ends) = group_rows(&ids);
    let mut values = vec![0.0; rows.len() * n_features];
    for (to, &row) in rows.iter().enumerate() {
        for &(at, value) in entries[row as usize].iter().filter(|entry| entry.0 < n_features) {
            values[to * n_features + at] = value;
        }
    }
    let grades = rows.iter().map(|&row| grades[row as usize]).collect();
    let x = Matrix::Dense(Dense::new(ends.last().copied().unwrap_or(0), n_features, values)?);
    Ok(Letor { x, grades, ends })
}

impl Letor {
    fn queries(&self) -> Result<Queries<'_>> {
        Ok(Queries::new(&self.x, &self.ends, &self.grades)?)
    }

    /// The queries for which `keep` holds.
    fn part(&self, keep: impl Fn(usize) -> bool) -> Letor {
        let (mut rows, mut ends, mut start) = (Vec::new(), Vec::new(), 0);
        for (q, &end) in self.ends.iter().enumerate() {
            if keep(q) {
                rows.extend(start..end);
                ends.push(rows.len());
            }
            start = end;
        }
        let grades = rows.iter().map(|&row| self.grades[row]).collect();
        Letor { x: self.x.select(&rows), grades, ends }
    }

    /// Divides each feature by its standard deviation.
    fn standardise(&mut self, scales: &[f32]) {
        if let Matrix::Dense(x) = &mut self.x {
            let n = scales.len().max(1);
            x.values_mut().iter_mut().enumerate().for_each(|(at, x)| *x *= scales[at % n]);
        }
    }

    fn scales(&self) -> Vec<f32> {
        let (n, d) = (self.x.n_rows(), self.x.n_cols());
        let (mut sums, mut squares) = (vec![0.0f64; d], vec![0.0f64; d]);
        for i in 0..n {
            self.x.row(i).for_each(|at, x| {
                sums[at] += f64::from(x);
                squares[at] += f64::from(x) * f64::from(x);
            });
        }
        let deviation = |at: usize| {
            let (mean, square) = (sums[at] / n as f64, squares[at] / n as f64);
            (square - mean * mean).max(0.0).sqrt()
        };
        (0..d).map(deviation).map(|s| if s > 0.0 { (1.0 / s) as f32 } else { 0.0 }).collect()
    }
}

/// NDCG@10 over queries with a relevant document, and MAP over all queries (0 for those without one).
fn evaluate(data: &Letor, w: &[f32]) -> Result<(f64, f64)> {
    let queries = data.queries()?;
    let (mut ndcg, mut n_relevant_queries, mut map) = (0.0, 0.0f64, 0.0);
    for q in 0..queries.len() {
        let start = queries.documents(q).start;
        let order = order(&queries.scores(q, w));
        let grades: Vec<f64> =
            order.iter().map(|&d| f64::from(queries.grade(start + d as usize))).collect();
        let mut ideal = grades.clone();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let dcg = |grades: &[f64]| -> f64 {
            let top = grades.iter().take(10).enumerate();
            top.map(|(rank, &grade)| Gain::Exponential.of(grade) * discount(rank)).sum()
        };
        if dcg(&ideal) > 0.0 {
            ndcg += dcg(&grades) / dcg(&ideal);
            n_relevant_queries += 1.0;
        }
        let (mut relevant, mut precision) = (0.0, 0.0);
        for (rank, _) in grades.iter().enumerate().filter(|(_, grade)| **grade > 0.0) {
            relevant += 1.0;
            precision += relevant / (rank + 1) as f64;
        }
        map += if relevant > 0.0 { precision / relevant } else { 0.0 };
    }
    Ok((ndcg / n_relevant_queries.max(1.0), map / queries.len().max(1) as f64))
}

const LOSSES: [&str; 9] = [
    "pair-hinge",
    "pair-squared",
    "pair-logistic",
    "pair-perceptron",
    "softmax",
    "plackett-luce",
    "ndcg",
    "ndcg@10",
    "map",
];

fn train(
    data: &Letor,
    loss: &str,
    normalise: Normalise,
    spec: &LearnSpec,
    c: f64,
) -> Result<Learnt> {
    let queries = data.queries()?;
    let silent = &mut |_: &lineal_erm::structured::LearnPass<'_>| ControlFlow::Continue(());
    let with = |loss: Loss, n: f64| LearnSpec { loss, l2: 1.0 / (c * n), ..spec.clone() };
    let decisions = match loss {
        "pair-hinge" | "pair-logistic" | "pair-perceptron" => Some(Decisions::Pairs),
        "pair-squared" => Some(Decisions::SquaredPairs),
        "softmax" => Some(Decisions::Softmax(Gain::Exponential)),
        "plackett-luce" => Some(Decisions::PlackettLuce),
        _ => None,
    };
    if let Some(decisions) = decisions {
        let ranking = Ranking::new(queries, decisions, normalise);
        let learner = match loss {
            "pair-hinge" => Loss::Hinge,
            "pair-perceptron" => Loss::Perceptron,
            _ => Loss::Logistic,
        };
        return Ok(learn(&ranking, &with(learner, ranking.n_decisions()), None, silent)?);
    }
    let orders = match loss {
        "ndcg" => Orders::Ndcg { at: None, gain: Gain::Exponential },
        "ndcg@10" => Orders::Ndcg { at: Some(10), gain: Gain::Exponential },
        "map" => Orders::AveragePrecision { above: 0.0 },
        _ => return Err(format!("no loss {loss}: choose one of {}", LOSSES.join(", ")).into()),
    };
    let ranking = Ranking::new(queries, orders, normalise);
    Ok(learn_max(&ranking, &with(Loss::Hinge, ranking.n_decisions()), None, silent)?)
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        args.iter().position(|arg| arg == name).and_then(|at| args.get(at + 1)).cloned()
    };
    let flag = |name: &str| args.iter().any(|arg| arg == name);
    let [train_path, test_path, ..] = &args[..] else {
        return Err("letor TRAIN TEST [--loss NAME] [--c LIST] [--tol T] [--passes N] [--queries] [--standardise] [--folds K]".into());
    };
    let mut data = read(train_path, None)?;
    let mut test = read(test_path, Some(data.x.n_cols()))?;
    if flag("--standardise") {
        let scales = data.scales();
        data.standardise(&scales);
        test.standardise(&scales);
    }
    let losses = value("--loss").map_or(LOSSES.map(String::from).to_vec(), |loss| vec![loss]);
    let c: Vec<f64> = value("--c")
        .unwrap_or("0.001,0.01,0.1,1".into())
        .split(',')
        .map(str::parse)
        .collect::<std::result::Result<_, _>>()?;
    let folds: usize = value("--folds").map_or(Ok(0), |k| k.parse())?;
    let repeats: usize = value("--repeats").map_or(Ok(1), |r| r.parse())?;
    let solver = match value("--solver").as_deref() {
        Some("sgd") => Solver::Sgd,
        Some("lbfgs") => Solver::Lbfgs,
        Some("dual") => Solver::Dual,
        _ => Solver::Auto,
    };
    let spec = LearnSpec {
        solver,
        tol: value("--tol").map_or(Ok(1e-3), |tol| tol.parse())?,
        passes: value("--passes").map_or(Ok(1000), |passes| passes.parse())?,
        ..LearnSpec::default()
    };
    let normalise = if flag("--queries") { Normalise::Queries } else { Normalise::Decisions };
    let queries = data.queries()?;
    let pairs = Ranking::new(queries, Decisions::Pairs, normalise);
    println!(
        "{} documents, {} queries, {} of them with pairs, {} pairs",
        data.x.n_rows(),
        data.ends.len(),
        pairs.n_informative(),
        pairs.n_decisions()
    );
    for loss in &losses {
        for &c in &c {
            // The perceptron has no objective to reach.
            let mut spec = spec.clone();
            if loss == "pair-perceptron" {
                spec.passes = spec.passes.min(50);
            }
            if folds > 1 {
                let (mut ndcg, mut map) = (0.0, 0.0);
                let n = (folds * repeats) as f64;
                for (fold, repeat) in (0..n as usize).map(|at| (at % folds, at / folds)) {
                    let mut rng = Rng::new(repeat as u64);
                    let of: Vec<u64> = data.ends.iter().map(|_| rng.next_u64()).collect();
                    let fold_of = |q: usize| of[q] as usize % folds;
                    let learnt =
                        train(&data.part(|q| fold_of(q) != fold), loss, normalise, &spec, c)?;
                    let (a, b) = evaluate(&data.part(|q| fold_of(q) == fold), &learnt.w)?;
                    (ndcg, map) = (ndcg + a / n, map + b / n);
                }
                println!("{loss:16} C {c:<8} {folds} folds: NDCG@10 {ndcg:.4} MAP {map:.4}");
                continue;
            }
            let start = Instant::now();
            let learnt = train(&data, loss, normalise, &spec, c)?;
            let seconds = start.elapsed().as_secs_f64();
            let (ndcg, map) = evaluate(&test, &learnt.w)?;
            let report = learnt.report;
            println!(
                "{loss:16} C {c:<8} NDCG@10 {ndcg:.4} MAP {map:.4}  {seconds:.3} s, {} passes, objective {:.8}, gap {:.1e}{}",
                report.passes,
                report.objective.unwrap_or(f64::NAN),
                report.gap.unwrap_or(f64::NAN),
                if report.converged { "" } else { ", not converged" }
            );
        }
    }
    Ok(())
}
