//! `/v1/listings/{id}/conditions`: what an application to a listing is submitted under.

use portico_app::applications::{PublicConditions, RequiredCheck};
use portico_app::screening::Check;
use serde::Serialize;
use utoipa::ToSchema;

use super::listing_details::ListingTerms;
use super::listings::ListingPath;
use crate::access::PUBLIC;
use crate::operation::{Context, Operation, get};
use crate::problem::Result;
use crate::reply::Json;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/v1/listings/{id}/conditions", PUBLIC, read)
            .id("getListingConditions")
            .about("An application that names the tag is refused if these have changed meanwhile.")
            .summary("The terms of a listing and the checks that it requires, to be seen before applying")
            .tagged("Applications")
            .not_found("There is no such listing"),
    ]
}

/// What an application to a listing is submitted under.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListingConditions)]
struct ConditionsOut {
    listing_id: String,
    /// Null if the listing has none
    terms: Option<ListingTerms>,
    /// The checks of whose findings the applicant shares the outcome, without values
    required_checks: Vec<RequiredCheckOut>,
    /// Where the bureaus have to have searched
    country: String,
    /// Whose pipeline asks for checks
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    client_id: Option<String>,
    /// The newest text to consent to
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    consent_version: Option<String>,
    /// Changes with everything here; for `conditions` of `POST /applications`
    tag: String,
}

/// A required check, and why it is required.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RequiredCheck)]
struct RequiredCheckOut {
    check: Check,
    /// The pipeline of the owner's account asks for it
    by_pipeline: bool,
    /// The listing's terms need it
    by_terms: bool,
}

impl From<RequiredCheck> for RequiredCheckOut {
    fn from(RequiredCheck { check, by_pipeline, by_terms }: RequiredCheck) -> Self {
        Self { check, by_pipeline, by_terms }
    }
}

impl From<PublicConditions> for ConditionsOut {
    fn from(conditions: PublicConditions) -> Self {
        Self {
            listing_id: conditions.listing.into(),
            terms: conditions.terms.map(Into::into),
            required_checks: conditions.checks.into_iter().map(Into::into).collect(),
            country: conditions.country.into(),
            client_id: conditions.client.map(Into::into),
            consent_version: conditions.consent_version.map(Into::into),
            tag: conditions.tag,
        }
    }
}

async fn read(cx: Context, ListingPath(listing): ListingPath) -> Result<Json<ConditionsOut>> {
    Ok(Json(cx.app().applications.conditions(&cx.call, &listing).await?.into()))
}
