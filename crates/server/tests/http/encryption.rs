//! Encryption at rest, key rotation and the root secret.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::{join, join_all};
use futures_util::stream::{self, StreamExt as _};
use portico_app::keystore::{Keystore, Root};
use portico_domain::UserId;
use portico_store::Location;
use serde_json::{Value, json};

use crate::support::server::ENCRYPTION_KEY;
use crate::support::tokens::{Signer, now};
use crate::support::{
    Answer, App, Cell, Engine, Installation, Options, Raw, Session, Verified, applicant, on_both_engines,
    portico, unique, with,
};

on_both_engines! {
    own:
        sealed_value_opens_only_in_its_place,
        numbers_and_tokens_are_not_stored,
        keys_are_rotated_under_load_without_a_failed_read,
        two_rotations_at_once_lose_no_key,
        root_secret_is_changed_in_two_steps,
        retry_is_answered_after_a_change_of_the_root_secret,
        secrets_come_from_files_and_credentials,
        wrong_root_secret_is_refused;
}

fn hex(text: &str) -> Vec<u8> {
    (0..text.len() / 2).map(|at| u8::from_str_radix(&text[2 * at..2 * at + 2], 16).unwrap()).collect()
}

/// Opens the server's keystore in this process.
async fn keystore(app: &App) -> Keystore {
    let root = hex(std::fs::read_to_string(app.data.join("encryption.key")).unwrap().trim());
    Keystore::open(&Location::Sqlite(app.data.join("keys.db")), Root::new(&root.into()).unwrap())
        .await
        .unwrap()
}

/// A person with a case and a result.
struct Sealed {
    who: Session,
    case: String,
    /// The id of its row.
    case_row: String,
    body: Value,
    made: Verified,
}

async fn sealed(app: &App, who: &Session, last: &str, income: u32) -> Sealed {
    let body = with(applicant(last), json!({"OpenBankingToken": format!("income-{income}")}));
    let case = unique("case");
    let made = app.verified(&who.token, &format!("?caseId={case}"), &body).await;
    app.minted(&made.token).await;
    let row = "SELECT id FROM cases WHERE name = ?1";
    let case_row = Raw::open(app).await.rows(row, &[Cell::Text(case.clone())]).await[0][0].text().to_owned();
    Sealed { who: who.clone(), case, case_row, body, made }
}

/// Calls every operation that opens sealed data.
async fn unsealing_operations(app: &App, of: &Sealed) -> Vec<(&'static str, Answer)> {
    let token = &of.who.token;
    let last = of.body["LastName"].as_str().unwrap();
    vec![
        ("read", app.to_get(&format!("/v1/verifications/{}", of.made.id)).bearer(token).send().await),
        ("list", app.to_get("/v1/verifications").bearer(token).send().await),
        ("given again", app.verify(token, &format!("?verifiedId={}", of.made.id), &json!({})).await),
        ("same case", app.verify(token, &format!("?caseId={}", of.case), &of.body).await),
        ("validated", app.validate(token, &of.made.id, "Ada", last).await),
    ]
}

