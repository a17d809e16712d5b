//! `/rpc`: read-only Ethereum JSON-RPC for the embedded chain, in the sandbox only. It has JSON-RPC's own errors, so it is
//! not one of the operations.

use std::sync::{Arc, LazyLock};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use portico_app::{Actor, CallContext};
use serde_json::json;
use tokio::sync::Semaphore;
use tracing::Span;
use utoipa::openapi::path::{Operation, OperationBuilder};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::schema::{AdditionalProperties, Schema, Type};
use utoipa::openapi::security::SecurityRequirement;
use utoipa::openapi::{
    ArrayBuilder, ContentBuilder, ObjectBuilder, OneOfBuilder, RefOr, Required, ResponseBuilder,
};

use crate::Service;
use crate::openapi::components::{header, response};
use crate::operation::read_body;
use crate::problem::{Problem, Result};

/// A call may run for long and must not starve the service.
const MAX_CONCURRENT_REQUESTS: usize = 2;
static PERMITS: LazyLock<Arc<Semaphore>> =
    LazyLock::new(|| Arc::new(Semaphore::new(MAX_CONCURRENT_REQUESTS)));

/// Handles one request or a batch.
pub(crate) async fn answer(State(service): State<Arc<Service>>, request: Request) -> Response {
    perform(&service, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn perform(service: &Service, request: Request) -> Result<Response> {
    let rpc = service.app.chain.rpc(&CallContext::new(Actor::Anonymous))?;
    let body = read_body(request.into_body(), service).await?;
    let permit = PERMITS.clone().acquire_owned().await.map_err(|_| Problem::unavailable("shutting down"))?;
    // The permit is released when the work ends, even if the client disconnects.
    let span = Span::current();
    let work = move || {
        let _permit = permit;
        span.in_scope(|| rpc(&body))
    };
    let answer = tokio::task::spawn_blocking(work).await;
    let answer = answer.map_err(|panic| Problem::internal(format!("the chain panicked: {panic}")))?;
    if answer.is_empty() {
        // Notifications only: there is nothing to return.
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let mut response = Response::new(Body::from(answer));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

/// A call, or the answer to one; or a batch of them.
fn one_or_batch(one: ObjectBuilder) -> RefOr<Schema> {
    let one = one
        .schema_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::FreeForm(true)))
        .build();
    OneOfBuilder::new().item(one.clone()).item(ArrayBuilder::new().items(one).max_items(Some(100))).into()
}

pub(crate) fn describe() -> Operation {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let call = ObjectBuilder::new().property("method", text()).required("method");
    let call = ContentBuilder::new()
        .schema(Some(one_or_batch(call)))
        .example(Some(json!({"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []})));
    let answer = ObjectBuilder::new().property("jsonrpc", text()).required("jsonrpc");
    let answer = ContentBuilder::new()
        .schema(Some(one_or_batch(answer)))
        .example(Some(json!({"jsonrpc": "2.0", "id": 1, "result": "0x2a"})));
    let mut success =
        ResponseBuilder::new().description("Success").content("application/json", answer.build()).build();
    success.headers.extend([header("X-Request-Id")]);
    let body =
        RequestBodyBuilder::new().content("application/json", call.build()).required(Some(Required::True));
    let refusals = [
        StatusCode::NO_CONTENT,
        StatusCode::BAD_REQUEST,
        StatusCode::FORBIDDEN,
        StatusCode::NOT_FOUND,
        StatusCode::METHOD_NOT_ALLOWED,
        StatusCode::REQUEST_TIMEOUT,
        StatusCode::PAYLOAD_TOO_LARGE,
        StatusCode::TOO_MANY_REQUESTS,
        StatusCode::INTERNAL_SERVER_ERROR,
        StatusCode::SERVICE_UNAVAILABLE,
    ];
    let described = OperationBuilder::new()
        .operation_id(Some("callChain"))
        .summary(Some("Ethereum JSON-RPC of the embedded chain, read-only"))
        .description(Some(
            "For any Ethereum tool: calls, logs, blocks, transactions. One request or a batch of at most 100; errors are \
             JSON-RPC's own, with status 200. 204 for notifications alone, 404 if the chain is a remote one. Anyone may \
             call it.",
        ))
        .tag("Chain")
        .securities(Some([SecurityRequirement::default()]))
        .request_body(Some(body.build()))
        .response("200", success);
    refusals
        .into_iter()
        .fold(described, |all, status| all.response(status.as_str(), response(status, None)))
        .build()
}
