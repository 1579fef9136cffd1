//! Attributes of sequences: what a spec asks for, and sequences as the vectorizer of `lineal_features` takes them.

use super::spec::{TagFeatures, TagSpec, WordList};
use crate::{Error, Interrupt};
use lineal_data::{Format, Sequence, SequenceSchema, Sequences, words};
use lineal_features::sequence::{
    AttributeRows, AttributeSource, Cut, ExtractScratch, FeatureColumns, Lexicon, Names, Templates,
    TokenError, Vectorizer, expand_at, parse_clusters,
};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Reads the training data once: the attributes that there are, and the rows.
pub(super) fn learn(
    data: &Sequences,
    spec: &TagSpec,
) -> Result<(Vectorizer, AttributeRows), Error> {
    let source = source(spec, &data.schema, &data.source, &mut || columns(data))?;
    if let Some(bits) = spec.hash_bits {
        let vectorizer = Vectorizer::hashed(source, bits)?;
        let rows = rows(&vectorizer, data)?;
        return Ok((vectorizer, rows));
    }
    let cut = Cut { min_count: spec.min_count, ..Cut::default() };
    let interrupt = Interrupt::current();
    let sentences = data
        .iter()
        .take_while(|_| !interrupt.is_stopped())
        .map(|sequence| sequence.cells().collect());
    let learnt = Vectorizer::learn(source, cut, data.n_columns(), sentences);
    match interrupt.is_stopped() {
        true => Err(Error::Interrupted),
        false => learnt.map_err(|(i, error)| placed(data.get(i), error)),
    }
}

/// Where the attributes of data come from; `columns` says what its columns are like.
pub(super) fn source(
    spec: &TagSpec,
    schema: &SequenceSchema,
    file: &str,
    columns: &mut dyn FnMut() -> FeatureColumns,
) -> Result<AttributeSource, Error> {
    if schema.has_attributes() {
        return named(file, spec);
    }
    let lexicon = lexicon(spec, schema);
    let templates = templates(spec, schema, columns, lexicon.as_deref())?;
    Ok(AttributeSource::Columns(templates, lexicon))
}

/// The rows of other data.
pub(super) fn rows(vectorizer: &Vectorizer, data: &Sequences) -> Result<AttributeRows, Error> {
    let (mut rows, mut s) = (AttributeRows::default(), ExtractScratch::default());
    data.iter().try_for_each(|sequence| extract(vectorizer, sequence, &mut s, &mut rows))?;
    Ok(rows)
}

/// Adds the rows of a sequence.
pub(super) fn extract(
    vectorizer: &Vectorizer,
    sequence: Sequence<'_>,
    s: &mut ExtractScratch,
    rows: &mut AttributeRows,
) -> Result<(), Error> {
    let cells: Vec<&str> = sequence.cells().collect();
    let added = vectorizer.extract(&cells, sequence.data().n_columns(), s, rows);
    added.map_err(|error| placed(sequence, error))
}

/// Notes the names of the attributes of a sequence.
pub(super) fn name(
    vectorizer: &Vectorizer,
    sequence: Sequence<'_>,
    names: &mut Names,
) -> Result<(), Error> {
    let cells: Vec<&str> = sequence.cells().collect();
    Ok(vectorizer.name(&cells, sequence.data().n_columns(), names)?)
}

pub(super) fn placed(sequence: Sequence<'_>, TokenError { token, error }: TokenError) -> Error {
    match token {
        Some(t) => sequence.data().error_at(sequence.index(), t, error.to_string()).into(),
        None => error.into(),
    }
}

/// Attributes that come with names.
fn named(file: &str, spec: &TagSpec) -> Result<AttributeSource, Error> {
    let refuse = |why: &str| {
        let come = "its attributes come with their names, ";
        Err(Error::request(format!("{file}: {come}{why}; leave them out")))
    };
    if spec.features != TagFeatures::Default {
        return refuse("so there are no columns for spec.tag.features to read");
    }
    if !(spec.lists.is_empty() && spec.clusters.is_empty()) {
        return refuse("and there are no words to look up in spec.tag.lists or spec.tag.clusters");
    }
    Ok(AttributeSource::Named { bias: has_bias(spec) })
}

/// Whether the tokens of a file of named attributes have one for the frequency of labels, too.
pub(super) fn has_bias(spec: &TagSpec) -> bool {
    spec.bias != Some(false)
}

/// What a spec looks up for each token; none if it names nothing.
pub(super) fn lexicon(spec: &TagSpec, schema: &SequenceSchema) -> Option<Arc<Lexicon>> {
    if spec.lists.is_empty() && spec.clusters.is_empty() {
        return None;
    }
    let lists = spec.lists.iter().map(|list| (&list.name[..], &list.entries[..]));
    let columns = (schema.words(), schema.columns.len());
    Some(Arc::new(Lexicon::new(lists, &spec.clusters, columns, tokens)))
}

