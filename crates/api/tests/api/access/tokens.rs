//! Validation of tokens of the instance's own issuer.

use serde_json::{Value, json};

use crate::support::tokens::{Signer, hs256, now, unsigned};
use crate::support::{App, on_both_engines, unique, with};

on_both_engines! {
    shared:
        a_token_says_who_someone_is,
        published_key_verifies_tokens,
        token_is_valid_only_in_its_lifetime,
        token_needs_this_audience_and_issuer,
        a_token_names_its_user,
        token_needs_the_instance_key,
        other_claims_do_not_make_an_administrator,
        header_must_be_that_of_an_access_token,
        own_token_is_valid_for_at_most_a_day;
}

fn claims(sub: &str) -> Value {
    json!({
        "iss": "portico", "aud": "portico", "sub": sub, "exp": now() + 600, "nbf": now() - 1,
        "portico_profile": "sandbox",
    })
}

async fn is_valid(app: &App, token: &str) -> bool {
    // One operation that needs a token and one that does not.
    let mut statuses = Vec::new();
    for path in ["/v1/keys", "/listings?listingId=x"] {
        let answer = app.to_get(path).bearer(token).send().await;
        statuses.push(answer.status);
        if answer.status != 200 {
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            answer.refused(401, "unauthenticated");
        }
    }
    assert_eq!(statuses[0], statuses[1]);
    statuses[0] == 200
}

async fn a_token_says_who_someone_is(app: &App) {
    let (signer, user) = (Signer::of_server(app).await, unique("ada"));
    let token = signer.sign(&claims(&user));
    assert!(is_valid(app, &token).await);
    app.offer(&["oak"]).await;
    let body = json!({"userId": user, "listingIds": ["oak"]});
    app.to_post("/applications", &body).bearer(&token).send().await.only_message(201);
    let other = signer.sign(&claims(&unique("bob")));
    app.to_post("/applications", &body).bearer(&other).send().await.refused(403, "forbidden");
    let admin = signer.sign(&with(claims(&unique("root")), json!({"scope": "read admin"})));
    app.to_post("/applications", &body).bearer(&admin).send().await.only_message(201);
}

async fn published_key_verifies_tokens(app: &App) {
    let published = app.get("/.well-known/jwks.json").await.json(200);
    let keys = published["keys"].as_array().unwrap();
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0], Signer::of_server(app).await.jwk, "the public half, and nothing of the private one");
    let key: jsonwebtoken::jwk::Jwk = serde_json::from_value(keys[0].clone()).unwrap();
    let key = jsonwebtoken::DecodingKey::from_jwk(&key).unwrap();
    let mut checks = jsonwebtoken::Validation::new(jsonwebtoken::Algorithm::EdDSA);
    checks.set_audience(&["portico"]);
    checks.set_issuer(&["portico"]);
    let user = unique("ada");
    let token = app.token(&["--sub", &user, "--account", "acme", "--scope", "admin", "--ttl", "15m"]);
    let told = jsonwebtoken::decode::<Value>(&token, &key, &checks).unwrap().claims;
    let issued = told["iat"].as_i64().unwrap();
    let expected = json!({
        "iss": "portico", "aud": "portico", "sub": user, "account": "acme", "scope": "admin", "iat": issued,
        "nbf": issued, "exp": issued + 900, "portico_profile": "sandbox", "jti": told["jti"].as_str().unwrap(),
    });
    assert_eq!(told, expected);
}

async fn token_is_valid_only_in_its_lifetime(app: &App) {
    let (signer, ada) = (Signer::of_server(app).await, unique("ada"));
    assert!(is_valid(app, &signer.sign(&with(claims(&ada), json!({"nbf": now()})))).await);
    for wrong in [
        json!({"exp": now() - 40}),
        json!({"exp": 0}),
        json!({"exp": "tomorrow"}),
        json!({"exp": null}),
        json!({"nbf": now() + 40}),
        json!({"nbf": now() + 400}),
    ] {
        assert!(!is_valid(app, &signer.sign(&with(claims(&ada), wrong.clone()))).await, "{wrong}");
    }
    let mut endless = claims(&ada);
    endless.as_object_mut().unwrap().remove("exp");
    assert!(!is_valid(app, &signer.sign(&endless)).await, "without an end");
}

async fn header_must_be_that_of_an_access_token(app: &App) {
    let (signer, claims) = (Signer::of_server(app).await, claims(&unique("ada")));
    for good in [
        json!({}),
        json!({"typ": null}),
        json!({"typ": "JWT"}),
        json!({"typ": "jwt"}),
        json!({"typ": "at+jwt"}),
        json!({"typ": "application/at+jwt"}),
    ] {
        assert!(is_valid(app, &signer.sign_under(&good, &claims)).await, "{good}");
    }
    for wrong in [
        json!({"typ": "logout+jwt"}),
        json!({"typ": "dpop+jwt"}),
        json!({"typ": "JWE"}),
        json!({"typ": ""}),
        json!({"crit": ["exp"], "exp": now() + 600}),
        json!({"crit": ["b64"], "b64": false}),
        json!({"crit": []}),
        json!({"crit": "exp"}),
    ] {
        assert!(!is_valid(app, &signer.sign_under(&wrong, &claims)).await, "{wrong}");
    }
}

