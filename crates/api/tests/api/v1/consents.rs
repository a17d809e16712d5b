//! `/v1/consents`: the texts, and what a live instance requires.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::{App, Bureau, Engine, Options, applicant, on_both_engines, with};

on_both_engines! {
    shared:
        built_in_text_is_served,
        unknown_version_is_not_found;
    own:
        configured_texts_are_served_too,
        live_verification_needs_consent;
}

async fn built_in_text_is_served(app: &App) {
    let consent = app.get("/v1/consents/2026-01").await.json(200);
    assert_eq!(consent["version"], "2026-01");
    assert!(consent["text"].as_str().unwrap().contains("I agree"), "{consent}");
    assert_eq!(app.get("/v1/consents").await.json(200), json!([consent]));
}

async fn unknown_version_is_not_found(app: &App) {
    app.get("/v1/consents/1999-01").await.refused(404, "consent_not_found");
}

async fn configured_texts_are_served_too(engine: Engine) {
    let consents = BTreeMap::from([("2027-01".into(), "I agree to everything new.".into())]);
    let app = Options { consents, ..Options::new(engine) }.start().await;
    let last = json!({"version": "2027-01", "text": "I agree to everything new."});
    assert_eq!(app.get("/v1/consents/2027-01").await.json(200), last);
    let all = app.get("/v1/consents").await.json(200);
    assert_eq!((all.as_array().unwrap().len(), &all[1]), (2, &last));
}

async fn live_verification_needs_consent(engine: Engine) {
    let bureau = Bureau::start();
    let app = Options::new(engine).live().bureau(&bureau).start().await;
    let ada = app.someone().await;
    let mut without = applicant("Lovelace");
    without.as_object_mut().unwrap().remove("consentVersion");
    app.verify(&ada.token, "", &without).await.has_faults(&[("/consentVersion", "missing")]);
    let unknown = with(without.clone(), json!({"consentVersion": "1999-01"}));
    app.verify(&ada.token, "", &unknown).await.has_faults(&[("/consentVersion", "unknown_consent")]);
    assert_eq!(bureau.take_requests(), [], "no bureau is asked");
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    // An earlier result needs no new consent.
    let again = app.verify(&ada.token, &format!("?verifiedId={}", made.id), &json!({})).await;
    again.status(200);
}
