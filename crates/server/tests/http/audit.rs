//! The audit log: its entries, and detection of tampering.

use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use portico_app::audit::Anchor;
use portico_app::keystore::{Keystore, Root};
use portico_app::{Actor, CallContext};
use portico_domain::Timestamp;
use portico_store::audit::{Append, Entry, LoggedEntry, RESTORED, superseding};
use portico_store::chain::Word;
use portico_store::{Db, Location, Role};
use reqwest::Method;
use serde_json::{Value, json};

use crate::support::server::ENCRYPTION_KEY;
use crate::support::{
    App, Cell, Engine, Installation, Options, Raw, applicant, on_both_engines, on_chain, portico, unique,
    until, with,
};

const OPERATOR: CallContext = CallContext::new(Actor::Operator);

on_both_engines! {
    shared:
        commands_and_the_operator_are_audited_by_name,
        token_from_the_command_line_is_audited,
        internal_key_use_is_audited;
    own:
        every_altered_byte_is_found,
        entries_that_are_missing_or_moved_are_found,
        running_server_anchors_what_is_new,
        truncated_log_is_found_by_its_anchor,
        forged_logs_are_found,
        server_does_not_anchor_a_forged_log,
        restored_log_is_anchored_again,
        command_without_the_key_leaves_its_entry,
        log_begun_by_a_command_is_keyed_and_keeps_its_name;
}

/// Action, actor and subject of all entries.
async fn done(app: &App, about: &str) -> Vec<(String, String)> {
    let raw = Raw::open(app).await;
    let sql = "SELECT actor, action FROM audit WHERE subject = ?1 ORDER BY seq";
    let rows = raw.rows(sql, &[Cell::Text(about.into())]).await;
    rows.iter().map(|row| (row[0].text().to_owned(), row[1].text().to_owned())).collect()
}

async fn commands_and_the_operator_are_audited_by_name(app: &App) {
    let (ada, bob) = (app.someone().await, app.someone().await);
    let root = unique("root");
    let bearer = app.token(&["--sub", &root, "--scope", "admin"]);
    app.prints(&["erase", "--user", &ada.user]);
    let key = app.operator().split('_').nth(1).unwrap();
    let made = app.verified(&bob.token, "", &applicant("Lovelace")).await;
    let path = format!("/v1/identities/{}", made.token);
    app.request(Method::DELETE, &path).key(app.operator()).send().await.only_message(200);
    let found = done(app, &made.token).await;
    assert_eq!((found.len(), found[0].1.as_str()), (1, "identity.revoked"));
    assert!(found[0].0.starts_with("operator's key ") && found[0].0.contains(key), "{found:?}");
    let path = format!("/v1/users/{}/personal-data", bob.user);
    app.request(Method::DELETE, &path).bearer(&bearer).send().await.only_message(200);
    let erased = "person.erased".to_owned();
    assert_eq!(done(app, &ada.user).await, [("operator at the command line".to_owned(), erased.clone())]);
    assert_eq!(done(app, &bob.user).await, [(format!("administrator {root}"), erased)]);
}

/// By its id, which the token carries: neither the user nor the account is in the log.
async fn token_from_the_command_line_is_audited(app: &App) {
    let (ada, acme) = (unique("ada"), unique("acme"));
    let id = |token: &str| {
        let payload = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        serde_json::from_slice::<Value>(&payload).unwrap()["jti"].as_str().unwrap().to_owned()
    };
    let raw = Raw::open(app).await;
    for (more, expected) in
        [(&[][..], "a user's, for 900 s"), (&["--scope", "admin"], "an administrator's, for 900 s")]
    {
        let token = app.token(&[&["--sub", &ada, "--account", &acme, "--ttl", "15m"], more].concat());
        let sql = "SELECT actor, action, detail FROM audit WHERE subject = ?1";
        let rows = raw.rows(sql, &[Cell::Text(id(&token))]).await;
        let rows: Vec<Vec<&str>> = rows.iter().map(|row| row.iter().map(Cell::text).collect()).collect();
        assert_eq!(rows, [["operator at the command line", "token.issued", expected]]);
    }
    for name in [&ada, &acme] {
        let pattern = [Cell::Text(format!("%{name}%"))];
        let sql = "SELECT seq FROM audit WHERE actor LIKE ?1 OR subject LIKE ?1 OR detail LIKE ?1";
        assert_eq!(raw.rows(sql, &pattern).await.len(), 0, "{name}");
    }
    for too_long in ["25h", "2d", "3650d"] {
        let output = app.command(&["token", "--sub", &ada, "--ttl", too_long]);
        let err = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && err.contains("must be between 1s and 24h"), "{err}");
    }
}

