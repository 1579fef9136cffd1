//! Files into datasets: LIBSVM/svmlight, csv, tsv, JSON lines, fastText, Vowpal Wabbit and IDX images, plain or
//! compressed; and into [`Sequences`]: CoNLL columns, CoNLL-U, CRFsuite attributes, JSON lines; and into
//! a [`Treebank`]: CoNLL-U; and into a [`BracketTreebank`]: Penn brackets, plain sentences; and into [`Graphs`]: JSON lines; and images with
//! masks, an [`ImageSet`].
//!
//! [`read`] learns a [`Schema`] (what columns and classes mean) together with the examples; [`read_with`]
//! applies that schema to other files, so that column 17 and class 3 mean the same at prediction as at
//! training. What is wrong in a file comes back as an [`Error`] with line, column, value and remedy; what
//! is odd but readable as one of [`Dataset::warnings`].
//!
//! Running text goes, batch by batch while it is read, to a [`TextSink`] ([`read_text`]): no dataset holds it.
//! [`stream`] gives a file that is larger than memory in chunks of rows.
//!
//! This crate must not know a model, a loss or a solver; it never prints and never reads a flag (its
//! messages name the program's flags as remedies). The same bytes give the same dataset at any number of
//! threads.
//!
//! ```
//! use lineal_data::{ReadOptions, Source, Targets, read, read_with};
//!
//! let train = Source::Memory {
//!     name: "train.csv".into(),
//!     bytes: b"age,color,label\n31,red,yes\n25,blue,no\n".to_vec(),
//! };
//! let train = read(train, &ReadOptions::default())?;
//! assert_eq!(train.schema.classes, ["no", "yes"]);
//! assert_eq!(train.schema.feature_name(2), "color=red");
//!
//! let test = Source::Memory { name: "test.tsv".into(), bytes: b"color\tage\ngreen\t40\n".to_vec() };
//! let test = read_with(test, &ReadOptions::default(), &train.schema)?;
//! assert_eq!(test.y, Targets::None);
//! assert!(test.warnings[0].contains("`green`"));
//! # Ok::<(), lineal_data::Error>(())
//! ```
//!
//! To add a format, see `docs/add-a/format.md`.

mod archive;
mod arrays;
mod blocks;
mod brackets;
mod cells;
mod convert;
mod dataset;
mod declared;
mod encoding;
mod error;
mod format;
#[cfg(feature = "segment")]
mod graphs;
mod guess_target;
mod idx;
#[cfg(feature = "segment")]
mod images;
mod label_lists;
mod labels;
mod lossy;
mod number;
mod once;
mod options;
mod queries;
mod read;
mod schema;
mod sequences;
mod source;
mod standardize;
mod stream;
mod svmlight;
mod table;
mod text;
mod treebank;

pub use brackets::{
    BracketNode, BracketReadOptions, BracketSchema, BracketSentence, BracketTreebank, LabelledSpan,
    LabelledTree, NO_TAG, read_brackets, read_brackets_with, stream_brackets,
};
pub use cells::{Cells, read_cells};
pub use convert::{Converted, convert};
pub use dataset::{Dataset, Targets, UNSEEN};
pub use declared::{
    DeclaredExample, DeclaredRecord, DeclaredValue, read_declared, stream_declared,
};
pub use encoding::Encoding;
pub use error::{Error, ErrorKind};
pub use format::Format;
#[cfg(feature = "segment")]
pub use graphs::{
    FeatureNames, Graph, GraphReadOptions, GraphSchema, Graphs, LeftOut, read_graphs,
    read_graphs_with, stream_graphs,
};
pub use guess_target::{GuessedTarget, guess_target};
#[cfg(feature = "segment")]
pub use images::{
    ImageReadOptions, ImageSet, MaskLabel, MaskSchema, MaskValue, RgbPixels, VOID, is_image, png,
};
pub use label_lists::Labels;
pub use once::Once;
pub use options::ReadOptions;
pub use queries::Queries;
pub use read::{read, read_text, read_text_with, read_with, table_with_column};
pub use schema::{Column, ColumnKind, Schema, TargetKind};
pub use sequences::{
    LeftSpans, Sequence, SequenceOptions, SequenceSchema, Sequences, SpanForm, UNLABELLED,
    is_token_line, read_sequences, read_sequences_with, read_some_sequences, stream_sequences,
    words,
};
pub use source::Source;
pub use standardize::{ColumnScale, Standardizer, rescale_columns};
pub use stream::{Learnt, OnChunk, learn_schema, stream};
pub use text::{TextBatch, TextSink};
pub use treebank::{
    ArcEnd, ConlluColumn, HeadConstraints, NO_HEAD, NO_RELATION, Sentence, SentenceEdits, Treebank,
    TreebankOptions, TreebankSchema, check_forbidden_arcs, parse_forbidden_arcs,
    read_forbidden_arcs, read_treebank, read_treebank_with, stream_treebank,
};
