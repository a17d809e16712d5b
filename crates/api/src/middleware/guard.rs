//! Rejects requests for other hosts, and writes by pages of other origins.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, ORIGIN};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use portico_app::Profile;
use portico_domain::ErrorCode;

use crate::Service;
use crate::problem::Problem;

pub(super) async fn check_host(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).map_or("", without_port);
    let is_allowed = |name: &String| name == "*" || name.eq_ignore_ascii_case(host);
    match &service.hosts {
        Some(allowed) if !allowed.iter().any(is_allowed) => {
            Problem::new(ErrorCode::HostNotAllowed, "this service does not answer for that host")
                .into_response()
        }
        _ => next.run(request).await,
    }
}

fn without_port(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    }
}

/// Rejects writes by pages of other origins in the sandbox. Most of its operations need no credentials, so nothing
/// else stops such a page.
pub(super) async fn check_origin(
    State(service): State<Arc<Service>>,
    request: Request,
    next: Next,
) -> Response {
    if service.app.profile() == Profile::Sandbox
        && !request.method().is_safe()
        && is_foreign(&service, &request)
    {
        return Problem::new(
            ErrorCode::ForeignOrigin,
            "pages of another origin may not change anything here",
        )
        .into_response();
    }
    next.run(request).await
}

/// Whether `Origin` is neither the service's own nor an allowed one.
fn is_foreign(service: &Service, request: &Request) -> bool {
    let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let Some(origin) = request.headers().get(ORIGIN) else { return false };
    let own = header(ORIGIN).and_then(|origin| origin.split_once("://")).zip(header(HOST));
    !own.is_some_and(|((_, from), host)| from.eq_ignore_ascii_case(host))
        && !service.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes())
}
