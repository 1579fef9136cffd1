//! Readers of data: each reads what it learns, reads again by the schema that it learnt, and streams.

use super::choices::{Choices, parts};
use super::signature::Signature;
use lineal::data::{
    self, Encoding, GraphReadOptions, ImageReadOptions, MaskSchema, MaskValue, RgbPixels,
    SentenceEdits,
};
use lineal::{
    BracketReadOptions, FeatureSpec, Format, ReadOptions, SequenceOptions, Source, TargetKind,
    TreebankOptions, read_features, read_ranking,
};
use lineal_parquet::JsonLines;
use std::io::Read;
use std::ops::ControlFlow;

/// Bytes at hand as a file of this name.
pub fn memory(name: &str, bytes: &[u8]) -> Source {
    Source::Memory { name: name.to_owned(), bytes: bytes.to_owned() }
}

const TARGETS: [TargetKind; 4] =
    [TargetKind::Classes, TargetKind::Labels, TargetKind::Real, TargetKind::Grades];

const ENCODINGS: [&str; 6] = ["utf-8", "latin1", "utf-16le", "utf-16be", "shift_jis", "gb18030"];

/// How many bytes choose the options of a reader of rows.
pub const ROW_CHOICES: usize = 6;

/// Options for rows of this format.
pub fn row_options(choices: &mut Choices<'_>, format: Format) -> ReadOptions {
    let target = choices.one(&TARGETS);
    let flags = choices.below(256);
    let columns = choices.below(8);
    let named = |bit: usize, name: &str| (columns & bit != 0).then(|| name.to_owned());
    ReadOptions {
        format: Some(format),
        target,
        label: named(1, "a"),
        weight: named(2, "weight"),
        query: None,
        numeric: Vec::new(),
        categorical: named(4, "b").into_iter().collect(),
        hash_categories: (flags & 1 != 0).then_some(4),
        text: Vec::new(),
        guess_text: flags & 2 != 0,
        header: match flags & 132 {
            0 => None,
            4 => Some(true),
            _ => Some(false),
        },
        grow_classes: flags & 8 != 0,
        blank_rows: flags & 16 != 0,
        strict: flags & 32 != 0,
        label_separator: if flags & 64 != 0 { ';' } else { ',' },
        ..ReadOptions::default()
    }
}

