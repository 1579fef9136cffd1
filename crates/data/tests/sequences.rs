//! Readers of sequences: what they find, and where they say that a file is wrong.

use std::ops::ControlFlow;

use lineal_data::{
    Format, SequenceOptions, Sequences, Source, UNLABELLED, read_sequences, read_sequences_with,
    stream_sequences,
};
use proptest::prelude::*;

fn memory(name: &str, bytes: impl AsRef<[u8]>) -> Source {
    Source::Memory { name: name.to_owned(), bytes: bytes.as_ref().to_vec() }
}

fn read(name: &str, text: &str) -> Sequences {
    read_sequences(memory(name, text), &SequenceOptions::default()).unwrap()
}

fn cells(data: &Sequences) -> Vec<Vec<&str>> {
    data.iter().map(|sequence| sequence.cells().collect()).collect()
}

#[test]
fn conll_by_spaces_and_tabs() {
    let by_spaces = read("a.conll", "\n\nthe DT B\ndog NN  I\r\n\r\n \t\n# # O\n");
    assert_eq!(cells(&by_spaces), [vec!["the", "DT", "B", "dog", "NN", "I"], vec!["#", "#", "O"]]);
    assert_eq!(by_spaces.gold(), [0, 1, 2]);
    assert_eq!((by_spaces.line(0, 1), by_spaces.line(1, 0)), (4, 7));
    let by_tabs = read("a.conll", "New York\t\tB\na\tb\tI\n");
    assert_eq!(cells(&by_tabs), [["New York", "", "B", "a", "b", "I"]]);
    assert_eq!(by_tabs.schema.columns, ["0", "1", "2"]);
    assert_eq!(by_tabs.schema.words(), 0);
}

#[test]
fn a_label_may_stand_in_any_column() {
    let options = SequenceOptions { label: Some("0".into()), ..SequenceOptions::default() };
    let data = read_sequences(memory("a.conll", "B the\nI dog\n"), &options).unwrap();
    assert_eq!((data.schema.label, &data.schema.labels[..]), (0, &["B".into(), "I".into()][..]));
    let other =
        read_sequences_with(memory("b.conll", "B a\n"), &SequenceOptions::default(), &data.schema);
    assert_eq!(other.unwrap().gold(), [0]);
}

#[test]
fn conllu_leaves_out_what_is_no_token() {
    let text = "# text = du x\n1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_\n1\tde\tde\tADP\t_\t_\t0\t_\t_\t_\n\
                2\tle\tle\tDET\t_\t_\t0\t_\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n3\tx\tx\tX\tY\t_\t0\t_\t_\t_\n";
    let data = read("a.conllu", text);
    assert_eq!(data.schema.labels, ["ADP", "DET", "X"]);
    assert_eq!(data.get(0).cell(1, 1), "le");
    assert_eq!((data.schema.words(), data.line(0, 0), data.line(0, 2)), (1, 3, 6));
    assert_eq!(data.raw(0), text);
    let options = SequenceOptions {
        label: Some("xpos".into()),
        unlabelled: Some("_".into()),
        ..SequenceOptions::default()
    };
    let data = read_sequences(memory("a.conllu", text), &options).unwrap();
    assert_eq!(data.gold(), [UNLABELLED, UNLABELLED, 0]);
}

#[test]
fn crfsuite_keeps_attributes_as_they_stand() {
    let data = read("a.crfsuite", "B\ta:1\tb\\:c\nI\\:x\n\nO\td\n");
    assert_eq!(data.schema.labels, ["B", "I:x", "O"]);
    assert_eq!(cells(&data), [vec!["a:1\tb\\:c", ""], vec!["d"]]);
    assert!(data.schema.has_attributes());
}

#[test]
fn jsonl_lists_are_columns() {
    let data = read(
        "a.jsonl",
        "{\"id\": 7, \"labels\": [\"A\", null], \"tokens\": [\"x\", \"y\\n\"], \"pos\": [\"N\", 3]}\n\n\
         {\"tokens\": [], \"pos\": [], \"labels\": []}\n{\"pos\": [\"V\"], \"tokens\": [\"z\"]}\n",
    );
    assert_eq!(data.schema.columns, ["tokens", "pos", "labels"]);
    assert_eq!(cells(&data), [vec!["x", "N", "y\n", "3"], vec!["z", "V"]]);
    assert_eq!(data.gold(), [0, UNLABELLED, UNLABELLED]);
    assert_eq!(data.line(1, 0), 4);
}

#[test]
fn with_a_schema_labels_may_be_missing_or_new() {
    let data = read("a.conll", "the DT B\ndog NN I\n");
    let with = |text: &str, options: &SequenceOptions| {
        read_sequences_with(memory("b.conll", text), options, &data.schema)
    };
    let bare = with("a X\n", &SequenceOptions::default()).unwrap();
    assert_eq!((bare.has_labels(), bare.n_columns(), bare.gold()), (false, 2, &[UNLABELLED][..]));
    let new = with("a X I\nb Y Q\n", &SequenceOptions::default()).unwrap();
    assert_eq!(
        (new.gold(), &new.labels[..]),
        (&[1, 2][..], &["B".into(), "I".into(), "Q".into()][..])
    );
    assert_eq!(new.schema.labels.len(), 2);
    let known = SequenceOptions {
        label: Some("3".into()),
        unlabelled: Some("_".into()),
        ..SequenceOptions::default()
    };
    assert_eq!(with("a X B _\nb Y B I\n", &known).unwrap().gold(), [UNLABELLED, 1]);
    for (text, want) in [
        ("a\n", "b.conll:1: 1 column, but the model was trained on 3 (or 2 without the label)"),
        ("a X B I\n", "b.conll:1: 4 columns, but the model was trained on 3"),
    ] {
        let error = with(text, &SequenceOptions::default()).unwrap_err().to_string();
        assert!(error.starts_with(want), "{error}");
    }
    let error = read_sequences_with(
        memory("b.jsonl", "{\"tokens\": [\"a\"]}"),
        &SequenceOptions::default(),
        &data.schema,
    );
    assert!(error.unwrap_err().to_string().contains("trained on conll"));
}

