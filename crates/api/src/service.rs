//! Health, readiness, metrics, keys and the OpenAPI document.

use bytes::Bytes;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{OPERATORS, PUBLIC};
use crate::openapi::{self, ServedDocument};
use crate::operation::{Context, Operation, get};
use crate::problem::Result;
use crate::reply::{Cached, Document, Json, OpenMetrics, is_known};

pub(crate) fn operations() -> Vec<Operation> {
    let all = vec![
        get("/healthz", PUBLIC, alive).id("isAlive").summary("Whether the process is alive"),
        get("/readyz", PUBLIC, ready)
            .id("isReady")
            .summary("Whether the service can work, proven by a write; 503 if not"),
        get("/metrics", OPERATORS, metrics).id("getMetrics").summary("Prometheus metrics"),
        get("/openapi.json", PUBLIC, document).id("getOpenApi").summary("This document").conditional(),
        get("/.well-known/jwks.json", PUBLIC, jwks)
            .id("getJwks")
            .summary("The public key of the instance's own tokens"),
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
    cx.app().maintenance.check_readiness().await?;
    Ok(Json(Health { status: "ok" }))
}

async fn metrics(cx: Context, (): ()) -> Result<OpenMetrics> {
    Ok(OpenMetrics(cx.service.metrics.text()))
}

async fn document(cx: Context, (): ()) -> Result<Cached> {
    let ServedDocument { json, etag } = openapi::served(cx.app().profile())?;
    let is_known = is_known(&cx.headers, etag.to_str().unwrap_or(""));
    Ok(Cached { body: (!is_known).then(|| json.clone()), etag: etag.clone() })
}

async fn jwks(cx: Context, (): ()) -> Result<Document> {
    Ok(Document(Bytes::from(cx.app().keys.jwks().to_string())))
}
