//! What bad input gets: the place, the value and the remedy.

use lineal_data::{ErrorKind, Format, ReadOptions, Source, TargetKind, read, read_with};

fn memory(name: &str, bytes: impl AsRef<[u8]>) -> Source {
    Source::Memory { name: name.to_owned(), bytes: bytes.as_ref().to_vec() }
}

/// Name, content, expected `name:line:column: ` and a fragment of the message.
type Case = (&'static str, &'static [u8], &'static str, &'static str);

const CASES: &[Case] = &[
    ("a.svm", b"", "a.svm: ", "empty"),
    ("a.svm", b"\n# only 1:1\n\n", "a.svm: ", "no rows"),
    ("a.svm", b"1 1:1\n1 0:2\n", "a.svm:2:3: ", "indices start at 1"),
    ("a.svm", b"1 00:2\n", "a.svm:1:3: ", "indices start at 1"),
    ("a.svm", b"1 4294967295:2\n", "a.svm:1:3: ", "4294967294"),
    ("a.svm", b"1 99999999999999999999999:2\n", "a.svm:1:3: ", "4294967294"),
    ("a.svm", b"1 1:1 -3:2\n", "a.svm:1:7: ", "`-3`"),
    ("a.svm", b"1 1:1 x:2\n", "a.svm:1:7: ", "`x`"),
    ("a.svm", b"1 1:1 2:3 2:4\n", "a.svm:1:11: ", "2 is given twice"),
    ("a.svm", b"1 5:1 2:0 4:4 2:4\n", "a.svm:1:15: ", "2 is given twice"),
    ("a.svm", b"# c\n1 1:nan\n", "a.svm:2:5: ", "`nan` is not finite"),
    ("a.svm", b"1 1:-inf\n", "a.svm:1:5: ", "`-inf` is not finite"),
    ("a.svm", b"1 1:1e39\n", "a.svm:1:5: ", "`1e39` is too large"),
    ("a.svm", b"1 1:1 2:abc\n", "a.svm:1:9: ", "`abc` is not a number"),
    ("a.svm", b"1 1:1 2:1,5\n", "a.svm:1:9: ", "`1,5` is not a number"),
    ("a.svm", b"1 1: 2\n", "a.svm:1:5: ", "no value after the colon"),
    ("a.svm", b"1 1:1:1\n", "a.svm:1:5: ", "`1:1` is not a number"),
    ("a.svm", b"1 7 8:1\n", "a.svm:1:3: ", "`7` is not a feature"),
    ("a.svm", b"1 12345678901 8:1\n", "a.svm:1:3: ", "is not a feature"),
    ("a.svm", b"1:2 3:4\n", "a.svm:1:1: ", "no label"),
    ("a.svm", b"1 qid:3 1:2\n", "a.svm:1:3: ", "ranking"),
    ("a.svm", b"1,3 1:2\n", "a.svm:1:1: ", "multilabel"),
    ("a.svm", b"nan 1:2\n", "a.svm:1:1: ", "not a finite number"),
    ("a.svm", b"+1|-2 1:2\n", "a.svm:1:4: ", "`-2`"),
    ("a.svm", b"+1|inf 1:2\n", "a.svm:1:4: ", "weight `inf`"),
    ("a.svm", b"|2 1:2\n", "a.svm:1:1: ", "without a label"),
    ("a.svm", b"\xff 1:2\n", "a.svm:1:1: ", "UTF-8"),
    ("a.csv", b"a,label\n", "a.csv: ", "no rows"),
    ("a.csv", b"a,label\n1,x\n2\n", "a.csv:3: ", "1 field, but the first row has 2"),
    ("a.csv", b"a,label\n1,x\n2,y,z\n", "a.csv:3: ", "3 fields, but the first row has 2"),
    ("a.csv", b"a,label\n1,x\n,y\n", "a.csv:3:1: ", "options.categorical = a"),
    ("a.csv", b"a,label\n1,x\nNA,y\n", "a.csv:3:1: ", "`NA` is not a number; fill it in"),
    ("a.csv", b"label,a\nx,1\ny,inf\n", "a.csv:3:3: ", "`inf` is not finite"),
    ("a.csv", b"label,a\nx,1\ny,nan\n", "a.csv:3:3: ", "`nan`"),
    ("a.csv", b"a,b\n1,x\n", "a.csv: ", "options.label = NAME; the columns are a, b"),
    ("a.csv", b"label,class\n1,x\n", "a.csv: ", "could be the label"),
    ("a.csv", b"a,a,label\n1,2,x\n", "a.csv:1: ", "`a`"),
    ("a.csv", b"0,0,1\n1,2,3\n", "a.csv: ", "options.header = true"),
    ("a.csv", b"a,label\n1,x\n2,\n", "a.csv:3:3: ", "label is missing"),
    ("a.csv", b"a,label\n1,caf\xe9\n", "a.csv:2:6: ", "0xe9 is not valid UTF-8"),
    ("a.csv", b"a,label\n1,\"x\n2,y\n", "a.csv:2:3: ", "never closed"),
    ("a.tsv", b"a\tlabel\n1\tx\n2 y\n", "a.tsv:3: ", "1 field"),
    ("a.jsonl", b"\n\n", "a.jsonl: ", ""),
    ("a.jsonl", b"{\"label\": 1}\n{\"label\": }\n", "a.jsonl:2:11: ", "not valid JSON"),
    ("a.jsonl", b"{\"label\": 1, \"label\": 2}\n", "a.jsonl:1:", "given twice"),
    ("a.jsonl", b"7\n", "a.jsonl:1:1: ", "object"),
    (
        "a.jsonl",
        b"{\"label\":1,\"a\":2}\n{\"label\":1}\n",
        "a.jsonl:2: ",
        "options.categorical = a",
    ),
    ("a.jsonl", b"{\"label\":1,\"a\":2}\n{\"label\":1,\"a\":null}\n", "a.jsonl:2:12: ", "missing"),
    ("a.jsonl", b"{\"a\":2}\n", "a.jsonl: ", "options.label"),
    ("a.jsonl", b"{\"label\":1,\"a\":2}\n{\"a\":1}\n", "a.jsonl:2: ", "label is missing"),
    ("a.jsonl", b"{\"label\":[1,2],\"a\":2}\n", "a.jsonl:1:2: ", "list"),
    ("a.jsonl", b"{\"y\":1,\"x\":[1,2]}\n{\"y\":1,\"x\":[1]}\n", "a.jsonl:2:8: ", "2 numbers"),
    ("a.jsonl", b"{\"y\":1,\"features\":{\"a\":\"b\"}}\n", "a.jsonl:1:8: ", "not a number"),
    ("a.jsonl", b"{\"y\":1,\"features\":{\"a\":1e39}}\n", "a.jsonl:1:8: ", "32 bits"),
    ("a.jsonl", b"{\"y\":1,\"a\":1e39}\n", "a.jsonl:1:8: ", "too large"),
    ("a.idx", b"\0\0\x08\x01\0\0\0\x01\x07", "a.idx: ", "labels?"),
    ("a.svm.gz", b"1 1:1\n", "a.svm.gz: ", "not gzip"),
    ("a.svm", b"\x1f\x8b\x08\0\0\0\0\0", "a.svm: ", "damaged or cut short"),
    ("data", b"hello world\n", "data: ", "options.format"),
];

