//! HTTP: three surfaces (`root`, `stage`, `v1`) of wire types and thin handlers.
//!
//! To add an operation: write its `Input` (one function that both reads and describes it), its handler, and
//! one line in the area's `operations()`. Route, access rule and OpenAPI entry follow from that line.

pub mod access;
mod auth;
pub mod console;
mod docs;
mod edge;
mod fields;
mod json;
mod metrics;
mod openapi;
mod operation;
mod paging;
mod personal;
mod problem;
mod rate;
mod reply;
mod request;
mod root;
mod routes;
mod rpc;
mod service;
mod stage;
mod v1;

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method};
use axum::response::{IntoResponse, Redirect};
use axum::routing::{any, get, post};
use portico_app::{Portico, Profile};
use tower_http::cors::{AllowOrigin, CorsLayer};

pub use edge::Edge;
pub use metrics::Metrics;
pub use operation::{Limits, Operation};

use problem::Problem;
use routes::Routes;

/// Everything a request needs.
#[derive(Debug)]
pub struct Service {
    /// The use cases.
    pub app: Portico,
    /// What the service counts of itself.
    pub metrics: Metrics,
    /// How much a request may take.
    pub limits: Limits,
    /// Hosts that this service answers for; `None`: any.
    pub hosts: Option<Vec<String>>,
    /// Origins whose pages may call this service.
    pub origins: Vec<String>,
    /// How many proxies stand in front.
    pub trusted_hops: usize,
    /// Threads of their own for work that many small answers must not wait behind.
    pub aside: tokio::runtime::Handle,
    /// The pages for people.
    pub console: console::Console,
}

/// Every operation. The sandbox has some more than a live instance.
pub fn operations(profile: Profile) -> Vec<Operation> {
    let mut all = root::operations();
    all.extend(stage::operations());
    all.extend(v1::operations(profile));
    all.extend(service::operations());
    all
}

/// The OpenAPI document.
pub fn openapi(profile: Profile) -> utoipa::openapi::OpenApi {
    openapi::document(&operations(profile), profile)
}

/// The whole service, ready to be put behind connections. Fails only if two operations claim one path.
pub fn build(service: Service) -> Result<Edge, matchit::InsertError> {
    let service = Arc::new(service);
    let (chain, console) = (service.clone(), service.clone());
    let console = get(move |request: Request| {
        let page = console::page(&console, &request);
        async { page }
    });
    let pages = Router::new()
        .route("/console", console.clone())
        .route("/console/", console.clone())
        .route("/console/{*file}", console)
        .route("/rpc", post(move |request: Request| rpc::answer(chain.clone(), request)))
        .route("/", get(|| async { Redirect::temporary("/console/") }))
        .route("/docs", get(docs::page))
        .route("/docs/{*file}", get(docs::page))
        .route("/docs/", get(docs::page))
        .fallback(any(|| async { Problem::not_found("not_found").into_response() }));
    let routes = Routes::new(operations(service.app.profile))?;
    let cors = (!service.origins.is_empty()).then(|| cors(&service.origins));
    Ok(Edge::new(service, routes, pages, cors))
}

fn cors(origins: &[String]) -> CorsLayer {
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    CorsLayer::new()
        .allow_origin(AllowOrigin::list(origins))
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers(
            ["authorization", "content-type", "idempotency-key", "x-api-key"].map(HeaderName::from_static),
        )
        .expose_headers(["link", "x-request-id", "retry-after"].map(HeaderName::from_static))
}
