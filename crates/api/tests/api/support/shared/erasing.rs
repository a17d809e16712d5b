//! People who are erased, and what is left of them.

use reqwest::Method;
use serde_json::json;

use super::{Answer, Session, Verified, applicant, on_chain, unique, until, with};
use crate::support::App;

pub(crate) async fn erase(app: &App, bearer: &str, user: &str) -> Answer {
    app.request(Method::DELETE, &format!("/v1/users/{user}/personal-data")).bearer(bearer).send().await
}

/// A person with a result, a token, and an application with four flags.
pub(crate) struct Known {
    pub(crate) who: Session,
    pub(crate) made: Verified,
    pub(crate) case: String,
    pub(crate) listing: String,
    pub(crate) reference: [u8; 32],
}

pub(crate) async fn known(app: &App) -> Known {
    let (who, case, listing) = (app.someone().await, unique("case"), unique("elm"));
    let body = with(on_chain(&listing, "landlord"), json!({"minCredit": 620, "minIncome": 50_000}));
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
    app.apply(&who.token, &who.user, &[&listing]).await;
    let made = app.verified(&who.token, &format!("?caseId={case}"), &applicant("Lovelace")).await;
    app.flags_become(&who.user, &listing, [true; 4]).await;
    app.minted(&made.token).await;
    app.validate(&who.token, &made.id, "Ada", "Lovelace").await.status(200);
    let reference = app.chain_key(&who.user, &listing).await;
    Known { who, made, case, listing, reference }
}

/// Asserts that only the data that must be kept is left.
pub(crate) async fn is_forgotten(app: &App, known: &Known) {
    let Known { who, made, listing, reference, .. } = known;
    app.validate(&who.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    let read = app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&who.token).send().await;
    read.refused(404, "verification_not_found");
    assert_eq!(app.to_get("/v1/verifications").bearer(&who.token).send().await.json(200), json!([]));
    let again = app.verify(&who.token, &format!("?verifiedId={}", made.id), &json!({})).await;
    again.refused(404, "verification_not_found");
    app.burned(&made.token).await;
    until("the flags are cleared on the chain", 30, async || {
        app.commitment_on_chain(reference).await.is_none().then_some(())
    })
    .await;
    let path = format!("/applications/{}", who.user);
    app.to_get(&path).bearer(&who.token).send().await.refused(404, "application_not_found");
    let path = format!("/v1/applications/{}/{listing}", who.user);
    app.to_get(&path).bearer(&who.token).send().await.refused(404, "application_not_found");
    let path = format!("/v1/listings/{listing}/applicants");
    assert_eq!(app.to_get(&path).key(app.operator()).send().await.json(200), json!([]));
}
