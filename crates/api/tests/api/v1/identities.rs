//! `/v1/identities`: who holds a token, and claiming it with a wallet.

use reqwest::Method;
use serde_json::{Value, json};

use crate::support::{
    Answer, Anvil, App, Engine, Options, Session, Wallet, applicant, on_both_engines, unique, until,
};

on_both_engines! {
    shared:
        named_wallet_is_a_wish,
        wallet_claims_its_token,
        claimed_token_keeps_its_name,
        another_wallet_can_be_named_in_the_claim,
        signature_of_another_key_is_refused,
        used_replaced_and_unknown_messages_are_refused,
        malformed_signature_is_an_error,
        revoked_token_is_not_claimed;
    own:
        message_expires,
        contract_account_claims_on_a_real_node;
}

async fn identity(app: &App, who: &Session, token: &str) -> Value {
    app.to_get(&format!("/v1/identities/{token}")).bearer(&who.token).send().await.json(200)
}

async fn message(app: &App, who: &Session, token: &str, query: &str) -> Answer {
    app.claim_message(&who.token, token, query).await
}

async fn claim(app: &App, who: &Session, token: &str, nonce: &Value, signature: &str) -> Answer {
    app.claim(&who.token, token, nonce, signature).await
}

/// A token of a case that names a wallet.
async fn wishing(app: &App, who: &Session, wallet: &str) -> String {
    let answer = app.identity(&who.token, &unique("case"), wallet).await.status(200);
    answer.text().to_owned()
}

/// Regression: a token was minted to any address that the caller named.
async fn named_wallet_is_a_wish(app: &App) {
    let (ada, wallet) = (app.someone().await, Wallet::new());
    let token = wishing(app, &ada, &wallet.address).await;
    let seen = identity(app, &ada, &token).await;
    assert_eq!((&seen["holder"]["kind"], &seen["wishedWallet"]), (&json!("custody"), &json!(wallet.address)));
    let holder = app.minted(&token).await.0;
    assert_eq!(seen["holder"]["address"].as_str().unwrap().to_lowercase(), holder);
    assert_ne!(holder, wallet.address.to_lowercase());
    // A name that is no address is no wish.
    let seen = identity(app, &ada, &wishing(app, &ada, "my wallet").await).await;
    assert_eq!(seen.get("wishedWallet"), None);
}

async fn wallet_claims_its_token(app: &App) {
    let (ada, wallet) = (app.someone().await, Wallet::new());
    let token = wishing(app, &ada, &wallet.address).await;
    app.minted(&token).await;
    let asked = message(app, &ada, &token, "").await.json(200);
    let text = asked["message"].as_str().unwrap();
    let first =
        format!("{} wants you to sign in with your Ethereum account:\n{}\n", app.address(), wallet.address);
    assert!(text.starts_with(&first), "{text}");
    for line in [format!("Nonce: {}", asked["nonce"].as_str().unwrap()), "Version: 1".into()] {
        assert!(text.lines().any(|of| of == line), "{text}");
    }
    let done = claim(app, &ada, &token, &asked["nonce"], &wallet.sign(text)).await.json(200);
    assert_eq!(done["holder"], json!({"kind": "wallet", "address": wallet.address}));
    assert_eq!(done.get("wishedWallet"), None);
    assert_eq!(identity(app, &ada, &token).await, done);
    held_by(app, &token, &wallet).await;
}

async fn held_by(app: &App, token: &str, wallet: &Wallet) {
    until("the wallet holds the token", 30, async || {
        (app.minted(token).await.0 == wallet.address.to_lowercase()).then_some(())
    })
    .await;
}

async fn claimed_token_keeps_its_name(app: &App) {
    let (ada, wallet, case) = (app.someone().await, Wallet::new(), unique("case"));
    let query = format!("?caseId={case}&walletId={}", wallet.address);
    let made = app.verified(&ada.token, &query, &applicant("Lovelace")).await;
    app.minted(&made.token).await;
    let asked = message(app, &ada, &made.token, "").await.json(200);
    let signature = wallet.sign(asked["message"].as_str().unwrap());
    claim(app, &ada, &made.token, &asked["nonce"], &signature).await.status(200);
    held_by(app, &made.token, &wallet).await;
    app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.status(200);
    // A later result of the case leaves the token where it is.
    let again = app.verified(&ada.token, &query, &applicant("Lovelace")).await;
    assert_eq!(again.token, made.token);
    app.validate(&ada.token, &again.id, "Ada", "Lovelace").await.status(200);
    assert_eq!(identity(app, &ada, &made.token).await["holder"]["kind"], "wallet");
    held_by(app, &made.token, &wallet).await;
}

async fn another_wallet_can_be_named_in_the_claim(app: &App) {
    let (ada, wallet) = (app.someone().await, Wallet::new());
    let token = wishing(app, &ada, "custody").await;
    message(app, &ada, &token, "").await.has_faults(&[("address", "missing")]);
    message(app, &ada, &token, "?address=0x12").await.has_faults(&[("address", "not_a_wallet")]);
    let zero = format!("?address=0x{}", "0".repeat(40));
    message(app, &ada, &token, &zero).await.has_faults(&[("address", "not_a_wallet")]);
    let asked = message(app, &ada, &token, &format!("?address={}", wallet.address)).await.json(200);
    let signature = wallet.sign(asked["message"].as_str().unwrap());
    claim(app, &ada, &token, &asked["nonce"], &signature).await.status(200);
    held_by(app, &token, &wallet).await;
}

