//! `/v1/listings/{id}`: one listing with all fields, its edits and their history.

use portico_app::{ListingDetails, ListingVersion};
use portico_domain::chain::Terms;
use portico_domain::geo::Point;
use portico_domain::listing_changes::{Change, Editor, ListingChange, ListingEdit};
use portico_domain::listings::ListingStatus;
use portico_domain::{
    City, Country, Credit, Date, Degrees, FaultCode, Income, Link, ListingDescription, ListingId, Money,
    PostalCode, State, Street, Timestamp, UserId, ValidationError, Whole,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::field_changes::FieldChangeOut;
use crate::access::{OWNED, PUBLIC};
use crate::input::{IfMatch, IfNoneMatch, Input, Latitude, Reader};
use crate::operation::{Context, Operation, get, patch, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::Tagged;

const NO_LISTING: &str = "There is no such listing";

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Listings",
        vec![
            get("/v1/listings/{id}", PUBLIC, read)
                .id("getListing")
                .about("With its version as ETag, for edits with `If-Match`.")
                .summary("One listing with all of its fields")
                .not_found(NO_LISTING)
                .conditional(),
            patch("/v1/listings/{id}", OWNED, edit)
                .id("editListing")
                .about("If public content or terms change, the next version goes to the chain. Id and owner cannot be changed.")
                .summary(
                    "Changes a listing; for its owner and the operator. What is absent stays, null clears",
                )
                .not_found(NO_LISTING)
                .precondition_failed("The listing was changed since the version in If-Match"),
            get("/v1/listings/{id}/history", PUBLIC, history)
                .id("listListingHistory")
                .about("Says what was changed when, and whether the owner or the operator did it.")
                .summary("Every edit of a listing, oldest first")
                .not_found(NO_LISTING),
        ],
    )
}

/// One listing with all of its fields.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListingDetails)]
struct ListingDetailsOut {
    #[schema(value_type = String)]
    listing_id: ListingId,
    /// Owner
    #[schema(value_type = String)]
    user_id: UserId,
    #[schema(value_type = String)]
    street_address: Street,
    #[schema(value_type = String)]
    city: City,
    #[schema(value_type = String)]
    state: State,
    #[schema(value_type = String)]
    postal_code: PostalCode,
    #[schema(value_type = String)]
    country: Country,
    /// Monthly rent
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, nullable = false)]
    monthly_rent: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, nullable = false)]
    property_value: Option<Money>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false)]
    bed_room_count: Option<Whole>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<i64>, nullable = false)]
    bathroom_count: Option<Whole>,
    /// Degrees north, if the place is known
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, nullable = false)]
    latitude: Option<Degrees>,
    /// Degrees east, if the place is known
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, nullable = false)]
    longitude: Option<Degrees>,
    /// A video walkthrough
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    walkthrough_link: Option<Link>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, nullable = false)]
    description: Option<ListingDescription>,
    /// The first day on which it can be rented
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = Date, nullable = false)]
    available_from: Option<Date>,
    status: ListingStatus,
    /// What is asked of an applicant; null if the listing is not on the chain
    terms: Option<ListingTerms>,
    /// Whether the listing has a record on the chain
    on_chain: bool,
    /// 1 for a new listing; every edit adds one
    version: i64,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

/// What a listing asks of an applicant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ListingTerms {
    #[schema(value_type = i64)]
    min_credit: Credit,
    #[schema(value_type = i64)]
    pref_credit: Credit,
    #[schema(value_type = f64)]
    min_income: Income,
    #[schema(value_type = f64)]
    pref_income: Income,
}

impl From<Terms> for ListingTerms {
    fn from(terms: Terms) -> Self {
        Self {
            min_credit: terms.min_credit(),
            pref_credit: terms.pref_credit(),
            min_income: terms.min_income(),
            pref_income: terms.pref_income(),
        }
    }
}

impl From<ListingDetails> for ListingDetailsOut {
    fn from(details: ListingDetails) -> Self {
        let ListingDetails { listing, version, created_at, updated_at, terms } = details;
        Self {
            listing_id: listing.id,
            user_id: listing.user,
            street_address: listing.street,
            city: listing.city,
            state: listing.state,
            postal_code: listing.postal,
            country: listing.country,
            monthly_rent: listing.rent,
            property_value: listing.property_value,
            bed_room_count: listing.bedrooms,
            bathroom_count: listing.bathrooms,
            latitude: listing.place.map(Point::latitude),
            longitude: listing.place.map(Point::longitude),
            walkthrough_link: listing.walkthrough,
            description: listing.description,
            available_from: listing.available_from,
            status: listing.status,
            on_chain: terms.is_some(),
            terms: terms.map(Into::into),
            version: version.version,
            created_at,
            updated_at,
        }
    }
}

/// The ETag without quotation marks; a later listing with the same id has another one.
fn tag(version: ListingVersion) -> String {
    format!("{}-{:x}", version.version, version.seq)
}

/// `None`: no listing ever had this tag.
fn version(tag: &str) -> Option<ListingVersion> {
    let (version, seq) = tag.split_once('-')?;
    let parsed = ListingVersion { version: version.parse().ok()?, seq: i64::from_str_radix(seq, 16).ok()? };
    (self::tag(parsed) == tag).then_some(parsed)
}

fn tagged(details: ListingDetails, known: Option<&IfNoneMatch>) -> Tagged<ListingDetailsOut> {
    let etag = format!("\"{}\"", tag(details.version));
    let is_known = known.is_some_and(|known| known.includes(&etag));
    Tagged { body: details.into(), etag, is_known }
}

