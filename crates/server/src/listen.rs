//! Accepts connections up to a limit, closes stalled ones, and drains them on shutdown.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::{Body as _, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tower::ServiceExt;

use crate::connections::{Connection, Connections};
use crate::idle_timeout::{Activity, TrackedBody, TrackedStream};
use crate::tls::Tls;

const MAX_HEADER_BYTES: usize = 32 * 1024;
const MAX_HEADERS: usize = 100;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(30);

/// What the kernel keeps of a response for a slow client; it would take megabytes.
const SEND_BUFFER_BYTES: u32 = 256 * 1024;
/// Connections that wait to be accepted; the kernel has a limit too.
const BACKLOG: u32 = 4096;

pub(crate) fn bind(address: SocketAddr) -> Result<TcpListener> {
    let listen = || {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
        socket.set_reuseaddr(true)?;
        // Accepted connections inherit it.
        socket.set_send_buffer_size(SEND_BUFFER_BYTES)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    };
    listen().with_context(|| format!("{address} cannot be listened on"))
}

/// Serves until `stop` is ready, then lets every request in flight finish.
pub(crate) async fn serve(
    listener: TcpListener,
    router: Router,
    connections: Arc<Connections>,
    tls: Option<Arc<Tls>>,
    stop: impl Future<Output = ()>,
) -> Result<()> {
    let drain = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let (stream, peer) = tokio::select! {
            accepted = accept(&listener) => accepted,
            () = &mut stop => break,
        };
        // If none can be admitted, the next ones wait in the kernel's queue.
        let admitted = tokio::select! {
            admitted = connections.admit(peer.ip()) => admitted,
            () = &mut stop => break,
        };
        let Some(connection) = admitted else { continue };
        let (router, watcher) = (router.clone(), drain.watcher());
        let _ = stream.set_nodelay(true);
        let activity = connection.activity.clone();
        let stream = TrackedStream::new(stream, activity.clone());
        match tls.as_ref().map(|tls| tls.acceptor()) {
            None => {
                let served = watcher.watch(serve_connection(stream, peer, router, activity));
                tokio::spawn(until_end(async { Ok(served.await?) }, connection));
            }
            Some(acceptor) => {
                let served = async move {
                    let stream = acceptor.accept(stream).await?;
                    Ok(watcher.watch(serve_connection(stream, peer, router, activity)).await?)
                };
                tokio::spawn(until_end(served, connection));
            }
        }
    }
    drop(listener);
    tracing::info!("stopping: requests in flight are finished first");
    connections.close_silent();
    if tokio::time::timeout(DRAIN_TIMEOUT, drain.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
    Ok(())
}

async fn accept(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) => {
                // Usually out of file descriptors: wait until other connections close.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// Disconnects are normal; log them at debug.
async fn until_end(served: impl Future<Output = Result<()>>, connection: Connection) {
    tokio::select! {
        biased;
        outcome = served => if let Err(error) = outcome {
            tracing::debug!(%error, "a connection ended early");
        },
        why = connection.activity.end() => tracing::debug!(why, "connection closed"),
    }
}

fn serve_connection<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    stream: S,
    peer: SocketAddr,
    router: Router,
    activity: Arc<Activity>,
) -> impl GracefulConnection<Error = hyper::Error, Output = hyper::Result<()>> + Send {
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (router, guard) = (router.clone(), activity.begin_request());
        async move {
            let mut request = request.map(body);
            request.extensions_mut().insert(ConnectInfo(peer));
            let response = router.oneshot(request).await;
            response.map(|response| response.map(|body| TrackedBody::new(body, guard)))
        }
    });
    // Without `pipeline_flush`, which buffers responses without a limit.
    http1::Builder::new()
        .max_buf_size(MAX_HEADER_BYTES)
        .max_headers(MAX_HEADERS)
        .serve_connection(TokioIo::new(stream), service)
}

/// Avoids boxing the empty body of most requests.
fn body(incoming: Incoming) -> Body {
    if incoming.is_end_stream() { Body::empty() } else { Body::new(incoming) }
}
