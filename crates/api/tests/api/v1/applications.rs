//! `/v1/applications`: checks and flags, withdrawal, decisions, notices and disputes.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    Answer, App, Engine, Options, Session, applicant, ids, moment, on_both_engines, on_chain, unique, until,
    with,
};

on_both_engines! {
    shared:
        application_has_all_of_its_fields,
        failed_check_is_seen_by_the_owner,
        withdrawal_clears_the_flags_and_ends_the_sharing,
        decision_is_made_once_under_its_key,
        decision_of_an_older_version_is_refused,
        only_the_applicant_reads_the_notice,
        decision_names_valid_checks_only,
        changed_conditions_are_refused,
        name_is_checked_by_the_owner,
        disputed_finding_is_shown_until_a_new_one;
    own:
        live_notice_names_the_bureau;
}

/// A landlord with the pipeline's checks required.
async fn landlord(app: &App, checks: &[&str]) -> Session {
    let landlord = app.someone().await;
    let all = ["EvictionCheck", "IncomeCheck", "SoftCreditCheck", "CriminalBackgroundCheck"];
    let mut pipeline = json!({"ClientId": unique("client")});
    for check in all {
        pipeline[check] = json!(checks.contains(&check));
    }
    app.to_post("/verificationPipeline", &pipeline).bearer(&landlord.token).send().await.status(200);
    landlord
}

/// A listing of theirs with terms on the chain.
async fn offer(app: &App, owner: &Session, credit: u32, income: u32) -> String {
    let id = unique("home");
    let body = with(on_chain(&id, &owner.user), json!({"minCredit": credit, "minIncome": income}));
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
    id
}

fn path(applicant: &Session, listing: &str) -> String {
    format!("/v1/applications/{}/{listing}", applicant.user)
}

async fn decide(app: &App, owner: &Session, applicant: &Session, listing: &str, body: Value) -> Answer {
    let path = format!("{}/decision", path(applicant, listing));
    app.to_post(&path, &body).bearer(&owner.token).send().await
}

async fn withdraw(app: &App, applicant: &Session, listing: &str) -> Answer {
    app.request(Method::DELETE, &path(applicant, listing)).bearer(&applicant.token).send().await
}

async fn renew(app: &App, applicant: &Session, listing: &str) -> Answer {
    let path = format!("{}/report", path(applicant, listing));
    app.request(Method::PUT, &path).bearer(&applicant.token).json(&json!({})).send().await
}

async fn dispute(app: &App, who: &Session, verification: &str, check: &str) -> Answer {
    let path = format!("/v1/verifications/{verification}/checks/{check}/dispute");
    app.to_post(&path, &json!({})).bearer(&who.token).send().await
}

/// Check and status, in the pipeline's order.
fn checks(application: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let checks = application["checks"].as_array().unwrap();
    checks.iter().map(|check| (text(&check["check"]), text(&check["status"]))).collect()
}

fn are(application: &Value, expected: &[(&str, &str)]) {
    let expected: Vec<_> = expected.iter().map(|&(check, status)| (check.into(), status.into())).collect();
    assert_eq!(checks(application), expected, "{application}");
}

const NONE: [bool; 4] = [false; 4];
const ALL: [bool; 4] = [true; 4];

async fn application_has_all_of_its_fields(app: &App) {
    let (owner, ada) = (landlord(app, &["IncomeCheck"]).await, app.someone().await);
    let id = offer(app, &owner, 0, 50_000).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    let seen = app.application(&ada, &ada.user, &id).await;
    let client = seen["sharing"]["clientId"].as_str().unwrap();
    let expected = json!({
        "id": seen["id"], "userId": ada.user, "listingId": id, "status": "submitted",
        "appliedAt": moment(&seen["appliedAt"]),
        "terms": {"minCredit": 0, "prefCredit": 0, "minIncome": 50_000, "prefIncome": 50_000},
        "checks": [{"check": "income", "status": "missing"}], "complete": false,
        "flags": {
            "passMinCredit": false, "passPrefCred": false, "passMinIncome": false, "passPrefIncome": false,
        },
        "flagsWithheld": false, "report": [], "conditionsSeen": false, "nameChecks": [],
        "sharing": {"userId": owner.user, "accountId": owner.user, "clientId": client, "active": true},
        "timeline": [{"at": seen["appliedAt"], "status": "submitted", "by": "applicant"}],
    });
    assert_eq!(seen, expected);
    for reader in [&owner, &ada] {
        assert_eq!(app.application(reader, &ada.user, &id).await, expected);
    }
    app.verified(&ada.token, "", &json!({"OpenBankingToken": "income-60000"})).await;
    app.flags_become(&ada.user, &id, ALL).await;
    let seen = app.application(&owner, &ada.user, &id).await;
    are(&seen, &[("income", "passed")]);
    assert_eq!((&seen["complete"], &seen["flags"]["passMinIncome"]), (&json!(true), &json!(true)));
    let expiry = seen["checks"][0]["expiresAt"].as_str().unwrap();
    assert_eq!(seen["expiresAt"].as_str().unwrap(), format!("{}T00:00:00.000000Z", &expiry[..10]));
    assert!(!seen.to_string().contains("60000") && !seen.to_string().contains("score"), "{seen}");
}

