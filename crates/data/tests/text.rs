//! Text columns: what the sink sees, and what is left for the dataset.

use lineal_data::{
    ColumnKind, Dataset, Error, ErrorKind, Format, ReadOptions, Schema, Source, TargetKind,
    Targets, TextBatch, TextSink, UNSEEN, read, read_text, read_text_with, read_with,
};
use lineal_linalg::Row;

fn memory(name: &str, text: &str) -> Source {
    Source::Memory { name: name.to_owned(), bytes: text.into() }
}

/// Keeps all it is given, and how many rows each batch had.
#[derive(Default, Debug, PartialEq)]
struct Keep {
    cells: Vec<String>,
    batches: Vec<usize>,
}

impl TextSink for Keep {
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        self.batches.push(batch.n_rows());
        for row in 0..batch.n_rows() {
            self.cells.extend((0..batch.n_slots()).map(|slot| batch.get(row, slot).to_owned()));
        }
        Ok(())
    }
}

fn text(names: &[&str]) -> ReadOptions {
    let text = names.iter().map(|&name| name.to_owned()).collect();
    ReadOptions { text, ..ReadOptions::default() }
}

fn learn(name: &str, content: &str, options: &ReadOptions) -> (Dataset, Vec<String>) {
    let mut keep = Keep::default();
    let d = read_text(memory(name, content), options, &mut keep).unwrap();
    (d, keep.cells)
}

fn apply(name: &str, content: &str, schema: &Schema) -> (Dataset, Vec<String>) {
    let mut keep = Keep::default();
    let options = ReadOptions::default();
    let d = read_text_with(memory(name, content), &options, schema, &mut keep).unwrap();
    (d, keep.cells)
}

fn fails(name: &str, content: &str, options: &ReadOptions) -> Error {
    read_text(memory(name, content), options, &mut Keep::default()).unwrap_err()
}

#[test]
fn text_goes_to_the_sink_and_the_rest_to_the_matrix() {
    for (name, content) in [
        ("t.csv", "title,age,label,body\nA b,3,x,\"c, \"\"d\"\"\"\n,4,y,\"e\nf\"\n"),
        (
            "t.jsonl",
            "{\"title\":\"A b\",\"age\":3,\"label\":\"x\",\"body\":\"c, \\\"d\\\"\"}\n\
             {\"age\":4,\"label\":\"y\",\"body\":\"e\\nf\"}\n",
        ),
    ] {
        let (d, cells) = learn(name, content, &text(&["title", "body"]));
        assert_eq!(cells, ["A b", "c, \"d\"", "", "e\nf"], "{name}");
        assert_eq!(d.schema.classes, ["x", "y"]);
        assert_eq!((d.n_rows(), d.n_features()), (2, 1));
        assert_eq!(d.x.row(1), Row::Dense(&[4.0]));
        let columns = d.schema.columns.as_ref().unwrap();
        assert_eq!(columns[0].kind, ColumnKind::Text { slot: 0 });
        assert_eq!(columns[3].kind, ColumnKind::Text { slot: 1 });
        assert_eq!(d.schema.text_columns().collect::<Vec<_>>(), ["title", "body"]);
        assert_eq!(d.schema.describe()[3], "body   text");
        assert!(d.warnings.is_empty(), "{:?}", d.warnings);
        // Columns are found by name, in whatever order.
        let other = "{\"body\":\"u v\",\"age\":1,\"title\":\" w \"}\n";
        let (t, cells) = apply("u.jsonl", other, &d.schema);
        assert_eq!((cells, t.y), (vec![" w ".to_owned(), "u v".to_owned()], Targets::None));
        let (t, cells) = apply("u.csv", "body,title,age,label\nb, t ,1,z\n", &d.schema);
        assert_eq!(
            (cells, t.y),
            (vec!["t".to_owned(), "b".to_owned()], Targets::Classes(vec![UNSEEN]))
        );
    }
}

