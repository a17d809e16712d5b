//! `/verifyRentalRequirements`: checks the caller as an applicant.

use portico_app::screening::Applicant;
use portico_app::screening::{self, Verification};
use portico_domain::{CaseId, ClientId, Income, VerificationId, WalletId};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::BEARER;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, post};
use crate::problem::Result;
use crate::reply::Json;

pub(crate) fn operations() -> Vec<Operation> {
    vec![
        post("/verifyRentalRequirements", BEARER, verify)
            .id("verifyRentalRequirements")
            .about("Which inputs are needed follows from the checks of the pipeline. Findings of the last 30 days are used again; the answer holds no score.")
            .summary("Runs the checks of a pipeline on the caller, and mints the token of the case")
            .not_found("There is no such pipeline, case or earlier result of the caller's")
            .conflict("The token of the case was revoked")
            .tagged("Screening"),
    ]
}

/// What came of a verification.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct VerificationResult {
    /// The soulbound token's number
    token_id: String,
    verification_results: Results,
}

#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "PascalCase")]
#[schema(as = VerificationResults)]
struct Results {
    /// The result's id, for `verifiedId` and for validating the chain identifier
    id: String,
    /// Yearly income; 0 if that was not checked
    #[schema(value_type = f64)]
    incom_estimate: Income,
    /// Whether the credit score is high enough; false if that was not checked
    qualified_via_credit: bool,
}

impl From<screening::VerificationResult> for VerificationResult {
    fn from(verified: screening::VerificationResult) -> Self {
        Self {
            token_id: verified.token,
            verification_results: Results {
                id: verified.id.into(),
                incom_estimate: verified.income,
                qualified_via_credit: verified.qualified,
            },
        }
    }
}

struct Verify(Verification);

impl Input for Verify {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let verified = from.query::<VerificationId>(
            "verifiedId",
            "An earlier result of the caller, at most 30 days old: it is given again, and no bureau is asked",
        );
        let client = from.query::<ClientId>("clientId", "Whose pipeline says which checks run");
        let case = from.query::<CaseId>("caseId", "The case; a new one is opened. None: one is made");
        let wallet = from.query::<WalletId>("walletId", "An address that is to claim the token, or any id");
        let mut body = from.body();
        let applicant = Applicant {
            first_name: body.optional("FirstName", "First name"),
            last_name: body.optional("LastName", "Last name"),
            date_of_birth: body.optional("DateOfBirth", "A day that is not in the future"),
            ssn: body.optional("SSN", "Used once, and never stored"),
            street_address: body.optional("StreetAddress", "Street address"),
            city: body.optional("City", "City"),
            state: body.optional("State", "State"),
            email: body.optional("Email", "E-mail address"),
            postal_code: body.optional("PostalCode", "Postal code"),
            subscription: body.optional("OpenBankingSubscriptionId", "For the income check"),
            token: body.optional("OpenBankingToken", "For the income check; used once, and never stored"),
        };
        let consented_at = body.optional("consentedAt", "When the applicant consented");
        let consent_version =
            body.optional("consentVersion", "To which text (`/v1/consents`); required in a live instance");
        Some(Self(Verification { verified, client, case, wallet, applicant, consented_at, consent_version }))
    }
    fn example() -> Option<Value> {
        Some(json!({
            "FirstName": "Ada", "LastName": "Lovelace", "DateOfBirth": "1990-12-10", "SSN": "900-00-0720",
            "OpenBankingToken": "income-85000", "consentVersion": "2026-01"
        }))
    }
}

async fn verify(cx: Context, Verify(input): Verify) -> Result<Json<VerificationResult>> {
    cx.run_in_background(async |cx| Ok(Json(cx.app().screening.verify(&cx.call, input).await?.into()))).await
}
