//! Ranking data: LETOR, and tables with a column of queries.

use std::ops::ControlFlow;

use lineal_data::{
    Dataset, Error, Format, Queries, ReadOptions, Source, TargetKind, Targets, TextBatch, TextSink,
    read, read_text, read_with, stream,
};
use proptest::prelude::*;

fn memory(name: &str, bytes: impl AsRef<[u8]>) -> Source {
    Source::Memory { name: name.to_owned(), bytes: bytes.as_ref().to_vec() }
}

fn options() -> ReadOptions {
    ReadOptions { target: TargetKind::Grades, ..ReadOptions::default() }
}

fn rank(name: &str, text: &str) -> Result<Dataset, Error> {
    read(memory(name, text), &options())
}

fn queries(data: &Dataset) -> Vec<(String, Vec<usize>)> {
    let queries = data.queries.as_ref().unwrap().iter();
    queries.map(|(name, rows)| (name.to_owned(), rows.collect())).collect()
}

const CSV: &str = "query,grade,bm25,age\nparis,2,0.5,1\nparis,0,0.25,2\nrome,0.5,1,3\n";

#[test]
fn the_same_from_every_format() {
    let letor =
        rank("a.letor", "2 qid:paris 1:.5 2:1\n0 qid:paris 1:.25 2:2\n0.5 qid:rome 1:1 2:3\n");
    let letor = letor.unwrap();
    let jsonl = "{\"qid\":\"paris\",\"y\":2,\"bm25\":0.5,\"age\":1}\n{\"qid\":\"paris\",\"y\":0,\"bm25\":0.25,\"age\":2}\n\
                 {\"qid\":\"rome\",\"y\":0.5,\"bm25\":1,\"age\":3}\n";
    let tables =
        [rank("a.csv", CSV), rank("a.tsv", &CSV.replace(',', "\t")), rank("a.jsonl", jsonl)];
    for table in tables.map(Result::unwrap) {
        assert_eq!((&table.y, &table.queries), (&letor.y, &letor.queries));
        assert_eq!((table.n_rows(), table.n_features()), (3, 2));
        assert_eq!(table.schema.target, TargetKind::Grades);
    }
    assert_eq!(queries(&letor), [("paris".into(), vec![0, 1]), ("rome".into(), vec![2])]);
    assert_eq!(letor.y, Targets::Real(vec![2.0, 0.0, 0.5]));
}

#[test]
fn columns_may_be_named() {
    let text = "a,topic,b,how_good\n1,7,2,3\n1,7,2,0\n2,007,1,1\n";
    let options = ReadOptions {
        query: Some("topic".into()),
        label: Some("how_good".into()),
        weight: Some("b".into()),
        ..options()
    };
    let data = read(memory("a.csv", text), &options).unwrap();
    assert_eq!(data.queries.as_ref().unwrap().names(), ["7", "007"]);
    assert_eq!(data.query_weights(), Some(vec![2.0, 1.0]));
    assert_eq!(data.schema.describe()[1], "topic     query");
    assert_eq!(data.schema.describe()[3], "how_good  label, a grade");
    // Prediction needs queries, and no grades.
    let plain = ReadOptions::default();
    let test = read_with(memory("t.csv", "topic,a\nx,1\ny,2\n"), &plain, &data.schema).unwrap();
    assert_eq!((test.queries.unwrap().len(), test.y), (2, Targets::None));
    let error = read_with(memory("t.csv", "a\n1\n"), &plain, &data.schema).unwrap_err();
    assert!(error.message.contains("no column \"topic\""), "{error}");
    let other = ReadOptions { query: Some("q".into()), ..plain };
    let test = read_with(memory("t.csv", "q,a\nx,1\n"), &other, &data.schema).unwrap();
    assert_eq!(test.queries.unwrap().names(), ["x"]);
}

