//! `POST /verifyRentalRequirements`: runs the checks of a pipeline on the caller.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use portico_screening::ScreeningConfig;
use serde_json::{Value, json};

use crate::support::{
    Answer, App, Bureau, Cell, Engine, Options, Raw, Session, applicant, encoded, on_both_engines, unique,
    with,
};

on_both_engines! {
    shared:
        result_has_exactly_the_specified_fields,
        no_pipeline_runs_all_possible_checks,
        unchecked_name_is_not_verified,
        pipeline_without_checks_is_refused,
        own_pipeline_selects_the_checks,
        named_pipeline_overrides_ones_own,
        unknown_pipeline_is_not_found,
        missing_inputs_are_reported_at_once,
        wrong_values_are_reported_without_the_value,
        non_string_values_are_refused,
        sandbox_bureau_follows_its_conventions,
        score_qualifies_at_the_threshold,
        failed_bureau_stores_nothing_and_allows_a_retry,
        earlier_result_is_returned_only_to_its_owner,
        case_of_another_user_is_not_found,
        case_name_belongs_to_its_account,
        case_keeps_its_token_across_results,
        verification_without_case_gets_a_new_case,
        concurrent_requests_agree_on_the_token,
        idempotency_key_replays_the_first_result,
        failed_request_frees_its_idempotency_key;
    own:
        hanging_bureau_times_out,
        retry_repeats_only_failed_checks_with_same_reference,
        repeated_result_asks_no_bureau,
        http_bureaus_and_real_node_give_same_results;
}

/// The checks of a result and whether they passed.
async fn checks(app: &App, bearer: &str, id: &str) -> Vec<(String, bool)> {
    let report = app.to_get(&format!("/v1/verifications/{id}")).bearer(bearer).send().await.json(200);
    let check = |check: &Value| (check["check"].as_str().unwrap().to_owned(), check["outcome"] == "passed");
    report["checks"].as_array().unwrap().iter().map(check).collect()
}

async fn results(app: &App, bearer: &str) -> usize {
    let list = app.to_get("/v1/verifications").bearer(bearer).send().await.json(200);
    list.as_array().unwrap().len()
}

async fn pipeline(app: &App, who: &Session, body: Value) {
    app.to_post("/verificationPipeline", &body).bearer(&who.token).send().await.status(200);
}

fn all_checks() -> Value {
    json!({"EvictionCheck": true, "IncomeCheck": true, "SoftCreditCheck": true, "CriminalBackgroundCheck": true})
}

async fn result_has_exactly_the_specified_fields(app: &App) {
    let ada = app.someone().await;
    let mut answer = app.verify(&ada.token, "", &applicant("Lovelace")).await.json(200);
    let token = answer["tokenId"].take();
    assert!(token.as_str().unwrap().parse::<u128>().unwrap() > 0, "{token}");
    let id = answer["verificationResults"]["Id"].take();
    assert!(!id.as_str().unwrap().is_empty());
    let rest = json!({
        "tokenId": null,
        "verificationResults": {"Id": null, "IncomEstimate": 85_000, "QualifiedViaCredit": true},
    });
    assert_eq!(answer, rest);
}

async fn unchecked_name_is_not_verified(app: &App) {
    let ada = app.someone().await;
    let names = json!({"FirstName": "Warren", "LastName": "Buffett"});
    for body in
        [json!({}), names.clone(), json!({"SSN": "900-00-0720"}), with(names, json!({"City": "Omaha"}))]
    {
        for query in ["", "?caseId=nothing-to-check"] {
            let problem = app.verify(&ada.token, query, &body).await.problem(400);
            assert_eq!(problem["code"], "nothing_to_check", "{problem}");
            assert_eq!(problem["errors"][0]["code"], "nothing_to_check", "{problem}");
            let detail = problem["detail"].as_str().unwrap();
            for needs in [
                "eviction needs FirstName, LastName, DateOfBirth",
                "income needs OpenBankingToken",
                "softCredit needs FirstName, LastName, SSN",
                "criminalBackground needs FirstName, LastName, DateOfBirth",
            ] {
                assert!(detail.contains(needs), "{detail}");
            }
        }
    }
    assert_eq!(results(app, &ada.token).await, 0);
    let raw = Raw::open(app).await;
    let cases = raw.rows("SELECT id FROM cases WHERE user_id = ?1", &[Cell::Text(ada.user.clone())]).await;
    assert!(cases.is_empty(), "no token was made either");
    // The body is ignored when an earlier result is returned.
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.verify(&ada.token, &format!("?verifiedId={}", made.id), &json!({})).await.json(200);
}