async fn internal_key_use_is_audited(app: &App) {
    let (ada, elm) = (app.someone().await, unique("elm"));
    let body = with(on_chain(&elm, "landlord"), json!({"minCredit": 620}));
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

/// A seeded generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }
}

/// The value with one byte changed; `None` if it is empty.
fn altered(value: &Cell, rng: &mut Rng) -> Option<Cell> {
    match value {
        Cell::Null => None,
        Cell::Int(int) => {
            let mut bytes = int.to_be_bytes();
            bytes[rng.below(8)] ^= u8::try_from(1 + rng.below(255)).unwrap();
            Some(Cell::Int(i64::from_be_bytes(bytes)))
        }
        Cell::Bytes(bytes) => {
            let mut bytes = bytes.clone();
            let at = rng.below(bytes.len());
            bytes[at] ^= u8::try_from(1 + rng.below(255)).unwrap();
            Some(Cell::Bytes(bytes))
        }
        Cell::Text(text) if text.is_empty() => None,
        Cell::Text(text) => {
            let mut bytes = text.clone().into_bytes();
            let at = rng.below(bytes.len());
            let other = b' ' + u8::try_from(rng.below(95)).unwrap();
            bytes[at] = if other == bytes[at] { other ^ 1 } else { other };
            // Not every byte is valid in a text.
            String::from_utf8(bytes).ok().map(Cell::Text)
        }
    }
}

