//! The reader of treebanks: what it finds, what it writes back, and where it says that a file is wrong.

use std::io::Write;
use std::ops::ControlFlow;

use lineal_data::{
    ConlluColumn, Format, NO_HEAD, NO_RELATION, SentenceEdits, SequenceOptions, Source, Treebank,
    TreebankOptions, read_sequences, read_treebank, read_treebank_with, stream_treebank,
};
use proptest::prelude::*;

/// Two sentences with everything that is not a word.
const SAMPLE: &str = "\
# sent_id = 1
# text = du pain
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tADP\tP\t_\t3\tcase\t3:case\t_
2\tle\tle\tDET\tD\tGender=Masc\t3\tdet\t3:det\t_
3\tpain\tpain\tNOUN\tN\t_\t0\troot\t0:root\tSpaceAfter=No
3.1\tmange\t_\tVERB\t_\t_\t_\t_\t0:root\t_
3.2\tbien\t_\tADV\t_\t_\t_\t_\t3.1:advmod\t_
4\t!\t!\tPUNCT\t!\t_\t3\tpunct\t3:punct\tA=1|Prob=0.5

# sent_id = 2
1\toui\toui\tINTJ\tI\t_\t0\troot\t0:root\t_

";

fn memory(name: &str, bytes: impl AsRef<[u8]>) -> Source {
    Source::Memory { name: name.to_owned(), bytes: bytes.as_ref().to_vec() }
}

fn read(text: &str) -> Treebank {
    read_treebank(memory("a.conllu", text), &TreebankOptions::default()).unwrap()
}

/// All sentences written back.
fn written(data: &Treebank, edits: &SentenceEdits<'_>) -> String {
    let mut out = String::new();
    data.iter().for_each(|sentence| sentence.write(edits, &mut out));
    out
}

#[test]
fn words_heads_and_relations() {
    let data = read(SAMPLE);
    assert_eq!((data.len(), data.n_tokens(), data.n_heads(), data.n_deprels()), (2, 5, 5, 5));
    assert_eq!(data.schema.relations, ["case", "det", "root", "punct"]);
    let sentence = data.get(0);
    assert_eq!((sentence.heads(), sentence.deprels()), (&[3, 3, 0, 3][..], &[0, 1, 2, 3][..]));
    assert_eq!(sentence.form(2), "pain");
    assert_eq!(sentence.cell(1, ConlluColumn::Feats), "Gender=Masc");
    assert_eq!(sentence.cell(3, ConlluColumn::Misc), "A=1|Prob=0.5");
    let cells: Vec<&str> = data.get(1).cells().collect();
    assert_eq!(cells, ["1", "oui", "oui", "INTJ", "I", "_", "0", "root", "0:root", "_"]);
    assert_eq!((data.line(0, 0), data.line(0, 3), data.line(1, 0)), (4, 9, 12));
    assert_eq!(data.error_at(1, 0, "is wrong").to_string(), "a.conllu:12: is wrong");
    assert!(data.has_column(ConlluColumn::Upos) && sentence.has_all_heads());
}

#[test]
fn what_is_not_replaced_stays_byte_for_byte() {
    let crlf = SAMPLE.replace('\n', "\r\n");
    for text in [SAMPLE, &crlf] {
        let data = read(text);
        assert_eq!(written(&data, &SentenceEdits::default()), text);
        let gold = data.get(0);
        let mut out = String::new();
        let names: Vec<&str> =
            gold.deprels().iter().map(|&r| &data.relations[r as usize][..]).collect();
        gold.write(
            &SentenceEdits {
                heads: Some(gold.heads()),
                deprels: Some(&names),
                ..Default::default()
            },
            &mut out,
        );
        assert!(text.starts_with(&out), "{out}");
    }
    // A byte order mark goes, a last line gets its end, and blank lines become one.
    let loose = format!("\u{feff}\n \n{}", SAMPLE.trim_end().replace("\n\n", "\n\t\n\n"));
    assert_eq!(written(&read(&loose), &SentenceEdits::default()), SAMPLE);
    assert_eq!(written(&read(&crlf[..crlf.len() - 4]), &SentenceEdits::default()), crlf);
    assert_eq!(read(&loose).line(1, 0), 15);
}