async fn sealed_value_opens_only_in_its_place(engine: Engine) {
    let app = Options::new(engine).start().await;
    let (ada, bob) = (app.someone().await, app.someone().await);
    let first = sealed(&app, &ada, "Lovelace", 11_111).await;
    let second = sealed(&app, &ada, "Byron", 22_222).await;
    let other = sealed(&app, &bob, "Hopper", 33_333).await;
    for of in [&first, &second, &other] {
        for (door, answer) in unsealing_operations(&app, of).await {
            assert_eq!(answer.status, 200, "{door}: {}", answer.text());
        }
    }
    let keys = keystore(&app).await;
    let raw = Raw::open(&app).await;
    let mut swaps = 0;
    for (table, column, id, closed) in [
        ("verifications", "outcome", "id", &["read", "list", "given again", "validated", "same case"][..]),
        ("verifications", "findings", "id", &["given again", "same case"]),
        ("verifications", "inputs", "id", &[]),
        ("cases", "secret", "id", &["validated"]),
        ("checks", "finding", "case_id", &["same case"]),
    ] {
        // Swapped between two people, and between two rows of one person.
        for (one, two) in [(&first, &other), (&first, &second)] {
            let row =
                |of: &Sealed| if table == "verifications" { of.made.id.clone() } else { of.case_row.clone() };
            let kind = if table == "checks" { " AND kind = 'income'" } else { "" };
            let get = format!("SELECT {column} FROM {table} WHERE {id} = ?1{kind}");
            let set = format!("UPDATE {table} SET {column} = ?2 WHERE {id} = ?1{kind}");
            let [mine, theirs] = [row(one), row(two)].map(Cell::Text);
            let a = raw.rows(&get, std::slice::from_ref(&mine)).await[0][0].clone();
            let b = raw.rows(&get, std::slice::from_ref(&theirs)).await[0][0].clone();
            assert_ne!(a, b);
            assert_eq!(raw.change(&set, &[mine.clone(), b.clone()]).await, Some(1));
            assert_eq!(raw.change(&set, &[theirs.clone(), a.clone()]).await, Some(1));
            swaps += 2;
            for (of, foreign) in [(one, two), (two, one)] {
                let income = foreign.body["OpenBankingToken"].as_str().unwrap();
                let income = income.replace("income-", "\"IncomEstimate\":");
                for (door, answer) in unsealing_operations(&app, of).await {
                    if closed.contains(&door) {
                        assert!(
                            answer.status >= 500 || answer.status == 404,
                            "{table}.{column}, {door}: {}",
                            answer.text()
                        );
                    } else {
                        assert_eq!(answer.status, 200, "{table}.{column}, {door}: {}", answer.text());
                    }
                    assert!(!answer.text().contains(&income), "{table}.{column}, {door}: {}", answer.text());
                }
                if column == "inputs" {
                    let key = keys.person(&UserId::stored(of.who.user.as_str())).await.unwrap().unwrap();
                    let place: [&[u8]; 3] = [b"verifications", of.made.id.as_bytes(), b"inputs"];
                    let (own, swapped) = if std::ptr::eq(of, one) { (&a, &b) } else { (&b, &a) };
                    assert!(key.open(&place, swapped.bytes()).is_err());
                    key.open(&place, own.bytes()).unwrap();
                }
            }
            assert_eq!(raw.change(&set, &[mine, a]).await, Some(1));
            assert_eq!(raw.change(&set, &[theirs, b]).await, Some(1));
        }
    }
    assert_eq!(swaps, 20);
    for (door, answer) in unsealing_operations(&app, &first).await {
        assert_eq!(answer.status, 200, "put back, {door} opens again: {}", answer.text());
    }
}

async fn numbers_and_tokens_are_not_stored(engine: Engine) {
    let app = Options::new(engine).start().await;
    let ada = app.someone().await;
    let body = with(
        applicant("Lovelace"),
        json!({"SSN": "123-45-6789", "OpenBankingToken": "used-and-forgotten", "Email": "ada@example.com",
               "OpenBankingSubscriptionId": "subscription"}),
    );
    let made = app.verified(&ada.token, "", &body).await;
    let raw = Raw::open(&app).await;
    let sql = "SELECT inputs, findings, outcome FROM verifications WHERE id = ?1";
    let row = raw.rows(sql, &[Cell::Text(made.id.clone())]).await.remove(0);
    let key = keystore(&app).await.person(&UserId::stored(ada.user.as_str())).await.unwrap().unwrap();
    let open = |column: &str, sealed: &Cell| {
        let place: [&[u8]; 3] = [b"verifications", made.id.as_bytes(), column.as_bytes()];
        String::from_utf8(key.open(&place, sealed.bytes()).unwrap().to_vec()).unwrap()
    };
    let inputs = open("inputs", &row[0]);
    assert!(inputs.contains("Lovelace") && inputs.contains("ada@example.com"), "{inputs}");
    for text in [inputs, open("findings", &row[1]), open("outcome", &row[2])] {
        for never in ["6789", "used-and-forgotten", "SSN", "OpenBankingToken"] {
            assert!(!text.contains(never), "{text}");
        }
    }
}

/// 10,000 in the long run.
fn profiles() -> usize {
    if std::env::var("PORTICO_LONG").is_ok_and(|long| long == "1") { 10_000 } else { 400 }
}

