//! A body and what a model makes of it, as one JSON object.

use serde_json::{Value, json};

use crate::problem::Problem;
use crate::request::{self, Question};
use crate::served::{Ask, Examples, ExplainAsk, Fault, Served};

/// What a question is asked by.
pub(crate) type Asked<Q> = fn(&dyn Served, &Examples<'_>, &Q, &mut Vec<u8>) -> Result<(), Fault>;

/// The model that answers, as its answers name it.
pub(crate) struct Answering<'a> {
    pub(crate) served: &'a dyn Served,
    pub(crate) name: &'a str,
    pub(crate) version: u64,
    /// Examples that a body may have.
    pub(crate) most: usize,
}

impl Answering<'_> {
    /// The answer, and to how many examples.
    pub(crate) fn answer<Q: Question>(
        &self,
        body: &[u8],
        key: &str,
        ask: Asked<Q>,
    ) -> Result<(Vec<u8>, usize), Problem> {
        let parsed = request::parse::<Q>(body, self.most)?;
        let (name, version) = (json!(self.name), self.version);
        let mut out = format!("{{\"model\":{name},\"version\":{version},\"{key}\":[").into_bytes();
        let n = parsed.values.len();
        if n > 0 {
            let examples = Examples { form: parsed.form, values: &parsed.values, first: 0 };
            let before = out.len();
            ask(self.served, &examples, &parsed.question, &mut out)?;
            as_list(&mut out, before);
        }
        out.extend_from_slice(b"]}");
        Ok((out, n))
    }

    pub(crate) fn predict(&self, body: &[u8]) -> Result<(Vec<u8>, usize), Problem> {
        self.answer::<Ask>(body, "predictions", |served, examples, ask, out| {
            served.predict(examples, ask, out)
        })
    }

    pub(crate) fn explain(&self, body: &[u8]) -> Result<(Vec<u8>, usize), Problem> {
        self.answer::<ExplainAsk>(body, "explanations", |served, examples, ask, out| {
            served.explain(examples, ask, out)
        })
    }
}

/// What a request to predict, or to explain, would be answered without a server around it: its status, and JSON.
///
/// ```
/// # use lineal_server::{Ask, Examples, ExplainAsk, Fault, Form, Served, answer_body};
/// # struct Echo;
/// # impl Served for Echo {
/// #     fn task(&self) -> String { "echo".into() }
/// #     fn form(&self) -> Form { Form::Texts }
/// #     fn input(&self) -> serde_json::Value { serde_json::json!({}) }
/// #     fn describe(&self, _: Option<usize>) -> serde_json::Value { serde_json::json!({}) }
/// #     fn predict(&self, examples: &Examples<'_>, _: &Ask, out: &mut Vec<u8>) -> Result<(), Fault> {
/// #         examples.values.iter().for_each(|value| out.extend(format!("{value}\n").bytes()));
/// #         Ok(())
/// #     }
/// #     fn explain(&self, _: &Examples<'_>, _: &ExplainAsk, _: &mut Vec<u8>) -> Result<(), Fault> { Ok(()) }
/// # }
/// let (status, answer) = answer_body(&Echo, br#"{"texts": ["a", "b"]}"#, false);
/// assert_eq!((status, &*answer), (200, &br#"{"model":"model","version":1,"predictions":["a","b"]}"#[..]));
/// assert_eq!(answer_body(&Echo, b"[", false).0, 400);
/// ```
pub fn answer_body(served: &dyn Served, body: &[u8], explain: bool) -> (u16, Vec<u8>) {
    let model = Answering { served, name: "model", version: 1, most: 10_000 };
    let found = if explain { model.explain(body) } else { model.predict(body) };
    match found {
        Ok((out, _)) => (200, out),
        Err(problem) => (problem.status.as_u16(), problem.json(None).to_string().into_bytes()),
    }
}

/// An answer as an example of the API's description; none where there is none.
pub(crate) fn example(found: Result<(Vec<u8>, usize), Problem>) -> Option<Value> {
    serde_json::from_slice(&found.ok()?.0).ok()
}

/// Lines from `start` on become entries of a list. A line break stands nowhere else in JSON that is written on one line.
fn as_list(out: &mut Vec<u8>, start: usize) {
    if out.len() > start && out.last() == Some(&b'\n') {
        out.pop();
    }
    out[start..].iter_mut().filter(|b| **b == b'\n').for_each(|b| *b = b',');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_a_list() {
        for (lines, list) in [("", ""), ("1\n", "1"), ("{\"a\":1}\n2\n", "{\"a\":1},2")] {
            let mut out = format!("[{lines}").into_bytes();
            as_list(&mut out, 1);
            assert_eq!(out, format!("[{list}").into_bytes());
        }
    }
}
