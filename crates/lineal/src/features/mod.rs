//! From the columns of a file to those of the matrix: text becomes words, and numbers beside it are scaled.
//!
//! [`Features`] are learnt from the training data and stored in the model and its file, so that new data are treated in the same way.
//! In the matrix the columns that come straight from the file are first, as the [`Schema`] has them; those made of text follow, then
//! those that [maps](lineal_features::map) make of all of them.

mod maps;
mod numbers;
mod sampled;
mod sinks;
mod stored;
mod templates;

use crate::Error;
use crate::listener::Listener;
use crate::request::spec::Standardize;
use lineal_data::{ColumnScale, Dataset, ReadOptions, Schema, Source, TextBatch, TextSink};
use lineal_features::map::{FeatureMap, Interaction, MapSpec};
use lineal_features::templates::{TemplateNames, Templates};
use lineal_features::text::{TextEncoder, TextRows, TextSpec, Tokens};
use lineal_linalg::{Csr, Matrix};
use numbers::Numbers;
use sinks::{Applying, Cells, Learning, Only};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use templates::Filling;

pub(crate) use sampled::Sampling;
pub(crate) use stored::{AboutFeatures, tensors};
pub(crate) use templates::{Learnt, expand};

/// How raw columns become features: text, products of columns, nonlinear maps.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureSpec {
    /// How text columns become features. `slots` is filled in from the data.
    pub text: TextSpec,
    /// Take single words only if texts have fewer than four words on average: pairs then mostly repeat what the words say, and
    /// on 53,000 job titles they cost three points of accuracy.
    pub no_pairs_of_few: bool,
    /// Templates of joint features, instead of `text`. The columns that they name must be among the text columns of the options.
    pub templates: Option<Templates>,
    /// Products of columns, in addition to the columns.
    pub interact: Vec<Interaction>,
    /// A nonlinear map of all columns of numbers.
    pub map: Option<MapSpec>,
    /// Which numbers are scaled to mean 0 and standard deviation 1 before more features are made of them. Numbers beside text always are.
    pub standardize: Standardize,
    /// The seed of the map's random choices.
    pub seed: u64,
}

impl Default for FeatureSpec {
    /// Words of any length and punctuation marks, alone and in pairs, as sublinear tf–idf. With [`TrainSpec::for_text`](crate::TrainSpec::for_text) that
    /// is what did best on most of newsgroups, questions, film reviews and intents, without tuning.
    fn default() -> Self {
        let text =
            TextSpec { tokens: Tokens::WordsAndMarks, ngrams: Some((1, 2)), ..TextSpec::default() };
        Self {
            text,
            no_pairs_of_few: true,
            templates: None,
            interact: Vec::new(),
            map: None,
            standardize: Standardize::Numbers,
            seed: 0,
        }
    }
}

/// How raw columns become features, as learnt from the training data. Cheap to clone.
#[derive(Clone, Default)]
pub struct Features {
    text: Option<Arc<TextEncoder>>,
    numbers: Numbers,
    templates: Option<Arc<Learnt>>,
    map: Option<Arc<FeatureMap>>,
}

/// Reads a file, learns what its columns mean, and makes features of its text.
///
/// Text columns are those that `options` names, or else those that look like text, and the text of fastText. Without text columns this does the same as
/// [`read`](crate::read), and the features are empty. Numbers beside text are scaled to mean 0 and standard deviation 1, because rows of text have length 1, and a
/// column of prices would outweigh them.
///
/// ```
/// use lineal::{FeatureSpec, Predicted, ReadOptions, Source, TrainSpec, Training, read_features};
///
/// let csv = b"text,label\nmy invoice is wrong,money\ncannot log in,access\nthe invoice never came,money\nlog in fails,access\n";
/// let source = Source::Memory { name: "tickets.csv".into(), bytes: csv.to_vec() };
/// let options = ReadOptions { text: vec!["text".into()], ..ReadOptions::default() };
/// let (data, features) = read_features(source, &options, &FeatureSpec::default())?;
/// let (model, _) = Training::new(&data, &TrainSpec::for_text(2)).features(&features).run()?;
///
/// let new = model.texts(&["the invoice is missing", "I cannot log in"])?;
/// assert_eq!(model.predict(&new)?, Predicted::Classes(vec![1, 0]));
/// # Ok::<(), lineal::Error>(())
/// ```
pub fn read_features(
    source: impl Into<Source>,
    options: &ReadOptions,
    spec: &FeatureSpec,
) -> Result<(Dataset, Features), Error> {
    interruptible(|| learn(source.into(), options, spec, None))
}

