//! Bodies: read up to their limit, held against the budget of memory until their answer is sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use http_body_util::BodyExt;
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

/// Bytes that the connection takes over at a time.
const PIECE: usize = 1 << 16;

/// An answer that holds its part of the budget until the connection has taken the last of it: who reads slowly is counted.
pub(crate) struct Held {
    bytes: Vec<u8>,
    sent: usize,
    _part: Part,
}

impl Held {
    pub(crate) fn body(bytes: Vec<u8>, part: Part) -> Body {
        Body::new(Self { bytes, sent: 0, _part: part })
    }
}

impl HttpBody for Held {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let end = self.bytes.len().min(self.sent + PIECE);
        if self.sent == end {
            return Poll::Ready(None);
        }
        // Copied: a slice that waits to be sent would keep the whole answer.
        let piece = Bytes::copy_from_slice(&self.bytes[self.sent..end]);
        self.sent = end;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.sent == self.bytes.len()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact((self.bytes.len() - self.sent) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use std::task::Waker;

    #[test]
    fn an_answer_is_held_until_its_last_piece_is_taken() {
        let budget = Budget::new(10 * PIECE);
        let mut part = budget.part();
        assert!(part.grow(2 * PIECE + 1));
        let bytes: Vec<u8> = (0..2 * PIECE + 1).map(|i| i as u8).collect();
        let mut held = Some(Held { bytes: bytes.clone(), sent: 0, _part: part });
        let (mut got, mut context) = (Vec::new(), Context::from_waker(Waker::noop()));
        while let Some(body) = &mut held {
            assert_eq!(budget.held(), 2 * PIECE + 1);
            match Pin::new(body).poll_frame(&mut context) {
                Poll::Ready(Some(Ok(frame))) => {
                    let piece = frame.into_data().unwrap();
                    assert!(piece.len() <= PIECE);
                    got.extend_from_slice(&piece);
                }
                _ => held = None,
            }
        }
        assert_eq!((got, budget.held()), (bytes, 0));
    }
}
