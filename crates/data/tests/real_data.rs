//! Shapes of real sets. Passes without a look where the folder is not there.

use std::path::PathBuf;

use lineal_data::{Dataset, ReadOptions, TargetKind, Targets, read, read_with};
use lineal_linalg::Matrix;

/// `LINEAL_DATA`, else `shared/data` beside the repository.
fn data(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("LINEAL_DATA")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"));
    Some(folder.join(name)).filter(|path| path.exists())
}

fn shape(d: &Dataset) -> (usize, usize, usize) {
    (d.n_rows(), d.n_features(), d.schema.classes.len())
}

#[test]
fn a9a() {
    let (Some(train), Some(test)) = (data("libsvm/a9a.gz"), data("libsvm/a9a.t.gz")) else {
        return;
    };
    let d = read(train, &ReadOptions::default()).unwrap();
    assert_eq!((shape(&d), d.x.nnz()), ((32_561, 123, 2), 451_592));
    assert_eq!(d.schema.classes, ["-1", "1"]);
    let t = read_with(test, &ReadOptions::default(), &d.schema).unwrap();
    assert_eq!((shape(&t), t.warnings.len()), ((16_281, 123, 2), 0));
}

#[test]
fn letters_and_newsgroups() {
    let Some(path) = data("libsvm/letter.scale.gz") else { return };
    let d = read(path, &ReadOptions::default()).unwrap();
    assert_eq!(shape(&d), (15_000, 16, 26));
    assert_eq!((d.schema.classes[1].as_str(), d.schema.classes[25].as_str()), ("2", "26"));
    let Some(path) = data("newsgroups/tfidf-train.svm.gz") else { return };
    let d = read(path, &ReadOptions::default()).unwrap();
    assert_eq!((shape(&d), d.x.nnz()), ((11_314, 56_438, 20), 1_713_910));
}

#[test]
fn tables() {
    let Some(path) = data("iris.csv.gz") else { return };
    let options = ReadOptions { label: Some("virginica".into()), ..ReadOptions::default() };
    let d = read(path, &options).unwrap();
    assert_eq!(shape(&d), (150, 4, 3));
    assert!(matches!(d.x, Matrix::Dense(_)));
    let Some(path) = data("digits.csv.gz") else { return };
    let options = ReadOptions { label: Some("65".into()), header: false, ..ReadOptions::default() };
    let d = read(path, &options).unwrap();
    assert_eq!(shape(&d), (1797, 64, 10));
    let real = ReadOptions { target: TargetKind::Real, ..options };
    let Some(path) = data("digits.csv.gz") else { return };
    assert!(matches!(read(path, &real).unwrap().y, Targets::Real(y) if y[1] == 1.0));
}

#[test]
fn text_is_shown_as_ignored() {
    let Some(path) = data("banking77/train.csv.gz") else { return };
    let options = ReadOptions { label: Some("category".into()), ..ReadOptions::default() };
    let d = read(path, &options).unwrap();
    assert_eq!(shape(&d), (10_003, 0, 77));
    assert!(
        d.schema.describe()[0].contains("ignored: looks like free text"),
        "{:?}",
        d.schema.describe()
    );
    let Some(path) = data("occupations/train.tsv.gz") else { return };
    assert_eq!(shape(&read(path, &ReadOptions::default()).unwrap()), (47_478, 0, 1016));
    let Some(path) = data("newsgroups/test.jsonl.gz") else { return };
    assert_eq!(shape(&read(path, &ReadOptions::default()).unwrap()), (7532, 1, 20));
}

#[test]
fn mnist() {
    let Some(path) = data("mnist/t10k-images-idx3-ubyte.gz") else { return };
    let d = read(path, &ReadOptions::default()).unwrap();
    assert_eq!(shape(&d), (10_000, 784, 10));
    assert!(matches!(d.x, Matrix::Sparse(_)));
}

#[test]
fn other_tasks_are_named() {
    for (name, said) in
        [("multilabel/scene-train.svm.gz", "multilabel"), ("mq2008/train.letor.gz", "ranking")]
    {
        let Some(path) = data(name) else { return };
        let error = read(path, &ReadOptions::default()).unwrap_err();
        assert!(error.message.contains(said), "{error}");
    }
}
