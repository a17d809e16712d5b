//! Outages of PostgreSQL.

use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use reqwest::Method;
use serde_json::json;

use crate::support::Anvil;
use crate::support::new_database;
use crate::support::proxy::Proxy;
use crate::support::raw::Raw;
use crate::support::{
    Answer, App, Engine, Options, ids, listing, on_chain, portico, run, unique, until, with,
};

async fn server_behind_proxy() -> (App, Proxy) {
    let proxy = Proxy::to(&new_database().await).await;
    (Options::new(Engine::Postgres).database(&proxy.url).start().await, proxy)
}

#[track_caller]
fn assert_unavailable(answer: Answer) {
    assert_ne!(answer.header("retry-after"), "", "{}: {}", answer.request, answer.text());
    let text = answer.text().to_lowercase();
    for internal in ["postgres", "connection", "127.0.0.1", "tcp", "sql"] {
        assert!(!text.contains(internal), "{}: {text}", answer.request);
    }
    answer.refused(503, "unavailable");
}

async fn works_again(app: &App, seconds: u64) {
    until("the service works again", seconds, async || {
        (app.get("/readyz").await.status == 200).then_some(())
    })
    .await;
}

#[test]
fn database_outage_is_503_and_recovers() {
    run(async {
        let (app, proxy) = server_behind_proxy().await;
        let (key, ada) = (app.operator().to_owned(), app.sign_in("ada").await);
        app.add_listing(listing("before", "landlord")).await;
        app.apply(&ada.token, "ada", &["before"]).await;
        app.get("/readyz").await.status(200);

        proxy.disconnect();
        let (one, another) = (listing("during", "ada"), listing("during, without a key", "ada"));
        let requests = [
            app.to_get("/readyz"),
            app.to_get("/listings"),
            app.to_get("/listings?searchTerm=before"),
            app.to_get("/v1/depin-devices/stats/overview"),
            app.to_get("/stage/listing/before").key(&key),
            app.to_get("/applications/ada").bearer(&ada.token),
            app.to_post("/listings", &one).once("during"),
            app.to_post("/listings", &another),
            app.request(Method::DELETE, "/listings/before"),
        ];
        for request in requests {
            let answer = tokio::time::timeout(Duration::from_secs(8), request.send()).await;
            assert_unavailable(answer.expect("an answer comes within seconds"));
        }
        assert_eq!(app.get("/healthz").await.json(200), json!({"status": "ok"}));
        // Operations without the database still work.
        app.get("/openapi.json").await.json(200);
        app.post("/listings", json!({})).await.problem(400);

        proxy.recover();
        works_again(&app, 10).await;
        app.to_post("/listings", &one).once("during").send().await.only_message(201);
        app.to_post("/listings", &one).once("during").send().await.only_message(201);
        assert_eq!(ids(&app.get("/listings").await.json(200), "listingId"), ["before", "during"]);
        app.to_get("/stage/listing/before").key(&key).send().await.json(200);
        app.delete("/listings/before").await.status(200);
    });
}

#[test]
fn short_interruptions_are_survived() {
    run(async {
        let (app, proxy) = server_behind_proxy().await;
        for round in 0..10 {
            proxy.disconnect();
            proxy.recover();
            let user = format!("user-{round}");
            // Requests may be refused meanwhile, but none is lost or run twice.
            let body = json!({"userId": user, "network": "N", "deviceIdentifier": user});
            let send = || app.to_post("/v1/depin-device", &body).once(&user).send();
            let made = until("the device is registered", 10, async || {
                let answer = send().await;
                assert!(matches!(answer.status, 201 | 503), "{}: {}", answer.status, answer.text());
                (answer.status == 201).then(|| answer.json(201))
            });
            let made = made.await;
            works_again(&app, 10).await;
            assert_eq!(send().await.json(201), made);
        }
        assert_eq!(app.get("/v1/depin-devices/stats/overview").await.json(200)["totalDevices"], 10);
    });
}

#[test]
fn hanging_database_is_503() {
    run(async {
        let (app, proxy) = server_behind_proxy().await;
        app.add_listing(listing("before", "ada")).await;
        proxy.stall();
        let (read, write) = (app.get("/listings"), app.post("/listings", listing("during", "ada")));
        let both = futures_util::future::join(read, write);
        let (read, write) = tokio::time::timeout(Duration::from_secs(30), both).await.expect("answers come");
        assert_unavailable(read);
        assert_unavailable(write);
        assert_eq!(app.get("/healthz").await.status, 200);
        // Concurrent requests share one connection attempt.
        let reads = futures_util::future::join_all((0..40).map(|_| app.get("/listings")));
        let reads = tokio::time::timeout(Duration::from_secs(30), reads).await.expect("answers come");
        for read in reads {
            assert!(!read.text().contains("took too long"), "{}", read.text());
            assert_unavailable(read);
        }
        proxy.recover();
        works_again(&app, 30).await;
        app.post("/listings", listing("after", "ada")).await.only_message(201);
    });
}