fn rows(format: Format, name: &str, input: &[u8]) -> Signature {
    let (mut choices, bytes) = Choices::split(input, ROW_CHOICES);
    let options = row_options(&mut choices, format);
    let mut s = Signature::default();
    if let Some(data) = s.result(data::read(memory(name, bytes), &options)) {
        s.count(data.n_rows());
        s.count(data.n_features());
        s.count(data.schema.classes.len());
        data.warnings.iter().for_each(|warning| s.message(warning));
        data.schema.describe();
        let n = data.n_features();
        [0, n / 2, n.saturating_sub(1)].iter().filter(|j| **j < n).for_each(|&j| {
            data.schema.feature_name(j);
        });
        // What was learnt from a file must be able to read it. Rows without a label were left out.
        let options = ReadOptions { only_labelled: true, ..options.clone() };
        let again = data::read_with(memory(name, bytes), &options, &data.schema);
        let again = s.result(again).expect("a file can be read by its own schema");
        assert_eq!(again.n_rows(), data.n_rows(), "rows, read by the file's own schema");
    }
    match choices.below(5) {
        0 => {
            let (to, mut out) = (choices.one(&Format::ALL), Vec::new());
            let done = data::convert(memory(name, bytes), &options, to, &mut out);
            if s.result(done).flatten().is_some() {
                // What is written can be read.
                let options = ReadOptions { format: Some(to), ..ReadOptions::default() };
                s.result(data::read(memory("written", &out), &options));
            }
        }
        1 => {
            let (sample, per_chunk) = (1 + choices.below(4), 1 + choices.below(3));
            if let Some(learnt) =
                s.result(data::learn_schema(memory(name, bytes), &options, sample))
            {
                let mut n_rows = 0;
                let done = data::stream(
                    memory(name, bytes),
                    &options,
                    &learnt.schema,
                    per_chunk,
                    &mut |chunk, _| {
                        n_rows += chunk.n_rows();
                        Ok(ControlFlow::Continue(()))
                    },
                );
                s.result(done);
                s.count(n_rows);
            }
        }
        2 => {
            // As the program does where nothing is said about the file: what it is, how it is encoded, what its label is.
            let encoding = Encoding::named(choices.one(&ENCODINGS)).ok();
            let delimiter = choices.one(&[None, Some(b';'), Some(b'|'), Some(b'"'), Some(b'\n')]);
            let options = ReadOptions { encoding, delimiter, ..options };
            let source = memory(name, bytes);
            s.result(data::table_with_column(&source, "b"));
            s.message(data::guess_target(&source, &options).why);
            let encoded = s.result(data::read(source, &options));
            encoded.iter().for_each(|data| s.count(data.n_rows()));
        }
        3 => {
            // The cells that are carried into answers, of which each row has one.
            let learnt = data::read(memory(name, bytes), &options);
            let options = ReadOptions { without_labels: true, ..options };
            let asked = |learnt: &lineal::Dataset| {
                data::read_with(memory(name, bytes), &options, &learnt.schema)
            };
            if let Ok(Ok(data)) = learnt.as_ref().map(asked) {
                let names = if choices.flag() { vec!["a".to_owned()] } else { Vec::new() };
                let cells = data::read_cells(memory(name, bytes), &options, &data.schema, &names);
                if let Some(cells) = s.result(cells) {
                    assert_eq!(cells.rows.len(), data.n_rows(), "rows of cells");
                }
            }
        }
        _ => {
            let text = ReadOptions { text: vec!["text".into(), "b".into()], ..options };
            let made = read_features(memory(name, bytes), &text, &FeatureSpec::default());
            if let Some((data, features)) = s.result(made) {
                s.count(data.n_features());
                s.result(features.read(memory(name, bytes), &text, &data.schema));
            }
        }
    }
    s
}

/// LIBSVM and svmlight.
pub fn libsvm(input: &[u8]) -> Signature {
    rows(Format::Svmlight, "a.svm", input)
}

/// Comma-separated values.
pub fn csv(input: &[u8]) -> Signature {
    rows(Format::Csv, "a.csv", input)
}

/// Tab-separated values.
pub fn tsv(input: &[u8]) -> Signature {
    rows(Format::Tsv, "a.tsv", input)
}

/// JSON lines of rows.
pub fn jsonl(input: &[u8]) -> Signature {
    rows(Format::Jsonl, "a.jsonl", input)
}

/// fastText.
pub fn fasttext(input: &[u8]) -> Signature {
    rows(Format::FastText, "a.ft", input)
}

/// Vowpal Wabbit.
pub fn vw(input: &[u8]) -> Signature {
    rows(Format::Vw, "a.vw", input)
}

/// Images of bytes; labels come from a file, so there are none.
pub fn idx(input: &[u8]) -> Signature {
    rows(Format::Idx, "a.idx", input)
}

/// Grades of documents by query.
pub fn letor(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let options = ReadOptions { format: Some(Format::Svmlight), ..lineal::rank_options() };
    let read = read_ranking(memory("a.letor", input), &options, &FeatureSpec::default());
    if let Some(ranking) = s.result(read) {
        s.count(ranking.data.n_rows());
        s.count(ranking.data.queries.as_ref().map_or(0, lineal::data::Queries::len));
        ranking.data.warnings.iter().for_each(|warning| s.message(warning));
    }
    s
}

