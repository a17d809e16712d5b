//! Tokens of an external issuer with rotating keys.

use jsonwebtoken::Algorithm;
use serde_json::{Value, json};

use crate::support::jwks::KeyEndpoint;
use crate::support::tokens::{Signer, hs256, now, unsigned};
use crate::support::{App, Engine, Options, portico, run, unique, until, with};

const ISSUER: &str = "https://id.example/";

fn claims(sub: &str) -> Value {
    json!({"iss": ISSUER, "aud": "portico-test", "sub": sub, "exp": now() + 600})
}

async fn server(keys: &KeyEndpoint, more: &[&str]) -> App {
    let flags = ["--issuer", ISSUER, "--audience", "portico-test", "--jwks-url", &keys.url()];
    Options::new(Engine::Sqlite).flags(&flags).flags(more).start().await
}

async fn status(app: &App, token: &str) -> u16 {
    app.to_get("/v1/keys").bearer(token).send().await.status
}

#[test]
fn issuer_tokens_of_all_algorithms_are_accepted() {
    run(async {
        let keys = KeyEndpoint::start();
        let signers = [Signer::rs256("r"), Signer::es256("e"), Signer::eddsa("d")];
        keys.publish(&signers.each_ref());
        let app = server(&keys, &[]).await;
        app.offer(&["oak"]).await;
        for signer in &signers {
            let (user, other) = (unique("ada"), unique("bob"));
            let token = signer.sign(&claims(&user));
            let apply = |user: &str| json!({"userId": user, "listingIds": ["oak"]});
            let answer = app.to_post("/applications", &apply(&user)).bearer(&token).send().await;
            assert_eq!(answer.status, 201, "{:?}: {}", signer.algorithm, answer.text());
            app.to_post("/applications", &apply(&other))
                .bearer(&token)
                .send()
                .await
                .refused(403, "forbidden");
        }
        assert_eq!(keys.asked(), 1, "the keys are remembered");
        // The instance's own tokens still work.
        assert_eq!(status(&app, &app.token(&["--sub", "ada"])).await, 200);
        let account = signers[0].sign(&with(claims(&unique("ada")), json!({"account": "acme"})));
        let pipeline = app.to_get("/verificationPipeline?accountId=acme").bearer(&account);
        pipeline.send().await.refused(404, "pipeline_not_found");
    });
}

#[test]
fn forged_issuer_tokens_are_refused() {
    run(async {
        let keys = KeyEndpoint::start();
        let [rsa, ec, shared] = [Signer::rs256("r"), Signer::es256("e"), Signer::eddsa("s")];
        // A symmetric key published by mistake must not be accepted.
        let secret = Signer {
            jwk: json!({"kty": "oct", "alg": "HS256", "kid": "s", "k": crate::support::tokens::base64("secret")}),
            ..shared
        };
        keys.publish(&[&rsa, &ec, &secret]);
        let app = server(&keys, &[]).await;
        let good = claims(&unique("ada"));
        let own = Signer::of_server(&app).await;
        let over = |more: Value| with(good.clone(), more);
        let forgeries = [
            ("an expired one", rsa.sign(&over(json!({"exp": now() - 40})))),
            ("one that is not valid yet", rsa.sign(&over(json!({"nbf": now() + 40})))),
            ("one for another service", rsa.sign(&over(json!({"aud": "another"})))),
            ("one for the instance's own audience", rsa.sign(&over(json!({"aud": "portico"})))),
            ("one by another issuer", rsa.sign(&over(json!({"iss": "https://evil.example/"})))),
            (
                "one that claims the instance's own issuer",
                rsa.sign(&over(json!({"iss": "portico", "aud": "portico"}))),
            ),
            ("an unsigned one", unsigned("r", &good)),
            ("HS256 with the modulus", hs256(rsa.jwk["n"].as_str().unwrap().as_bytes(), "r", &good)),
            ("HS256 with the published JSON", hs256(rsa.jwk.to_string().as_bytes(), "r", &good)),
            ("HS256 with a published secret", hs256(b"secret", "s", &good)),
            ("another key of the same name", Signer::rs256("r").sign(&good)),
            ("another algorithm under the same name", Signer::es256("r").sign(&good)),
            (
                "one of a published key under another's name",
                Signer { kid: "e".into(), ..rsa.clone() }.sign(&good),
            ),
            ("the instance's own key for the external issuer", own.sign(&good)),
        ];
        for (what, token) in forgeries {
            assert_eq!(status(&app, &token).await, 401, "{what}");
        }
        assert_eq!(status(&app, &rsa.sign(&good)).await, 200);
        assert_eq!(status(&app, &ec.sign(&good)).await, 200);
    });
}

