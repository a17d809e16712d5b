//! An operation: path, access, input and output types and handler in one place. The router, the access table and the
//! OpenAPI document are generated from the list of operations.

use std::borrow::Cow;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{RawPathParams, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts as Head;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, Uri};
use axum::response::Response;
use axum::routing::{MethodFilter, MethodRouter, on};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use portico_app::{Actor, CallContext, IdempotencyKey, Portico};
use portico_domain::{ErrorCode, FaultCode, ValidationError};
use tokio::task::JoinSet;
use tracing::Instrument as _;

use crate::Service;
use crate::access::Access;
use crate::auth::{authenticate, single};
use crate::client_network::ClientNetwork;
use crate::input::{self, Description, Input, Parts, PathParams};
use crate::problem::{FieldError, Problem, Result};
use crate::reply::{Output, Schemas};

/// A handler's request context.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) service: Arc<Service>,
    pub(crate) call: CallContext,
    /// For links.
    pub(crate) uri: Uri,
    /// For conditional requests.
    pub(crate) headers: HeaderMap,
}

impl Context {
    pub(crate) fn app(&self) -> &Portico {
        &self.service.app
    }

    /// Runs long work on the background runtime, so that short requests do not wait behind it. Dropping the future
    /// cancels the task.
    pub(crate) async fn run_in_background<T, F>(self, work: impl FnOnce(Self) -> F) -> Result<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let background = self.service.background.clone();
        let mut task = JoinSet::new();
        task.spawn_on(work(self).in_current_span(), &background);
        match task.join_next().await {
            Some(Ok(answer)) => answer,
            Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            _ => Err(Problem::unavailable("shutting down")),
        }
    }
}

pub(crate) struct OperationRequest {
    service: Arc<Service>,
    route: &'static str,
    path: PathParams,
    head: Head,
    body: Body,
}

type Handler = Arc<dyn Fn(OperationRequest) -> BoxFuture<'static, Result<Response>> + Send + Sync>;

pub struct Operation {
    pub method: Method,
    pub path: &'static str,
    /// The operation id for generated clients.
    pub id: &'static str,
    pub tag: &'static str,
    pub summary: &'static str,
    /// What the summary does not say, for the document.
    pub about: &'static str,
    pub access: Access,
    pub(crate) success: StatusCode,
    pub(crate) has_body: bool,
    pub(crate) refusals: Vec<(StatusCode, &'static str)>,
    /// Whether it responds with 304 to a client that has the current version.
    pub(crate) is_conditional: bool,
    pub(crate) input: fn() -> Description,
    pub(crate) example: fn() -> Option<serde_json::Value>,
    #[cfg(test)]
    pub(crate) requested_parts: fn(&Parts<'_>) -> Vec<String>,
    pub(crate) output: fn(&str, &mut Schemas) -> utoipa::openapi::response::Response,
    handler: Handler,
}

impl std::fmt::Debug for Operation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.method, self.path)
    }
}

/// The handler's types determine input and output.
pub(crate) fn operation<I: Input, O: Output, F>(
    method: Method,
    path: &'static str,
    access: Access,
    handler: impl Fn(Context, I) -> F + Send + Sync + Clone + 'static,
) -> Operation
where
    F: Future<Output = Result<O>> + Send + 'static,
{
    let run = move |request: OperationRequest| {
        let handler = handler.clone();
        Box::pin(async move {
            let mut response = perform(request, access, handler).await?.respond();
            if O::STATUS != StatusCode::OK {
                *response.status_mut() = O::STATUS;
            }
            Ok(response)
        }) as BoxFuture<'static, Result<Response>>
    };
    Operation {
        method,
        path,
        id: "",
        tag: "",
        summary: "",
        about: "",
        access,
        success: O::STATUS,
        has_body: I::BODY,
        refusals: Vec::new(),
        is_conditional: false,
        input: input::describe::<I>,
        example: I::example,
        #[cfg(test)]
        requested_parts: input::requested_parts::<I>,
        output: O::describe,
        handler: Arc::new(run),
    }
}

macro_rules! methods {
    ($($name:ident = $method:ident),+) => {
        $(#[doc = concat!("An operation of the method ", stringify!($method), ".")]
        pub(crate) fn $name<I: Input, O: Output, F>(
            path: &'static str,
            access: Access,
            handler: impl Fn(Context, I) -> F + Send + Sync + Clone + 'static,
        ) -> Operation
        where
            F: Future<Output = Result<O>> + Send + 'static,
        {
            operation(Method::$method, path, access, handler)
        })+
    };
}
methods!(get = GET, post = POST, put = PUT, patch = PATCH, delete = DELETE);

/// Operations of one group of the OpenAPI document.
pub(crate) fn with_tag(tag: &'static str, operations: Vec<Operation>) -> Vec<Operation> {
    operations.into_iter().map(|operation| operation.tagged(tag)).collect()
}

impl Operation {
    pub(crate) fn id(mut self, id: &'static str) -> Self {
        self.id = id;
        self
    }
    pub(crate) fn summary(mut self, summary: &'static str) -> Self {
        self.summary = summary;
        self
    }
    pub(crate) fn about(mut self, about: &'static str) -> Self {
        self.about = about;
        self
    }
    pub(crate) fn tagged(mut self, tag: &'static str) -> Self {
        self.tag = tag;
        self
    }
    /// When it responds with 404.
    pub(crate) fn not_found(mut self, when: &'static str) -> Self {
        self.refusals.push((StatusCode::NOT_FOUND, when));
        self
    }
    /// GET routes also serve HEAD.
    pub(crate) fn route(&self) -> MethodRouter<Arc<Service>> {
        let (route, handler) = (self.path, self.handler.clone());
        let run = async move |State(service): State<Arc<Service>>,
                              path: std::result::Result<RawPathParams, RawPathParamsRejection>,
                              request: Request| {
            let path = path_params(path)?;
            let (head, body) = request.into_parts();
            handler(OperationRequest { service, route, path, head, body }).await
        };
        // `methods!` only defines methods that have a filter.
        on(MethodFilter::try_from(self.method.clone()).unwrap_or(MethodFilter::GET), run)
    }

