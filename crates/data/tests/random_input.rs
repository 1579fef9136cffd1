//! Properties over random files: what is written is read, at any number of threads; soup never panics.

use std::fmt::Write;
use std::ops::ControlFlow;

use lineal_data::{
    Dataset, Format, ReadOptions, Source, TargetKind, Targets, TextBatch, TextSink, read,
    read_text, read_text_with, read_with, stream,
};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

fn memory(bytes: impl Into<Vec<u8>>) -> Source {
    Source::Memory { name: "random".to_owned(), bytes: bytes.into() }
}

fn options(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

fn on_threads(n: usize, text: &str) -> Dataset {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    pool.install(|| read(memory(text), &options(Format::Svmlight)).unwrap())
}

fn value() -> impl Strategy<Value = f32> {
    let any_finite = any::<f32>().prop_filter("finite", |v| v.is_finite() && *v != 0.0);
    prop_oneof![any_finite, (1i32..1000).prop_map(|v| v as f32 / 64.0)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn libsvm_comes_back_as_written(
        rows in vec((-3i32..3, btree_map(1u32..50_000, value(), 0..12)), 1..60),
        repeat in prop_oneof![Just(1usize), Just(4000)],
    ) {
        let mut text = String::new();
        for (label, row) in &rows {
            write!(text, "{label}").unwrap();
            row.iter().for_each(|(j, v)| write!(text, " {j}:{v}").unwrap());
            text.push('\n');
        }
        let text = text.repeat(repeat);
        let (one, two) = (on_threads(1, &text), on_threads(2, &text));
        prop_assert_eq!(&one.x, &two.x);
        prop_assert_eq!(&one.y, &two.y);
        prop_assert_eq!(&one.schema, &two.schema);
        prop_assert_eq!(one.n_rows(), rows.len() * repeat);
        let Targets::Classes(y) = &one.y else { panic!("classes were asked for") };
        for (i, (label, row)) in rows.iter().cycle().take(one.n_rows()).enumerate() {
            let mut found = Vec::new();
            one.x.row(i).for_each(|j, v| {
                // Where most indices never occur, columns are renumbered; their names stay.
                let index: u32 = one.schema.feature_name(j).parse().unwrap();
                found.push((index, v.to_bits()));
            });
            let written: Vec<(u32, u32)> = row.iter().map(|(j, v)| (*j, v.to_bits())).collect();
            prop_assert_eq!(found, written);
            prop_assert_eq!(&one.schema.classes[y[i] as usize], &label.to_string());
        }
    }

    #[test]
    fn csv_and_tsv_and_jsonl_say_the_same(
        rows in vec((value(), value(), prop::bool::ANY), 1..30),
    ) {
        let (mut csv, mut tsv, mut jsonl) = ("a,b,y\n".to_owned(), "a\tb\ty\n".to_owned(), String::new());
        for (a, b, y) in &rows {
            writeln!(csv, "\"{a}\",{b},{y}").unwrap();
            writeln!(tsv, "{a}\t{b}\t{y}").unwrap();
            writeln!(jsonl, "{{\"a\":{a},\"b\":{b},\"y\":{y}}}").unwrap();
        }
        let csv = read(memory(csv), &options(Format::Csv)).unwrap();
        for (format, text) in [(Format::Tsv, tsv), (Format::Jsonl, jsonl)] {
            let other = read(memory(text), &options(format)).unwrap();
            prop_assert_eq!(&csv.x, &other.x);
            prop_assert_eq!(&csv.y, &other.y);
            prop_assert_eq!(&csv.schema.columns, &other.schema.columns);
        }
    }
}

/// Bytes that formats are made of, so that soup gets past the first check.
fn soup() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"1",
        b"+1",
        b"-1",
        b" ",
        b"\n",
        b"\r\n",
        b"\t",
        b",",
        b":",
        b"1:1",
        b" 2:0.5",
        b"4294967294:1",
        b"#",
        b"|",
        b"|2",
        b"\"",
        b"{",
        b"}",
        b"[",
        b"]",
        b"{\"label\":1,\"a\":2}",
        b"{\"features\":{\"a\":1}",
        b"null",
        b"nan",
        b"inf",
        b"1e",
        b".5",
        b"label",
        b"label,a\n",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\0\0\x08\x03",
        b"\0\0\0\x01",
        b"\0",
        b"qid:1",
        b"\n1 qid:b 1:1",
        b"qid,y,text\n",
        b"99999999999",
        b"\x1f\x8b\x08",
        b"\x28\xb5\x2f\xfd",
        b"y\ta\n",
        b"1,3",
        b"__label__a",
        b" words of text",
        b"| a",
        b"|ns b:2",
        b"'tag",
        b"{\"y\":[1,2],\"text\":\"t\"}\n",
        b"y,text\n",
    ];
    let word = prop_oneof![
        8 => prop::sample::select(words).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 1..4),
    ];
    vec(word, 0..40).prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn soup_never_panics(
        bytes in soup(),
        target in prop::sample::select(vec![TargetKind::Real, TargetKind::Classes, TargetKind::Labels, TargetKind::Grades]),
        header in prop::bool::ANY,
    ) {
        let train: [&[u8]; 3] = [b"1 1:1 3:2\n2 2:1\n", b"label,a,b\n1,2,x\n2,3,y\n", b"{\"label\":1,\"features\":{\"a\":1}}"];
        for format in Format::ALL {
            let options = ReadOptions { target, header: Some(header), guess_text: true, only_labelled: true, ..options(format) };
            let mut text = Lengths::default();
            if let Ok(d) = read_text(memory(bytes.clone()), &options, &mut text) {
                prop_assert_eq!(d.x.n_cols(), d.schema.n_features);
                prop_assert_eq!(d.y.len(), d.n_rows());
                if d.schema.text_columns().count() > 0 {
                    prop_assert_eq!(text.0.len(), d.n_rows());
                }
                let mut again = Lengths::default();
                let same = read_text_with(memory(bytes.clone()), &options, &d.schema, &mut again).unwrap();
                prop_assert!(same.x == d.x && again == text);
                // Rows of which none has a label are not known to be labelled.
                let unlabelled = matches!(&d.y, Targets::Labels(y) if y.n_labels_total() == 0);
                let expected = if unlabelled { &Targets::None } else { &d.y };
                prop_assert_eq!(&same.y, expected);
                prop_assert_eq!(streamed(&bytes, &options, &d), format != Format::Idx);
            }
            for (text, learnt) in train.iter().zip([Format::Svmlight, Format::Csv, Format::Jsonl]) {
                let options = ReadOptions { header: Some(true), ..options.clone() };
                let schema = read(memory(*text), &ReadOptions { format: Some(learnt), ..options.clone() });
                if let Ok(schema) = schema {
                    let _ = read_with(memory(bytes.clone()), &options, &schema.schema);
                }
            }
        }
        let _ = read(memory(bytes), &ReadOptions::default());
    }
}

