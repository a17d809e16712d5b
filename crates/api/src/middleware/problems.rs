//! Renders problems with the request id. Handlers and inner layers pass a [`Problem`] inside an empty response.

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use axum::http::{Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::request_id::RequestId;
use crate::problem::Problem;

/// For the access log.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) code: &'static str,
    pub(super) cause: Option<String>,
}

pub(super) async fn render(request: Request, next: Next) -> Response {
    let is_head = request.method() == Method::HEAD;
    let id = RequestId::of(&request);
    let mut response = next.run(request).await;
    let Some(problem) = response.extensions_mut().remove().or_else(|| from_time_limit(&response)) else {
        return response;
    };
    let refusal = Refusal { code: problem.code.name(), cause: problem.cause.clone() };
    let mut rendered = problem.render(id.as_str());
    for (name, value) in response.headers() {
        if !rendered.headers().contains_key(name) && name != CONTENT_LENGTH {
            rendered.headers_mut().insert(name, value.clone());
        }
    }
    if is_head {
        *rendered.body_mut() = Body::empty();
    }
    rendered.extensions_mut().insert(refusal);
    rendered
}

/// The timeout layer's bare response as a problem.
fn from_time_limit(response: &Response) -> Option<Problem> {
    (response.status() == StatusCode::SERVICE_UNAVAILABLE)
        .then(|| Problem::unavailable("the operation took too long"))
}