#[test]
fn columns_are_replaced() {
    let data = read(SAMPLE);
    let mut out = String::new();
    data.get(0).write(
        &SentenceEdits {
            heads: Some(&[2, 0, NO_HEAD, 1]),
            deprels: Some(&["a", "b:c", "", "d"]),
            columns: &[(ConlluColumn::Upos, &["V", "W", "X\tY", "Z"])],
            misc: &[("Prob", &["0.1", "0.2", "0.3", "0.4"]), ("N", &["1", "2", "3", "4"])],
            comments: &["n_best = 2"],
        },
        &mut out,
    );
    let want = "\
# sent_id = 1
# text = du pain
# n_best = 2
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\t_
1\tde\tde\tV\tP\t_\t2\ta\t3:case\tProb=0.1|N=1
2\tle\tle\tW\tD\tGender=Masc\t0\tb:c\t3:det\tProb=0.2|N=2
3\tpain\tpain\tX Y\tN\t_\t_\t_\t0:root\tSpaceAfter=No|Prob=0.3|N=3
3.1\tmange\t_\tVERB\t_\t_\t_\t_\t0:root\t_
3.2\tbien\t_\tADV\t_\t_\t_\t_\t3.1:advmod\t_
4\t!\t!\tZ\t!\t_\t1\td\t3:punct\tA=1|Prob=0.4|N=4

";
    assert_eq!(out, want);
    let tags = ["V", "W", "long tag", "", "Z"];
    let other = data.with_columns(&[(ConlluColumn::Xpos, &tags)]);
    assert_eq!(other.get(0).cell(2, ConlluColumn::Xpos), "long tag");
    assert_eq!(other.get(1).cells().collect::<Vec<_>>()[4], "Z");
    assert_eq!(other.get(0).cell(3, ConlluColumn::Xpos), "_");
    assert_eq!((other.heads(), other.deprels()), (data.heads(), data.deprels()));
    assert_eq!((other.line(0, 3), other.get(0).form(3)), (9, "!"));
    assert_eq!(read(other.text()).heads(), data.heads());
}

#[test]
fn heads_may_be_missing() {
    let bare = "1\tit\t_\t_\t_\t_\t_\t_\t_\t_\n2\trains\t_\t_\t_\t_\t_\t_\t_\t_\n";
    let data = read(bare);
    assert_eq!((data.heads(), data.deprels()), (&[NO_HEAD; 2][..], &[NO_RELATION; 2][..]));
    assert!(data.schema.relations.is_empty() && !data.has_column(ConlluColumn::Upos));
    let partial = bare.replacen("_\t_\t_\t_\n", "2\tnsubj\t_\t_\n", 1);
    let data = read(&partial);
    assert_eq!((data.heads(), data.n_heads(), data.n_deprels()), (&[2, NO_HEAD][..], 1, 1));
    assert!(!data.get(0).has_all_heads());
    let options = TreebankOptions { require_heads: true, ..Default::default() };
    let error = read_treebank(memory("a.conllu", partial), &options).unwrap_err().to_string();
    assert_eq!(error, "a.conllu:2: word 2 `rains` has no head (`_`); give every word one");
}

#[test]
fn relations_that_training_did_not_see_come_after_the_known() {
    let known = read(SAMPLE).schema;
    let text = SAMPLE.replace("\tdet\t", "\tdet:x\t");
    let data =
        read_treebank_with(memory("b.conllu", text), &TreebankOptions::default(), &known).unwrap();
    assert_eq!(data.deprels(), [0, 4, 2, 3, 2]);
    assert_eq!((&data.relations[4][..], data.n_unseen(), &data.schema), ("det:x", 1, &known));
    let mut damaged = known;
    damaged.relations.push("det".into());
    let error =
        read_treebank_with(memory("b.conllu", SAMPLE), &TreebankOptions::default(), &damaged);
    assert!(error.unwrap_err().to_string().contains("the model's schema is damaged"));
}

/// Words with the given IDs and heads.
fn words(rows: &[(&str, &str)]) -> String {
    rows.iter().map(|(id, head)| format!("{id}\tw{id}\t_\t_\t_\t_\t{head}\tx\t_\t_\n")).collect()
}

