//! Tables from csv, tsv and JSON lines: types, schemas applied to other files, weights.

use lineal_data::{
    ColumnKind, Dataset, ReadOptions, Schema, Source, TargetKind, Targets, UNSEEN, read, read_with,
};
use lineal_linalg::{Matrix, Row};

fn memory(name: &str, text: &str) -> Source {
    Source::Memory { name: name.to_owned(), bytes: text.into() }
}

fn learn(name: &str, text: &str) -> Dataset {
    read(memory(name, text), &ReadOptions::default()).unwrap()
}

fn apply(name: &str, text: &str, schema: &Schema) -> Dataset {
    read_with(memory(name, text), &ReadOptions::default(), schema).unwrap()
}

fn names(schema: &Schema) -> Vec<String> {
    (0..schema.n_features).map(|j| schema.feature_name(j)).collect()
}

#[test]
fn types_are_guessed_over_the_whole_column() {
    let mut text = String::from("k,n,late,color,Label,note,void\n");
    for i in 0..60 {
        let late = if i == 50 { "x".to_owned() } else { i.to_string() };
        let color = ["red", "", " blue"][i % 3];
        text += &format!("{i},{i}.5,{late},{color},{},note {i},\n", i % 2);
    }
    let d = learn("t.csv", &text);
    let columns = d.schema.columns.as_ref().unwrap();
    assert_eq!(columns[1].kind, ColumnKind::Numeric { at: 1, mean: 30.0 });
    let ignored = |name: &str| {
        let flags = format!("options.text = {name} or options.categorical = {name} keeps it");
        let why = format!("different in most rows (60 distinct values in 60); {flags}");
        ColumnKind::Ignored { why }
    };
    assert_eq!(columns[2].kind, ignored("late"));
    let values = vec![String::new(), "blue".into(), "red".into()];
    assert_eq!(columns[3].kind, ColumnKind::Categorical { at: 2, values });
    assert_eq!(columns[4].kind, ColumnKind::Label);
    assert_eq!(columns[5].kind, ignored("note"));
    assert_eq!(columns[6].kind, ColumnKind::Ignored { why: "empty in every row".into() });
    assert_eq!(names(&d.schema), ["k", "n", "color=(missing)", "color=blue", "color=red"]);
    assert_eq!(d.x.row(2), Row::sparse(&[0, 1, 3], &[2.0, 2.5, 1.0]).unwrap());
    assert_eq!(d.warnings.len(), 1);
    assert!(d.warnings[0].starts_with("t.csv:52: column \"late\" is not numeric because of `x`"));
    assert_eq!(d.schema.describe()[3], "color  categorical, 3 values: (missing), blue, red");
}

#[test]
fn the_users_word_wins() {
    let options = ReadOptions {
        label: Some("b".into()),
        weight: Some("w".into()),
        categorical: vec!["zip".into()],
        ignore: vec!["a".into()],
        ..ReadOptions::default()
    };
    let text = "a,zip,b,w\n1,10,u,0.5\n2,9,v,2\n3,10,u,0\n";
    let d = read(memory("t.csv", text), &options).unwrap();
    assert_eq!(names(&d.schema), ["zip=10", "zip=9"]);
    assert_eq!(d.weights, Some(vec![0.5, 2.0, 0.0]));
    assert_eq!(d.y, Targets::Classes(vec![0, 1, 0]));
}

#[test]
fn few_zeros_are_dense_and_many_sparse() {
    let d = learn("t.csv", "a,b,y\n1,0,1\n2,3,2\n");
    assert!(matches!(d.x, Matrix::Dense(_)));
    assert_eq!(d.x.row(0), Row::Dense(&[1.0, 0.0]));
    let d = learn("t.csv", "a,b,y\n1,0,1\n0,3,2\n");
    assert!(matches!(d.x, Matrix::Sparse(_)));
    assert_eq!(d.x.row(1), Row::sparse(&[1], &[3.0]).unwrap());
}

#[test]
fn labels_sort_as_numbers_or_as_text() {
    assert_eq!(learn("t.csv", "a,y\n1,10\n1,9\n").schema.classes, ["9", "10"]);
    assert_eq!(learn("t.csv", "a,y\n1,10\n1,9\n1,x\n").schema.classes, ["10", "9", "x"]);
}

#[test]
fn real_targets() {
    let options = ReadOptions { target: TargetKind::Real, ..ReadOptions::default() };
    let d = read(memory("t.tsv", "y\ta\n0.1\t1\n-2e3\t2\n"), &options).unwrap();
    assert_eq!(d.y, Targets::Real(vec![0.1, -2000.0]));
    assert!(d.schema.classes.is_empty());
    assert_eq!(apply("u.csv", "a\n1\n", &d.schema).y, Targets::None);
}

#[test]
fn a_schema_is_applied_by_name_across_formats() {
    let d = learn("t.csv", "a,c,y\n1,red,no\n2,blue,yes\n");
    let json =
        "{\"y\": \"no\", \"c\": \"red\", \"a\": 3}\n{\"c\": \"pink\", \"a\": 4, \"extra\": [1]}\n";
    let t = apply("t.jsonl", json, &d.schema);
    assert_eq!(t.y, Targets::Classes(vec![0, UNSEEN]));
    assert_eq!(t.x.row(0), Row::sparse(&[0, 2], &[3.0, 1.0]).unwrap());
    assert_eq!(t.x.row(1), Row::sparse(&[0], &[4.0]).unwrap());
    assert!(t.warnings.iter().any(|w| w.contains("\"c\" has 1 value that training did not see")));
    let t = apply("t.tsv", "c\ta\nblue\t1\n", &d.schema);
    assert_eq!((t.y, t.warnings.len(), t.schema), (Targets::None, 0, d.schema));
}

