//! How long one query of n documents takes, for n up to a million: every loss once, value and gradient or augmented argmax.
//!
//!     cargo run --release -p lineal-ranking --example long_lists

use lineal_linalg::{Dense, Matrix, Rng};
use lineal_model::structure::{Ask, MaxOracle, Structure, SumOracle};
use lineal_ranking::{Decisions, Documents, Gain, Normalise, Orders, Outcome, Queries, Ranking};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("seconds for one query, single-threaded");
    println!("{:34} {:>10} {:>10} {:>10}", "", 10_000, 100_000, 1_000_000);
    for n_grades in [2, 5, 1_000_000] {
        let mut rows: Vec<(String, Vec<f64>)> = Vec::new();
        for n in [10_000usize, 100_000, 1_000_000] {
            let mut rng = Rng::new(n as u64);
            let x: Vec<f32> = (0..n).map(|_| 8.0 * (rng.unit() as f32 - 0.5)).collect();
            let grade =
                |x: &f32| ((f64::from(*x) / 8.0 + rng.unit()) * n_grades as f64 / 1.5).floor();
            let grades: Vec<f32> = x.iter().map(grade).map(|g| g.max(0.0) as f32).collect();
            let x = Matrix::Dense(Dense::new(n, 1, x)?);
            let ends = [n];
            let queries = Queries::new(&x, &ends, &grades)?;
            let mut note =
                |name: String, seconds: f64| match rows.iter_mut().find(|row| row.0 == name) {
                    Some(row) => row.1.push(seconds),
                    None => rows.push((name, vec![seconds])),
                };
            for (name, decisions) in [
                ("pairs", Decisions::Pairs),
                ("squared pairs", Decisions::SquaredPairs),
                ("softmax", Decisions::Softmax(Gain::Linear)),
                ("Plackett-Luce", Decisions::PlackettLuce),
            ] {
                let ranking = Ranking::new(queries.clone(), decisions, Normalise::default());
                let (mut s, mut theta) = (ranking.scratch(), Documents::<f64>::default());
                let (mut mu, mut y) = (Documents::default(), Outcome::default());
                ranking.scores(0, &[1.0], 1.0, &mut s, &mut theta);
                let start = Instant::now();
                let value = ranking
                    .expect(0, &theta, Ask::Plain, &mut s, &mut mu)
                    .map_err(|_| "no output")?;
                note(format!("{name}, value and gradient"), start.elapsed().as_secs_f64());
                assert!(value.is_finite());
                let start = Instant::now();
                ranking
                    .argmax(0, &mut theta, Ask::Augmented, &mut s, &mut y)
                    .map_err(|_| "no output")?;
                note(format!("{name}, argmax"), start.elapsed().as_secs_f64());
            }
            for (name, orders) in [
                ("NDCG", Orders::Ndcg { at: None, gain: Gain::Linear }),
                ("NDCG@10", Orders::Ndcg { at: Some(10), gain: Gain::Linear }),
                ("average precision", Orders::AveragePrecision { above: 0.0 }),
            ] {
                let ranking = Ranking::new(queries.clone(), orders, Normalise::default());
                let (mut s, mut theta) = (ranking.scratch(), Documents::<f64>::default());
                let mut y = Outcome::default();
                ranking.scores(0, &[1.0], 1.0, &mut s, &mut theta);
                let start = Instant::now();
                let found = ranking
                    .argmax(0, &mut theta, Ask::Augmented, &mut s, &mut y)
                    .map_err(|_| "no output")?;
                let seconds = start.elapsed().as_secs_f64();
                let exact = if found.upper > found.score { ", with a bound" } else { "" };
                note(format!("{name}, argmax{exact}"), seconds);
            }
        }
        println!("up to {n_grades} grades");
        for (name, seconds) in rows {
            let seconds: Vec<String> = seconds.iter().map(|s| format!("{s:10.4}")).collect();
            println!("{name:34} {}", seconds.join(" "));
        }
    }
    Ok(())
}