#[test]
fn faults_have_their_line() {
    let both = TreebankOptions { require_heads: true, single_root: true, ..Default::default() };
    let after =
        |rows: &[(&str, &str)]| format!("# c\n{}\n# d\n{}", words(&[("1", "0")]), words(rows));
    for (text, want) in [
        (String::new(), "a.conllu: the file is empty"),
        ("\n \n".into(), "a.conllu: the file has no words"),
        (
            "# only\n".into(),
            "a.conllu:1: a sentence without words; if these are comments, leave out the blank line",
        ),
        (
            after(&[("1", "2"), ("2", "0"), ("3", "0")]),
            "a.conllu:7: word 3 `w3` is a second root beside word 2 `w2`; give one",
        ),
        (
            after(&[("1", "2"), ("2", "x")]),
            "a.conllu:6: the head `x` is not a number; give the number",
        ),
        (after(&[("1", "0"), ("2", "-1")]), "a.conllu:6: the head `-1` is not a number"),
        (after(&[("1", "0"), ("2", "")]), "a.conllu:6: the head `` is not a number"),
        (
            after(&[("1", "0"), ("2", "3")]),
            "a.conllu:6: the head `3` of word 2 `w2` is out of range; the sentence has 2 words",
        ),
        (
            after(&[("1", "0"), ("2", "99999999999999")]),
            "the head `99999999999999` of word 2 `w2` is out of range",
        ),
        (
            after(&[("1", "0"), ("2", "4294967295")]),
            "the head `4294967295` of word 2 `w2` is out of range",
        ),
        (after(&[("1", "0"), ("2", "_")]), "a.conllu:6: word 2 `w2` has no head"),
        (
            after(&[("1", "0"), ("2", "1")]).replace("1\tx\t", "1\t\r\t"),
            "a.conllu:6: the relation has a carriage return in it; end lines with",
        ),
        (after(&[("1", "0"), ("2", "2")]), "a.conllu:6: word 2 `w2` is its own head"),
        (
            after(&[("1", "3"), ("2", "0"), ("3", "4"), ("4", "1")]),
            "a.conllu:5: heads form a cycle: 1 `w1` → 3 `w3` → 4 `w4` → 1; give one",
        ),
        (
            after(&[("1", "2"), ("2", "1")]),
            "a.conllu:5: no word is the root, and heads form a cycle: 1 `w1` → 2 `w2` → 1; give one of these words the head 0",
        ),
        (
            after(&[("1", "0"), ("3", "1")]),
            "a.conllu:6: word 3 where word 2 should be; the words of a sentence are numbered",
        ),
        (
            after(&[("1", "0"), ("1", "0")]),
            "a.conllu:6: word 1 where word 2 should be; is a blank line missing",
        ),
        (after(&[("0", "0")]), "a.conllu:5: word 0 where word 1 should be"),
        (after(&[("a", "0")]), "a.conllu:5: `a` is not a number of a word; numbers of words are"),
        (after(&[("1-x", "_"), ("1", "0")]), "a.conllu:5: `1-x` is not a number of a word"),
        (
            after(&[("2-3", "_"), ("1", "0")]),
            "a.conllu:5: the multiword token 2-3 does not fit here: the next word is 1",
        ),
        (
            after(&[("1-0", "_"), ("1", "0")]),
            "a.conllu:5: the multiword token 1-0 does not fit here",
        ),
        (
            after(&[("1-2", "_"), ("1", "0"), ("2-3", "_")]),
            "a.conllu:7: the multiword token 2-3 does not fit here: word 2 is part of another one",
        ),
        (
            after(&[("1-3", "_"), ("1", "0"), ("2", "1")]),
            "a.conllu:5: the multiword token 1-3 reaches beyond the sentence, which has 2 words",
        ),
        (
            after(&[("1", "0"), ("2.1", "_")]),
            "a.conllu:6: the empty node 2.1 does not fit here: the next one is 1.1",
        ),
        (
            after(&[("1", "0"), ("1.2", "_")]),
            "the empty node 1.2 does not fit here: the next one is 1.1",
        ),
        (
            after(&[("99999999999999999999", "0")]),
            "a.conllu:5: word 99999999999999999999 where word 1 should be",
        ),
        (format!("{}\t\t\t\t\t\t\t\t\t\n", words(&[("1", "0")])), "a.conllu:2: ten empty columns"),
        (
            "# c\n1-2\tx\n".into(),
            "a.conllu:2: 2 columns in `1-2\\tx` where CoNLL-U has 10; fields are separated by tabs, and",
        ),
        (
            "1 a b c 0 root\n".into(),
            "a.conllu:1: 1 column in `1 a b c 0 root` where CoNLL-U has 10; fields are separated by tabs, not by spaces",
        ),
        (format!("{}\t\n", words(&[("1", "0")]).trim_end()), "a.conllu:1: 11 columns in"),
    ] {
        let error = read_treebank(memory("a.conllu", &text), &both).unwrap_err().to_string();
        assert!(error.contains(want), "{error}\n{text}");
        let known = read(SAMPLE).schema;
        let streamed = stream_treebank(memory("a.conllu", &text), &both, &known, &mut |_| {
            ControlFlow::Continue(())
        });
        assert_eq!(streamed.unwrap_err().to_string(), error);
    }
    let several = after(&[("1", "2"), ("2", "0"), ("3", "0")]);
    assert_eq!(read(&several).heads(), [0, 2, 0, 0]);
    let error = read_treebank(memory("a.conllu", b"1\t\xff\n"), &both).unwrap_err();
    assert_eq!((error.line, error.column), (Some(1), Some(3)));
    // The message named an option that only rows have, and took UTF-16 for Chinese.
    let text = error.to_string();
    assert!(text.ends_with("(latin1): convert it (iconv -f ENCODING -t UTF-8)"), "{text}");
    let utf16: Vec<u8> =
        format!("\u{feff}{SAMPLE}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    let error = read_treebank(memory("a.conllu", utf16), &both).unwrap_err().to_string();
    assert!(error.starts_with("a.conllu:1:1: byte 0xff") && error.contains("(utf-16)"), "{error}");
    let error = read_treebank(memory("a.csv", SAMPLE), &both).unwrap_err().to_string();
    assert!(
        error.contains("csv does not hold dependency trees; give options.format = conllu"),
        "{error}"
    );
    let error = lineal_data::read(memory("a.conllu", SAMPLE), &Default::default()).unwrap_err();
    assert!(error.to_string().contains("use read_sequences or read_treebank"), "{error}");
    let said = TreebankOptions { format: Some(Format::Conllu), ..both };
    assert_eq!(read_treebank(memory("a.csv", SAMPLE), &said).unwrap().len(), 2);
    assert_eq!(read_treebank(memory("a.conll", SAMPLE), &Default::default()).unwrap().len(), 2);
}

#[test]
fn archives_are_read_as_they_are() {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(SAMPLE.as_bytes()).unwrap();
    for bytes in [gzip.finish().unwrap(), zstd::encode_all(SAMPLE.as_bytes(), 1).unwrap()] {
        let data = read_treebank(memory("a.conllu", bytes), &TreebankOptions::default()).unwrap();
        assert_eq!(data.text(), SAMPLE);
    }
}

#[test]
fn a_stream_gives_the_same_sentences_in_blocks() {
    let mut text = "\n".repeat(1_000_000);
    for i in 0..30_000 {
        text.push_str(&SAMPLE.replace("sent_id = ", &format!("sent_id = {i}.")));
    }
    text.push_str(&"\n".repeat(1_000_000));
    // One sentence of 100,000 words that is longer than a block, each word depending on the next.
    for i in 1..=100_000 {
        text.push_str(&format!("{i}\tw\t_\t_\t_\t_\t{}\tx\t_\t_\n", (i + 1) % 100_001));
    }
    let whole = read(&text);
    assert_eq!((whole.len(), whole.get(60_000).len()), (60_001, 100_000));
    assert_eq!(whole.line(0, 0), 1_000_004);
    let (mut n_blocks, mut out, mut heads, mut last) = (0, String::new(), Vec::new(), 0);
    stream_treebank(
        memory("a.conllu", &text),
        &TreebankOptions::default(),
        &whole.schema,
        &mut |block| {
            n_blocks += 1;
            out.push_str(&written(block, &SentenceEdits::default()));
            heads.extend_from_slice(block.heads());
            last = block.line(block.len() - 1, 0);
            ControlFlow::Continue(())
        },
    )
    .unwrap();
    assert!(n_blocks > 5);
    assert_eq!(last, whole.line(60_000, 0));
    assert_eq!(heads, whole.heads());
    assert!(
        out == whole.text()
            && whole.text()
                == format!("{}\n", text.trim_start().replace(&"\n".repeat(1_000_000), ""))
    );
    let some = whole.select(&[60_000, 3]);
    assert_eq!(some.get(1).raw(), whole.get(3).raw());
    assert_eq!((some.get(1).form(0), some.line(1, 0)), ("oui", whole.line(3, 0)));
    assert_eq!(some.get(0).heads(), whole.get(60_000).heads());
}

#[test]
fn its_text_serves_the_reader_of_sequences() {
    let data = read(SAMPLE).select(&[1, 0]);
    let sequences =
        read_sequences(memory("a.conllu", data.text()), &SequenceOptions::default()).unwrap();
    assert_eq!(sequences.schema.labels, ["INTJ", "ADP", "DET", "NOUN", "PUNCT"]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn soup_never_panics(words in prop::collection::vec(prop_oneof![
        Just("\n"), Just("\t"), Just("\r\n"), Just("a"), Just("1"), Just("1-2"), Just("1.1"), Just("# x\n"), Just("é"), Just("_"), Just("\u{feff}"),
        Just("1\ta\t_\t_\t_\t_\t0\troot\t_\t_\n"), Just("2\tb\t_\t_\t_\t_\t1\tx\t_\t_\n"), Just("1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n"),
        Just("2\tb\t_\t_\t_\t_\t_\t_\t_\tM=1\n"), Just("1.1\te\t_\t_\t_\t_\t_\t_\t_\t_\n"),
    ], 0..12)) {
        let text: String = words.concat();
        if let Ok(data) = read_treebank(memory("soup", &text), &TreebankOptions::default()) {
            let out = written(&data, &SentenceEdits::default());
            let again = read(&out);
            prop_assert_eq!(again.heads(), data.heads());
            prop_assert_eq!(written(&again, &SentenceEdits::default()), out);
            for sentence in data.iter() {
                prop_assert_eq!(sentence.cells().len(), sentence.len() * 10);
                data.line(sentence.index(), sentence.len() - 1);
            }
        }
    }
}
