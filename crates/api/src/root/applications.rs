//! `/applications`: which listings a user applied to.

use portico_app::Error;
use portico_app::applications::SeenConditions;
use portico_domain::chain::Passes;
use portico_domain::{FaultCode, ListingId, UserId, ValidationError};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::{OWNED, SIGNED_IN};
use crate::input::NonEmptyVec;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get, post, with_tag};
use crate::problem::{FieldLocation, Problem, Result};
use crate::reply::{Created, Json, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Applications",
        vec![
            post("/applications", SIGNED_IN, apply)
                .id("apply")
                .about("The applicant names themselves and listings that exist. The listing's terms and the checks that its owner requires are frozen with each application; one that was applied to before is not added again.")
                .summary("Adds listings to what a user applied to")
                .conflict("The user has applied to as many listings as is possible, or conditions are others than those that were seen")
            ,get("/applications/{userId}", SIGNED_IN, read)
                .id("getApplications")
                .about("For the applicant and the operator. Lists the listings of open and decided applications.")
                .summary("What a user applied to")
                .not_found("The user has not applied to any listing"),
            get("/applications/{userId}/{listingId}/check", OWNED, check)
                .id("checkApplication")
                .about("Each flag is opened from a commitment on the chain. The flag of a preference that is not stated equals that of its minimum; that of a minimum that is not stated is true once all required checks are there. All four are false before that, and for a listing that requires nothing.")
                .summary("Which of the listing's terms the applicant meets, as the chain says")
                .not_found("The user has not applied to this listing"),
            post("/applications/{userId}/{listingId}/check", OWNED, apply_by_path)
                .id("applyToListing")
                .about("Like `POST /applications`, for the user and the listing of the path.")
                .summary("Adds the path's listing, and those of the body, to what a user applied to")
                .conflict("The user has applied to as many listings as is possible"),
        ],
    )
}

/// A user and the listings the user applied to.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ApplicationMapping {
    user_id: String,
    listing_ids: Vec<String>,
}

const SEEN_CONDITIONS: &str = "By listing, the tag of the conditions that the applicant has seen: if they are others now, \
     nothing is submitted. A listing that is not named is applied to under whichever there are";

struct Apply {
    user: UserId,
    listings: Vec<ListingId>,
    seen: SeenConditions,
}

impl Input for Apply {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let user = body.required("userId", "The applicant");
        let listings = body.required::<NonEmptyVec<_>>("listingIds", "The listings");
        let seen = body.optional("conditions", SEEN_CONDITIONS).unwrap_or_default();
        Some(Self { user: user?, listings: listings?.0, seen })
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada", "listingIds": ["oak-12"]}))
    }
}

async fn apply(cx: Context, input: Apply) -> Result<Created<Message>> {
    let user = input.user.clone();
    cx.app().applications.apply(&cx.call, input.user, input.listings, input.seen).await?;
    Ok(applied(&user))
}

fn applied(user: &UserId) -> Created<Message> {
    Created::at(&["applications", user.as_str()], message("Application added"))
}

struct Read(UserId);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("userId", "The applicant").map(Self)
    }
}

async fn read(cx: Context, Read(user): Read) -> Result<Json<ApplicationMapping>> {
    let mapping = cx.app().applications.of_user(&cx.call, user).await?;
    let listing_ids = mapping.listings.into_iter().map(Into::into).collect();
    Ok(Json(ApplicationMapping { user_id: mapping.user.into(), listing_ids }))
}

/// Which of a listing's terms an applicant meets; before a verification, none.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_excessive_bools, reason = "the four flags of the specification")]
pub(crate) struct ApplicationCheck {
    /// The lowest credit score
    pass_min_credit: bool,
    /// The preferred credit score
    pass_pref_cred: bool,
    /// The lowest income
    pass_min_income: bool,
    /// The preferred income
    pass_pref_income: bool,
}

impl From<Passes> for ApplicationCheck {
    fn from(passes: Passes) -> Self {
        Self {
            pass_min_credit: passes.min_credit,
            pass_pref_cred: passes.pref_credit,
            pass_min_income: passes.min_income,
            pass_pref_income: passes.pref_income,
        }
    }
}

pub(crate) struct OneApplication(pub(crate) UserId, pub(crate) ListingId);

impl Input for OneApplication {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let user = from.path("userId", "The applicant");
        let listing = from.path("listingId", "The listing");
        Some(Self(user?, listing?))
    }
}

async fn check(cx: Context, OneApplication(user, listing): OneApplication) -> Result<Json<ApplicationCheck>> {
    Ok(Json(cx.app().applications.check(&cx.call, &user, &listing).await?.into()))
}

struct ApplyByPath(Apply);

impl Input for ApplyByPath {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let user = from.path::<UserId>("userId", "The applicant");
        let listing = from.path::<ListingId>("listingId", "The listing");
        let mut body = from.body();
        let named = body.required::<UserId>("userId", "The applicant, as in the path");
        let listings = body.required::<Vec<ListingId>>("listingIds", "More listings; may be empty");
        if named.is_some() && user.is_some() && named != user {
            body.report(
                "userId",
                ValidationError::new(FaultCode::AnotherUser, "must be the user of the path"),
            );
        }
        let seen = body.optional("conditions", SEEN_CONDITIONS).unwrap_or_default();
        let mut listings = listings?;
        listings.insert(0, listing?);
        Some(Self(Apply { user: user?, listings, seen }))
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada", "listingIds": []}))
    }
}

async fn apply_by_path(cx: Context, ApplyByPath(input): ApplyByPath) -> Result<Created<Message>> {
    let user = input.user.clone();
    match cx.app().applications.apply(&cx.call, input.user, input.listings, input.seen).await {
        // The path has the first listing, the body the others.
        Err(Error::UnknownListings(indices)) => {
            Err(Problem::unknown_listings(indices, |index| match index {
                0 => FieldLocation::Parameter("listingId"),
                index => FieldLocation::Body(format!("/listingIds/{}", index - 1)),
            }))
        }
        outcome => Ok(outcome.map(|()| applied(&user))?),
    }
}
