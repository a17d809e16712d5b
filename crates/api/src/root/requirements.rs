//! `/requirements`: which requirements an applicant meets. Ids are integers in requests and strings in responses.

use portico_domain::SafeInteger;
use portico_domain::requirements::RequirementsRecord;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::OPERATORS;
use crate::input::NumericId;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get, post, with_tag};
use crate::problem::Result;
use crate::reply::{Created, Json, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Requirements",
        vec![
            post("/requirements", OPERATORS, write)
                .id("putRequirements")
                .about("Ids are whole numbers, as numbers or as text; one flag for each requirement.")
                .summary("Records which requirements an applicant meets; replaces an earlier record"),
            get("/requirements/{listingId}/{applicantId}", OPERATORS, read)
                .id("getRequirements")
                .about("Answers with the ids as text and the flags in the order in which they were recorded.")
                .summary("Which requirements an applicant meets")
                .not_found("Nothing is recorded"),
        ],
    )
}

/// Which requirements are met.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Requirements)]
struct RequirementsOut {
    #[schema(example = "12")]
    listing_id: String,
    #[schema(example = "34")]
    applicant_id: String,
    requirements_met: Vec<bool>,
}

struct Write(RequirementsRecord);

impl Input for Write {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let listing = body.required::<NumericId>("listingId", "The listing's number");
        let applicant = body.required::<NumericId>("applicantId", "The applicant's number");
        let met = body.required("requirementsMet", "One flag per requirement");
        Some(Self(RequirementsRecord { listing: listing?.0, applicant: applicant?.0, met: met? }))
    }
    fn example() -> Option<Value> {
        Some(json!({"listingId": 12, "applicantId": 34, "requirementsMet": [true, false, true]}))
    }
}

async fn write(cx: Context, Write(record): Write) -> Result<Created<Message>> {
    let (listing, applicant) = (record.listing.to_string(), record.applicant.to_string());
    cx.app().screening.put_requirements(&cx.call, record).await?;
    Ok(Created::at(&["requirements", &listing, &applicant], message("Requirements recorded")))
}

struct Read {
    listing: SafeInteger,
    applicant: SafeInteger,
}

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let listing = from.path::<NumericId>("listingId", "The listing's number");
        let applicant = from.path::<NumericId>("applicantId", "The applicant's number");
        Some(Self { listing: listing?.0, applicant: applicant?.0 })
    }
}

async fn read(cx: Context, input: Read) -> Result<Json<RequirementsOut>> {
    let record = cx.app().screening.requirements(&cx.call, input.listing, input.applicant).await?;
    Ok(Json(RequirementsOut {
        listing_id: record.listing.to_string(),
        applicant_id: record.applicant.to_string(),
        requirements_met: record.met,
    }))
}