async fn signature_of_another_key_is_refused(app: &App) {
    let (ada, wallet, other) = (app.someone().await, Wallet::new(), Wallet::new());
    let token = wishing(app, &ada, &wallet.address).await;
    let asked = message(app, &ada, &token, "").await.json(200);
    let text = asked["message"].as_str().unwrap();
    for signature in [other.sign(text), wallet.sign("something else")] {
        claim(app, &ada, &token, &asked["nonce"], &signature).await.refused(403, "signature_invalid");
    }
    assert_eq!(identity(app, &ada, &token).await["holder"]["kind"], "custody");
    claim(app, &ada, &token, &asked["nonce"], &wallet.sign(text)).await.status(200);
}

async fn used_replaced_and_unknown_messages_are_refused(app: &App) {
    let (ada, wallet) = (app.someone().await, Wallet::new());
    let token = wishing(app, &ada, &wallet.address).await;
    let (first, second) =
        (message(app, &ada, &token, "").await.json(200), message(app, &ada, &token, "").await.json(200));
    let sign = |asked: &Value| wallet.sign(asked["message"].as_str().unwrap());
    claim(app, &ada, &token, &first["nonce"], &sign(&first)).await.refused(409, "claim_expired");
    claim(app, &ada, &token, &json!("ab"), &sign(&second)).await.refused(409, "claim_expired");
    claim(app, &ada, &token, &second["nonce"], &sign(&second)).await.status(200);
    claim(app, &ada, &token, &second["nonce"], &sign(&second)).await.refused(409, "claim_expired");
    // A message for one token claims no other.
    let (one, two) = (wishing(app, &ada, &wallet.address).await, wishing(app, &ada, &wallet.address).await);
    let asked = message(app, &ada, &one, "").await.json(200);
    claim(app, &ada, &two, &asked["nonce"], &sign(&asked)).await.refused(409, "claim_expired");
}

async fn malformed_signature_is_an_error(app: &App) {
    let (ada, wallet) = (app.someone().await, Wallet::new());
    let token = wishing(app, &ada, &wallet.address).await;
    let asked = message(app, &ada, &token, "").await.json(200);
    for wrong in ["", "0x", "0x1", "xyz", "0x12zz", "0x1234"] {
        let answer = claim(app, &ada, &token, &asked["nonce"], wrong).await;
        assert_eq!(answer.status, 400, "{wrong}");
    }
}

async fn revoked_token_is_not_claimed(app: &App) {
    let (ada, wallet) = (app.someone().await, Wallet::new());
    let token = wishing(app, &ada, &wallet.address).await;
    let asked = message(app, &ada, &token, "").await.json(200);
    app.request(Method::DELETE, &format!("/v1/identities/{token}"))
        .bearer(&ada.token)
        .send()
        .await
        .only_message(200);
    let signature = wallet.sign(asked["message"].as_str().unwrap());
    claim(app, &ada, &token, &asked["nonce"], &signature).await.refused(409, "identity_revoked");
    message(app, &ada, &token, "").await.refused(409, "identity_revoked");
    let seen = identity(app, &ada, &token).await;
    assert_eq!((&seen["revoked"], seen.get("holder")), (&json!(true), None));
}

async fn message_expires(engine: Engine) {
    let app = Options::new(engine).start().await;
    let (ada, wallet) = (app.someone().await, Wallet::new());
    let token = wishing(&app, &ada, &wallet.address).await;
    let asked = message(&app, &ada, &token, "").await.json(200);
    app.post("/v1/sandbox/clock", json!({"advanceSeconds": 601})).await.status(200);
    let signature = wallet.sign(asked["message"].as_str().unwrap());
    claim(&app, &ada, &token, &asked["nonce"], &signature).await.refused(409, "claim_expired");
}

/// EIP-1271: a contract account says itself whether a signature is its own.
async fn contract_account_claims_on_a_real_node(engine: Engine) {
    const ACCEPTS_ALL: &str = "0x631626ba7e60e01b60005260206000f3";
    const ACCEPTS_NONE: &str = "0x60206000f3";
    let app = Options::new(engine).anvil().start().await;
    let ada = app.someone().await;
    for (code, is_accepted) in [(ACCEPTS_NONE, false), (ACCEPTS_ALL, true)] {
        let account = Wallet::new();
        Anvil::shared().ask("anvil_setCode", json!([account.address, code])).await;
        let token = wishing(&app, &ada, &account.address).await;
        app.minted(&token).await;
        let asked = message(&app, &ada, &token, "").await.json(200);
        let answer = claim(&app, &ada, &token, &asked["nonce"], "0x1234").await;
        if is_accepted {
            answer.status(200);
            held_by(&app, &token, &account).await;
        } else {
            answer.refused(403, "signature_invalid");
        }
    }
}
