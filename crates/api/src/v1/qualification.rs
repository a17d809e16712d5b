//! `/v1/listings/{id}/qualification`: a listing's terms against the caller's own findings.

use portico_app::applications::{Qualification, Term, TermState, TermStatus, TermValue};
use portico_domain::{Credit, Income};
use serde::Serialize;
use utoipa::ToSchema;

use super::applications::CheckStateOut;
use super::listings::ListingPath;
use crate::access::BEARER;
use crate::operation::{Context, Operation, get};
use crate::problem::Result;
use crate::reply::Json;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        get("/v1/listings/{id}/qualification", BEARER, read)
            .id("getQualification")
            .about("Uses the caller's earlier results and asks no bureau.")
            .summary(
                "Whether the caller's own valid findings meet a listing's terms, before applying. Recorded nowhere",
            )
            .tagged("Applications")
            .not_found("There is no such listing"),
    ]
}

/// Whether a person meets a listing's terms.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Qualification)]
struct QualificationOut {
    /// Empty if the listing has no terms
    terms: Vec<TermStateOut>,
    /// The checks that the listing's owner requires
    checks: Vec<CheckStateOut>,
}

/// One of a listing's terms.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = QualificationTerm)]
struct TermStateOut {
    term: Term,
    /// What the listing asks for
    #[schema(value_type = f64)]
    value: ValueOut,
    status: TermStatus,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum ValueOut {
    Credit(Credit),
    Income(Income),
}

impl From<TermState> for TermStateOut {
    fn from(state: TermState) -> Self {
        let value = match state.value {
            TermValue::Credit(credit) => ValueOut::Credit(credit),
            TermValue::Income(income) => ValueOut::Income(income),
        };
        Self { term: state.term, value, status: state.status }
    }
}

async fn read(cx: Context, ListingPath(id): ListingPath) -> Result<Json<QualificationOut>> {
    let Qualification { terms, checks } = cx.app().applications.qualification(&cx.call, &id).await?;
    Ok(Json(QualificationOut {
        terms: terms.into_iter().map(Into::into).collect(),
        checks: checks.into_iter().map(Into::into).collect(),
    }))
}