#[test]
fn rows_of_text_alone_have_no_features() {
    let (d, cells) =
        learn("t.tsv", "label\ttext\n1\ta \"b\n0\t\"c d\"\n\n1\té\n", &text(&["text"]));
    assert_eq!(cells, ["a \"b", "c d", "é"]);
    assert_eq!((d.n_rows(), d.n_features(), d.x.nnz()), (3, 0, 0));
    assert_eq!(d.y, Targets::Classes(vec![1, 0, 1]));
    assert_eq!(d.select(&[2, 0]).n_rows(), 2);
    assert!(d.warnings.is_empty(), "{:?}", d.warnings);
}

#[test]
fn text_may_be_all_numbers_and_missing() {
    let json = "{\"y\":1,\"t\":7.0}\n{\"y\":2,\"t\":null}\n{\"y\":2,\"t\":true}\n{\"y\":1}\n";
    let (_, cells) = learn("t.jsonl", json, &text(&["t"]));
    assert_eq!(cells, ["7", "", "true", ""]);
    let (_, cells) = learn("t.csv", "t,y\n7.0,1\n,2\n", &text(&["t"]));
    assert_eq!(cells, ["7.0", ""]);
}

#[test]
fn what_is_said_of_text_columns_must_hold() {
    let content = "a,b,label\nx,1,1\ny,2,2\n";
    let list = |name: &str| vec![name.to_owned()];
    let said = fails("t.csv", content, &text(&["c"]));
    assert!(said.message.contains("no column \"c\"; the columns are a, b, label"), "{said}");
    for options in [
        ReadOptions { numeric: list("a"), ..text(&["a"]) },
        ReadOptions { categorical: list("a"), ..text(&["a"]) },
        ReadOptions { ignore: list("a"), ..text(&["a"]) },
        ReadOptions { label: Some("a".into()), ..text(&["a"]) },
        ReadOptions { weight: Some("a".into()), ..text(&["a"]) },
    ] {
        let said = fails("t.csv", content, &options);
        assert!(said.message.contains("column \"a\" is named by both"), "{said}");
        assert!(said.message.contains("options.text"), "{said}");
    }
    let said = fails("t.svm", "1 1:1\n", &text(&["a"]));
    assert!(said.message.contains("libsvm has no columns with names"), "{said}");
    let said = fails("t.jsonl", "{\"y\":1,\"t\":[\"a\"]}\n", &text(&["t"]));
    assert!(said.to_string().starts_with("t.jsonl:1:8: column \"t\": a list of 1"), "{said}");
}

#[test]
fn text_needs_a_sink() {
    let content = "text,label\na b,1\nc d,2\n";
    let said = read(memory("t.csv", content), &text(&["text"])).unwrap_err();
    assert!(said.message.contains("needs a sink"), "{said}");
    let (d, _) = learn("t.csv", content, &text(&["text"]));
    let said = read_with(memory("t.csv", content), &ReadOptions::default(), &d.schema).unwrap_err();
    assert!(said.message.contains("\"text\" is text"), "{said}");
    let said = read(memory("t.ft", "__label__a b\n"), &ReadOptions::default()).unwrap_err();
    assert!(said.message.contains("needs a sink"), "{said}");
}

#[test]
fn a_sink_can_refuse() {
    struct Refuse;
    impl TextSink for Refuse {
        fn batch(&mut self, _: &TextBatch) -> Result<(), String> {
            Err("no more".to_owned())
        }
    }
    let content = memory("t.csv", "text,label\na b,1\n");
    let said = read_text(content, &text(&["text"]), &mut Refuse).unwrap_err();
    assert_eq!((said.kind, said.to_string()), (ErrorKind::Text, "t.csv: no more".to_owned()));
}

#[test]
fn without_text_columns_the_sink_rests() {
    let mut keep = Keep::default();
    let d = read_text(memory("t.csv", "a,y\n1,x\n"), &ReadOptions::default(), &mut keep).unwrap();
    assert_eq!((d.n_features(), keep), (1, Keep::default()));
    let mut keep = Keep::default();
    read_text(memory("t.svm", "1 1:1\n"), &ReadOptions::default(), &mut keep).unwrap();
    assert_eq!(keep, Keep::default());
}

