//! `/v1/sandbox`: sign-in as anybody, demonstration data and a clock that can be moved. Not in a live instance.

use portico_app::Profile;
use portico_domain::decimal::{Decimal, Unit};
use portico_domain::{Timestamp, UserId};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::PUBLIC;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, post, with_tag};
use crate::problem::Result;
use crate::reply::{Created, Json};

pub(crate) fn operations(profile: Profile) -> Vec<Operation> {
    if profile != Profile::Sandbox {
        return Vec::new();
    }
    with_tag("Sandbox", vec![
        post("/v1/sandbox/sessions", PUBLIC, open_session)
            .id("openSandboxSession")
            .about("The token is valid for a while, the key until it is revoked.")
            .summary("A token and a key for any user, new ones with every request; in the sandbox only"),
        post("/v1/sandbox/demo", PUBLIC, seed)
            .id("seedDemo")
            .about("Listings, people with results, applications, portfolios and devices. A second call adds nothing.")
            .summary("Makes demonstration data, once; in the sandbox only"),
        post("/v1/sandbox/clock", PUBLIC, advance_clock)
            .id("advanceSandboxClock")
            .about("By 1 second to ten years. It cannot be moved back.")
            .summary("Moves calendar time ahead, for good; in the sandbox only. Results, inputs and kept answers expire by it, and blocks of the embedded chain carry it; tokens do not"),
    ])
}

/// What was made.
#[derive(Debug, Serialize, ToSchema)]
struct Seeded {
    message: &'static str,
    /// Listings
    listings: u64,
    /// People with a result
    people: u64,
    /// Applications
    applications: u64,
    /// Templates and portfolios
    portfolios: u64,
    /// Devices
    devices: u64,
}

async fn seed(cx: Context, (): ()) -> Result<Created<Seeded>> {
    let seeded = cx.app().seed_demo(&cx.call, |_, _| ()).await?;
    let body = Seeded {
        message: "Demonstration data is there",
        listings: seeded.listings,
        people: seeded.people,
        applications: seeded.applications,
        portfolios: seeded.portfolios,
        devices: seeded.devices,
    };
    Ok(Created::at(&["listings"], body))
}

struct OpenSession {
    user: UserId,
    admin: bool,
}

impl Input for OpenSession {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let user = body.required("userId", "Whom to act as");
        let admin = body.optional("admin", "Whether the token is an operator's; the key is not");
        Some(Self { user: user?, admin: admin.unwrap_or(false) })
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada", "admin": false}))
    }
}

/// Credentials of a user.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Session {
    /// For `Authorization: Bearer`
    token: String,
    /// For `X-API-Key`
    api_key: String,
}

async fn open_session(cx: Context, OpenSession { user, admin }: OpenSession) -> Result<Created<Session>> {
    let session = cx.app().keys.open_session(&cx.call, user, admin).await?;
    let api_key = session.key.expose_secret().unwrap_or_default().into();
    Ok(Created::at(&["v1", "keys"], Session { token: session.token, api_key }))
}

/// Seconds by which a clock is moved: 1 to ten years.
#[derive(Debug)]
struct AdvanceUnit;

impl Unit for AdvanceUnit {
    const PLACES: u32 = 0;
    const MIN: i64 = 1;
    const MAX: i64 = 315_360_000;
}

struct AdvanceClock(Decimal<AdvanceUnit>);

impl Input for AdvanceClock {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.body().required("advanceSeconds", "By how many seconds to move the clock ahead").map(Self)
    }
    fn example() -> Option<Value> {
        Some(json!({"advanceSeconds": 86400}))
    }
}

/// The sandbox's clock.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SandboxClock {
    message: &'static str,
    /// The calendar time from now on
    #[schema(value_type = String, format = DateTime)]
    now: Timestamp,
    /// How far it is ahead of the machine's clock
    ahead_seconds: i64,
}

async fn advance_clock(cx: Context, AdvanceClock(seconds): AdvanceClock) -> Result<Json<SandboxClock>> {
    let clock = cx.app().sandbox.advance_clock(&cx.call, seconds.units()).await?;
    Ok(Json(SandboxClock { message: "Clock moved", now: clock.now, ahead_seconds: clock.ahead_seconds }))
}
