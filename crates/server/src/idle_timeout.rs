//! Closes idle connections: clients that send no request or half of one, or do not read their response. Each connection
//! is checked every few seconds, since a timer per request would cost more than many requests.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Checks in a row without activity: a connection is closed after 15 to 20 idle seconds.
const MAX_IDLE_CHECKS: u32 = 3;

#[derive(Debug, Default)]
pub(crate) struct Activity {
    /// Completed requests and successful writes.
    steps: AtomicU64,
    in_flight: AtomicU64,
}

impl Activity {
    /// The request is in flight until the guard is dropped.
    pub(crate) fn begin_request(self: &Arc<Self>) -> RequestGuard {
        self.in_flight.fetch_add(1, Relaxed);
        RequestGuard(self.clone())
    }

    /// Returns when the connection was idle for too long.
    pub(crate) async fn idle_too_long(&self) {
        let (mut seen, mut quiet) = (self.steps.load(Relaxed), 0);
        while quiet < MAX_IDLE_CHECKS {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let now = self.steps.load(Relaxed);
            quiet = if now == seen && self.in_flight.load(Relaxed) == 0 { quiet + 1 } else { 0 };
            seen = now;
        }
    }
}

#[derive(Debug)]
pub(crate) struct RequestGuard(Arc<Activity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.steps.fetch_add(1, Relaxed);
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

/// A stream whose writes count as activity.
#[derive(Debug)]
pub(crate) struct TrackedStream<S> {
    stream: S,
    activity: Arc<Activity>,
}

impl<S> TrackedStream<S> {
    pub(crate) fn new(stream: S, activity: Arc<Activity>) -> Self {
        Self { stream, activity }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for TrackedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> TrackedStream<S> {
    fn wrote(&self, outcome: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if matches!(outcome, Poll::Ready(Ok(1..))) {
            self.activity.steps.fetch_add(1, Relaxed);
        }
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TrackedStream<S> {
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
    async fn connection_times_out_only_when_idle() {
        let activity = Arc::new(Activity::default());
        let watched = activity.clone();
        let mut watching = tokio::spawn(async move { watched.idle_too_long().await });
        let mut wait =
            async |seconds| tokio::time::timeout(Duration::from_secs(seconds), &mut watching).await;
        // A slow request.
        let guard = activity.begin_request();
        assert!(wait(60).await.is_err());
        drop(guard);
        // A client that reads slowly.
        for _ in 0..6 {
            assert!(wait(10).await.is_err());
            activity.steps.fetch_add(1, Relaxed);
        }
        assert!(wait(14).await.is_err());
        assert!(wait(11).await.is_ok());
    }
}