async fn pipeline_without_checks_is_refused(app: &App) {
    let ada = app.someone().await;
    pipeline(app, &ada, json!({"EvictionCheck": false})).await;
    app.verify(&ada.token, "", &applicant("Lovelace")).await.refused(400, "nothing_to_check");
    assert_eq!(results(app, &ada.token).await, 0);
}

async fn no_pipeline_runs_all_possible_checks(app: &App) {
    let names = json!({"FirstName": "Ada", "LastName": "Lovelace"});
    for (body, expected) in [
        (with(names.clone(), json!({"DateOfBirth": "1990-12-10"})), vec!["eviction", "criminalBackground"]),
        (with(names, json!({"SSN": "900000720"})), vec!["softCredit"]),
        (json!({"OpenBankingToken": "income-1"}), vec!["income"]),
        (applicant("Lovelace"), vec!["eviction", "income", "softCredit", "criminalBackground"]),
    ] {
        let ada = app.someone().await;
        let answer = app.verify(&ada.token, "", &body).await.json(200);
        let results = &answer["verificationResults"];
        let ran: Vec<String> =
            checks(app, &ada.token, results["Id"].as_str().unwrap()).await.into_iter().map(|c| c.0).collect();
        assert_eq!(ran, expected, "{body}");
        if !expected.contains(&"income") {
            assert_eq!(results["IncomEstimate"], 0, "what did not run says 0");
        }
        assert_eq!(
            results["QualifiedViaCredit"],
            expected.contains(&"softCredit"),
            "what did not run says no"
        );
    }
}

async fn own_pipeline_selects_the_checks(app: &App) {
    let ada = app.someone().await;
    pipeline(app, &ada, json!({"IncomeCheck": true, "EvictionCheck": false})).await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    assert_eq!(checks(app, &ada.token, &made.id).await, [("income".to_owned(), true)]);
}

async fn named_pipeline_overrides_ones_own(app: &App) {
    let (ada, landlord, client) = (app.someone().await, app.someone().await, unique("acme"));
    pipeline(app, &ada, json!({"IncomeCheck": true})).await;
    pipeline(app, &landlord, json!({"ClientId": client, "EvictionCheck": true})).await;
    let query = format!("?clientId={client}");
    let made = app.verified(&ada.token, &query, &applicant("Lovelace")).await;
    assert_eq!(checks(app, &ada.token, &made.id).await, [("eviction".to_owned(), true)]);
    let path = format!("/v1/verifications/{}", made.id);
    assert_eq!(app.to_get(&path).bearer(&ada.token).send().await.json(200)["clientId"], client);
    // Missing inputs are reported even if the caller's own pipeline would run.
    let lacking = app.verify(&ada.token, &query, &json!({"OpenBankingToken": "income-1"})).await;
    lacking.has_faults(&[
        ("/FirstName", "required"),
        ("/LastName", "required"),
        ("/DateOfBirth", "required"),
    ]);
}

async fn unknown_pipeline_is_not_found(app: &App) {
    let ada = app.someone().await;
    let query = format!("?clientId={}", unique("nobody"));
    app.verify(&ada.token, &query, &applicant("Lovelace")).await.refused(404, "pipeline_not_found");
}

async fn missing_inputs_are_reported_at_once(app: &App) {
    let ada = app.someone().await;
    pipeline(app, &ada, all_checks()).await;
    let all = ["/FirstName", "/LastName", "/DateOfBirth", "/SSN", "/OpenBankingToken"];
    let all: Vec<(&str, &str)> = all.iter().map(|pointer| (*pointer, "required")).collect();
    app.verify(&ada.token, "", &json!({})).await.has_faults(&all);
    let some = json!({"FirstName": "Ada", "SSN": "900-00-0720", "OpenBankingToken": "t"});
    app.verify(&ada.token, "", &some)
        .await
        .has_faults(&[("/LastName", "required"), ("/DateOfBirth", "required")]);
    assert_eq!(results(app, &ada.token).await, 0);
}

