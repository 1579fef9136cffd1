//! Chunks of files: the same rows as at once, and schemas from the first of them.

use std::ops::ControlFlow;

use lineal_data::{
    Dataset, Error, Learnt, ReadOptions, Source, TargetKind, Targets, TextBatch, TextSink, UNSEEN,
    learn_schema, read, read_text, read_with, stream,
};

fn memory(name: &str, text: &str) -> Source {
    Source::Memory { name: name.to_owned(), bytes: text.into() }
}

fn options(target: TargetKind) -> ReadOptions {
    ReadOptions { target, ..ReadOptions::default() }
}

type Chunk = (Dataset, Option<TextBatch>);

/// The schema of the first rows, then all chunks.
fn chunks(
    source: &Source,
    options: &ReadOptions,
    sample: usize,
    rows: usize,
) -> Result<(Vec<Chunk>, Learnt), Error> {
    let schema = learn_schema(source, options, sample)?.schema;
    let mut all = Vec::new();
    let learnt = stream(source, options, &schema, rows, &mut |chunk, text| {
        all.push((chunk, text.cloned()));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((all, learnt))
}

/// Rows, labels and weights of chunks next to those of the whole.
fn same_rows(chunks: &[Chunk], whole: &Dataset) {
    let mut at = 0;
    for (chunk, _) in chunks {
        let part = whole.select(&(at..at + chunk.n_rows()).collect::<Vec<_>>());
        assert_eq!((&chunk.y, &chunk.weights), (&part.y, &part.weights));
        for i in 0..chunk.n_rows() {
            let entries = |d: &Dataset| {
                let mut row = Vec::new();
                d.x.row(i).for_each(|j, v| row.extend((v != 0.0).then_some((j, v))));
                row
            };
            assert_eq!(entries(chunk), entries(&part));
        }
        at += chunk.n_rows();
    }
    assert_eq!(at, whole.n_rows());
}

#[test]
fn chunks_have_the_rows_of_the_whole() {
    for (name, text, target) in [
        ("t.svm", "1|2 1:1\n# c\n2|1 2:1\n\n1|3 3:2 1:1\n2|1\n1|1 1:5\n", TargetKind::Classes),
        ("t.svm", "1,2 1:1\n \n# c\n2 2:1\n 3:2\n1 1:1\n2 1:5\n", TargetKind::Labels),
        ("t.csv", "a,b,y\n1,x,u\n2,\"x\n\",v\n\n3,z,u\n4,z,v\n5,x,u\n", TargetKind::Classes),
        ("t.tsv", "a\ty\n1\t0.5\n2\t1.5\n3\t2\n4\t1\n5\t6\n", TargetKind::Real),
        (
            "t.jsonl",
            "{\"a\":1,\"y\":[\"u\"]}\n{\"a\":2,\"y\":[\"v\"]}\n{\"a\":3}\n{\"a\":4}\n{\"y\":[\"u\"],\"a\":5}\n",
            TargetKind::Labels,
        ),
        ("t.vw", "1 2 |a x\n2 2 |a y:3\n1 2 |a x y\n2 2 |\n1 2 |a y\n", TargetKind::Classes),
    ] {
        let (source, options) = (memory(name, text), options(target));
        let whole = read(&source, &options).unwrap();
        assert_eq!(
            whole.n_rows(),
            if name == "t.svm" && target == TargetKind::Labels { 6 } else { 5 }
        );
        for rows in [1, 2, 3, 100] {
            let (all, learnt) = chunks(&source, &options, 100, rows).unwrap();
            same_rows(&all, &whole);
            assert_eq!(learnt.schema, whole.schema, "{name}");
            assert_eq!(learnt.n_rows, whole.n_rows());
            let n_rows: Vec<usize> = all.iter().map(|(chunk, _)| chunk.n_rows()).collect();
            let (last, others) = n_rows.split_last().unwrap();
            assert!(others.iter().all(|&n| n == rows) && *last <= rows, "{n_rows:?}");
        }
    }
}

#[test]
fn text_comes_with_its_chunk() {
    for (name, text) in [
        ("t.ft", "__label__a x y\n__label__b z\n__label__a u\n"),
        ("t.csv", "label,text\na,x y\nb,\"z\"\na,u\n"),
        (
            "t.jsonl",
            "{\"label\":\"a\",\"text\":\"x y\"}\n{\"label\":\"b\",\"text\":\"z\"}\n{\"label\":\"a\",\"text\":\"u\"}\n",
        ),
    ] {
        let options = ReadOptions { text: vec!["text".into()], ..ReadOptions::default() };
        let (all, learnt) = chunks(&memory(name, text), &options, 2, 2).unwrap();
        let cells: Vec<&str> = all
            .iter()
            .filter_map(|(_, text)| text.as_ref())
            .flat_map(|text| (0..text.n_rows()).map(|i| text.get(i, 0)))
            .collect();
        assert_eq!((cells, all.len()), (vec!["x y", "z", "u"], 2), "{name}");
        assert_eq!((all[1].0.n_rows(), all[1].0.n_features()), (1, 0));
        assert_eq!(learnt.schema.classes, ["a", "b"]);
    }
}

#[test]
fn classes_grow_when_asked_to() {
    for (name, text) in [
        ("t.svm", "b 1:1\nx 1:1\na 1:1\nx 1:1\nc 1:1\n"),
        ("t.csv", "f,label\n1,b\n1,x\n1,a\n1,x\n1,c\n"),
    ] {
        let options = ReadOptions { grow_classes: true, ..ReadOptions::default() };
        let source = memory(name, text);
        let (all, learnt) = chunks(&source, &options, 1, 2).unwrap();
        let y = |k: usize| all[k].0.y.clone();
        assert_eq!(y(0), Targets::Classes(vec![0, 1]));
        assert_eq!((y(1), y(2)), (Targets::Classes(vec![2, 1]), Targets::Classes(vec![3])));
        assert_eq!(all[1].0.schema.classes, ["b", "x", "a"]);
        assert_eq!(learnt.schema.classes, ["b", "x", "a", "c"]);
        assert!(learnt.warnings.is_empty(), "{:?}", learnt.warnings);
        let (all, learnt) = chunks(&source, &ReadOptions::default(), 1, 2).unwrap();
        assert_eq!(all[0].0.y, Targets::Classes(vec![0, UNSEEN]));
        assert!(learnt.warnings[0].contains("4 rows with a label that training did not see"));
        let options = ReadOptions { target: TargetKind::Labels, ..options };
        let (all, learnt) = chunks(&source, &options, 2, 9).unwrap();
        assert_eq!(learnt.schema.classes, ["b", "x", "a", "c"]);
        assert!(matches!(&all[0].0.y, Targets::Labels(y) if y.row(4) == [3]));
    }
}

#[test]
fn what_the_first_rows_do_not_have_is_counted_once() {
    let (all, learnt) = chunks(
        &memory("t.svm", "1 1:1\n2 4294967294:1 2:1\n1 7:1\n"),
        &options(TargetKind::Classes),
        1,
        1,
    )
    .unwrap();
    assert_eq!((all.len(), all[1].0.n_features(), all[1].0.x.nnz()), (3, 1, 0));
    assert_eq!(
        learnt.warnings,
        [
            "t.svm:2: indices out of order; sorted",
            "t.svm: 3 feature values in 2 rows that training did not have; left out",
            "t.svm: 1 row with a label that training did not see (`2`); each counts as wrong"
        ]
    );
    let options = ReadOptions { categorical: vec!["c".into()], ..ReadOptions::default() };
    let source = memory("t.csv", "c,y\nred,1\nblue,1\npink,1\n");
    let (all, learnt) = chunks(&source, &options, 1, 1).unwrap();
    assert!(all.iter().all(|(chunk, _)| chunk.warnings.is_empty()));
    assert!(
        learnt.warnings[0].contains("2 values that training did not see (the first is `blue`)")
    );
}

#[test]
fn a_schema_may_have_more_features_than_the_file() {
    let source = memory("t.svm", "1 1:1\n2 4294967294:1\n");
    let mut schema = learn_schema(&source, &options(TargetKind::Classes), 1).unwrap().schema;
    assert_eq!((schema.n_features, &schema.feature_ids), (1, &None));
    schema.n_features = 1 << 20;
    let mut n_cols = Vec::new();
    let learnt = stream(&source, &ReadOptions::default(), &schema, 9, &mut |chunk, _| {
        n_cols.push((chunk.n_features(), chunk.x.nnz()));
        Ok(ControlFlow::Continue(()))
    });
    assert!(learnt.unwrap().warnings[0].contains("1 feature value in 1 row"));
    assert_eq!(n_cols, [(1 << 20, 1)]);
}

#[test]
fn faults_have_the_line_of_the_file() {
    let svm = "1 1:1\n".repeat(50) + "# c\n\n1 0:1\n";
    let csv = "a,y\n".to_owned() + &"1,x\n".repeat(50) + "1,\"x\n\"\nz,x\n";
    let json = "{\"a\":1,\"y\":1}\n".repeat(50) + "{\"a\":1,\"y\":}\n";
    let text = "label\ta\n".to_owned() + &"1\t2\n".repeat(50) + "1\n";
    for (name, text, said) in [
        ("t.svm", svm, "t.svm:53:3: feature index 0"),
        ("t.csv", csv, "t.csv:54:1: column \"a\": `z` is not a number"),
        ("t.jsonl", json, "t.jsonl:51:12: not valid JSON"),
        ("t.tsv", text, "t.tsv:52: 1 field, but the first row has 2"),
    ] {
        for rows in [1, 7, 1000] {
            let error = chunks(&memory(name, &text), &ReadOptions::default(), 10, rows)
                .map(|_| ())
                .unwrap_err();
            assert!(error.to_string().starts_with(said), "{error}");
        }
    }
}

#[test]
fn a_callback_can_stop_and_fail() {
    let source = memory("t.csv", "a,y\n1,u\n2,v\n3,u\n");
    let schema = learn_schema(&source, &ReadOptions::default(), 10).unwrap().schema;
    let mut n = 0;
    let learnt = stream(&source, &ReadOptions::default(), &schema, 1, &mut |_, _| {
        n += 1;
        Ok(if n < 2 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
    });
    assert_eq!((learnt.unwrap().n_rows, n), (2, 2));
    let refused = Error::new(lineal_data::ErrorKind::Value, "t.csv", "enough");
    let refuse =
        stream(&source, &ReadOptions::default(), &schema, 1, &mut |_, _| Err(refused.clone()));
    assert_eq!(refuse.map(|_| ()), Err(refused));
}

#[test]
fn what_cannot_be_streamed_is_said() {
    let options = ReadOptions::default();
    let error = learn_schema(Source::Stdin, &options, 10).map(|_| ()).unwrap_err();
    assert!(error.message.contains("can be walked once"), "{error}");
    let error = learn_schema(memory("t.idx", "\0\0"), &options, 10).map(|_| ()).unwrap_err();
    assert!(error.message.contains("not streamed"), "{error}");
    for text in ["", "\n\n", "a,y\n"] {
        let error = learn_schema(memory("t.csv", text), &options, 10).map(|_| ()).unwrap_err();
        assert_eq!(error.kind, lineal_data::ErrorKind::Empty, "{error}");
    }
    // A column that JSON rows never have is noticed at the end.
    let train = read(memory("t.csv", "c,y\nu,1\nv,2\n"), &options).unwrap();
    let source = memory("t.jsonl", "{\"y\":1}\n");
    for error in [
        read_with(&source, &options, &train.schema).map(|_| ()).unwrap_err(),
        stream(&source, &options, &train.schema, 9, &mut |_, _| Ok(ControlFlow::Continue(())))
            .map(|_| ())
            .unwrap_err(),
    ] {
        assert!(error.message.contains("no row has \"c\""), "{error}");
    }
}

/// Rows of JSON may have keys that the first thousand do not, and lack weights that training had.
#[test]
fn keys_that_come_late_are_columns() {
    let text = "{\"y\":1,\"a\":1}\n".repeat(1500) + "{\"y\":2,\"a\":1,\"late\":\"x\"}\n";
    let d = read(memory("t.jsonl", &text), &ReadOptions::default()).unwrap();
    assert_eq!((d.n_rows(), d.n_features()), (1501, 3));
    let late = ReadOptions { label: Some("late".into()), strict: true, ..ReadOptions::default() };
    let error = read(memory("t.jsonl", &text), &late).unwrap_err();
    assert!(error.to_string().starts_with("t.jsonl:1: column \"late\": the label is missing"));

    let weighted = ReadOptions { weight: Some("w".into()), ..ReadOptions::default() };
    let d = read(
        memory("t.jsonl", "{\"y\":1,\"a\":1,\"w\":2}\n{\"y\":2,\"a\":1,\"w\":1}\n"),
        &weighted,
    );
    let schema = d.unwrap().schema;
    let apply = |text: &str| read_with(memory("t.jsonl", text), &ReadOptions::default(), &schema);
    assert_eq!(apply("{\"a\":1}\n").unwrap().weights, None);
    assert_eq!(apply("{\"a\":1,\"w\":3}\n").unwrap().weights, Some(vec![3.0]));
    for (text, said) in [
        ("{\"a\":1,\"w\":3}\n{\"a\":1}\n", "t.jsonl:2: column \"w\": example weight nothing"),
        ("{\"a\":1}\n{\"a\":1,\"w\":3}\n", "t.jsonl:2:8: column \"w\": a weight where rows before"),
    ] {
        let error = apply(text).unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
    }
}

/// A file is walked through a buffer: its rows are more than one block, and rows cross where blocks end.
#[test]
fn a_long_file_is_the_same_from_disk_memory_and_archives() {
    struct Length(usize);
    impl TextSink for Length {
        fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
            self.0 += batch.n_bytes();
            Ok(())
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let mut text = "text,label,a\n".to_owned();
    for i in 0..150_000 {
        text +=
            &format!("\"some \"\"words\"\", and a line\nmore of the row {i}\",c{},{i}\n", i % 7);
    }
    let path = folder.path().join("t.csv");
    std::fs::write(&path, &text).unwrap();
    let packed = folder.path().join("t.csv.zst");
    std::fs::write(&packed, zstd::encode_all(text.as_bytes(), 1).unwrap()).unwrap();
    let options = ReadOptions { text: vec!["text".into()], ..ReadOptions::default() };
    let mut length = Length(0);
    let whole = read_text(memory("t.csv", &text), &options, &mut length).unwrap();
    for source in [Source::from(&path), Source::from(&packed)] {
        let mut other = Length(0);
        let d = read_text(&source, &options, &mut other).unwrap();
        assert!(d.x == whole.x && d.y == whole.y && other.0 == length.0);
        let (all, learnt) = chunks(&source, &options, 100, 40_000).unwrap();
        same_rows(&all, &whole);
        assert_eq!((all.len(), learnt.n_rows), (4, 150_000));
        let n_bytes: usize = all.iter().flat_map(|(_, text)| text).map(TextBatch::n_bytes).sum();
        assert_eq!(n_bytes, length.0);
    }
}

/// Whoever answers rows as they come once answered those that the error is about.
#[test]
fn a_column_that_no_row_has_is_told_before_the_rows_go_out() {
    let trained = memory("t.jsonl", "{\"a\":1,\"y\":\"u\"}\n{\"a\":2,\"y\":\"v\"}\n");
    let options = ReadOptions { label: Some("y".into()), ..options(TargetKind::Classes) };
    let schema = read(&trained, &options).unwrap().schema;
    let other = memory("t.jsonl", "{\"b\":1,\"y\":\"u\"}\n{\"b\":2,\"y\":\"v\"}\n");
    let mut n_rows = 0;
    let done = stream(&other, &options, &schema, 9, &mut |chunk, _| {
        n_rows += chunk.n_rows();
        Ok(ControlFlow::Continue(()))
    });
    let why = done.unwrap_err().to_string();
    assert!(why.contains("no row has \"a\""), "{why}");
    assert_eq!(n_rows, 0);
}
