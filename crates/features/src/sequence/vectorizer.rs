//! From the cells of sentences to rows of numbered attributes.

use super::crfsuite::named_attributes;
use super::extract::{ExtractScratch, Extractor, ExtractorBuilder, Names, Sentence};
use super::hash::hash_bytes;
use super::lexicon::Lexicon;
use super::table::{AttributeIndex, Cut, IndexBuilder};
use super::template::Templates;
use super::{Error, TokenError};
use lineal_linalg::SparseRows;
use std::sync::Arc;

/// The name of the attribute that every token has.
const BIAS: &str = "(bias)";

/// Where attributes come from.
#[derive(Clone, Debug)]
pub enum AttributeSource {
    /// Templates over columns, those that are looked up among them.
    Columns(Templates, Option<Arc<Lexicon>>),
    /// One cell per token that holds its attributes by name.
    Named {
        /// Whether every token has one more, which says how frequent a label is.
        bias: bool,
    },
}

/// What makes numbered attributes of tokens.
#[derive(Clone, Debug)]
pub enum Vectorizer {
    /// See [`AttributeSource::Columns`].
    Columns(Extractor, Option<Arc<Lexicon>>),
    /// See [`AttributeSource::Named`].
    Named {
        /// Their numbers.
        index: AttributeIndex,
        /// Whether every token has one more.
        bias: bool,
    },
}

/// Attributes of labels and of transitions, one row per token.
#[derive(Clone, Debug, Default)]
pub struct AttributeRows {
    /// Of labels.
    pub unary: SparseRows,
    /// Of the transition into each token.
    pub pairs: SparseRows,
}

impl AttributeRows {
    /// No rows; the memory is kept.
    pub fn clear(&mut self) {
        self.unary.clear();
        self.pairs.clear();
    }

    fn end_row(&mut self) {
        self.unary.end_row();
        self.pairs.end_row();
    }
}

impl Vectorizer {
    /// With indices at hand; those of transitions are ignored where attributes come with names.
    pub fn new(source: AttributeSource, unary: AttributeIndex, pairs: AttributeIndex) -> Self {
        match source {
            AttributeSource::Columns(templates, lexicon) => {
                Self::Columns(Extractor::new(templates, unary, pairs), lexicon)
            }
            AttributeSource::Named { bias } => Self::Named { index: unary, bias },
        }
    }

    /// Numbers attributes by so many bits of a hash.
    pub fn hashed(source: AttributeSource, bits: u32) -> Result<Self, Error> {
        let has_pairs =
            matches!(&source, AttributeSource::Columns(templates, _) if templates.n_pairs() > 0);
        let pairs = match has_pairs {
            true => AttributeIndex::hashed(bits),
            false => AttributeIndex::from_hashes(&[])?,
        };
        Ok(Self::new(source, AttributeIndex::hashed(bits), pairs))
    }

