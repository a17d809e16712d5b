//! `/stage/listing…`: stored listing records.

use portico_app::NewListing;
use portico_domain::chain::Terms;
use portico_domain::listings::{Address, Listing, ListingFilter, place};
use portico_domain::{
    City, Credit, ErrorCode, FaultCode, Income, ListingId, Money, PostalCode, Text, UserId, ValidationError,
};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::KEY;
use crate::input::Latitude;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Created, Json, Message, message};

const NONE: &str = "No listing was found";

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Stage listings",
        vec![
            post("/stage/listings", KEY, create)
                .id("recordListing")
                .about("Answers as soon as the transaction is durable; `GET /v1/listings/{id}/records` tells when it is mined.")
                .summary("Adds a listing to the database and to the chain")
                .conflict("A listing with this id exists already"),
            get("/stage/listing/requirements/{ListingKey}", KEY, requirements)
                .id("getListingRequirements")
                .about("Read from the contract, not from the database.")
                .summary("What a listing asks of an applicant, as the chain says")
                .not_found("There is no record of this listing on the chain"),
            get("/stage/listing/{ListingKey}", KEY, read)
                .id("getStoredListing")
                .about("A text attribute is `{\"S\": …}`, a number `{\"N\": \"…\"}` as the shortest exact decimal, nothing `{\"NULL\": true}`.")
                .summary("One stored listing record")
                .not_found("There is no such listing"),
            delete("/stage/listing/{ListingKey}", KEY, remove)
                .id("deleteStoredListing")
                .about("For its owner and the operator's key. Like `DELETE /listings/{listingId}`.")
                .summary("Deletes a listing")
                .not_found("There is no such listing"),
            get("/stage/listings/user/{UserId}", KEY, list::<ByUser>)
                .id("listStoredListingsByUser")
                .about("404 if there is none.")
                .summary("A user's listings")
                .not_found(NONE),
            get("/stage/listings/postal/{postalCode}", KEY, list::<ByPostalCode>)
                .id("listStoredListingsByPostalCode")
                .about("404 if there is none.")
                .summary("Listings with a postal code")
                .not_found(NONE),
            get("/stage/listings/city/{city}", KEY, list::<ByCity>)
                .id("listStoredListingsByCity")
                .about("404 if there is none.")
                .summary("Listings in a city: its whole name, in any case")
                .not_found(NONE),
            get("/stage/listings/search", KEY, list::<Search>)
                .id("searchStoredListings")
                .about("404 if there is none.")
                .summary("Listings with a text in one field, in any case")
                .not_found(NONE),
        ],
    )
}

/// A text attribute.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = S)]
pub(super) struct StringAttribute {
    #[serde(rename = "S")]
    s: String,
}

impl<K> From<Text<K>> for StringAttribute {
    fn from(text: Text<K>) -> Self {
        Self { s: text.into() }
    }
}

/// A number attribute: the shortest exact decimal, as text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = N)]
pub(super) struct NumberAttribute {
    #[serde(rename = "N")]
    #[schema(example = "2100.25")]
    n: String,
}

impl NumberAttribute {
    fn of(number: impl std::fmt::Display) -> Self {
        Self { n: number.to_string() }
    }
    /// A missing amount is 0.
    fn amount(amount: Option<Money>) -> Self {
        Self::of(amount.unwrap_or(Money::from_units(0)))
    }
}

/// A number attribute, or nothing.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub(super) enum NumberOrNull {
    /// A number.
    Number(NumberAttribute),
    /// Nothing.
    Null(Null),
}

/// No value.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Null {
    #[serde(rename = "NULL")]
    null: bool,
}

impl NumberOrNull {
    fn of(number: Option<impl std::fmt::Display>) -> Self {
        number.map_or(Self::Null(Null { null: true }), |number| Self::Number(NumberAttribute::of(number)))
    }
}

