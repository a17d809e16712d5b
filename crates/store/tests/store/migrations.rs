//! Opening, closing and migrating a database.

use futures_util::future::join_all;
use portico_domain::listings::ListingFilter;
use portico_store::keystore::Keystore;
use portico_store::{Error, Location, Migration, MigrationStatus, Role, migrate};

use crate::engines::{Db, Place};
use crate::samples::{create, found, listing, text};

on_both_engines! {
    a_database_is_opened_by_its_url,
    a_url_of_another_kind_is_refused,
    opening_again_keeps_everything,
    closed_database_is_a_single_file,
    closing_does_not_stop_the_engine,
    many_may_open_an_empty_database_at_once,
    newer_database_is_refused_with_a_clear_message,
    status_shows_the_last_migration,
    status_of_an_empty_database_changes_nothing,
    every_step_is_recorded_by_name,
    next_step_is_run_once,
    edited_step_is_refused_by_name,
    database_of_another_state_is_refused,
    interrupted_step_leaves_nothing,
    concurrent_openers_run_a_step_once,
    keystore_of_another_state_is_refused,
}

async fn steps(place: &Place) -> Vec<String> {
    let rows = place.raw("SELECT name FROM portico_migrations WHERE version > 0 ORDER BY version").await;
    rows.into_iter().flatten().flatten().collect()
}

async fn a_database_is_opened_by_its_url(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    for url in db.place().urls() {
        let location = Location::parse(&url).unwrap();
        let same = portico_store::Db::open(&location, Role::Tool).await.unwrap();
        assert_eq!(same.listing(&text("a")).await.unwrap(), Some(listing("a")), "{url}");
    }
}

async fn a_url_of_another_kind_is_refused(db: Db) {
    for url in db.place().urls() {
        let (_, rest) = url.split_once(':').unwrap();
        for wrong in
            [format!("mysql:{rest}"), rest.to_owned(), format!(" {url}"), "sqlite:".into(), String::new()]
        {
            assert!(Location::parse(&wrong).is_err(), "{wrong}");
        }
    }
}

async fn opening_again_keeps_everything(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let place = db.closed().await;
    for _again in 0..2 {
        let db = place.open(Role::Server).await;
        assert_eq!(db.listing(&text("a")).await.unwrap(), Some(listing("a")));
        assert_eq!(db.listing_statistics().await.unwrap().total, 1);
    }
}

/// A backup of the single file is complete; the search index is not part of it.
async fn closed_database_is_a_single_file(db: Db) {
    for n in 0..20 {
        db.write(create(listing(&format!("{n}")))).await.unwrap();
    }
    db.close().unwrap();
    let place = db.closed().await;
    place.keep_only_the_database();
    let db = place.open(Role::Server).await;
    assert_eq!(found(&db, &ListingFilter::default()).await.len(), 20);
    assert_eq!(db.listing_statistics().await.unwrap().total, 20);
}

async fn closing_does_not_stop_the_engine(db: Db) {
    for id in ["a", "b"] {
        db.write(create(listing(id))).await.unwrap();
        db.close().unwrap();
        db.close().unwrap();
    }
    assert_eq!(found(&db, &ListingFilter::default()).await, ["a", "b"]);
}

async fn many_may_open_an_empty_database_at_once(db: Db) {
    for _round in 0..5 {
        let place = db.fresh_place().await;
        // One server, and commands next to it.
        let opens = (0..8).map(|n| {
            let (place, role) = (place.clone(), if n == 0 { Role::Server } else { Role::Tool });
            tokio::task::spawn_blocking(move || {
                tokio::runtime::Handle::current().block_on(async { place.try_open(role).await })
            })
        });
        let opened = join_all(opens.collect::<Vec<_>>()).await;
        for (n, db) in opened.into_iter().map(|task| task.unwrap().unwrap()).enumerate() {
            db.write(create(listing(&format!("{n}")))).await.unwrap();
            let total = db.listing_statistics().await.unwrap().total;
            assert_eq!(total, i64::try_from(n + 1).unwrap(), "all of them see the same database");
        }
        assert_eq!(steps(&place).await, steps(db.place()).await);
    }
}

async fn newer_database_is_refused_with_a_clear_message(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let place = db.closed().await;
    let latest = place.status().await.latest;
    place.raw("INSERT INTO portico_migrations VALUES (4711, 'the future', '')").await;
    for role in [Role::Server, Role::Tool] {
        let Err(Error::Unavailable(words)) = place.try_open(role).await.map(drop) else {
            panic!("it must not be opened");
        };
        for word in ["4711", &latest.to_string(), "newer"] {
            assert!(words.contains(word), "{words}");
        }
    }
    assert_eq!(place.status().await, MigrationStatus { current: 4711, latest });
    assert_eq!(place.raw("SELECT id FROM listings").await, [[Some("a".to_owned())]], "nothing was touched");
}

async fn status_shows_the_last_migration(db: Db) {
    let MigrationStatus { current, latest } = db.place().status().await;
    assert!(latest >= 1);
    assert_eq!(current, latest);
    let empty = db.fresh_place().await;
    assert_eq!(empty.status().await, MigrationStatus { current: 0, latest });
    empty.open(Role::Tool).await;
    assert_eq!(empty.status().await, MigrationStatus { current: latest, latest });
}

async fn status_of_an_empty_database_changes_nothing(db: Db) {
    let empty = db.fresh_place().await;
    assert_eq!(empty.status().await.current, 0);
    assert_eq!(empty.contents().await, [""; 0]);
}

async fn every_step_is_recorded_by_name(db: Db) {
    let steps = steps(db.place()).await;
    assert_eq!(steps.len(), db.place().status().await.latest);
    assert_eq!(steps[0], "initial");
}

