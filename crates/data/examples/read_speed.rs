//! MB/s of reading a file, on one thread and on two:
//! `cargo run --release -p lineal-data --example read_speed FILE [LABEL COLUMN [TEXT COLUMN]]`

use std::time::Instant;

use lineal_data::{ReadOptions, TextBatch, TextSink, read_text};

/// Counts bytes.
struct Counter(usize);

impl TextSink for Counter {
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        self.0 += batch.n_bytes();
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("name a file")?;
    let (label, text) = (args.next(), args.next().into_iter().collect());
    let options = ReadOptions { label, text, ..ReadOptions::default() };
    let bytes = std::fs::metadata(&path)?.len() as f64;
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut best = f64::INFINITY;
        let mut shape = String::new();
        for _ in 0..9 {
            let start = Instant::now();
            let (d, Counter(n)) = pool.install(|| {
                let mut text = Counter(0);
                read_text(path.as_str(), &options, &mut text).map(|d| (d, text))
            })?;
            best = best.min(start.elapsed().as_secs_f64());
            let (n_rows, n_features, nnz) = (d.n_rows(), d.n_features(), d.x.nnz());
            shape = format!("{n_rows} × {n_features}, {nnz} stored, {n} bytes of text");
        }
        println!("{threads} thread(s): {:.0} MB/s, {best:.4} s, {shape}", bytes / best / 1e6);
    }
    Ok(())
}