#[test]
fn text_is_guessed_when_asked_for() {
    let mut content = "note,id,label\n".to_owned();
    for i in 0..50 {
        content += &format!("word{i} and then some more,x{i},{}\n", i % 2);
    }
    let (d, cells) = learn("t.csv", &content, &ReadOptions::default());
    assert!(cells.is_empty() && d.schema.describe()[0].contains("ignored: different in most rows"));
    let options = ReadOptions { guess_text: true, ..ReadOptions::default() };
    let (d, cells) = learn("t.csv", &content, &options);
    assert_eq!((cells.len(), cells[49].as_str()), (50, "word49 and then some more"));
    // Many values of one word are names or numbers of something.
    assert!(d.schema.describe()[1].contains("ignored"), "{:?}", d.schema.describe());
    assert!(read(memory("t.csv", &content), &options).unwrap_err().message.contains("sink"));
    // A few sentences that come again and again are categories.
    let content = "note,label\none two three four,1\nfive six seven eight,2\n";
    let again = content.to_owned() + &"one two three four,1\n".repeat(5);
    assert_eq!(learn("t.csv", &again, &options).0.n_features(), 2);
}

#[test]
fn batches_are_cut_by_the_file_alone() {
    let line = "1\tsome words of text\n";
    let n = 150_000;
    let content = "label\ttext\n0\tx\n".to_owned() + &line.repeat(n - 1);
    let mut keep = Keep::default();
    read_text(memory("t.tsv", &content), &text(&["text"]), &mut keep).unwrap();
    assert_eq!(keep.batches, [65_536, 65_536, n - 2 * 65_536]);
    assert_eq!(keep.cells.len(), n);
    // Read from a file, and on other threads: the same.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.tsv");
    std::fs::write(&path, &content).unwrap();
    let long = "{\"label\":1,\"text\":\"".to_owned() + &"word ".repeat(100_000) + "\"}\n";
    let json = folder.path().join("t.jsonl");
    std::fs::write(&json, long.repeat(20)).unwrap();
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let other = pool.install(|| {
            let mut keep = Keep::default();
            read_text(&path, &text(&["text"]), &mut keep).map(|_| keep)
        });
        assert_eq!(other.unwrap(), keep);
        let long = pool.install(|| {
            let mut keep = Keep::default();
            read_text(&json, &text(&["text"]), &mut keep).map(|_| keep)
        });
        assert_eq!(long.unwrap().batches, [9, 9, 2]);
    }
}

#[test]
fn fasttext_lines() {
    let content = "__label__good so it goes\n\n__label__bad\tnot so\r\n__label__good\n";
    let options = ReadOptions::default();
    let (d, cells) = learn("t.txt", content, &options);
    assert_eq!(d.schema.format, Some(Format::FastText));
    assert_eq!(cells, ["so it goes", "not so", ""]);
    assert_eq!((d.schema.classes.len(), d.y), (2, Targets::Classes(vec![1, 0, 1])));
    let (t, cells) = apply("t.ft", "no label here\n__label__ugly x\n", &d.schema);
    assert_eq!(cells, ["no label here", "x"]);
    assert_eq!(t.y, Targets::Classes(vec![UNSEEN, UNSEEN]));
    assert!(t.warnings[0].contains("`no label`, `ugly`"), "{:?}", t.warnings);
    assert_eq!(apply("t.ft", "no label here\n", &d.schema).0.y, Targets::None);
    // A table's text column is found by its name, and a line's by being the only one.
    let (t, cells) = apply("t.tsv", "label\ttext\ngood\ta b\n", &d.schema);
    assert_eq!((t.y, cells), (Targets::Classes(vec![1]), vec!["a b".to_owned()]));
    let options = ReadOptions { label: Some("kind".into()), ..text(&["body"]) };
    let (d, _) = learn("t.csv", "body,kind\na b,x\nc,y\n", &options);
    let (t, cells) = apply("t.ft", "__label__y d e\n", &d.schema);
    assert_eq!((t.y, cells), (Targets::Classes(vec![1]), vec!["d e".to_owned()]));
}

