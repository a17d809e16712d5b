//! Where the keystore is, moving it, and what is left of erased keys.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use portico_app::keystore::{Keystore, Root};
use portico_domain::Timestamp;
use portico_store::Location;

use crate::support::server::ENCRYPTION_KEY;
use crate::support::{
    App, Cell, Engine, Installation, Options, Raw, applicant, new_database, on_both_engines, portico, run,
};

on_both_engines! {
    own:
        keystore_is_moved_and_the_old_one_is_gone,
        interrupted_move_is_run_to_its_end,
        move_to_an_older_copy_is_refused,
        erased_keys_are_in_no_file,
        files_are_open_to_their_owner_only;
}

async fn stop(mut app: App) -> App {
    app.signal("TERM");
    assert!(app.ended().await);
    app
}

fn command(app: &App, arguments: &[&str]) -> Command {
    let mut command = portico();
    command.args(arguments).arg("--data").arg(&app.data);
    command.args(app.database.iter().flat_map(|url| ["--database", url.as_str()]));
    command
}

fn url(path: &Path) -> String {
    format!("sqlite:{}", path.display())
}

fn error(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[track_caller]
fn succeeded(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The files of a folder and of those in it.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn holds(path: &Path, needle: &[u8]) -> bool {
    // A file may vanish meanwhile.
    std::fs::read(path).unwrap_or_default().windows(needle.len()).any(|window| window == needle)
}

/// Somebody's wrapped key.
async fn wrapped(keystore: &Path, user: &str) -> Vec<u8> {
    let name = [Cell::Text(format!("user {user}"))];
    Raw::file(keystore).rows("SELECT wrapped FROM keys WHERE name = ?1", &name).await[0][0].bytes().to_vec()
}

async fn keystore_is_moved_and_the_old_one_is_gone(engine: Engine) {
    let place = Installation::new(engine).await;
    let to = place.data().with_file_name("elsewhere.db");
    let app = place.start().await;
    let (ada, bob) = (app.someone().await, app.someone().await);
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.verified(&bob.token, "", &applicant("Byron")).await;
    app.prints(&["erase", "--user", &bob.user]);
    let move_it = |app: &App| command(app, &["encryption", "move", "--to", &url(&to)]).output().unwrap();
    let said = error(&move_it(&app));
    assert!(said.contains("another portico is using the data folder"), "{said}");
    let app = stop(app).await;
    let same =
        command(&app, &["encryption", "move", "--to", &url(&app.data.join("keys.db"))]).output().unwrap();
    assert!(error(&same).contains("this is where the keystore is"));
    let other_name = app.data.join("../data/keys.db");
    let same = command(&app, &["encryption", "move", "--to", &url(&other_name)]).output().unwrap();
    assert!(error(&same).contains("could not be copied"), "{}", String::from_utf8_lossy(&same.stderr));
    let key = wrapped(&app.data.join("keys.db"), &ada.user).await;
    succeeded(&move_it(&app));
    assert!(!files(&app.data).iter().any(|path| path.to_str().unwrap().contains("keys.db")));
    assert!(!files(&app.data).iter().any(|path| holds(path, &key)));
    // A second run finds that it is done.
    succeeded(&move_it(&app));
    let said = error(&command(&app, &["serve", "--listen", "127.0.0.1:0"]).output().unwrap());
    assert!(said.contains("the keystore of this database is missing"), "{said}");
    let app = place.options().flags(&["--keystore", &url(&to)]).start().await;
    let path = format!("/v1/verifications/{}", made.id);
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
    // The list of erasures came along, and the next one follows it.
    let listed = Raw::file(&to).rows("SELECT name FROM erasures ORDER BY seq", &[]).await;
    assert_eq!(listed, [[Cell::Text(format!("user {}", bob.user))]]);
    let path = format!("/v1/users/{}/personal-data", ada.user);
    app.request(reqwest::Method::DELETE, &path).bearer(&ada.token).send().await.only_message(200);
    let listed = Raw::file(&to).rows("SELECT name FROM erasures ORDER BY seq", &[]).await;
    assert_eq!(listed.last().unwrap()[0].text(), format!("user {}", ada.user));
    let verify = ["audit", "verify", "--keystore", &url(&to)];
    let app = stop(app).await;
    succeeded(&command(&app, &verify).output().unwrap());
    let raw = Raw::open(&app).await;
    let action = [Cell::Text("encryption.keystore_moved".into())];
    assert_eq!(raw.rows("SELECT seq FROM audit WHERE action = ?1", &action).await.len(), 1);
}

/// The root of a server without a configured one.
fn root(app: &App) -> Root {
    let text = std::fs::read_to_string(app.data.join("encryption.key")).unwrap();
    Root::new(&hex::decode(text.trim()).unwrap().into()).unwrap()
}

async fn interrupted_move_is_run_to_its_end(engine: Engine) {
    let place = Installation::new(engine).await;
    let to = place.data().with_file_name("elsewhere.db");
    let app = place.start().await;
    let ada = app.someone().await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let app = stop(app).await;
    let from = app.data.join("keys.db");
    // Cut off after the copy, before the old one is removed.
    let old = Keystore::open(&Location::Sqlite(from.clone()), root(&app)).await.unwrap();
    let new = Keystore::open(&Location::Sqlite(to.clone()), root(&app)).await.unwrap();
    old.copy_to(&new).await.unwrap();
    let user = portico_domain::UserId::parse("someone else").unwrap();
    let at = Timestamp::from_micros(1);
    assert!(old.person_or_new(&user, at).await.is_err(), "it takes no changes any more");
    assert!(old.erase(&user, at).await.is_err());
    drop((old, new));
    let said = error(&command(&app, &["serve", "--listen", "127.0.0.1:0"]).output().unwrap());
    assert!(said.contains("is being moved elsewhere"), "{said}");
    // Cut off in the middle of the copy: the new one is nobody's yet.
    let raw = Raw::file(&to);
    raw.change("UPDATE keystore SET id = 'copy of ' || id", &[]).await.unwrap();
    raw.change("DELETE FROM keys WHERE name LIKE 'user %'", &[]).await.unwrap();
    drop(raw);
    let with_new = ["serve", "--listen", "127.0.0.1:0", "--keystore", &url(&to)];
    let said = error(&command(&app, &with_new).output().unwrap());
    assert!(said.contains("belongs to another database"), "{said}");
    succeeded(&command(&app, &["encryption", "move", "--to", &url(&to)]).output().unwrap());
    assert!(!from.exists());
    let app = place.options().flags(&["--keystore", &url(&to)]).start().await;
    let path = format!("/v1/verifications/{}", made.id);
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
}

async fn move_to_an_older_copy_is_refused(engine: Engine) {
    let place = Installation::new(engine).await;
    let to = place.data().with_file_name("elsewhere.db");
    let app = place.start().await;
    let bob = app.someone().await;
    app.verified(&bob.token, "", &applicant("Byron")).await;
    let app = stop(app).await;
    std::fs::copy(app.data.join("keys.db"), &to).unwrap();
    let app = place.start().await;
    let ada = app.someone().await;
    let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
    app.prints(&["erase", "--user", &bob.user]);
    let app = stop(app).await;
    let key = wrapped(&app.data.join("keys.db"), &ada.user).await;
    let said = error(&command(&app, &["encryption", "move", "--to", &url(&to)]).output().unwrap());
    assert!(said.contains("an older copy of this keystore is there"), "{said}");
    assert_eq!(wrapped(&app.data.join("keys.db"), &ada.user).await, key);
    let app = place.start().await;
    let path = format!("/v1/verifications/{}", made.id);
    app.to_get(&path).bearer(&ada.token).send().await.status(200);
    app.prints(&["erase", "--user", &ada.user]);
}

/// Everything that the test's PostgreSQL server keeps: tables and its log.
async fn postgres_files(app: &App) -> Vec<PathBuf> {
    match &app.database {
        None => Vec::new(),
        Some(_) => {
            let rows = Raw::open(app).await.rows("SELECT current_setting('data_directory')", &[]).await;
            files(Path::new(rows[0][0].text()))
        }
    }
}

async fn erased_keys_are_in_no_file(engine: Engine) {
    let place = Installation::new(engine).await;
    let app = place.start().await;
    let ada = app.someone().await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let key = wrapped(&app.data.join("keys.db"), &ada.user).await;
    let found = async || {
        let mut files = files(&app.data);
        files.extend(postgres_files(&app).await);
        files.into_iter().filter(|path| holds(path, &key)).collect::<Vec<_>>()
    };
    assert!(!found().await.is_empty(), "the search works");
    app.prints(&["erase", "--user", &ada.user]);
    assert_eq!(found().await, Vec::<PathBuf>::new());
}

async fn files_are_open_to_their_owner_only(engine: Engine) {
    let place = Installation::new(engine).await;
    let data = place.data();
    // A folder that somebody made, with a key that others can read.
    std::fs::create_dir(&data).unwrap();
    std::fs::write(data.join("encryption.key"), ENCRYPTION_KEY).unwrap();
    let open = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(&data, 0o755);
    open(&data.join("encryption.key"), 0o644);
    let app = place.start().await;
    app.logs("files and folders of data were open to others").await;
    let ada = app.someone().await;
    app.verified(&ada.token, "", &applicant("Lovelace")).await;
    let modes = |app: &App| {
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&app.data), 0o700);
        let files = files(&app.data);
        for path in &files {
            assert_eq!(mode(path) & 0o077, 0, "{}", path.display());
        }
        files.len()
    };
    let count = modes(&app);
    assert!(count >= 7, "keys, locks, chain, keystore: {count}");
    let app = stop(app).await;
    for path in files(&app.data) {
        open(&path, 0o666);
    }
    let app = place.start().await;
    modes(&app);
    let app = place.restart(app).await;
    assert!(!app.log().contains("were open to others"), "{}", app.log());
}