struct Read(ListingId, Option<IfNoneMatch>);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let id = from.path("id", "The listing");
        let known =
            from.header("If-None-Match", "The ETag that the client has: 304 if it is the current one");
        Some(Self(id?, known))
    }
}

async fn read(cx: Context, Read(id, known): Read) -> Result<Tagged<ListingDetailsOut>> {
    Ok(tagged(cx.app().listings.details(&cx.call, &id).await?, known.as_ref()))
}

struct Edit {
    id: ListingId,
    change: ListingChange,
    if_match: Option<IfMatch>,
}

impl Input for Edit {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let id = from.path("id", "The listing");
        let if_match = from.header(
            "If-Match",
            "The ETag of the version to change: 412 if there is a newer one. Absent or *: the newest is changed",
        );
        let mut body = from.patch_body();
        let change = ListingChange {
            street: body.optional("streetAddress", "Street address"),
            city: body.optional("city", "City"),
            state: body.optional("state", "State"),
            postal: body.optional("postalCode", "Postal code"),
            country: body.optional("country", "Country"),
            rent: body.optional("monthlyRent", "Monthly rent").unwrap_or_default(),
            property_value: body.optional("propertyValue", "Value of the property").unwrap_or_default(),
            bedrooms: body.optional("bedRoomCount", "Number of bedrooms").unwrap_or_default(),
            bathrooms: body.optional("bathroomCount", "Number of bathrooms").unwrap_or_default(),
            place: Change::Keep,
            walkthrough: body
                .optional("walkthroughLink", "A video walkthrough: an http or https URL")
                .unwrap_or_default(),
            description: body.optional("description", "The listing in words").unwrap_or_default(),
            available_from: body
                .optional("availableFrom", "The first day on which it can be rented")
                .unwrap_or_default(),
            status: body.optional("status", "Whether it can be rented now"),
            terms: body
                .optional(
                    "terms",
                    "What is asked of an applicant; what is absent stays. The first ones put the listing on the chain",
                )
                .unwrap_or_default(),
        };
        let latitude =
            body.optional::<Change<Latitude>>("latitude", "Degrees north; together with longitude");
        let longitude = body.optional::<Change<Degrees>>("longitude", "Degrees east; together with latitude");
        let place = match (latitude, longitude) {
            (Some(Change::Set(latitude)), Some(Change::Set(longitude))) => {
                Point::new(latitude.0, longitude).map_or(Change::Keep, Change::Set)
            }
            (Some(Change::Clear), Some(Change::Clear)) => Change::Clear,
            (Some(Change::Set(_)), Some(Change::Clear)) | (Some(Change::Clear), Some(Change::Set(_))) => {
                body.report("latitude", half_a_place());
                Change::Keep
            }
            _ => {
                if body.has("latitude") != body.has("longitude") {
                    body.report("latitude", half_a_place());
                }
                Change::Keep
            }
        };
        body.reject_changes(&["listingId", "userId", "onChain", "version", "createdAt", "updatedAt"]);
        Some(Self { id: id?, change: ListingChange { place, ..change }, if_match })
    }
    fn example() -> Option<Value> {
        Some(json!({
            "monthlyRent": 1900, "bedRoomCount": 2, "description": "Two bright rooms, close to the park",
            "availableFrom": "2026-03-01", "walkthroughLink": null, "status": "active",
            "terms": {"minCredit": 620, "prefCredit": 700, "minIncome": 55_000, "prefIncome": 70_000.50},
        }))
    }
}

fn half_a_place() -> ValidationError {
    ValidationError::new(FaultCode::HalfAPlace, "and longitude must be given together")
}

async fn edit(cx: Context, Edit { id, change, if_match }: Edit) -> Result<Tagged<ListingDetailsOut>> {
    let tags = if_match.and_then(|if_match| if_match.0);
    let expected = tags.map(|tags| tags.iter().filter_map(|tag| version(tag)).collect());
    Ok(tagged(cx.app().listings.edit(&cx.call, id, change, expected).await?, None))
}

/// One edit of a listing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ListingEdit)]
struct ListingEditOut {
    /// The listing's version after the edit
    version: i64,
    #[schema(value_type = String, format = DateTime)]
    at: Timestamp,
    by: Editor,
    changes: Vec<FieldChangeOut>,
}

impl From<ListingEdit> for ListingEditOut {
    fn from(edit: ListingEdit) -> Self {
        Self {
            version: edit.version,
            at: edit.at,
            by: edit.by,
            changes: edit.changes.into_iter().map(Into::into).collect(),
        }
    }
}

struct History(ListingId, Paging);

impl Input for History {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (id, paging) = (from.path("id", "The listing"), Paging::read(from));
        Some(Self(id?, paging))
    }
}

async fn history(cx: Context, History(id, paging): History) -> Result<PagedResponse<ListingEditOut>> {
    PagedResponse::read(cx, id, paging, async |cx, id, after, limit| {
        Ok(cx.app().listings.history(&cx.call, &id, after, limit).await?.map(Into::into))
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_round_trip_and_others_name_nothing() {
        let one = ListingVersion { seq: 0x1f, version: 12 };
        assert_eq!(tag(one), "12-1f");
        assert_eq!(version("12-1f"), Some(one));
        for other in ["", "12", "12-1F", "012-1f", "12-+1f", "+12-1f", "12-1f-", "x-1"] {
            assert_eq!(version(other), None, "{other}");
        }
    }
}