    /// Reads training data once, `n_columns` cells for each token of a sentence: the attributes that there are, and the rows. The error names the sentence.
    pub fn learn<'a>(
        source: AttributeSource,
        cut: Cut,
        n_columns: usize,
        sentences: impl Iterator<Item = Vec<&'a str>>,
    ) -> Result<(Self, AttributeRows), (usize, TokenError)> {
        let mut rows = AttributeRows::default();
        match source {
            AttributeSource::Columns(templates, lexicon) => {
                let mut builder = ExtractorBuilder::new(templates);
                for (i, cells) in sentences.enumerate() {
                    with_columns(&cells, n_columns, lexicon.as_deref(), |sentence| {
                        builder.add(sentence, &mut rows.unary, &mut rows.pairs)
                    })
                    .map_err(|e| (i, e.into()))?;
                }
                let (extractor, [unary, pairs]) = builder.finish(cut);
                rows.unary.renumber(|id| unary.get(id));
                rows.pairs.renumber(|id| pairs.get(id));
                Ok((Self::Columns(extractor, lexicon), rows))
            }
            AttributeSource::Named { bias } => {
                let mut builder = IndexBuilder::new();
                for (i, cells) in sentences.enumerate() {
                    each_named(&cells, bias, |attribute| match attribute {
                        None => rows.end_row(),
                        Some((hash, value)) => rows.unary.push_value(builder.id(hash), value),
                    })
                    .map_err(|e| (i, e))?;
                }
                let (index, renumber) = builder.finish(cut);
                rows.unary.renumber(|id| renumber.get(id));
                Ok((Self::Named { index, bias }, rows))
            }
        }
    }

    /// Counts the attributes of some of many sentences, of labels and of transitions. The error names the sentence.
    pub fn count<'a>(
        source: AttributeSource,
        n_columns: usize,
        sentences: impl Iterator<Item = Vec<&'a str>>,
    ) -> Result<[IndexBuilder; 2], (usize, TokenError)> {
        match source {
            AttributeSource::Columns(templates, lexicon) => {
                let mut builder = ExtractorBuilder::new(templates);
                let mut rows = AttributeRows::default();
                for (i, cells) in sentences.enumerate() {
                    with_columns(&cells, n_columns, lexicon.as_deref(), |sentence| {
                        builder.add(sentence, &mut rows.unary, &mut rows.pairs)
                    })
                    .map_err(|e| (i, e.into()))?;
                    rows.clear();
                }
                Ok(builder.into_seen())
            }
            AttributeSource::Named { bias } => {
                let mut builder = IndexBuilder::new();
                for (i, cells) in sentences.enumerate() {
                    each_named(&cells, bias, |attribute| {
                        if let Some((hash, _)) = attribute {
                            builder.id(hash);
                        }
                    })
                    .map_err(|e| (i, e))?;
                }
                Ok([builder, IndexBuilder::new()])
            }
        }
    }

    /// Adds the rows of a sentence. Unknown attributes are left out.
    pub fn extract(
        &self,
        cells: &[&str],
        n_columns: usize,
        s: &mut ExtractScratch,
        rows: &mut AttributeRows,
    ) -> Result<(), TokenError> {
        match self {
            Self::Columns(extractor, lexicon) => {
                with_columns(cells, n_columns, lexicon.as_deref(), |sentence| {
                    extractor.extract(sentence, s, &mut rows.unary, &mut rows.pairs)
                })?;
            }
            Self::Named { index, bias } => each_named(cells, *bias, |attribute| match attribute {
                None => rows.end_row(),
                Some((hash, value)) => {
                    if let Some(id) = index.get(hash) {
                        rows.unary.push_value(id, value);
                    }
                }
            })?,
        }
        Ok(())
    }

    /// Notes the text of the attributes of a sentence, by number.
    pub fn name(&self, cells: &[&str], n_columns: usize, names: &mut Names) -> Result<(), Error> {
        match self {
            Self::Columns(extractor, lexicon) => {
                with_columns(cells, n_columns, lexicon.as_deref(), |sentence| {
                    extractor.name(sentence, &mut ExtractScratch::default(), names)
                })?;
            }
            Self::Named { index, bias } => {
                names.unary.resize(index.len(), String::new());
                if let Some(id) = index.get(hash_bytes(BIAS.as_bytes())).filter(|_| *bias) {
                    names.unary[id as usize] = BIAS.to_owned();
                }
                for attribute in cells.iter().flat_map(|cell| named_attributes(cell)).flatten() {
                    if let Some(id) = index.get(attribute.hash()) {
                        names.unary[id as usize] = attribute.name.into_owned();
                    }
                }
            }
        }
        Ok(())
    }

    /// How many attributes of labels there are.
    pub fn n_unary(&self) -> usize {
        self.unary_index().len()
    }

    /// How many attributes of transitions there are.
    pub fn n_pairs(&self) -> usize {
        self.pair_index().map_or(0, AttributeIndex::len)
    }

    /// The numbers of attributes of labels.
    pub fn unary_index(&self) -> &AttributeIndex {
        match self {
            Self::Columns(extractor, _) => extractor.unary_index(),
            Self::Named { index, .. } => index,
        }
    }

    /// The numbers of attributes of transitions; none where attributes come with names.
    pub fn pair_index(&self) -> Option<&AttributeIndex> {
        match self {
            Self::Columns(extractor, _) => Some(extractor.pair_index()),
            Self::Named { .. } => None,
        }
    }

    /// The templates, of columns.
    pub fn templates(&self) -> Option<&Templates> {
        match self {
            Self::Columns(extractor, _) => Some(extractor.templates()),
            Self::Named { .. } => None,
        }
    }

    /// Whether labels have transitions: always, unless the templates have no line `B`.
    pub fn has_transitions(&self) -> bool {
        self.templates().is_none_or(Templates::has_transitions)
    }

    /// The same with other indices.
    pub fn with_indices(&self, unary: AttributeIndex, pairs: AttributeIndex) -> Self {
        let source = match self {
            Self::Columns(extractor, lexicon) => {
                AttributeSource::Columns(extractor.templates().clone(), lexicon.clone())
            }
            Self::Named { bias, .. } => AttributeSource::Named { bias: *bias },
        };
        Self::new(source, unary, pairs)
    }
}

/// Calls `f` with the cells of a sentence, those that are looked up among them.
fn with_columns<T>(
    cells: &[&str],
    n_columns: usize,
    lexicon: Option<&Lexicon>,
    f: impl FnOnce(Sentence<'_>) -> T,
) -> T {
    match lexicon {
        None => f(Sentence::new(cells, n_columns)),
        Some(lexicon) => f(Sentence::new(&lexicon.extend(cells, n_columns), lexicon.n_columns())),
    }
}

/// `f(attribute)` for each attribute of each token, that of the bias first if it is wanted, and `f(None)` after each token.
fn each_named(
    cells: &[&str],
    bias: bool,
    mut f: impl FnMut(Option<(u64, f32)>),
) -> Result<(), TokenError> {
    for (t, cell) in cells.iter().enumerate() {
        if bias {
            f(Some((hash_bytes(BIAS.as_bytes()), 1.0)));
        }
        for attribute in named_attributes(cell) {
            let attribute = attribute.map_err(|error| TokenError { token: Some(t), error })?;
            f(Some((attribute.hash(), attribute.value)));
        }
        f(None);
    }
    Ok(())
}
