//! Health, readiness, metrics, keys and the OpenAPI document.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::get as route;
use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::Service;
use crate::access::{OPERATORS, PUBLIC};
use crate::openapi::{self, ServedDocument};
use crate::operation::{Context, Operation, get, with_tag};
use crate::problem::Result;
use crate::reply::{Cached, Document, Json, OpenMetrics, Output as _, is_known};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Service",
        vec![
            get("/healthz", PUBLIC, alive).id("isAlive")
            .about("For supervisors: looks at nothing but the process.").summary("Whether the process is alive"),
            get("/readyz", PUBLIC, ready)
                .id("isReady")
                .about("For load balancers: checks the database by a write, and the chain if there is one.")
                .summary("Whether the service can work, proven by a write; 503 if not"),
            get("/metrics", OPERATORS, metrics).id("getMetrics")
            .about("In the OpenMetrics text format.").summary("Prometheus metrics"),
            get("/openapi.json", PUBLIC, document).id("getOpenApi")
            .about("As of this version and profile; send `If-None-Match` to get it only when it has changed.").summary("This document").conditional(),
            get("/.well-known/jwks.json", PUBLIC, jwks)
                .id("getJwks")
                .about("A JSON Web Key Set (RFC 7517).")
                .summary("The public key of the instance's own tokens"),
        ],
    )
}

#[derive(Debug, Serialize, ToSchema)]
struct Health {
    /// Always `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

/// The same operations for the listener of operators.
pub(crate) fn admin_routes() -> Router<Arc<Service>> {
    Router::new()
        .route("/healthz", route(|| async { health().respond() }))
        .route(
            "/readyz",
            route(async |State(service): State<Arc<Service>>| -> Result<Response> {
                service.app.maintenance.check_readiness().await?;
                Ok(health().respond())
            }),
        )
        .route("/metrics", route(async |State(service): State<Arc<Service>>| numbers(&service).respond()))
}

fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

fn numbers(service: &Service) -> OpenMetrics {
    OpenMetrics(service.metrics.text(service.app.audit.is_altered()))
}

async fn alive(_: Context, (): ()) -> Result<Json<Health>> {
    Ok(health())
}

async fn ready(cx: Context, (): ()) -> Result<Json<Health>> {
    cx.app().maintenance.check_readiness().await?;
    Ok(health())
}

async fn metrics(cx: Context, (): ()) -> Result<OpenMetrics> {
    Ok(numbers(&cx.service))
}

async fn document(cx: Context, (): ()) -> Result<Cached> {
    let ServedDocument { json, etag } = openapi::served(cx.app())?;
    let is_known = is_known(&cx.headers, etag.to_str().unwrap_or(""));
    Ok(Cached { body: (!is_known).then(|| json.clone()), etag: etag.clone() })
}

async fn jwks(cx: Context, (): ()) -> Result<Document> {
    Ok(Document(Bytes::from(cx.app().keys.jwks().to_string())))
}
