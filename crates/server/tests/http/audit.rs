//! The audit log: its entries, and detection of tampering.

use portico_app::audit::Anchor;
use portico_app::{Actor, Call};
use reqwest::Method;
use serde_json::json;

use crate::support::{
    App, Cell, Engine, Options, Raw, applicant, on_both_engines, on_chain, unique, until, with,
};

const OPERATOR: Call = Call { actor: Actor::Operator, idempotency_key: None };

on_both_engines! {
    shared:
        every_action_on_a_person_is_audited,
        commands_and_the_operator_are_audited_by_name,
        internal_key_use_is_audited,
        audit_log_has_no_personal_data;
    own:
        every_altered_byte_is_found,
        entries_that_are_missing_or_moved_are_found,
        truncated_log_is_found_by_its_anchor;
}

/// Action, actor and subject of all entries.
async fn done(app: &App, about: &str) -> Vec<(String, String)> {
    let raw = Raw::open(app).await;
    let sql = "SELECT actor, action FROM audit WHERE subject = ?1 ORDER BY seq";
    let rows = raw.rows(sql, &[Cell::Text(about.into())]).await;
    rows.iter().map(|row| (row[0].text().to_owned(), row[1].text().to_owned())).collect()
}

fn by(who: &str, actions: &[&str]) -> Vec<(String, String)> {
    actions.iter().map(|action| (format!("user {who}"), (*action).to_owned())).collect()
}

async fn every_action_on_a_person_is_audited(app: &App) {
    let (ada, landlord, case) = (app.someone().await, app.someone().await, unique("case"));
    let made = app.verified(&ada.token, &format!("?caseId={case}"), &applicant("Evicted")).await;
    assert_eq!(done(app, &case).await, by(&ada.user, &["case.opened"]));
    app.verify(&ada.token, &format!("?verifiedId={}", made.id), &json!({})).await.json(200);
    app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&ada.token).send().await.json(200);
    app.to_get("/v1/verifications").bearer(&ada.token).send().await.json(200);
    app.minted(&made.token).await;
    app.validate(&landlord.token, &made.id, "Ada", "Evicted").await.status(200);
    for _ in 0..5 {
        app.validate(&landlord.token, &made.id, "Ada", "Hopper").await.refused(404, "identity_not_found");
    }
    app.validate(&landlord.token, &made.id, "Ada", "Evicted").await.refused(429, "too_many_guesses");
    let unknown = unique("unknown");
    app.validate(&landlord.token, &unknown, "Ada", "Evicted").await.refused(404, "identity_not_found");
    let told = done(app, "").await;
    assert!(told.contains(&by(&landlord.user, &["identity.not_validated"])[0]), "{told:?}");
    assert_eq!(done(app, &unknown).await, [], "what was asked for may be anything, and is not kept");
    let wrong = "identity.not_validated";
    let mut expected = by(
        &ada.user,
        &[
            "verification.made",
            "verification.adverse_action",
            "verification.given_again",
            "verification.read",
        ],
    );
    let theirs = ["identity.validated", wrong, wrong, wrong, wrong, wrong, "identity.validation_refused"];
    expected.extend(by(&landlord.user, &theirs));
    let found: Vec<(String, String)> = done(app, &made.id)
        .await
        .into_iter()
        // The chain may lag behind.
        .filter(|(_, action)| action != "identity.validation_failed")
        .collect();
    assert_eq!(found, expected);
    let path = format!("/v1/identities/{}", made.token);
    app.request(Method::DELETE, &path).bearer(&ada.token).send().await.only_says(200);
    assert_eq!(done(app, &made.token).await, by(&ada.user, &["identity.revoked"]));
    let path = format!("/v1/users/{}/personal-data", ada.user);
    app.request(Method::DELETE, &path).bearer(&ada.token).send().await.only_says(200);
    assert_eq!(done(app, &ada.user).await, by(&ada.user, &["verifications.listed", "person.erased"]));
}

async fn commands_and_the_operator_are_audited_by_name(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let root = unique("root");
    let bearer = app.token(&["--sub", &root, "--scope", "admin"]);
    app.prints(&["erase", "--user", &ada.user]);
    let key = app.operator().split('_').nth(1).unwrap();
    let path = format!("/v1/users/{}/personal-data", bob.user);
    app.request(Method::DELETE, &path).key(app.operator()).send().await.only_says(200);
    app.request(Method::DELETE, &path).bearer(&bearer).send().await.only_says(200);
    let erased = "person.erased".to_owned();
    assert_eq!(done(app, &ada.user).await, [("operator at the command line".to_owned(), erased.clone())]);
    let found = done(app, &bob.user).await;
    assert_eq!(found.len(), 2);
    assert!(found[0].0.starts_with("operator's key ") && found[0].0.contains(key), "{found:?}");
    assert_eq!(found[1], (format!("administrator {root}"), erased));
}

