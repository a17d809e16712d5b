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
        registry.register("http_requests", "Requests answered", requests.clone());
        registry.register("http_request_duration_seconds", "Time until the answer's head", latency.clone());
        registry.register("http_requests_in_flight", "Requests being worked on", in_flight.clone());
        registry.register("http_requests_shed", "Requests turned away because of overload", shed.clone());
        registry.register("http_panics", "Requests that ended in a panic", panics.clone());
        Self { registry, requests, latency, in_flight, shed, panics }
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

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
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