/// As the issuer publishes it, with other members.
fn published(signer: &Signer, more: Value) -> Signer {
    let jwk = with(signer.jwk.clone(), more);
    Signer { jwk, ..signer.clone() }
}

#[test]
fn published_key_is_used_only_for_what_it_is_for() {
    run(async {
        let keys = KeyEndpoint::start();
        let [encrypts, pss, wraps, signs, open] =
            ["encrypts", "pss", "wraps", "signs", "open"].map(Signer::rs256);
        let mut silent = open.clone();
        for member in ["alg", "use"] {
            silent.jwk.as_object_mut().unwrap().remove(member);
        }
        keys.publish(&[
            &published(&encrypts, json!({"use": "enc"})),
            &published(&pss, json!({"alg": "PS256"})),
            &published(&wraps, json!({"key_ops": ["wrapKey"]})),
            &published(&signs, json!({"key_ops": ["verify"]})),
            &silent,
        ]);
        let app = server(&keys, &[]).await;
        let good = claims(&unique("ada"));
        for refused in [&encrypts, &pss, &wraps] {
            assert_eq!(status(&app, &refused.sign(&good)).await, 401, "{}", refused.kid);
        }
        let as_pss = |signer: &Signer| Signer { algorithm: Algorithm::PS256, ..signer.clone() }.sign(&good);
        assert_eq!(status(&app, &as_pss(&pss)).await, 200, "the key's own algorithm");
        assert_eq!(status(&app, &as_pss(&signs)).await, 401, "another one of the same family");
        assert_eq!(status(&app, &signs.sign(&good)).await, 200);
        assert_eq!(status(&app, &silent.sign(&good)).await, 200, "a key that names no algorithm");
        for wrong in [json!({"typ": "logout+jwt"}), json!({"crit": ["exp"]})] {
            assert_eq!(status(&app, &signs.sign_under(&wrong, &good)).await, 401, "{wrong}");
        }
    });
}

#[test]
fn issuer_token_expires_within_a_month() {
    run(async {
        let (keys, signer) = (KeyEndpoint::start(), Signer::es256("e"));
        keys.publish(&[&signer]);
        let (app, day) = (server(&keys, &[]).await, 24 * 60 * 60);
        let lasting = |more: Value| signer.sign(&with(claims(&unique("ada")), more));
        assert_eq!(status(&app, &lasting(json!({"exp": now() + 30 * day}))).await, 200);
        for absurd in [
            json!({"exp": now() + 31 * day}),
            json!({"exp": now() + 600, "iat": now() - 31 * day}),
            json!({"exp": i64::MAX}),
            json!({"exp": u64::MAX}),
            json!({"exp": 1e300}),
        ] {
            assert_eq!(status(&app, &lasting(absurd.clone())).await, 401, "{absurd}");
        }
    });
}

