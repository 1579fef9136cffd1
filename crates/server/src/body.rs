//! Bodies: read up to their limit, held against the budget of memory until their answer is sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use http_body_util::{BodyExt, Full};
use hyper::body::{Frame, SizeHint};

use crate::budget::Part;
use crate::problem::Problem;

/// The whole body, of at most so many bytes, which `part` then holds.
pub(crate) async fn read(mut body: Body, most: usize, part: &mut Part) -> Result<Vec<u8>, Problem> {
    // A length that is declared is refused before a byte is read.
    if body.size_hint().lower() > most as u64 {
        return Err(Problem::too_large(most));
    }
    // Room is taken as bytes arrive: many who declare a lot and send nothing hold nothing.
    let mut bytes = Vec::new();
    while let Some(data) = next(&mut body).await? {
        if bytes.len() + data.len() > most {
            return Err(Problem::too_large(most));
        }
        if !part.grow(data.len()) {
            return Err(Problem::busy());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

/// The next bytes of a body.
pub(crate) async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    loop {
        match body.frame().await {
            None => return Ok(None),
            Some(Ok(frame)) => {
                if let Ok(data) = frame.into_data() {
                    return Ok(Some(data));
                }
            }
            Some(Err(error)) => {
                let detail = format!("the body ended early: {error}");
                return Err(Problem::new(StatusCode::BAD_REQUEST, detail));
            }
        }
    }
}

/// An answer that holds its part of the budget.
pub(crate) struct Held {
    bytes: Full<Bytes>,
    _part: Part,
}

impl Held {
    pub(crate) fn body(bytes: Vec<u8>, part: Part) -> Body {
        Body::new(Self { bytes: Full::new(bytes.into()), _part: part })
    }
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.bytes).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.bytes.size_hint()
    }
}
