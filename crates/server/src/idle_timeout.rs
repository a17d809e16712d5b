//! Closes connections whose client stalls: it sends no request or an incomplete one, or does not read its response.
//! Each connection is checked every few seconds, since a timer per request would cost more than many requests.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use hyper::body::{Body as HttpBody, Bytes, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::Notify;
use tokio::time::Instant;

const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// Checks in a row without progress: a connection is closed after 15 to 20 seconds.
const MAX_IDLE_CHECKS: u32 = 3;
/// Checks in a row that find the same head incomplete: a connection is closed after 5 to 10 seconds.
const MAX_HEAD_CHECKS: u32 = 2;
/// A client that takes less of its response in `MAX_IDLE_CHECKS` makes no progress.
const MIN_PACE_BYTES: u64 = 64 * 1024;

/// The time from which connections count.
static START: LazyLock<Instant> = LazyLock::new(Instant::now);

/// What one connection does.
#[derive(Debug)]
pub(crate) struct Activity {
    /// Requests begun and requests ended.
    steps: AtomicU64,
    /// Requests until the end of their response.
    in_flight: AtomicU64,
    written: AtomicU64,
    /// Whether the client has to read before more can be written.
    is_blocked: AtomicBool,
    /// Whether a head is incomplete: that of the first request, or one that has begun.
    awaits_head: AtomicBool,
    /// When the last request ended, in microseconds since `START`.
    idle_since: AtomicU64,
    closing: Notify,
}

impl Activity {
    pub(crate) fn new() -> Self {
        Self {
            steps: AtomicU64::new(0),
            in_flight: AtomicU64::new(0),
            written: AtomicU64::new(0),
            is_blocked: AtomicBool::new(false),
            awaits_head: AtomicBool::new(true),
            idle_since: AtomicU64::new(now()),
            closing: Notify::new(),
        }
    }

    /// The request is in flight until the guard is dropped.
    pub(crate) fn begin_request(self: &Arc<Self>) -> RequestGuard {
        self.in_flight.fetch_add(1, Relaxed);
        self.steps.fetch_add(1, Relaxed);
        self.awaits_head.store(false, Relaxed);
        RequestGuard(self.clone())
    }

    /// Since when the connection waits for a request; `None`: it does not.
    pub(crate) fn idle_since(&self) -> Option<u64> {
        let is_idle = self.in_flight.load(Relaxed) == 0 && !self.is_blocked.load(Relaxed);
        is_idle.then(|| self.idle_since.load(Relaxed))
    }

    pub(crate) fn close(&self) {
        self.closing.notify_one();
    }

    /// Closes the connection if it has never had a request.
    pub(crate) fn close_if_silent(&self) {
        if self.steps.load(Relaxed) == 0 {
            self.close();
        }
    }

    /// Returns why the connection is to be closed.
    pub(crate) async fn end(&self) -> &'static str {
        tokio::select! {
            () = self.closing.notified() => "it gives way to another one",
            why = self.stalled() => why,
        }
    }

    async fn stalled(&self) -> &'static str {
        let (mut seen, mut idle_checks) = (self.progress(), 0);
        let (mut last_steps, mut head_checks) = (seen.0, 0);
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            let now = self.progress();
            let has_progressed = now.0 != seen.0 || now.1 >= seen.1 + MIN_PACE_BYTES;
            let awaits_client = self.in_flight.load(Relaxed) == 0 || self.is_blocked.load(Relaxed);
            idle_checks = if awaits_client && !has_progressed { idle_checks + 1 } else { 0 };
            head_checks = match self.awaits_head.load(Relaxed) {
                true if now.0 == last_steps => head_checks + 1,
                true => 1,
                false => 0,
            };
            last_steps = now.0;
            if head_checks >= MAX_HEAD_CHECKS {
                return "no complete request head arrived in time";
            }
            if idle_checks >= MAX_IDLE_CHECKS {
                return "idle, or its client takes its response too slowly";
            }
            // The pace counts from the last progress.
            if idle_checks == 0 {
                seen = now;
            }
        }
    }

    fn progress(&self) -> (u64, u64) {
        (self.steps.load(Relaxed), self.written.load(Relaxed))
    }

    /// Bytes before a request are its head.
    fn read(&self, bytes: usize) {
        if bytes > 0 && self.in_flight.load(Relaxed) == 0 {
            self.awaits_head.store(true, Relaxed);
        }
    }

    fn wrote(&self, outcome: &Poll<io::Result<usize>>) {
        match outcome {
            Poll::Ready(Ok(bytes)) => {
                self.written.fetch_add(*bytes as u64, Relaxed);
                self.is_blocked.store(false, Relaxed);
            }
            Poll::Ready(Err(_)) => {}
            Poll::Pending => self.is_blocked.store(true, Relaxed),
        }
    }
}

