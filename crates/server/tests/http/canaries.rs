//! People with unique values call every operation; afterwards none of the values is found anywhere, in any encoding,
//! while a planted one is.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD, Engine as _};
use futures_util::stream::{self, StreamExt as _};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::tokens::{Signer, now};
use crate::support::{
    App, Bureau, Cell, Engine, Options, Raw, Wallet, encoded, listing, on_both_engines, on_chain, unique,
    until, with,
};

on_both_engines! {
    own:
        no_personal_value_leaks;
}

/// A seeded generator.
fn mixed(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Twelve random letters.
fn word(person: u64, which: u64) -> String {
    let mut number = mixed(mixed(person) ^ which.wrapping_mul(7_777_777));
    let mut word = String::from("Q");
    for _ in 0..11 {
        word.push(char::from(b'a' + u8::try_from(number % 26).unwrap()));
        number /= 26;
    }
    word
}

/// A person with unique values.
struct Canary {
    number: u64,
    body: Value,
    /// The values that must not leak.
    values: Vec<String>,
}

impl Canary {
    fn new(number: u64) -> Self {
        let word = |which| word(number, which);
        let digits = mixed(number ^ 0xabc) % 100_000_000;
        let (ssn, bare) = (
            format!("0{:02}-{:02}-{:04}", digits / 1_000_000, digits / 10_000 % 100, digits % 10_000),
            format!("0{digits:08}"),
        );
        // A unique date of birth.
        let (year, day) = (1890 + number / 336, number % 336);
        let born = format!("{year}-{:02}-{:02}", 1 + day / 28, 1 + day % 28);
        let body = json!({
            "FirstName": word(1), "LastName": word(2), "DateOfBirth": born, "SSN": ssn,
            "StreetAddress": format!("{} {}", 1 + number % 999, word(3)), "City": word(4), "State": word(5),
            "Email": format!("{}@{}.example", word(6), word(7)), "PostalCode": word(8),
            "OpenBankingSubscriptionId": word(9), "OpenBankingToken": word(10), "consentVersion": "2026-01",
        });
        let mut values: Vec<String> = (1..=12).map(word).collect();
        values.extend([ssn, bare, born]);
        Self { number, body, values }
    }

    fn get(&self, field: &str) -> &str {
        self.body[field].as_str().unwrap()
    }
}

/// The encodings to search for.
fn encodings(value: &str) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for value in [value.to_owned(), value.to_lowercase(), value.to_uppercase()] {
        let bytes = value.as_bytes();
        let hex = bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        all.extend([value.clone(), hex.clone(), hex.to_uppercase(), encoded(&value)].map(String::into_bytes));
        all.push(value.encode_utf16().flat_map(u16::to_le_bytes).collect());
        all.push(value.encode_utf16().flat_map(u16::to_be_bytes).collect());
        for before in 0..3 {
            // Base64 at each of the three offsets, without the characters that depend on neighbours.
            let padded = [&vec![0; before][..], bytes].concat();
            let sharp = (before * 8).div_ceil(6)..padded.len() * 8 / 6;
            for text in [BASE64_STANDARD_NO_PAD.encode(&padded), BASE64_URL_SAFE_NO_PAD.encode(&padded)] {
                all.push(text.as_bytes()[sharp.clone()].to_vec());
            }
        }
    }
    all.sort();
    all.dedup();
    all
}

/// A multi-pattern matcher.
struct Search {
    /// Patterns and their owners, by the first eight bytes.
    patterns: HashMap<[u8; 8], Vec<(Vec<u8>, usize)>>,
    /// A prefilter on the first two bytes.
    begins: Vec<bool>,
    values: Vec<String>,
}

impl Search {
    fn new(values: impl IntoIterator<Item = String>) -> Self {
        let values: Vec<String> = values.into_iter().collect();
        let (mut patterns, mut begins) = (HashMap::<_, Vec<_>>::new(), vec![false; 1 << 16]);
        for (at, value) in values.iter().enumerate() {
            for pattern in encodings(value) {
                let first: [u8; 8] = pattern[..8].try_into().unwrap();
                begins[usize::from(first[0]) << 8 | usize::from(first[1])] = true;
                patterns.entry(first).or_default().push((pattern, at));
            }
        }
        Self { patterns, begins, values }
    }

    /// The values found, with their encoding.
    fn find(&self, place: &str, bytes: &[u8]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for (at, window) in bytes.windows(8).enumerate() {
            if !self.begins[usize::from(window[0]) << 8 | usize::from(window[1])] {
                continue;
            }
            let first: [u8; 8] = window.try_into().unwrap();
            for (pattern, value) in self.patterns.get(&first).into_iter().flatten() {
                let value = &self.values[*value];
                if bytes[at..].starts_with(pattern) && is_whole(bytes, at, pattern) {
                    found.insert(format!("{place}: {value} as {}", String::from_utf8_lossy(pattern)));
                }
            }
        }
        found
    }
}

