//! SQLite's search index file may be lost, outdated or foreign without any visible effect. PostgreSQL has no such
//! file and must find the same.

use portico_domain::geo::Point;
use portico_domain::listings::{Listing, ListingFilter};
use portico_store::Role;

use crate::engines::{Db, Place};
use crate::samples::{create, delete, found, listing, money, rooms, term, text};

on_both_engines! {
    everything_is_found_after_reopening,
    the_index_is_kept_over_reopening,
    incomplete_index_catches_up_after_reopening,
    rebuilds_when_file_is_deleted,
    rebuilds_when_log_is_left_behind,
    rebuilds_when_version_differs,
    rebuilds_when_database_is_smaller,
    rebuilds_when_database_differs,
    rebuilds_when_last_listing_differs,
    rebuilds_when_database_differs_with_the_same_ids,
    emptied_database_finds_nothing,
    deleted_listings_are_not_found,
    an_edited_listing_is_found_by_its_new_values_only,
    rebuilds_when_database_was_restored,
    rebuilds_when_tables_are_damaged,
    rebuilds_when_file_is_no_database,
    rebuilds_when_index_is_incomplete,
    rebuilds_when_damaged_while_it_is_used,
}

fn sample(id: &str, city: &str) -> Listing {
    Listing {
        street: text(&format!("1 {city} Street")),
        city: text(city),
        postal: text(&format!("P-{city}")),
        rent: Some(money("10")),
        bedrooms: Some(rooms(1)),
        bathrooms: Some(rooms(1)),
        place: Some(Point::parse("1,1").unwrap()),
        ..listing(id)
    }
}

async fn fill(db: &Db, prefix: &str, count: usize, city: &str) {
    for n in 0..count {
        db.write(create(sample(&format!("{prefix}{n}"), city))).await.unwrap();
    }
}

/// Asserts the matches on every access path through the index.
async fn assert_found(db: &Db, city: &str, expected: &[&str]) {
    let all = ListingFilter::default;
    let ways = [
        ListingFilter { city: Some(text(city)), ..all() },
        ListingFilter { postal: Some(text(&format!("P-{city}"))), ..all() },
        ListingFilter { term: Some(term(city)), ..all() },
        ListingFilter { term: Some(term(&city[..2])), ..all() },
        ListingFilter { city: Some(text(city)), min_rent: Some(money("10")), ..all() },
    ];
    for way in &ways {
        assert_eq!(found(db, way).await, *expected, "{way:?}");
    }
    // These do not distinguish cities.
    let numbers = [
        ListingFilter { user: Some(listing("anyone").user), ..all() },
        ListingFilter { min_rent: Some(money("10")), ..all() },
        ListingFilter { bedrooms: Some(rooms(1)), ..all() },
        ListingFilter { bathrooms: Some(rooms(1)), ..all() },
        ListingFilter { areas: vec![portico_domain::geo::Area::parse_box("0,0,2,2").unwrap()], ..all() },
    ];
    let everyone = found(db, &all()).await;
    for way in &numbers {
        assert_eq!(found(db, way).await, everyone, "{way:?}");
    }
}

/// Asserts the matches directly after opening, and after the index has caught up.
async fn assert_finds(place: &Place, city: &str, expected: &[&str]) {
    let db = place.open(Role::Server).await;
    assert_found(&db, city, expected).await;
    db.wait_for_index().await.unwrap();
    db.assert_not_yet_indexed(0).await;
    assert_found(&db, city, expected).await;
}

/// A mark that a rebuild of the index removes.
fn mark(place: &Place) {
    place.raw_index("CREATE TABLE mark (x)");
}

/// Also passes if there is no index.
fn assert_marked(place: &Place, expected: bool) {
    let Some(tables) = place.raw_index("SELECT name FROM sqlite_schema WHERE name = 'mark'") else { return };
    assert_eq!(!tables.is_empty(), expected, "whether the index was kept");
}

fn take_index(from: &Place, to: &Place) {
    let (Some(from), Some(to)) = (from.search_index(), to.search_index()) else { return };
    for suffix in ["", "-wal"] {
        let with = |path: &std::path::Path| format!("{}{suffix}", path.display());
        let _ = std::fs::remove_file(with(&to));
        if std::fs::exists(with(&from)).unwrap() {
            std::fs::copy(with(&from), with(&to)).unwrap();
        }
    }
}

/// A closed database with this many indexed listings in one city.
async fn settled(db: Db, prefix: &str, count: usize, city: &str) -> Place {
    fill(&db, prefix, count, city).await;
    db.wait_for_index().await.unwrap();
    db.closed().await
}

async fn everything_is_found_after_reopening(db: Db) {
    let place = settled(db, "a", 3, "Austin").await;
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
}

async fn the_index_is_kept_over_reopening(db: Db) {
    let place = settled(db, "a", 3, "Austin").await;
    mark(&place);
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
    assert_marked(&place, true);
}

