//! Applicants and verifications.

use serde_json::{Value, json};

use super::{Answer, Session, encoded, until};
use crate::support::App;

/// An applicant who consents, with the inputs of all four checks: score 720, income 85,000, nothing on file.
pub(crate) fn applicant(last: &str) -> Value {
    json!({
        "FirstName": "Ada", "LastName": last, "DateOfBirth": "1990-12-10", "SSN": "900-00-0720",
        "OpenBankingToken": "income-85000", "consentVersion": "2026-01",
    })
}

/// A completed verification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verified {
    pub(crate) id: String,
    pub(crate) token: String,
}

impl App {
    /// Requests a verification; a query starts with `?`.
    pub(crate) async fn verify(&self, bearer: &str, query: &str, body: &Value) -> Answer {
        self.to_post(&format!("/verifyRentalRequirements{query}"), body).bearer(bearer).send().await
    }

    /// A verification that must succeed.
    pub(crate) async fn verified(&self, bearer: &str, query: &str, body: &Value) -> Verified {
        let answer = self.verify(bearer, query, body).await.json(200);
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Verified { id: text(&answer["verificationResults"]["Id"]), token: text(&answer["tokenId"]) }
    }

    /// Validates a chain identifier, once the chain has caught up.
    pub(crate) async fn validate(&self, bearer: &str, id: &str, first: &str, last: &str) -> Answer {
        let (first, last) = (encoded(first), encoded(last));
        let path = format!("/chainIdentityInd?Id={}&FirstName={first}&LastName={last}", encoded(id));
        until("the chain has caught up", 30, async || {
            let answer = self.to_get(&path).bearer(bearer).send().await;
            (answer.status != 503).then_some(answer)
        })
        .await
    }

    /// Makes the token of a case.
    pub(crate) async fn identity(&self, bearer: &str, case: &str, wallet: &str) -> Answer {
        let path = format!("/chainIdentityInd?caseId={}&walletId={}", encoded(case), encoded(wallet));
        self.request(reqwest::Method::POST, &path).bearer(bearer).send().await
    }

    /// Applies for listings.
    pub(crate) async fn apply(&self, bearer: &str, user: &str, listings: &[&str]) {
        let body = json!({"userId": user, "listingIds": listings});
        self.to_post("/applications", &body).bearer(bearer).send().await.only_message(201);
    }

    /// An application, as a person sees it.
    pub(crate) async fn application(&self, reader: &Session, user: &str, listing: &str) -> Value {
        let path = format!("/v1/applications/{}/{}", encoded(user), encoded(listing));
        self.to_get(&path).bearer(&reader.token).send().await.json(200)
    }

    /// The four flags of an application, once the chain has caught up.
    pub(crate) async fn flags(&self, user: &str, listing: &str) -> [bool; 4] {
        let path = format!("/applications/{}/{}/check", encoded(user), encoded(listing));
        let answer = until("the chain has caught up", 30, async || {
            let answer = self.to_get(&path).key(self.operator()).send().await;
            (answer.status != 503).then_some(answer)
        })
        .await
        .json(200);
        assert_eq!(answer.as_object().unwrap().len(), 4, "{answer}");
        ["passMinCredit", "passPrefCred", "passMinIncome", "passPrefIncome"]
            .map(|flag| answer[flag].as_bool().expect("a flag"))
    }

    /// Waits until the flags of an application are these.
    pub(crate) async fn flags_become(&self, user: &str, listing: &str, expected: [bool; 4]) {
        until(&format!("the flags are {expected:?}"), 30, async || {
            (self.flags(user, listing).await == expected).then_some(())
        })
        .await;
    }
}