const NEXT: Migration = Migration {
    name: "colors",
    sql: "CREATE TABLE colors (name TEXT NOT NULL); INSERT INTO colors VALUES ('red');",
};

/// The steps of today and one more.
fn with(place: &Place, next: Migration) -> Vec<Migration> {
    [place.location.migrations(), &[next]].concat()
}

async fn refusal(place: &Place, steps: &[Migration]) -> String {
    match migrate(&place.location, steps).await {
        Err(Error::Unavailable(why)) => why,
        other => panic!("{other:?}"),
    }
}

async fn next_step_is_run_once(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let place = db.closed().await;
    for _again in 0..2 {
        migrate(&place.location, &with(&place, NEXT)).await.unwrap();
        assert_eq!(steps(&place).await, ["initial", "colors"]);
        assert_eq!(place.raw("SELECT name FROM colors").await, [[Some("red".to_owned())]]);
    }
    assert_eq!(place.raw("SELECT id FROM listings").await, [[Some("a".to_owned())]]);
    let why = refusal(&place, place.location.migrations()).await;
    assert!(why.contains("at version 2") && why.contains("up to 1") && why.contains("newer"), "{why}");
}

async fn edited_step_is_refused_by_name(db: Db) {
    let place = db.closed().await;
    migrate(&place.location, &with(&place, NEXT)).await.unwrap();
    let other_text = Migration { sql: "CREATE TABLE colours (name TEXT)", ..NEXT };
    let other_name = Migration { name: "colours", ..NEXT };
    let third = Migration { name: "third", sql: "CREATE TABLE third (name TEXT)" };
    for edited in [other_text, other_name] {
        for list in [with(&place, edited), [with(&place, edited), vec![third]].concat()] {
            let why = refusal(&place, &list).await;
            assert!(why.contains("step 2 (colors) differs"), "{why}");
            assert!(
                why.contains("empty --data folder or database, or use the portico that made it"),
                "{why}"
            );
        }
    }
    // The first one too, whatever comes after it.
    let first = Migration { name: "initial", sql: "SELECT 1" };
    assert!(refusal(&place, &[first, NEXT, third]).await.contains("step 1 (initial) differs"));
    assert_eq!(steps(&place).await, ["initial", "colors"]);
    let tables = place.raw("SELECT count(*) FROM colors").await;
    assert_eq!(tables, [[Some("1".to_owned())]], "nothing was changed");
}

/// Steps without digests, or numbered with a gap.
async fn database_of_another_state_is_refused(db: Db) {
    let place = db.fresh_place().await;
    place.batch("CREATE TABLE portico_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL)").await;
    place.batch("INSERT INTO portico_migrations VALUES (1, 'initial'), (20, 'transactions')").await;
    for role in [Role::Server, Role::Tool] {
        let Err(Error::Unavailable(why)) = place.try_open(role).await.map(drop) else {
            panic!("it must not be opened");
        };
        assert!(why.contains("another state of Portico") && why.contains("portico_migrations"), "{why}");
    }
    assert!(portico_store::Db::status(&place.location).await.is_err());
    assert_eq!(place.raw("SELECT count(*) FROM portico_migrations").await, [[Some("2".to_owned())]]);
    let place = db.closed().await;
    migrate(&place.location, &with(&place, NEXT)).await.unwrap();
    place.batch("DELETE FROM portico_migrations WHERE version = 1").await;
    assert!(refusal(&place, &with(&place, NEXT)).await.contains("step 2 (colors) differs"));
}

async fn interrupted_step_leaves_nothing(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let place = db.closed().await;
    let fails_half_way =
        Migration { sql: "CREATE TABLE colors (name TEXT); INSERT INTO nowhere VALUES (1);", ..NEXT };
    for list in [
        with(&place, fails_half_way),
        [with(&place, NEXT), vec![Migration { name: "third", ..NEXT }]].concat(),
    ] {
        migrate(&place.location, &list).await.unwrap_err();
        assert_eq!(steps(&place).await, ["initial"]);
    }
    let db = place.open(Role::Server).await;
    assert_eq!(db.listing(&text("a")).await.unwrap(), Some(listing("a")));
    // Nothing of the table is left either.
    migrate(&place.location, &with(&place, NEXT)).await.unwrap();
}

async fn concurrent_openers_run_a_step_once(db: Db) {
    for place in [db.fresh_place().await, db.closed().await] {
        let list = with(&place, NEXT);
        let opens = (0..8).map(|_| {
            let (location, list) = (place.location.clone(), list.clone());
            tokio::task::spawn_blocking(move || {
                tokio::runtime::Handle::current().block_on(async { migrate(&location, &list).await })
            })
        });
        for opened in join_all(opens.collect::<Vec<_>>()).await {
            opened.unwrap().unwrap();
        }
        assert_eq!(place.raw("SELECT count(*) FROM colors").await, [[Some("1".to_owned())]]);
        assert_eq!(steps(&place).await, ["initial", "colors"]);
    }
}

async fn keystore_of_another_state_is_refused(db: Db) {
    let place = db.fresh_place().await;
    drop(Keystore::open(&place.location).await.unwrap());
    assert!(Keystore::exists(&place.location).await.unwrap());
    let table = if place.path().is_some() { "portico_migrations" } else { "portico_keys.portico_migrations" };
    place.batch(&format!("UPDATE {table} SET sha256 = 'another'")).await;
    let Err(Error::Unavailable(why)) = Keystore::open(&place.location).await.map(drop) else {
        panic!("it must not be opened");
    };
    assert!(why.contains("step 1 (initial) differs"), "{why}");
}
