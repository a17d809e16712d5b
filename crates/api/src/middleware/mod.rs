//! The tower layers around every handler.

mod access_log;
mod guard;
mod load_limit;
mod panics;
mod problems;
mod rate_limit;
mod request_id;
mod response_memory;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use tower::ServiceBuilder;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::{AllowOrigin, CorsLayer};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;

use crate::Service;
pub use guard::AllowedHosts;
use panics::PanicHandler;
use rate_limit::RateLimits;

/// Browsers use no plain HTTP with this host for a year.
const HSTS_VALUE: &str = "max-age=31536000";

/// The first layer is the outermost.
pub(crate) fn wrap(router: Router, service: &Arc<Service>) -> Router {
    let cors = (!service.origins.is_empty()).then(|| cors(&service.origins));
    let https_only = service.is_https.then(|| {
        SetResponseHeaderLayer::overriding(STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(HSTS_VALUE))
    });
    let rate_limits = Arc::new(RateLimits::new(service.limits.rate, service.trusted_hops));
    let time_limit =
        TimeoutLayer::with_status_code(StatusCode::SERVICE_UNAVAILABLE, service.limits.operation_time);
    router.layer(
        ServiceBuilder::new()
            .layer(from_fn(request_id::assign))
            .layer(SetResponseHeaderLayer::overriding(
                X_CONTENT_TYPE_OPTIONS,
                HeaderValue::from_static("nosniff"),
            ))
            .layer(SetResponseHeaderLayer::if_not_present(
                CACHE_CONTROL,
                HeaderValue::from_static("no-store"),
            ))
            .option_layer(https_only)
            .layer(from_fn_with_state(service.clone(), access_log::record))
            .layer(from_fn(problems::render))
            .option_layer(cors)
            .layer(from_fn_with_state(service.clone(), guard::check_host))
            .layer(from_fn_with_state(service.clone(), guard::check_origin))
            .layer(from_fn_with_state(rate_limits, rate_limit::check))
            .layer(from_fn_with_state(service.clone(), load_limit::shed))
            .layer(from_fn_with_state(service.clone(), response_memory::hold))
            .layer(CatchPanicLayer::custom(PanicHandler(service.clone())))
            .layer(time_limit),
    )
}

/// The layers of the listener for health and metrics: nothing that load could wear out.
pub(crate) fn wrap_admin(router: Router, service: &Arc<Service>) -> Router {
    router.layer(
        ServiceBuilder::new()
            .layer(from_fn(request_id::assign))
            .layer(SetResponseHeaderLayer::overriding(CACHE_CONTROL, HeaderValue::from_static("no-store")))
            .layer(from_fn_with_state(service.clone(), access_log::record))
            .layer(from_fn(problems::render))
            .layer(CatchPanicLayer::custom(PanicHandler(service.clone()))),
    )
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE])
        .allow_headers(
            ["authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-api-key"]
                .map(HeaderName::from_static),
        )
        .expose_headers(
            ["etag", "link", "x-request-id", "retry-after", "ratelimit", "ratelimit-policy"]
                .map(HeaderName::from_static),
        )
}

/// Probes and metrics bypass load shedding.
fn is_probe(request: &Request) -> bool {
    matches!(request.uri().path(), "/healthz" | "/readyz" | "/metrics")
}