/// Regression: applicants with a failed eviction check looked like those without.
async fn failed_check_is_seen_by_the_owner(app: &App) {
    let owner = landlord(app, &["EvictionCheck", "SoftCreditCheck"]).await;
    let id = offer(app, &owner, 620, 0).await;
    let (good, bad) = (app.someone().await, app.someone().await);
    for (who, name) in [(&good, "Lovelace"), (&bad, "Evicted")] {
        app.verified(&who.token, "", &applicant(name)).await;
        app.apply(&who.token, &who.user, &[&id]).await;
    }
    app.flags_become(&bad.user, &id, ALL).await;
    let path = format!("/v1/listings/{id}/applicants");
    let seen = app.to_get(&path).bearer(&owner.token).send().await.json(200);
    assert_eq!(ids(&seen, "userId"), [good.user, bad.user]);
    are(&seen[0], &[("eviction", "passed"), ("softCredit", "passed")]);
    are(&seen[1], &[("eviction", "not_passed"), ("softCredit", "passed")]);
}

async fn withdrawal_clears_the_flags_and_ends_the_sharing(app: &App) {
    let (owner, ada) = (landlord(app, &["SoftCreditCheck"]).await, app.someone().await);
    let id = offer(app, &owner, 620, 0).await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    app.flags_become(&ada.user, &id, ALL).await;
    let reference = app.chain_key(&ada.user, &id).await;
    withdraw(app, &ada, &id).await.only_message(200);
    assert_eq!(app.flags(&ada.user, &id).await, NONE);
    until("the flags are cleared on the chain", 30, async || {
        app.commitment_on_chain(&reference).await.is_none().then_some(())
    })
    .await;
    let seen = app.application(&owner, &ada.user, &id).await;
    assert_eq!((&seen["status"], &seen["sharing"]["active"]), (&json!("withdrawn"), &json!(false)));
    assert_eq!((&seen["checks"], &seen["complete"]), (&json!([]), &json!(false)));
    assert_eq!(seen["timeline"][1]["by"], "applicant");
    let listed = app.to_get(&format!("/applications/{}", ada.user)).bearer(&ada.token).send().await;
    listed.refused(404, "application_not_found");
    // A new application has a reference of its own.
    app.apply(&ada.token, &ada.user, &[&id]).await;
    app.flags_become(&ada.user, &id, ALL).await;
    let again = app.application(&ada, &ada.user, &id).await;
    assert_eq!(again["status"], "submitted");
    assert_ne!(again["id"], seen["id"]);
    assert_ne!(app.chain_key(&ada.user, &id).await, reference);
}

async fn decision_is_made_once_under_its_key(app: &App) {
    let (owner, ada) = (app.someone().await, app.someone().await);
    let id = offer(app, &owner, 0, 0).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    for _ in 0..2 {
        let request = app.to_post(&format!("{}/decision", path(&ada, &id)), &json!({"decision": "approved"}));
        request.bearer(&owner.token).once("decide-once").send().await.only_message(201);
    }
}

async fn decision_of_an_older_version_is_refused(app: &App) {
    let (owner, ada) = (app.someone().await, app.someone().await);
    let id = offer(app, &owner, 0, 0).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    let path = path(&ada, &id);
    let read = async || app.to_get(&path).bearer(&owner.token).send().await.header("etag").to_owned();
    let decide = async |etag: &str| {
        let request = app.to_post(&format!("{path}/decision"), &json!({"decision": "approved"}));
        request.bearer(&owner.token).header("If-Match", etag).send().await
    };
    let first = read().await;
    withdraw(app, &ada, &id).await.only_message(200);
    app.apply(&ada.token, &ada.user, &[&id]).await;
    let second = read().await;
    assert_ne!(first, second);
    decide(&first).await.refused(412, "precondition_failed");
    decide("nonsense").await.has_faults(&[("If-Match", "not_an_etag")]);
    assert_eq!(app.application(&ada, &ada.user, &id).await["status"], "submitted");
    decide(&second).await.only_message(201);
}

