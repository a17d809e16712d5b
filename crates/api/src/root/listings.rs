//! `/listings`: the simple form.

use portico_app::NewListing;
use portico_domain::geo::Area;
use portico_domain::listings::{Address, Listing, ListingFilter, place};
use portico_domain::{
    City, Degrees, FaultCode, Kilometres, ListingId, Money, PostalCode, State, Street, UserId,
    ValidationError, Whole,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::{OWNED, PUBLIC};
use crate::input::{BoundingBox, Latitude, default_radius};
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Created, Empty, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Listings",
        vec![
            get("/listings", PUBLIC, list)
                .id("listListings")
                .about("Conditions are combined with and. Without `limit` the whole list is streamed.")
                .summary("Listings: all, or those that fit every condition given"),
            post("/listings", OWNED, create)
                .id("createListing")
                .about("The id must be free. The country is the service's own. Not recorded on the chain: `POST /stage/listings` does that.")
                .summary("Adds a listing")
                .conflict("A listing with this id exists already"),
            delete("/listings/{listingId}", OWNED, remove)
                .id("deleteListing")
                .about("For its owner and the operator. Open applications are closed, and its record on the chain is deleted.")
                .summary("Deletes a listing")
                .not_found("There is no such listing"),
        ],
    )
}

/// A listing in its simple form.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Listing)]
struct ListingOut {
    /// Unique listing identifier
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
    /// Monthly rent
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, nullable = false)]
    monthly_rent: Option<Money>,
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
}

impl From<Listing> for ListingOut {
    fn from(listing: Listing) -> Self {
        Self {
            listing_id: listing.id,
            user_id: listing.user,
            street_address: listing.street,
            city: listing.city,
            state: listing.state,
            postal_code: listing.postal,
            monthly_rent: listing.rent,
            bed_room_count: listing.bedrooms,
            bathroom_count: listing.bathrooms,
            latitude: listing.place.map(portico_domain::geo::Point::latitude),
            longitude: listing.place.map(portico_domain::geo::Point::longitude),
        }
    }
}

/// The conditions of a search, of which each can be absent.
pub(crate) struct Conditions(pub(crate) ListingFilter);

impl Conditions {
    pub(crate) fn read(from: &mut Reader<'_>) -> Self {
        let mut filter = ListingFilter {
            user: from.query("userId", "Only this user's"),
            id: from.query("listingId", "Only this one"),
            term: from
                .query("searchTerm", "With this text in id, street, city, state or postal code, in any case"),
            min_rent: from.query("minRent", "Monthly rent at least"),
            max_rent: from.query("maxRent", "Monthly rent at most"),
            bedrooms: from.query("bedrooms", "Exactly so many bedrooms"),
            min_bedrooms: from.query("minBedrooms", "At least so many bedrooms"),
            bathrooms: from.query("bathrooms", "Exactly so many bathrooms"),
            ..ListingFilter::default()
        };
        let centre = from.query("near", "Around this place: latitude,longitude");
        let radius = from.query::<Kilometres>("radiusKm", "How far around `near`; 10 if absent");
        let inside = from.query::<BoundingBox>("bbox", "Inside this box: west,south,east,north");
        if radius.is_some() && centre.is_none() {
            from.report_parameter("radiusKm", ValidationError::new(FaultCode::WithoutNear, "needs `near`"));
        }
        let radius = radius.unwrap_or_else(default_radius);
        filter.areas.extend(centre.map(|centre| Area::Circle { centre, radius }));
        filter.areas.extend(inside.map(|area| area.0));
        Self(filter)
    }
}

struct List {
    filter: ListingFilter,
    paging: Paging,
}

impl Input for List {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let Conditions(filter) = Conditions::read(from);
        let order = from.query(
            "sort",
            "`newest` first, by `rent` (the lowest first) or by `size` (the most bedrooms first)",
        );
        Some(Self { filter: ListingFilter { order, ..filter }, paging: Paging::read(from) })
    }
}

async fn list(cx: Context, input: List) -> Result<PagedResponse<ListingOut>> {
    PagedResponse::read(cx, input.filter, input.paging, async |cx, filter, after, limit| {
        Ok(cx.app().listings.find(&cx.call, &filter, after, limit).await?.map(Into::into))
    })
    .await
}

struct Create(NewListing);

impl Input for Create {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let id = body.required("listingId", "Unique listing identifier");
        let user = body.required("userId", "Owner");
        let street = body.required("streetAddress", "Street address");
        let city = body.required("city", "City");
        let state = body.required("state", "State");
        let postal = body.required("postalCode", "Postal code");
        let rent = body.optional("monthlyRent", "Monthly rent");
        let bedrooms = body.optional("bedRoomCount", "Number of bedrooms");
        let bathrooms = body.optional("bathroomCount", "Number of bathrooms");
        let latitude = body.optional::<Latitude>("latitude", "Degrees north; together with longitude");
        let longitude = body.optional("longitude", "Degrees east; together with latitude");
        if body.has("latitude") != body.has("longitude") {
            body.report(
                "latitude",
                ValidationError::new(FaultCode::HalfAPlace, "and longitude must be given together"),
            );
        }
        let place = place(latitude.map(|latitude| latitude.0), longitude);
        let address = Address { street: street?, city: city?, state: state?, postal: postal? };
        Some(Self(NewListing {
            id: Some(id?),
            user: user?,
            address,
            country: None,
            rent,
            property_value: None,
            bedrooms,
            bathrooms,
            place,
            walkthrough: None,
        }))
    }
    fn example() -> Option<Value> {
        Some(json!({
            "listingId": "oak-12", "userId": "ada", "streetAddress": "12 Oak Street", "city": "Austin",
            "state": "TX", "postalCode": "78701", "monthlyRent": 2100.25, "bedRoomCount": 2, "bathroomCount": 1,
            "latitude": 30.2672, "longitude": -97.7431,
        }))
    }
}

async fn create(cx: Context, Create(listing): Create) -> Result<Created<Message>> {
    let id = cx.app().listings.create(&cx.call, listing).await?;
    Ok(Created::at(&["v1", "listings", id.as_str()], message("Listing created")))
}

struct Remove(ListingId);

impl Input for Remove {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("listingId", "The listing").map(Self)
    }
}

async fn remove(cx: Context, Remove(id): Remove) -> Result<Empty> {
    cx.app().listings.delete(&cx.call, id).await?;
    Ok(Empty)
}
