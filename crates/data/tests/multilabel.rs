//! Several labels a row, from every format that has them.

use lineal_data::{
    Dataset, Labels, ReadOptions, Source, TargetKind, Targets, UNSEEN, read, read_with,
};

fn memory(name: &str, text: &str) -> Source {
    Source::Memory { name: name.to_owned(), bytes: text.into() }
}

fn options() -> ReadOptions {
    ReadOptions { target: TargetKind::Labels, ..ReadOptions::default() }
}

fn learn(name: &str, text: &str) -> Dataset {
    read(memory(name, text), &options()).unwrap()
}

fn labels(d: &Dataset) -> &Labels {
    match &d.y {
        Targets::Labels(labels) => labels,
        other => panic!("labels were asked for: {other:?}"),
    }
}

/// The names of each row's labels.
fn names(d: &Dataset) -> Vec<String> {
    let name = |&id: &u32| d.schema.classes.get(id as usize).map_or("?", String::as_str);
    labels(d).iter().map(|row| row.iter().map(name).collect::<Vec<_>>().join("+")).collect()
}

#[test]
fn the_same_lists_in_each_format() {
    let expected = ["b+c", "", "a", "a+b+c"];
    for (name, text) in [
        ("t.csv", "x,labels\n1,\"c, b\"\n2,\n3,a\n4,\"a,b,c\"\n"),
        ("t.tsv", "x\tlabel\n1\tc,b\n2\t \n3\ta\n4\tb , a,c\n"),
        (
            "t.jsonl",
            "{\"x\":1,\"labels\":[\"c\",\" b\"]}\n{\"x\":2}\n{\"x\":3,\"labels\":\"a\"}\n\
             {\"x\":4,\"labels\":[\"a\",\"b\",\"c\"]}\n",
        ),
        ("t.svm", "c,b 1:1\n 1:2\na 1:3\nb,a,c 1:4\n"),
    ] {
        let d = learn(name, text);
        assert_eq!(d.schema.classes, ["a", "b", "c"], "{name}");
        assert_eq!(names(&d), expected, "{name}");
        assert_eq!((d.n_rows(), d.n_features(), d.y.len()), (4, 1, 4), "{name}");
        assert_eq!(d.select(&[3, 1]).y, Targets::Labels(labels(&d).select(&[3, 1])));
        assert_eq!(labels(&d).n_labels_total(), 6);
    }
}

#[test]
fn another_separator() {
    let options = ReadOptions { label_separator: ';', ..options() };
    let d = read(memory("t.csv", "x,y\n1,a; b c\n2,\"d,e\"\n"), &options).unwrap();
    assert_eq!(d.schema.classes, ["a", "b c", "d,e"]);
    assert_eq!(d.schema.describe()[1], "y  labels, 3 names");
}

#[test]
fn numbers_sort_by_value() {
    let d = learn("t.jsonl", "{\"y\":[10,9],\"x\":1}\n{\"y\":true,\"x\":1}\n{\"y\":[],\"x\":1}\n");
    assert_eq!(d.schema.classes, ["10", "9", "true"]);
    let d = learn("t.tsv", "y\tx\n10,9,-1\t1\n");
    assert_eq!(d.schema.classes, ["-1", "9", "10"]);
}

#[test]
fn a_schema_finds_its_labels_and_counts_the_others() {
    let d = learn("t.csv", "x,labels\n1,\"a,1\"\n");
    let text = "{\"x\":1,\"labels\":[\"z\",\"a\",\"y\"]}\n{\"x\":1,\"labels\":null}\n{\"x\":1,\"labels\":[1.0]}\n";
    let t = read_with(memory("t.jsonl", text), &ReadOptions::default(), &d.schema).unwrap();
    assert_eq!(labels(&t).row(0), [1, UNSEEN, UNSEEN]);
    assert_eq!((labels(&t).row(1).len(), labels(&t).row(2)), (0, &[0][..]));
    assert!(t.warnings[0].contains("2 labels that training did not see (`z`, `y`)"));
    for unlabelled in ["x\n1\n", "x,labels\n1,\n"] {
        let t = read_with(memory("t.csv", unlabelled), &options(), &d.schema).unwrap();
        assert_eq!((t.y, t.warnings.len()), (Targets::None, 0));
    }
}

#[test]
fn rows_without_labels_alone_can_be_learnt_from() {
    let d = learn("t.csv", "x,labels\n1,\n2,\n");
    assert_eq!((names(&d), d.schema.classes.len()), (vec![String::new(); 2], 0));
}

#[test]
fn faults_of_lists_have_their_place() {
    for (name, text, said) in [
        (
            "t.csv",
            "x,labels\n1,\"a,,b\"\n",
            "t.csv:2:3: column \"labels\": an empty label in `a,,b`",
        ),
        ("t.jsonl", "{\"labels\":[null]}\n", "t.jsonl:1:2: column \"labels\": null in the list"),
        ("t.jsonl", "{\"labels\":[\"\"]}\n", "t.jsonl:1:2: column \"labels\": an empty label in"),
        ("t.jsonl", "{\"labels\":{\"a\":1}}\n", "t.jsonl: no column is named label"),
        ("t.csv", "x,label,labels\n1,a,b\n", "t.csv: both \"label\" and \"labels\" could be"),
        ("t.idx", "\0\0\u{8}\u{3}", "t.idx: IDX has one label per image"),
    ] {
        let error = read(memory(name, text), &options()).unwrap_err().to_string();
        assert!(error.starts_with(said), "{error}");
    }
}

#[test]
fn a_label_that_is_given_twice_is_kept_once() {
    let d = learn("t.csv", "x,labels\n1,a\n1,\"a,b,a\"\n1,\"b,b\"\n");
    assert_eq!(names(&d), ["a", "a+b", "b"]);
    assert_eq!(d.warnings, ["t.csv:3:3: label `a` is given twice; kept once (and 1 more row)"]);
    let t = memory("t.jsonl", "{\"x\":1,\"labels\":[\"z\",\"z\",\"y\"]}\n");
    let t = read_with(t, &options(), &d.schema).unwrap();
    assert_eq!(labels(&t).row(0), [UNSEEN, UNSEEN]);
    assert_eq!(t.warnings[0], "t.jsonl:1:8: label `z` is given twice; kept once");
}
