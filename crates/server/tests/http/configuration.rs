//! `/v1/configuration`: where the settings in force come from, without secrets.

use serde_json::{Value, json};

use crate::support::server::ENCRYPTION_KEY;
use crate::support::{Answer, App, Engine, Options, on_both_engines};

on_both_engines! {
    own:
        configuration_tells_sources_and_no_secrets,
        live_configuration_tells_no_secrets;
}

async fn read(app: &App) -> Answer {
    app.to_get("/v1/configuration").key(app.operator()).send().await
}

fn setting<'v>(settings: &'v Value, name: &str) -> &'v Value {
    let mut all = settings.as_array().unwrap().iter();
    all.find(|setting| setting["name"] == name).unwrap_or_else(|| panic!("{name} is not told"))
}

async fn configuration_tells_sources_and_no_secrets(engine: Engine) {
    let app = Options::new(engine).flags(&["--country", "MX"]).start().await;
    let settings = read(&app).await.json(200);
    let expected = json!({
        "name": "country", "value": "MX", "isSet": true, "isHidden": false, "source": "flag",
    });
    assert_eq!(*setting(&settings, "country"), expected);
    assert_eq!(
        *setting(&settings, "tls_cert"),
        json!({"name": "tls_cert", "isSet": false, "isHidden": false, "source": "default"})
    );
    assert_eq!(setting(&settings, "profile")["value"], "sandbox");
    let database = setting(&settings, "database")["value"].as_str().unwrap();
    match &app.database {
        None => assert!(database.starts_with("sqlite:/"), "{database}"),
        Some(url) => {
            assert!(database.starts_with("postgres"), "{database}");
            assert!(!database.contains(['@', '?']) && database.len() < url.len(), "{database}");
        }
    }
}

async fn live_configuration_tells_no_secrets(engine: Engine) {
    let app = Options::new(engine).live().start().await;
    let answer = read(&app).await;
    assert!(!answer.text().contains(ENCRYPTION_KEY), "{}", answer.text());
    let settings = answer.json(200);
    for secret in ["encryption_key", "chain_key"] {
        let told = setting(&settings, secret);
        assert_eq!((&told["isSet"], &told["isHidden"]), (&json!(true), &json!(true)), "{told}");
        assert!(told.get("value").is_none(), "{told}");
        assert_ne!(told["source"], "default", "{told}");
    }
}
