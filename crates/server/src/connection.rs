//! A connection whose peer must take what it is sent.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// Fails if a write makes no progress for a while: a slow reader holds its answer no longer.
pub(crate) struct Patient<S> {
    stream: S,
    patience: Duration,
    /// Set while a write waits.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> Patient<S> {
    pub(crate) fn new(stream: S, patience: Duration) -> Self {
        Self { stream, patience, timer: None }
    }

    /// What to say of a write that waits, or nothing while there is patience left.
    fn waiting(&mut self, context: &mut Context<'_>) -> Poll<io::Error> {
        let patience = self.patience;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(patience)));
        ready!(timer.as_mut().poll(context));
        timer.as_mut().reset(Instant::now() + patience);
        Poll::Ready(io::Error::new(io::ErrorKind::TimedOut, "the client does not read its answer"))
    }

    fn after<R>(
        &mut self,
        context: &mut Context<'_>,
        done: Poll<io::Result<R>>,
    ) -> Poll<io::Result<R>> {
        match done {
            Poll::Ready(done) => {
                self.timer = None;
                Poll::Ready(done)
            }
            Poll::Pending => self.waiting(context).map(Err),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.after(context, done)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let done = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.after(context, done)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_flush(context);
        self.after(context, done)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = Pin::new(&mut self.stream).poll_shutdown(context);
        self.after(context, done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    #[test]
    fn a_peer_that_does_not_read_is_given_up() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let (ours, mut theirs) = duplex(16);
            let mut patient = Patient::new(ours, Duration::from_millis(20));
            patient.write_all(&[7; 16]).await.unwrap();
            let error = patient.write_all(&[7; 16]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
            // Once it reads, writing goes on.
            let mut taken = [0; 16];
            theirs.read_exact(&mut taken).await.unwrap();
            patient.write_all(&[7; 8]).await.unwrap();
        });
    }
}