async fn internal_key_use_is_audited(app: &App) {
    let (ada, elm) = (app.someone().await, unique("elm"));
    let body = on_chain(&elm, "landlord");
    app.to_post("/stage/listings", &body).key(app.operator()).send().await.json(201);
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.apply(&ada.token, &ada.user, &[&elm]).await;
    app.flags_become(&ada.user, &elm, [true; 4]).await;
    let used = ("the service itself".to_owned(), "application.flags_recorded".to_owned());
    let application = app.application(&ada, &ada.user, &elm).await;
    let found = done(app, application["id"].as_str().unwrap()).await;
    assert!(!found.is_empty() && found.iter().all(|entry| *entry == used), "{found:?}");
    app.prints(&["encryption", "rotate"]);
    let rotated = ("operator at the command line".to_owned(), "encryption.rotated".to_owned());
    assert!(done(app, "every person's key").await.contains(&rotated));
    app.to_get("/v1/verifications").bearer(&ada.token).send().await.json(200);
}

async fn audit_log_has_no_personal_data(app: &App) {
    let ada = app.someone().await;
    let body = with(
        applicant("Wallabyson"),
        json!({"FirstName": "Quokkabert", "SSN": "078-05-1120", "Email": "quokkabert@example.com"}),
    );
    let made = app.verified(&ada.token, "", &body).await;
    app.validate(&ada.token, &made.id, "Quokkabert", "Wallabyson").await.status(200);
    app.validate(&ada.token, &made.id, "Quokkabert", "Wombatson").await.refused(404, "identity_not_found");
    let rows = Raw::open(app).await.rows("SELECT actor, action, subject, detail FROM audit", &[]).await;
    for row in rows {
        for cell in &row {
            let text = cell.text().to_lowercase();
            for value in ["quokka", "wallaby", "wombat", "078-05", "078051120", "85000"] {
                assert!(!text.contains(value), "{row:?}");
            }
        }
    }
}

/// A seeded generator.
struct Jitter(u64);

