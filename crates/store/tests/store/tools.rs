//! A command next to a server: another process, the same database.

use futures_util::future::join_all;
use portico_domain::geo::{Area, Point};
use portico_domain::keys::{Key, KeyScope};
use portico_domain::listings::{Listing, ListingFilter};
use portico_store::{CreateKey, RevokeKey, Role, StoredKey};

use crate::engines::Db;
use crate::samples::{NOW, by, conflict, create, delete, entry, found, listing, money, rooms, term, text};

on_both_engines! {
    tool_creates_and_revokes_keys_next_to_a_server,
    a_tool_and_a_server_write_at_the_same_time,
    a_server_finds_what_a_tool_has_stored,
    a_tool_finds_what_a_server_has_stored,
    tool_finds_listings_without_a_server,
    server_finds_everything_after_a_tool,
}

fn sample(id: &str) -> Listing {
    Listing {
        rent: Some(money("10")),
        bedrooms: Some(rooms(1)),
        bathrooms: Some(rooms(1)),
        place: Some(Point::parse("1,1").unwrap()),
        ..listing(id)
    }
}

/// Asserts the matches on every access path.
async fn assert_found(db: &Db, expected: &[&str]) {
    let all = ListingFilter::default;
    for way in [
        all(),
        ListingFilter { user: Some(text("ann")), ..all() },
        ListingFilter { city: Some(text("austin")), ..all() },
        ListingFilter { postal: Some(text("78701")), ..all() },
        ListingFilter { term: Some(term("elm")), ..all() },
        ListingFilter { term: Some(term("el")), ..all() },
        ListingFilter { term: Some(term("e")), ..all() },
        ListingFilter { min_rent: Some(money("1")), ..all() },
        ListingFilter { bedrooms: Some(rooms(1)), ..all() },
        ListingFilter { min_bedrooms: Some(rooms(1)), ..all() },
        ListingFilter { bathrooms: Some(rooms(1)), ..all() },
        ListingFilter { areas: vec![Area::parse_box("0,0,2,2").unwrap()], ..all() },
    ] {
        assert_eq!(found(db, &way).await, *expected, "{way:?}");
    }
}

async fn tool_creates_and_revokes_keys_next_to_a_server(server: Db) {
    let tool = server.place().open(Role::Tool).await;
    let scope = KeyScope::Operator;
    let key = Key {
        id: text("k"),
        name: text("name"),
        scope,
        created_at: NOW,
        expires_at: None,
        last_used_at: None,
        revoked_at: None,
    };
    let stored = StoredKey { digest: vec![7; 32], key };
    tool.write(CreateKey { key: stored, limit: None, entry: None, by: by() }).await.unwrap();
    assert_eq!(server.key(&text("k")).await.unwrap().unwrap().key.revoked_at, None);
    assert_eq!(tool.keys(None).await.unwrap().len(), 1);
    tool.write(RevokeKey { id: text("k"), entry: entry("key.revoked", "k"), by: by() }).await.unwrap();
    assert_eq!(server.key(&text("k")).await.unwrap().unwrap().key.revoked_at, Some(NOW));
}

async fn a_tool_and_a_server_write_at_the_same_time(server: Db) {
    let tool = server.place().open(Role::Tool).await;
    let tasks = (0..100).map(|n| {
        let db = if n % 2 == 0 { server.handle() } else { tool.handle() };
        tokio::spawn(async move { db.write(create(listing(&format!("l-{n}")))).await })
    });
    for outcome in join_all(tasks.collect::<Vec<_>>()).await {
        outcome.unwrap().unwrap();
    }
    for db in [&server, &tool] {
        assert_eq!(db.listing_statistics().await.unwrap().total, 100);
        assert_eq!(found(db, &ListingFilter::default()).await.len(), 100);
    }
    assert_eq!(conflict(tool.write(create(listing("l-0"))).await), "listing_exists");
    assert_eq!(conflict(server.write(create(listing("l-1"))).await), "listing_exists");
}

async fn a_server_finds_what_a_tool_has_stored(server: Db) {
    server.write(create(sample("a"))).await.unwrap();
    server.wait_for_index().await.unwrap();
    let tool = server.place().open(Role::Tool).await;
    tool.write(create(sample("b"))).await.unwrap();
    assert_found(&server, &["a", "b"]).await;
    server.wait_for_index().await.unwrap();
    server.assert_not_yet_indexed(0).await;
    assert_found(&server, &["a", "b"]).await;
    tool.write(delete("a")).await.unwrap();
    assert_found(&server, &["b"]).await;
}

async fn a_tool_finds_what_a_server_has_stored(server: Db) {
    server.write(create(sample("a"))).await.unwrap();
    let tool = server.place().open(Role::Tool).await;
    assert_found(&tool, &["a"]).await;
    server.wait_for_index().await.unwrap();
    assert_found(&tool, &["a"]).await;
    server.write(create(sample("b"))).await.unwrap();
    assert_found(&tool, &["a", "b"]).await;
    tool.wait_for_index().await.unwrap();
    assert_found(&tool, &["a", "b"]).await;
}

async fn tool_finds_listings_without_a_server(db: Db) {
    let tool = db.fresh_place().await.open(Role::Tool).await;
    tool.write(create(sample("a"))).await.unwrap();
    assert_found(&tool, &["a"]).await;
}

async fn server_finds_everything_after_a_tool(db: Db) {
    let place = db.fresh_place().await;
    let tool = place.open(Role::Tool).await;
    tool.write(create(sample("a"))).await.unwrap();
    assert_eq!(
        found(&tool, &ListingFilter::default()).await,
        ["a"],
        "reading leaves nothing behind that confuses"
    );
    let server = place.open(Role::Server).await;
    assert_found(&server, &["a"]).await;
    server.wait_for_index().await.unwrap();
    assert_found(&server, &["a"]).await;
}