/// Like [`read_features`], but for some rows of a file: the dataset has only these, and the vocabulary, the frequencies of words, the scales of numbers and
/// the maps are learnt from them. Columns, categories and classes are still those of the whole file. `rows` must be ascending.
///
/// The other rows can then be [read](Features::read) as rows that training did not see.
pub fn read_features_of(
    source: impl Into<Source>,
    options: &ReadOptions,
    spec: &FeatureSpec,
    rows: &[usize],
) -> Result<(Dataset, Features), Error> {
    interruptible(|| learn(source.into(), options, spec, Some(rows)))
}

/// What is left of reading that was interrupted means nothing.
fn interruptible<R>(read: impl FnOnce() -> Result<R, Error>) -> Result<R, Error> {
    match read() {
        _ if Listener::here().is_stopped() => Err(Error::Interrupted),
        done => done,
    }
}

fn learn(
    source: Source,
    options: &ReadOptions,
    spec: &FeatureSpec,
    rows: Option<&[usize]>,
) -> Result<(Dataset, Features), Error> {
    let guess_text = options.guess_text || (options.text.is_empty() && spec.templates.is_none());
    let options = &ReadOptions { guess_text, ..options.clone() };
    let read = |sink: &mut dyn TextSink| match rows {
        None => lineal_data::read_text(source, options, sink),
        Some(rows) => {
            let data = lineal_data::read_text(source, options, &mut Only::new(rows, sink))?;
            Ok(data
                .select(&rows.iter().copied().filter(|&i| i < data.n_rows()).collect::<Vec<_>>()))
        }
    };
    let mut features = Features::default();
    let may_rescale = spec.standardize != Standardize::Never;
    let mut data;
    if let Some(templates) = &spec.templates {
        let mut sink = Filling::new(templates);
        data = read(&mut sink)?;
        let (rows, names) = sink.take();
        if may_rescale {
            features.numbers = Numbers::learn(&data.schema, &data.x);
        }
        let learnt = Learnt::new(templates.clone(), names, &rows);
        features.put_beside(&mut data, learnt.narrow(&rows))?;
        features.templates = Some(Arc::new(learnt));
    } else {
        let mut sink = Learning::new(spec);
        data = read(&mut sink)?;
        if let Some(fit) = sink.take() {
            if may_rescale {
                features.numbers = Numbers::learn(&data.schema, &data.x);
            }
            if Listener::here().is_stopped() {
                return Err(Error::Interrupted);
            }
            let (encoder, rows) = fit.finish().map_err(|e| text_error(&data.source, &e))?;
            features.text = Some(Arc::new(encoder));
            features.put_beside(&mut data, rows)?;
        }
    }
    let has_maps = spec.map.is_some() || !spec.interact.is_empty();
    let rescale = match spec.standardize {
        Standardize::Never => false,
        Standardize::Numbers => data.schema.columns.is_some(),
        Standardize::All => true,
    };
    if rescale && has_maps && features.n_of_text() == 0 {
        features.numbers = Numbers::learn(&data.schema, &data.x);
        data.x = features.numbers.apply(Cow::Borrowed(&data.x)).into_owned();
    }
    features.map = maps::learn(spec, &data)?.map(Arc::new);
    features.apply_map(&mut data)?;
    data.schema.n_computed = features.n_computed();
    data.schema.n_features += features.n_computed();
    Ok((data, features))
}

