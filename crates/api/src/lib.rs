//! The HTTP API: three surfaces (`root`, `stage`, `v1`) of wire types and thin handlers.
//!
//! To add an operation: write its `Input` (one function that both parses and describes it), its handler, and one line
//! in the area's `operations()`. Route, access rule and OpenAPI entry follow from that line.

pub mod access;
mod auth;
pub mod basemap;
mod client_network;
pub mod console;
mod cursor;
mod docs;
#[cfg(test)]
mod documented_codes;
mod input;
mod metrics;
mod middleware;
mod openapi;
mod operation;
mod paging;
mod personal;
mod problem;
mod reply;
mod root;
mod rpc;
mod service;
mod stage;
mod status;
mod v1;

use std::sync::Arc;

use axum::Router;
use axum::http::Method;
use axum::response::Redirect;
use axum::routing::{get, post};
use portico_app::{Portico, Profile};
use portico_domain::ErrorCode;

pub use client_network::network;
pub use metrics::Metrics;
pub use middleware::AllowedHosts;
pub use operation::{DEFAULT_MAX_IN_FLIGHT, DEFAULT_MAX_RESPONSE_BYTES, Limits, Operation};

use problem::Problem;

/// Shared state of all handlers.
#[derive(Debug)]
pub struct Service {
    pub app: Portico,
    pub metrics: Metrics,
    pub limits: Limits,
    /// Whether this process speaks TLS itself.
    pub is_https: bool,
    pub hosts: AllowedHosts,
    /// Origins whose pages may call this service.
    pub origins: Vec<String>,
    /// Number of proxies in front.
    pub trusted_hops: usize,
    /// A separate runtime for long work, so that short requests do not wait behind it.
    pub background: tokio::runtime::Handle,
    pub console: console::Console,
    pub basemap: basemap::Basemap,
}

/// The sandbox has a few more operations than a live instance.
pub fn operations(profile: Profile) -> Vec<Operation> {
    let mut all = root::operations();
    all.extend(stage::operations());
    all.extend(v1::operations(profile));
    all.extend(service::operations());
    all
}

pub fn openapi(profile: Profile) -> utoipa::openapi::OpenApi {
    openapi::document(profile, profile.into())
}

/// Panics if two operations have the same path and method.
pub fn router(service: &Arc<Service>) -> Router {
    let router = operations(service.app.profile())
        .iter()
        .fold(Router::new(), route)
        .route("/rpc", post(rpc::answer))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback_service(pages().with_state(service.clone()));
    middleware::wrap(router.with_state(service.clone()), service)
}

/// Paths whose id is empty: the specification answers such a DELETE with 400. Other methods find nothing there.
const WITHOUT_ID: [(&str, &str); 3] = [
    ("/stage/listing/{ListingKey}", "/stage/listing/"),
    ("/stage/savedListings/{userId}/{listingId}", "/stage/savedListings/{userId}/"),
    ("/stage/savedListings/{userId}/{listingId}", "/stage/savedListings//{listingId}"),
];

fn route(router: Router<Arc<Service>>, operation: &Operation) -> Router<Arc<Service>> {
    let empty =
        WITHOUT_ID.iter().filter(|(path, _)| operation.method == Method::DELETE && *path == operation.path);
    empty.fold(router.route(operation.path, operation.route()), |router, (_, without_id)| {
        router.route(without_id, operation.route().fallback(|| async { Problem::from(ErrorCode::NotFound) }))
    })
}

/// Health and metrics alone, for a listener that only operators reach: it checks neither credentials nor `Host`.
pub fn admin_router(service: &Arc<Service>) -> Router {
    let router = service::admin_routes()
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(|| async { Problem::from(ErrorCode::NotFound) });
    middleware::wrap_admin(router.with_state(service.clone()), service)
}

/// Pages for people. They are the router's fallback, so they have no route in logs and metrics.
fn pages() -> Router<Arc<Service>> {
    let console = get(console::page);
    Router::new()
        .route("/", get(|| async { Redirect::temporary("/console/") }))
        .route("/console", console.clone())
        .route("/console/", console.clone())
        .route("/console/config.json", get(console::config))
        .route(basemap::BASEMAP_PATH, get(basemap::serve))
        .route("/console/{*file}", console)
        .route("/docs", get(docs::page))
        .route("/docs/", get(docs::page))
        .route("/docs/{*file}", get(docs::page))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(|| async { Problem::from(ErrorCode::NotFound) })
}

async fn method_not_allowed() -> Problem {
    Problem::from(ErrorCode::MethodNotAllowed)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_operations_claim_one_path() {
        for profile in [Profile::Sandbox, Profile::Live] {
            let operations = operations(profile);
            let routes: HashSet<_> =
                operations.iter().map(|operation| (&operation.method, operation.path)).collect();
            assert_eq!(routes.len(), operations.len());
        }
    }
}