    /// When it responds with 412.
    pub(crate) fn precondition_failed(mut self, when: &'static str) -> Self {
        self.refusals.push((StatusCode::PRECONDITION_FAILED, when));
        self
    }

    /// It responds with 304 to a client that has the current version.
    pub(crate) fn conditional(mut self) -> Self {
        self.is_conditional = true;
        self
    }

    /// When it responds with 409.
    pub(crate) fn conflict(mut self, when: &'static str) -> Self {
        self.refusals.push((StatusCode::CONFLICT, when));
        self
    }
}

/// Everything between the router and the handler: authentication, access, parsing.
async fn perform<I: Input, O, F>(
    request: OperationRequest,
    access: Access,
    handler: impl Fn(Context, I) -> F,
) -> Result<O>
where
    F: Future<Output = Result<O>>,
{
    let OperationRequest { service, route, path, head, body } = request;
    let table = service.app.access();
    let actor = authenticate(&service.app, &head.headers, access.need(table)).await?;
    access.check(table, &actor)?;
    let body = if I::BODY {
        check_content_type(&head.headers)?;
        read_body(body, &service).await?
    } else {
        Bytes::new()
    };
    let query = head.uri.query().map(query_parameters).unwrap_or_default();
    let input = input::read(&Parts { route, path, query, body: &body, headers: Some(&head.headers) })?;
    let idempotency_key = match head.method {
        Method::POST => idempotency_key(&service, &actor, route, &head, &body)?,
        _ => None,
    };
    let network = head.extensions.get::<ClientNetwork>().map(|network| network.0);
    let Head { uri, headers, .. } = head;
    let call = CallContext { actor, idempotency_key, network };
    handler(Context { service, call, uri, headers }, input).await
}

fn path_params(path: std::result::Result<RawPathParams, RawPathParamsRejection>) -> Result<PathParams> {
    let path = path.map_err(|_| {
        Problem::new(ErrorCode::InvalidPath, "the path is not valid UTF-8 once it is decoded")
    })?;
    Ok(path.iter().map(|(name, value)| (name.into(), value.into())).collect())
}

/// Invalid UTF-8 becomes the replacement character, which no parameter name contains.
fn query_parameters(query: &str) -> Vec<(Cow<'_, str>, Cow<'_, str>)> {
    url::form_urlencoded::parse(query.as_bytes()).collect()
}

fn check_content_type(headers: &HeaderMap) -> Result<()> {
    let Some(kind) = headers.get(CONTENT_TYPE) else { return Ok(()) };
    let kind = kind.to_str().unwrap_or("").split(';').next().unwrap_or("").trim().to_ascii_lowercase();
    if kind == "application/json" || (kind.starts_with("application/") && kind.ends_with("+json")) {
        return Ok(());
    }
    Err(Problem::new(
        ErrorCode::UnsupportedMediaType,
        "the body must be JSON: Content-Type: application/json",
    ))
}

pub(crate) async fn read_body(body: Body, service: &Service) -> Result<Bytes> {
    let limit = service.limits.body_bytes;
    let reading = tokio::time::timeout(service.limits.body_time, Limited::new(body, limit).collect()).await;
    match reading {
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => {
            Err(Problem::new(ErrorCode::BodyTooLarge, format!("the body must be at most {limit} bytes long")))
        }
        Ok(Err(_)) => Err(Problem::new(ErrorCode::IncompleteBody, "the body broke off")),
        Err(_) => Err(Problem::new(ErrorCode::BodyTimeout, "the body did not arrive in time")),
    }
}

/// Digests the idempotency key with its scope: caller and operation.
fn idempotency_key(
    service: &Service,
    actor: &Actor,
    route: &str,
    head: &Head,
    body: &[u8],
) -> Result<Option<IdempotencyKey>> {
    const NAME: &str = "Idempotency-Key";
    static HEADER: HeaderName = HeaderName::from_static("idempotency-key");
    let key = match single(&head.headers, &HEADER) {
        Ok(None) => return Ok(None),
        Ok(Some(key))
            if (1..=255).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) =>
        {
            key
        }
        _ => {
            let fault = ValidationError::new(FaultCode::OutOfRange, "must be 1 to 255 visible characters");
            return Err(Problem::invalid(vec![FieldError::in_parameter(NAME, fault)]));
        }
    };
    let target = head.uri.path_and_query().map_or("", |target| target.as_str());
    Ok(Some(service.app.idempotency_key(actor, route, key, &[target.as_bytes(), body])))
}

pub const DEFAULT_MAX_IN_FLIGHT: usize = 1024;
pub const DEFAULT_MAX_RESPONSE_BYTES: usize = 128 << 20;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub body_bytes: usize,
    /// Deadline for receiving the body.
    pub body_time: Duration,
    /// Deadline for the operation.
    pub operation_time: Duration,
    /// Concurrent requests; more are rejected.
    pub in_flight: usize,
    /// Memory for long responses that clients have not taken yet; further ones are rejected.
    pub response_bytes: usize,
    /// Requests per second and client address; 0: no limit.
    pub rate: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 1 << 20,
            body_time: Duration::from_secs(15),
            operation_time: Duration::from_secs(30),
            in_flight: DEFAULT_MAX_IN_FLIGHT,
            response_bytes: DEFAULT_MAX_RESPONSE_BYTES,
            rate: 0,
        }
    }
}
