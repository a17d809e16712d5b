//! The service's Prometheus metrics.

use std::sync::Arc;
use std::time::Duration;

use axum::http::StatusCode;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Labelled by route template, never by path, which may name a person.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: Arc<str>,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    method: &'static str,
    route: Arc<str>,
}

#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<Request, Counter>,
    latency: Family<Route, Histogram, fn() -> Histogram>,
    in_flight: Gauge,
    shed: Counter,
    panics: Counter,
    audit_altered: Gauge,
    response_bytes: Gauge,
}

/// From a quarter of a millisecond to eight seconds.
fn histogram() -> Histogram {
    Histogram::new([
        0.000_25, 0.000_5, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.125, 0.25, 0.5, 1.0, 2.0, 8.0,
    ])
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("portico");
        let requests = Family::default();
        let latency = Family::new_with_constructor(histogram as fn() -> Histogram);
        let (in_flight, shed, panics) = (Gauge::default(), Counter::default(), Counter::default());
        let (audit_altered, response_bytes) = (Gauge::default(), Gauge::default());
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_duration_seconds", "Time until the answer's head", latency.clone());
        registry.register("http_requests_in_flight", "Requests being worked on", in_flight.clone());
        registry.register("http_requests_shed", "Requests turned away because of overload", shed.clone());
        registry.register("http_panics", "Requests that ended in a panic", panics.clone());
        registry.register(
            "audit_log_altered",
            "1 if the audit log was cut or rewritten and is no longer anchored",
            audit_altered.clone(),
        );
        registry.register(
            "http_response_bytes_held",
            "Memory reserved for long responses until their clients have taken them",
            response_bytes.clone(),
        );
        Self { registry, requests, latency, in_flight, shed, panics, audit_altered, response_bytes }
    }
}

impl Metrics {
    pub(crate) fn record_response(
        &self,
        method: &'static str,
        route: &str,
        status: StatusCode,
        elapsed: Duration,
    ) {
        let route: Arc<str> = route.into();
        let request = Request { method, route: route.clone(), status: status.as_u16() };
        self.requests.get_or_create(&request).inc();
        self.latency.get_or_create(&Route { method, route }).observe(elapsed.as_secs_f64());
    }

    pub(crate) fn shed(&self) {
        self.shed.inc();
    }

    pub(crate) fn panicked(&self) {
        self.panics.inc();
    }

    /// Counts a request as in flight until the guard is dropped.
    pub(crate) fn in_flight(&self) -> InFlight<'_> {
        let others = self.in_flight.inc();
        InFlight { gauge: &self.in_flight, count: usize::try_from(others).unwrap_or(0) + 1 }
    }

    /// Reserves memory until the guard is dropped; `None`: more than `max` would be.
    pub(crate) fn hold_response(&self, bytes: usize, max: usize) -> Option<HeldBytes> {
        let bytes = i64::try_from(bytes).ok()?;
        let before = self.response_bytes.inc_by(bytes);
        let held = HeldBytes { gauge: self.response_bytes.clone(), bytes };
        usize::try_from(before + bytes).is_ok_and(|all| all <= max).then_some(held)
    }

    pub(crate) fn text(&self, audit_altered: bool) -> String {
        self.audit_altered.set(audit_altered.into());
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

#[derive(Debug)]
pub(crate) struct HeldBytes {
    gauge: Gauge,
    bytes: i64,
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.gauge.dec_by(self.bytes);
    }
}

#[derive(Debug)]
pub(crate) struct InFlight<'m> {
    gauge: &'m Gauge,
    count: usize,
}

impl InFlight<'_> {
    /// The number of requests in flight when this one started, itself included.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.gauge.dec();
    }
}
