//! The audit log: which entries requests leave.

use reqwest::Method;
use serde_json::json;

use crate::support::{App, Cell, Raw, applicant, on_both_engines, unique, with};

on_both_engines! {
    shared:
        every_action_on_a_person_is_audited,
        audit_log_has_no_personal_data;
}

/// Action, actor and subject of all entries.
async fn done(app: &App, about: &str) -> Vec<(String, String)> {
    let raw = Raw::open(app).await;
    let sql = "SELECT actor, action FROM audit WHERE subject = ?1 ORDER BY seq";
    let rows = raw.rows(sql, &[Cell::Text(about.into())]).await;
    rows.iter().map(|row| (row[0].text().to_owned(), row[1].text().to_owned())).collect()
}

fn by(who: &str, actions: &[&str]) -> Vec<(String, String)> {
    actions.iter().map(|action| (format!("user {who}"), (*action).to_owned())).collect()
}

async fn every_action_on_a_person_is_audited(app: &App) {
    let (ada, landlord, case) = (app.someone().await, app.someone().await, unique("case"));
    let made = app.verified(&ada.token, &format!("?caseId={case}"), &applicant("Evicted")).await;
    assert_eq!(done(app, &case).await, by(&ada.user, &["case.opened"]));
    app.verify(&ada.token, &format!("?verifiedId={}", made.id), &json!({})).await.json(200);
    app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&ada.token).send().await.json(200);
    app.to_get("/v1/verifications").bearer(&ada.token).send().await.json(200);
    app.minted(&made.token).await;
    app.validate(&landlord.token, &made.id, "Ada", "Evicted").await.status(200);
    for _ in 0..5 {
        app.validate(&landlord.token, &made.id, "Ada", "Hopper").await.refused(404, "identity_not_found");
    }
    app.validate(&landlord.token, &made.id, "Ada", "Evicted").await.refused(429, "too_many_guesses");
    let unknown = unique("unknown");
    app.validate(&landlord.token, &unknown, "Ada", "Evicted").await.refused(404, "identity_not_found");
    let told = done(app, "").await;
    assert!(told.contains(&by(&landlord.user, &["identity.not_validated"])[0]), "{told:?}");
    assert_eq!(done(app, &unknown).await, [], "what was asked for may be anything, and is not kept");
    let wrong = "identity.not_validated";
    let mut expected = by(
        &ada.user,
        &[
            "verification.made",
            "verification.adverse_action",
            "verification.given_again",
            "verification.read",
        ],
    );
    let theirs = ["identity.validated", wrong, wrong, wrong, wrong, wrong, "identity.validation_refused"];
    expected.extend(by(&landlord.user, &theirs));
    let found: Vec<(String, String)> = done(app, &made.id)
        .await
        .into_iter()
        // The chain may lag behind.
        .filter(|(_, action)| action != "identity.validation_failed")
        .collect();
    assert_eq!(found, expected);
    let path = format!("/v1/identities/{}", made.token);
    app.request(Method::DELETE, &path).bearer(&ada.token).send().await.only_message(200);
    assert_eq!(done(app, &made.token).await, by(&ada.user, &["identity.revoked"]));
    let path = format!("/v1/users/{}/personal-data", ada.user);
    app.request(Method::DELETE, &path).bearer(&ada.token).send().await.only_message(200);
    assert_eq!(done(app, &ada.user).await, by(&ada.user, &["verifications.listed", "person.erased"]));
}

async fn audit_log_has_no_personal_data(app: &App) {
    let ada = app.someone().await;
    let body = with(
        applicant("Wallabyson"),
        json!({"FirstName": "Quokkabert", "SSN": "078-05-1120", "Email": "quokkabert@example.com"}),
    );
    let made = app.verified(&ada.token, "", &body).await;
    app.validate(&ada.token, &made.id, "Quokkabert", "Wallabyson").await.status(200);
    app.validate(&ada.token, &made.id, "Quokkabert", "Wombatson").await.refused(404, "identity_not_found");
    let rows = Raw::open(app).await.rows("SELECT actor, action, subject, detail FROM audit", &[]).await;
    for row in rows {
        for cell in &row {
            let text = cell.text().to_lowercase();
            for value in ["quokka", "wallaby", "wombat", "078-05", "078051120", "85000"] {
                assert!(!text.contains(value), "{row:?}");
            }
        }
    }
}