impl Features {
    /// Features of text that need no learning: hashed, without idf. For data that comes in parts, with the schema of
    /// [`learn_schema`](lineal_data::learn_schema), which is brought up to date. Numbers are not rescaled.
    pub fn untrained(spec: &FeatureSpec, schema: &mut Schema) -> Result<Self, Error> {
        if spec.map.is_some() || !spec.interact.is_empty() || spec.templates.is_some() {
            return Err(Error::request(
                "spec.map, spec.interact and spec.templates need all rows at once: leave them out where data comes in parts",
            ));
        }
        let slots: Vec<String> = schema.text_columns().map(str::to_owned).collect();
        if slots.is_empty() {
            return Ok(Self::default());
        }
        let encoder = TextEncoder::untrained(TextSpec { slots, ..spec.text.clone() })
            .map_err(|e| Error::request(said(&e)))?;
        Ok(Self::of_text(encoder, schema))
    }

    /// Features of a text encoder alone. The schema is brought up to date.
    pub fn of_text(encoder: TextEncoder, schema: &mut Schema) -> Self {
        let features = Self { text: Some(Arc::new(encoder)), ..Self::default() };
        schema.n_features = schema.n_read() + features.n_computed();
        schema.n_computed = features.n_computed();
        features
    }

    /// Whether there are none: rows are taken as they are read.
    pub fn is_empty(&self) -> bool {
        self.text.is_none() && self.map.is_none() && self.templates.is_none()
    }

    /// The templates of joint features, and the names that training saw.
    pub fn templates(&self) -> Option<(&Templates, &TemplateNames)> {
        self.templates.as_deref().map(|learnt| (&learnt.templates, &learnt.names))
    }

    pub(crate) fn learnt(&self) -> Option<&Learnt> {
        self.templates.as_deref()
    }

    /// What makes features of other features.
    pub fn map(&self) -> Option<&FeatureMap> {
        self.map.as_deref()
    }

    /// What makes features of text.
    pub fn text(&self) -> Option<&TextEncoder> {
        self.text.as_deref()
    }

    /// How many features are made, beside those that are read.
    pub fn n_computed(&self) -> usize {
        self.n_of_text() + self.map().map_or(0, FeatureMap::n_computed)
    }

    fn n_of_text(&self) -> usize {
        self.text().map_or(0, TextEncoder::n_features) + self.learnt().map_or(0, Learnt::n_features)
    }

    /// What people call feature `j` of data with this schema: `age`, `color=red`, `invoice`, `subject:invoice`, `age*height`.
    pub fn feature_name(&self, schema: &Schema, j: usize) -> String {
        let Some(at) = j.checked_sub(schema.n_read()) else { return schema.feature_name(j) };
        if let Some(learnt) = self.learnt().filter(|learnt| at < learnt.n_features()) {
            return learnt.name(at);
        }
        match (self.text(), self.map(), at.checked_sub(self.n_of_text())) {
            // A word may be called as a column is.
            (Some(text), _, None) => text.feature_name(at).into_owned(),
            (_, Some(map), Some(at)) if at < map.n_computed() => {
                map.name(at, |input| self.feature_name(schema, input))
            }
            _ => schema.feature_name(j),
        }
    }

    /// Whether the name of feature `j` is that of a word which counts there with a minus: hashed words have signs.
    pub(crate) fn is_negated(&self, schema: &Schema, j: usize) -> bool {
        let at = j.checked_sub(schema.n_read()).filter(|at| *at < self.n_of_text());
        self.text().zip(at).is_some_and(|(text, at)| text.is_negated(at))
    }

    /// How a feature that is a number beside text was rescaled.
    pub(crate) fn scale_of(&self, j: usize) -> Option<&ColumnScale> {
        self.numbers.of(j)
    }

    /// Reads data with the schema of training, and makes its features.
    pub fn read(
        &self,
        source: impl Into<Source>,
        options: &ReadOptions,
        schema: &Schema,
    ) -> Result<Dataset, Error> {
        if let Some(learnt) = self.learnt() {
            let mut sink = Filling::new(&learnt.templates);
            let mut data = lineal_data::read_text_with(source, options, schema, &mut sink)?;
            self.put_beside(&mut data, learnt.narrow(&sink.take().0))?;
            self.apply_map(&mut data)?;
            return Ok(data);
        }
        let Some(encoder) = self.text() else {
            let mut data = lineal_data::read_with(source, options, schema)?;
            self.complete(&mut data)?;
            return Ok(data);
        };
        let mut sink = Applying::new(encoder);
        let mut data = lineal_data::read_text_with(source, options, schema, &mut sink)?;
        self.put_beside(&mut data, sink.take())?;
        self.apply_map(&mut data)?;
        Ok(data)
    }

