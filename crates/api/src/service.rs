//! The service itself: whether it is alive and ready, its numbers, its keys, its document.

use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{OPERATORS, PUBLIC};
use crate::operation::{Context, Operation, get};
use crate::problem::{Problem, Result};
use crate::reply::{Document, Json, OpenMetrics};

pub(crate) fn operations() -> Vec<Operation> {
    let all = vec![
        get("/healthz", PUBLIC, alive).says("isAlive", "Whether the process is alive"),
        get("/readyz", PUBLIC, ready)
            .says("isReady", "Whether the service can work, proven by a write; 503 if not"),
        get("/metrics", OPERATORS, metrics).says("getMetrics", "Prometheus metrics"),
        get("/openapi.json", PUBLIC, document).says("getOpenApi", "This document"),
        get("/.well-known/jwks.json", PUBLIC, jwks)
            .says("getJwks", "The public key of the instance's own tokens"),
    ];
    all.into_iter().map(|operation| operation.tagged("Service")).collect()
}

#[derive(Debug, Serialize, ToSchema)]
struct Health {
    /// Always `ok`.
    #[schema(example = "ok")]
    status: &'static str,
}

async fn alive(_: Context, (): ()) -> Result<Json<Health>> {
    Ok(Json(Health { status: "ok" }))
}

async fn ready(cx: Context, (): ()) -> Result<Json<Health>> {
    cx.app().check_readiness().await?;
    Ok(Json(Health { status: "ok" }))
}

async fn metrics(cx: Context, (): ()) -> Result<OpenMetrics> {
    Ok(OpenMetrics(cx.service.metrics.text()))
}

async fn document(cx: Context, (): ()) -> Result<Document> {
    let json = crate::openapi(cx.app().profile).to_json();
    json.map(|json| Document(Bytes::from(json))).map_err(|error| Problem::internal(error.to_string()))
}

async fn jwks(cx: Context, (): ()) -> Result<Document> {
    Ok(Document(Bytes::from(cx.app().tokens.jwks().to_string())))
}