async fn only_the_applicant_reads_the_notice(app: &App) {
    let (owner, ada) = (landlord(app, &["EvictionCheck", "SoftCreditCheck"]).await, app.someone().await);
    let id = offer(app, &owner, 800, 0).await;
    app.verified(&ada.token, "", &applicant("Evicted")).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    app.flags_become(&ada.user, &id, [false, false, true, true]).await;
    let body = json!({"decision": "declined", "reasons": ["eviction", "softCredit"], "note": "Sorry"});
    decide(app, &owner, &ada, &id, body).await.only_message(201);
    let (own, theirs) =
        (app.application(&ada, &ada.user, &id).await, app.application(&owner, &ada.user, &id).await);
    for seen in [&own, &theirs] {
        assert_eq!(seen["decision"]["reasons"], json!(["eviction", "softCredit"]));
        assert_eq!((&seen["decision"]["note"], &seen["status"]), (&json!("Sorry"), &json!("declined")));
        assert_eq!(seen["noticeGiven"]["checks"], json!(["eviction", "softCredit"]));
        moment(&seen["noticeGiven"]["givenAt"]);
    }
    assert_eq!(theirs.get("notice"), None);
    let notice = &own["notice"];
    let reports = notice["reports"].as_array().unwrap();
    assert_eq!(ids(&notice["reports"], "check"), ["eviction", "softCredit"]);
    for report in reports {
        for field in ["name", "address", "telephone"] {
            assert!(!report["supplier"][field].as_str().unwrap().is_empty(), "{report}");
        }
    }
    assert_eq!(reports[0].get("score"), None);
    let score = &reports[1]["score"];
    assert_eq!((&score["score"], &score["range"]), (&json!(720), &json!({"min": 300, "max": 850})));
    assert_eq!(score["factors"].as_array().unwrap().len(), 2);
    assert!(notice["freeCopy"].as_str().unwrap().contains("60 days"), "{notice}");
    // The list of applications has it for the applicant alone as well.
    let path = format!("/v1/users/{}/applications", ada.user);
    let listed = app.to_get(&path).bearer(&ada.token).send().await.json(200);
    assert_eq!(listed[0]["notice"], *notice);
    let listed = app.to_get(&path).key(app.operator()).send().await.json(200);
    assert_eq!((listed[0].get("notice"), &listed[0]["status"]), (None, &json!("declined")));
    // Without reasons there is none.
    let bob = app.someone().await;
    app.apply(&bob.token, &bob.user, &[&id]).await;
    let neither = decide(app, &owner, &bob, &id, json!({"decision": "declined"})).await;
    neither.has_faults(&[("/reasons", "missing")]);
    let both = json!({"decision": "declined", "reasons": ["eviction"], "basis": "no_report"});
    decide(app, &owner, &bob, &id, both).await.has_faults(&[("/reasons", "missing")]);
    let body = json!({"decision": "declined", "basis": "no_report"});
    decide(app, &owner, &bob, &id, body).await.only_message(201);
    let seen = app.application(&bob, &bob.user, &id).await;
    assert_eq!((seen.get("notice"), &seen["decision"]["basis"]), (None, &json!("no_report")));
}

async fn live_notice_names_the_bureau(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    let (owner, ada) = (landlord(&app, &["IncomeCheck"]).await, app.someone().await);
    let id = offer(&app, &owner, 0, 90_000).await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    let body = json!({"decision": "conditional", "reasons": ["income"]});
    until("the finding is shared", 30, async || {
        let answer = decide(&app, &owner, &ada, &id, body.clone()).await;
        (answer.status == 201).then_some(())
    })
    .await;
    let seen = app.application(&ada, &ada.user, &id).await;
    assert_eq!(seen["status"], "conditional");
    let supplier = &seen["notice"]["reports"][0]["supplier"];
    assert_eq!(
        supplier,
        &json!({
            "name": "Loopback Reports", "address": "1 Main Street, Dover, DE 19901, USA",
            "telephone": "+1 800 555 0100",
        })
    );
}

async fn decision_names_valid_checks_only(app: &App) {
    let (owner, ada) = (landlord(app, &["EvictionCheck", "IncomeCheck"]).await, app.someone().await);
    let id = offer(app, &owner, 0, 50_000).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    app.verified(&ada.token, "", &json!({"OpenBankingToken": "income-10"})).await;
    for unknown in ["eviction", "softCredit"] {
        let body = json!({"decision": "declined", "reasons": [unknown]});
        decide(app, &owner, &ada, &id, body).await.refused(409, "check_not_valid");
    }
    let wrong = json!({"decision": "maybe", "reasons": ["luck"], "note": 5, "basis": "luck"});
    decide(app, &owner, &ada, &id, wrong).await.has_faults(&[
        ("/decision", "unknown_decision"),
        ("/reasons/0", "unknown_check"),
        ("/basis", "unknown_basis"),
        ("/note", "wrong_type"),
    ]);
    assert_eq!(app.application(&ada, &ada.user, &id).await["status"], "submitted");
}

