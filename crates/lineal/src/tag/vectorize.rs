//! From the cells of sequences to numbered attributes.

use super::lexicon::Lexicon;
use super::spec::{TagFeatures, TagSpec};
use crate::Error;
use lineal_data::{Format, Sequence, SequenceSchema, Sequences};
use lineal_features::sequence::{
    AttributeIndex, Cut, ExtractScratch, Extractor, ExtractorBuilder, FeatureColumns, IndexBuilder,
    Names, Sentence, Templates, expand_at, hash_bytes, named_attributes,
};
use lineal_linalg::SparseRows;
use std::collections::HashSet;
use std::sync::Arc;

/// What makes attributes of tokens.
#[derive(Clone, Debug)]
pub(super) enum Vectorizer {
    /// Templates over columns, those that are looked up among them.
    Columns(Extractor, Option<Arc<Lexicon>>),
    /// Attributes that come with names.
    Named {
        /// Their numbers.
        index: AttributeIndex,
        /// Whether every token has [`BIAS`] besides.
        bias: bool,
    },
}

/// The name of the attribute that every token has.
const BIAS: &str = "(bias)";

/// Attributes of labels and of transitions, one row per token.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) unary: SparseRows,
    pub(super) pairs: SparseRows,
}

/// Memory that extraction uses and keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct VectorScratch {
    extract: ExtractScratch,
}

/// The templates that a spec means for this data.
fn templates(
    spec: &TagSpec,
    data: &Sequences,
    lexicon: Option<&Lexicon>,
) -> Result<Templates, Error> {
    let schema = &data.schema;
    let text = match &spec.features {
        TagFeatures::Templates(text) => text.clone(),
        TagFeatures::List(list) => expand_at(list, &columns(data))?,
        TagFeatures::Default => expand_at(&default_features(schema), &columns(data))?,
    };
    let text = match lexicon {
        Some(lexicon) => with_line(text, &lexicon.templates()),
        None => text,
    };
    let text = match spec.bias {
        Some(true) => with_line(text, "U:bias\n"),
        _ => text,
    };
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

/// The templates, and others after them.
fn with_line(mut text: String, more: &str) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
    text
}

/// The cells of a sequence, those that are looked up among them, and how many a token has.
fn cells_of<'a>(
    sequence: Sequence<'a>,
    lexicon: Option<&'a Lexicon>,
    cells: &mut Vec<&'a str>,
) -> usize {
    match lexicon {
        None => {
            cells.extend(sequence.cells());
            sequence.data().n_columns()
        }
        Some(lexicon) => {
            lexicon.cells(sequence, cells);
            lexicon.n_columns()
        }
    }
}

/// Every column that is not the label or, in CoNLL-U, itself an annotation.
fn default_features(schema: &SequenceSchema) -> String {
    let mut list = "word,lower,shape,prefix:1-4,suffix:1-4,caps,digits,window:2".to_owned();
    others(schema).for_each(|column| list.push_str(&format!(",column:{column}")));
    list
}

/// The columns to read besides the words: none of CoNLL-U, where they are annotations as the label is.
fn others(schema: &SequenceSchema) -> impl Iterator<Item = usize> {
    let n = if schema.format == Format::Conllu { 0 } else { schema.columns.len() };
    let (label, words) = (schema.label, schema.words());
    (0..n).filter(move |&column| column != label && column != words)
}

/// Weights of transitions that `rich` may add for a column.
const TRANSITION_WEIGHTS: usize = 1 << 20;

fn columns(data: &Sequences) -> FeatureColumns {
    let most = TRANSITION_WEIGHTS / data.schema.labels.len().max(1).pow(2) / 2;
    let has_few = |&column: &usize| {
        let mut values = HashSet::new();
        let cells = data.iter().flat_map(|s| (0..s.len()).map(move |t| s.cell(t, column)));
        cells.into_iter().all(|cell| {
            values.insert(cell);
            values.len() <= most
        })
    };
    let number = |column: usize| column as u32;
    FeatureColumns {
        words: data.schema.words() as u32,
        others: others(&data.schema).map(number).collect(),
        few_values: others(&data.schema).filter(has_few).map(number).collect(),
    }
}

