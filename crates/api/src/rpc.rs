//! `/rpc`: read-only Ethereum JSON-RPC for the embedded chain, in the sandbox only. It has JSON-RPC's own errors and
//! is not in the OpenAPI document.

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

/// A call may run for long and must not starve the service.
const MAX_CONCURRENT_REQUESTS: usize = 2;
static PERMITS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(MAX_CONCURRENT_REQUESTS)));

/// Handles one request or a batch.
pub(crate) async fn answer(State(service): State<Arc<Service>>, request: Request) -> Response {
    perform(&service, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn perform(service: &Service, request: Request) -> Result<Response> {
    let rpc = service.app.chain.rpc(&Call::new(Actor::Anonymous))?;
    let body = read_body(request.into_body(), service).await?;
    let permit = PERMITS.clone().acquire_owned().await.map_err(|_| Problem::unavailable("shutting down"))?;
    // The permit is released when the work ends, even if the client disconnects.
    let work = move || {
        let _permit = permit;
        rpc(&body)
    };
    let answer = tokio::task::spawn_blocking(work).await;
    let answer = answer.map_err(|panic| Problem::internal(format!("the chain panicked: {panic}")))?;
    if answer.is_empty() {
        // Notifications only: there is nothing to return.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut response = Response::new(Body::from(answer));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}
