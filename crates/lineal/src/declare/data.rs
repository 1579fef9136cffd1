//! Examples of a declared structure.

use super::spec::DeclaredOptions;
use crate::Error;
use crate::structured::Examples;
use lineal_data::{DeclaredExample, DeclaredValue, Source, stream_declared};
use lineal_declared::{self as declared, Declaration, Ground, Record, Value};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Examples, as their declaration understands them.
#[derive(Clone, Debug)]
pub struct DeclaredData {
    /// The file, for messages.
    pub source: String,
    declaration: Arc<Declaration>,
    examples: Vec<Arc<DeclaredExample>>,
    grounds: declared::Examples,
    options: DeclaredOptions,
}

/// Examples that are read at a time.
const BLOCK: usize = 256;

impl DeclaredData {
    /// Reads JSON lines to learn from: every label must be in the declaration.
    pub fn read(source: impl Into<Source>, declaration: &Arc<Declaration>) -> Result<Self, Error> {
        let data = Self::read_any(source, declaration, DeclaredOptions::default())?;
        data.check_known()?;
        Ok(data)
    }

    /// Reads JSON lines to answer or to measure: labels that the declaration does not have count as wrong.
    pub fn read_any(
        source: impl Into<Source>,
        declaration: &Arc<Declaration>,
        options: DeclaredOptions,
    ) -> Result<Self, Error> {
        let source = source.into();
        let (name, mut examples) = (source.name(), Vec::new());
        stream_declared(source, &mut |example| {
            examples.push(Arc::new(example));
            ControlFlow::Continue(())
        })?;
        let data = Self::new(name, declaration, examples, options)?;
        data.check_lists()?;
        Ok(data)
    }

    /// Refuses data in which no example has a list that the declaration names, or no object of it the field of its label.
    fn check_lists(&self) -> Result<(), Error> {
        let all = || self.examples.iter().flat_map(|example| &example.lists);
        for kind in self.declaration.variables().iter().filter(|kind| !kind.all_pairs) {
            if all().any(|(name, _)| *name == kind.source) {
                continue;
            }
            let names: BTreeSet<&str> = all().map(|(name, _)| name.as_str()).collect();
            return Err(Error::request(format!(
                "{}: no example has a list `{}`, which `variable {}` is read from; there {}: say `from LIST` in the declaration",
                self.source,
                kind.source,
                kind.name,
                match names.len() {
                    0 => "are none".to_owned(),
                    _ => format!("is {}", names.into_iter().collect::<Vec<_>>().join(", ")),
                }
            )));
        }
        Ok(())
    }

    /// Refuses labels that the declaration does not have.
    pub(super) fn check_known(&self) -> Result<(), Error> {
        for (ground, raw) in self.iter().zip(&self.examples) {
            if let Some((v, label)) = ground.unknown.first() {
                let why = ground.unknown_label(&self.declaration, *v as usize, label);
                return Err(lineal_data::Error::at_line(&self.source, raw.line, why).into());
            }
        }
        Ok(())
    }

    /// Variables whose label is not in the declaration: how many, and one such label.
    pub fn unknown(&self) -> Option<(usize, &str)> {
        let n = self.iter().map(|ground| ground.unknown.len()).sum();
        let (_, label) = self.iter().flat_map(|ground| &ground.unknown).next()?;
        Some((n, label))
    }

    /// How long answers may take.
    pub(super) fn options(&self) -> DeclaredOptions {
        self.options
    }

    /// Reads JSON lines a few at a time, as [`read_any`](Self::read_any) does.
    pub fn stream(
        source: impl Into<Source>,
        declaration: &Arc<Declaration>,
        options: DeclaredOptions,
        on_block: &mut dyn FnMut(&Self) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let source = source.into();
        let (name, mut block, mut failed) = (source.name(), Vec::new(), None);
        let mut flush = |block: &mut Vec<Arc<DeclaredExample>>| {
            let examples = std::mem::take(block);
            match Self::new(name.clone(), declaration, examples, options) {
                Ok(data) => on_block(&data),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        stream_declared(source, &mut |example| {
            block.push(Arc::new(example));
            if block.len() < BLOCK { ControlFlow::Continue(()) } else { flush(&mut block) }
        })?;
        if !block.is_empty() {
            let _ = flush(&mut block);
        }
        failed.map_or(Ok(()), Err)
    }

    fn new(
        source: String,
        declaration: &Arc<Declaration>,
        examples: Vec<Arc<DeclaredExample>>,
        options: DeclaredOptions,
    ) -> Result<Self, Error> {
        let plain = examples.iter().map(|example| plain(example)).collect();
        let grounds = declared::Examples::with_unknown_labels(declaration, plain);
        let grounds = grounds.map_err(|error| {
            let line = examples[error.example].line;
            lineal_data::Error::at_line(&source, line, error.message)
        })?;
        Ok(Self { source, declaration: declaration.clone(), examples, grounds, options })
    }

    /// How they are understood.
    pub fn declaration(&self) -> &Arc<Declaration> {
        &self.declaration
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.examples.len()
    }

    /// None?
    pub fn is_empty(&self) -> bool {
        self.examples.is_empty()
    }

    /// The variables of an example.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn get(&self, example: usize) -> &Ground {
        self.grounds.get(example)
    }

    /// The variables of all examples.
    pub fn iter(&self) -> impl Iterator<Item = &Ground> {
        self.grounds.iter()
    }

    /// An example as it was read.
    ///
    /// # Panics
    /// If there is none of that number.
    pub fn raw(&self, example: usize) -> &DeclaredExample {
        &self.examples[example]
    }

    /// Variables of all examples.
    pub fn n_variables(&self) -> usize {
        self.iter().map(|ground| ground.kinds.len()).sum()
    }

    /// Whether any label is known.
    pub fn has_labels(&self) -> bool {
        let is_any =
            |ground: &Ground| !ground.unknown.is_empty() || ground.gold.iter().any(Option::is_some);
        self.iter().any(is_any)
    }

    pub(super) fn grounds(&self) -> &declared::Examples {
        &self.grounds
    }
}

impl Examples for DeclaredData {
    fn n_examples(&self) -> usize {
        self.len()
    }

    fn source(&self) -> &str {
        &self.source
    }

    fn select(&self, which: &[usize]) -> Self {
        let examples = which.iter().map(|&i| self.examples[i].clone()).collect();
        let grounds = declared::Examples::select(&self.grounds, which);
        Self {
            source: self.source.clone(),
            declaration: self.declaration.clone(),
            examples,
            grounds,
            options: self.options,
        }
    }

    fn n_parts(&self, example: usize) -> usize {
        self.get(example).kinds.len()
    }
}

/// The example in the words of the structure's crate.
fn plain(example: &DeclaredExample) -> declared::Example {
    let value = |value: &DeclaredValue| match value {
        DeclaredValue::Number(number) => Value::Number(*number),
        DeclaredValue::Text(text) => Value::Text(text.clone()),
        DeclaredValue::Features(features) => Value::Features(features.clone()),
    };
    let record = |record: &lineal_data::DeclaredRecord| Record {
        fields: record.fields.iter().map(|(name, v)| (name.clone(), value(v))).collect(),
    };
    let lists = example.lists.iter();
    declared::Example {
        columns: example.columns.clone(),
        lists: lists.map(|(name, all)| (name.clone(), all.iter().map(record).collect())).collect(),
        weight: example.weight,
    }
}
