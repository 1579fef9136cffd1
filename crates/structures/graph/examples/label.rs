//! Times labellings of an image with noise: the best one, and what every other label of every pixel would cost.
//!
//! ```text
//! label WIDTH HEIGHT LABELS
//! ```
//!
//! Prints wall-clock seconds, the score, and how far from the best it can be.

use lineal_graph::{Decoder, Effort, Neighbours, Potts, Topology, columns};
use lineal_linalg::Rng;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<usize> =
        std::env::args().skip(1).map(|word| word.parse()).collect::<Result<_, _>>()?;
    let &[width, height, n_labels] = &args[..] else {
        return Err("three numbers are needed: width, height and number of labels".into());
    };
    let topology = Topology::grid(width, height, Neighbours::Four)?;
    let mut rng = Rng::new(1);
    // Stripes of labels; a pixel's own label leads by less than the noise.
    let k = columns(n_labels);
    let mut own = Vec::new();
    for pixel in 0..width * height {
        let label = (pixel % width * n_labels / width + pixel / width / 24) % n_labels;
        for column in 0..k {
            let lead = match k {
                1 => 2.0 * label as f64 - 1.0,
                _ => f64::from(u8::from(label == column)),
            };
            own.push(0.4 * lead + 2.0 * rng.unit() - 1.0);
        }
    }
    let cost: Vec<f64> = (0..topology.n_edges()).map(|_| 0.2 + 0.4 * rng.unit()).collect();
    let potts = Potts { topology: &topology, n_labels, own: &own, cost: &cost, known: &[] };
    let mut decoder = Decoder::<i64>::default();
    let mut labels = Vec::new();
    for bound_rounds in [0, 20, 100] {
        let effort = Effort { bound_rounds, ..Effort::default() };
        let begun = Instant::now();
        let found = decoder.best(&potts, &effort, &mut labels);
        let seconds = begun.elapsed().as_secs_f64();
        println!(
            "bound rounds {bound_rounds}: {seconds:.4} s, score {:.3}, at most {:.5} below the best",
            found.score, found.slack
        );
    }
    let effort = Effort { bound_rounds: 0, ..Effort::default() };
    let begun = Instant::now();
    let found = decoder.marginals(&potts, &effort, 0..width * height);
    let seconds = begun.elapsed().as_secs_f64();
    let sure = (0..width * height).filter(|&pixel| found.confidence(pixel) > 0.9).count();
    println!("marginals: {seconds:.3} s, {sure} of {} pixels above 0.9", width * height);
    Ok(())
}
