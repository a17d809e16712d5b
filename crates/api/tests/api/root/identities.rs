//! `/chainIdentityInd`: one soulbound token per case, validated with both names.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{Answer, App, Engine, Options, applicant, on_both_engines, unique, with};

on_both_engines! {
    shared:
        case_has_one_token_for_any_wallet,
        an_address_is_only_a_wish,
        other_wallets_get_unrelated_custody_addresses,
        zero_address_holds_no_token,
        token_without_verification_has_empty_commitment,
        result_without_a_name_cannot_be_validated,
        validation_needs_only_the_names,
        a_name_needs_a_passed_check_that_saw_it,
        newer_name_is_not_backed_by_an_older_result,
        wrong_names_are_rate_limited,
        wrong_names_by_all_callers_are_limited,
        right_names_can_be_validated_repeatedly,
        what_is_missing_is_named,
        revoked_token_stays_revoked,
        unknown_token_cannot_be_revoked;
    own:
        recording_works_on_a_real_node,
        a_name_is_valid_as_long_as_its_check;
}

#[track_caller]
fn token(answer: Answer) -> String {
    let answer = answer.status(200);
    assert!(answer.header("content-type").starts_with("text/plain"), "{:?}", answer.headers);
    assert!(answer.text().parse::<u128>().unwrap() > 0, "{}", answer.text());
    answer.text().to_owned()
}

async fn revoke(app: &App, bearer: &str, token: &str) -> Answer {
    app.request(Method::DELETE, &format!("/v1/identities/{token}")).bearer(bearer).send().await
}

async fn case_has_one_token_for_any_wallet(app: &App) {
    let (ada, case) = (app.someone().await, unique("case"));
    let first = token(app.identity(&ada.token, &case, "one").await);
    let (holder, _) = app.minted(&first).await;
    for wallet in ["one", "two", "0x00000000000000000000000000000000000000aa"] {
        assert_eq!(token(app.identity(&ada.token, &case, wallet).await), first);
    }
    let made =
        app.verified(&ada.token, &format!("?caseId={case}&walletId=three"), &applicant("Lovelace")).await;
    assert_eq!(made.token, first);
    app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.status(200);
    assert_eq!(app.minted(&first).await.0, holder, "a token never moves");
    assert_ne!(token(app.identity(&ada.token, &unique("case"), "one").await), first);
}

/// Regression: the token was minted to any address, without proof that the caller controls it.
async fn an_address_is_only_a_wish(app: &App) {
    let ada = app.someone().await;
    for wallet in ["0x52908400098527886E0F7030069857D2E4169EE7", "0xde709f2102306220921060314715629080e2fb77"]
    {
        let made = token(app.identity(&ada.token, &unique("case"), wallet).await);
        assert_ne!(app.minted(&made).await.0, wallet.to_lowercase());
        let query = format!("?caseId={}&walletId={wallet}", unique("case"));
        let made = app.verified(&ada.token, &query, &applicant("Lovelace")).await;
        assert_ne!(app.minted(&made.token).await.0, wallet.to_lowercase());
    }
}

async fn other_wallets_get_unrelated_custody_addresses(app: &App) {
    let ada = app.someone().await;
    let mut holders = Vec::new();
    let nothing = "0x0000000000000000000000000000000000000000";
    // None of these is a full address with 0x.
    for wallet in ["w-1", "w-1", "de709f2102306220921060314715629080e2fb77", "0xde709f"] {
        let made = token(app.identity(&ada.token, &unique("case"), wallet).await);
        let (holder, _) = app.minted(&made).await;
        assert_ne!(holder, nothing);
        assert!(!holder.contains("de709f"), "{holder}");
        assert!(!holders.contains(&holder), "the same wallet is not to be recognised on the chain");
        holders.push(holder);
    }
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    assert!(!holders.contains(&app.minted(&made.token).await.0));
}

async fn zero_address_holds_no_token(app: &App) {
    let ada = app.someone().await;
    let zero = format!("0x{}", "0".repeat(40));
    app.identity(&ada.token, &unique("case"), &zero).await.has_faults(&[("walletId", "not_a_wallet")]);
    let verify = app.verify(&ada.token, &format!("?walletId={zero}"), &applicant("Lovelace")).await;
    verify.has_faults(&[("walletId", "not_a_wallet")]);
}