impl Jitter {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// The value with one byte changed; `None` if it is empty.
fn altered(value: &Cell, dice: &mut Jitter) -> Option<Cell> {
    match value {
        Cell::Null => None,
        Cell::Int(int) => {
            let mut bytes = int.to_be_bytes();
            bytes[dice.below(8)] ^= u8::try_from(1 + dice.below(255)).unwrap();
            Some(Cell::Int(i64::from_be_bytes(bytes)))
        }
        Cell::Bytes(bytes) => {
            let mut bytes = bytes.clone();
            let at = dice.below(bytes.len());
            bytes[at] ^= u8::try_from(1 + dice.below(255)).unwrap();
            Some(Cell::Bytes(bytes))
        }
        Cell::Text(text) if text.is_empty() => None,
        Cell::Text(text) => {
            let mut bytes = text.clone().into_bytes();
            let at = dice.below(bytes.len());
            let other = b' ' + u8::try_from(dice.below(95)).unwrap();
            bytes[at] = if other == bytes[at] { other ^ 1 } else { other };
            // Not every byte is valid in a text.
            String::from_utf8(bytes).ok().map(Cell::Text)
        }
    }
}

/// A server with some entries in its log.
async fn with_a_log(engine: Engine) -> App {
    let app = Options::new(engine).start().await;
    for last in ["Lovelace", "Evicted", "Record"] {
        let ada = app.someone().await;
        let made = app.verified(&ada.token, "", &applicant(last)).await;
        app.to_get(&format!("/v1/verifications/{}", made.id)).bearer(&ada.token).send().await.json(200);
        app.validate(&ada.token, &made.id, "Ada", last).await.status(200);
        app.validate(&ada.token, &made.id, "Ada", "Nobody").await.refused(404, "identity_not_found");
    }
    app
}

async fn every_altered_byte_is_found(engine: Engine) {
    let mut app = with_a_log(engine).await;
    // There is no other writer.
    app.signal("TERM");
    assert!(app.ended().await);
    let tool = app.tool().await;
    let whole = tool.audit.inspect(&OPERATOR, Anchor::Unknown, |_| ()).await.unwrap();
    assert_eq!(whole.faults, [""; 0]);
    let raw = Raw::open(&app).await;
    let last = raw.rows("SELECT max(seq) FROM audit", &[]).await[0][0].int();
    assert!(last >= 12, "{last}");
    assert_eq!(whole.entries, last);
    let mut dice = Jitter(4);
    let (mut edits, mut found) = (0, 0);
    while edits < 1000 {
        let seq = Cell::Int(1 + i64::try_from(dice.below(usize::try_from(last).unwrap())).unwrap());
        let columns = ["seq", "at", "actor", "action", "subject", "detail", "hash", "head seq", "head hash"];
        let column = columns[dice.below(columns.len())];
        let (table, column, key, row) = match column.strip_prefix("head ") {
            Some(column) => ("audit_head", column, "id", Cell::Int(1)),
            None => ("audit", column, "seq", seq),
        };
        let get = format!("SELECT {column} FROM {table} WHERE {key} = ?1");
        let before = raw.rows(&get, std::slice::from_ref(&row)).await[0][0].clone();
        let Some(after) = altered(&before, &mut dice) else { continue };
        assert_ne!(before, after);
        let set = format!("UPDATE {table} SET {column} = ?2 WHERE {key} = ?1");
        // Positions are unique.
        let Some(changed) = raw.change(&set, &[row.clone(), after.clone()]).await else { continue };
        assert_eq!(changed, 1);
        edits += 1;
        let seen = tool
            .audit
            .inspect(&OPERATOR, Anchor::Unknown, |_| ())
            .await
            .is_ok_and(|found| found.faults.is_empty());
        assert!(!seen, "not found: {table}.{column} of {row:?}: {before:?} became {after:?}");
        found += 1;
        let row = if column == "seq" && table == "audit" { after } else { row };
        assert_eq!(raw.change(&set, &[row, before]).await, Some(1));
    }
    println!("{found} of {edits} altered bytes were found");
    assert_eq!(tool.audit.inspect(&OPERATOR, Anchor::Unknown, |_| ()).await.unwrap(), whole);
}

async fn entries_that_are_missing_or_moved_are_found(engine: Engine) {
    let mut app = with_a_log(engine).await;
    app.signal("TERM");
    assert!(app.ended().await);
    let raw = Raw::open(&app).await;
    let faults = || {
        let output = app.command(&["audit", "verify"]);
        (!output.status.success()).then(|| String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(faults(), None);
    // One is missing in the middle.
    let columns = "seq, at, actor, action, subject, detail, hash";
    let third = raw.rows(&format!("SELECT {columns} FROM audit WHERE seq = 3"), &[]).await.remove(0);
    raw.change("DELETE FROM audit WHERE seq = 3", &[]).await.unwrap();
    let told = faults().expect("it is found");
    assert!(told.contains("entry 4 follows entry 2"), "{told}");
    let put = format!("INSERT INTO audit ({columns}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
    raw.change(&put, &third).await.unwrap();
    assert_eq!(faults(), None);
    // Two are swapped.
    let swap = |from: i64, to: i64| format!("UPDATE audit SET seq = {to} WHERE seq = {from}");
    for (from, to) in [(3, -1), (4, 3), (-1, 4)] {
        raw.change(&swap(from, to), &[]).await.unwrap();
    }
    assert!(faults().is_some());
    for (from, to) in [(3, -1), (4, 3), (-1, 4)] {
        raw.change(&swap(from, to), &[]).await.unwrap();
    }
    assert_eq!(faults(), None);
}

async fn truncated_log_is_found_by_its_anchor(engine: Engine) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut app = with_a_log_in(engine, &data).await;
    app.signal("TERM");
    assert!(app.ended().await);
    // A server anchors the log when it starts, and then every ten minutes.
    let again = Options::new(engine).data(&data);
    let mut app = app.database.iter().fold(again, |options, url| options.database(url)).start().await;
    let raw = Raw::open(&app).await;
    let head = raw.rows("SELECT seq, hash FROM audit_head", &[]).await.remove(0);
    until("the log is anchored on the chain", 30, async || {
        (app.anchor_on_chain().await.as_deref() == Some(head[1].bytes())).then_some(())
    })
    .await;
    app.signal("TERM");
    assert!(app.ended().await);
    let raw = Raw::open(&app).await;
    let printed = app.prints(&["audit", "verify"]);
    let entries = head[0].int();
    assert_eq!(printed, format!("{entries} entries, none altered; anchored on the chain at entry {entries}"));
    // Truncated, with a consistent head.
    let end = entries - 2;
    raw.change(&format!("DELETE FROM audit WHERE seq > {end}"), &[]).await.unwrap();
    let hash = format!("(SELECT hash FROM audit WHERE seq = {end})");
    raw.change(&format!("UPDATE audit_head SET seq = {end}, hash = {hash}"), &[]).await.unwrap();
    let whole = app.tool().await.audit.inspect(&OPERATOR, Anchor::Unknown, |_| ()).await.unwrap();
    assert_eq!(whole.faults, [""; 0], "without the chain nothing is to be seen");
    let is_found = |app: &App| {
        let output = app.command(&["audit", "verify"]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && told.contains("cut or rewritten"), "{told}");
    };
    is_found(&app);
    // A server that continues this log does not move the anchor, so it is still detected later.
    let again = Options::new(engine).data(&data);
    let mut app = app.database.iter().fold(again, |options, url| options.database(url)).start().await;
    let ada = app.someone().await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    until("the server has looked at the anchor", 30, async || {
        app.log().contains("its anchor on the chain stays").then_some(())
    })
    .await;
    app.signal("TERM");
    assert!(app.ended().await);
    is_found(&app);
}

async fn with_a_log_in(engine: Engine, data: &std::path::Path) -> App {
    let app = Options::new(engine).data(data).start().await;
    let ada = app.someone().await;
    for _ in 0..3 {
        app.verified(&ada.token, "", &applicant("Lovelace")).await;
    }
    app
}