#[test]
fn only_the_configured_claim_makes_an_administrator() {
    run(async {
        let keys = KeyEndpoint::start();
        let signer = Signer::es256("e");
        keys.publish(&[&signer]);
        let template = json!({"name": "T", "riskLevel": "Moderate"});
        let by = async |app: &App, more: Value| {
            let token = signer.sign(&with(claims(&unique("ada")), more));
            app.to_post("/v1/predefined-portfolio", &template).bearer(&token).send().await.status
        };
        let app = server(&keys, &[]).await;
        for claim in [json!({"scope": "admin"}), json!({"roles": ["admin"]}), json!({"admin": true})] {
            assert_eq!(by(&app, claim.clone()).await, 403, "nothing is configured: {claim}");
        }
        let app = server(&keys, &["--admin-claim", "roles=portico-admin"]).await;
        for claim in
            [json!({"scope": "admin"}), json!({"roles": ["user"]}), json!({"roles": "portico-administrator"})]
        {
            assert_eq!(by(&app, claim.clone()).await, 403, "{claim}");
        }
        for claim in [json!({"roles": ["user", "portico-admin"]}), json!({"roles": "user portico-admin"})] {
            assert_eq!(by(&app, claim.clone()).await, 201, "{claim}");
        }
    });
}

/// The configured refresh interval.
const SOON: [&str; 2] = ["--jwks-refresh", "2"];

#[test]
fn rotated_issuer_keys_are_followed() {
    run(new_key_is_picked_up_and_old_one_dropped());
}

#[test]
fn withdrawn_issuer_key_is_not_trusted() {
    run(withdrawn_key_is_no_longer_trusted());
}

#[test]
fn refresh_interval_has_bounds() {
    for wrong in ["0", "3601"] {
        let output = portico().args(["serve", "--jwks-refresh", wrong]).output().unwrap();
        assert!(!output.status.success());
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(told.contains("jwks_refresh must be 1 to 3600 seconds"), "{told}");
    }
}

async fn new_key_is_picked_up_and_old_one_dropped() {
    let keys = KeyEndpoint::start();
    let (old, new) = (Signer::es256("old"), Signer::es256("new"));
    keys.publish(&[&old]);
    let app = server(&keys, &SOON).await;
    assert_eq!(status(&app, &old.sign(&claims("ada"))).await, 200);
    keys.publish(&[&new]);
    let token = new.sign(&claims("ada"));
    until("the new key is known", 20, async || (status(&app, &token).await == 200).then_some(())).await;
    assert_eq!(keys.asked(), 2, "it waited, and then asked once");
    assert_eq!(status(&app, &old.sign(&claims("bob"))).await, 401, "the old key is no longer published");
}

async fn withdrawn_key_is_no_longer_trusted() {
    let keys = KeyEndpoint::start();
    let (stolen, kept) = (Signer::es256("stolen"), Signer::es256("kept"));
    keys.publish(&[&stolen, &kept]);
    let app = server(&keys, &SOON).await;
    assert_eq!(status(&app, &stolen.sign(&claims("ada"))).await, 200);
    keys.publish(&[&kept]);
    // Other users keep using the remaining key, so no unknown key id triggers a fetch.
    until("the withdrawn key is no longer trusted", 20, async || {
        assert_eq!(status(&app, &kept.sign(&claims(&unique("ada")))).await, 200);
        (status(&app, &stolen.sign(&claims(&unique("ada")))).await == 401).then_some(())
    })
    .await;
}

#[test]
fn unknown_key_ids_do_not_flood_the_issuer() {
    run(async {
        let keys = KeyEndpoint::start();
        let known = Signer::es256("known");
        keys.publish(&[&known]);
        let app = server(&keys, &[]).await;
        let strange = Signer::es256("strange");
        let tokens = (0..50).map(|number| {
            Signer { kid: format!("strange-{number}"), ..strange.clone() }.sign(&claims("ada"))
        });
        let asks = tokens.map(async |token| status(&app, &token).await);
        assert_eq!(futures_util::future::join_all(asks).await, [401; 50]);
        assert_eq!(status(&app, &strange.sign(&claims("ada"))).await, 401);
        assert_eq!(status(&app, &known.sign(&claims("ada"))).await, 200);
        assert_eq!(keys.asked(), 1);
    });
}