/// A stored listing record.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = StoredListing)]
pub(super) struct ListingAttributes {
    listing_id: StringAttribute,
    user_id: StringAttribute,
    street_address: StringAttribute,
    city: StringAttribute,
    state: StringAttribute,
    postal_code: StringAttribute,
    country: StringAttribute,
    monthly_rent: NumberAttribute,
    property_value: NumberAttribute,
    latitude: NumberOrNull,
    longitude: NumberOrNull,
    #[serde(rename = "walkthroughLink")]
    walkthrough_link: StringAttribute,
}

impl From<Listing> for ListingAttributes {
    fn from(listing: Listing) -> Self {
        Self {
            listing_id: listing.id.into(),
            user_id: listing.user.into(),
            street_address: listing.street.into(),
            city: listing.city.into(),
            state: listing.state.into(),
            postal_code: listing.postal.into(),
            country: listing.country.into(),
            monthly_rent: NumberAttribute::amount(listing.rent),
            property_value: NumberAttribute::amount(listing.property_value),
            latitude: NumberOrNull::of(listing.place.map(portico_domain::geo::Point::latitude)),
            longitude: NumberOrNull::of(listing.place.map(portico_domain::geo::Point::longitude)),
            walkthrough_link: listing
                .walkthrough
                .map_or(StringAttribute { s: String::new() }, StringAttribute::from),
        }
    }
}

struct Create {
    listing: NewListing,
    terms: Terms,
}

impl Input for Create {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let id = body.optional("id", "The listing's id; one is made if it is absent");
        let user = body.required("userId", "Owner");
        let street = body.required("addressStreet", "Street address");
        let city = body.required("addressCity", "City");
        let state = body.required("addressState", "State");
        let postal = body.required("addressPostal", "Postal code");
        let country = body.optional("country", "Country; the service's own if it is absent");
        let rent = body.required("monthlyPayment", "Monthly rent");
        let credit = (
            body.optional("minCredit", "Lowest credit score; 0 if absent"),
            body.optional("prefCredit", "Preferred credit score; the lowest if absent"),
        );
        let income = (
            body.optional("minIncome", "Lowest income; 0 if absent"),
            body.optional("prefIncome", "Preferred income; the lowest if absent"),
        );
        let property_value = body.optional("propertyValue", "Value of the property; 0 if absent");
        let bedrooms = body.optional("bedRoomCount", "Number of bedrooms");
        let bathrooms = body.optional("bathroomCount", "Number of bathrooms");
        let latitude = body.optional::<Latitude>("latitude", "Degrees north; together with longitude");
        let longitude = body.optional("longitude", "Degrees east; together with latitude");
        let walkthrough = body.optional("walkthroughLink", "A video walkthrough: an http or https URL");
        if body.has("latitude") != body.has("longitude") {
            body.report(
                "latitude",
                ValidationError::new(FaultCode::HalfAPlace, "and longitude must be given together"),
            );
        }
        let terms = Terms::new(credit, income).map_err(|faults| {
            for (which, fault) in faults {
                body.report(which.name(), fault);
            }
        });
        let address = Address { street: street?, city: city?, state: state?, postal: postal? };
        let listing = NewListing {
            id,
            user: user?,
            address,
            country,
            rent: Some(rent?),
            property_value,
            bedrooms,
            bathrooms,
            place: place(latitude.map(|latitude| latitude.0), longitude),
            walkthrough,
        };
        Some(Self { listing, terms: terms.ok()? })
    }
    fn example() -> Option<Value> {
        Some(json!({
            "id": "elm-7", "userId": "ada", "addressStreet": "7 Elm Street", "addressCity": "Austin",
            "addressState": "TX", "addressPostal": "78702", "monthlyPayment": 1850, "minCredit": 620,
            "prefCredit": 700, "minIncome": 55_000, "prefIncome": 70_000.50, "propertyValue": 450_000,
            "bedRoomCount": 2, "bathroomCount": 1, "latitude": 30.2672, "longitude": -97.7431, "walkthroughLink": "https://example.com/elm-7",
        }))
    }
}