#[test]
fn keystore_in_the_data_cluster_warns_until_it_is_moved() {
    run(async {
        let (place, own) = (Installation::new(Engine::Postgres).await, new_database().await);
        let app = place.options().flags(&["--keystore", &own]).start().await;
        app.logs("whose files and backups keep erased keys").await;
        assert!(!app.data.join("keys.db").exists());
        let ada = app.someone().await;
        let made = app.verified(&ada.token, "", &applicant("Lovelace")).await;
        let app = stop(app).await;
        let move_to = |to: &str| {
            command(&app, &["encryption", "move", "--keystore", &own, "--to", to]).output().unwrap()
        };
        // Another database of the cluster is no better.
        assert!(error(&move_to(&new_database().await)).contains("name another one"));
        succeeded(&move_to(&url(&app.data.join("keys.db"))));
        assert!(!Keystore::exists(&Location::Postgres(own.clone())).await.unwrap());
        // The usual place needs no flag.
        let app = place.start().await;
        let path = format!("/v1/verifications/{}", made.id);
        app.to_get(&path).bearer(&ada.token).send().await.status(200);
        assert!(!app.log().contains("keep erased keys"));
    });
}

#[test]
fn live_needs_a_keystore_outside_the_cluster() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut app = stop(Options::new(Engine::Postgres).start().await).await;
        let other = new_database().await;
        (app.data, app.database) = (folder.path().to_owned(), Some(other.clone()));
        let live = || Options::new(Engine::Postgres).live();
        let said = live().refused_on(&app);
        assert!(said.contains("needs --keystore"), "{said}");
        let said = live().flags(&["--keystore", &other]).refused_on(&app);
        assert!(said.contains("whose files keep erased keys"), "{said}");
    });
}
