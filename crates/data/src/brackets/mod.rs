//! Constituency trees in brackets, as the Penn Treebank has them: `(S (NP (PRP it)) (VP (VBZ rains)))`.
//!
//! [`read_brackets`] learns a [`BracketSchema`] (which labels and tags there are) together with the trees, [`read_brackets_with`] applies it to other files,
//! and [`stream_brackets`] gives a file of any length, or standard input, in blocks of about a megabyte.
//!
//! A tree may take one line or several. Between trees there may be blank lines, and lines that begin with `#` or `%`. A bracket holds a label and brackets, or a tag and
//! one word; blanks mean nothing else. Characters stand for themselves, so `-LRB-` stays `-LRB-`.
//!
//! An outermost bracket without a label, or with one of [`BracketReadOptions::roots`], is not a phrase: it is kept beside the tree
//! ([`BracketSentence::root`]), and writing gives it back. What is inside may be several phrases and words.
//!
//! To be parsed, sentences need no trees: plain text, one sentence per line, its words separated by blanks, is read into the same table, without tags and phrases.
//! Brackets of the text become `-LRB-` and `-RRB-`, as they must in trees.
//!
//! Trees are read without recursion, in time that is linear in the file: nesting may be as deep as memory allows. A tree may have up to 2²² words, and as many brackets.

mod draw;
mod indent;
mod options;
mod parse;
mod plain;
mod schema;
mod table;
mod tree;

pub use options::BracketReadOptions;
pub use schema::BracketSchema;
pub use table::{BracketNode, BracketSentence, BracketTreebank, NO_TAG};
pub use tree::{LabelledSpan, LabelledTree};

use std::ops::ControlFlow;

use crate::blocks::{Input, RowEnd};
use crate::error::{Error, ErrorKind};
use crate::format::Format;
use crate::read::HEAD;
use crate::source::{Source, utf8, without_bom};
use parse::Parser;

/// Reads trees, or sentences, and learns which labels and tags there are.
///
/// ```
/// use lineal_data::{BracketReadOptions, Source, read_brackets};
/// let bytes = b"(ROOT (S (NP-SBJ (PRP it))\n  (VP (VBZ rains))))\n".to_vec();
/// let source = Source::Memory { name: "train.mrg".into(), bytes };
/// let data = read_brackets(source, &BracketReadOptions { cut_functions: true, ..Default::default() })?;
/// assert_eq!((&data.labels[..], &data.tags[..]), (&["S".into(), "NP".into(), "VP".into()][..], &["PRP".into(), "VBZ".into()][..]));
/// let sentence = data.get(0);
/// assert_eq!((sentence.word(1), sentence.root()), ("rains", Some("ROOT")));
/// assert_eq!(sentence.tree().line(), "(ROOT (S (NP (PRP it)) (VP (VBZ rains))))");
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn read_brackets(
    source: impl Into<Source>,
    options: &BracketReadOptions,
) -> Result<BracketTreebank, Error> {
    let walk = Walk::new(source.into(), options)?;
    let mut data = walk.read(options, BracketSchema::default())?;
    data.learn_schema();
    Ok(data)
}

/// Reads trees, or sentences, for a model. Labels and tags that the schema does not have get numbers after those that it has.
pub fn read_brackets_with(
    source: impl Into<Source>,
    options: &BracketReadOptions,
    schema: &BracketSchema,
) -> Result<BracketTreebank, Error> {
    let walk = Walk::new(source.into(), options)?;
    walk.check(schema)?;
    walk.read(options, schema.clone())
}

/// As [`read_brackets_with`], block by block: `f` gets some whole sentences at a time and says whether to go on. Memory is that of a block, or of the largest
/// tree.
pub fn stream_brackets(
    source: impl Into<Source>,
    options: &BracketReadOptions,
    schema: &BracketSchema,
    f: &mut dyn FnMut(&BracketTreebank) -> ControlFlow<()>,
) -> Result<(), Error> {
    let walk = Walk::new(source.into(), options)?;
    walk.check(schema)?;
    let mut any = false;
    let mut data = BracketTreebank::new(walk.file.clone(), schema.clone());
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
    has_trees: bool,
}

impl Walk {
    fn new(source: Source, options: &BracketReadOptions) -> Result<Self, Error> {
        let file = source.name();
        let refuse = |kind, message: String| Err(Error::new(kind, &file, message));
        let input = source.streamed()?;
        let head = input.head(HEAD)?;
        let head = without_bom(&head);
        if head.is_empty() {
            return refuse(ErrorKind::Empty, "the file is empty".to_owned());
        }
        let has_trees = match options.format.or_else(|| Format::from_name(&file)) {
            Some(Format::Brackets) => true,
            Some(Format::Sentences) => false,
            None => parse::looks_like_trees(head),
            Some(format) => {
                let message = format!(
                    "{format} does not hold bracketed trees; give options.format = brackets if it is that all the same, or options.format = \
                     sentences for plain text"
                );
                return refuse(ErrorKind::Format, message);
            }
        };
        if options.require_trees && !has_trees {
            let message = "this is read as plain sentences, and trees are needed: brackets such as (S (NP (PRP it)) \
                           (VP (VBZ rains))); give options.format = brackets if it has them";
            return refuse(ErrorKind::Format, message.to_owned());
        }
        Ok(Self { input, file, has_trees })
    }

    fn check(&self, schema: &BracketSchema) -> Result<(), Error> {
        schema.check().map_err(|why| {
            let message = format!("the model's schema is damaged: {why}");
            Error::new(ErrorKind::Schema, &self.file, message)
        })
    }

    fn read(
        &self,
        options: &BracketReadOptions,
        schema: BracketSchema,
    ) -> Result<BracketTreebank, Error> {
        let mut data = BracketTreebank::new(self.file.clone(), schema);
        self.run(&mut data, options, &mut |_| ControlFlow::Continue(()))?;
        if data.is_empty() { Err(no_words(&self.file)) } else { Ok(data) }
    }

    /// Hands the sentences to `f` after each block. The next block is put after what it leaves there.
    fn run(
        &self,
        data: &mut BracketTreebank,
        options: &BracketReadOptions,
        f: &mut dyn FnMut(&mut BracketTreebank) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut parser = Parser::new(options);
        let mut stopped = false;
        self.input.for_each_block(&self.file, RowEnd::Newline, &mut |block| {
            let n_lines = block.n_lines_before;
            let text = utf8(block.text, &self.file).map_err(|e| e.below(n_lines))?;
            let read = match self.has_trees {
                true => parser.read(text, n_lines, data),
                false => plain::read(text, n_lines, data),
            };
            read.map_err(|fault| fault.error(&self.file, text, n_lines))?;
            let step = f(data);
            stopped = step.is_break();
            Ok(step)
        })?;
        if stopped { Ok(()) } else { parser.end(&self.file) }
    }
}