#[test]
fn every_fault_has_its_place_value_and_remedy() {
    for &(name, bytes, place, fragment) in CASES {
        let input = String::from_utf8_lossy(bytes);
        match read(memory(name, bytes), &ReadOptions { strict: true, ..ReadOptions::default() }) {
            Ok(_) => panic!("{input:?} was accepted"),
            Err(error) => {
                let text = error.to_string();
                assert!(text.starts_with(place), "{input:?}: {text}, not at {place}");
                assert!(text.contains(fragment), "{input:?}: {text} without {fragment}");
            }
        }
    }
}

#[test]
fn real_labels_must_be_finite_numbers() {
    let options = ReadOptions { target: TargetKind::Real, ..ReadOptions::default() };
    for (name, text, place) in [
        ("a.svm", "1.5 1:1\nx 1:1\n", "a.svm:2:1: label `x` is not a number"),
        ("a.svm", "1.5 1:1\ninf 1:1\n", "a.svm:2:1: label `inf` is not a finite number"),
        ("a.csv", "a,y\n1,2\n3,x\n", "a.csv:3:3: column \"y\": label `x`"),
        ("a.csv", "a,y\n1,2\n3,-inf\n", "a.csv:3:3: column \"y\": label `-inf`"),
        ("a.csv", "a,y\n1,nan\n3,\n", "a.csv: no row has a label"),
        ("a.jsonl", "{\"y\":true,\"a\":1}\n", "a.jsonl:1:2: column \"y\": label `true`"),
    ] {
        let error = read(memory(name, text), &options).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
    }
}

#[test]
fn columns_that_are_named_must_exist_and_have_one_role() {
    let list = |name: &str| vec![name.to_owned()];
    let text = "a,b,label\n1,x,1\n2,y,2\n";
    let some = |name: &str| Some(name.to_owned());
    let with =
        |options: ReadOptions| read(memory("a.csv", text), &options).unwrap_err().to_string();
    let base = ReadOptions::default;
    for options in [
        ReadOptions { label: some("c"), ..base() },
        ReadOptions { weight: some("c"), ..base() },
        ReadOptions { numeric: list("c"), ..base() },
        ReadOptions { categorical: list("c"), ..base() },
        ReadOptions { ignore: list("c"), ..base() },
    ] {
        assert!(with(options).contains("no column \"c\"; the columns are a, b, label"));
    }
    for options in [
        ReadOptions { numeric: list("a"), ignore: list("a"), ..base() },
        ReadOptions { weight: some("a"), categorical: list("a"), ..base() },
        ReadOptions { label: some("a"), weight: some("a"), ..base() },
    ] {
        assert!(with(options).contains("column \"a\" is named by both options."));
    }
    let said = with(ReadOptions { numeric: list("b"), ..base() });
    assert!(said.starts_with("a.csv:2:3: column \"b\": `x` is not a number"), "{said}");
    let said = with(ReadOptions { weight: some("b"), ..base() });
    assert!(said.starts_with("a.csv:2:3: column \"b\": example weight `x`"), "{said}");
}

#[test]
fn data_that_does_not_fit_the_schema() {
    let options = ReadOptions::default();
    let train = read(memory("a.csv", "a,b,label\n1,x,1\n2,y,2\n"), &options).unwrap();
    let error = read_with(memory("t.csv", "b,label\nx,1\n"), &options, &train.schema).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Schema);
    assert!(error.message.contains("no column \"a\""), "{error}");
    let error = read_with(memory("t.svm", "1 1:1\n"), &options, &train.schema).unwrap_err();
    assert!(error.message.contains("trained on csv"), "{error}");
    let mut damaged = train.schema.clone();
    damaged.n_features = 99;
    let error = read_with(memory("t.csv", "a,b\n1,x\n"), &options, &damaged).unwrap_err();
    assert!(error.message.contains("damaged"), "{error}");
}

#[test]
fn standard_formats_are_asked_for_by_name() {
    assert_eq!("svmlight".parse(), Ok(Format::Svmlight));
    assert_eq!("libsvm".parse(), Ok(Format::Svmlight));
    assert!("xlsx".parse::<Format>().unwrap_err().contains("jsonl"));
}
