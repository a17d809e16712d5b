//! The edge: what happens to every request before it is routed and to every response before it is sent.
//!
//! A request id, the Host allow-list, load shedding, a deadline, panics caught, problems rendered, one log
//! line and one set of metrics. Queries and bodies are never logged; paths only as their template.

use std::net::{IpAddr, SocketAddr};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{CACHE_CONTROL, HOST, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderName, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tokio::sync::Semaphore;
use tower::ServiceExt;

use crate::Service;
use crate::problem::{self, Problem};
use crate::rate::Rates;

static REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The matched operation, for the log and the metrics.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matched(pub(crate) &'static str);

/// The whole service as it is put behind a connection. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Edge {
    service: Arc<Service>,
    router: Router,
    turns: Arc<Semaphore>,
    rates: Arc<Rates>,
}

impl Edge {
    pub(crate) fn new(service: Arc<Service>, router: Router) -> Self {
        let turns = Arc::new(Semaphore::new(service.limits.in_flight));
        let rates = Arc::new(Rates::new(service.limits.rate));
        Self { service, router, turns, rates }
    }

    /// The use cases behind it.
    pub fn app(&self) -> &portico_app::Portico {
        &self.service.app
    }

    /// Answers a request that came from an address.
    pub async fn call(&self, mut request: Request, peer: SocketAddr) -> Response {
        let started = Instant::now();
        let method = method_name(request.method());
        let id = request_id(&request);
        let _counted = self.service.metrics.in_flight();
        // What the operator asks of a busy service must still be answered.
        let vital = matches!(request.uri().path(), "/healthz" | "/readyz" | "/metrics");
        let response = match self.admit(&request, peer, vital) {
            Ok(()) => {
                request.extensions_mut().insert(peer);
                self.run(request, vital).await
            }
            Err(problem) => problem.into_response(),
        };
        let route = response.extensions().get::<Matched>().map_or("", |matched| matched.0);
        let response = finish(response, id, method, route);
        self.service.metrics.answered(method, route, response.status().as_u16(), started.elapsed());
        response
    }

    /// Turns away what must not be worked on at all.
    fn admit(&self, request: &Request, peer: SocketAddr, vital: bool) -> Result<(), Problem> {
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
        if !vital && !self.rates.admit(self.client(request, peer)) {
            return Err(Problem::new(
                StatusCode::TOO_MANY_REQUESTS,
                "rate_limited",
                "too many requests: slow down",
            ));
        }
        Ok(())
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

    async fn run(&self, request: Request, vital: bool) -> Response {
        let turn = (!vital).then(|| self.turns.try_acquire());
        if matches!(turn, Some(Err(_))) {
            self.service.metrics.shed();
            return Problem::unavailable("overloaded").into_response();
        }
        let work = AssertUnwindSafe(self.router.clone().oneshot(request)).catch_unwind();
        match tokio::time::timeout(self.service.limits.operation_time, work).await {
            Ok(Ok(Ok(response))) => response,
            Ok(Ok(Err(never))) => match never {},
            Ok(Err(panic)) => {
                self.service.metrics.panicked();
                Problem::internal(format!("panic: {}", panic_text(&*panic))).into_response()
            }
            Err(_) => Problem::unavailable("the operation took too long").into_response(),
        }
    }
}

/// Renders a problem, writes the log line, and adds what every response has.
fn finish(mut response: Response, id: String, method: &'static str, route: &'static str) -> Response {
    let problem = response.extensions_mut().remove::<Problem>().or_else(|| problem::of_router(&response));
    let status = response.status().as_u16();
    match &problem {
        Some(Problem { code, cause: Some(cause), .. }) => {
            tracing::error!(target: "portico::access", request_id = id, method, route, status, code, cause);
        }
        Some(Problem { code, .. }) => {
            tracing::info!(target: "portico::access", request_id = id, method, route, status, code);
        }
        None => tracing::debug!(target: "portico::access", request_id = id, method, route, status),
    }
    if let Some(problem) = problem {
        let mut rendered = problem.render(&id);
        for (name, value) in response.headers() {
            if !rendered.headers().contains_key(name) && name != axum::http::header::CONTENT_LENGTH {
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
    if let Ok(id) = HeaderValue::try_from(id) {
        headers.insert(REQUEST_ID.clone(), id);
    }
    response
}

fn method_name(method: &Method) -> &'static str {
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

/// The caller's own id for the request if it is a harmless one, else a new one.
fn request_id(request: &Request) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    static START: std::sync::LazyLock<u64> = std::sync::LazyLock::new(|| {
        use std::hash::{BuildHasher, RandomState};
        RandomState::new().hash_one(0_u8)
    });
    let harmless = |id: &&str| {
        (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    let given = request.headers().get(&REQUEST_ID).and_then(|id| id.to_str().ok()).filter(harmless);
    match given {
        Some(id) => id.into(),
        None => format!("{:016x}", START.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed))),
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("")
}