#[test]
fn fasttext_with_several_labels() {
    let content = "__label__a __label__b x y\nz\nu __label__a v\n";
    let options = ReadOptions { target: TargetKind::Labels, ..ReadOptions::default() };
    let (d, cells) = learn("t.ft", content, &options);
    let Targets::Labels(y) = &d.y else { panic!("labels were asked for") };
    assert_eq!(y.iter().collect::<Vec<_>>(), [&[0, 1][..], &[], &[0]]);
    assert_eq!(cells, ["x y", "z", "u v"]);
    for (content, said) in [
        (content, "t.ft:1:1: column \"label\": 2 labels, `a b`, where one"),
        ("__label__a x\ny\n", "t.ft:2:1: column \"label\": the label is missing"),
        ("__label__ x\n", "t.ft:1: a label without a name"),
        ("__label__a \u{e9}\n\n", "none"),
    ] {
        match read_text(memory("t.ft", content), &ReadOptions::default(), &mut Keep::default()) {
            Ok(_) => assert_eq!(said, "none"),
            Err(error) => assert!(error.to_string().starts_with(said), "{error}"),
        }
    }
    assert!(
        fails("t.ft", content, &ReadOptions::default()).message.contains("options.target = labels")
    );
    let real = ReadOptions { target: TargetKind::Real, ..ReadOptions::default() };
    assert_eq!(learn("t.ft", "__label__2.5 x\n", &real).0.y, Targets::Real(vec![2.5]));
}

#[test]
fn vowpal_wabbit_lines() {
    let content = "good 2 |a x y:0.5 |b x\nbad |a y\ngood 1 'tag | z:2 z:3\n";
    let d = read(memory("t.vw", content), &ReadOptions::default()).unwrap();
    let names: Vec<String> = (0..d.n_features()).map(|j| d.schema.feature_name(j)).collect();
    assert_eq!(names, ["a^x", "a^y", "b^x", "z"]);
    assert_eq!(d.y, Targets::Classes(vec![1, 0, 1]));
    assert_eq!(d.weights, Some(vec![2.0, 1.0, 1.0]));
    assert_eq!(d.x.row(0), Row::sparse(&[0, 1, 2], &[1.0, 0.5, 1.0]).unwrap());
    assert_eq!(d.x.row(2), Row::sparse(&[3], &[5.0]).unwrap());
    let t = memory("u.vw", "| z new\n|a x\n");
    let t = read_with(t, &ReadOptions::default(), &d.schema).unwrap();
    assert_eq!((&t.y, &t.weights), (&Targets::None, &None));
    assert_eq!(t.x.row(0), Row::sparse(&[3], &[1.0]).unwrap());
    assert!(t.warnings[0].contains("1 value that training did not see (the first is `new`)"));
    let t = memory("u.jsonl", "{\"label\":\"bad\",\"features\":{\"a^y\":2}}\n");
    let t = read_with(t, &ReadOptions::default(), &d.schema).unwrap();
    assert_eq!((t.y, t.x.nnz()), (Targets::Classes(vec![0]), 1));
    let options = ReadOptions { target: TargetKind::Labels, ..ReadOptions::default() };
    let d = read(memory("t.vw", "1,3 | a\n| b\n"), &options).unwrap();
    assert!(matches!(d.y, Targets::Labels(y) if y.row(0) == [0, 1] && y.row(1).is_empty()));
    for (content, said) in [
        ("1 | a\n1 a b\n", "t.vw:2:1: no | in the line"),
        ("1 | a\n1|a x\n", "t.vw:2:1: column \"label\": the label is missing"),
        ("1,2 | a\n", "t.vw:1:1: column \"label\": 2 labels, `1 2`, where one"),
        ("1 | a:1e38 a:3e38\n", "t.vw:1: column \"features\": \"a\" is 4e38"),
    ] {
        let error = read(memory("t.vw", content), &ReadOptions::default()).unwrap_err();
        assert!(error.to_string().starts_with(said), "{error}");
    }
}
