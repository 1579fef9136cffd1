//! Shapes of real sets. Passes without a look where the folder is not there.

use std::io::Read;
use std::ops::ControlFlow;
use std::path::PathBuf;

use lineal_data::{
    BracketReadOptions, Dataset, ReadOptions, SentenceEdits, TargetKind, Targets, TextBatch,
    TextSink, TreebankOptions, learn_schema, read, read_brackets, read_text, read_treebank,
    read_treebank_with, read_with, stream,
};
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
    let options =
        ReadOptions { label: Some("65".into()), header: Some(false), ..ReadOptions::default() };
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
        d.schema.describe()[0].contains("ignored: different in most rows"),
        "{:?}",
        d.schema.describe()
    );
    let Some(path) = data("occupations/train.tsv.gz") else { return };
    assert_eq!(shape(&read(path, &ReadOptions::default()).unwrap()), (47_478, 0, 1016));
    let Some(path) = data("newsgroups/test.jsonl.gz") else { return };
    assert_eq!(shape(&read(path, &ReadOptions::default()).unwrap()), (7532, 0, 20));
}

/// Counts rows and bytes.
#[derive(Default)]
struct Counter(usize, usize);

impl TextSink for Counter {
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        self.0 += batch.n_rows();
        self.1 += batch.n_bytes();
        Ok(())
    }
}

/// Rows, classes and bytes of text, counted by Python's csv and json, or by its str.split for tsv: `len(rows)`,
/// `len({label})`, `sum(len(text.encode()))`.
#[test]
fn text() {
    for (name, label, expected) in [
        ("sentiment/sst2-train.tsv.gz", "label", (6920, 2, 718_254)),
        ("sentiment/trec-train.tsv.gz", "label", (5452, 6, 276_047)),
        ("sentiment/trec-test.tsv.gz", "label", (500, 6, 17_979)),
        ("occupations/train.tsv.gz", "label", (47_478, 1016, 959_859)),
        ("occupations/test.tsv.gz", "label", (5276, 920, 105_669)),
        ("banking77/train.csv.gz", "category", (10_003, 77, 594_980)),
        ("banking77/test.csv.gz", "category", (3080, 77, 167_046)),
        ("newsgroups/train.jsonl.gz", "label", (11_314, 20, 22_054_751)),
    ] {
        let Some(path) = data(name) else { return };
        let (label, text) = (Some(label.to_owned()), vec!["text".to_owned()]);
        let options = ReadOptions { label, text, ..ReadOptions::default() };
        let mut text = Counter::default();
        let d = read_text(&path, &options, &mut text).unwrap();
        assert_eq!((d.n_rows(), d.schema.classes.len(), text.1), expected, "{name}");
        assert_eq!(text.0, d.n_rows());

        let options = ReadOptions { grow_classes: true, ..options };
        let schema = learn_schema(&path, &options, 1000).unwrap().schema;
        let mut chunks = Counter::default();
        let learnt = stream(&path, &options, &schema, 1000, &mut |chunk, text| {
            chunks.0 += chunk.n_rows();
            chunks.1 += text.map_or(0, TextBatch::n_bytes);
            Ok(ControlFlow::Continue(()))
        });
        let n_classes = learnt.unwrap().schema.classes.len();
        assert_eq!((chunks.0, n_classes, chunks.1), expected, "{name}");
    }
}

#[test]
fn chunks_of_a9a() {
    let Some(path) = data("libsvm/a9a.gz") else { return };
    let mut schema = learn_schema(&path, &ReadOptions::default(), 10_000).unwrap().schema;
    // The last feature comes once, late.
    assert_eq!(schema.n_features, 122);
    schema.n_features = 123;
    let (mut n_rows, mut nnz) = (0, 0);
    let learnt = stream(&path, &ReadOptions::default(), &schema, 1000, &mut |chunk, _| {
        n_rows += chunk.n_rows();
        nnz += chunk.x.nnz();
        Ok(ControlFlow::Continue(()))
    });
    assert_eq!(learnt.unwrap().warnings, Vec::<String>::new());
    assert_eq!((n_rows, nnz), (32_561, 451_592));
}

#[test]
fn mnist() {
    let Some(path) = data("mnist/t10k-images-idx3-ubyte.gz") else { return };
    let d = read(path, &ReadOptions::default()).unwrap();
    assert_eq!(shape(&d), (10_000, 784, 10));
    assert!(matches!(d.x, Matrix::Sparse(_)));
}