async fn keys_are_rotated_under_load_without_a_failed_read(engine: Engine) {
    let app = Options::new(engine).start().await;
    let signer = Signer::of_server(&app).await;
    let issued = app.token(&["--sub", "somebody"]);
    let claims = claims(&issued);
    let sign = |user: &str| signer.sign(&with(claims.clone(), json!({"sub": user, "exp": now() + 3600})));
    let people: Vec<(String, String)> = stream::iter(0..profiles())
        .map(|number| {
            let (app, bearer) = (&app, sign(&format!("person-{number}")));
            async move {
                let id = app.verified(&bearer, "", &applicant("Lovelace")).await.id;
                (bearer, id)
            }
        })
        .buffer_unordered(32)
        .collect()
        .await;
    let (reads, done) = (AtomicUsize::new(0), AtomicBool::new(false));
    let reader = async |start: usize| {
        let mut at = start;
        while !done.load(Ordering::Relaxed) {
            let (bearer, id) = &people[at % people.len()];
            app.to_get(&format!("/v1/verifications/{id}")).bearer(bearer).send().await.status(200);
            at += 7919;
            reads.fetch_add(1, Ordering::Relaxed);
        }
    };
    let rotating = async {
        let mut printed = Vec::new();
        for _ in 0..3 {
            let before = reads.load(Ordering::Relaxed);
            let mut command = portico();
            command.args(["encryption", "rotate", "--data"]).arg(&app.data);
            command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
            let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            printed.push(String::from_utf8(output.stdout).unwrap());
            assert!(reads.load(Ordering::Relaxed) > before, "reads went on meanwhile");
        }
        done.store(true, Ordering::Relaxed);
        printed
    };
    let (_, printed) = join(join_all((0..8).map(|start| reader(start * 1000))), rotating).await;
    for line in &printed {
        // The key of custody addresses may exist too.
        let keys: usize = line.split(' ').next().unwrap().parse().unwrap();
        assert!(keys >= profiles(), "{line}");
    }
    println!(
        "{} profiles, {} reads during three rotations, none failed",
        profiles(),
        reads.load(Ordering::Relaxed)
    );
    // New people are sealed and validated as before.
    let ada = app.someone().await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.status(200);
    let (bearer, id) = &people[0];
    app.validate(bearer, id, "Ada", "Lovelace").await.status(200);
}

/// `make rotate-race` does 200 rounds.
async fn two_rotations_at_once_lose_no_key(engine: Engine) {
    let rounds = std::env::var("PORTICO_ROTATE_ROUNDS").map_or(8, |rounds| rounds.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let (data, database) = (folder.path().join("data"), engine.database().await);
    let start = || database.iter().fold(Options::new(engine).data(&data), |o, url| o.database(url)).start();
    let mut app = start().await;
    let mut people = Vec::new();
    for _ in 0..12 {
        let who = app.someone().await;
        let made = app.verified(&who.token, "", &applicant("Lovelace")).await;
        people.push((who, made));
    }
    let all_readable = async |app: &App| {
        for (who, made) in &people {
            let path = format!("/v1/verifications/{}", made.id);
            app.to_get(&path).bearer(&who.token).send().await.status(200);
        }
    };
    for round in 0..rounds {
        let rotations = (0..2).map(|_| {
            let mut command = portico();
            command.args(["encryption", "rotate", "--data"]).arg(&app.data);
            command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
            tokio::task::spawn_blocking(move || command.output().unwrap())
        });
        let outputs: Vec<_> = join_all(rotations).await.into_iter().map(Result::unwrap).collect();
        let succeeded = outputs.iter().filter(|output| output.status.success()).count();
        assert!(succeeded > 0, "round {round}: one of them wins");
        for output in outputs.iter().filter(|output| !output.status.success()) {
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("another rotation began after this one"), "{said}");
        }
        all_readable(&app).await;
    }
    app.signal("TERM");
    assert!(app.ended().await);
    all_readable(&start().await).await;
}

/// The claims of a token.
pub(crate) fn claims(token: &str) -> Value {
    use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
    let body = token.split('.').nth(1).unwrap();
    serde_json::from_slice(&BASE64_URL_SAFE_NO_PAD.decode(body).unwrap()).unwrap()
}

/// Runs `serve` with a root secret; it must not start.
fn refused(app: &App, secret: &str) -> String {
    let mut command = portico();
    command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&app.data);
    command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
    let output = command.env("PORTICO_ENCRYPTION_KEY", secret).output().unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

