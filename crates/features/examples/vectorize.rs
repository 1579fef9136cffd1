//! Text into LIBSVM rows: `vectorize TRAIN [--spec JSON] [--test FILE] [--out PREFIX] [--repeat N]`.
//!
//! A file is JSON lines with a field `text`, or (`.tsv`) columns under a header of which one is `text`, or plain text, a
//! document a line; `-` is standard input. Writes `PREFIX.train.svm`, `PREFIX.test.svm` (label 0, columns from 1) and
//! `PREFIX.names` (a JSON string a line), and how fast it was to standard error. The specification is that of
//! `lineal_features::text::TextSpec`, as in `--spec '{"ngrams": [1, 2], "min_df": 2}'`.

use lineal_features::text::{TextEncoder, TextSpec};
use lineal_linalg::{Csr, Row};
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let train = args.next().ok_or("which file?")?;
    let (mut spec, mut test, mut out, mut repeat) = (TextSpec::default(), None, None, 1);
    while let Some(flag) = args.next() {
        let value = args.next().ok_or("a flag without its value")?;
        match flag.as_str() {
            "--spec" => spec = serde_json::from_str(&value)?,
            "--test" => test = Some(value),
            "--out" => out = Some(value),
            "--repeat" => repeat = value.parse()?,
            _ => return Err(format!("unknown flag {flag}").into()),
        }
    }
    let train = documents(&train)?;
    let test = test.map(|path| documents(&path)).transpose()?;
    let mut result = None;
    for _ in 0..repeat {
        let clock = Instant::now();
        result = Some(TextEncoder::fit(spec.clone(), &train)?);
        report("fit", &train, clock);
    }
    let Some((encoder, rows)) = result else { return Ok(()) };
    eprintln!("{} columns", encoder.n_features());
    if let Some(collisions) = encoder.collisions() {
        eprintln!("{:.2} % in a column of another name", 100.0 * collisions.share());
    }
    let mut encoded = None;
    if let Some(test) = &test {
        let clock = Instant::now();
        encoder.encode(&test[..0].to_vec())?;
        if let Some(text) = test.first() {
            encoder.encode(&[text])?;
        }
        eprintln!("tables: {:.1} ms", 1e3 * clock.elapsed().as_secs_f64());
        for _ in 0..repeat {
            let clock = Instant::now();
            encoded = Some(encoder.encode(test)?);
            report("encode", test, clock);
        }
    }
    let Some(prefix) = out else { return Ok(()) };
    write_rows(&format!("{prefix}.train.svm"), &rows)?;
    if let Some(encoded) = encoded {
        write_rows(&format!("{prefix}.test.svm"), &encoded)?;
    }
    let mut names = BufWriter::new(File::create(format!("{prefix}.names"))?);
    for j in 0..encoder.n_features() {
        writeln!(names, "{}", serde_json::to_string(&encoder.feature_name(j))?)?;
    }
    Ok(names.flush()?)
}

fn report(what: &str, documents: &[String], clock: Instant) {
    let megabytes = documents.iter().map(String::len).sum::<usize>() as f64 / 1e6;
    let seconds = clock.elapsed().as_secs_f64();
    eprintln!("{what}: {megabytes:.1} MB in {seconds:.3} s, {:.0} MB/s", megabytes / seconds);
}

fn documents(path: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut text = String::new();
    if path == "-" {
        std::io::stdin().read_to_string(&mut text)?;
    } else {
        File::open(path)?.read_to_string(&mut text)?;
    }
    let mut lines = text.split_terminator('\n');
    if path.ends_with(".tsv") {
        let header = lines.next().unwrap_or_default();
        let at = header.split('\t').position(|name| name == "text").ok_or("no column `text`")?;
        return Ok(lines.map(|l| l.split('\t').nth(at).unwrap_or_default().to_owned()).collect());
    }
    lines
        .map(|line| {
            if !line.starts_with('{') {
                return Ok(line.to_owned());
            }
            let object: serde_json::Value = serde_json::from_str(line)?;
            Ok(object["text"].as_str().ok_or("no field `text`")?.to_owned())
        })
        .collect()
}

fn write_rows(path: &str, rows: &Csr) -> Result<(), Box<dyn Error>> {
    let mut out = BufWriter::new(File::create(path)?);
    for i in 0..rows.n_rows() {
        write!(out, "0")?;
        if let Row::Sparse(row) = rows.row(i) {
            for (j, v) in row.idx().iter().zip(row.val()) {
                write!(out, " {}:{v}", j + 1)?;
            }
        }
        writeln!(out)?;
    }
    Ok(out.flush()?)
}
