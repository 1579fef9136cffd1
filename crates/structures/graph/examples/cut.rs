//! Times the cut of a grid: construction and solution, one thread.
//!
//! ```text
//! cut WIDTH HEIGHT KIND [REPEAT] [FILE]
//! ```
//!
//! KIND is `blobs`, `noise` or `smooth` (see `capacities`; `bench/cuts_peer.py` has the same formulas), or `file`: FILE then has, for each pixel, three little-endian i32: the signed terminal capacity, and the capacities to the right and down, the same in
//! both directions. Prints the flow, the fastest of the repeats in CPU seconds, and the peak of memory in kilobytes, as JSON.

use lineal_graph::flow::{Cut, Grid, GridCut};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let at = |i: usize| args.get(i).map(String::as_str).unwrap_or_default();
    let (width, height): (usize, usize) = (at(0).parse()?, at(1).parse()?);
    let repeat: usize = at(3).parse().unwrap_or(1);
    let planes = match at(2) {
        "file" => from_file(at(4), width * height)?,
        kind => (0..width * height).map(|p| capacities(kind, p % width, p / width)).collect(),
    };
    let (mut seconds, mut flow) = (Vec::new(), 0);
    let mut bytes = 0;
    for _ in 0..repeat.max(1) {
        let begun = cpu_seconds();
        let mut cut = GridCut::<i32, 4>::grid(width, height).ok_or("the grid is too large")?;
        cut.fill(
            |pixel| planes[pixel][0],
            |edge| {
                let capacity = planes[edge.from][1 + edge.axis];
                (capacity, capacity)
            },
        );
        let below: i64 = planes.iter().map(|p| i64::from(p[0].min(0))).sum();
        flow = cut.solve() - i128::from(below);
        seconds.push(cpu_seconds() - begun);
        bytes = cut.bytes();
    }
    let best = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    let pixel = Grid::<i32, 4>::bytes_per_pixel();
    println!(
        "{{\"flow\": {flow}, \"seconds\": {best:.4}, \"all\": {seconds:.4?}, \"cut_bytes\": {bytes}, \"bytes_per_pixel\": {pixel}, \"peak_kb\": {}}}",
        peak()
    );
    Ok(())
}

fn from_file(path: &str, n: usize) -> Result<Vec<[i32; 3]>, Box<dyn std::error::Error>> {
    let bytes = std::fs::read(path)?;
    if bytes.len() != 12 * n {
        return Err(
            format!("{path} has {} bytes, but {n} pixels need {}", bytes.len(), 12 * n).into()
        );
    }
    let number = |b: &[u8]| i32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    Ok(bytes.chunks_exact(12).map(|p| [number(p), number(&p[4..]), number(&p[8..])]).collect())
}

/// Whole numbers by a fixed formula: the signed terminal capacity of a pixel, and the capacities to the right and down.
fn capacities(kind: &str, x: usize, y: usize) -> [i32; 3] {
    let noise = |salt: u32| {
        let mut h = (x as u32).wrapping_mul(0x9e37_79b1)
            ^ (y as u32).wrapping_mul(0x85eb_ca77)
            ^ salt.wrapping_mul(0xc2b2_ae3d);
        h = (h ^ (h >> 15)).wrapping_mul(0x2c1b_3c6d);
        h = (h ^ (h >> 12)).wrapping_mul(0x297a_2d39);
        ((h ^ (h >> 15)) >> 16) as i32 % 1000
    };
    let inside = |x: usize, y: usize| {
        let (a, b) = ((x % 200) as i32 - 100, (y % 200) as i32 - 100);
        a * a + b * b < 3600
    };
    let sign = if inside(x, y) { 1 } else { -1 };
    match kind {
        // Discs under strong noise, edges weak where the disc ends: a segmentation.
        "blobs" => {
            let edge = |x2: usize, y2: usize, salt| {
                if inside(x, y) == inside(x2, y2) { 300 + noise(salt) / 4 } else { 60 }
            };
            [sign * 150 + noise(1) - 500, edge(x + 1, y, 2), edge(x, y + 1, 3)]
        }
        // No object at all.
        "noise" => [noise(1) - 500, noise(2) / 2, noise(3) / 2],
        // Weak noise, strong edges: long paths.
        _ => [sign * 20 + (noise(1) - 500) / 5, 400, 400],
    }
}

/// CPU time of this process so far: what others do on the machine does not count.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    stat.split_whitespace().next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
}

/// The most memory that the process has held, in kilobytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}
