//! The console's files over HTTP. Browser tests cover its pages.

use serde_json::json;

use crate::support::{App, Engine, Options, run};

fn app() -> &'static App {
    App::shared(Engine::Sqlite)
}

/// A plain `cargo build` has no console.
fn is_built() -> bool {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/dist/index.html").exists()
}

#[test]
fn root_redirects_to_the_console() {
    run(async {
        assert_eq!(app().get("/").await.status(307).header("location"), "/console/");
        assert_eq!(app().get("/console").await.status(308).header("location"), "/console/");
    });
}

#[test]
fn console_paths_serve_its_page_with_strict_csp() {
    run(async {
        for path in ["/console/", "/console/listings/some-id", "/console/a/b/c"] {
            let page = app().get(path).await.status(200);
            assert!(page.header("content-type").starts_with("text/html"), "{path}");
            let policy = page.header("content-security-policy");
            for part in
                ["default-src 'none'", "script-src 'self';", "style-src 'self';", "frame-ancestors 'none'"]
            {
                assert!(policy.contains(part), "{part} in {policy}");
            }
            assert!(!policy.contains("unsafe"), "{policy}");
            assert_eq!(page.header("referrer-policy"), "no-referrer");
            let inline = page.text().contains("<style") || page.text().contains("style=\"");
            assert!(!inline, "{path}");
            if !is_built() {
                assert!(page.text().contains("make run"), "a page that says how to build it");
            }
        }
        app().get("/console/assets/there-is-none.js").await.status(if is_built() { 404 } else { 200 });
    });
}

#[test]
fn assets_are_compressed_and_cacheable() {
    if !is_built() {
        return;
    }
    run(async {
        let page = app().get("/console/").await.status(200);
        let mut parts = page.text().split('"');
        let entry = parts.find(|part| part.starts_with("/console/assets/index-")).unwrap().to_owned();
        let plain = app().get(&entry).await.status(200);
        assert_eq!(plain.header("content-encoding"), "");
        assert_eq!(plain.header("cache-control"), "public, max-age=31536000, immutable");
        for coding in ["br", "gzip"] {
            let packed = app().to_get(&entry).header("accept-encoding", coding).send().await.status(200);
            assert_eq!(packed.header("content-encoding"), coding);
            assert!(packed.body.len() < plain.body.len(), "{coding}");
        }
        let tag = page.header("etag").to_owned();
        assert_eq!(page.header("cache-control"), "no-cache");
        let known = app().to_get("/console/").header("if-none-match", &tag).send().await.status(304);
        assert!(known.body.is_empty());
    });
}

#[test]
fn console_config_has_the_sign_in_settings() {
    run(async {
        let sandbox = app().get("/console/config.json").await.json(200);
        assert_eq!(sandbox, json!({"profile": "sandbox", "chain": {"rpc": "/rpc"}, "country": "US"}));
        let flags = [
            "--issuer",
            "https://id.example/tenant",
            "--audience",
            "portico",
            "--jwks-url",
            "https://id.example/keys",
            "--console-client",
            "console",
            "--admin-claim",
            "roles=portico-admin",
        ];
        let app = Options::new(Engine::Sqlite).flags(&flags).start().await;
        let config = app.get("/console/config.json").await.json(200);
        assert_eq!(config["issuer"], "https://id.example/tenant");
        assert_eq!((&config["clientId"], &config["audience"]), (&json!("console"), &json!("portico")));
        assert_eq!(config["adminClaim"], json!({"claim": "roles", "value": "portico-admin"}));
        let page = app.get("/console/").await.status(200);
        assert!(page.header("content-security-policy").contains("connect-src 'self' https://id.example;"));
    });
}