/// The server with some entries in its log.
async fn with_a_log(app: App) -> App {
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
    // There is no other writer.
    let app = stop(with_a_log(Options::new(engine).start().await).await).await;
    let tool = app.tool().await;
    let whole = tool.audit.inspect(&OPERATOR, Anchor::Unknown, |_| ()).await.unwrap();
    assert_eq!(whole.faults, []);
    let raw = Raw::open(&app).await;
    let last = raw.rows("SELECT max(seq) FROM audit", &[]).await[0][0].int();
    assert!(last >= 12, "{last}");
    assert_eq!(whole.entries, last);
    let mut rng = Rng(4);
    let (mut edits, mut found) = (0, 0);
    while edits < 1000 {
        let seq = Cell::Int(1 + i64::try_from(rng.below(usize::try_from(last).unwrap())).unwrap());
        let columns = [
            "seq",
            "at",
            "actor",
            "action",
            "subject",
            "detail",
            "hash",
            "head seq",
            "head hash",
            "head log",
        ];
        let column = columns[rng.below(columns.len())];
        let (table, column, key, row) = match column.strip_prefix("head ") {
            Some(column) => ("audit_head", column, "id", Cell::Int(1)),
            None => ("audit", column, "seq", seq),
        };
        let get = format!("SELECT {column} FROM {table} WHERE {key} = ?1");
        let before = raw.rows(&get, std::slice::from_ref(&row)).await[0][0].clone();
        let Some(after) = altered(&before, &mut rng) else { continue };
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
    let app = stop(with_a_log(Options::new(engine).start().await).await).await;
    let raw = Raw::open(&app).await;
    let faults = || faults(&app);
    assert_eq!(faults(), None);
    // One is missing in the middle.
    let third = raw.rows(&format!("SELECT {COLUMNS} FROM audit WHERE seq = 3"), &[]).await.remove(0);
    raw.change("DELETE FROM audit WHERE seq = 3", &[]).await.unwrap();
    let told = faults().expect("it is found");
    assert!(told.contains("entry 4 follows entry 2"), "{told}");
    let put = format!("INSERT INTO audit ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
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

/// Stops the server as an operator does. It anchors the log before it ends.
async fn stop(mut app: App) -> App {
    app.signal("TERM");
    assert!(app.ended().await);
    app
}

/// What `audit verify` finds.
fn faults(app: &App) -> Option<String> {
    let output = app.command(&["audit", "verify"]);
    (!output.status.success()).then(|| String::from_utf8(output.stderr).unwrap())
}

/// Makes the log end with an earlier entry, with a consistent head.
async fn truncate(app: &App, end: i64) {
    let raw = Raw::open(app).await;
    raw.change(&format!("DELETE FROM audit WHERE seq > {end}"), &[]).await.unwrap();
    let hash = format!("(SELECT hash FROM audit WHERE seq = {end})");
    raw.change(&format!("UPDATE audit_head SET seq = {end}, hash = {hash}"), &[]).await.unwrap();
}

/// Moving the sandbox's clock runs the periodic work at once.
async fn running_server_anchors_what_is_new(engine: Engine) {
    let app = Options::new(engine).start().await;
    for _ in 0..2 {
        let ada = app.someone().await;
        app.verified(&ada.token, "", &applicant("Lovelace")).await;
        let (_, end) = head(&app).await;
        assert_ne!(app.anchor_on_chain().await.as_ref(), Some(&end));
        app.post("/v1/sandbox/clock", json!({"advanceSeconds": 1})).await.status(200);
        until("the end of the log is anchored", 20, async || {
            (app.anchor_on_chain().await == Some(head(&app).await.1)).then_some(())
        })
        .await;
    }
}

async fn truncated_log_is_found_by_its_anchor(engine: Engine) {
    let place = Installation::new(engine).await;
    let app = stop(with_a_log(place.start().await).await).await;
    let entries = head(&app).await.0;
    let printed = app.prints(&["audit", "verify"]);
    assert_eq!(printed, format!("{entries} entries, none altered; anchored on the chain at entry {entries}"));
    truncate(&app, entries - 2).await;
    let whole = app.tool().await.audit.inspect(&OPERATOR, Anchor::Unknown, |_| ()).await.unwrap();
    assert_eq!(whole.faults, [], "without the chain nothing is to be seen");
    let told = faults(&app).unwrap();
    assert!(told.contains("cut or rewritten"), "{told}");
    // A server that continues this log does not move the anchor, so it is still detected later.
    let app = place.start().await;
    let ada = app.someone().await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.logs("its anchor on the chain stays").await;
    let told = faults(&stop(app).await).unwrap();
    assert!(told.contains("cut or rewritten"), "{told}");
}

/// Number and hash of the last entry.
async fn head(app: &App) -> (i64, Vec<u8>) {
    let row = Raw::open(app).await.rows("SELECT seq, hash FROM audit_head", &[]).await.remove(0);
    (row[0].int(), row[1].bytes().to_vec())
}

fn location(app: &App) -> Location {
    match &app.database {
        Some(url) => Location::Postgres(url.clone()),
        None => Location::Sqlite(app.data.join("portico.db")),
    }
}

/// The database as somebody sees it who can write it, and has no other secret.
async fn without_key(app: &App) -> Db {
    Db::open(&location(app), Role::Tool).await.unwrap()
}

/// The log with its head, to be put back.
struct Saved(Vec<Vec<Cell>>, Vec<Cell>);

const COLUMNS: &str = "seq, at, actor, action, subject, detail, hash";

impl Saved {
    async fn of(app: &App) -> Self {
        let raw = Raw::open(app).await;
        let rows = raw.rows(&format!("SELECT {COLUMNS} FROM audit ORDER BY seq"), &[]).await;
        let head = raw.rows("SELECT log, seq, hash, keyed FROM audit_head", &[]).await.remove(0);
        Self(rows, head)
    }

    async fn put_back(&self, app: &App) {
        let raw = Raw::open(app).await;
        raw.change("DELETE FROM audit", &[]).await.unwrap();
        let insert = format!("INSERT INTO audit ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)");
        for row in &self.0 {
            raw.change(&insert, row).await.unwrap();
        }
        let head = "UPDATE audit_head SET log = ?1, seq = ?2, hash = ?3, keyed = ?4";
        raw.change(head, &self.1).await.unwrap();
    }
}

/// Writes the whole log anew, with hashes that fit, as if nobody but `mallory` had done anything.
async fn rewrite(app: &App) {
    let (db, raw) = (without_key(app).await, Raw::open(app).await);
    let entries = db.audit_after(0, 1000).await.unwrap();
    raw.change("DELETE FROM audit", &[]).await.unwrap();
    let empty = "UPDATE audit_head SET seq = 0, hash = ?1, keyed = 0";
    raw.change(empty, &[Cell::Bytes(vec![0; 32])]).await.unwrap();
    for entry in entries {
        let LoggedEntry { at, subject, detail, .. } = entry;
        let forged = Entry { at, actor: "user mallory".into(), action: "verification.read", subject, detail };
        db.write(Append(forged)).await.unwrap();
    }
}

async fn forge_an_entry(app: &App) {
    let raw = Raw::open(app).await;
    raw.change("UPDATE audit_head SET keyed = 0", &[]).await.unwrap();
    let (at, none) = (Timestamp::from_micros(1_800_000_000_000_000), String::new);
    let actor = "user mallory".to_owned();
    let entry = Entry { at, actor, action: "key.revoked", subject: none(), detail: none() };
    without_key(app).await.write(Append(entry)).await.unwrap();
}

async fn forged_logs_are_found(engine: Engine) {
    let place = Installation::new(engine).await;
    let app = stop(with_a_log(place.start().await).await).await;
    assert_eq!(faults(&app), None);
    let saved = Saved::of(&app).await;
    let tool = app.tool().await;
    let inspect = async || {
        let found = tool.audit.inspect(&OPERATOR, Anchor::Unknown, |_| ()).await.unwrap();
        found.faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    forge_an_entry(&app).await;
    let found = inspect().await;
    assert!(found.contains("was not written by this instance"), "{found}");
    saved.put_back(&app).await;
    rewrite(&app).await;
    let found = inspect().await;
    assert!(found.contains("no entry has a keyed hash"), "{found}");
    let told = faults(&app).unwrap();
    assert!(told.contains("anchor stands is not there"), "{told}");
    saved.put_back(&app).await;
    let raw = Raw::open(&app).await;
    raw.change("UPDATE audit_head SET log = ?1", &[Cell::Bytes(vec![7; 32])]).await.unwrap();
    let told = faults(&app).unwrap();
    assert!(told.contains("the log's name in the database was altered"), "{told}");
    assert!(told.contains(&format!("anchored on the chain at entry {}", saved.0.len())), "{told}");
    saved.put_back(&app).await;
    assert_eq!(faults(&app), None);
}

/// Whether the server says that the log was altered.
async fn is_alarmed(app: &App) -> bool {
    let metrics = app.to_get("/metrics").key(app.operator()).send().await.body;
    let metrics = String::from_utf8(metrics).unwrap();
    metrics.contains("\nportico_audit_log_altered 1\n")
}

async fn server_does_not_anchor_a_forged_log(engine: Engine) {
    let place = Installation::new(engine).await;
    let app = stop(with_a_log(place.start().await).await).await;
    let (saved, (_, anchored)) = (Saved::of(&app).await, head(&app).await);
    for forge in ["entries", "an entry"] {
        match forge {
            "entries" => rewrite(&app).await,
            _ => forge_an_entry(&app).await,
        }
        let server = place.start().await;
        server.logs("its anchor on the chain stays where it is").await;
        assert!(server.log().contains("ERROR"), "{}", server.log());
        assert!(is_alarmed(&server).await, "{forge}");
        // It goes on with its work, and the next one finds the same.
        let server = place.restart(server).await;
        server.logs("its anchor on the chain stays where it is").await;
        let recorded = server.anchor_on_chain().await;
        assert_eq!(recorded.as_deref(), Some(&anchored[..]), "{forge}");
        stop(server).await;
        saved.put_back(&app).await;
    }
    let app = place.start().await;
    assert!(!is_alarmed(&app).await);
    let ada = app.someone().await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let app = stop(app).await;
    assert_eq!(faults(&app), None);
    assert_ne!(head(&app).await.1, anchored);
}

/// The database with the key, as a command has it that opens the keystore.
async fn with_key(app: &App) -> Db {
    let text = std::fs::read_to_string(app.data.join("encryption.key")).unwrap();
    let root = hex::decode(text.trim()).unwrap();
    let location = Location::Sqlite(app.data.join("keys.db"));
    let keystore = Keystore::open(&location, Root::new(&root.into()).unwrap()).await.unwrap();
    let db = without_key(app).await;
    db.use_audit_key(keystore.audit_key().await.unwrap().unwrap());
    db
}

async fn restored_log_is_anchored_again(engine: Engine) {
    let place = Installation::new(engine).await;
    let app = stop(with_a_log(place.start().await).await).await;
    let (entries, anchored) = head(&app).await;
    truncate(&app, entries - 3).await;
    let restored = |detail: String| Entry {
        at: Timestamp::from_micros(1_800_000_000_000_000),
        actor: "operator at the command line".into(),
        action: RESTORED,
        subject: "the database".into(),
        detail,
    };
    // An entry that names another end supersedes nothing here.
    let db = with_key(&app).await;
    db.write(Append(restored(superseding(&[[7; 32]])))).await.unwrap();
    let app = place.start().await;
    app.logs("its anchor on the chain stays where it is").await;
    let app = stop(app).await;
    let named = Word::try_from(&anchored[..]).unwrap();
    with_key(&app).await.write(Append(restored(superseding(&[[8; 32], named])))).await.unwrap();
    let app = stop(place.start().await).await;
    assert_eq!(faults(&app), None);
    let (seq, hash) = head(&app).await;
    let app = place.start().await;
    assert!(app.log().is_empty() || !app.log().contains("cut or rewritten"), "{}", app.log());
    assert_eq!(app.anchor_on_chain().await, Some(hash), "entry {seq}");
}

async fn command_without_the_key_leaves_its_entry(engine: Engine) {
    let place = Installation::new(engine).await;
    let options = || place.options().env("PORTICO_ENCRYPTION_KEY", ENCRYPTION_KEY);
    let app = options().start().await;
    let key = app.new_key(&["--user", "ada"]);
    let id = key.split('_').nth(1).unwrap().to_owned();
    assert_eq!(done(&app, &id).await, []);
    app.to_get("/stage/savedListings/ada").key(&key).send().await.status(200);
    let output = app.command(&["audit", "verify"]);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && told.contains("PORTICO_ENCRYPTION_KEY"), "{told}");
    drop(stop(app).await);
    let app = options().start().await;
    let raw = Raw::open(&app).await;
    let about = [Cell::Text(id)];
    let rows = raw.rows("SELECT action, detail FROM audit WHERE subject = ?1", &about).await;
    let taken = rows.iter().map(|row| (row[0].text(), row[1].text())).collect::<Vec<_>>();
    assert!(
        matches!(taken[..], [("key.created", detail)] if detail.starts_with("left by a command")),
        "{taken:?}"
    );
    let app = stop(app).await;
    let mut verify = portico();
    verify.args(["audit", "verify", "--data"]).arg(&app.data).env("PORTICO_ENCRYPTION_KEY", ENCRYPTION_KEY);
    verify.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
    let output = verify.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A command that runs before the first server: the keystore has no key of the log yet, and the entries have none.
async fn log_begun_by_a_command_is_keyed_and_keeps_its_name(engine: Engine) {
    let place = Installation::new(engine).await;
    // Opens the database as a command does before the first server.
    let app = place.options().flags(&["--log", "info"]);
    drop(stop(app.start().await).await);
    let app = stop(place.start().await).await;
    rewrite(&app).await;
    let forget = "DELETE FROM keys WHERE name IN ('audit', 'audit begun')";
    Raw::file(&app.data.join("keys.db")).change(forget, &[]).await.unwrap();
    let raw = Raw::open(&app).await;
    raw.change("UPDATE audit_head SET log = ?1", &[Cell::Bytes(vec![9; 32])]).await.unwrap();
    let first = Entry {
        at: Timestamp::from_micros(1_800_000_000_000_000),
        actor: "user ada".into(),
        action: "verification.read",
        subject: "1".into(),
        detail: String::new(),
    };
    without_key(&app).await.write(Append(first)).await.unwrap();
    let app = place.start().await;
    let (seq, _) = head(&app).await;
    let rows = raw.rows("SELECT action FROM audit ORDER BY seq", &[]).await;
    assert_eq!(rows.last().unwrap()[0].text(), "audit.keyed");
    let app = stop(app).await;
    assert_eq!(faults(&app), None);
    let app = place.start().await;
    assert_eq!(head(&app).await.0, seq, "it is keyed once");
    assert_eq!(raw.rows("SELECT log FROM audit_head", &[]).await[0][0].bytes(), [9; 32]);
    assert!(app.anchor_on_chain().await.is_some());
    drop(stop(app).await);
}