#[test]
fn faults_have_their_place_and_remedy() {
    for (name, text, said) in [
        (
            "a.csv",
            "qid,y,a\n1,0,1\n2,0,1\n1,0,1\n",
            "a.csv:4:1: column \"qid\": query `1` comes back: its documents begin in line 2,",
        ),
        ("a.csv", "qid,y,a\n1,0,1\n,0,1\n", "a.csv:3:1: column \"qid\": the query is missing"),
        ("a.csv", "qid,y,a\n1,-1,1\n", "a.csv:2:3: column \"y\": grade `-1` is negative"),
        ("a.csv", "qid,y,a\n1,good,1\n", "a.csv:2:3: column \"y\": grade `good` is not a number"),
        (
            "a.csv",
            "qid,y,a\n1,inf,1\n",
            "a.csv:2:3: column \"y\": label `inf` is not a finite number; ranking",
        ),
        ("a.csv", "qid,y,a\n1,,1\n", "a.csv:2:3: column \"y\": the label is missing"),
        (
            "a.csv",
            "y,a\n1,1\n",
            "a.csv: no column is named query, qid, query_id; name the query with options.query = NAME",
        ),
        ("a.csv", "qid,query,y\n1,1,1\n", "a.csv: both \"qid\" and \"query\" could be the query"),
        (
            "a.jsonl",
            "{\"qid\":[1],\"y\":1,\"a\":1}\n",
            "a.jsonl:1:2: column \"qid\": a list of 1 cannot be a query",
        ),
        ("a.idx", "\0\0\u{8}\u{3}\0\0\0\u{1}", "a.idx: IDX has no queries"),
        (
            "a.letor",
            "1 qid:1 1:1\n0 qid:2 1:1\n\n0 qid:1 1:1\n",
            "a.letor:4:3: query `1` comes back: its documents begin in line 1,",
        ),
    ] {
        let error = rank(name, text).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
    let classes = read(memory("a.letor", "1 qid:3 1:2\n"), &ReadOptions::default()).unwrap_err();
    assert!(classes.message.contains("read_ranking"), "{classes}");
    let query = ReadOptions { query: Some("a".into()), ..ReadOptions::default() };
    let error = read(memory("a.csv", "a,y\n1,1\n"), &query).unwrap_err();
    assert!(error.message.contains("read_ranking"), "{error}");
}

#[test]
fn whole_queries_are_selected() {
    let text = "2 qid:a 1:1\n1 qid:a 1:2\n0 qid:b 1:3\n1 qid:c 1:4\n0 qid:c 1:5\n0 qid:c 1:6\n";
    let data = rank("a.letor", text).unwrap();
    let some = data.select_queries(&[2, 0]);
    assert_eq!(queries(&some), [("c".into(), vec![0, 1, 2]), ("a".into(), vec![3, 4])]);
    assert_eq!(some.y, Targets::Real(vec![1.0, 0.0, 0.0, 2.0, 1.0]));
    assert_eq!(data.queries.as_ref().unwrap().by_row(), [0, 0, 1, 2, 2, 2]);
    assert_eq!(
        queries(&data.select(&[0, 3, 4])),
        [("a".into(), vec![0]), ("c".into(), vec![1, 2])]
    );
    assert_eq!(data.select_queries(&[]).queries.unwrap().start(), [0]);
    let made = Queries::new([("a", 2), ("none", 0), ("b", 1), ("c", 3)]);
    assert_eq!(Some(&made), data.queries.as_ref());
    let plain = read(memory("a.svm", "1 1:1\n2 1:2\n"), &ReadOptions::default()).unwrap();
    assert_eq!(plain.select_queries(&[1]).n_rows(), 1);
}

#[test]
fn text_columns_of_documents() {
    #[derive(Default)]
    struct Texts(Vec<String>);
    impl TextSink for Texts {
        fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
            self.0.extend((0..batch.n_rows()).map(|i| batch.get(i, 0).to_owned()));
            Ok(())
        }
    }
    let text = "query,label,body\nq1,1,red wine\nq1,0,white bread\nq2,1,tea\n";
    let options = ReadOptions { text: vec!["body".into()], ..options() };
    let mut sink = Texts::default();
    let data = read_text(memory("a.csv", text), &options, &mut sink).unwrap();
    assert_eq!(sink.0, ["red wine", "white bread", "tea"]);
    assert_eq!(data.queries.unwrap().start(), [0, 2, 3]);
}

