//! The edge: what happens to every request before it is routed and to every response before it is sent.
//!
//! A request id, the Host allow-list, load shedding, a deadline, panics caught, problems rendered, one log
//! line and one set of metrics. Queries and bodies are never logged; paths only as their template.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, CONTENT_LENGTH, HOST, ORIGIN, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http_body::Body as _;
use portico_app::Profile;
use tower::{Layer, ServiceExt};
use tower_http::cors::CorsLayer;

use crate::Service;
use crate::fields::hex_digits;
use crate::operation::Asked;
use crate::problem::{self, Problem, Result};
use crate::rate::Rates;
use crate::routes::{Found, Route, Routes};

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The route that answered, where a response has come through a router or a layer, for the log and the metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matched(pub(crate) &'static str);

/// The whole service as it is put behind a connection. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Edge(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    service: Arc<Service>,
    routes: Routes,
    pages: Router,
    cors: Option<CorsLayer>,
    rates: Rates,
}

impl Edge {
    pub(crate) fn new(service: Arc<Service>, routes: Routes, pages: Router, cors: Option<CorsLayer>) -> Self {
        let rates = Rates::new(service.limits.rate);
        Self(Arc::new(Inner { service, routes, pages, cors, rates }))
    }

    /// The use cases behind it.
    pub fn app(&self) -> &portico_app::Portico {
        &self.0.service.app
    }

    /// Answers a request that came from an address.
    pub async fn call(&self, request: Request, peer: SocketAddr) -> Response {
        self.0.call(request, peer).await
    }
}

impl Inner {
    async fn call(&self, request: Request, peer: SocketAddr) -> Response {
        let started = Instant::now();
        let method = method_name(request.method());
        let id = RequestId::of(&request);
        let metrics = &self.service.metrics;
        let working = metrics.in_flight();
        // What the operator asks of a busy service must still be answered.
        let vital = matches!(request.uri().path(), "/healthz" | "/readyz" | "/metrics");
        let origin = self.cors.as_ref().and_then(|_| request.headers().get(ORIGIN).cloned());
        let mut route = None;
        let outcome = match self.admit(&request, peer, vital) {
            Ok(()) if !vital && working.count() > self.service.limits.in_flight => {
                metrics.shed();
                Err(Problem::unavailable("overloaded"))
            }
            Ok(()) => self.run(request, &mut route).await,
            Err(problem) => Err(problem),
        };
        let outcome = match (outcome, origin) {
            (Err(refused), Some(origin)) => Ok(self.for_browser(refused.into_response(), origin).await),
            (outcome, _) => outcome,
        };
        let matched = |response: &Response| response.extensions().get().map_or("", |Matched(page)| page);
        let template = match (route, &outcome) {
            (Some(Route { template, .. }), _) => template,
            (None, Ok(response)) => matched(response),
            (None, Err(_)) => "",
        };
        let response = finish(outcome, id, method, template);
        match route {
            Some(route) => route.answered(metrics, method, response.status(), started.elapsed()),
            None => metrics.answered(method, template, response.status(), started.elapsed()),
        }
        response
    }