    /// Completes rows as they were read with the text that came with them, as [`stream`](lineal_data::stream) gives both.
    pub fn encode(&self, data: &mut Dataset, text: Option<&TextBatch>) -> Result<(), Error> {
        let rows = match (self.text(), self.learnt(), text) {
            (None, None, _) => return self.complete(data),
            (Some(encoder), _, Some(batch)) => {
                encoder.encode(&Cells(batch)).map_err(|e| text_error(&data.source, &e))?
            }
            (None, Some(learnt), Some(batch)) => learnt
                .encode(&data.schema, &Cells(batch))
                .map_err(|why| Error::request(format!("{}: {why}", data.source)))?,
            (_, _, None) => {
                return Err(Error::request(format!(
                    "{}: the rows come without the text that the features are made of",
                    data.source
                )));
            }
        };
        self.put_beside(data, rows)?;
        self.apply_map(data)
    }

    /// Rows of texts alone, one text per row, for data with no other column.
    pub(crate) fn of_texts(
        &self,
        schema: &Schema,
        texts: &(impl TextRows + ?Sized),
    ) -> Result<Dataset, Error> {
        let fits = schema.n_read() == 0 && schema.text_columns().count() == texts.n_slots();
        let rows = match (self.text(), self.learnt()) {
            (Some(encoder), _) if fits => {
                encoder.encode(texts).map_err(|e| text_error("texts", &e))?
            }
            (None, Some(learnt)) if fits => {
                let fail = |why| Error::request(format!("texts: {why}"));
                learnt.encode(schema, texts).map_err(fail)?
            }
            _ => {
                return Err(Error::request(
                    "the model's features are not of text alone; read a file with its columns",
                ));
            }
        };
        Ok(Dataset {
            x: Matrix::Sparse(rows),
            y: lineal_data::Targets::None,
            weights: None,
            queries: None,
            schema: schema.clone(),
            warnings: Vec::new(),
            source: "texts".into(),
        })
    }

    /// Puts what was read and what was made of text side by side.
    fn put_beside(&self, data: &mut Dataset, text: Csr) -> Result<(), Error> {
        let n_read = data.schema.n_read();
        let read = self.numbers.apply(Cow::Borrowed(&data.x));
        let x = text
            .beside(&read, n_read)
            .map_err(|e| Error::request(format!("{}: {e}", data.source)))?;
        drop(read);
        data.x = Matrix::Sparse(x);
        Ok(())
    }

    /// Scales numbers and maps them, where there is no text beside them.
    fn complete(&self, data: &mut Dataset) -> Result<(), Error> {
        if let Cow::Owned(x) = self.numbers.apply(Cow::Borrowed(&data.x)) {
            data.x = x;
        }
        self.apply_map(data)
    }

    fn apply_map(&self, data: &mut Dataset) -> Result<(), Error> {
        if let Some(map) = self.map() {
            data.x = map.apply(&data.x).map_err(|e| text_error(&data.source, &e))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Features")
            .field("text", &self.text().map(TextEncoder::spec))
            .field("n_computed", &self.n_computed())
            .field("numbers", &self.numbers)
            .field("map", &self.map().map(FeatureMap::columns))
            .finish()
    }
}

fn text_error(source: &str, error: &lineal_features::Error) -> Error {
    Error::request(format!("{source}: {}", said(error)))
}

/// The message, with settings by the names of their fields.
fn said(error: &lineal_features::Error) -> String {
    let flags = [
        ("min_df", "spec.text.min_df"),
        ("max_df", "spec.text.max_df"),
        ("max_features", "spec.text.max_features"),
        ("hash_bits", "spec.text.hash_bits"),
        ("ngrams ", "spec.text.ngrams "),
        ("stop_words", "spec.text.stop_words"),
    ];
    let text = error.to_string();
    let text = match text.strip_prefix("map ") {
        Some(rest) => format!("spec.map = {rest}"),
        None => text,
    };
    flags.iter().fold(text, |text, (name, flag)| text.replace(name, flag))
}
