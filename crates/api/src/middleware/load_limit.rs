//! Load shedding: beyond a number of requests in flight, more are rejected instead of queued.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::is_probe;
use crate::Service;
use crate::problem::Problem;

pub(super) async fn shed(State(service): State<Arc<Service>>, request: Request, next: Next) -> Response {
    let in_flight = service.metrics.in_flight();
    if in_flight.count() > service.limits.in_flight && !is_probe(&request) {
        service.metrics.shed();
        return Problem::unavailable("overloaded").into_response();
    }
    next.run(request).await
}