/// Tables of Parquet.
pub fn parquet(input: &[u8]) -> Signature {
    /// A file may repeat a value as often as a number in it says, so not all rows are asked for.
    const MOST_BYTES: u64 = 1 << 18;
    let (mut choices, bytes) = Choices::split(input, 1);
    let (mut s, mut lines) = (Signature::default(), Vec::new());
    let read = JsonLines::new(bytes)
        .map_err(std::io::Error::from)
        .and_then(|rows| rows.take(MOST_BYTES).read_to_end(&mut lines));
    match read {
        Ok(n) => {
            s.count(n);
            if (n as u64) < MOST_BYTES {
                let target = choices.one(&TARGETS);
                let options = ReadOptions { target, ..ReadOptions::default() };
                // A row is a line of JSON, so both are read alike, or refused.
                let table = s.result(data::read(memory("a.parquet", bytes), &options));
                let same = data::read(memory("a.jsonl", &lines), &options);
                let rows = |data: Option<lineal::Dataset>| data.map(|data| data.n_rows());
                assert_eq!(rows(table), rows(same.ok()), "rows of Parquet and of its lines");
            }
        }
        Err(error) => s.message(error.to_string()),
    }
    s
}

/// Any format of rows, packed or not; the content tells which.
pub fn archive(input: &[u8]) -> Signature {
    let (mut choices, bytes) = Choices::split(input, 2);
    let names = ["a.svm", "a.svm.gz", "a.csv.zst", "a", "a.jsonl.gz", "a.conll.zst", "a.mrg.gz"];
    let name = choices.one(&names);
    let mut s = Signature::default();
    match choices.below(3) {
        0 => {
            let read = data::read(memory(name, bytes), &ReadOptions::default());
            s.result(read).iter().for_each(|data| s.count(data.n_rows()));
        }
        1 => {
            s.result(data::read_sequences(memory(name, bytes), &SequenceOptions::default()));
        }
        _ => {
            s.result(data::read_brackets(memory(name, bytes), &BracketReadOptions::default()));
        }
    }
    s
}

fn sequences(format: Format, name: &str, input: &[u8]) -> Signature {
    let (mut choices, bytes) = Choices::split(input, 2);
    let label = choices.one(&[None, Some("0"), Some("upos"), Some("ner"), Some("-1")]);
    let unlabelled = choices.flag().then(|| "_".to_owned());
    let options = SequenceOptions {
        format: Some(format),
        label: label.map(Into::into),
        unlabelled,
        weight: None,
    };
    let mut s = Signature::default();
    if let Some(data) = s.result(data::read_sequences(memory(name, bytes), &options)) {
        s.count(data.len());
        s.count(data.schema.labels.len());
        let again = data::read_sequences_with(memory(name, bytes), &options, &data.schema);
        let again = s.result(again).expect("a file can be read by its own schema");
        assert_eq!(again.len(), data.len(), "sequences, read by the file's own schema");
        let mut n = 0;
        let streamed =
            data::stream_sequences(memory(name, bytes), &options, &data.schema, &mut |block| {
                n += block.len();
                ControlFlow::Continue(())
            });
        s.result(streamed).expect("a file can be streamed by its own schema");
        assert_eq!(n, data.len(), "sequences, streamed");
    }
    s
}

/// Columns of tokens.
pub fn conll(input: &[u8]) -> Signature {
    sequences(Format::Conll, "a.conll", input)
}

/// CoNLL-U as sequences.
pub fn conllu_tags(input: &[u8]) -> Signature {
    sequences(Format::Conllu, "a.conllu", input)
}

/// Attributes as CRFsuite has them.
pub fn crfsuite(input: &[u8]) -> Signature {
    sequences(Format::Crfsuite, "a.crfsuite", input)
}

/// JSON lines of sequences.
pub fn jsonl_tags(input: &[u8]) -> Signature {
    sequences(Format::Jsonl, "a.jsonl", input)
}