#[test]
fn aborted_list_does_not_look_complete() {
    run(async {
        let (app, proxy) = server_behind_proxy().await;
        // More than the buffers hold, so that the server is still reading when the connection breaks.
        let long = "🏠".repeat(245);
        stream::iter(0..3600)
            .map(async |number| {
                let body = json!({
                    "listingId": format!("{long}{number}"), "userId": long, "streetAddress": long,
                    "city": "c", "state": "s", "postalCode": long,
                });
                app.post("/listings", body).await.only_message(201);
            })
            .buffer_unordered(32)
            .collect::<Vec<()>>()
            .await;
        let mut raw = Raw::connect(&app);
        raw.send(format!("GET /listings HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", app.address()));
        let beginning = raw.beginning();
        assert!(beginning.contains("200 OK"), "{beginning}");
        proxy.disconnect();
        assert_unavailable(app.get("/readyz").await);
        let rest = raw.read_to_end();
        assert!(!rest.ends_with("\r\n0\r\n\r\n"), "{} bytes came, and an end", rest.len());
        app.logs("a streamed list failed").await;
    });
}

#[test]
fn unreachable_database_fails_start_without_password() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = portico();
    command.args(["serve", "--listen", "127.0.0.1:0", "--json", "--data"]).arg(folder.path().join("data"));
    command.args(["--database", "postgres://ada:pAsSwOrD@127.0.0.1:1/portico"]);
    let output = command.output().unwrap();
    let (out, err) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(!output.status.success());
    assert_eq!(out, "");
    assert!(err.contains("database"), "{err}");
    assert!(!err.contains("pAsSwOrD"), "{err}");
}

#[test]
fn two_replicas_share_one_database() {
    run(async {
        let database = new_database().await;
        let folder = tempfile::tempdir().unwrap();
        let keystore = format!("sqlite:{}", folder.path().join("keys.db").display());
        // Replicas share the keystore, the issuer key, the encryption key, the chain, and one signer each.
        let anvil = Anvil::shared();
        let keys = format!("{},{}", anvil.new_key(), anvil.new_key());
        let replica = |name: &str| {
            let options = Options::new(Engine::Postgres).database(&database).data(&folder.path().join(name));
            let options = options.flags(&["--keystore", &keystore]);
            options.env("PORTICO_CHAIN", &anvil.url).env("PORTICO_CHAIN_KEY", &keys).start()
        };
        let first = replica("one").await;
        std::fs::create_dir(folder.path().join("two")).unwrap();
        for key in ["issuer.key", "encryption.key"] {
            std::fs::copy(folder.path().join("one").join(key), folder.path().join("two").join(key)).unwrap();
        }
        let second = replica("two").await;
        let ada = first.sign_in("ada").await;
        let body = json!({"name": "mine"});
        let made = async |app: &App| {
            app.to_post("/v1/keys", &body).bearer(&ada.token).once("key").send().await.json(201)
        };
        let key = made(&first).await;
        assert_eq!(made(&second).await["id"], key["id"], "the first key, wherever it was made");
        let secret = key["apiKey"].as_str().unwrap();
        second.to_get("/stage/savedListings/ada").key(secret).send().await.json(200);
        let revoke = format!("/v1/keys/{}", key["id"].as_str().unwrap());
        second.request(Method::DELETE, &revoke).bearer(&ada.token).send().await.only_message(200);
        first.to_get("/stage/savedListings/ada").key(secret).send().await.refused(401, "unauthenticated");
        // Concurrently on both: each device is registered once.
        let sends = (0..100).map(async |number| {
            let app = if number % 2 == 0 { &first } else { &second };
            let body = json!({"userId": "ada", "network": "N", "deviceIdentifier": (number / 4).to_string()});
            app.to_post("/v1/depin-device", &body)
                .once(&format!("device-{}", number / 4))
                .send()
                .await
                .json(201)
        });
        futures_util::future::join_all(sends).await;
        for app in [&first, &second] {
            let devices = app.get("/v1/depin-devices/user/ada").await.json(200);
            assert_eq!(devices.as_array().unwrap().len(), 25);
        }
        // Each uses a separate signer, and reads records of the other.
        for (recorder, reader) in [(&first, &second), (&second, &first)] {
            let id = unique("recorded");
            let body = with(on_chain(&id, "ada"), json!({"minCredit": 640}));
            recorder.to_post("/stage/listings", &body).key(recorder.operator()).send().await.json(201);
            let path = format!("/stage/listing/requirements/{id}");
            let terms = reader.to_get(&path).key(recorder.operator()).send().await.json(200);
            assert_eq!(terms["minCreditScore"], 640);
        }
    });
}
