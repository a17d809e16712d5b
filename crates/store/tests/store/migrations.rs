//! Opening and closing a database, and bringing it to this version's shape.

use futures_util::future::join_all;
use portico_domain::listings::{Listing, ListingFilter};
use portico_store::chain::{Want, Wanted};
use portico_store::{Error, Location, Role, Status};

use crate::engines::{Db, Place};
use crate::samples::{create, found, listing, retired, text};

on_both_engines! {
    a_database_is_opened_by_its_url,
    a_url_of_another_kind_is_refused,
    opening_again_keeps_everything,
    a_closed_database_needs_nothing_but_itself,
    closing_does_not_stop_the_engine,
    many_may_open_an_empty_database_at_once,
    a_database_of_a_newer_version_is_refused_in_clear_words,
    the_status_tells_how_far_a_database_is,
    asking_for_the_status_of_an_empty_database_changes_nothing,
    every_step_is_recorded_by_name,
    what_was_wanted_before_items_were_stored_otherwise_is_wanted_still,
    listings_of_a_user_are_found_after_their_index_has_changed,
}

/// The steps that were run.
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

/// A backup of the one file is whole, and the search index is not part of it.
async fn a_closed_database_needs_nothing_but_itself(db: Db) {
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
        // One server, and commands beside it.
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

async fn a_database_of_a_newer_version_is_refused_in_clear_words(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    let place = db.closed().await;
    let latest = place.status().await.latest;
    place.raw("INSERT INTO portico_migrations (version, name) VALUES (4711, 'the future')").await;
    for role in [Role::Server, Role::Tool] {
        let Err(Error::Unavailable(words)) = place.try_open(role).await.map(drop) else {
            panic!("it must not be opened");
        };
        for word in ["4711", &latest.to_string(), "newer"] {
            assert!(words.contains(word), "{words}");
        }
    }
    assert_eq!(place.status().await, Status { current: 4711, latest });
    assert_eq!(place.raw("SELECT id FROM listings").await, [[Some("a".to_owned())]], "nothing was touched");
}

async fn the_status_tells_how_far_a_database_is(db: Db) {
    let Status { current, latest } = db.place().status().await;
    assert!(latest >= 1);
    assert_eq!(current, latest);
    let empty = db.fresh_place().await;
    assert_eq!(empty.status().await, Status { current: 0, latest });
    empty.open(Role::Tool).await;
    assert_eq!(empty.status().await, Status { current: latest, latest });
}

async fn asking_for_the_status_of_an_empty_database_changes_nothing(db: Db) {
    let empty = db.fresh_place().await;
    assert_eq!(empty.status().await.current, 0);
    assert_eq!(empty.contents().await, [""; 0]);
}

async fn every_step_is_recorded_by_name(db: Db) {
    let steps = steps(db.place()).await;
    assert_eq!(steps.len(), db.place().status().await.latest);
    assert_eq!(steps[0], "initial");
}

/// Brings a database of `SQLite`, which has more steps than the other engine, to the shape before one of them.
async fn take_back(place: &Place, statements: &str) {
    if place.path().is_some() {
        for statement in statements.split(';') {
            place.raw(statement).await;
        }
        let Status { current, latest } = place.status().await;
        assert!(current < latest);
    }
}

/// How `SQLite` kept items up to the step before.
const ITEMS_BEFORE: &str = "
    DROP TABLE deployment;
    DROP TABLE erasures_applied;
    DROP TABLE write_probe;
    DROP TRIGGER listings_deleted;
    DROP TABLE listings_gone;
    CREATE INDEX listings_user ON listings (user_id, seq);
    CREATE TABLE before (
        kind INTEGER NOT NULL, key BLOB NOT NULL, version INTEGER NOT NULL, payload BLOB NOT NULL,
        gone INTEGER NOT NULL, salt BLOB, signer INTEGER, nonce INTEGER, share INTEGER NOT NULL,
        reverts INTEGER NOT NULL, failed INTEGER NOT NULL, wanted_at INTEGER NOT NULL,
        PRIMARY KEY (kind, key)) STRICT, WITHOUT ROWID;
    INSERT INTO before SELECT * FROM chain_items;
    DROP TABLE chain_items;
    ALTER TABLE before RENAME TO chain_items;
    CREATE INDEX chain_items_waiting ON chain_items (wanted_at) WHERE signer IS NULL AND failed = 0;
    DELETE FROM portico_migrations WHERE version >= 5";

async fn what_was_wanted_before_items_were_stored_otherwise_is_wanted_still(db: Db) {
    let items: Vec<_> = ["b", "a", "c"].map(|id| Wanted { payload: id.into(), ..retired(id) }).into();
    db.write(Want(items.clone())).await.unwrap();
    db.write(Want(vec![items[0].clone()])).await.unwrap();
    let before = db.chain_items_after(0, &[], 9).await.unwrap();
    assert_eq!(before.len(), 3);
    let place = db.closed().await;
    take_back(&place, ITEMS_BEFORE).await;
    let db = place.open(Role::Server).await;
    assert_eq!(db.chain_items_after(0, &[], 9).await.unwrap(), before);
    assert_eq!(db.chain_backlog().await.unwrap().waiting, 3);
    db.write(Want(items)).await.unwrap();
    let versions = db.raw("SELECT version FROM chain_items ORDER BY key").await;
    assert_eq!(versions.concat(), ["2", "3", "2"].map(|version| Some(version.to_owned())));
}

/// How `SQLite` found a user's listings up to the step before.
const USERS_BEFORE: &str = "
    DROP TABLE deployment;
    DROP TABLE erasures_applied;
    DROP TABLE write_probe;
    DROP TRIGGER listings_deleted;
    DROP TABLE listings_gone;
    CREATE INDEX listings_user ON listings (
        user_id, seq, id, street, city, state, postal, country, rent, property_value, bedrooms, bathrooms,
        latitude, longitude, walkthrough);
    DELETE FROM portico_migrations WHERE version >= 6";

async fn listings_of_a_user_are_found_after_their_index_has_changed(db: Db) {
    let bare =
        Listing { rent: None, property_value: None, place: None, walkthrough: None, ..listing("bare") };
    for new in [listing("full"), bare] {
        db.write(create(new)).await.unwrap();
    }
    let filter = ListingFilter { user: Some(listing("full").user), ..ListingFilter::default() };
    let before = db.find_listings(&filter, None, 9).await.unwrap();
    assert_eq!(before.items.len(), 2);
    let place = db.closed().await;
    take_back(&place, USERS_BEFORE).await;
    let db = place.open(Role::Server).await;
    assert_eq!(db.find_listings(&filter, None, 9).await.unwrap(), before);
}
