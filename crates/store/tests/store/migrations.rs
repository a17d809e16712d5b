//! Opening, closing and migrating a database.

use futures_util::future::join_all;
use portico_domain::Tenant;
use portico_domain::geo::Point;
use portico_domain::listings::{Listing, ListingFilter};
use portico_domain::pipelines::Pipeline;
use portico_store::{Error, Location, PutPipeline, Role, Status};

use crate::engines::{Db, Place};
use crate::samples::{account, by, conflict, create, found, listing, money, rooms, term, text};

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
    items_of_an_older_version_stay_queued,
    listings_become_documents,
    accounts_and_users_are_told_apart,
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

async fn status_shows_the_last_migration(db: Db) {
    let Status { current, latest } = db.place().status().await;
    assert!(latest >= 1);
    assert_eq!(current, latest);
    let empty = db.fresh_place().await;
    assert_eq!(empty.status().await, Status { current: 0, latest });
    empty.open(Role::Tool).await;
    assert_eq!(empty.status().await, Status { current: latest, latest });
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

/// The paths of an engine's steps, in order.
fn scripts(engine: &str) -> Vec<String> {
    let folder = format!("{}/migrations/{engine}", env!("CARGO_MANIFEST_DIR"));
    let steps = std::fs::read_dir(folder).unwrap().map(|step| step.unwrap().path());
    let mut steps: Vec<String> = steps.map(|path| path.to_str().unwrap().to_owned()).collect();
    steps.sort();
    steps
}

/// A database of an older version: the first steps only, and some rows.
async fn of_version(place: &Place, versions: (usize, usize), rows: &str) {
    let (engine, version) = match place.path() {
        Some(_) => ("sqlite", versions.0),
        None => ("postgres", versions.1),
    };
    let steps = scripts(engine);
    place.batch("CREATE TABLE portico_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL)").await;
    for (n, step) in steps.iter().take(version).enumerate() {
        place.batch(&std::fs::read_to_string(step).unwrap()).await;
        place.batch(&format!("INSERT INTO portico_migrations VALUES ({}, 'step')", n + 1)).await;
    }
    place.batch(rows).await;
    let Status { current, latest } = place.status().await;
    assert!(current < latest);
}

async fn items_of_an_older_version_stay_queued(db: Db) {
    if db.place().path().is_none() {
        return;
    }
    let place = db.fresh_place().await;
    let keys = ["0a", "0b", "0c"].map(|byte| byte.repeat(32));
    let rows = keys.iter().enumerate().map(|(n, key)| {
        format!(
            "INSERT INTO chain_items (kind, key, version, payload, gone, share, reverts, failed, wanted_at) \
             VALUES (1, x'{key}', {}, x'01', 0, 50, 0, 0, {n});",
            n + 1
        )
    });
    of_version(&place, (4, 0), &rows.collect::<String>()).await;
    let db = place.open(Role::Server).await;
    assert_eq!(db.chain_items_after(1, &[], 9).await.unwrap().len(), 3);
    let versions = db.raw("SELECT version FROM chain_items ORDER BY key").await;
    assert_eq!(versions.concat(), ["1", "2", "3"].map(|version| Some(version.to_owned())));
    assert_eq!(db.chain_backlog().await.unwrap().waiting, 3);
}

/// Listings before they became documents; the last one was deleted.
const LISTINGS_BEFORE: &str = "
    INSERT INTO listings (seq, id, user_id, street, city, city_fold, state, postal, country, rent, property_value,
        bedrooms, bathrooms, latitude, longitude, morton, walkthrough, created_at {MORE})
    VALUES (1, 'full', 'ada', '1 \"Oak\" Street', 'Zürich', 'zürich', 'TX', '78701', 'US', 21002500, 999999999980001,
        2, 0, 30267200001, -97743100000, 7, 'https://example.com/w', 5 {FULL}),
        (2, 'bare', 'ada', '2 Oak Street', 'Austin', 'austin', 'TX', '78701', 'US', NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, 6 {BARE}),
        (3, 'gone', 'ada', '3 Oak Street', 'Austin', 'austin', 'TX', '78701', 'US', NULL, NULL,
        NULL, NULL, NULL, NULL, NULL, NULL, 7 {BARE});
    DELETE FROM listings WHERE id = 'gone'";

/// Before accounts and users were told apart. `acme` has members, `left` had one, `keyed` has a key; `back` is a user who
/// returned to an account like their name, `ann` and `solo` are users by themselves.
const TENANTS_BEFORE: &str = "
    INSERT INTO pipelines (account, client_id, income) VALUES ('acme', 'acme-homes', 1), ('left', 'left-homes', 0),
        ('keyed', NULL, 1), ('solo', 'solo-homes', 1), ('back', NULL, 0);
    INSERT INTO members (user_id, account) VALUES ('ann', 'acme'), ('bob', 'another'), ('back', 'back'),
        ('keyed', 'keyed');
    INSERT INTO events (seq, kind, subject, account, at) VALUES (1, 'account.joined', 'left', 'left', 5),
        (2, 'account.joined', 'back', 'back', 6), (3, 'pipeline.changed', 'solo', 'solo', 7);
    INSERT INTO api_keys (seq, id, digest, name, scope, subject, created_at) VALUES (1, 'k', {BLOB}, 'k', 1, 'keyed', 5);
    INSERT INTO cases (id, account, user_id, token, holder, made, done, created_at) VALUES
        ('of-acme', 'acme', 'ann', {BLOB}, {BLOB}, 0, 0, 5), ('own', 'ann', 'ann', {BLOB2}, {BLOB}, 0, 0, 6),
        ('erased', '', '', {BLOB3}, {BLOB}, 0, 0, 7)";

async fn accounts_and_users_are_told_apart(db: Db) {
    let place = db.fresh_place().await;
    let blob = |byte: &str| match place.path() {
        Some(_) => format!("x'{}'", byte.repeat(20)),
        None => format!("'\\x{}'::bytea", byte.repeat(20)),
    };
    let tokens = [("{BLOB}", "01"), ("{BLOB2}", "02"), ("{BLOB3}", "03")];
    let rows =
        tokens.iter().fold(TENANTS_BEFORE.to_owned(), |sql, (mark, byte)| sql.replace(mark, &blob(byte)));
    let before = |engine| scripts(engine).iter().position(|step| step.ends_with("_tenants.sql")).unwrap();
    of_version(&place, (before("sqlite"), before("postgres")), &rows).await;
    place.open(Role::Server).await.close().unwrap();
    // After a restart.
    let db = place.open(Role::Server).await;
    let user = |name: &str| Tenant::User(text(name));
    for (name, account_has, user_has) in [
        ("acme", true, false),
        ("left", true, false),
        ("keyed", true, false),
        ("solo", false, true),
        ("back", false, true),
    ] {
        assert_eq!(db.pipeline(&account(name)).await.unwrap().is_some(), account_has, "{name}");
        assert_eq!(db.pipeline(&user(name)).await.unwrap().is_some(), user_has, "{name}");
    }
    for (name, tenant) in [
        ("ann", account("acme")),
        ("bob", account("another")),
        ("back", user("back")),
        ("acme", user("acme")),
        // A user of the account's name has belonged to it.
        ("keyed", account("keyed")),
    ] {
        assert_eq!(db.tenant_of(&text(name)).await.unwrap(), tenant, "{name}");
    }
    let put = |tenant: Tenant| {
        let change = Pipeline { client: Some(text("acme-homes")), ..Pipeline::default() };
        db.write(PutPipeline { tenant, change, by: by() })
    };
    assert_eq!(conflict(put(user("acme")).await), "client_id_taken");
    put(account("acme")).await.unwrap();
    let cases = db.raw("SELECT id, name, account FROM cases ORDER BY id").await;
    let row = |cells: [Option<&str>; 3]| cells.map(|cell| cell.map(str::to_owned)).to_vec();
    assert_eq!(
        cases,
        [
            row([Some("erased"), None, Some("")]),
            row([Some("of-acme"), Some("of-acme"), Some("account:acme")]),
            row([Some("own"), Some("own"), Some("user:ann")]),
        ]
    );
}

async fn listings_become_documents(db: Db) {
    let place = db.fresh_place().await;
    let search_fold = match place.path() {
        Some(_) => ["", "", ""],
        None => [", search_fold", ", 'full 1 \"oak\" street zürich'", ", 'bare'"],
    };
    let rows = ["{MORE}", "{FULL}", "{BARE}"]
        .into_iter()
        .zip(search_fold)
        .fold(LISTINGS_BEFORE.to_owned(), |sql, (mark, text)| sql.replace(mark, text));
    of_version(&place, (8, 4), &rows).await;
    let bare = Listing {
        user: text("ada"),
        street: text("2 Oak Street"),
        city: text("Austin"),
        state: text("TX"),
        postal: text("78701"),
        country: text("US"),
        rent: None,
        property_value: None,
        bedrooms: None,
        bathrooms: None,
        place: None,
        walkthrough: None,
        ..listing("bare")
    };
    let full = Listing {
        id: text("full"),
        street: text("1 \"Oak\" Street"),
        city: text("Zürich"),
        rent: Some(money("2100.25")),
        property_value: Some(money("99999999998.0001")),
        bedrooms: Some(rooms(2)),
        bathrooms: Some(rooms(0)),
        place: Some(Point::parse("30.267200001,-97.7431").unwrap()),
        walkthrough: Some(text("https://example.com/w")),
        ..bare.clone()
    };
    let db = place.open(Role::Server).await;
    assert_eq!(db.listing(&text("full")).await.unwrap(), Some(full));
    assert_eq!(db.listing(&text("bare")).await.unwrap(), Some(bare));
    assert_eq!(db.listing(&text("gone")).await.unwrap(), None);
    let by = async |filter: ListingFilter| found(&db, &filter).await;
    let all = ListingFilter::default;
    assert_eq!(by(ListingFilter { user: Some(text("ada")), ..all() }).await, ["full", "bare"]);
    assert_eq!(by(ListingFilter { city: Some(text("ZÜRICH")), ..all() }).await, ["full"]);
    assert_eq!(by(ListingFilter { term: Some(term("\"oak")), ..all() }).await, ["full"]);
    assert_eq!(by(ListingFilter { min_rent: Some(money("2100")), ..all() }).await, ["full"]);
    db.write(create(listing("new"))).await.unwrap();
    db.settle().await.unwrap();
    db.assert_not_yet_indexed(0).await;
    assert_eq!(by(all()).await, ["full", "bare", "new"]);
    if place.path().is_some() {
        let seq = db.raw("SELECT seq, revision FROM listings WHERE id = 'new'").await;
        assert_eq!(
            seq.concat(),
            ["4", "4"].map(|n| Some(n.to_owned())),
            "no place in the order is used twice"
        );
    }
}
