//! Sequences with a label on each position: CoNLL columns, CoNLL-U, CRFsuite attributes, JSON lines.
//!
//! [`read_sequences`] learns a [`SequenceSchema`] together with the sequences, [`read_sequences_with`] applies it to other files, and
//! [`stream_sequences`] gives a file of any length, or standard input, in blocks of about a megabyte.
//!
//! | format | a token is | columns, counted from 0 |
//! |---|---|---|
//! | `conll` | a line of fields between tabs, or between spaces if the first line has no tab | those of the file; the last is the label |
//! | `conllu` | a line of ten fields; comments, `1-2` and `1.1` are no tokens | `id` 0, `form` 1, `lemma` 2, `upos` 3, … `misc` 9 |
//! | `crfsuite` | a line `label<tab>attribute[:value]…` | one, the attributes as they stand |
//! | `jsonl` | an entry of each list of the object on a line | `tokens` 0, then the other lists; `labels` is the label |
//! | `jsonl` | a word of the `text` of the object on a line | the word; its label follows from `spans` of characters |
//!
//! A blank line ends a sequence. A position without a label is [`UNLABELLED`]: it has the marker that the options name, or null in JSON.

mod columns;
mod jsonl;
mod memory;
mod options;
mod schema;
mod table;
mod texts;
mod words;

pub use columns::is_token_line;
pub(crate) use columns::looks_like_crfsuite;
pub use options::SequenceOptions;
pub(crate) use schema::CONLLU;
pub use schema::{SequenceSchema, SpanForm};
pub use table::{LeftSpans, Sequence, Sequences, UNLABELLED};
pub use words::words;

use std::ops::ControlFlow;

use crate::blocks::{Input, RowEnd};
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::read::HEAD;
use crate::source::{Source, utf8, without_bom};

/// Reads sequences and learns what their columns are and which labels there are.
///
/// ```
/// use lineal_data::{SequenceOptions, Source, read_sequences};
/// let bytes = b"the DT B-NP\ndog NN I-NP\n\nbarks VBZ B-VP\n".to_vec();
/// let source = Source::Memory { name: "train.conll".into(), bytes };
/// let data = read_sequences(source, &SequenceOptions::default())?;
/// assert_eq!((data.len(), data.n_tokens(), data.n_columns()), (2, 3, 3));
/// assert_eq!(data.schema.labels, ["B-NP", "I-NP", "B-VP"]);
/// assert_eq!(data.cells(0).collect::<Vec<_>>(), ["the", "DT", "B-NP", "dog", "NN", "I-NP"]);
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn read_sequences(
    source: impl Into<Source>,
    options: &SequenceOptions,
) -> Result<Sequences, Error> {
    let data = read_some_sequences(source, options)?;
    if data.schema.labels.is_empty() {
        let message = "no position has a label; nothing can be learnt";
        return Err(Error::new(ErrorKind::Label, &data.source, message));
    }
    Ok(data)
}

/// As [`read_sequences`], for some of many sequences: there may be no label among them.
pub fn read_some_sequences(
    source: impl Into<Source>,
    options: &SequenceOptions,
) -> Result<Sequences, Error> {
    let walk = Walk::new(source.into(), options, None)?;
    let schema = walk.learn(options)?;
    let mut data = walk.read(options, schema, true)?;
    data.schema.labels = data.labels.clone();
    Ok(data)
}

/// Reads sequences as a schema that was learnt before understands them.
///
/// The label column may be missing where it is the last one. Labels that the schema does not have get numbers after those that it has.
pub fn read_sequences_with(
    source: impl Into<Source>,
    options: &SequenceOptions,
    schema: &SequenceSchema,
) -> Result<Sequences, Error> {
    let walk = Walk::new(source.into(), options, Some(schema))?;
    walk.check(schema)?;
    walk.read(options, schema.clone(), false)
}

/// As [`read_sequences_with`], block by block: `f` gets some whole sequences at a time and says whether to go on. Memory is that of a
/// block, or of the longest sequence. Standard input and pipes are given as they arrive: each sequence as soon as it has ended.
pub fn stream_sequences(
    source: impl Into<Source>,
    options: &SequenceOptions,
    schema: &SequenceSchema,
    f: &mut dyn FnMut(&Sequences) -> ControlFlow<()>,
) -> Result<(), Error> {
    let walk = Walk::new(source.into(), options, Some(schema))?;
    walk.check(schema)?;
    let mut any = false;
    let mut data = Sequences::new(walk.file.clone(), schema.clone());
    walk.run(&mut data, options, false, &mut |data| {
        any |= !data.is_empty();
        let step = if data.is_empty() { ControlFlow::Continue(()) } else { f(data) };
        data.clear();
        step
    })?;
    if any { Ok(()) } else { Err(no_sequences(&walk.file)) }
}