async fn token_without_verification_has_empty_commitment(app: &App) {
    let (ada, case) = (app.someone().await, unique("case"));
    let made = token(app.identity(&ada.token, &case, "w").await);
    assert_eq!(app.minted(&made).await.1, [0; 32]);
    app.validate(&ada.token, &case, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    let verified = app.verified(&ada.token, &format!("?caseId={case}"), &applicant("Lovelace")).await;
    assert_eq!(verified.token, made);
    assert_eq!(token(app.validate(&ada.token, &verified.id, "Ada", "Lovelace").await), made);
    let committed = app.minted(&made).await.1;
    assert_ne!(committed, [0; 32], "its verification fills it");
    // Requesting the token again keeps its commitment.
    app.identity(&ada.token, &case, "w").await.status(200);
    assert_eq!(token(app.validate(&ada.token, &verified.id, "Ada", "Lovelace").await), made);
    assert_eq!(app.minted(&made).await.1, committed);
}

async fn result_without_a_name_cannot_be_validated(app: &App) {
    let ada = app.someone().await;
    for name in [json!({}), json!({"LastName": "Lovelace"}), json!({"FirstName": "Ada"})] {
        let body = with(name, json!({"OpenBankingToken": "income-1"}));
        let made = app.verified(&ada.token, &format!("?caseId={}", unique("case")), &body).await;
        assert_eq!(app.minted(&made.token).await.1, [0; 32], "{body}");
        app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    }
}

async fn validation_needs_only_the_names(app: &App) {
    let (ada, landlord) = (app.someone().await, app.someone().await);
    let body = with(applicant("Groß Zoë"), json!({"FirstName": "\u{fb01}nn"}));
    let made = app.verified(&ada.token, "", &body).await;
    for (first, last) in
        [("\u{fb01}nn", "Groß Zoë"), ("Finn", "GROSS zoe\u{308}"), ("  FINN ", "\u{a0}groß zoË ")]
    {
        for bearer in [&ada.token, &landlord.token] {
            let answer = app.validate(bearer, &made.id, first, last).await;
            assert_eq!(token(answer), made.token, "{first} {last}");
        }
    }
    app.validate(&landlord.token, &unique("nowhere"), "Finn", "x").await.refused(404, "identity_not_found");
    let path = format!("/chainIdentityInd?Id={}&FirstName=Finn&LastName=x", made.id);
    app.get(&path).await.refused(401, "unauthenticated");
}

/// The checks that back the token of a result.
async fn backed_by(app: &App, bearer: &str, id: &str) -> Value {
    app.to_get(&format!("/v1/verifications/{id}")).bearer(bearer).send().await.json(200)["backedBy"].clone()
}

async fn a_name_needs_a_passed_check_that_saw_it(app: &App) {
    let ada = app.someone().await;
    let name = json!({"FirstName": "Ada", "LastName": "Lovelace"});
    let income = with(name.clone(), json!({"OpenBankingToken": "income-85000"}));
    let failed = with(name.clone(), json!({"SSN": "900-00-0500"}));
    for unbacked in [income, failed] {
        let made = app.verified(&ada.token, "", &unbacked).await;
        app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
        assert_eq!(backed_by(app, &ada.token, &made.id).await, json!([]), "{unbacked}");
    }
    let made = app.verified(&ada.token, "", &with(name, json!({"SSN": "900-00-0720"}))).await;
    assert_eq!(token(app.validate(&ada.token, &made.id, "Ada", "Lovelace").await), made.token);
    assert_eq!(backed_by(app, &ada.token, &made.id).await, json!(["softCredit"]));
}

async fn newer_name_is_not_backed_by_an_older_result(app: &App) {
    let (ada, case) = (app.someone().await, format!("?caseId={}", unique("case")));
    let older = app.verified(&ada.token, &case, &applicant("Lovelace")).await;
    let newer = app.verified(&ada.token, &case, &applicant("Byron")).await;
    assert_eq!(token(app.validate(&ada.token, &newer.id, "Ada", "Byron").await), newer.token);
    for last in ["Byron", "Lovelace"] {
        app.validate(&ada.token, &older.id, "Ada", last).await.refused(404, "identity_not_found");
    }
    assert_eq!(backed_by(app, &ada.token, &older.id).await, json!([]));
}

async fn a_name_is_valid_as_long_as_its_check(engine: Engine) {
    let app = Options::new(engine).start().await;
    let ada = app.someone().await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let advance = async |days: i64| {
        app.post("/v1/sandbox/clock", json!({"advanceSeconds": days * 86_400})).await.status(200);
    };
    advance(29).await;
    assert_eq!(token(app.validate(&ada.token, &made.id, "Ada", "Lovelace").await), made.token);
    advance(2).await;
    app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
    assert_eq!(backed_by(&app, &ada.token, &made.id).await, json!([]));
}

async fn wrong_names_by_all_callers_are_limited(app: &App) {
    let ada = app.someone().await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    for _ in 0..10 {
        let caller = app.someone().await;
        for _ in 0..5 {
            app.validate(&caller.token, &made.id, "Ada", "Hopper").await.refused(404, "identity_not_found");
        }
    }
    let caller = app.someone().await;
    app.validate(&caller.token, &made.id, "Ada", "Lovelace").await.refused(429, "too_many_guesses");
}

async fn wrong_names_are_rate_limited(app: &App) {
    let (ada, landlord, other) = (app.someone().await, app.someone().await, app.someone().await);
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let wrong = [
        ("Ada", "Hopper"),
        ("Grace", "Lovelace"),
        ("Lovelace", "Ada"),
        ("AdaL", "ovelace"),
        ("A da", "Lovelace"),
    ];
    for (first, last) in wrong {
        app.validate(&landlord.token, &made.id, first, last).await.refused(404, "identity_not_found");
    }
    for (first, last) in [("Ada", "Byron"), ("Ada", "Lovelace")] {
        let answer = app.validate(&landlord.token, &made.id, first, last).await;
        assert!(answer.header("retry-after").parse::<u64>().unwrap() > 0);
        answer.refused(429, "too_many_guesses");
    }
    // Other callers and other results are not blocked.
    assert_eq!(token(app.validate(&other.token, &made.id, "Ada", "Lovelace").await), made.token);
    let another = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    assert_eq!(token(app.validate(&landlord.token, &another.id, "Ada", "Lovelace").await), another.token);
}

async fn right_names_can_be_validated_repeatedly(app: &App) {
    let (ada, landlord) = (app.someone().await, app.someone().await);
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    for _ in 0..7 {
        assert_eq!(token(app.validate(&landlord.token, &made.id, "Ada", "Lovelace").await), made.token);
    }
    app.validate(&landlord.token, &made.id, "Ada", "Hopper").await.refused(404, "identity_not_found");
}

async fn what_is_missing_is_named(app: &App) {
    let ada = app.someone().await;
    let get = app.to_get("/chainIdentityInd").bearer(&ada.token).send().await;
    get.has_faults(&[("Id", "missing"), ("FirstName", "missing"), ("LastName", "missing")]);
    let get =
        app.to_get("/chainIdentityInd?Id=x&FirstName=&LastName=quok%07ka").bearer(&ada.token).send().await;
    assert!(!get.text().contains("quok"), "{}", get.text());
    get.has_faults(&[("FirstName", "empty"), ("LastName", "control_character")]);
    let post = app.request(Method::POST, "/chainIdentityInd").bearer(&ada.token).send().await;
    post.has_faults(&[("caseId", "missing"), ("walletId", "missing")]);
}

async fn revoked_token_stays_revoked(app: &App) {
    let (ada, case) = (app.someone().await, unique("case"));
    let query = format!("?caseId={case}");
    let made = app.verified(&ada.token, &query, &applicant("Lovelace")).await;
    app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.status(200);
    for _again in 0..2 {
        revoke(app, &ada.token, &made.token).await.only_message(200);
        app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.refused(404, "identity_not_found");
        app.identity(&ada.token, &case, "w").await.refused(409, "identity_revoked");
        app.verify(&ada.token, &query, &applicant("Lovelace")).await.refused(409, "identity_revoked");
        app.burned(&made.token).await;
    }
    let report =
        app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&ada.token).send().await.json(200);
    assert_eq!(report["revoked"], true);
    // Even if revoked before it is minted.
    let early = token(app.identity(&ada.token, &unique("case"), "w").await);
    revoke(app, &ada.token, &early).await.only_message(200);
    app.burned(&early).await;
}

async fn unknown_token_cannot_be_revoked(app: &App) {
    let ada = app.someone().await;
    for none in ["1", "0", "-1", "x", "340282366920938463463374607431768211456"] {
        revoke(app, &ada.token, none).await.refused(404, "identity_not_found");
    }
}

async fn recording_works_on_a_real_node(engine: Engine) {
    let app = Options::new(engine).anvil().start().await;
    an_address_is_only_a_wish(&app).await;
    token_without_verification_has_empty_commitment(&app).await;
    wrong_names_are_rate_limited(&app).await;
    revoked_token_stays_revoked(&app).await;
}