async fn wrong_values_are_reported_without_the_value(app: &App) {
    let ada = app.someone().await;
    let cases = [
        ("DateOfBirth", "1990-02-30", "not_a_date"),
        ("DateOfBirth", "10.12.1990", "not_a_date"),
        ("DateOfBirth", "2999-12-31", "in_the_future"),
        ("DateOfBirth", "0000-01-01", "not_a_date"),
        ("SSN", "900-00-072", "not_an_ssn"),
        ("SSN", "900 00 0720", "not_an_ssn"),
        ("SSN", "90000072O", "not_an_ssn"),
        ("Email", "quokka.example.com", "not_an_email"),
        ("Email", "quokka@-example.com", "not_an_email"),
        ("FirstName", "Quokka\u{7}wallaby", "control_character"),
        ("LastName", "Quokka\nwallaby", "control_character"),
        ("StreetAddress", "Quokka\u{0}wallaby", "control_character"),
        ("City", "Quokka\u{9b}wallaby", "control_character"),
        ("OpenBankingToken", "Quokka\rwallaby", "control_character"),
        ("FirstName", " ", "empty"),
    ];
    for (field, value, code) in cases {
        let answer = app.verify(&ada.token, "", &with(applicant("Lovelace"), json!({ field: value }))).await;
        let visible = value.split(char::is_control).next().unwrap().trim();
        if !visible.is_empty() {
            assert!(!answer.text().contains(visible), "{field}: {}", answer.text());
        }
        answer.has_faults(&[(&format!("/{field}"), code)]);
    }
    let long = "q".repeat(256);
    let all = json!({
        "FirstName": 5, "LastName": long, "DateOfBirth": "2023-02-29", "SSN": "078-05-112", "Email": "@quokka",
        "PostalCode": "", "City": "q".repeat(101), "State": 7, "OpenBankingToken": "q".repeat(4097),
        "OpenBankingSubscriptionId": long, "consentedAt": "yesterday",
    });
    let answer = app.verify(&ada.token, "", &all).await;
    for value in ["qqq", "2023-02-29", "078-05-112", "@quokka", "yesterday"] {
        assert!(!answer.text().contains(value), "{}", answer.text());
    }
    answer.has_faults(&[
        ("/FirstName", "wrong_type"),
        ("/LastName", "too_long"),
        ("/DateOfBirth", "not_a_date"),
        ("/SSN", "not_an_ssn"),
        ("/Email", "not_an_email"),
        ("/PostalCode", "empty"),
        ("/City", "too_long"),
        ("/State", "wrong_type"),
        ("/OpenBankingToken", "too_long"),
        ("/OpenBankingSubscriptionId", "too_long"),
        ("/consentedAt", "not_a_moment"),
    ]);
    assert_eq!(results(app, &ada.token).await, 0);
}

async fn non_string_values_are_refused(app: &App) {
    let ada = app.someone().await;
    for body in [
        "",
        "[]",
        "null",
        "\"quokka-wallaby\"",
        r#"{"FirstName":"quokka-wallaby""#,
        r#"{"SSN":["quokka-wallaby"]}"#,
    ] {
        let request = app.to_post("/verifyRentalRequirements", &json!({})).bearer(&ada.token);
        let answer = request.body(body.to_owned()).send().await;
        assert!(!answer.text().contains("quokka"), "{body}: {}", answer.text());
        answer.problem(400);
    }
    let long = unique(&"c".repeat(256));
    app.verify(&ada.token, &format!("?caseId={long}"), &json!({}))
        .await
        .has_faults(&[("caseId", "too_long")]);
}

async fn sandbox_bureau_follows_its_conventions(app: &App) {
    for (body, income, qualified, failed) in [
        (applicant("Lovelace"), json!(85_000), true, vec![]),
        (with(applicant("x"), json!({"SSN": "900-00-0310"})), json!(85_000), false, vec!["softCredit"]),
        (with(applicant("x"), json!({"OpenBankingToken": "income-0"})), json!(0), true, vec!["income"]),
        (with(applicant("x"), json!({"OpenBankingToken": "income-1234.5"})), json!(1234.5), true, vec![]),
        (applicant("Evicted"), json!(85_000), true, vec!["eviction"]),
        (applicant("RECORD"), json!(85_000), true, vec!["criminalBackground"]),
    ] {
        let ada = app.someone().await;
        let answer = app.verify(&ada.token, "", &body).await.json(200);
        let found = &answer["verificationResults"];
        assert_eq!(
            (&found["IncomEstimate"], &found["QualifiedViaCredit"]),
            (&income, &json!(qualified)),
            "{body}"
        );
        let checks = checks(app, &ada.token, found["Id"].as_str().unwrap()).await;
        assert_eq!(checks.len(), 4);
        let not_passed: Vec<&str> =
            checks.iter().filter(|check| !check.1).map(|check| check.0.as_str()).collect();
        assert_eq!(not_passed, failed, "{body}");
    }
}