#[test]
fn faults_have_their_place() {
    for (name, text, want) in [
        ("a.conll", "", "a.conll: the file is empty"),
        ("a.conll", "\n \n", "a.conll: the file is empty"),
        ("a.conll", "a\n", "a.conll:1: `a` has one column"),
        ("a.conll", "a b\n\nc d e\n", "a.conll:3: 3 columns in `c d e` where line 1 has 2"),
        ("a.conll", "a b\nc\n", "a.conll:2: 1 column in `c`"),
        ("a.conll", "B\tw=a\nI\tw=b\tp=c\n", "say options.format = crfsuite"),
        ("a.conllu", "1\ta\n", "a.conllu:1: 2 columns where CoNLL-U has 10"),
        ("a.conllu", "# only\n", "a.conllu: the file has no tokens"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: a list of 1 is not an object"),
        ("a.jsonl", "{\"tokens\": [\"a\"]}\n", "no list `labels`"),
        ("a.jsonl", "{\"words\": [\"a\"]}\n", "no list `tokens`"),
        (
            "a.jsonl",
            "{\"tokens\": [\"a\"], \"labels\": [\"B\"]}\n{\"tokens\": [\"a\"], \"labels\": []}\n",
            "a.jsonl:2: `labels` has 0 values for 1 token",
        ),
        (
            "a.jsonl",
            "{\"tokens\": [[]], \"labels\": [\"B\"]}\n",
            "has a list of 0 where a text must be",
        ),
        ("a.jsonl", "{\"tokens\": [\"a\"], \"labels\": [null]}\n", "no position has a label"),
        ("a.jsonl", "{\"tokens\"\n", "a.jsonl:1:9: not JSON"),
        ("a.csv", "a,b\n", "a.csv: csv holds rows, not sequences"),
    ] {
        let error = read_sequences(memory(name, text), &SequenceOptions::default()).unwrap_err();
        assert!(error.to_string().contains(want), "{error}");
    }
    let options = SequenceOptions { label: Some("9".into()), ..SequenceOptions::default() };
    let error = read_sequences(memory("a.conll", "a b\n"), &options).unwrap_err().to_string();
    assert!(error.contains("there is no column `9`: they are 0, 1"), "{error}");
    let error = read_sequences(memory("a.conll", b"a b\n\xff c\n"), &SequenceOptions::default());
    assert_eq!(error.unwrap_err().line, Some(2));
    let error = lineal_data::read(memory("a.conll", "a b\n"), &Default::default()).unwrap_err();
    assert!(error.to_string().contains("read_sequences"), "{error}");
}

#[test]
fn a_stream_gives_the_same_sequences_in_blocks() {
    let mut text = String::new();
    for i in 0..120_000 {
        text.push_str(&format!("word{i} X{} L{}\n", i % 7, i % 3));
        if i % 11 == 0 {
            text.push('\n');
        }
    }
    // One sequence that is longer than a block.
    for i in 0..100_000 {
        text.push_str(&format!("w{i} Y L0\n"));
    }
    let whole = read("a.conll", &text);
    let (mut n_blocks, mut all) = (0, Vec::new());
    stream_sequences(
        memory("a.conll", &text),
        &SequenceOptions::default(),
        &whole.schema,
        &mut |block| {
            n_blocks += 1;
            all.extend(block.iter().map(|s| (s.raw().to_owned(), s.gold().to_vec())));
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert!(n_blocks > 1);
    assert_eq!(
        all,
        whole.iter().map(|s| (s.raw().to_owned(), s.gold().to_vec())).collect::<Vec<_>>()
    );
    assert_eq!(whole.get(whole.len() - 1).len(), 100_000);
    let some = whole.select(&[3, 0]);
    assert_eq!(some.get(1).cells().collect::<Vec<_>>(), whole.get(0).cells().collect::<Vec<_>>());
    assert_eq!(some.line(0, 1), whole.line(3, 1));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn soup_never_panics(words in prop::collection::vec(prop_oneof![
        Just("\n"), Just("\t"), Just(" "), Just("\r\n"), Just("a"), Just("1"), Just("1-2"), Just("#"), Just("\\"), Just(":"),
        Just("{\"tokens\":[\"a\"],\"labels\":[\"b\"]}"), Just("{"), Just("é"), Just("_"), Just("\u{feff}"),
    ], 0..40)) {
        let text: String = words.concat();
        for format in Format::SEQUENCES {
            let options = SequenceOptions { format: Some(format), unlabelled: Some("_".into()), ..Default::default() };
            if let Ok(data) = read_sequences(memory("soup", &text), &options) {
                for sequence in data.iter() {
                    prop_assert_eq!(sequence.cells().len(), sequence.len() * data.n_columns());
                    data.line(sequence.index(), sequence.len() - 1);
                }
                let again = read_sequences_with(memory("soup", &text), &options, &data.schema).unwrap();
                prop_assert_eq!(again.gold(), data.gold());
            }
        }
    }
}
