//! The API reference at `/docs/`: Swagger UI, embedded in the binary.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use utoipa_swagger_ui::Config;

use crate::problem::Problem;
use crate::reply::shared;
use portico_domain::ErrorCode;

/// Nothing from other origins; Swagger UI sets styles and data images inline.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; \
     img-src 'self' data:; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'";

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    Arc::new(Config::from("/openapi.json").try_it_out_enabled(true).display_request_duration(true))
});

pub(crate) async fn page(request: Request) -> Response {
    let path = request.uri().path();
    let Some(file) = path.strip_prefix("/docs/") else {
        return (StatusCode::PERMANENT_REDIRECT, [("location", "/docs/")]).into_response();
    };
    match utoipa_swagger_ui::serve(file, CONFIG.clone()) {
        Ok(Some(found)) => {
            let mut response = match found.bytes {
                Cow::Borrowed(bytes) => shared(bytes),
                Cow::Owned(bytes) => Response::new(Body::from(bytes)),
            };
            let headers = response.headers_mut();
            if let Ok(kind) = HeaderValue::try_from(found.content_type) {
                headers.insert(CONTENT_TYPE, kind);
            }
            headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("public, max-age=3600"));
            response
        }
        Ok(None) => Problem::from(ErrorCode::NotFound).into_response(),
        Err(error) => Problem::internal(error.to_string()).into_response(),
    }
}
