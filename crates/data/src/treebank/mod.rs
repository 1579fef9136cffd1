//! Treebanks: sentences whose words have heads and relations, in CoNLL-U.
//!
//! [`read_treebank`] learns a [`TreebankSchema`] (which relations there are) together with the sentences, [`read_treebank_with`] applies it
//! to other files, and [`stream_treebank`] gives a file of any length, or standard input, in blocks of about a megabyte.
//!
//! A word is a line of ten fields between tabs; a blank line ends a sentence. Comments, multiword tokens (`1-2`) and empty nodes (`1.1`) are not words, but they
//! stay in the text: [`Sentence::write`] writes a sentence with other heads and relations, and everything else byte for byte as it was. (Several
//! blank lines in a row become one.) `_` stands where a head or a relation is not known; `id` and `form` alone are enough for a file to predict.
//!
//! Heads that are known must make sense: numbers of words of the sentence, or 0, that do not form a cycle. What else is asked of them the
//! [`TreebankOptions`] say. The files of CoNLL-X have the same first eight columns and are read as well.

mod arcs;
mod check;
mod column;
mod options;
mod parse;
mod schema;
mod table;
mod write;

pub use arcs::{
    ArcEnd, HeadConstraints, check_forbidden_arcs, parse_forbidden_arcs, read_forbidden_arcs,
};
pub use column::ConlluColumn;
pub use options::TreebankOptions;
pub use schema::TreebankSchema;
pub use table::{NO_HEAD, NO_RELATION, Sentence, Treebank};
pub use write::SentenceEdits;

use std::ops::ControlFlow;

use crate::blocks::{Input, RowEnd};
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::read::HEAD;
use crate::source::{Source, utf8, without_bom};

/// Reads a treebank and learns which relations there are.
///
/// ```
/// use lineal_data::{Source, TreebankOptions, read_treebank};
/// let bytes = b"1\tit\t_\tPRON\t_\t_\t2\tnsubj\t_\t_\n2\trains\t_\tVERB\t_\t_\t0\troot\t_\t_\n".to_vec();
/// let source = Source::Memory { name: "train.conllu".into(), bytes };
/// let data = read_treebank(source, &TreebankOptions { require_heads: true, ..Default::default() })?;
/// assert_eq!(data.schema.relations, ["nsubj", "root"]);
/// assert_eq!((data.get(0).form(1), data.get(0).heads()), ("rains", &[2, 0][..]));
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn read_treebank(
    source: impl Into<Source>,
    options: &TreebankOptions,
) -> Result<Treebank, Error> {
    let mut data = Walk::new(source.into(), options)?.read(options, TreebankSchema::default())?;
    data.schema.relations = data.relations.clone();
    Ok(data)
}

/// Reads a treebank for a model. Relations that the schema does not have get numbers after those that it has.
pub fn read_treebank_with(
    source: impl Into<Source>,
    options: &TreebankOptions,
    schema: &TreebankSchema,
) -> Result<Treebank, Error> {
    let walk = Walk::new(source.into(), options)?;
    walk.check(schema)?;
    walk.read(options, schema.clone())
}

/// As [`read_treebank_with`], block by block: `f` gets some whole sentences at a time and says whether to go on. Memory is that of a
/// block, or of the longest sentence.
pub fn stream_treebank(
    source: impl Into<Source>,
    options: &TreebankOptions,
    schema: &TreebankSchema,
    f: &mut dyn FnMut(&Treebank) -> ControlFlow<()>,
) -> Result<(), Error> {
    let walk = Walk::new(source.into(), options)?;
    walk.check(schema)?;
    let mut any = false;
    let mut data = Treebank::new(walk.file.clone(), schema.clone());
    walk.run(&mut data, options, &mut |data| {
        any |= !data.is_empty();
        let step = if data.is_empty() { ControlFlow::Continue(()) } else { f(data) };
        data.clear();
        step
    })?;
    if any { Ok(()) } else { Err(no_words(&walk.file)) }
}

fn no_words(file: &str) -> Error {
    Error::new(ErrorKind::Empty, file, "the file has no words")
}

/// A source that is about to be walked.
struct Walk {
    input: Input,
    file: String,
}

impl Walk {
    fn new(source: Source, options: &TreebankOptions) -> Result<Self, Error> {
        let file = source.name();
        // A name that says `conll` may be of a file of CoNLL-X; if it is not, its columns tell.
        let named = Format::from_name(&file).filter(|&format| format != Format::Conll);
        let format = options.format.or(named).unwrap_or(Format::Conllu);
        if format != Format::Conllu {
            let message = format!(
                "{format} does not hold dependency trees; give options.format = conllu if it is CoNLL-U all the same"
            );
            return Err(Error::new(ErrorKind::Format, &file, message));
        }
        let input = source.streamed()?;
        if without_bom(&input.head(HEAD)?).is_empty() {
            return Err(Error::new(ErrorKind::Empty, &file, "the file is empty"));
        }
        Ok(Self { input, file })
    }

    fn check(&self, schema: &TreebankSchema) -> Result<(), Error> {
        schema.check().map_err(|why| {
            let message = format!("the model's schema is damaged: {why}");
            Error::new(ErrorKind::Schema, &self.file, message)
        })
    }

    fn read(&self, options: &TreebankOptions, schema: TreebankSchema) -> Result<Treebank, Error> {
        let mut data = Treebank::new(self.file.clone(), schema);
        self.run(&mut data, options, &mut |_| ControlFlow::Continue(()))?;
        if data.is_empty() { Err(no_words(&self.file)) } else { Ok(data) }
    }

    /// Hands the sentences to `f` after each block. The next block is put after what it leaves there.
    fn run(
        &self,
        data: &mut Treebank,
        options: &TreebankOptions,
        f: &mut dyn FnMut(&mut Treebank) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.input.for_each_block(&self.file, RowEnd::BlankLine, &mut |block| {
            let text = utf8(block.text, &self.file).map_err(|e| e.below(block.n_lines_before))?;
            parse::read(text, block.n_lines_before, options, data)?;
            Ok(f(data))
        })
    }
}