/// Rows, features, labels, labels of all rows together, rows without any. All but the features were counted by
/// `zcat F | python3 -c 'import sys; r = [l.split(" ")[0] for l in sys.stdin]; y = [x.split(",") for x in r if x];
/// print(len(r), len({l for x in y for l in x}), sum(map(len, y)), r.count(""))'`.
#[test]
fn label_lists() {
    for (name, expected) in [
        ("bibtex-train", (4880, 1836, 159, 11_616, 0)),
        ("delicious-train", (12_920, 500, 983, 246_088, 10)),
        ("delicious-test", (3185, 500, 982, 60_229, 4)),
        // One row gives label 12 twice.
        ("reuters90-train", (7770, 15_165, 90, 9585, 0)),
        ("scene-train", (1211, 294, 6, 1286, 0)),
        ("yeast-test", (917, 103, 14, 3899, 0)),
    ] {
        let Some(path) = data(&format!("multilabel/{name}.svm.gz")) else { return };
        let options = ReadOptions { target: TargetKind::Labels, ..ReadOptions::default() };
        let d = read(path, &options).unwrap();
        let Targets::Labels(y) = &d.y else { panic!("labels were asked for") };
        let (n_rows, n_features, n_labels) = shape(&d);
        let n_empty = y.iter().filter(|row| row.is_empty()).count();
        assert_eq!((n_rows, n_features, n_labels, y.n_labels_total(), n_empty), expected, "{name}");
        assert_eq!(d.schema.classes[1], "1");
    }
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

#[test]
fn treebank() {
    let (Some(train), Some(test)) = (data("ewt/train.conllu.gz"), data("ewt/test.conllu.gz"))
    else {
        return;
    };
    let options = TreebankOptions { require_heads: true, single_root: true, format: None };
    let train = read_treebank(train, &options).unwrap();
    // Words and relations counted by `awk -F'\t' '$1~/^[0-9]+$/{w++; r[$8]++} END{print w, length(r)}'`.
    assert_eq!((train.len(), train.n_tokens()), (12_544, 204_577));
    assert_eq!((train.n_heads(), train.schema.relations.len()), (204_577, 51));
    let mut unpacked = String::new();
    let file = std::fs::File::open(&test).unwrap();
    flate2::read::GzDecoder::new(file).read_to_string(&mut unpacked).unwrap();
    let test = read_treebank_with(test, &options, &train.schema).unwrap();
    assert_eq!((test.len(), test.n_tokens()), (2_077, 25_094));
    let mut out = String::new();
    for sentence in test.iter() {
        let deprels: Vec<&str> =
            sentence.deprels().iter().map(|&r| test.relations[r as usize].as_str()).collect();
        let (heads, deprels) = (Some(sentence.heads()), Some(&deprels[..]));
        sentence.write(&SentenceEdits { heads, deprels, ..SentenceEdits::default() }, &mut out);
    }
    assert!(out == unpacked, "the file is written back byte for byte");
}

#[test]
fn gum_trees() {
    let Some(path) = data("gum-trees/train.mrg.gz") else { return };
    let options = BracketReadOptions { require_trees: true, ..BracketReadOptions::default() };
    let trees = read_brackets(&path, &options).unwrap();
    assert_eq!((trees.len(), trees.labels.len()), (10_224, 61));
    let mut file = String::new();
    let packed = std::fs::File::open(&path).unwrap();
    flate2::read::GzDecoder::new(packed).read_to_string(&mut file).unwrap();
    let written: String = trees.iter().map(|sentence| sentence.tree().line() + "\n").collect();
    assert!(written == file, "the trees are not written as they were");
    let cut = BracketReadOptions { cut_functions: true, ..options };
    let test = data("gum-trees/test.mrg.gz").unwrap();
    let test = read_brackets(test, &cut).unwrap();
    assert_eq!(test.len(), 1_464);
    assert!(test.labels.iter().all(|label| !label.contains('-')), "{:?}", test.labels);
}

#[test]
fn mq2008() {
    let (Some(train), Some(test)) = (data("mq2008/train.letor.gz"), data("mq2008/test.letor.gz"))
    else {
        return;
    };
    let options = ReadOptions { target: TargetKind::Grades, ..ReadOptions::default() };
    let d = read(train, &options).unwrap();
    assert_eq!(shape(&d), (9_630, 46, 0));
    let t = read_with(test, &options, &d.schema).unwrap();
    assert_eq!(shape(&t), (2_874, 46, 0));
    let queries = t.queries.unwrap();
    assert_eq!((queries.len(), queries.start().last()), (156, Some(&2_874)));
}