async fn incomplete_index_catches_up_after_reopening(db: Db) {
    fill(&db, "a", 2, "Austin").await;
    db.wait_for_index().await.unwrap();
    let held = db.hold_search_index();
    fill(&db, "b", 2, "Austin").await;
    db.write(delete("a0")).await.unwrap();
    let place = db.closed().await;
    drop(held);
    mark(&place);
    assert_finds(&place, "Austin", &["a1", "b0", "b1"]).await;
    assert_marked(&place, true);
}

async fn rebuilds_when_file_is_deleted(db: Db) {
    let place = settled(db, "a", 3, "Austin").await;
    if let Some(index) = place.search_index() {
        for suffix in ["", "-wal"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", index.display()));
        }
        assert!(!std::fs::exists(&index).unwrap());
    }
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
}

async fn rebuilds_when_log_is_left_behind(db: Db) {
    let place = settled(db, "a", 3, "Austin").await;
    if let Some(index) = place.search_index() {
        std::fs::remove_file(index).unwrap();
    }
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
}

async fn rebuilds_when_version_differs(db: Db) {
    let place = settled(db, "a", 3, "Austin").await;
    mark(&place);
    place.raw_index("PRAGMA user_version = 0");
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
    assert_marked(&place, false);
}

async fn rebuilds_when_database_is_smaller(db: Db) {
    let larger = settled(db.fresh_place().await.open(Role::Server).await, "b", 9, "Boston").await;
    let place = settled(db, "a", 3, "Austin").await;
    take_index(&larger, &place);
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
    assert_finds(&place, "Boston", &[]).await;
}

async fn rebuilds_when_database_differs(db: Db) {
    let other = settled(db.fresh_place().await.open(Role::Server).await, "b", 2, "Boston").await;
    let place = settled(db, "a", 3, "Austin").await;
    take_index(&other, &place);
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
    assert_finds(&place, "Boston", &[]).await;
}

async fn rebuilds_when_last_listing_differs(db: Db) {
    let other = settled(db.fresh_place().await.open(Role::Server).await, "b", 2, "Boston").await;
    fill(&db, "a", 3, "Austin").await;
    db.write(delete("a1")).await.unwrap();
    db.wait_for_index().await.unwrap();
    let place = db.closed().await;
    take_index(&other, &place);
    assert_finds(&place, "Austin", &["a0", "a2"]).await;
}

async fn rebuilds_when_database_differs_with_the_same_ids(db: Db) {
    let other = settled(db.fresh_place().await.open(Role::Server).await, "a", 2, "Boston").await;
    let place = settled(db, "a", 3, "Austin").await;
    take_index(&other, &place);
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
}

async fn emptied_database_finds_nothing(db: Db) {
    fill(&db, "a", 3, "Austin").await;
    db.wait_for_index().await.unwrap();
    for id in ["a0", "a1", "a2"] {
        db.write(delete(id)).await.unwrap();
    }
    let place = db.closed().await;
    assert_finds(&place, "Austin", &[]).await;
    let db = place.open(Role::Server).await;
    fill(&db, "b", 1, "Austin").await;
    assert_found(&db, "Austin", &["b0"]).await;
}

async fn deleted_listings_are_not_found(db: Db) {
    fill(&db, "a", 3, "Austin").await;
    db.wait_for_index().await.unwrap();
    let held = db.hold_search_index();
    db.write(delete("a0")).await.unwrap();
    db.raw("DELETE FROM listings WHERE id = 'a2'").await;
    db.write(create(sample("b", "Austin"))).await.unwrap();
    db.write(delete("b")).await.unwrap();
    assert_found(&db, "Austin", &["a1"]).await;
    drop(held);
    db.wait_for_index().await.unwrap();
    assert_found(&db, "Austin", &["a1"]).await;
}

/// Bypasses the store.
async fn edit(place: &Place, id: &str, change: &str) {
    place
        .batch(&format!(
            "BEGIN IMMEDIATE;
             UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'listings';
             UPDATE listings SET document = json_set(document, {change}),
                 revision = (SELECT seq FROM sqlite_sequence WHERE name = 'listings') WHERE id = '{id}';
             COMMIT"
        ))
        .await;
}

