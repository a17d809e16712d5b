//! `/v1/users/{userId}`: what operators see of a user.

use portico_app::people::UserOverview;
use portico_domain::{Tenant, UserId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::OPERATORS_ONLY;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get};
use crate::problem::Result;
use crate::reply::Json;

pub(crate) fn operations() -> Vec<Operation> {
    let read = get("/v1/users/{userId}", OPERATORS_ONLY, read)
        .id("getUser")
        .about("No personal data is in it.")
        .summary("Counts of what the service stores for a user; all are zero for an unknown id");
    vec![read.tagged("Operation")]
}

/// How much there is of a user.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = User)]
struct UserOut {
    user_id: String,
    /// The account that the user's last token named, if it named one
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    account: Option<String>,
    /// Whether anything is kept that an erasure would make unreadable
    has_personal_data: bool,
    listings: i64,
    saved_listings: i64,
    applications: i64,
    verifications: i64,
    portfolios: i64,
    devices: i64,
    /// API keys that are accepted
    keys: i64,
}

impl From<UserOverview> for UserOut {
    fn from(overview: UserOverview) -> Self {
        let counts = overview.counts;
        Self {
            user_id: overview.user.into(),
            account: match overview.tenant {
                Tenant::Account(account) => Some(account.into()),
                Tenant::User(_) => None,
            },
            has_personal_data: overview.has_personal_data,
            listings: counts.listings,
            saved_listings: counts.saved_listings,
            applications: counts.applications,
            verifications: counts.verifications,
            portfolios: counts.portfolios,
            devices: counts.devices,
            keys: counts.keys,
        }
    }
}

struct Read(UserId);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("userId", "The user's id").map(Self)
    }
}

async fn read(cx: Context, Read(user): Read) -> Result<Json<UserOut>> {
    Ok(Json(cx.app().people.overview(&cx.call, user).await?.into()))
}
