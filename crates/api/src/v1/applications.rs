//! A user's applications beyond the specification: with times and chain records.

use portico_domain::applications::Application;
use portico_domain::{Timestamp, UserId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::{OWNED, SIGNED_IN};
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::JsonArray;
use crate::root::applications::OneApplication;
use crate::v1::chain::RecordOut;

pub(crate) fn operations() -> Vec<Operation> {
    let all = vec![
        get("/v1/users/{userId}/applications", SIGNED_IN, list)
            .id("listApplications").summary("What a user applied to, and when, oldest first"),
        get("/v1/applications/{userId}/{listingId}/records", OWNED, records)
            .id("listApplicationRecords").summary("Where the four flags of an application stand on the chain: one record, or none before a verification")
            .not_found("The user has not applied to this listing"),
    ];
    all.into_iter().map(|operation| operation.tagged("Applications")).collect()
}

/// One listing that a user applied to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Application)]
struct ApplicationOut {
    listing_id: String,
    #[schema(value_type = String, format = DateTime)]
    applied_at: Timestamp,
}

impl From<Application> for ApplicationOut {
    fn from(application: Application) -> Self {
        Self { listing_id: application.listing.into(), applied_at: application.applied_at }
    }
}

struct List(UserId, Paging);

impl Input for List {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (user, paging) = (from.path("userId", "The applicant"), Paging::read(from));
        Some(Self(user?, paging))
    }
}

async fn list(cx: Context, List(user, paging): List) -> Result<PagedResponse<ApplicationOut>> {
    PagedResponse::read(cx, user, paging, async |cx, user, after, limit| {
        Ok(cx.app().applications.page(&cx.call, &user, after, limit).await?.map(Into::into))
    })
    .await
}

async fn records(cx: Context, OneApplication(user, listing): OneApplication) -> Result<JsonArray<RecordOut>> {
    let record = cx.app().applications.record(&cx.call, &user, &listing).await?;
    Ok(JsonArray::at_most_one(record))
}
