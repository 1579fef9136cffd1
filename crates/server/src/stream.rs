//! Streams: one example per line in, one answer per line out, as they come.
//!
//! Lines are answered in blocks, as many as have arrived. The next block is read when the answers to the one before were taken over by the connection, so a client that
//! does not read is not read from either, and a stream of any length needs the memory of two blocks.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, Response, StatusCode, header};
use http_body_util::channel::{Channel, Sender};
use serde_json::json;
use serde_json::value::RawValue;
use tokio::time::timeout;

use crate::api::App;
use crate::body;
use crate::models::Loaded;
use crate::problem::Problem;
use crate::served::{Ask, Examples, Fault, Form};
use crate::work::Unwanted;

/// The content type of JSON lines.
pub(crate) const NDJSON: &str = "application/x-ndjson";

/// Lines that are answered together, at most.
const LINES: usize = 1024;
/// Bytes after which a block is answered, if it has a whole line.
const BLOCK: usize = 1 << 18;

/// Answers a stream of lines. `first` is what was read of the body already.
pub(crate) fn answer(
    app: Arc<App>,
    name: String,
    model: Arc<Loaded>,
    first: Option<Bytes>,
    body: Body,
    ask: Ask,
) -> Response<Body> {
    let (send, answers) = Channel::<Bytes, Infallible>::new(1);
    tokio::spawn(run(app, name, model, first, body, ask, send));
    let mut response = Response::new(Body::new(answers));
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    response
}

async fn run(
    app: Arc<App>,
    name: String,
    model: Arc<Loaded>,
    mut first: Option<Bytes>,
    mut body: Body,
    ask: Ask,
    mut send: Sender<Bytes, Infallible>,
) {
    let most = app.limits.body;
    let mut part = app.budget.part();
    let mut held = 0;
    let mut waiting: Vec<u8> = Vec::new();
    let mut n_lines = 0;
    let mut at_end = false;
    while !at_end {
        let next = async {
            match first.take() {
                Some(first) => Ok(Some(first)),
                None => body::next(&mut body).await,
            }
        };
        let failed = match timeout(app.limits.time, next).await {
            Ok(Ok(Some(data))) => {
                waiting.extend_from_slice(&data);
                None
            }
            Ok(Ok(None)) => {
                at_end = true;
                None
            }
            Ok(Err(problem)) => Some(problem),
            Err(_) => {
                let detail = "no line came for as long as a request may take";
                Some(Problem::new(StatusCode::REQUEST_TIMEOUT, detail))
            }
        };
        if waiting.len() > held {
            if !part.grow(waiting.len() - held) {
                let _ = send.send_data(error_line(&Problem::busy(), n_lines)).await;
                return;
            }
            held = waiting.len();
        }
        let whole = match at_end {
            true => waiting.len(),
            false => waiting.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1),
        };
        if let Some(problem) = failed {
            let _ = send.send_data(error_line(&problem, n_lines)).await;
            return;
        }
        if whole == 0 && waiting.len() > most {
            let _ = send.send_data(error_line(&Problem::too_large(most), n_lines)).await;
            return;
        }
        let rest = waiting.split_off(whole);
        let block = std::mem::replace(&mut waiting, rest);
        for piece in pieces(&block) {
            let (piece, first) = (piece.to_vec(), n_lines);
            let work = {
                let model = model.clone();
                move |unwanted: &Unwanted| {
                    let mut answered = (Vec::new(), 0);
                    let mut work = || answered = answer_block(&model, &piece, &ask, first);
                    model.served.until(unwanted, &mut work);
                    answered
                }
            };
            let Ok((out, n)) = app.pool.run(work).await else {
                app.panicked(&name);
                let detail = "the program failed at a line of this block";
                let problem = Problem::new(StatusCode::INTERNAL_SERVER_ERROR, detail);
                let _ = send.send_data(error_line(&problem, n_lines)).await;
                return;
            };
            n_lines += n;
            app.metrics.examples(&name, n);
            // Waits until the connection has taken the block before.
            if !out.is_empty() && send.send_data(out.into()).await.is_err() {
                return;
            }
        }
    }
}

/// Whole lines, some at a time.
fn pieces(block: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = block;
    std::iter::from_fn(move || {
        let (mut n, mut end) = (0, 0);
        while end < rest.len() && n < LINES && end < BLOCK {
            end +=
                rest[end..].iter().position(|&b| b == b'\n').map_or(rest.len() - end, |at| at + 1);
            n += 1;
        }
        let (piece, after) = rest.split_at(end);
        rest = after;
        (!piece.is_empty()).then_some(piece)
    })
}

/// The answers to some lines, and how many lines had an example. A line that is wrong has an error for an answer, and the others are answered as if it were not there.
fn answer_block(model: &Loaded, block: &[u8], ask: &Ask, first: usize) -> (Vec<u8>, usize) {
    let mut lines = Vec::new();
    for line in block.split(|&b| b == b'\n') {
        if !line.trim_ascii().is_empty() {
            lines.push(checked(line));
        }
    }
    let mut out = Vec::new();
    let all: Result<Vec<&str>, ()> =
        lines.iter().map(|line| line.as_ref().map(|l| *l).map_err(|_| ())).collect();
    if let Ok(values) = all {
        let form = form_of(model, &values);
        let examples = Examples { form, values: &values, first, alone: true };
        if model.served.predict(&examples, ask, &mut out).is_ok() {
            return (out, lines.len());
        }
        out.clear();
    }
    for (number, line) in (first..).zip(&lines) {
        let done = line.clone().and_then(|line| {
            let values = [line];
            let form = form_of(model, &values);
            let examples = Examples { form, values: &values, first: number, alone: true };
            let before = out.len();
            model.served.predict(&examples, ask, &mut out).map_err(|mut fault| {
                out.truncate(before);
                // Within the line, not within a list.
                let list = format!("/{}/0", form.key());
                fault.pointer = fault.pointer.strip_prefix(&list).unwrap_or("").to_owned();
                Problem::from(fault)
            })
        });
        if let Err(problem) = done {
            out.extend_from_slice(&error_line(&problem, number));
        }
    }
    (out, lines.len())
}

/// A text is a text, whatever else rows are.
fn form_of(model: &Loaded, values: &[&str]) -> Form {
    let all_text = values.iter().all(|value| value.trim_start().starts_with('"'));
    match model.served.form() {
        Form::Rows if all_text => Form::Texts,
        form => form,
    }
}

fn checked(line: &[u8]) -> Result<&str, Problem> {
    let not_json = |why: String| Problem::from(Fault::request("", format!("not JSON: {why}")));
    let text = std::str::from_utf8(line).map_err(|e| not_json(e.to_string()))?;
    let value: &RawValue = serde_json::from_str(text).map_err(|e| not_json(e.to_string()))?;
    Ok(value.get())
}

/// The answer to a line that is wrong; lines with examples are counted from 1.
fn error_line(problem: &Problem, n_before: usize) -> Bytes {
    let mut line = json!({"error": problem.json(None), "line": n_before + 1}).to_string();
    line.push('\n');
    line.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_cut_at_lines() {
        let block = "a\n".repeat(LINES + 1) + "end";
        let all: Vec<&[u8]> = pieces(block.as_bytes()).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[1], b"a\nend");
        assert_eq!(all.concat(), block.as_bytes());
        assert_eq!(pieces(b"").count(), 0);
    }
}
