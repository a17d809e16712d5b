//! Whether a connection gets on. It does while a request is worked on and while its answer is taken; a client
//! that sends no request, or half of one, or does not read its answer, is given up after a while.
//!
//! One timer for each connection, which is looked at now and then: one for each request would be dearer than
//! many a request.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// How often it is looked at.
const LOOK: Duration = Duration::from_secs(5);
/// So often in a row nothing may have happened: after 15 to 20 seconds the connection is given up.
const PATIENCE: u32 = 3;

/// What happens on a connection.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// Requests that have begun, and pieces of answers that were taken.
    steps: AtomicU64,
    /// Requests that are worked on.
    working: AtomicU64,
}

impl Pace {
    /// A request is worked on until the guard is dropped.
    pub(crate) fn working(self: &Arc<Self>) -> Working {
        self.working.fetch_add(1, Relaxed);
        Working(self.clone())
    }

    /// Returns once nothing has happened for too long.
    pub(crate) async fn stalled(&self) {
        let (mut seen, mut quiet) = (self.steps.load(Relaxed), 0);
        while quiet < PATIENCE {
            tokio::time::sleep(LOOK).await;
            let now = self.steps.load(Relaxed);
            quiet = if now == seen && self.working.load(Relaxed) == 0 { quiet + 1 } else { 0 };
            seen = now;
        }
    }
}

/// A request that is worked on.
#[derive(Debug)]
pub(crate) struct Working(Arc<Pace>);

impl Drop for Working {
    fn drop(&mut self) {
        self.0.steps.fetch_add(1, Relaxed);
        self.0.working.fetch_sub(1, Relaxed);
    }
}

/// A stream whose writes are steps.
#[derive(Debug)]
pub(crate) struct Paced<S> {
    stream: S,
    pace: Arc<Pace>,
}

impl<S> Paced<S> {
    pub(crate) fn new(stream: S, pace: Arc<Pace>) -> Self {
        Self { stream, pace }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> Paced<S> {
    fn wrote(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(outcome, Poll::Ready(Ok(1..))) {
            self.pace.steps.fetch_add(1, Relaxed);
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.wrote(outcome)
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.wrote(outcome)
    }
    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_given_up_only_when_nothing_happens_on_it() {
        let pace = Arc::new(Pace::default());
        let watched = pace.clone();
        let mut stalled = tokio::spawn(async move { watched.stalled().await });
        let mut give = async |seconds| tokio::time::timeout(Duration::from_secs(seconds), &mut stalled).await;
        // Worked on for long.
        let working = pace.working();
        assert!(give(60).await.is_err());
        drop(working);
        // An answer that is taken slowly.
        for _ in 0..6 {
            assert!(give(10).await.is_err());
            pace.steps.fetch_add(1, Relaxed);
        }
        assert!(give(14).await.is_err());
        assert!(give(11).await.is_ok());
    }
}
