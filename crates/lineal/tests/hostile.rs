//! Model files from an enemy: whatever the bytes, loading gives an error or a model that can be used without a panic.

use lineal::{Model, Predicted, ReadOptions, Source, TrainSpec, read, train};
use lineal_model::file::{ModelFile, TensorData, encode};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde_json::Value;

const CSV: &str =
    "age,color,label\n31,red,yes\n25,blue,no\n40,red,maybe\n22,green,no\n35,blue,yes\n";

fn source() -> Source {
    Source::Memory { name: "people.csv".into(), bytes: CSV.as_bytes().to_vec() }
}

fn model_bytes() -> Vec<u8> {
    let data = read(source(), &ReadOptions::default()).unwrap();
    train(&data, &TrainSpec::default()).unwrap().0.to_bytes().unwrap()
}

/// Everything that can be asked of a model.
fn use_it(model: &Model) {
    let _ = model.report().certificate();
    let _ = (model.bias(), model.nonzeros());
    for class in 0..model.classes().len().max(1) {
        let _ = model.top_features(class, 3);
    }
    if let Ok(data) = model.read(source(), &ReadOptions::default()) {
        if let Predicted::Classes(classes) = model.predict(&data).unwrap() {
            assert!(classes.iter().all(|&c| (c as usize) < model.classes().len()));
        }
        let _ = model.scores(&data).unwrap();
        if let Ok(proba) = model.proba(&data) {
            let _ = (model.sample(&proba, 1), model.least_cost(&proba));
        }
        let _ = model.evaluate(&data);
    }
    // What was believed once is believed again: JSON has no infinity, and 1e39 is one in single precision.
    let bytes = model.to_bytes().expect("what was read can be written");
    Model::from_bytes(&bytes).expect("what was read and written can be read again");
}

#[test]
fn ten_thousand_mutations_of_the_bytes_never_panic() {
    let bytes = model_bytes();
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut accepted = 0;
    for _ in 0..10_000 {
        let mut mutant = bytes.clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..mutant.len().max(1));
            match rng.random_range(0..4) {
                0 => mutant.truncate(at),
                1 => mutant.insert(at.min(mutant.len()), rng.random()),
                2 if at < mutant.len() => drop(mutant.remove(at)),
                _ if at < mutant.len() => mutant[at] ^= 1 << rng.random_range(0..8),
                _ => {}
            }
        }
        if let Ok(model) = Model::from_bytes(&mutant) {
            accepted += usize::from(mutant != bytes);
            use_it(&model);
        }
    }
    assert_eq!(accepted, 0, "a changed file passed its checksum");
}

/// Such a model was loaded, asked and written, and what was written was refused: "null, expected f32".
#[test]
fn a_mean_that_is_infinite_in_single_precision_is_refused_at_once() {
    let bytes = model_bytes();
    let file = ModelFile::from_bytes(&bytes).unwrap();
    let Ok(Some(TensorData::F64(weights))) = file.tensor("weights") else { panic!("f64 weights") };
    let shape = file.shape("weights").unwrap().to_vec();
    let mut about = file.model().clone();
    let column = &mut about["schema"]["columns"][0];
    let mean = column["kind"]["numeric"].get_mut("mean").expect("age is a number");
    *mean = Value::from(1e39);
    let bytes = encode(&about, &[("weights", shape, TensorData::F64(weights))]).unwrap();
    let why = Model::from_bytes(&bytes).unwrap_err().to_string();
    assert!(why.contains("age has the mean inf"), "{why}");
}

#[test]
fn descriptions_that_lie_with_a_valid_checksum_never_panic() {
    let bytes = model_bytes();
    let file = ModelFile::from_bytes(&bytes).unwrap();
    let Ok(Some(TensorData::F64(weights))) = file.tensor("weights") else { panic!("f64 weights") };
    let shape = file.shape("weights").unwrap().to_vec();
    let mut rng = Pcg64Mcg::seed_from_u64(2);
    let mut loaded = 0;
    for _ in 0..3_000 {
        let mut about = file.model().clone();
        for _ in 0..rng.random_range(1..4) {
            let n = count(&about);
            mutate(&mut about, &mut rng.random_range(0..n), &mut rng);
        }
        let bytes =
            encode(&about, &[("weights", shape.clone(), TensorData::F64(weights))]).unwrap();
        if let Ok(model) = Model::from_bytes(&bytes) {
            loaded += 1;
            use_it(&model);
        }
    }
    assert!((100..2_900).contains(&loaded), "{loaded} of 3,000 mutants were believed");
}

fn count(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(count).sum::<usize>(),
        Value::Object(fields) => 1 + fields.values().map(count).sum::<usize>(),
        _ => 1,
    }
}

/// Changes the value that is `at` places further in depth-first order.
fn mutate(value: &mut Value, at: &mut usize, rng: &mut Pcg64Mcg) {
    if *at == 0 {
        *value = match (rng.random_range(0..6), &*value) {
            (0, _) => Value::Null,
            (1, Value::Number(n)) => Value::from(n.as_f64().unwrap_or(0.0) + 1.0),
            (2, Value::Number(n)) => Value::from(n.as_u64().unwrap_or(7).wrapping_add(1)),
            (1 | 2, Value::String(_)) => Value::from("classes"),
            (3, _) => Value::from(u64::MAX),
            (4, Value::Array(items)) => {
                Value::Array(items.iter().chain(items.first()).cloned().collect())
            }
            (5, Value::Array(items)) => Value::Array(items.iter().skip(1).cloned().collect()),
            (4, Value::Number(_)) => Value::from(1e39),
            (4, _) => Value::from(-1),
            _ => Value::from("regress"),
        };
    }
    let step = |inner: &mut Value, at: &mut usize, rng: &mut Pcg64Mcg| {
        if *at != usize::MAX {
            *at = at.wrapping_sub(1);
            if *at != usize::MAX {
                mutate(inner, at, rng);
            }
        }
    };
    if *at == 0 {
        *at = usize::MAX;
        return;
    }
    match value {
        Value::Array(items) => items.iter_mut().for_each(|inner| step(inner, at, rng)),
        Value::Object(fields) => fields.values_mut().for_each(|inner| step(inner, at, rng)),
        _ => {}
    }
}
