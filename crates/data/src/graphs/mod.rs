//! Graphs with a label on each node, one JSON object per line:
//!
//! ```text
//! {"id": "scene 1", "nodes": [[0.5, 1], [0.1, 0]], "edges": [[0, 1, [0.7]]], "labels": ["sky", null]}
//! {"id": "scene 2", "nodes": [{"area": 0.5}, {}], "edges": [[0, 1, {"alike": 0.7}]], "weight": 2}
//! ```
//!
//! A node is a list of numbers, of the same length everywhere, or an object of features by name, of which those that are missing are 0; so are the features of an edge between the nodes
//! of two numbers, counted from 0. Nodes are all lists or all objects throughout a file, and so are edges. Features of edges must be ≥ 0: a feature that is large where two nodes are
//! likely to have the same label. An edge may be written `[0, 1]` if edges have no features, in which case it is as if it were `[0, 1, [1]]`. `id`, `edges`, `labels` and
//! `weight` may be missing; other keys are ignored.
//!
//! [`read_graphs`] learns a [`GraphSchema`] together with the graphs, [`read_graphs_with`] applies it to other files, and [`stream_graphs`] gives a file of any length in blocks of about a
//! megabyte.

mod parse;
mod schema;
mod table;
#[cfg(test)]
mod tests;

pub use schema::{FeatureNames, GraphSchema, LeftOut};
pub use table::{Graph, Graphs};

use std::ops::ControlFlow;

use crate::blocks::{Input, RowEnd};
use crate::error::{Error, ErrorKind};
use crate::source::{Source, utf8};
use parse::Parser;

/// How to read graphs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphReadOptions {
    /// Whether a graph without labels is an error, as it is where labels are learnt or counted.
    pub require_labels: bool,
}

/// Reads graphs and learns which labels and features there are.
///
/// ```
/// use lineal_data::{GraphReadOptions, Source, read_graphs};
/// let line = r#"{"nodes": [{"red": 1}, {"blue": 2}], "edges": [[0, 1, [0.5]]], "labels": ["a", null]}"#;
/// let source = Source::Memory { name: "train.jsonl".into(), bytes: line.into() };
/// let data = read_graphs(source, &GraphReadOptions::default())?;
/// let graph = data.get(0);
/// assert_eq!((graph.n_nodes(), graph.edges()), (2, &[[0, 1]][..]));
/// assert_eq!((graph.node(1).idx(), graph.node(1).val()), (&[1][..], &[2.0][..]));
/// assert_eq!(data.schema.nodes.name(1), "blue");
/// # Ok::<(), lineal_data::Error>(())
/// ```
pub fn read_graphs(source: impl Into<Source>, options: &GraphReadOptions) -> Result<Graphs, Error> {
    let walk = Walk::new(source.into())?;
    let schema = GraphSchema {
        labels: Vec::new(),
        nodes: FeatureNames::Numbered(0),
        edges: FeatureNames::Numbered(0),
    };
    let mut data = walk.read(Parser::learning(options), schema)?;
    data.schema.labels = data.labels.clone();
    if data.labels.is_empty() {
        let message = "no node has a label; nothing can be learnt";
        return Err(Error::new(ErrorKind::Label, &data.source, message));
    }
    Ok(data)
}

/// Reads graphs as a schema that was learnt before understands them. Features that it does not have are left out and counted ([`LeftOut`]); labels that it does not have get numbers after those
/// that it has.
pub fn read_graphs_with(
    source: impl Into<Source>,
    options: &GraphReadOptions,
    schema: &GraphSchema,
) -> Result<Graphs, Error> {
    let walk = Walk::new(source.into())?;
    walk.check(schema)?;
    walk.read(Parser::applying(options), schema.clone())
}

/// As [`read_graphs_with`], block by block: `f` gets some graphs at a time and says whether to go on. Memory is that of a block, or of the largest graph.
pub fn stream_graphs(
    source: impl Into<Source>,
    options: &GraphReadOptions,
    schema: &GraphSchema,
    f: &mut dyn FnMut(&Graphs) -> ControlFlow<()>,
) -> Result<(), Error> {
    let walk = Walk::new(source.into())?;
    walk.check(schema)?;
    let mut any = false;
    let mut data = Graphs::new(walk.file.clone(), schema.clone());
    walk.run(&mut data, Parser::applying(options), &mut |data| {
        any |= !data.is_empty();
        let step = if data.is_empty() { ControlFlow::Continue(()) } else { f(data) };
        data.clear();
        step
    })?;
    if any { Ok(()) } else { Err(no_graphs(&walk.file)) }
}

fn no_graphs(file: &str) -> Error {
    Error::new(
        ErrorKind::Empty,
        file,
        "the file has no graphs; write one object per line, with \"nodes\" and \"edges\"",
    )
}

/// A source that is about to be walked.
struct Walk {
    input: Input,
    file: String,
}

impl Walk {
    fn new(source: Source) -> Result<Self, Error> {
        let file = source.name();
        Ok(Self { input: source.streamed()?, file })
    }

    fn check(&self, schema: &GraphSchema) -> Result<(), Error> {
        schema.check().map_err(|why| {
            let message = format!("the model's schema is damaged: {why}");
            Error::new(ErrorKind::Schema, &self.file, message)
        })
    }

    fn read(&self, parser: Parser, schema: GraphSchema) -> Result<Graphs, Error> {
        let mut data = Graphs::new(self.file.clone(), schema);
        self.run(&mut data, parser, &mut |_| ControlFlow::Continue(()))?;
        if data.is_empty() { Err(no_graphs(&self.file)) } else { Ok(data) }
    }

    /// Hands the graphs to `f` after each block. The next block is put after what it leaves there.
    fn run(
        &self,
        data: &mut Graphs,
        mut parser: Parser,
        f: &mut dyn FnMut(&mut Graphs) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        self.input.for_each_block(&self.file, RowEnd::Newline, &mut |block| {
            let n_lines = block.n_lines_before;
            let text = utf8(block.text, &self.file).map_err(|e| e.below(n_lines))?;
            for (line, n_line) in text.lines().zip(n_lines + 1..) {
                if !line.trim().is_empty() {
                    parser.read(line, n_line, data)?;
                }
            }
            Ok(f(data))
        })
    }
}
