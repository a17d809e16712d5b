//! `/v1/bureaus`: how the bureaus are doing.

use std::time::Duration;

use portico_app::bureaus::{BureauError, CircuitState, Health};
use portico_app::screening::Check;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::OPERATORS_ONLY;
use crate::operation::{Context, Operation, get};
use crate::problem::Result;
use crate::reply::{JsonArray, names};

pub(crate) fn operations() -> Vec<Operation> {
    let list = get("/v1/bureaus", OPERATORS_ONLY, list)
        .id("listBureaus")
        .about("Counts begin with the process; replicas count on their own.")
        .summary("The bureau of each check, as the server that answers has known it since its start");
    vec![list.tagged("Operation")]
}

/// A check's bureau.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Bureau)]
struct BureauOut {
    check: Check,
    bureau: String,
    /// The circuit breaker: `closed`; `open`: requests are turned away; `half_open`: the next request is a trial
    #[schema(schema_with = names::<CircuitState>)]
    circuit: &'static str,
    /// While it is open: in how many seconds the next request is tried
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    retry_in_seconds: Option<u64>,
    /// How often the circuit breaker has opened
    opened: u64,
    /// Valid responses, refusals included
    answered: u64,
    failed: u64,
    /// Requests of any check that the bureau is working on
    in_flight: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    last_failure: Option<FailureOut>,
    /// Of the last hundred responses with a finding
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    latency: Option<LatencyOut>,
}

/// The last failed request.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BureauFailure)]
struct FailureOut {
    #[schema(schema_with = names::<BureauError>)]
    kind: &'static str,
    seconds_ago: u64,
}

/// How long responses took.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = BureauLatency)]
struct LatencyOut {
    median_millis: u64,
    slowest_millis: u64,
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl From<Health> for BureauOut {
    fn from(health: Health) -> Self {
        let retry_in_seconds = match health.circuit {
            CircuitState::Open { left } => Some(left.as_secs().max(1)),
            CircuitState::Closed | CircuitState::HalfOpen => None,
        };
        Self {
            check: health.check,
            bureau: health.bureau,
            circuit: health.circuit.name(),
            retry_in_seconds,
            opened: health.opened,
            answered: health.answered,
            failed: health.failed,
            in_flight: health.in_flight,
            last_failure: health
                .last_failure
                .map(|failure| FailureOut { kind: failure.kind, seconds_ago: failure.ago.as_secs() }),
            latency: health.latency.map(|latency| LatencyOut {
                median_millis: millis(latency.median),
                slowest_millis: millis(latency.slowest),
            }),
        }
    }
}

async fn list(cx: Context, (): ()) -> Result<JsonArray<BureauOut>> {
    let health = cx.app().screening.bureaus(&cx.call)?;
    Ok(JsonArray(health.into_iter().map(Into::into).collect()))
}