/// Nine digits inside a longer number are no SSN.
fn is_whole(bytes: &[u8], at: usize, pattern: &[u8]) -> bool {
    let digit = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(u8::is_ascii_digit);
    !pattern.iter().all(u8::is_ascii_digit)
        || !digit(at.checked_sub(1)) && !digit(Some(at + pattern.len()))
        || pattern.len() > 9
}

#[test]
fn scanner_finds_every_encoding() {
    let search = Search::new(["Qwertyuiopas".to_owned(), "012345678".to_owned(), "1901-02-03".to_owned()]);
    for value in ["Qwertyuiopas", "012345678", "1901-02-03"] {
        for pattern in encodings(value) {
            for before in 0..9 {
                let bytes = [&vec![b'.'; before][..], &pattern, b"."].concat();
                assert!(!search.find("here", &bytes).is_empty(), "{}", String::from_utf8_lossy(&pattern));
            }
        }
        // Inside a longer text that is encoded as base64.
        for before in 0..3 {
            let text = format!("{}{value}, and more", "x".repeat(before));
            assert!(!search.find("here", BASE64_STANDARD_NO_PAD.encode(&text).as_bytes()).is_empty());
        }
    }
    assert!(search.find("here", b"9012345678 0123456789 Qwertyuiopa 1901-02-04").is_empty());
}

/// 1,000 in the long run.
fn people() -> u64 {
    if std::env::var("PORTICO_LONG").is_ok_and(|long| long == "1") { 1000 } else { 40 }
}

/// Sends one person through every operation; returns all responses.
async fn call_every_operation(app: &App, signer: &Signer, claims: &Value, canary: &Canary) -> Vec<u8> {
    let number = canary.number;
    let (user, case) = (format!("person-{number}"), format!("case-{number}"));
    let bearer =
        signer.sign(&with(claims.clone(), json!({"sub": user, "account": user, "exp": now() + 3600})));
    let (first, last) = (canary.get("FirstName"), canary.get("LastName"));
    let mut heard = Vec::new();
    let mut hear = |answer: crate::support::Answer| {
        heard.extend_from_slice(format!("{:?}", answer.headers).as_bytes());
        heard.extend_from_slice(&answer.body);
        answer.status
    };
    let path = format!("/verifyRentalRequirements?caseId={case}&walletId=wallet-{number}");
    // Valid, twice, with an idempotency key.
    for _ in 0..2 {
        let request = app.to_post(&path, &canary.body).bearer(&bearer).once(&format!("key-{number}"));
        let answer = request.send().await.status(200);
        hear(answer);
    }
    let other = with(canary.body.clone(), json!({"City": canary.values[10]}));
    let reused = app.to_post(&path, &other).bearer(&bearer).once(&format!("key-{number}")).send().await;
    assert_eq!(hear(reused), 422);
    // Invalid.
    for (field, value) in [
        ("SSN", format!("{}0", canary.get("SSN"))),
        ("SSN", first.to_owned()),
        ("DateOfBirth", format!("{}-{last}", canary.get("DateOfBirth"))),
        ("Email", canary.get("Email").replace('@', " at ")),
        ("FirstName", format!("{first}\u{7}")),
        ("LastName", last.repeat(22)),
        ("consentedAt", last.to_owned()),
    ] {
        let answer = app.verify(&bearer, "", &with(canary.body.clone(), json!({ field: value }))).await;
        assert_eq!(hear(answer), 400, "{field}");
    }
    for (field, value) in
        [("FirstName", json!([first])), ("SSN", json!({last: canary.get("SSN")})), ("City", json!(5))]
    {
        assert_eq!(
            hear(app.verify(&bearer, "", &with(canary.body.clone(), json!({ field: value }))).await),
            400
        );
    }
    let whole = canary.body.to_string();
    for wrong in [&whole[..whole.len() - 1], &format!("[{whole}]"), &format!("{whole}{whole}")] {
        let request =
            app.to_post("/verifyRentalRequirements", &json!({})).bearer(&bearer).body(wrong.to_owned());
        assert_eq!(hear(request.send().await), 400);
    }
    // Unauthenticated, and for another user.
    assert_eq!(hear(app.post("/verifyRentalRequirements", canary.body.clone()).await), 401);
    assert_eq!(hear(app.to_post(&path, &canary.body).bearer(last).send().await), 401);
    let nowhere = format!("?clientId={}", unique("nobody"));
    assert_eq!(hear(app.verify(&bearer, &nowhere, &canary.body).await), 404);
    // A bureau is down.
    let down = json!({"FirstName": first, "LastName": "Down", "DateOfBirth": canary.get("DateOfBirth"),
                      "Email": canary.get("Email"), "City": canary.get("City")});
    assert_eq!(hear(app.verify(&bearer, "", &down).await), 503);
    // A pipeline whose inputs are missing.
    let pipeline =
        json!({"ClientId": format!("client-{number}"), "SoftCreditCheck": true, "IncomeCheck": true});
    hear(app.to_post("/verificationPipeline", &pipeline).bearer(&bearer).send().await);
    let lacking = json!({"FirstName": first, "StreetAddress": canary.get("StreetAddress")});
    assert_eq!(hear(app.verify(&bearer, &format!("?clientId=client-{number}"), &lacking).await), 400);
    // In a query string, where it does not belong.
    let query = format!("?FirstName={first}&SSN={}&limit={last}&searchTerm={first}", canary.get("SSN"));
    for path in [
        "/listings",
        "/v1/verifications",
        "/verifyRentalRequirements",
        "/chainIdentityInd",
        "/nowhere",
        "/metrics",
    ] {
        hear(app.to_get(&format!("{path}{query}")).bearer(&bearer).send().await);
    }
    hear(app.to_post(&format!("/verificationPipeline{query}"), &json!([first])).bearer(&bearer).send().await);
    // Validation with right and wrong names.
    hear(app.identity(&bearer, &case, &format!("wallet-{number}")).await.status(200));
    let listed = app.to_get("/v1/verifications").bearer(&bearer).send().await.json(200);
    let id = listed[0]["id"].as_str().unwrap().to_owned();
    assert_eq!(hear(app.validate(&bearer, &id, first, last).await), 200);
    for wrong in 0..6 {
        let status = hear(app.validate(&bearer, &id, last, &canary.values[10 + wrong % 2]).await);
        assert_eq!(status, if wrong < 5 { 404 } else { 429 });
    }
    assert_eq!(hear(app.validate(&bearer, &id, &format!("{first}\u{1}"), last).await), 400);
    hear(app.to_get(&format!("/v1/verifications/{id}")).bearer(&bearer).send().await);
    hear(app.verify(&bearer, &format!("?verifiedId={id}"), &canary.body).await);
    // An application.
    app.offer(&["canary-listing"]).await;
    app.apply(&bearer, &user, &["canary-listing"]).await;
    hear(app.to_get(&format!("/applications/{user}/canary-listing/check")).bearer(&bearer).send().await);
    match number % 4 {
        0 => {
            let path = format!("/v1/users/{user}/personal-data");
            assert_eq!(hear(app.request(Method::DELETE, &path).bearer(&bearer).send().await), 200);
        }
        1 => {
            let token = listed[0]["tokenId"].as_str().unwrap();
            let path = format!("/v1/identities/{token}");
            assert_eq!(hear(app.request(Method::DELETE, &path).bearer(&bearer).send().await), 200);
        }
        _ => {}
    }
    heard
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path));
        } else {
            all.push((
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(&path).unwrap(),
            ));
        }
    }
    all
}