async fn changed_conditions_are_refused(app: &App) {
    let (owner, ada) = (landlord(app, &["IncomeCheck"]).await, app.someone().await);
    let (one, two) = (offer(app, &owner, 0, 0).await, offer(app, &owner, 620, 0).await);
    let read = async |id: &str| app.get(&format!("/v1/listings/{id}/conditions")).await.json(200);
    let (of_one, of_two) = (read(&one).await, read(&two).await);
    assert_eq!((&of_two["listingId"], &of_two["terms"]["minCredit"]), (&json!(two), &json!(620)));
    let expected = json!([
        {"check": "income", "byPipeline": true, "byTerms": false},
        {"check": "softCredit", "byPipeline": false, "byTerms": true},
    ]);
    assert_eq!(of_two["requiredChecks"], expected);
    assert_eq!((&of_two["country"], &of_two["consentVersion"]), (&json!("US"), &json!("2026-01")));
    let mut body = json!({
        "userId": ada.user, "listingIds": [one, two], "conditions": {&*one: of_one["tag"], &*two: "other"}
    });
    let refused = app.to_post("/applications", &body).bearer(&ada.token).send().await;
    assert!(refused.text().contains("/listingIds/1"), "{}", refused.text());
    refused.refused(409, "conditions_changed");
    let path = format!("/applications/{}", ada.user);
    app.to_get(&path).bearer(&ada.token).send().await.refused(404, "application_not_found");
    body["conditions"][&two] = of_two["tag"].clone();
    app.to_post("/applications", &body).bearer(&ada.token).send().await.only_message(201);
    assert_eq!(app.application(&owner, &ada.user, &two).await["conditionsSeen"], true);
    let wrong = json!({"userId": ada.user, "listingIds": [one], "conditions": {&*one: 5}});
    let pointer = format!("/conditions/{one}");
    let refused = app.to_post("/applications", &wrong).bearer(&ada.token).send().await;
    refused.has_faults(&[(&pointer, "wrong_type")]);
}

async fn name_is_checked_by_the_owner(app: &App) {
    let (owner, ada) = (landlord(app, &["SoftCreditCheck"]).await, app.someone().await);
    let id = offer(app, &owner, 620, 0).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    let path = format!("{}/name-check", path(&ada, &id));
    let ask = async |first: &str| {
        let body = json!({"firstName": first, "lastName": "Lovelace"});
        app.to_post(&path, &body).bearer(&owner.token).send().await
    };
    ask("Ada").await.refused(409, "no_report");
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.flags_become(&ada.user, &id, ALL).await;
    assert_eq!(ask("Ada").await.json(200), json!({"matches": true}));
    assert_eq!(ask("Ben").await.json(200), json!({"matches": false}));
    let seen = app.application(&ada, &ada.user, &id).await;
    assert_eq!(
        (&seen["nameChecks"][0]["matches"], &seen["nameChecks"][1]["matches"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(seen["report"][0]["check"], "softCredit");
}

async fn disputed_finding_is_shown_until_a_new_one(app: &App) {
    let (owner, ada, eve) = (
        landlord(app, &["EvictionCheck", "SoftCreditCheck"]).await,
        app.someone().await,
        app.someone().await,
    );
    let id = offer(app, &owner, 620, 0).await;
    app.apply(&ada.token, &ada.user, &[&id]).await;
    let made = app.verified(&ada.token, "", &applicant("Evicted")).await;
    app.flags_become(&ada.user, &id, ALL).await;
    dispute(app, &eve, &made.id, "eviction").await.refused(403, "finding_not_yours");
    dispute(app, &owner, &made.id, "eviction").await.refused(403, "finding_not_yours");
    dispute(app, &ada, &made.id, "luck").await.refused(404, "not_found");
    dispute(app, &ada, &unique("nothing"), "eviction").await.refused(404, "verification_not_found");
    are(
        &app.application(&owner, &ada.user, &id).await,
        &[("eviction", "not_passed"), ("softCredit", "passed")],
    );
    for _ in 0..2 {
        dispute(app, &ada, &made.id, "eviction").await.only_message(201);
    }
    are(
        &app.application(&owner, &ada.user, &id).await,
        &[("eviction", "disputed"), ("softCredit", "passed")],
    );
    assert_eq!(app.flags(&ada.user, &id).await, ALL);
    let result =
        app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&ada.token).send().await.json(200);
    moment(&result["checks"][0]["disputedAt"]);
    app.verified(&ada.token, "", &applicant("Evicted")).await;
    renew(app, &ada, &id).await.only_message(200);
    let seen = app.application(&owner, &ada.user, &id).await;
    are(&seen, &[("eviction", "not_passed"), ("softCredit", "passed")]);
}