/// A listing that was recorded.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct RecordedListing {
    #[schema(example = "Listing created")]
    message: &'static str,
    listing_id: String,
    /// The transaction that carries it to the chain
    #[schema(pattern = "^0x[0-9a-f]{64}$")]
    transaction_hash: String,
}

async fn create(cx: Context, input: Create) -> Result<Created<RecordedListing>> {
    let accepted = cx.app().listings.record(&cx.call, input.listing, input.terms).await?;
    let body = RecordedListing {
        message: "Listing created",
        listing_id: accepted.id.as_str().into(),
        transaction_hash: hex::encode_prefixed(accepted.hash),
    };
    Ok(Created::at(&["stage", "listing", accepted.id.as_str()], body))
}

/// What a listing asks of an applicant.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ListingRequirements {
    listing_id: String,
    #[schema(value_type = i64)]
    min_credit_score: Credit,
    #[schema(value_type = i64)]
    pref_credit_score: Credit,
    #[schema(value_type = f64)]
    min_income: Income,
    #[schema(value_type = f64)]
    pref_income: Income,
}

async fn requirements(cx: Context, ListingPath(id): ListingPath) -> Result<Json<ListingRequirements>> {
    let terms = cx.app().listings.terms(&cx.call, &id).await?;
    Ok(Json(ListingRequirements {
        listing_id: id.into(),
        min_credit_score: terms.min_credit(),
        pref_credit_score: terms.pref_credit(),
        min_income: terms.min_income(),
        pref_income: terms.pref_income(),
    }))
}

struct ListingPath(ListingId);

impl Input for ListingPath {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("ListingKey", "The listing's id").map(Self)
    }
}

async fn read(cx: Context, ListingPath(id): ListingPath) -> Result<Json<ListingAttributes>> {
    Ok(Json(cx.app().listings.get(&cx.call, &id).await?.into()))
}

/// A listing to delete: an id that cannot be one is a 400, as specified.
struct DeletedPath(ListingId);

impl Input for DeletedPath {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.strict_path("ListingKey", "The listing's id").map(Self)
    }
}

async fn remove(cx: Context, DeletedPath(id): DeletedPath) -> Result<Json<Message>> {
    cx.app().listings.delete(&cx.call, id).await?;
    Ok(Json(message("Listing deleted")))
}

trait Filtered: Input {
    fn filter(self) -> (ListingFilter, Paging);
}

async fn list<F: Filtered>(cx: Context, input: F) -> Result<PagedResponse<ListingAttributes>> {
    let (filter, paging) = input.filter();
    let listed = PagedResponse::read(cx, filter, paging, async |cx, filter, after, limit| {
        Ok(cx.app().listings.find(&cx.call, &filter, after, limit).await?.map(Into::into))
    });
    listed.await?.or_not_found(ErrorCode::NoListings)
}

macro_rules! filtered {
    ($($name:ident: $of:ty = $parameter:literal, $about:literal => $field:ident;)+) => {
        $(struct $name($of, Paging);
        impl Input for $name {
            fn read(from: &mut Reader<'_>) -> Option<Self> {
                let (value, paging) = (from.path($parameter, $about), Paging::read(from));
                Some(Self(value?, paging))
            }
        }
        impl Filtered for $name {
            fn filter(self) -> (ListingFilter, Paging) {
                (ListingFilter { $field: Some(self.0), ..ListingFilter::default() }, self.1)
            }
        })+
    };
}
filtered! {
    ByUser: UserId = "UserId", "The user" => user;
    ByPostalCode: PostalCode = "postalCode", "The postal code" => postal;
    ByCity: City = "city", "The city" => city;
}

struct Search(ListingFilter, Paging);

impl Input for Search {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let field =
            from.required_query("field", "The field to search in, by its name in any form and any case");
        let value = from.required_query("value", "The text to search for");
        let paging = Paging::read(from);
        Some(Self(ListingFilter { field: Some((field?, value?)), ..ListingFilter::default() }, paging))
    }
}
impl Filtered for Search {
    fn filter(self) -> (ListingFilter, Paging) {
        (self.0, self.1)
    }
}