fn now() -> u64 {
    u64::try_from(START.elapsed().as_micros()).unwrap_or(u64::MAX)
}

#[derive(Debug)]
pub(crate) struct RequestGuard(Arc<Activity>);

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.0.idle_since.store(now(), Relaxed);
        self.0.steps.fetch_add(1, Relaxed);
        self.0.in_flight.fetch_sub(1, Relaxed);
    }
}

/// A response whose request is in flight until its end was sent, or is not wanted any more.
pub(crate) struct TrackedBody {
    body: Body,
    _guard: RequestGuard,
}

impl TrackedBody {
    pub(crate) fn new(body: Body, guard: RequestGuard) -> Self {
        Self { body, _guard: guard }
    }
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }
    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A stream that records what is read and written.
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
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buffer);
        self.activity.read(buffer.filled().len() - before);
        outcome
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for TrackedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.activity.wrote(&outcome);
        outcome
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.activity.wrote(&outcome);
        outcome
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

    /// Whether the connection is to be closed within some seconds.
    async fn closed_within(seconds: u64, end: &mut (impl Future + Unpin)) -> bool {
        tokio::time::timeout(Duration::from_secs(seconds), end).await.is_ok()
    }

    fn write(activity: &Activity, bytes: usize) {
        activity.wrote(&Poll::Ready(Ok(bytes)));
        activity.wrote(&Poll::Pending);
    }

    #[tokio::test(start_paused = true)]
    async fn connection_times_out_only_when_idle() {
        let activity = Arc::new(Activity::new());
        let mut end = Box::pin(activity.end());
        // A slow request.
        let guard = activity.begin_request();
        assert!(!closed_within(60, &mut end).await);
        drop(guard);
        assert!(!closed_within(14, &mut end).await);
        assert!(closed_within(11, &mut end).await);
    }

    #[tokio::test(start_paused = true)]
    async fn response_is_taken_at_a_minimum_pace() {
        let activity = Arc::new(Activity::new());
        let mut end = Box::pin(activity.end());
        let _guard = activity.begin_request();
        for _ in 0..20 {
            write(&activity, 32 * 1024);
            assert!(!closed_within(5, &mut end).await);
        }
        let begin = Instant::now();
        loop {
            write(&activity, 2 * 1024);
            if closed_within(1, &mut end).await {
                break;
            }
        }
        assert!((10..=25).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn slow_source_of_a_response_closes_nothing() {
        let activity = Arc::new(Activity::new());
        let mut end = Box::pin(activity.end());
        let _guard = activity.begin_request();
        activity.wrote(&Poll::Ready(Ok(1)));
        assert!(!closed_within(60, &mut end).await);
    }

    #[tokio::test(start_paused = true)]
    async fn head_has_less_time_than_an_idle_connection() {
        let activity = Arc::new(Activity::new());
        let mut end = Box::pin(activity.end());
        assert!(closed_within(11, &mut end).await, "the first one");
        let activity = Arc::new(Activity::new());
        let mut end = Box::pin(activity.end());
        drop(activity.begin_request());
        assert!(!closed_within(12, &mut end).await);
        drop(activity.begin_request());
        activity.read(1);
        assert!(closed_within(11, &mut end).await, "one that has begun");
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_connection_without_a_request_is_idle() {
        let activity = Arc::new(Activity::new());
        assert!(activity.idle_since().is_some());
        let guard = activity.begin_request();
        assert!(activity.idle_since().is_none());
        write(&activity, 1);
        drop(guard);
        assert!(activity.idle_since().is_none(), "its client has not taken the response");
        activity.wrote(&Poll::Ready(Ok(1)));
        assert!(activity.idle_since().is_some());
    }
}