async fn score_qualifies_at_the_threshold(app: &App) {
    for (ssn, qualified) in
        [("900-00-0619", false), ("900-00-0620", true), ("900-00-9999", true), ("900000000", false)]
    {
        let ada = app.someone().await;
        let answer = app.verify(&ada.token, "", &with(applicant("x"), json!({"SSN": ssn}))).await.json(200);
        assert_eq!(answer["verificationResults"]["QualifiedViaCredit"], qualified, "{ssn}");
    }
}

#[track_caller]
fn come_back(answer: Answer) {
    let seconds: u64 = answer.header("retry-after").parse().expect("a 503 says when to come back");
    assert!(seconds > 0);
    answer.refused(503, "bureau_unavailable");
}

async fn token_of(app: &App, case: &str) -> Option<String> {
    let raw = Raw::open(app).await;
    let found = raw.rows("SELECT token FROM cases WHERE name = ?1", &[Cell::Text(case.into())]).await;
    let token: [u8; 16] = found.first()?[0].bytes().try_into().unwrap();
    Some(u128::from_be_bytes(token).to_string())
}

async fn failed_bureau_stores_nothing_and_allows_a_retry(app: &App) {
    let (ada, case) = (app.someone().await, unique("case"));
    let query = format!("?caseId={case}");
    let key = unique("key");
    let path = format!("/verifyRentalRequirements{query}");
    let down = app.to_post(&path, &applicant("Down")).bearer(&ada.token).once(&key).send().await;
    come_back(down);
    assert_eq!(results(app, &ada.token).await, 0);
    let token = token_of(app, &case).await.expect("the case stays open");
    let raw = Raw::open(app).await;
    let count = "SELECT count(*) FROM verifications WHERE user_id = ?1";
    assert_eq!(raw.rows(count, &[Cell::Text(ada.user.clone())]).await[0][0].int(), 0);
    let wanted =
        raw.rows("SELECT count(*) FROM chain_items WHERE key = ?1", &[Cell::Bytes(word(&token))]).await;
    assert_eq!(wanted[0][0].int(), 0, "nothing is even wanted on the chain");
    assert_eq!(app.token_on_chain(&token).await, None);
    // The key and the case can be used again.
    let good =
        app.to_post(&path, &applicant("Lovelace")).bearer(&ada.token).once(&key).send().await.json(200);
    assert_eq!(good["tokenId"], token);
    assert_eq!(results(app, &ada.token).await, 1);
    app.minted(&token).await;
}

/// A token id as 32 bytes.
fn word(token: &str) -> Vec<u8> {
    [&[0; 16][..], &token.parse::<u128>().unwrap().to_be_bytes()].concat()
}

async fn earlier_result_is_returned_only_to_its_owner(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let first = app.verify(&ada.token, "", &applicant("Lovelace")).await.json(200);
    let id = first["verificationResults"]["Id"].as_str().unwrap().to_owned();
    let query = format!("?verifiedId={}", encoded(&id));
    assert_eq!(app.verify(&ada.token, &query, &json!({})).await.json(200), first);
    assert_eq!(app.verify(&ada.token, &query, &applicant("Down")).await.json(200), first, "nobody is asked");
    assert_eq!(results(app, &ada.token).await, 1);
    let root = app.token(&["--sub", &unique("root"), "--scope", "admin"]);
    for other in [&bob.token, &root] {
        app.verify(other, &query, &json!({})).await.refused(404, "verification_not_found");
    }
    let nowhere = format!("?verifiedId={}", unique("nowhere"));
    app.verify(&ada.token, &nowhere, &json!({})).await.refused(404, "verification_not_found");
}

async fn case_of_another_user_is_not_found(app: &App) {
    let (account, case) = (unique("acme"), unique("case"));
    let [ada, bob] = ["ada", "bob"].map(|name| app.token(&["--sub", &unique(name), "--account", &account]));
    let query = format!("?caseId={case}");
    let made = app.verified(&ada, &query, &applicant("Lovelace")).await;
    app.verify(&bob, &query, &applicant("Hopper")).await.refused(404, "case_not_found");
    app.identity(&bob, &case, "wallet").await.refused(404, "case_not_found");
    assert_eq!(results(app, &bob).await, 0);
    app.validate(&bob, &made.id, "Ada", "Lovelace").await.status(200);
}

