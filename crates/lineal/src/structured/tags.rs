//! Parts of speech that a tagger predicts, so that a parser learns from tags like those that it will meet.

use crate::Error;
use crate::request::spec::{LossKind, TrainSpec, choice};
use crate::tag::{TagModel, TagSpec};
use crate::train::train;
use lineal_data::{
    ConlluColumn, Format, SequenceOptions, Sequences, Source, Treebank, read_sequences,
    read_sequences_with,
};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

choice! {
    /// Where the parts of speech of the training data come from.
    TagsKind {
        /// The data.
        Gold = "gold",
        /// A tagger that did not see the sentence: trained on the other folds.
        Jackknife = "jackknife",
        /// A tagger that is given.
        Given = "given",
    }
}

/// Parts of the data, each tagged by a tagger that saw the others.
const FOLDS: usize = 5;
const EPOCHS: usize = 8;

fn options() -> SequenceOptions {
    let label = Some(ConlluColumn::Upos.name().to_owned());
    SequenceOptions { format: Some(Format::Conllu), label, ..SequenceOptions::default() }
}

fn source(data: &Treebank) -> Source {
    in_memory(&data.source, data.text().to_owned())
}

/// Text that was read from a file, to be read again: it is not compressed any more.
pub(crate) fn in_memory(file: &str, text: String) -> Source {
    let name = file.strip_suffix(".gz").or(file.strip_suffix(".zst")).unwrap_or(file);
    Source::Memory { name: name.to_owned(), bytes: text.into_bytes() }
}

/// Refuses a tagger of another column.
pub(crate) fn check(tagger: &TagModel) -> Result<(), Error> {
    let schema = tagger.schema();
    let column = schema.columns.get(schema.label).map_or("", String::as_str);
    match schema.format == Format::Conllu && column == ConlluColumn::Upos.name() {
        true => Ok(()),
        false => Err(Error::request(format!(
            "the tagger predicts `{column}`, and a parser needs one of upos, trained on CoNLL-U (spec.task = tag, options.label = upos)"
        ))),
    }
}

/// The tags of each word, by a tagger of the column `upos`.
fn tags(tagger: &TagModel, data: &Treebank) -> Result<Vec<String>, Error> {
    let sequences = read_sequences_with(source(data), &options(), tagger.schema())?;
    let tagged = tagger.tag(&sequences)?;
    let labels = tagged.iter().flat_map(|tagged| &tagged.labels);
    Ok(labels.map(|&label| tagger.label(label).to_owned()).collect())
}

/// The data as a tagger tags it, and its tags; as it is without one.
pub(crate) fn tagged<'d>(
    tagger: Option<&TagModel>,
    data: &'d Treebank,
) -> Result<(Cow<'d, Treebank>, Option<Vec<String>>), Error> {
    let Some(tagger) = tagger else { return Ok((Cow::Borrowed(data), None)) };
    let tags = tags(tagger, data)?;
    Ok((Cow::Owned(with_tags(data, &tags)), Some(tags)))
}

/// The data with these tags.
fn with_tags(data: &Treebank, tags: &[String]) -> Treebank {
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    data.with_columns(&[(ConlluColumn::Upos, &tags)])
}

/// Data whose tags come from taggers that did not see the sentence, and a tagger that saw all.
pub(crate) fn jackknife(data: &Treebank, seed: u64) -> Result<(Treebank, TagModel), Error> {
    if !data.has_column(ConlluColumn::Upos) {
        return Err(Error::request(format!(
            "{}: there are no parts of speech (UPOS) to learn a tagger from; leave spec.dependency.tags out, or give a tagger",
            data.source
        )));
    }
    let sequences = read_sequences(source(data), &options())?;
    let tags = cross_tagged(&sequences, "spec.dependency.tags", seed, &|part| learn(part, seed))?;
    Ok((with_tags(data, &tags.concat()), learn(&sequences, seed)?))
}

/// The tags of each sequence by a tagger that saw only others. `field` is the one that asked for it.
pub(crate) fn cross_tagged(
    sequences: &Sequences,
    field: &str,
    seed: u64,
    learn: &dyn Fn(&Sequences) -> Result<TagModel, Error>,
) -> Result<Vec<Vec<String>>, Error> {
    let n = sequences.len();
    if n < FOLDS {
        return Err(Error::request(format!(
            "{}: {n} sentences are too few to tag each by a tagger of the others; leave {field} out",
            sequences.source
        )));
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut Pcg64Mcg::seed_from_u64(seed));
    let mut fold_of = vec![0; n];
    order.iter().enumerate().for_each(|(at, &i)| fold_of[i] = at % FOLDS);
    let mut tags = vec![Vec::new(); n];
    for fold in 0..FOLDS {
        let (held, kept): (Vec<usize>, Vec<usize>) = (0..n).partition(|&i| fold_of[i] == fold);
        let tagger = learn(&sequences.select(&kept))?;
        for (&i, tagged) in held.iter().zip(tagger.tag(&sequences.select(&held))?) {
            tags[i] = tagged.labels.iter().map(|&l| tagger.label(l).to_owned()).collect();
        }
    }
    Ok(tags)
}

/// The tagger that parsers bring.
pub(crate) fn learn(data: &Sequences, seed: u64) -> Result<TagModel, Error> {
    let mut spec =
        TrainSpec { loss: Some(LossKind::Perceptron), seed, ..TrainSpec::from(TagSpec::default()) };
    spec.sgd.epochs = EPOCHS;
    Ok(train(data, &spec)?.0)
}