/// How long each row's text is.
#[derive(Default, PartialEq)]
struct Lengths(Vec<usize>);

impl TextSink for Lengths {
    fn batch(&mut self, batch: &TextBatch) -> Result<(), String> {
        let length = |i| (0..batch.n_slots()).map(|slot| batch.get(i, slot).len()).sum::<usize>();
        self.0.extend((0..batch.n_rows()).map(length));
        Ok(())
    }
}

/// Whether chunks of two rows are those of the whole.
fn streamed(bytes: &[u8], options: &ReadOptions, whole: &Dataset) -> bool {
    let mut at = 0;
    let learnt = stream(memory(bytes), options, &whole.schema, 2, &mut |chunk, _| {
        let rows: Vec<usize> = (at..at + chunk.n_rows()).collect();
        assert_eq!(chunk.y, whole.select(&rows).y);
        assert_eq!(chunk.queries, whole.select(&rows).queries);
        for (i, &row) in rows.iter().enumerate() {
            assert_eq!(nonzeros(&chunk, i), nonzeros(whole, row));
        }
        at += rows.len();
        Ok(ControlFlow::Continue(()))
    });
    learnt.is_ok_and(|learnt| learnt.n_rows == whole.n_rows())
}

fn nonzeros(d: &Dataset, i: usize) -> Vec<(usize, u32)> {
    let mut row = Vec::new();
    d.x.row(i).for_each(|j, v| row.extend((v != 0.0).then_some((j, v.to_bits()))));
    row
}