/// Another account, a user of that account's name, and the same person for another account have cases of their own.
async fn case_name_belongs_to_its_account(app: &App) {
    let (user, [home, work], case) = (unique("ada"), ["home", "work"].map(unique), unique("case"));
    let tokens = [
        app.token(&["--sub", &user, "--account", &home]),
        app.token(&["--sub", &user, "--account", &work]),
        app.token(&["--sub", &user]),
        app.token(&["--sub", &home]),
    ];
    let mut made = std::collections::BTreeSet::new();
    for token in &tokens {
        let answer = app.verified(token, &format!("?caseId={case}"), &applicant("Lovelace")).await;
        assert_eq!(app.identity(token, &case, "wallet").await.status(200).text(), answer.token);
        let path = format!("/v1/verifications/{}", answer.id);
        assert_eq!(app.to_get(&path).bearer(token).send().await.json(200)["caseId"], case);
        made.insert(answer.token);
    }
    assert_eq!(made.len(), tokens.len());
}

async fn case_keeps_its_token_across_results(app: &App) {
    let (ada, case) = (app.someone().await, unique("case"));
    let first =
        app.verified(&ada.token, &format!("?caseId={case}&walletId=one"), &applicant("Lovelace")).await;
    let poorer = with(applicant("Lovelace"), json!({"OpenBankingToken": "income-5"}));
    let second = app.verify(&ada.token, &format!("?caseId={case}&walletId=two"), &poorer).await.json(200);
    assert_eq!(second["tokenId"], first.token);
    assert_ne!(second["verificationResults"]["Id"], first.id);
    assert_eq!(second["verificationResults"]["IncomEstimate"], 5);
    assert_eq!(results(app, &ada.token).await, 2);
}

async fn verification_without_case_gets_a_new_case(app: &App) {
    let ada = app.someone().await;
    let first = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let second = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    assert_ne!(first.token, second.token);
    assert_ne!(first.id, second.id);
}

async fn concurrent_requests_agree_on_the_token(app: &App) {
    let (ada, case) = (app.someone().await, unique("case"));
    let query = format!("?caseId={case}");
    let made =
        join_all((0..10).map(async |_| app.verified(&ada.token, &query, &applicant("Lovelace")).await)).await;
    let tokens: BTreeSet<&str> = made.iter().map(|made| made.token.as_str()).collect();
    assert_eq!(tokens.len(), 1, "{made:?}");
    let results: BTreeSet<&str> = made.iter().map(|made| made.id.as_str()).collect();
    assert_eq!(results.len(), 10);
}

async fn idempotency_key_replays_the_first_result(app: &App) {
    let (ada, key) = (app.someone().await, unique("key"));
    let body = applicant("Lovelace");
    let send = async || {
        let request = app.to_post("/verifyRentalRequirements", &body).bearer(&ada.token).once(&key);
        request.send().await.json(200)
    };
    let answers = join_all((0..6).map(async |_| send().await)).await;
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(send().await, answers[0]);
    assert_eq!(results(app, &ada.token).await, 1);
    let other = app.to_post("/verifyRentalRequirements", &applicant("Hopper")).bearer(&ada.token).once(&key);
    other.send().await.refused(422, "idempotency_key_reused");
    let path = format!("/verifyRentalRequirements?caseId={}", unique("case"));
    let other = app.to_post(&path, &body).bearer(&ada.token).once(&key);
    other.send().await.refused(422, "idempotency_key_reused");
}

async fn failed_request_frees_its_idempotency_key(app: &App) {
    let (ada, key) = (app.someone().await, unique("key"));
    let send = async |body: &Value| {
        app.to_post("/verifyRentalRequirements", body).bearer(&ada.token).once(&key).send().await
    };
    come_back(send(&applicant("Down")).await);
    send(&json!({"SSN": "1"})).await.has_faults(&[("/SSN", "not_an_ssn")]);
    send(&applicant("Lovelace")).await.json(200);
}

async fn hanging_bureau_times_out(engine: Engine) {
    let screening =
        ScreeningConfig { timeout_ms: Some(400), check_timeout_ms: Some(300), ..ScreeningConfig::default() };
    let app = Options { screening, ..Options::new(engine) }.start().await;
    let (ada, case) = (app.someone().await, unique("case"));
    let query = format!("?caseId={case}");
    // The client would wait for a minute.
    come_back(app.verify(&ada.token, &query, &applicant("Timeout")).await);
    assert_eq!(results(&app, &ada.token).await, 0);
    let token = token_of(&app, &case).await.expect("the case stays open");
    let made = app.verified(&ada.token, &query, &applicant("Lovelace")).await;
    assert_eq!(made.token, token);
}

