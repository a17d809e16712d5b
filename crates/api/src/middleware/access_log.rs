//! One span, one log line and one set of metrics per request. Queries and bodies are never logged; paths only as
//! their template, because a path may name a person.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use tracing::Instrument as _;

use super::problems::Refusal;
use super::request_id::RequestId;
use crate::Service;

/// Every line that is logged on behalf of the request is in its span. The span has the highest level, so that a filter
/// which shows the line shows the request too.
pub(super) async fn record(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let method = method_name(request.method());
    let path = request.extensions().get::<MatchedPath>().cloned();
    let route = path.as_ref().map_or("", MatchedPath::as_str);
    let id = RequestId::of(&request);
    let request_id = id.as_str();
    let span = tracing::error_span!(target: "portico::access", "request", request_id, method, route);
    record_in_span(&service, request, next, (method, route)).instrument(span).await
}

async fn record_in_span(
    service: &Service,
    request: Request,
    next: Next,
    (method, route): (&'static str, &str),
) -> Response {
    let started = Instant::now();
    let mut response = next.run(request).await;
    let status = response.status();
    match response.extensions_mut().remove() {
        // Busy, or waiting for something else: no fault of the program.
        Some(Refusal { code, cause: Some(cause) }) if status == StatusCode::SERVICE_UNAVAILABLE => {
            tracing::warn!(target: "portico::access", status = status.as_u16(), code, cause);
        }
        Some(Refusal { code, cause: Some(cause) }) => {
            tracing::error!(target: "portico::access", status = status.as_u16(), code, cause);
        }
        Some(Refusal { code, cause: None }) => {
            tracing::info!(target: "portico::access", status = status.as_u16(), code);
        }
        None => {
            tracing::debug!(target: "portico::access", status = status.as_u16());
        }
    }
    service.metrics.record_response(method, route, status, started.elapsed());
    response
}

/// Bounds the metric label: unknown methods share one value.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "other",
    }
}
