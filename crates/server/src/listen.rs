//! Accepts connections up to a limit, closes idle ones, and drains them on shutdown.

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

const MAX_HEADER_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 100;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// Serves until `stop` is ready, then lets every request in flight finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    max_connections: usize,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let permits = Arc::new(Semaphore::new(max_connections));
    let connections = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        // Beyond the limit clients wait in the kernel's queue.
        let permit = tokio::select! {
            permit = permits.clone().acquire_owned() => permit?,
            () = &mut stop => break,
        };
        let (stream, peer) = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Usually out of file descriptors: wait until other connections close.
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
            // Disconnects are normal; log them at debug.
            tokio::select! {
                biased;
                outcome = connection => if let Err(error) = outcome {
                    tracing::debug!(%error, "a connection ended early");
                },
                () = activity.idle_too_long() => tracing::debug!("idle connection closed"),
            }
            drop(permit);
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
        .max_buf_size(MAX_HEADER_BYTES)
        .max_headers(MAX_HEADERS)
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), service)
}

/// Avoids boxing the empty body of most requests.
fn body(incoming: Incoming) -> Body {
    if incoming.is_end_stream() { Body::empty() } else { Body::new(incoming) }
}
