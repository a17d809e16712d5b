//! `/v1/consents`: the texts that applicants consent to.

use portico_app::consents::Consent;
use portico_domain::Label;
use serde::Serialize;
use utoipa::ToSchema;

use crate::access::PUBLIC;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get, with_tag};
use crate::problem::Result;
use crate::reply::{Json, JsonArray};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Screening",
        vec![
            get("/v1/consents", PUBLIC, list).id("listConsents")
            .about("A verification names the version in `consentVersion`.").summary(
                "The texts that applicants consent to, in the order of their versions; forms show the last one",
            ),
            get("/v1/consents/{version}", PUBLIC, read)
                .id("getConsent")
                .about("The same text for ever, to show what was agreed to.")
                .summary("The text of a version; it never changes")
                .not_found("There is no such version"),
        ],
    )
}

/// A text that applicants consent to.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Consent)]
struct ConsentOut {
    /// For `consentVersion` of a verification
    #[schema(example = "2026-01")]
    version: String,
    text: String,
}

impl From<Consent> for ConsentOut {
    fn from(consent: Consent) -> Self {
        Self { version: consent.version.into(), text: consent.text }
    }
}

async fn list(cx: Context, (): ()) -> Result<JsonArray<ConsentOut>> {
    let consents = cx.app().screening.consents(&cx.call);
    Ok(JsonArray(consents.into_iter().map(Into::into).collect()))
}

struct Read(Label);

impl Input for Read {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("version", "The version").map(Self)
    }
}

async fn read(cx: Context, Read(version): Read) -> Result<Json<ConsentOut>> {
    Ok(Json(cx.app().screening.consent(&cx.call, &version)?.into()))
}
