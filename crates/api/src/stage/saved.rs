//! `/stage/savedListings`: listings that a user saved.

use portico_domain::{ListingId, UserId};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::listings::ListingAttributes;
use crate::access::KEY;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, with_tag};
use crate::problem::Result;
use crate::reply::{Json, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Saved listings",
        vec![
            get("/stage/savedListings/{userId}", KEY, read)
                .id("getSavedListings")
                .about("The ids stay when a listing is deleted; its details do not.")
                .summary("What a user has saved"),
            post("/stage/savedListings", KEY, save)
                .id("saveListing")
                .about("The listing must exist. Saving it twice changes nothing.")
                .summary("Saves a listing for a user")
                .conflict("No more listings can be saved"),
            delete("/stage/savedListings/{userId}/{listingId}", KEY, remove)
                .id("unsaveListing")
                .about("The listing itself need not exist any more.")
                .summary("Takes a listing off a user's list")
                .not_found("The listing is not saved"),
        ],
    )
}

/// What a user has saved, with the details of the listings that exist.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct SavedListings {
    saved_listings: SavedIds,
    listing_details: Vec<ListingAttributes>,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
struct SavedIds {
    user_key: String,
    listing_ids: StringSet,
}

/// A set of texts.
#[derive(Debug, Serialize, ToSchema)]
struct StringSet {
    #[serde(rename = "SS")]
    ss: Vec<String>,
}

struct Read(UserId);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("userId", "The user").map(Self)
    }
}

async fn read(cx: Context, Read(user): Read) -> Result<Json<SavedListings>> {
    let (ids, details) = cx.app().listings.saved(&cx.call, &user).await?;
    let listing_ids = StringSet { ss: ids.into_iter().map(Into::into).collect() };
    Ok(Json(SavedListings {
        saved_listings: SavedIds { user_key: user.into(), listing_ids },
        listing_details: details.into_iter().map(Into::into).collect(),
    }))
}

struct Save {
    user: UserId,
    listing: ListingId,
}

impl Input for Save {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let user = body.required("userId", "The user");
        let listing = body.required("listingId", "The listing");
        Some(Self { user: user?, listing: listing? })
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada", "listingId": "oak-12"}))
    }
}

async fn save(cx: Context, input: Save) -> Result<Json<Message>> {
    cx.app().listings.save(&cx.call, input.user, input.listing).await?;
    Ok(Json(message("Listing saved")))
}

struct Remove(Save);

impl Input for Remove {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let user = from.path("userId", "The user");
        let listing = from.strict_path("listingId", "The listing");
        Some(Self(Save { user: user?, listing: listing? }))
    }
}

async fn remove(cx: Context, Remove(input): Remove) -> Result<Json<Message>> {
    cx.app().listings.unsave(&cx.call, input.user, input.listing).await?;
    Ok(Json(message("Listing removed from the saved ones")))
}