fn tokens(text: &str) -> Vec<&str> {
    words(text).map(|at| &text[at]).collect()
}

/// The length of the templates that a spec means for this data; none where attributes have names of their own.
pub(super) fn n_bytes_of_templates(data: &Sequences, spec: &TagSpec) -> usize {
    match source(spec, &data.schema, &data.source, &mut || columns(data)) {
        Ok(AttributeSource::Columns(templates, _)) => templates.text().len(),
        Ok(AttributeSource::Named { .. }) | Err(_) => 0,
    }
}

/// The templates that a spec means for this data.
fn templates(
    spec: &TagSpec,
    schema: &SequenceSchema,
    columns: &mut dyn FnMut() -> FeatureColumns,
    lexicon: Option<&Lexicon>,
) -> Result<Templates, Error> {
    let mut text = match &spec.features {
        TagFeatures::Templates(text) => text.clone(),
        TagFeatures::List(list) => expand_at(list, &columns())?,
        TagFeatures::Default => expand_at(&default_features(schema), &columns())?,
    };
    let looked_up = lexicon.map(Lexicon::templates);
    let bias = (spec.bias == Some(true)).then(|| "U:bias\n".to_owned());
    for more in looked_up.into_iter().chain(bias) {
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&more);
    }
    let templates = Templates::parse(&text)?;
    if templates.columns().any(|column| column == schema.label) {
        return Err(Error::request(format!(
            "the templates read column {}, which is the label ({}): columns are counted from 0, and prediction has no label to read",
            schema.label, schema.columns[schema.label]
        )));
    }
    templates.check_columns(lexicon.map_or(schema.columns.len(), Lexicon::n_columns))?;
    Ok(templates)
}

/// Every column that is not the label or, in CoNLL-U, itself an annotation.
fn default_features(schema: &SequenceSchema) -> String {
    let mut list = "word,lower,shape,prefix:1-4,suffix:1-4,caps,digits,window:2".to_owned();
    others(schema).for_each(|column| list.push_str(&format!(",column:{column}")));
    list
}

/// The columns to read besides the words: none of CoNLL-U, where they are annotations as the label is.
pub(super) fn others(schema: &SequenceSchema) -> impl Iterator<Item = usize> {
    let n = if schema.format == Format::Conllu { 0 } else { schema.columns.len() };
    let (label, words) = (schema.label, schema.words());
    (0..n).filter(move |&column| column != label && column != words)
}

/// Weights of transitions that `rich` may add for a column.
const TRANSITION_WEIGHTS: usize = 1 << 20;

/// How many different values a column may have for `rich` to add transitions for them.
pub(super) fn most_values(schema: &SequenceSchema) -> usize {
    TRANSITION_WEIGHTS / schema.labels.len().max(1).pow(2) / 2
}

fn columns(data: &Sequences) -> FeatureColumns {
    let most = most_values(&data.schema);
    columns_of(&data.schema, |column| values(data, column, most).is_some())
}

/// The columns of a schema; `has_few` says whether one of them has few values.
fn columns_of(schema: &SequenceSchema, has_few: impl Fn(usize) -> bool) -> FeatureColumns {
    let number = |column: usize| column as u32;
    FeatureColumns {
        words: schema.words() as u32,
        others: others(schema).map(number).collect(),
        few_values: others(schema).filter(|&column| has_few(column)).map(number).collect(),
    }
}

/// The same, where it is known how many values each column has: `None` for very many.
pub(super) fn columns_by_values(
    schema: &SequenceSchema,
    n_values: impl Fn(usize) -> Option<usize>,
) -> FeatureColumns {
    let most = most_values(schema);
    columns_of(schema, |column| n_values(column).is_some_and(|n| n <= most))
}

/// The different values of a column, unless there are more than `most`.
pub(super) fn values(data: &Sequences, column: usize, most: usize) -> Option<HashSet<&str>> {
    let mut values = HashSet::new();
    let cells = data.iter().flat_map(|s| (0..s.len()).map(move |t| s.cell(t, column)));
    for cell in cells {
        values.insert(cell);
        if values.len() > most {
            return None;
        }
    }
    Some(values)
}

/// Reads a list of phrases: one per line.
pub fn read_word_list(name: &str, path: &Path) -> Result<WordList, Error> {
    let text = read(path)?;
    let entries = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let list = WordList { name: name.to_owned(), entries: entries.map(str::to_owned).collect() };
    match list.entries.is_empty() {
        true => Err(Error::request(format!("{}: the list has no entries", path.display()))),
        false => Ok(list),
    }
}

/// Reads clusters of words: lines `bits<tab>word<tab>count`, as Brown clusters come, or `word<tab>cluster`.
pub fn read_word_clusters(path: &Path) -> Result<BTreeMap<String, String>, Error> {
    let refuse = |why| Error::request(format!("{}:{why}", path.display()));
    parse_clusters(&read(path)?).map_err(refuse)
}

/// The text of a small file.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })
}
