//! What decided the parts of an output, against their runners-up.

use std::io;

use anyhow::bail;
use lineal::Examples;
use serde_json::{Value, json};

use super::{Reason, StructuredTask};
use crate::args::ExplainArgs;
use crate::table::{self, Align, cut};
use crate::talk::{Talk, count};

/// Examples on a page unless others are asked for.
const ON_A_PAGE: usize = 20;

/// Explanations of some examples: the number of each, and its parts.
pub struct Explained<M: StructuredTask> {
    pub data: M::Data,
    pub found: Vec<(usize, Vec<M::Explanation>)>,
}

impl<M: StructuredTask> Explained<M> {
    /// Every explanation with its example.
    pub fn each(
        &self,
        mut f: impl FnMut(usize, &M::Explanation) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut all = self.found.iter().flat_map(|(i, parts)| parts.iter().map(move |p| (*i, p)));
        all.try_for_each(|(i, part)| f(i, part))
    }
}

/// Explains the examples that the flags name.
pub fn explain<M: StructuredTask>(
    model: &M,
    args: &ExplainArgs,
    talk: Talk,
) -> anyhow::Result<Explained<M>> {
    let data = model.read(args.source(), &M::explain_options(args))?;
    explain_data(model, data, args, talk)
}

/// Explains examples that are at hand.
pub fn explain_data<M: StructuredTask>(
    model: &M,
    data: M::Data,
    args: &ExplainArgs,
    talk: Talk,
) -> anyhow::Result<Explained<M>> {
    let n = data.n_examples();
    let examples = match &args.rows {
        None if args.html.is_some() && n > ON_A_PAGE => {
            talk.say(format_args!(
                "the page has the first {ON_A_PAGE} of {}; --rows asks for others",
                count(n, M::EXAMPLE)
            ));
            (0..ON_A_PAGE).collect()
        }
        None => (0..n).collect(),
        Some(list) => match list.below(n) {
            Ok(rows) => rows,
            Err(row) => bail!(
                "{}: there is no {} {row}, only {}",
                data.source(),
                M::EXAMPLE,
                count(n, M::EXAMPLE)
            ),
        },
    };
    // Of examples that nobody named, those that are too short for the part that is asked for are passed over.
    let is_long_enough =
        |i: &usize| args.rows.is_some() || args.token.is_none_or(|t| t <= data.n_parts(*i));
    let examples: Vec<usize> = examples.into_iter().filter(is_long_enough).collect();
    if let (Some(token), true) = (args.token, examples.is_empty() && n > 0) {
        bail!("{}: no {} has a {} {token}", data.source(), M::EXAMPLE, M::PART);
    }
    let explain = |i: usize| {
        let found = model.explain(&data, i, args)?;
        if found.is_empty() {
            talk.say(format_args!("{} {}: there is nothing to explain there", M::EXAMPLE, i + 1));
        }
        Ok((i, found))
    };
    let found = examples.into_iter().map(explain).collect::<anyhow::Result<_>>()?;
    Ok(Explained { data, found })
}

/// The reasons to show, and the sum of the others.
pub fn shown<M: StructuredTask>(found: &M::Explanation, top: usize) -> (Vec<Reason>, usize, f64) {
    let mut reasons = M::reasons(found);
    let others = reasons.split_off(top.min(reasons.len()));
    (reasons, others.len(), others.iter().map(|reason| reason.amount).sum())
}

/// An explanation for people.
pub fn lines<M: StructuredTask>(
    model: &M,
    data: &M::Data,
    i: usize,
    found: &M::Explanation,
    top: usize,
) -> Vec<String> {
    let (reasons, n_others, rest) = shown::<M>(found, top);
    let row = |reason: Reason| {
        let first = [format!("{:+.3}", reason.amount), cut(&reason.what, 70), reason.place];
        first.into_iter().chain(reason.more).collect()
    };
    let rows: Vec<Vec<String>> = reasons.into_iter().map(row).collect();
    let mut lines = vec![model.headline(data, i, found)];
    lines.extend(table::lines(&rows, &[Align::Right, Align::Left], 2));
    if n_others > 0 {
        lines.push(format!("  {rest:+.3}  {}", count(n_others, "other weight")));
    }
    lines
}

/// An explanation for programs.
pub fn object<M: StructuredTask>(model: &M, i: usize, found: &M::Explanation, top: usize) -> Value {
    let (reasons, _, rest) = shown::<M>(found, top);
    let mut object = model.explanation_json(i, found);
    let reasons = reasons.into_iter().map(|reason| reason.json);
    object["reasons"] = reasons.collect();
    object["rest"] = json!(rest);
    object
}