    /// Turns away what must not be worked on at all.
    fn admit(&self, request: &Request, peer: SocketAddr, vital: bool) -> Result<()> {
        if let Some(allowed) = &self.service.hosts {
            let host = request.headers().get(HOST).and_then(|host| host.to_str().ok()).unwrap_or("");
            if !allowed.iter().any(|name| name == "*" || name.eq_ignore_ascii_case(host_name(host))) {
                return Err(Problem::new(
                    StatusCode::MISDIRECTED_REQUEST,
                    "host_not_allowed",
                    "this service does not answer for that host",
                ));
            }
        }
        if self.service.app.profile == Profile::Sandbox
            && !request.method().is_safe()
            && self.is_foreign(request)
        {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "foreign_origin",
                "pages of another origin may not change anything here",
            ));
        }
        if !vital && !self.rates.admit(self.client(request, peer)) {
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                "too many requests: slow down",
            ));
        }
        Ok(())
    }

    /// Whether a page that is neither the service's own nor an allowed one asks, as the browser says. Most of the
    /// sandbox wants no credentials, so nothing else would keep such a page from changing it.
    fn is_foreign(&self, request: &Request) -> bool {
        let header = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
        let Some(origin) = request.headers().get(ORIGIN) else { return false };
        let own = header(ORIGIN).and_then(|origin| origin.split_once("://")).zip(header(HOST));
        !own.is_some_and(|((_, from), host)| from.eq_ignore_ascii_case(host))
            && !self.service.origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes())
    }

    /// A refusal from outside the rules of browsers, with what a page of this origin needs to read it.
    async fn for_browser(&self, refused: Response, origin: HeaderValue) -> Response {
        let Some(cors) = &self.cors else { return refused };
        let mut request = Request::new(Body::empty());
        request.headers_mut().insert(ORIGIN, origin);
        let mut refused = Some(refused);
        let inside = tower::service_fn(move |_: Request| {
            let refused = refused.take().unwrap_or_default();
            async { Ok::<_, Infallible>(refused) }
        });
        let Ok(response) = cors.layer(inside).oneshot(request).await;
        response
    }

    /// The client's address. What a proxy says counts only from as many hops as are trusted.
    fn client(&self, request: &Request, peer: SocketAddr) -> IpAddr {
        let hops = self.service.trusted_hops;
        if hops == 0 {
            return peer.ip();
        }
        let forwarded =
            request.headers().get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
        let addresses: Vec<&str> = forwarded.flat_map(|value| value.split(',')).map(str::trim).collect();
        let trusted = addresses.len().checked_sub(hops).and_then(|index| addresses[index].parse().ok());
        trusted.unwrap_or(peer.ip())
    }

    /// Works on a request, within its time and whatever it does; tells which operation it was for.
    async fn run<'e>(&'e self, request: Request, route: &mut Option<&'e Route>) -> Result<Response> {
        let work = async {
            match &self.cors {
                // Everything but the headers of the browser's own rules happens inside.
                Some(cors) => {
                    let inside = tower::service_fn(|request| self.answer_to_browser(request));
                    let Ok(response) = cors.layer(inside).oneshot(request).await;
                    Ok(response)
                }
                None => self.answer(request, route).await,
            }
        };
        let mut work = pin!(AssertUnwindSafe(work).catch_unwind());
        // Most are done at once, and need no timer.
        let first = poll_fn(|cx| Poll::Ready(work.as_mut().poll(cx))).await;
        let outcome = match first {
            Poll::Ready(outcome) => Ok(outcome),
            Poll::Pending => tokio::time::timeout(self.service.limits.operation_time, work).await,
        };
        match outcome {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panic)) => {
                self.service.metrics.panicked();
                Err(Problem::internal(format!("panic: {}", panic_text(&*panic))))
            }
            Err(_) => Err(Problem::unavailable("the operation took too long")),
        }
    }

    async fn answer_to_browser(&self, request: Request) -> std::result::Result<Response, Infallible> {
        let mut route = None;
        let outcome = self.answer(request, &mut route).await;
        let mut response = outcome.unwrap_or_else(Problem::into_response);
        if let Some(route) = route {
            response.extensions_mut().insert(Matched(route.template));
        }
        Ok(response)
    }

    async fn answer<'e>(&'e self, request: Request, route: &mut Option<&'e Route>) -> Result<Response> {
        match self.routes.find(request.method(), request.uri().path()) {
            Found::Operation(found, open) => {
                *route = Some(found);
                let (head, body) = request.into_parts();
                let only_head = head.method == Method::HEAD;
                let service = self.service.clone();
                let asked = Asked { service, route: found.template, open, head, body };
                let response = (found.handler)(asked).await?;
                Ok(if only_head { without_body(response) } else { response })
            }
            Found::OtherMethods(refusal) => Ok(refusal),
            Found::Nothing => {
                let Ok(response) = self.pages.clone().oneshot(request).await;
                Ok(response)
            }
        }
    }
}

/// The head of a response, which says how long the body would be.
fn without_body(mut response: Response) -> Response {
    if let Some(length) = response.body().size_hint().exact() {
        response.headers_mut().entry(CONTENT_LENGTH).or_insert(length.into());
    }
    *response.body_mut() = Body::empty();
    response
}

/// Renders a problem, writes the log line, and adds what every response has.
fn finish(outcome: Result<Response>, id: RequestId, method: &'static str, route: &'static str) -> Response {
    let request_id = id.as_str();
    let (mut response, problem) = match outcome {
        Ok(mut response) => {
            let problem = response.extensions_mut().remove().or_else(|| problem::of_router(&response));
            (response, problem)
        }
        Err(problem) => (Response::default(), Some(problem)),
    };
    let status = problem.as_ref().map_or(response.status(), |problem| problem.status).as_u16();
    match &problem {
        Some(Problem { code, cause: Some(cause), .. }) => {
            tracing::error!(target: "portico::access", request_id, method, route, status, code, cause);
        }
        Some(Problem { code, .. }) => {
            tracing::info!(target: "portico::access", request_id, method, route, status, code);
        }
        None => tracing::debug!(target: "portico::access", request_id, method, route, status),
    }
    if let Some(problem) = problem {
        let mut rendered = problem.render(request_id);
        for (name, value) in response.headers() {
            if !rendered.headers().contains_key(name) && name != CONTENT_LENGTH {
                rendered.headers_mut().insert(name, value.clone());
            }
        }
        if method == "HEAD" {
            *rendered.body_mut() = Body::empty();
        }
        response = rendered;
    }
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(REQUEST_ID.clone(), id.0);
    response
}

pub(crate) fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        Method::PATCH => "PATCH",
        _ => "other",
    }
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or(""),
        None => host.split(':').next().unwrap_or(""),
    }
}

/// A request's name in answers and logs.
struct RequestId(HeaderValue);

impl RequestId {
    /// The caller's own id for the request if it is a harmless one, else a new one.
    fn of(request: &Request) -> Self {
        let harmless = |id: &&HeaderValue| {
            (1..=64).contains(&id.len())
                && id.as_bytes().iter().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(b))
        };
        match request.headers().get(&REQUEST_ID).filter(harmless) {
            Some(id) => Self(id.clone()),
            None => Self::new(),
        }
    }

    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        static START: std::sync::LazyLock<u64> = std::sync::LazyLock::new(|| {
            use std::hash::{BuildHasher, RandomState};
            RandomState::new().hash_one(0_u8)
        });
        let number = START.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let digits = number.to_be_bytes().map(hex_digits);
        Self(HeaderValue::from_bytes(digits.as_flattened()).unwrap_or(HeaderValue::from_static("")))
    }

    fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or("")
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("")
}
