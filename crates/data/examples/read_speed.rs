//! MB/s of reading a file, on one thread and on two:
//! `cargo run --release -p lineal-data --example read_speed FILE [LABEL COLUMN]`

use std::time::Instant;

use lineal_data::{ReadOptions, read};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("name a file")?;
    let options = ReadOptions { label: args.next(), ..ReadOptions::default() };
    let bytes = std::fs::metadata(&path)?.len() as f64;
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let mut best = f64::INFINITY;
        let mut shape = String::new();
        for _ in 0..9 {
            let start = Instant::now();
            let d = pool.install(|| read(path.as_str(), &options))?;
            best = best.min(start.elapsed().as_secs_f64());
            shape = format!("{} × {}, {} stored", d.n_rows(), d.n_features(), d.x.nnz());
        }
        println!("{threads} thread(s): {:.0} MB/s, {best:.4} s, {shape}", bytes / best / 1e6);
    }
    Ok(())
}
