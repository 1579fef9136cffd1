//! A body and what a model makes of it, as one JSON object.

use axum::http::StatusCode;
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::request::{self, Question};
use crate::served::{Ask, Examples, ExplainAsk, Fault, Form, Served};

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

/// Whether there is room for so many more bytes of an answer.
pub(crate) type Room<'a> = &'a mut dyn FnMut(usize) -> bool;

/// Bytes of examples that are answered together, if they are several: labels with their probabilities take hundreds of times the bytes of their token while they are found.
const BLOCK: usize = 1 << 20;

impl Answering<'_> {
    /// The answer, and to how many examples.
    fn answer<Q: Question>(
        &self,
        body: &[u8],
        key: &str,
        block: usize,
        ask: Asked<Q>,
        room: Room<'_>,
    ) -> Result<(Vec<u8>, usize), Problem> {
        let parsed = request::parse::<Q>(body, self.most)?;
        let (name, version, form) = (json!(self.name), self.version, parsed.form);
        let mut out = format!("{{\"model\":{name},\"version\":{version},\"{key}\":[").into_bytes();
        let mut first = 0;
        while first < parsed.values.len() {
            let values = &parsed.values[first..first + block_of(&parsed.values[first..], block)];
            if first > 0 {
                out.push(b',');
            }
            let before = out.len();
            let examples = Examples { form, values, first, alone: false };
            ask(self.served, &examples, &parsed.question, &mut out)
                .map_err(|fault| of_whole(fault, form, first))?;
            as_list(&mut out, before);
            if !room(out.len() - before) {
                let detail = "the answer is larger than what is left of the memory of the server; send fewer examples at a time, or a stream of JSON lines";
                return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, detail));
            }
            first += values.len();
        }
        out.extend_from_slice(b"]}");
        Ok((out, parsed.values.len()))
    }

    pub(crate) fn predict(&self, body: &[u8], room: Room<'_>) -> Result<(Vec<u8>, usize), Problem> {
        let ask: Asked<Ask> = |served, examples, ask, out| served.predict(examples, ask, out);
        self.answer(body, "predictions", BLOCK, ask, room)
    }

    /// Explanations number their rows, so all are asked for at once.
    pub(crate) fn explain(&self, body: &[u8], room: Room<'_>) -> Result<(Vec<u8>, usize), Problem> {
        let ask: Asked<ExplainAsk> =
            |served, examples, ask, out| served.explain(examples, ask, out);
        self.answer(body, "explanations", usize::MAX, ask, room)
    }
}

/// How many of these examples have so many bytes together, at least one.
fn block_of(values: &[&str], most: usize) -> usize {
    let mut bytes = 0usize;
    let fits = |value: &&&str| {
        bytes = bytes.saturating_add(value.len());
        bytes <= most
    };
    values.iter().take_while(fits).count().max(1)
}

/// A fault of a block that begins with example `first`, at its place in the whole list.
fn of_whole(mut fault: Fault, form: Form, first: usize) -> Fault {
    let list = format!("/{}/", form.key());
    if let Some(rest) = fault.pointer.strip_prefix(&list) {
        let (number, below) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        if let Ok(number) = number.parse::<usize>() {
            fault.pointer = format!("{list}{}{below}", number + first);
        }
    }
    fault
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
    let room: Room<'_> = &mut |_| true;
    let found = if explain { model.explain(body, room) } else { model.predict(body, room) };
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
    fn blocks_are_answered_as_one_list_with_places_in_the_whole() {
        assert_eq!(block_of(&["aa", "b", "c"], 3), 2);
        assert_eq!(block_of(&["aaaa", "b"], 3), 1);
        assert_eq!(block_of(&["aaaa", "b"], usize::MAX), 2);
        let at = |pointer: &str| of_whole(Fault::request(pointer, ""), Form::Rows, 7).pointer;
        assert_eq!(at("/rows/3/a/1"), "/rows/10/a/1");
        assert_eq!(at("/rows/0"), "/rows/7");
        assert_eq!(at("/rows"), "/rows");
        assert_eq!(at("/top"), "/top");
    }

    #[test]
    fn lines_become_a_list() {
        for (lines, list) in [("", ""), ("1\n", "1"), ("{\"a\":1}\n2\n", "{\"a\":1},2")] {
            let mut out = format!("[{lines}").into_bytes();
            as_list(&mut out, 1);
            assert_eq!(out, format!("[{list}").into_bytes());
        }
    }
}
