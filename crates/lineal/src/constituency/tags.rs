//! Parts of speech of sentences that come without any, by a tagger of the training data.

use crate::Error;
use crate::structured::tags;
use crate::tag::TagModel;
use lineal_data::{
    BracketTreebank, Format, SequenceOptions, Source, read_sequences, read_sequences_with,
};

/// A part of speech that is not known.
pub(super) const UNKNOWN: &str = "_";

fn options() -> SequenceOptions {
    SequenceOptions { format: Some(Format::Conll), ..SequenceOptions::default() }
}

/// Words and parts of speech as two columns.
fn source(data: &BracketTreebank) -> Source {
    let mut text = String::new();
    for sentence in data.iter() {
        for t in 0..sentence.len() {
            let tag = sentence.tag(t).unwrap_or(UNKNOWN);
            text.push_str(&format!("{}\t{tag}\n", sentence.word(t)));
        }
        text.push('\n');
    }
    tags::in_memory(&data.source, text)
}

/// A tagger of these sentences.
pub(super) fn learn(data: &BracketTreebank, seed: u64) -> Result<TagModel, Error> {
    tags::learn(&read_sequences(source(data), &options())?, seed)
}

/// The data with tags of taggers that did not see the sentence.
pub(super) fn jackknife(data: &BracketTreebank, seed: u64) -> Result<BracketTreebank, Error> {
    let sequences = read_sequences(source(data), &options())?;
    let found = tags::cross_tagged(&sequences, "spec.constituency.tags", seed, &|part| {
        tags::learn(part, seed)
    })?
    .concat();
    let tags: Vec<&str> = found.iter().map(String::as_str).collect();
    Ok(data.with_tags(&tags))
}

/// The tag of each word: those of the data, or the tagger's where a word has none; the tagger's for all words if `all`.
pub(super) fn tags(
    tagger: &TagModel,
    data: &BracketTreebank,
    all: bool,
) -> Result<Vec<Vec<String>>, Error> {
    let given = |i: usize| -> Vec<Option<&str>> {
        let sentence = data.get(i);
        (0..sentence.len()).map(|t| sentence.tag(t).filter(|tag| *tag != UNKNOWN)).collect()
    };
    let is_needed = |i: &usize| all || given(*i).contains(&None);
    let needed: Vec<usize> = (0..data.len()).filter(is_needed).collect();
    let mut found = Vec::new();
    if !needed.is_empty() {
        let sequences =
            read_sequences_with(source(&data.select(&needed)), &options(), tagger.schema())?;
        found = tagger.tag(&sequences)?;
    }
    let mut tags: Vec<Vec<String>> = (0..data.len())
        .map(|i| given(i).into_iter().map(|tag| tag.unwrap_or_default().to_owned()).collect())
        .collect();
    for (&i, found) in needed.iter().zip(&found) {
        for (tag, &label) in tags[i].iter_mut().zip(&found.labels) {
            if all || tag.is_empty() {
                *tag = tagger.label(label).to_owned();
            }
        }
    }
    Ok(tags)
}