fn no_sequences(file: &str) -> Error {
    Error::new(ErrorKind::Empty, file, "the file has no tokens")
}

/// A source that is about to be walked.
struct Walk {
    input: Input,
    file: String,
    format: Format,
}

impl Walk {
    /// `schema` is what the data must be like, where that is known.
    fn new(
        source: Source,
        options: &SequenceOptions,
        schema: Option<&SequenceSchema>,
    ) -> Result<Self, Error> {
        let file = source.name();
        let input = source.streamed()?;
        let head = input.arrived_head(HEAD)?;
        if without_bom(&head).trim_ascii().is_empty() {
            return Err(Error::new(ErrorKind::Empty, &file, "the file is empty"));
        }
        let format = match options.format {
            Some(format) => format,
            None => match (schema, columns::guess(&file, &head)) {
                // What a model was trained on is likelier than what one line looks like.
                (Some(schema), Format::Conll | Format::Crfsuite)
                    if Format::from_name(&file).is_none() =>
                {
                    if schema.texts.is_some() {
                        Format::Sentences
                    } else {
                        schema.format
                    }
                }
                (_, guessed) => guessed,
            },
        };
        // Plain lines for a model of texts.
        let plain = format == Format::Sentences && schema.is_some_and(|s| s.texts.is_some());
        if !format.has_sequences() && !plain {
            let message = format!(
                "{format} holds rows, not sequences of tokens; give options.format = conll, conllu, crfsuite or jsonl"
            );
            return Err(Error::new(ErrorKind::Format, &file, message));
        }
        Ok(Self { input, file, format })
    }

    fn ends(&self) -> RowEnd {
        match self.format {
            Format::Jsonl | Format::Sentences => RowEnd::Newline,
            _ => RowEnd::BlankLine,
        }
    }

    fn learn(&self, options: &SequenceOptions) -> Result<SequenceSchema, Error> {
        let block = self.input.first_block(&self.file, self.ends())?;
        let text = utf8(&block, &self.file)?;
        match self.format {
            Format::Jsonl => jsonl::learn(text, &self.file, options),
            _ => columns::learn(text, &self.file, self.format, options),
        }
    }

    fn check(&self, schema: &SequenceSchema) -> Result<(), Error> {
        schema.check().map_err(|why| {
            Error::new(
                ErrorKind::Schema,
                &self.file,
                format!("the model's schema is damaged: {why}"),
            )
        })?;
        let plain = self.format == Format::Sentences && schema.texts.is_some();
        if self.format == schema.format || plain {
            return Ok(());
        }
        let message = format!(
            "this is read as {}, but the model was trained on {}; convert the file, or say options.format",
            self.format, schema.format
        );
        Err(Error::new(ErrorKind::Schema, &self.file, message))
    }

    fn read(
        &self,
        options: &SequenceOptions,
        schema: SequenceSchema,
        learning: bool,
    ) -> Result<Sequences, Error> {
        let mut data = Sequences::new(self.file.clone(), schema);
        self.run(&mut data, options, learning, &mut |_| ControlFlow::Continue(()))?;
        if data.is_empty() {
            return Err(no_sequences(&self.file));
        }
        Ok(data)
    }

    /// Hands the sequences to `f` after each block. The next block is put after what it leaves there.
    fn run(
        &self,
        data: &mut Sequences,
        options: &SequenceOptions,
        learning: bool,
        f: &mut dyn FnMut(&mut Sequences) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut reader = columns::Reader::new(self.format, options, learning);
        self.input.for_each_arrival(&self.file, self.ends(), &mut |block| {
            let text = utf8(block.text, &self.file).map_err(|e| e.below(block.n_lines_before))?;
            match self.format {
                Format::Jsonl | Format::Sentences => {
                    let read = jsonl::Reader { format: self.format, options, learning };
                    read.read(text, block.n_lines_before, data)?;
                }
                _ => reader.read(text, block.n_lines_before, data)?,
            }
            Ok(f(data))
        })
    }
}