async fn own_token_is_valid_for_at_most_a_day(app: &App) {
    let (signer, ada, day) = (Signer::of_server(app).await, unique("ada"), 24 * 60 * 60);
    let lasting =
        |from: i64, until: i64| signer.sign(&with(claims(&ada), json!({"iat": from, "exp": until})));
    let now = now();
    assert!(is_valid(app, &lasting(now, now + day)).await);
    for (from, until) in [
        (now, now + day + 1),
        (now - day, now + 600),
        (now + day, now + day + 600),
        (now, now + 10 * 365 * day),
        (now, i64::MAX),
        (i64::MIN, now + 600),
    ] {
        assert!(!is_valid(app, &lasting(from, until)).await, "{from} {until}");
    }
    for absurd in [json!(1e300), json!(u64::MAX), json!(-1), json!("4102444800")] {
        assert!(!is_valid(app, &signer.sign(&with(claims(&ada), json!({"exp": absurd})))).await, "{absurd}");
    }
}

async fn token_needs_this_audience_and_issuer(app: &App) {
    let (signer, ada) = (Signer::of_server(app).await, unique("ada"));
    assert!(is_valid(app, &signer.sign(&with(claims(&ada), json!({"aud": ["other", "portico"]})))).await);
    for wrong in [
        json!({"iss": "https://elsewhere.example"}),
        json!({"iss": ""}),
        json!({"aud": "another-service"}),
        json!({"aud": []}),
        json!({"aud": ["a", "b"]}),
        json!({"aud": null}),
        json!({"portico_profile": "live"}),
        json!({"portico_profile": null}),
    ] {
        assert!(!is_valid(app, &signer.sign(&with(claims(&ada), wrong.clone()))).await, "{wrong}");
    }
    for missing in ["iss", "aud", "portico_profile"] {
        let mut claims = claims(&ada);
        claims.as_object_mut().unwrap().remove(missing);
        assert!(!is_valid(app, &signer.sign(&claims)).await, "without {missing}");
    }
}

async fn a_token_names_its_user(app: &App) {
    let signer = Signer::of_server(app).await;
    for wrong in
        [json!({"sub": ""}), json!({"sub": 5}), json!({"sub": "a\u{0}b"}), json!({"sub": "x".repeat(256)})]
    {
        assert!(!is_valid(app, &signer.sign(&with(claims("ada"), wrong.clone()))).await, "{wrong}");
    }
    let mut nameless = claims("ada");
    nameless.as_object_mut().unwrap().remove("sub");
    assert!(!is_valid(app, &signer.sign(&nameless)).await);
}

async fn token_needs_the_instance_key(app: &App) {
    let (signer, claims) = (Signer::of_server(app).await, claims(&unique("ada")));
    let token = signer.sign(&claims);
    let (head, signature) = token.rsplit_once('.').unwrap();
    let public = signer.jwk["x"].as_str().unwrap();
    let stranger = Signer::eddsa(&signer.kid);
    let forged_payload = {
        let other = signer.sign(&with(claims.clone(), json!({"sub": "root", "scope": "admin"})));
        let payload = other.split('.').nth(1).unwrap().to_owned();
        format!("{}.{payload}.{signature}", head.split('.').next().unwrap())
    };
    let forgeries = [
        ("unsigned", unsigned(&signer.kid, &claims)),
        ("without a signature", format!("{head}.")),
        ("with a signature left off", head.to_owned()),
        ("HS256 with the public key as text", hs256(public.as_bytes(), &signer.kid, &claims)),
        ("HS256 with the public key's bytes", hs256(&unbase64(public), &signer.kid, &claims)),
        ("HS256 with the published JSON", hs256(signer.jwk.to_string().as_bytes(), &signer.kid, &claims)),
        ("HS256 with nothing", hs256(b"", &signer.kid, &claims)),
        ("another key under the same name", stranger.sign(&claims)),
        ("another key under its own name", Signer::eddsa("other").sign(&claims)),
        ("another algorithm under the same name", Signer::es256(&signer.kid).sign(&claims)),
        ("another payload", forged_payload),
        ("no token", "a.b.c".into()),
        ("dots", "..".into()),
        ("much", "a".repeat(20_000)),
    ];
    for (what, token) in forgeries {
        assert!(!is_valid(app, &token).await, "{what}");
    }
    assert!(is_valid(app, &token).await);
}

fn unbase64(text: &str) -> Vec<u8> {
    use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
    BASE64_URL_SAFE_NO_PAD.decode(text).unwrap()
}

async fn other_claims_do_not_make_an_administrator(app: &App) {
    let (signer, template) = (Signer::of_server(app).await, json!({"name": "T", "riskLevel": "Moderate"}));
    for scope in [
        json!("administrator"),
        json!("admin2"),
        json!("ADMIN"),
        json!(["user"]),
        json!({"admin": true}),
        json!(true),
    ] {
        let token = signer
            .sign(&with(claims(&unique("ada")), json!({"scope": scope, "admin": true, "roles": ["admin"]})));
        let request = app.to_post("/v1/predefined-portfolio", &template).bearer(&token);
        request.send().await.refused(403, "forbidden");
    }
    let token = signer.sign(&with(claims(&unique("root")), json!({"scope": ["user", "admin"]})));
    app.to_post("/v1/predefined-portfolio", &template).bearer(&token).send().await.json_without_message(201);
}