#[test]
fn without_a_header_the_label_may_be_missing_too() {
    let options =
        ReadOptions { header: Some(false), label: Some("2".into()), ..ReadOptions::default() };
    let d = read(memory("t.csv", "1,a,5\n2,b,6\n"), &options).unwrap();
    assert_eq!(names(&d.schema), ["1", "3"]);
    let options = ReadOptions { label: None, ..options };
    let t = read_with(memory("u.csv", "7,8\n"), &options, &d.schema).unwrap();
    assert_eq!((t.x.row(0), t.y), (Row::Dense(&[7.0, 8.0]), Targets::None));
}

#[test]
fn json_has_lists_named_features_and_booleans() {
    let text = concat!(
        r#"{"label": true, "x": [1, 2], "features": {"b": 2, "a": 0}, "on": false}"#,
        "\n\n",
        r#"{"label": false, "x": [3, 4], "features": {"c": 5}, "on": true, "w": 3}"#,
        "\n",
    );
    let options = ReadOptions { weight: Some("w".into()), ..ReadOptions::default() };
    let error = read(memory("t.jsonl", text), &options).unwrap_err();
    assert!(
        error.to_string().starts_with("t.jsonl:1: column \"w\": example weight nothing"),
        "{error}"
    );
    let d = learn("t.jsonl", text.replace(", \"w\": 3", "").as_str());
    assert_eq!(names(&d.schema), ["x[0]", "x[1]", "a", "b", "c", "on=false", "on=true"]);
    assert_eq!(d.schema.classes, ["false", "true"]);
    assert_eq!(d.x.row(0), Row::sparse(&[0, 1, 3, 5], &[1.0, 2.0, 2.0, 1.0]).unwrap());
    assert_eq!(d.x.row(1), Row::sparse(&[0, 1, 4, 6], &[3.0, 4.0, 5.0, 1.0]).unwrap());
    let rest = "{\"x\": [0, 1], \"on\": true, \"features\": {\"z\": 1, \"c\": 1}}\n{\"x\": [0, 0], \"on\": true}\n";
    let t = apply("u.jsonl", rest, &d.schema);
    assert_eq!(t.x.row(0), Row::sparse(&[1, 4, 6], &[1.0, 1.0, 1.0]).unwrap());
    assert_eq!(t.x.row(1), Row::sparse(&[6], &[1.0]).unwrap());
    assert!(t.warnings[0].contains("`z`"), "{:?}", t.warnings);
}

#[test]
fn a_byte_order_mark_is_not_a_name() {
    assert_eq!(names(&learn("t.csv", "\u{feff}a,y\r\n1,x\r\n").schema), ["a"]);
    assert_eq!(learn("t.svm", "\u{feff}1 1:1\n").schema.classes, ["1"]);
}

#[test]
fn rows_are_selected_with_all_they_have() {
    let options = ReadOptions { weight: Some("w".into()), ..ReadOptions::default() };
    let d = read(memory("t.csv", "a,y,w\n1,u,1\n2,v,2\n3,u,3\n"), &options).unwrap();
    let s = d.select(&[2, 1]);
    assert_eq!(s.x.row(0), Row::Dense(&[3.0]));
    assert_eq!((s.y, s.weights), (Targets::Classes(vec![0, 1]), Some(vec![3.0, 2.0])));
}

#[test]
fn hashed_categories_share_a_table_and_keep_names() {
    let csv = "city,age,job,label\nRome,1,cook,a\nOslo,2,cook,b\n,3,smith,a\n";
    let source = |text: &str| Source::Memory { name: "x.csv".into(), bytes: text.into() };
    let categorical = vec!["city".to_owned(), "job".to_owned()];
    let options = ReadOptions { hash_categories: Some(6), categorical, ..ReadOptions::default() };
    let data = read(source(csv), &options).unwrap();
    assert_eq!(data.n_features(), 1 + 64);
    let names = |i: usize| {
        let mut names = Vec::new();
        data.x.row(i).for_each(|j, v| names.push((data.schema.feature_name(j), v)));
        names
    };
    let of = |i: usize| names(i).into_iter().map(|(name, _)| name).collect::<Vec<_>>().join(" ");
    for (i, parts) in [(0, ["age", "city=Rome", "job=cook"]), (2, ["age", "city=", "job=smith"])] {
        assert!(parts.iter().all(|part| of(i).contains(part)), "{}", of(i));
    }
    assert!((0..3).all(|i| names(i).iter().skip(1).map(|(_, v)| v).sum::<f32>() == 2.0));
    assert_eq!(data.schema.describe()[0], "city   categorical, hashed into 64 features");
    // A value that training did not see has its place too, and nobody warns of it.
    let new = read_with(source("job,age,city\npilot,1,Rome\n"), &options, &data.schema).unwrap();
    assert!(new.warnings.is_empty(), "{:?}", new.warnings);
    let sum = |data: &lineal_data::Dataset| data.x.row(0).values().iter().sum::<f32>();
    assert_eq!(sum(&new), 3.0);
    let text = serde_json::to_string(&data.schema).unwrap();
    assert_eq!(serde_json::from_str::<lineal_data::Schema>(&text).unwrap(), data.schema);
    let message = |bits| {
        let options = ReadOptions { hash_categories: Some(bits), ..options.clone() };
        read(source(csv), &options).unwrap_err().to_string()
    };
    assert!(
        message(0).contains("between 1 and 30 bits")
            && message(99).contains("options.hash_categories = 99")
    );
}
