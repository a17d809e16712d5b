//! Connections: accepted up to a limit, given up if they stall, and drained when the service stops.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::idle_timeout::{Activity, TrackedStream};

/// How much a request's head may hold.
const HEADER_BYTES: usize = 32 * 1024;
const HEADER_COUNT: usize = 100;
/// How long requests in flight may take once the service stops.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Serves until `stop` is ready, then lets every request in flight finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    max_connections: usize,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let turns = Arc::new(Semaphore::new(max_connections));
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // Beyond the limit clients wait in the kernel's queue.
        let turn = tokio::select! {
            turn = turns.clone().acquire_owned() => turn?,
            () = &mut stop => break,
        };
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, mostly: others are about to be closed.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            () = &mut stop => break,
        };
        let activity = Arc::new(Activity::default());
        let connection = connections.watch(serve_connection(stream, peer, router.clone(), activity.clone()));
        tokio::spawn(async move {
            // A client that breaks off or falls silent is no event.
            tokio::select! {
                biased;
                outcome = connection => if let Err(error) = outcome {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = activity.idle_too_long() => tracing::debug!("a connection fell silent"),
            }
            drop(turn);
        });
    }
    drop(listener);
    tracing::info!("stopping: requests in flight are finished first");
    if tokio::time::timeout(DRAIN_TIMEOUT, connections.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}

fn serve_connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    activity: Arc<Activity>,
) -> impl GracefulConnection<Error = hyper::Error> + Send {
    let _ = stream.set_nodelay(true);
    let stream = TrackedStream::new(stream, activity.clone());
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (router, guard) = (router.clone(), activity.begin_request());
        async move {
            let mut request = request.map(body);
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = router.oneshot(request).await;
            drop(guard);
            response
        }
    });
    http1::Builder::new()
        .max_buf_size(HEADER_BYTES)
        .max_headers(HEADER_COUNT)
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), service)
}

/// A request's body. Most have none, and then none is boxed.
fn body(incoming: Incoming) -> Body {
    if incoming.is_end_stream() { Body::empty() } else { Body::new(incoming) }
}