#[test]
fn hanging_issuer_is_503_only_for_its_tokens() {
    run(async {
        let keys = KeyEndpoint::start();
        let signer = Signer::es256("e");
        let app = server(&keys, &SOON).await;
        let token = signer.sign(&claims("ada"));
        let answer = app.to_get("/v1/keys").bearer(&token).send().await;
        assert_ne!(answer.header("retry-after"), "");
        answer.refused(503, "unavailable");
        assert_eq!(status(&app, &app.token(&["--sub", "ada"])).await, 200);
        keys.publish(&[&signer]);
        until("the issuer is heard again", 20, async || (status(&app, &token).await == 200).then_some(()))
            .await;
    });
}

#[test]
fn hanging_issuer_is_not_asked_each_time() {
    run(async {
        let keys = KeyEndpoint::start();
        let signer = Signer::es256("e");
        let app = server(&keys, &[]).await;
        for _ in 0..20 {
            assert_eq!(status(&app, &signer.sign(&claims(&unique("ada")))).await, 503);
        }
        assert!(keys.asked() <= 2, "asked {} times", keys.asked());
    });
}

/// A server that knows its issuer by name only.
async fn discovering(keys: &KeyEndpoint) -> App {
    let flags = ["--issuer", &keys.issuer(), "--audience", "portico-test"];
    Options::new(Engine::Sqlite).flags(&flags).start().await
}

fn configuration(keys: &KeyEndpoint) -> Value {
    json!({"issuer": keys.issuer(), "jwks_uri": keys.url(), "response_types_supported": ["code"]})
}

fn discovered_claims(keys: &KeyEndpoint) -> Value {
    with(claims(&unique("ada")), json!({"iss": keys.issuer()}))
}

async fn is_ready(app: &App) -> bool {
    app.get("/readyz").await.status == 200
}

#[test]
fn issuer_alone_is_discovered() {
    run(async {
        let keys = KeyEndpoint::start();
        let (old, new) = (Signer::es256("old"), Signer::es256("new"));
        keys.publish(&[&old]);
        keys.configure(&configuration(&keys));
        let app = discovering(&keys).await;
        until("the issuer is discovered", 20, async || is_ready(&app).await.then_some(())).await;
        assert_eq!(status(&app, &old.sign(&discovered_claims(&keys))).await, 200);
        assert_eq!(status(&app, &new.sign(&discovered_claims(&keys))).await, 401, "an unknown key");
        assert_eq!(status(&app, &old.sign(&claims("ada"))).await, 401, "another issuer");
        assert_eq!(keys.asked(), 1, "the keys are remembered");
    });
}

#[test]
fn undiscovered_issuer_is_retried_and_not_ready() {
    run(async {
        let keys = KeyEndpoint::start();
        let signer = Signer::es256("e");
        let app = discovering(&keys).await;
        let token = signer.sign(&discovered_claims(&keys));
        app.get("/readyz").await.refused(503, "unavailable");
        app.to_get("/v1/keys").bearer(&token).send().await.refused(503, "unavailable");
        assert_eq!(status(&app, &app.token(&["--sub", "ada"])).await, 200);
        app.logs("the issuer's keys could not be read").await;
        keys.configure(&configuration(&keys));
        keys.publish(&[&signer]);
        // Nobody signs in meanwhile.
        until("the issuer is discovered", 30, async || is_ready(&app).await.then_some(())).await;
        assert_eq!(status(&app, &token).await, 200);
    });
}

#[test]
fn configuration_of_another_issuer_is_not_trusted() {
    run(async {
        let keys = KeyEndpoint::start();
        let signer = Signer::es256("e");
        keys.publish(&[&signer]);
        for (wrong, fault) in [
            (json!({"issuer": format!("{}/", keys.issuer())}), "another issuer's"),
            (json!({"jwks_uri": "http://keys.example/jwks"}), "must begin with https://"),
        ] {
            keys.configure(&with(configuration(&keys), wrong));
            let app = discovering(&keys).await;
            app.logs(fault).await;
            app.get("/readyz").await.refused(503, "unavailable");
            assert_eq!(status(&app, &signer.sign(&discovered_claims(&keys))).await, 503);
        }
        assert_eq!(keys.asked(), 0);
    });
}
