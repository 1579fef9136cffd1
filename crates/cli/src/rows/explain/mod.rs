//! Why the winner beat the runner-up, for models of rows.

pub mod json;
pub mod text;

use std::collections::BTreeMap;

use anyhow::bail;
use lineal::{Dataset, ExplainSpec, Explanation, Model, Task};

use crate::args::ExplainArgs;
use crate::talk::{Talk, count};

pub use text::{amount, headline, value_of};

/// Rows of a page, unless asked for others.
const PAGE_ROWS: usize = 100;

/// What was found.
pub struct Explained<'m> {
    pub model: &'m Model,
    pub data: Dataset,
    pub explanations: Vec<Explanation>,
    /// For a page: how many features to list.
    pub top: usize,
    /// For a page: the text columns of each row that is explained.
    pub texts: BTreeMap<usize, Vec<String>>,
}

/// Explains the rows that the flags name.
pub fn explain<'m>(
    model: &'m Model,
    args: &ExplainArgs,
    talk: Talk,
) -> anyhow::Result<Explained<'m>> {
    if args.token.is_some() {
        bail!(
            "--token is of sequences, and {} is a model of rows; leave it out",
            args.model.display()
        );
    }
    let class = match &args.class {
        Some(name) => Some(find_class(model, name)?),
        None => None,
    };
    let data = model.read(args.source(), &args.file.options())?;
    data.warnings.iter().for_each(|warning| talk.warn(warning));
    let n_rows = data.n_rows();
    let rows = match &args.rows {
        Some(list) => match list.below(n_rows) {
            Ok(rows) => Some(rows),
            Err(row) => {
                bail!("{}: there is no row {row}, only {}", data.source, count(n_rows, "row"))
            }
        },
        None if args.html.is_some() && n_rows > PAGE_ROWS => {
            talk.say(format_args!(
                "the page has the first {PAGE_ROWS} of {}; --rows asks for others",
                count(n_rows, "row")
            ));
            Some((0..PAGE_ROWS).collect())
        }
        None => None,
    };
    // Words are lit up by all features, not by the few that are listed.
    let top = Some(args.top).filter(|_| args.html.is_none());
    let explanations = model.explain(&data, &ExplainSpec { rows: rows.clone(), class, top })?;
    let texts = match args.html.is_some() && args.data.as_os_str() != "-" {
        false => BTreeMap::new(),
        true => {
            let rows = rows.unwrap_or_else(|| (0..n_rows).collect());
            let texts = model.read_texts(&args.data, &args.file.options(), &rows)?;
            rows.into_iter().zip(texts).collect()
        }
    };
    Ok(Explained { model, data, explanations, top: args.top, texts })
}

fn find_class(model: &Model, name: &str) -> anyhow::Result<u32> {
    if model.task() == Task::Regress {
        bail!("--class {name}: a model of the task regress has no classes; leave --class out");
    }
    if let Some(at) = model.classes().iter().position(|class| class == name) {
        return Ok(at as u32);
    }
    let known: Vec<&str> = model.classes().iter().take(10).map(String::as_str).collect();
    let more = if model.classes().len() > known.len() { ", …" } else { "" };
    bail!("--class: `{name}` is not a class; the classes are {}{more}", known.join(", "))
}