/// Every value of every table.
async fn tables(app: &App) -> Vec<(String, Vec<u8>)> {
    let raw = Raw::open(app).await;
    if let Raw::Sqlite(connection) = &raw {
        let backup = app.data.join("backup.db");
        connection.execute("VACUUM INTO ?1", [backup.to_str().unwrap()]).unwrap();
        let bytes = std::fs::read(&backup).unwrap();
        std::fs::remove_file(backup).unwrap();
        return vec![("backup".into(), bytes)];
    }
    let names = "SELECT table_schema::text, table_name::text FROM information_schema.tables \
                 WHERE table_schema NOT IN ('pg_catalog', 'information_schema')";
    let mut all = Vec::new();
    for name in raw.rows(names, &[]).await {
        let table = format!("\"{}\".\"{}\"", name[0].text(), name[1].text());
        let mut bytes = Vec::new();
        for row in raw.rows(&format!("SELECT t::text FROM {table} t"), &[]).await {
            bytes.extend_from_slice(row[0].text().as_bytes());
            bytes.push(b'\n');
        }
        for cell in raw.rows(&format!("SELECT * FROM {table}"), &[]).await.iter().flatten() {
            match cell {
                Cell::Text(text) => bytes.extend_from_slice(text.as_bytes()),
                Cell::Bytes(more) => bytes.extend_from_slice(more),
                Cell::Int(_) | Cell::Null => {}
            }
            bytes.push(b'\n');
        }
        all.push((table, bytes));
    }
    assert!(all.len() > 20, "the tables of the service and of its keystore");
    all
}