/// The queries of each chunk.
fn chunks(source: &Source, whole: &Dataset, rows: usize) -> Result<Vec<Vec<String>>, Error> {
    let mut all = Vec::new();
    let mut at = 0;
    stream(source, &options(), &whole.schema, rows, &mut |chunk, _| {
        let rows: Vec<usize> = (at..at + chunk.n_rows()).collect();
        assert_eq!(
            (&chunk.y, &chunk.queries),
            (&whole.select(&rows).y, &whole.select(&rows).queries)
        );
        at += rows.len();
        all.push(chunk.queries.unwrap().names().to_vec());
        Ok(ControlFlow::Continue(()))
    })?;
    assert_eq!(at, whole.n_rows());
    Ok(all)
}

#[test]
fn streams_do_not_cut_queries() {
    let sizes = [("a", 1), ("b", 4), ("c", 2), ("d", 1), ("e", 3)];
    let rows = |row: fn(&str) -> String| sizes.map(|(q, n)| row(q).repeat(n)).concat();
    let letor = rows(|q| format!("1 qid:{q} 1:1 # d\n\n"));
    let csv = format!("qid,y,x\n{}", rows(|q| format!("{q},1,1\n")));
    for source in [memory("a.letor", letor), memory("a.csv", csv)] {
        let whole = read(&source, &options()).unwrap();
        let expected: [(usize, &[&[&str]]); 4] = [
            (1, &[&["a"], &["b"], &["c"], &["d"], &["e"]]),
            (2, &[&["a", "b"], &["c"], &["d", "e"]]),
            (5, &[&["a", "b"], &["c", "d", "e"]]),
            (99, &[&["a", "b", "c", "d", "e"]]),
        ];
        for (rows, expected) in expected {
            assert_eq!(chunks(&source, &whole, rows).unwrap(), expected, "{rows} rows");
        }
    }
    let back = memory("a.letor", "1 qid:1\n# x\n1 qid:2\n1 qid:3\n1 qid:1\n");
    let schema = rank("a.letor", "1 qid:1 1:1\n").unwrap().schema;
    let error = stream(&back, &options(), &schema, 1, &mut |_, _| Ok(ControlFlow::Continue(())));
    let said = error.unwrap_err().to_string();
    assert!(
        said.starts_with("a.letor:5:3: query `1` comes back: its documents begin in line 1,"),
        "{said}"
    );
}

proptest! {
    #[test]
    fn queries_come_back_as_written(sizes in prop::collection::vec(1..6usize, 1..20), rows in 1..10usize) {
        let letor: String = sizes.iter().enumerate().map(|(q, &n)| format!("{} qid:q{q} {}:1\n", q % 3, q + 1).repeat(n)).collect();
        let source = memory("a.letor", letor);
        let data = read(&source, &options()).unwrap();
        let found: Vec<usize> = data.queries.as_ref().unwrap().iter().map(|(_, rows)| rows.len()).collect();
        prop_assert_eq!(&found, &sizes);
        let streamed = chunks(&source, &data, rows).unwrap();
        prop_assert_eq!(streamed.concat(), data.queries.as_ref().unwrap().names());
        let all: Vec<usize> = (0..sizes.len()).collect();
        prop_assert_eq!(data.select_queries(&all).queries, data.queries);
    }

    #[test]
    fn soup_never_panics(words in prop::collection::vec(prop::sample::select(vec![
        "1", "-1", "0.5", "x", " ", " ", "\n", "qid:", "qid:1", "qid:2", " qid:é", "1:1", "2:0.5", "#", "|2", ",", "qid,y,a\n", "{\"qid\":1,\"y\":2}\n",
    ]), 0..30)) {
        for format in Format::ALL {
            let options = ReadOptions { format: Some(format), ..options() };
            if let Ok(data) = read(memory("soup", words.concat()), &options) {
                let queries = data.queries.as_ref().unwrap();
                prop_assert_eq!(queries.start().last(), Some(&data.n_rows()));
                prop_assert_eq!(data.y.len(), data.n_rows());
            }
        }
    }
}
