//! The tutorial (docs/tutorial.md) from Rust: read a table, train, measure, predict, explain, save and load.
//!
//!     cargo run --release -p lineal --example customers

use lineal::{ExplainSpec, Metrics, Model, Predicted, ReadOptions, TrainSpec, read, train};
use std::path::{Path, PathBuf};

fn main() -> Result<(), lineal::Error> {
    let tables = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/tutorial");
    let options = ReadOptions { label: Some("left".into()), ..ReadOptions::default() };
    let data = read(tables.join("customers.csv"), &options)?;
    for warning in &data.warnings {
        eprintln!("warning: {warning}");
    }

    let (model, report) = train(&data, &TrainSpec::default())?;
    println!("{}", report.certificate());

    // The model knows how its columns were read.
    let test = model.read(tables.join("customers-test.csv"), &ReadOptions::default())?;
    if let Metrics::Classify(metrics) = model.evaluate(&test)? {
        println!("accuracy {:.4}", metrics.accuracy);
    }

    let new = model.read(tables.join("customers-new.csv"), &ReadOptions::default())?;
    let proba = model.proba(&new)?;
    if let Predicted::Classes(answers) = model.predict(&new)? {
        for (row, &class) in answers.iter().enumerate() {
            let class = class as usize;
            println!("{} with probability {:.2}", model.classes()[class], proba.row(row)[class]);
        }
    }

    let why = model.explain(&new, &ExplainSpec { top: Some(2), ..ExplainSpec::default() })?;
    for reason in &why[0].contributions {
        println!("{:+.3} {}", reason.value * reason.weight, model.feature_name(reason.feature));
    }

    let path: &Path = &std::env::temp_dir().join("customers.lineal");
    model.save(path)?;
    let again = Model::load(path)?;
    assert_eq!(again.predict(&new)?, model.predict(&new)?);
    Ok(())
}
