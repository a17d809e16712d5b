//! `/rpc`: the embedded chain as any Ethereum tool reads one. In the sandbox only, and read-only; it speaks
//! JSON-RPC, which has errors and documents of its own.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use portico_app::{Actor, Call};
use tokio::sync::Semaphore;

use crate::Service;
use crate::operation::read_body;
use crate::problem::{Problem, Result};

/// Requests that are worked on at once: a call may run for long, and the service has better things to do.
const MAX_CONCURRENT_REQUESTS: usize = 2;
static PERMITS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(MAX_CONCURRENT_REQUESTS)));

/// Answers one request or a batch of them.
pub(crate) async fn answer(State(service): State<Arc<Service>>, request: Request) -> Response {
    perform(&service, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn perform(service: &Service, request: Request) -> Result<Response> {
    let rpc = service.app.chain.rpc(&Call { actor: Actor::Anonymous, once: None })?;
    let body = read_body(request.into_body(), service).await?;
    let permit = PERMITS.clone().acquire_owned().await.map_err(|_| Problem::unavailable("shutting down"))?;
    // Released when the work ends, even if the client has disconnected.
    let work = move || {
        let _permit = permit;
        rpc(&body)
    };
    let answer = tokio::task::spawn_blocking(work).await;
    let answer = answer.map_err(|panic| Problem::internal(format!("the chain panicked: {panic}")))?;
    if answer.is_empty() {
        // Notifications only: nothing is to be said.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut response = Response::new(Body::from(answer));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