/// Treebanks of CoNLL-U.
pub fn treebank(input: &[u8]) -> Signature {
    let (mut choices, bytes) = Choices::split(input, 1);
    let flags = choices.below(4);
    let options = TreebankOptions {
        format: Some(Format::Conllu),
        require_heads: flags & 1 != 0,
        single_root: flags & 2 != 0,
    };
    let mut s = Signature::default();
    if let Some(data) = s.result(data::read_treebank(memory("a.conllu", bytes), &options)) {
        s.count(data.len());
        s.count(data.schema.relations.len());
        s.result(data.check_whole(true));
        let mut out = String::new();
        for i in 0..data.len() {
            data.get(i).write(&SentenceEdits::default(), &mut out);
        }
        let again = data::read_treebank_with(memory("a.conllu", bytes), &options, &data.schema);
        let again = s.result(again).expect("a file can be read by its own schema");
        assert_eq!(again.len(), data.len(), "sentences, read by the file's own schema");
        // What is written without changes is what was read.
        let written = data::read_treebank(memory("a.conllu", out.as_bytes()), &options);
        let written = s.result(written).expect("what was written can be read");
        assert_eq!(written.len(), data.len(), "sentences, written and read");
    }
    s
}

/// Bracketed trees, or sentences.
pub fn brackets(input: &[u8]) -> Signature {
    let (mut choices, bytes) = Choices::split(input, 1);
    let flags = choices.below(16);
    let options = BracketReadOptions {
        format: Some(if flags & 8 != 0 { Format::Sentences } else { Format::Brackets }),
        require_trees: flags & 1 != 0,
        cut_functions: flags & 2 != 0,
        remove_empty: flags & 4 != 0,
        ..BracketReadOptions::default()
    };
    let mut s = Signature::default();
    if let Some(data) = s.result(data::read_brackets(memory("a.mrg", bytes), &options)) {
        s.count(data.len());
        s.count(data.n_nodes());
        let mut lines = String::new();
        for i in 0..data.len() {
            let tree = data.get(i).tree();
            tree.write_line(&mut lines);
            lines.push('\n');
            tree.indented(40);
            tree.drawn(40);
        }
        let again = data::read_brackets_with(memory("a.mrg", bytes), &options, &data.schema);
        let again = s.result(again).expect("a file can be read by its own schema");
        assert_eq!(again.n_nodes(), data.n_nodes(), "nodes, read by the file's own schema");
    }
    s
}

/// Graphs in JSON lines.
pub fn graphs(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let options = GraphReadOptions { require_labels: input.first() == Some(&b' ') };
    if let Some(data) = s.result(data::read_graphs(memory("a.jsonl", input), &options)) {
        s.count(data.n_nodes());
        s.count(data.n_edges());
        let again = data::read_graphs_with(memory("a.jsonl", input), &options, &data.schema);
        let again = s.result(again).expect("a file can be read by its own schema");
        assert_eq!(again.n_edges(), data.n_edges(), "edges, read by the file's own schema");
    }
    s
}

/// Examples of declared structures.
pub fn declared(input: &[u8]) -> Signature {
    let mut s = Signature::default();
    let examples = data::read_declared(memory("a.jsonl", input));
    s.result(examples).iter().for_each(|examples| s.count(examples.len()));
    s
}

/// An image and its mask: the two parts of the input between which `=====` stands, or the same for both.
pub fn image(input: &[u8]) -> Signature {
    const MAX_PIXELS: usize = 1 << 20;
    let (mut choices, bytes) = Choices::split(input, 1);
    let [image, mask] = parts(bytes);
    let mask = if mask.is_empty() { image } else { mask };
    let void = choices.flag().then_some(MaskValue::Grey(255)).into_iter().collect();
    let options = ImageReadOptions { void, max_pixels: MAX_PIXELS, ..Default::default() };
    let mut s = Signature::default();
    let pixels = RgbPixels::decode(image, "a.png", MAX_PIXELS);
    if let Some(pixels) = s.result(pixels) {
        assert_eq!(pixels.rgb.len(), pixels.width * pixels.height * 3);
        s.count(pixels.width);
        s.count(pixels.height);
    }
    if let Some(schema) = s.result(MaskSchema::learn(mask, "mask.png", &options)) {
        let labels = schema.decode(mask, "mask.png", MAX_PIXELS);
        let labels = s.result(labels).expect("a mask can be read by its own schema");
        s.count(labels.len());
        s.count(schema.labels.len());
    }
    s
}
