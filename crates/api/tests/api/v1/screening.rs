//! `/v1/verifications`: the caller's own results, without the values.

use serde_json::{Value, json};

use crate::support::{App, Session, applicant, ids, moment, on_both_engines, unique, with};

on_both_engines! {
    shared:
        result_lists_checks_without_values,
        failed_check_has_adverse_action_details,
        consent_is_recorded_as_it_was_given,
        results_are_paged_oldest_first;
}

async fn report(app: &App, who: &Session, id: &str) -> Value {
    app.to_get(&format!("/v1/verifications/{id}")).bearer(&who.token).send().await.json(200)
}

async fn result_lists_checks_without_values(app: &App) {
    let (ada, case) = (app.someone().await, unique("case"));
    let body = with(applicant("Lovelace"), json!({"Email": "ada@quokka.example", "City": "Quokkaville"}));
    let made = app.verified(&ada.token, &format!("?caseId={case}"), &body).await;
    let answer = app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&ada.token).send().await;
    // Random digits could match by chance.
    let text = answer.text().replace(&made.id, "").replace(&made.token, "");
    for value in ["Ada", "Lovelace", "1990-", "900-", ":85000", "quokka", "Quokka", "income-", "score"] {
        assert!(!text.contains(value), "{value}: {text}");
    }
    let mut report = answer.json(200);
    let created = moment(&report["createdAt"].take());
    let expires = moment(&report["expiresAt"].take());
    assert!(created.as_str() < expires.as_str());
    let checks = report["checks"].take();
    assert_eq!(ids(&checks, "check"), ["eviction", "income", "softCredit", "criminalBackground"]);
    for check in checks.as_array().unwrap() {
        assert_eq!((&check["outcome"], &check["bureau"]), (&json!("passed"), &json!("sandbox")));
        assert!(moment(&check["finishedAt"]).as_str() < moment(&check["expiresAt"]).as_str());
        assert_eq!(check.as_object().unwrap().len(), 5, "{check}");
    }
    let rest = json!({
        "id": made.id, "caseId": case, "tokenId": made.token, "revoked": false, "createdAt": null, "expiresAt": null,
        "checks": null, "backedBy": ["eviction", "softCredit", "criminalBackground"], "adverseActions": [],
        "consentVersion": "2026-01",
    });
    assert_eq!(report, rest);
}

async fn failed_check_has_adverse_action_details(app: &App) {
    for (body, check, reason) in [
        (applicant("Evicted"), "eviction", "eviction_on_file"),
        (applicant("Record"), "criminalBackground", "criminal_record_on_file"),
        (with(applicant("x"), json!({"SSN": "900-00-0600"})), "softCredit", "credit_score_below_threshold"),
        (with(applicant("x"), json!({"OpenBankingToken": "income-0"})), "income", "income_not_verified"),
    ] {
        let ada = app.someone().await;
        let made = app.verified(&ada.token, "", &body).await;
        let report = report(app, &ada, &made.id).await;
        let failed: Vec<&Value> = report["checks"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|check| check["outcome"] == "failed")
            .collect();
        assert_eq!(failed.len(), 1, "{report}");
        assert_eq!(failed[0]["check"], check);
        let adverse = report["adverseActions"].as_array().unwrap();
        assert_eq!(adverse.len(), 1, "{report}");
        assert_eq!((&adverse[0]["check"], &adverse[0]["reason"]), (&json!(check), &json!(reason)));
        assert_eq!(adverse[0]["bureau"], "sandbox");
        assert_eq!(moment(&adverse[0]["recordedAt"]), failed[0]["finishedAt"]);
        let notice = adverse[0]["notice"].as_str().unwrap();
        assert!(
            notice.contains("sandbox") && notice.contains("60 days") && notice.contains("dispute"),
            "{notice}"
        );
        assert_eq!(adverse[0].as_object().unwrap().len(), 5);
    }
}

async fn consent_is_recorded_as_it_was_given(app: &App) {
    let ada = app.someone().await;
    let consent = json!({"consentedAt": "2026-03-01T12:00:00+02:00", "consentVersion": " 2026-01 "});
    let made = app.verified(&ada.token, "", &with(applicant("Lovelace"), consent)).await;
    let first = report(app, &ada, &made.id).await;
    assert_eq!(first["consentedAt"], "2026-03-01T10:00:00.000000Z");
    assert_eq!(first["consentVersion"], "2026-01");
    let mut without = applicant("Lovelace");
    without.as_object_mut().unwrap().remove("consentVersion");
    let without = app.verified(&ada.token, "", &without).await;
    let second = report(app, &ada, &without.id).await;
    assert_eq!((second.get("consentedAt"), second.get("consentVersion")), (None, None));
    let wrong = json!({"consentedAt": "2026-02-30T00:00:00Z", "consentVersion": ""});
    let answer = app.verify(&ada.token, "", &with(applicant("Lovelace"), wrong)).await;
    answer.has_faults(&[("/consentedAt", "not_a_moment"), ("/consentVersion", "empty")]);
    let unknown = with(applicant("Lovelace"), json!({"consentVersion": "1999-01"}));
    app.verify(&ada.token, "", &unknown).await.has_faults(&[("/consentVersion", "unknown_consent")]);
}

async fn results_are_paged_oldest_first(app: &App) {
    let ada = app.someone().await;
    assert_eq!(app.to_get("/v1/verifications").bearer(&ada.token).send().await.json(200), json!([]));
    let mut made = Vec::new();
    for _ in 0..3 {
        made.push(app.verified(&ada.token, "", &applicant("Lovelace")).await.id);
    }
    let all = app.to_get("/v1/verifications").bearer(&ada.token).send().await.json(200);
    assert_eq!(ids(&all, "id"), made);
    assert_eq!(all[1], report(app, &ada, &made[1]).await);
    let mut path = "/v1/verifications?limit=2".to_owned();
    let first = app.to_get(&path).bearer(&ada.token).send().await;
    let link = first.header("link").to_owned();
    assert_eq!(ids(&first.json(200), "id"), made[..2]);
    path = link.strip_prefix('<').and_then(|link| link.split_once('>')).expect("there is more").0.to_owned();
    let rest = app.to_get(&path).bearer(&ada.token).send().await;
    assert_eq!(rest.header("link"), "");
    assert_eq!(ids(&rest.json(200), "id"), made[2..]);
}