impl Vectorizer {
    /// Reads the training data once: the attributes that there are, and the rows.
    pub(super) fn learn(data: &Sequences, spec: &TagSpec) -> Result<(Self, Rows), Error> {
        if data.schema.has_attributes() {
            if spec.features != TagFeatures::Default {
                return Err(Error::request(format!(
                    "{}: its attributes come with their names, so there are no columns for spec.tag.features to read; leave them out",
                    data.source
                )));
            }
            if !(spec.lists.is_empty() && spec.clusters.is_empty()) {
                return Err(Error::request(format!(
                    "{}: its attributes come with their names, and there are no words to look up in spec.tag.lists or spec.tag.clusters; leave them out",
                    data.source
                )));
            }
            return learn_named(data, spec);
        }
        let lexicon = Lexicon::new(spec, &data.schema).map(Arc::new);
        let templates = templates(spec, data, lexicon.as_deref())?;
        if let Some(bits) = spec.hash_bits {
            let n_pairs = if templates.n_pairs() > 0 { bits } else { 0 };
            let pairs = if templates.n_pairs() > 0 {
                AttributeIndex::hashed(n_pairs)
            } else {
                AttributeIndex::from_hashes(&[])?
            };
            let extractor = Extractor::new(templates, AttributeIndex::hashed(bits), pairs);
            let vectorizer = Self::Columns(extractor, lexicon);
            let rows = vectorizer.rows(data)?;
            return Ok((vectorizer, rows));
        }
        let mut builder = ExtractorBuilder::new(templates);
        let mut rows = Rows::default();
        let mut cells = Vec::new();
        for sequence in data.iter() {
            cells.clear();
            let n_columns = cells_of(sequence, lexicon.as_deref(), &mut cells);
            let sentence = Sentence::new(&cells, n_columns);
            builder.add(sentence, &mut rows.unary, &mut rows.pairs)?;
        }
        let (extractor, [unary, pairs]) = builder.finish(cut(spec));
        rows.unary.renumber(|id| unary.get(id));
        rows.pairs.renumber(|id| pairs.get(id));
        Ok((Self::Columns(extractor, lexicon), rows))
    }

    /// The rows of other data.
    pub(super) fn rows(&self, data: &Sequences) -> Result<Rows, Error> {
        let mut rows = Rows::default();
        let mut s = VectorScratch::default();
        for sequence in data.iter() {
            self.extract(sequence, &mut s, &mut rows)?;
        }
        Ok(rows)
    }

    /// Adds the rows of a sequence.
    pub(super) fn extract(
        &self,
        sequence: Sequence<'_>,
        s: &mut VectorScratch,
        rows: &mut Rows,
    ) -> Result<(), Error> {
        match self {
            Self::Columns(extractor, lexicon) => {
                let mut cells = Vec::new();
                let n_columns = cells_of(sequence, lexicon.as_deref(), &mut cells);
                let sentence = Sentence::new(&cells, n_columns);
                extractor.extract(sentence, &mut s.extract, &mut rows.unary, &mut rows.pairs)?;
            }
            Self::Named { index, bias } => {
                each_named(sequence, *bias, |_, attribute| {
                    match attribute {
                        None => {
                            rows.unary.end_row();
                            rows.pairs.end_row();
                        }
                        Some((hash, value)) => {
                            if let Some(id) = index.get(hash) {
                                rows.unary.push_value(id, value);
                            }
                        }
                    };
                })?;
            }
        }
        Ok(())
    }

    /// How many attributes of labels there are.
    pub(super) fn n_unary(&self) -> usize {
        self.unary_index().len()
    }

    /// How many attributes of transitions there are.
    pub(super) fn n_pairs(&self) -> usize {
        match self {
            Self::Columns(extractor, _) => extractor.n_pairs(),
            Self::Named { .. } => 0,
        }
    }

    pub(super) fn unary_index(&self) -> &AttributeIndex {
        match self {
            Self::Columns(extractor, _) => extractor.unary_index(),
            Self::Named { index, .. } => index,
        }
    }