async fn root_secret_is_changed_in_two_steps(engine: Engine) {
    let (folder, next) = (tempfile::tempdir().unwrap(), "fedcba9876543210".repeat(4));
    let (data, file) = (folder.path().join("data"), folder.path().join("next.key"));
    std::fs::write(&file, format!("{next}\n")).unwrap();
    let with_key = |key: &str| Options::new(engine).data(&data).env("PORTICO_ENCRYPTION_KEY", key);
    let mut app = with_key(ENCRYPTION_KEY).start().await;
    let url = app.database.clone();
    let ada = app.someone().await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let path = format!("/v1/verifications/{}", made.id);
    let rotate = |app: &App, key: &str, more: &[&str]| {
        let mut command = portico();
        command.args(["encryption", "rotate", "--data"]).arg(&app.data).args(more);
        command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
        command.env("PORTICO_ENCRYPTION_KEY", key).output().unwrap()
    };
    assert!(!rotate(&app, &next, &[]).status.success(), "a key that opens nothing rotates nothing");
    let output = rotate(&app, ENCRYPTION_KEY, &["--new-key-file", file.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
    app.signal("TERM");
    assert!(app.ended().await);
    let with_key = |key: &str| url.iter().fold(with_key(key), |options, url| options.database(url));
    let mut app = with_key(&next).start().await;
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
    app.validate(&ada.token, &made.id, "Ada", "Lovelace").await.status(200);
    let output = rotate(&app, &next, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
    app.signal("TERM");
    assert!(app.ended().await);
    let error = refused(&app, ENCRYPTION_KEY);
    assert!(error.contains("does not open this keystore"), "{error}");
    let app = with_key(&next).start().await;
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
}

async fn retry_is_answered_after_a_change_of_the_root_secret(engine: Engine) {
    let place = Installation::new(engine).await;
    let (next, file) = ("fedcba9876543210".repeat(4), place.data().with_file_name("next.key"));
    std::fs::write(&file, &next).unwrap();
    let start = async |key: &str| place.options().env("PORTICO_ENCRYPTION_KEY", key).start().await;
    let rotate = |app: &App, key: &str, more: &[&str]| {
        let mut command = portico();
        command.args(["encryption", "rotate", "--data"]).arg(&app.data).args(more);
        command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
        let output = command.env("PORTICO_ENCRYPTION_KEY", key).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let body = json!({"name": "mine"});
    let made = async |app: &App, who: &Session| {
        let key = app.to_post("/v1/keys", &body).bearer(&who.token).once("k").send().await.json(201);
        key["id"].clone()
    };
    // Made-up values of the sandbox's bureau stay too: neither the SSN nor the token names one.
    let made_up = async |app: &App, who: &Session| {
        let mut found = Vec::new();
        for n in 0..4 {
            let more = json!({"SSN": format!("123-45-678{n}"), "OpenBankingToken": format!("token {n}")});
            let (query, body) = (format!("?caseId={}", unique("case")), with(applicant("Lovelace"), more));
            let results = app.verify(&who.token, &query, &body).await.json(200)["verificationResults"].take();
            let income = results["IncomEstimate"].as_f64().expect("an income");
            found.push((income, results["QualifiedViaCredit"].as_bool().expect("an answer")));
        }
        found
    };
    let app = start(ENCRYPTION_KEY).await;
    let ada = app.someone().await;
    let (first, values) = (made(&app, &ada).await, made_up(&app, &ada).await);
    rotate(&app, ENCRYPTION_KEY, &["--new-key-file", file.to_str().unwrap()]);
    assert_eq!(made(&app, &ada).await, first);
    let app = {
        let mut app = app;
        app.signal("TERM");
        assert!(app.ended().await);
        start(&next).await
    };
    assert_eq!(made(&app, &ada).await, first, "it is done once");
    rotate(&app, &next, &[]);
    assert_eq!(made(&app, &ada).await, first);
    assert_eq!(made_up(&app, &ada).await, values);
    // Another instance's bureau has another key, so it would show if the key changed.
    let other = Options::new(engine).start().await;
    assert_ne!(made_up(&other, &other.someone().await).await, values);
}

/// The keystore with its master key opens only with the right root secret.
async fn secrets_come_from_files_and_credentials(engine: Engine) {
    let place = Installation::new(engine).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("encryption-key");
    std::fs::write(&file, format!("{ENCRYPTION_KEY}\n")).unwrap();
    let flag = ["--encryption-key-file", file.to_str().unwrap()];
    let app = place.options().flags(&flag).start().await;
    assert!(!app.data.join("encryption.key").exists());
    let ada = app.someone().await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.prints(&[&["erase", "--user", "nobody"], &flag[..]].concat());
    let mut app = app;
    app.signal("TERM");
    assert!(app.ended().await);
    let credentials = folder.path().to_str().unwrap();
    let app = place.options().env("CREDENTIALS_DIRECTORY", credentials).start().await;
    let path = format!("/v1/verifications/{}", made.id);
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
    assert!(!app.log().contains("a secret on the command line"));
    let mut app = app;
    app.signal("TERM");
    assert!(app.ended().await);
    let app = place.options().flags(&["--encryption-key", ENCRYPTION_KEY]).start().await;
    app.logs("a secret on the command line is in the process list").await;
    assert!(!app.log().contains(ENCRYPTION_KEY));
}

async fn wrong_root_secret_is_refused(engine: Engine) {
    let mut app = Options::new(engine).start().await;
    let ada = app.someone().await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.signal("TERM");
    assert!(app.ended().await);
    let error = refused(&app, ENCRYPTION_KEY);
    assert!(error.contains("the encryption key does not open this keystore"), "{error}");
    assert!(error.contains("PORTICO_ENCRYPTION_KEY") && !error.contains(ENCRYPTION_KEY), "{error}");
    let error = refused(&app, "12");
    assert!(error.contains("64 hexadecimal digits"), "{error}");
}