async fn retry_repeats_only_failed_checks_with_same_reference(engine: Engine) {
    let bureau = Bureau::start();
    let screening = ScreeningConfig { tries: Some(1), ..ScreeningConfig::default() };
    let app = Options { screening, ..Options::new(engine) }.bureau(&bureau).start().await;
    let (ada, query) = (app.someone().await, format!("?caseId={}", unique("case")));
    let body = with(applicant("Lovelace"), json!({"City": "Austin", "OpenBankingSubscriptionId": "s-1"}));
    bureau.fail_check("softCredit");
    bureau.fail_check("income");
    come_back(app.verify(&ada.token, &query, &body).await);
    let first = bureau.take_requests();
    let names: Vec<&str> = first.iter().map(|asked| asked.check.as_str()).collect();
    assert_eq!(names, ["criminalBackground", "eviction", "income", "softCredit"]);
    for (asked, told) in first.iter().zip([
        &["DateOfBirth", "FirstName", "LastName"][..],
        &["DateOfBirth", "FirstName", "LastName"],
        &["OpenBankingSubscriptionId", "OpenBankingToken"],
        &["FirstName", "LastName", "SSN"],
    ]) {
        let mut names = asked.fields.clone();
        names.sort();
        assert_eq!(names, told, "a bureau is told what its check uses, and nothing more");
    }
    let references: BTreeSet<&str> = first.iter().map(|asked| asked.reference.as_str()).collect();
    assert_eq!(references.len(), 4);
    bureau.clear_failures();
    app.verify(&ada.token, &query, &body).await.json(200);
    assert_eq!(bureau.take_requests(), first[2..], "only what failed is asked again, under its reference");
    app.verify(&ada.token, &query, &body).await.json(200);
    assert_eq!(bureau.take_requests(), [], "what was found is not paid for twice");
    // Other inputs are a new check.
    let answer =
        app.verify(&ada.token, &query, &with(body.clone(), json!({"SSN": "900-00-0500"}))).await.json(200);
    assert_eq!(answer["verificationResults"]["QualifiedViaCredit"], false);
    let anew = bureau.take_requests();
    assert_eq!(anew.len(), 1, "{anew:?}");
    assert_eq!(anew[0].check, "softCredit");
    assert_ne!(anew[0].reference, first[3].reference);
    // Another case is no retry.
    app.verify(&ada.token, &format!("?caseId={}", unique("case")), &body).await.json(200);
    assert_eq!(bureau.take_requests().len(), 4);
}

async fn repeated_result_asks_no_bureau(engine: Engine) {
    let bureau = Bureau::start();
    let app = Options::new(engine).bureau(&bureau).start().await;
    let ada = app.someone().await;
    let first = app.verify(&ada.token, "", &applicant("Lovelace")).await.json(200);
    assert_eq!(bureau.take_requests().len(), 4);
    let id = first["verificationResults"]["Id"].as_str().unwrap();
    let again = app.verify(&ada.token, &format!("?verifiedId={id}"), &applicant("Hopper")).await.json(200);
    assert_eq!(again, first);
    assert_eq!(bureau.take_requests(), []);
}

async fn http_bureaus_and_real_node_give_same_results(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    let (ada, landlord) = (app.someone().await, app.someone().await);
    let answer = app.verify(&ada.token, "", &applicant("Evicted")).await.json(200);
    let found = &answer["verificationResults"];
    assert_eq!((&found["IncomEstimate"], &found["QualifiedViaCredit"]), (&json!(85_000), &json!(true)));
    let (id, token) = (found["Id"].as_str().unwrap(), answer["tokenId"].as_str().unwrap());
    let checks = checks(&app, &ada.token, id).await;
    let expected =
        [("eviction", false), ("income", true), ("softCredit", true), ("criminalBackground", true)];
    assert_eq!(checks, expected.map(|(check, passed)| (check.to_owned(), passed)));
    let (_, commitment) = app.minted(token).await;
    assert_ne!(commitment, [0; 32]);
    assert_eq!(app.validate(&landlord.token, id, "ADA", " evicted").await.status(200).text(), token);
}