    pub(super) fn pair_index(&self) -> Option<&AttributeIndex> {
        match self {
            Self::Columns(extractor, _) => Some(extractor.pair_index()),
            Self::Named { .. } => None,
        }
    }

    /// The templates, of columns.
    pub(super) fn templates(&self) -> Option<&Templates> {
        match self {
            Self::Columns(extractor, _) => Some(extractor.templates()),
            Self::Named { .. } => None,
        }
    }

    /// Whether labels have transitions: always, unless the templates have no line `B`.
    pub(super) fn has_transitions(&self) -> bool {
        self.templates().is_none_or(Templates::has_transitions)
    }

    /// The same with other indices.
    pub(super) fn with_indices(&self, unary: AttributeIndex, pairs: AttributeIndex) -> Self {
        match self {
            Self::Columns(extractor, lexicon) => {
                let extractor = Extractor::new(extractor.templates().clone(), unary, pairs);
                Self::Columns(extractor, lexicon.clone())
            }
            Self::Named { bias, .. } => Self::Named { index: unary, bias: *bias },
        }
    }

    /// The text of the attributes of a sequence, by number.
    pub(super) fn name(&self, sequence: Sequence<'_>, names: &mut Names) -> Result<(), Error> {
        match self {
            Self::Columns(extractor, lexicon) => {
                let mut cells = Vec::new();
                let n_columns = cells_of(sequence, lexicon.as_deref(), &mut cells);
                let sentence = Sentence::new(&cells, n_columns);
                extractor.name(sentence, &mut ExtractScratch::default(), names)?;
            }
            Self::Named { index, bias } => {
                names.unary.resize(index.len(), String::new());
                if let Some(id) = index.get(hash_bytes(BIAS.as_bytes())).filter(|_| *bias) {
                    names.unary[id as usize] = BIAS.to_owned();
                }
                for cell in sequence.cells() {
                    for attribute in named_attributes(cell).flatten() {
                        if let Some(id) = index.get(attribute.hash()) {
                            names.unary[id as usize] = attribute.name.into_owned();
                        }
                    }
                }
            }
        }
        Ok(())
    }
}

fn cut(spec: &TagSpec) -> Cut {
    Cut { min_count: spec.min_count, ..Cut::default() }
}

fn learn_named(data: &Sequences, spec: &TagSpec) -> Result<(Vectorizer, Rows), Error> {
    let bias = has_bias(spec);
    if let Some(bits) = spec.hash_bits {
        let vectorizer = Vectorizer::Named { index: AttributeIndex::hashed(bits), bias };
        let rows = vectorizer.rows(data)?;
        return Ok((vectorizer, rows));
    }
    let mut builder = IndexBuilder::new();
    let mut rows = Rows::default();
    for sequence in data.iter() {
        each_named(sequence, bias, |_, attribute| match attribute {
            None => {
                rows.unary.end_row();
                rows.pairs.end_row();
            }
            Some((hash, value)) => rows.unary.push_value(builder.id(hash), value),
        })?;
    }
    let (index, renumber) = builder.finish(cut(spec));
    rows.unary.renumber(|id| renumber.get(id));
    Ok((Vectorizer::Named { index, bias }, rows))
}

/// Whether the tokens of a file of named attributes have [`BIAS`], too.
pub(super) fn has_bias(spec: &TagSpec) -> bool {
    spec.bias != Some(false)
}

/// `f(token, attribute)` for each attribute of each token, [`BIAS`] the first if it is wanted, and `None` at the end of each.
fn each_named(
    sequence: Sequence<'_>,
    bias: bool,
    mut f: impl FnMut(usize, Option<(u64, f32)>),
) -> Result<(), Error> {
    for (t, cell) in sequence.cells().enumerate() {
        if bias {
            f(t, Some((hash_bytes(BIAS.as_bytes()), 1.0)));
        }
        for attribute in named_attributes(cell) {
            let attribute = attribute
                .map_err(|e| sequence.data().error_at(sequence.index(), t, e.to_string()))?;
            f(t, Some((attribute.hash(), attribute.value)));
        }
        f(t, None);
    }
    Ok(())
}
