//! `/chainIdentityInd`: creates and validates a person's chain identifier.

use portico_app::screening::personal::Name;
use portico_domain::{CaseId, VerificationId, WalletId};

use crate::access::BEARER;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, get, post, with_tag};
use crate::problem::Result;
use crate::reply::Plain;

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Screening",
        vec![
            get("/chainIdentityInd", BEARER, validate)
                .id("validateIdentity")
                .about("Answers with the token's number as text if both names are those of the result.")
                .summary("The token of a result, for callers who know both names")
                .not_found("There is no such result, its token was revoked, or the names are not its own"),
            post("/chainIdentityInd", BEARER, create)
                .id("createIdentity")
                .about("Answers with the token's number as text. The case is opened if it is new; else it must be the caller's.")
                .summary("The token of a case, which is made if there is none")
                .not_found("The case is someone else's")
                .conflict("The token of the case was revoked"),
        ],
    )
}

struct Validate {
    id: VerificationId,
    first: Name,
    last: Name,
}

impl Input for Validate {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let id = from.required_query("Id", "The verification's Id");
        let first = from.required_query("FirstName", "First name; case and outer spaces do not count");
        let last = from.required_query("LastName", "Last name; case and outer spaces do not count");
        Some(Self { id: id?, first: first?, last: last? })
    }
}

async fn validate(cx: Context, input: Validate) -> Result<Plain> {
    let (first, last) = (input.first.expose(), input.last.expose());
    Ok(Plain(cx.app().identities.validate(&cx.call, input.id, first, last).await?))
}

struct Create {
    case: CaseId,
    wallet: WalletId,
}

impl Input for Create {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let case = from.required_query("caseId", "The case; a new one is opened");
        let wallet = from.required_query(
            "walletId",
            "An address that is to claim the token, or any id. Until the claim an address that is kept here holds the token",
        );
        Some(Self { case: case?, wallet: wallet? })
    }
}

async fn create(cx: Context, input: Create) -> Result<Plain> {
    Ok(Plain(cx.app().identities.create(&cx.call, input.case, &input.wallet).await?))
}