/// All blocks with their transactions, and all logs.
async fn chain(app: &App) -> Vec<u8> {
    let ask = async |method: &str, params: Value| {
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let answer = app.post("/rpc", body).await.json(200);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    };
    let head = ask("eth_blockNumber", json!([])).await;
    let head = u64::from_str_radix(head.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    let mut all = Vec::new();
    for number in 0..=head {
        let at = format!("{number:#x}");
        let block = ask("eth_getBlockByNumber", json!([at, true])).await;
        let logs = ask("eth_getLogs", json!([{"fromBlock": at, "toBlock": at}])).await;
        all.extend_from_slice(format!("{block}\n{logs}\n").as_bytes());
    }
    all
}

/// All data that outlives a request.
async fn traces(app: &App) -> Vec<(String, Vec<u8>)> {
    let mut all = vec![
        ("log".to_owned(), app.log().into_bytes()),
        ("metrics".to_owned(), app.get("/metrics").await.status(200).body),
        ("chain".to_owned(), chain(app).await),
    ];
    all.extend(tables(app).await);
    all.extend(files(&app.data));
    all
}

async fn no_personal_value_leaks(engine: Engine) {
    let bureau = Bureau::start();
    let settings = format!("{}check_timeout_ms = 10000\n", bureau.settings());
    // Two checks use an HTTP bureau, two the sandbox. Failures are logged with the bureau's name.
    let settings =
        settings.replace("eviction = \"loopback\"\n", "").replace("criminal_background = \"loopback\"\n", "");
    let (planted, wallet) = ("Planted12345", Wallet::new());
    let settings = settings.replace("loopback", planted);
    let app = Options::new(engine).settings(&settings).flags(&["--log", "trace"]).start().await;
    let signer = Signer::of_server(&app).await;
    let issued = app.token(&["--sub", "somebody"]);
    let claims = crate::encryption::claims(&issued);
    app.add_listing(with(listing("planted", "landlord"), json!({"streetAddress": planted}))).await;
    app.to_post("/stage/listings", &on_chain("canary-listing", "landlord"))
        .key(app.operator())
        .send()
        .await
        .json(201);
    let bearer = app.token(&["--sub", "planter"]);
    let token = app.identity(&bearer, "planted-case", &wallet.address).await.status(200).text().to_owned();
    app.minted(&token).await;
    let asked = app.claim_message(&bearer, &token, "").await.json(200);
    let signature = wallet.sign(asked["message"].as_str().unwrap());
    app.claim(&bearer, &token, &asked["nonce"], &signature).await.status(200);
    until("the wallet is on the chain", 30, async || {
        (app.minted(&token).await.0 == wallet.address.to_lowercase()).then_some(())
    })
    .await;
    bureau.fail_check("income");
    app.verify(&bearer, "", &json!({"OpenBankingToken": "token"})).await.status(503);
    bureau.clear_failures();

    let canaries: Vec<Canary> = (0..people()).map(Canary::new).collect();
    let answers: Vec<Vec<u8>> = stream::iter(&canaries)
        .map(|canary| call_every_operation(&app, &signer, &claims, canary))
        .buffer_unordered(8)
        .collect()
        .await;

    let values: BTreeSet<String> = canaries.iter().flat_map(|canary| canary.values.clone()).collect();
    assert_eq!(values.len(), canaries.len() * 15, "nobody shares a value");
    let search = Search::new(values);
    let control =
        Search::new([planted.to_owned(), wallet.address.to_lowercase().trim_start_matches("0x").to_owned()]);
    let mut places = traces(&app).await;
    places.push(("answers".into(), answers.concat()));
    let (mut found, mut planted_in, mut size) = (BTreeSet::new(), BTreeSet::new(), 0);
    for (place, bytes) in &places {
        size += bytes.len();
        found.extend(search.find(place, bytes));
        if !control.find(place, bytes).is_empty() {
            planted_in.insert(place.clone());
        }
    }
    assert!(
        found.is_empty(),
        "{} found, such as {:#?}",
        found.len(),
        found.iter().take(20).collect::<Vec<_>>()
    );
    let expected: &[&str] = match engine {
        Engine::Sqlite => &["backup", "chain", "log", "portico.db"],
        Engine::Postgres => &["\"public\".\"listings\"", "chain", "log"],
    };
    for place in expected {
        let written = |name: &String| name.starts_with(place);
        assert!(planted_in.iter().any(written), "what was planted is found in {place}: {planted_in:?}");
    }
    println!(
        "{} people, {} values, {} places, {} MiB searched, nothing found",
        canaries.len(),
        search.values.len(),
        places.len(),
        size >> 20
    );
    // Again after shutdown, when everything is in the files.
    let mut app = app;
    app.signal("TERM");
    assert!(app.ended().await);
    for (place, bytes) in files(&app.data).into_iter().chain([("log".to_owned(), app.log().into_bytes())]) {
        assert_eq!(search.find(&place, &bytes), BTreeSet::new());
    }
}