async fn an_edited_listing_is_found_by_its_new_values_only(db: Db) {
    if db.place().search_index().is_none() {
        return;
    }
    fill(&db, "a", 3, "Austin").await;
    db.wait_for_index().await.unwrap();
    let held = db.hold_search_index();
    let change = "'$.city', 'Boston', '$.street', '1 Boston Street', '$.postal', 'P-Boston', '$.rent', 30";
    edit(db.place(), "a1", change).await;
    let by_rent = ListingFilter { min_rent: Some(money("10")), ..ListingFilter::default() };
    let assert_all = async || {
        let cities = [("Austin", vec!["a0", "a2"]), ("Boston", vec!["a1"])];
        for (city, expected) in cities {
            for filter in [
                ListingFilter { city: Some(text(city)), ..ListingFilter::default() },
                ListingFilter { postal: Some(text(&format!("P-{city}"))), ..ListingFilter::default() },
                ListingFilter { term: Some(term(city)), ..ListingFilter::default() },
                ListingFilter { term: Some(term(&city[..2])), ..ListingFilter::default() },
            ] {
                assert_eq!(found(&db, &filter).await, *expected, "{filter:?}");
            }
        }
        assert_eq!(found(&db, &by_rent).await, ["a0", "a2", "a1"], "once, at its new rent");
        assert_eq!(
            found(&db, &ListingFilter::default()).await,
            ["a0", "a1", "a2"],
            "its place in the order stays"
        );
        for limit in 1..4 {
            let (mut after, mut paged) = (None, Vec::new());
            loop {
                let page = db.find_listings(&by_rent, after, limit).await.unwrap();
                paged.extend(page.items.into_iter().map(|listing| listing.id.to_string()));
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert_eq!(paged, ["a0", "a2", "a1"], "in pages of {limit}");
        }
    };
    db.assert_not_yet_indexed(1).await;
    assert_all().await;
    drop(held);
    db.wait_for_index().await.unwrap();
    db.assert_not_yet_indexed(0).await;
    assert_all().await;
    // After reverting the change, the old entries are valid again.
    let change = "'$.city', 'Austin', '$.street', '1 Austin Street', '$.postal', 'P-Austin', '$.rent', 10";
    edit(db.place(), "a1", change).await;
    db.wait_for_index().await.unwrap();
    assert_found(&db, "Austin", &["a0", "a1", "a2"]).await;
}

async fn rebuilds_when_database_was_restored(db: Db) {
    fill(&db, "a", 3, "Austin").await;
    db.wait_for_index().await.unwrap();
    let place = db.closed().await;
    let backup = place.open(Role::Server).await.closed().await;
    if backup.search_index().is_some() {
        let later = place.open(Role::Server).await;
        later.write(delete("a0")).await.unwrap();
        fill(&later, "b", 1, "Austin").await;
        later.wait_for_index().await.unwrap();
        // The database comes from a backup, the index does not.
        take_index(&later.closed().await, &backup);
    }
    assert_finds(&backup, "Austin", &["a0", "a1", "a2"]).await;
}

/// Ways to break what the index consists of.
const DAMAGES: [&str; 5] = [
    "UPDATE documents_data SET block = zeroblob(40)",
    "DELETE FROM documents_data",
    "DELETE FROM documents_config",
    "DROP TABLE entries",
    "DELETE FROM progress",
];

fn damage(place: &Place, sql: &str) {
    let Some(file) = place.search_index() else { return };
    let connection = rusqlite::Connection::open(file).unwrap();
    connection.busy_timeout(std::time::Duration::from_secs(20)).unwrap();
    // Shadow tables are only written by the text index.
    connection.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_DEFENSIVE, false).unwrap();
    connection.execute_batch(sql).unwrap();
}

async fn rebuilds_when_tables_are_damaged(db: Db) {
    let first = settled(db, "a", 3, "Austin").await;
    for sql in DAMAGES {
        let place = first.open(Role::Server).await;
        place.wait_for_index().await.unwrap();
        let place = place.closed().await;
        damage(&place, sql);
        assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
    }
}

async fn rebuilds_when_file_is_no_database(db: Db) {
    let place = settled(db, "a", 3, "Austin").await;
    if let Some(file) = place.search_index() {
        std::fs::write(file, vec![b'x'; 100_000]).unwrap();
    }
    assert_finds(&place, "Austin", &["a0", "a1", "a2"]).await;
}

/// Waits until the index was rebuilt.
async fn is_rebuilt(place: &Place) {
    for _ in 0..600 {
        if place
            .raw_index("SELECT name FROM sqlite_schema WHERE name = 'mark'")
            .is_none_or(|mark| mark.is_empty())
        {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the index is not rebuilt");
}

async fn rebuilds_when_index_is_incomplete(db: Db) {
    let place = settled(db, "a", 3, "Austin").await;
    mark(&place);
    damage(&place, "DELETE FROM entries WHERE kind = 1");
    // Nothing fails: only reading all of it tells.
    let db = place.open(Role::Server).await;
    is_rebuilt(&place).await;
    db.wait_for_index().await.unwrap();
    assert_found(&db, "Austin", &["a0", "a1", "a2"]).await;
}

async fn rebuilds_when_damaged_while_it_is_used(db: Db) {
    fill(&db, "a", 3, "Austin").await;
    db.wait_for_index().await.unwrap();
    assert_found(&db, "Austin", &["a0", "a1", "a2"]).await;
    mark(db.place());
    damage(db.place(), "DELETE FROM documents_data");
    assert_found(&db, "Austin", &["a0", "a1", "a2"]).await;
    is_rebuilt(db.place()).await;
    fill(&db, "b", 1, "Austin").await;
    db.wait_for_index().await.unwrap();
    assert_found(&db, "Austin", &["a0", "a1", "a2", "b0"]).await;
}
