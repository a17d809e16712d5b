//! One log line and one set of metrics per request. Queries and bodies are never logged; paths only as their
//! template, because a path may name a person.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::problems::Refusal;
use super::request_id::RequestId;
use crate::Service;

pub(super) async fn record(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = method_name(request.method());
    let path = request.extensions().get::<MatchedPath>().cloned();
    let id = RequestId::of(&request);
    let mut response = next.run(request).await;
    let (status, route) = (response.status(), path.as_ref().map_or("", MatchedPath::as_str));
    let request_id = id.as_str();
    match response.extensions_mut().remove() {
        // Busy, or waiting for something else: no fault of the program.
        Some(Refusal { code, cause: Some(cause) }) if status == StatusCode::SERVICE_UNAVAILABLE => {
            tracing::warn!(target: "portico::access", request_id, method, route, status = status.as_u16(), code, cause);
        }
        Some(Refusal { code, cause: Some(cause) }) => {
            tracing::error!(target: "portico::access", request_id, method, route, status = status.as_u16(), code, cause);
        }
        Some(Refusal { code, cause: None }) => {
            tracing::info!(target: "portico::access", request_id, method, route, status = status.as_u16(), code);
        }
        None => {
            tracing::debug!(target: "portico::access", request_id, method, route, status = status.as_u16());
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
