//! Lost connections. SQLite has none, and must work all the same.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use portico_domain::SafeInteger;
use portico_domain::applications::ApplicationStatus;
use portico_domain::listing_changes::{Change, Editor, ListingChange};
use portico_domain::pipelines::Pipeline;
use portico_domain::portfolios::{PortfolioChange, TemplateChange};
use portico_domain::requirements::RequirementsRecord;
use portico_records::{DesiredItem, retired_listing};
use portico_store::chain::{NewRecord, Payers, PutItems, RecordListings, RejectItems, RetryItems};
use portico_store::screening::{
    BeginClaim, CaseSelector, ClaimIdentity, ErasePerson, Lifetime, Mint, NewCase, OpenCase, RevokeIdentity,
    WalletClaim,
};
use portico_store::sql::{Op, Sql, Tx, dialects, sql};
use portico_store::{
    Budget, ChangeApplication, ChangePortfolio, ChangeTemplate, CopyTemplate, CreateKey, DeletePortfolio,
    EditListing, Error, PutPipeline, PutRequirements, RegisterDevices, Result, RevokeKey, Role, SaveListing,
    SharingChange,
};

use crate::applications::new_report;
use crate::chain_items::{KIND, Unsigned, first_version, lease, put};
use crate::cutting_proxy::CuttingProxy;
use crate::engines::{Db, Place};
use crate::keys::{ann, key};
use crate::samples::{
    NOW, account, apply, by, create, create_portfolio, create_template, delete, device, entry, later,
    listing, money, person, portfolio, register, submission, template, text,
};
use crate::screening::{Begin, begin, case, erase, open, result};

on_both_engines! {
    read_survives_a_lost_connection,
    writes_continue_after_all_connections_are_lost,
    a_write_is_whole_or_not_there_wherever_its_connection_is_cut,
    every_other_write_leaves_all_of_its_rows_or_none_when_cut,
    changes_leave_all_of_their_rows_or_none_when_cut,
    writes_for_the_chain_leave_all_of_their_rows_or_none_when_cut,
    writes_about_people_leave_all_of_their_rows_or_none_when_cut,
    a_duplicate_that_is_no_race_is_a_bug,
    commits_wait_for_the_disk_whatever_the_session_says,
    a_migration_outlasts_the_statement_timeout,
}

async fn read_survives_a_lost_connection(db: Db) {
    db.write(create(listing("a"))).await.unwrap();
    for _round in 0..20 {
        for _every_shared_connection in 0..4 {
            assert_eq!(db.listing(&text("a")).await.unwrap(), Some(listing("a")));
        }
        db.cut_connections().await;
    }
}

async fn writes_continue_after_all_connections_are_lost(db: Db) {
    for outcome in
        futures_util::future::join_all((0..40).map(|n| db.write(create(listing(&format!("{n}")))))).await
    {
        outcome.unwrap();
    }
    db.cut_connections().await;
    // Each connection may cost at most one failed write, which leaves nothing behind.
    let mut refused = 0;
    while let Err(error) = db.write(create(listing("new"))).await {
        assert!(matches!(error, Error::Unavailable(_)), "{error:?}");
        assert_eq!(db.listing(&text("new")).await.unwrap(), None);
        refused += 1;
        assert!(refused <= 16, "{error:?}");
    }
    assert_eq!(db.listing_statistics().await.unwrap().total, 41);
}

/// Runs a write until it was run without a cut, which comes one statement later each time; returns how many there were.
async fn cut_at_every_statement<O: Op>(
    db: &portico_store::Db,
    proxy: &CuttingProxy,
    write: impl AsyncFn() -> O,
    is_whole: impl AsyncFn(),
) -> usize {
    for statement in 0..200 {
        proxy.cut_at(statement);
        let outcome = db.write(write().await).await;
        let was_cut = proxy.disarm();
        is_whole().await;
        match outcome {
            Ok(_) if !was_cut => return statement,
            // A read before the work began was repeated, or the answer to the commit was lost.
            Ok(_) | Err(Error::Unavailable(_)) => {}
            // It was committed although nobody was told.
            Err(Error::Conflict(_) | Error::Missing(_)) => return statement,
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("the write never ends");
}

async fn a_write_is_whole_or_not_there_wherever_its_connection_is_cut(db: Db) {
    let proxy = CuttingProxy::start(&db.place().location).await;
    let behind = portico_store::Db::open(&proxy.location, Role::Tool).await.unwrap();
    apply(&db, 1, &["elm"]).await.unwrap();
    let one = async |sql: &str| -> i64 { db.raw(sql).await[0][0].as_ref().unwrap().parse().unwrap() };
    let total = async |scope: &str| {
        one(&format!("SELECT coalesce(sum(n), 0) FROM counters WHERE scope = '{scope}' AND name = 'total'"))
            .await
    };
    let kinds = ["listing.created", "listing.deleted", "device.registered", "application.made"];
    let is_whole = async || {
        idle(&db).await;
        let mut events = Vec::new();
        for kind in kinds {
            events.push(one(&format!("SELECT count(*) FROM events WHERE kind = '{kind}'")).await);
        }
        let listings = one("SELECT count(*) FROM listings").await;
        assert_eq!((listings, listings), (total("listings").await, events[0] - events[1]));
        let devices = one("SELECT count(*) FROM devices").await;
        assert_eq!((devices, devices), (total("devices").await, events[2]));
        let applications = one("SELECT count(*) FROM applications").await;
        assert_eq!(applications, events[3]);
    };
    is_whole().await;
    let mut statements = 0;
    statements += cut_at_every_statement(&behind, &proxy, async || create(listing("oak")), &is_whole).await;
    statements += cut_at_every_statement(&behind, &proxy, async || register(device("d")), &is_whole).await;
    let submit = async || submission(&db, 2, &["elm", "oak"], NOW).await;
    let applied = async || assert!([0, 2].contains(&db.applications_of(&person(2)).await.unwrap().len()));
    proxy.cut_at(3);
    let _ = behind.write(submit().await).await;
    proxy.disarm();
    applied().await;
    is_whole().await;
    // An open application is left alone, so that this can be repeated.
    for statement in 0..40 {
        proxy.cut_at(statement);
        let outcome = behind.write(submit().await).await;
        let was_cut = proxy.disarm();
        applied().await;
        is_whole().await;
        assert!(was_cut || outcome.is_ok(), "{outcome:?}");
    }
    statements += cut_at_every_statement(&behind, &proxy, async || delete("oak"), &is_whole).await;
    if proxy.counts() {
        assert!(statements > 10, "{statements} statements were cut");
    }
    // And it goes on by itself.
    behind.write(create(listing("ash"))).await.unwrap();
    is_whole().await;
}

/// Waits until PostgreSQL has ended what it still does for connections that were cut.
async fn idle(db: &Db) {
    let busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle' \
         AND pid <> pg_backend_pid()";
    while db.place().path().is_none() && db.raw(busy).await[0][0].as_deref() != Some("0") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// How many rows every table has, and the sum of all counters.
async fn rows(db: &Db) -> BTreeMap<String, i64> {
    let list = if db.place().path().is_some() {
        "SELECT name FROM sqlite_master WHERE type = 'table'"
    } else {
        "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
    };
    idle(db).await;
    let tables: Vec<String> = db.raw(list).await.into_iter().map(|mut row| row[0].take().unwrap()).collect();
    // A counter is spread over rows.
    let count = |table: &String| match table.as_str() {
        "counters" => "SELECT 'counters', CAST(coalesce(sum(n), 0) AS BIGINT) FROM counters".to_owned(),
        table => format!("SELECT '{table}', count(*) FROM {table}"),
    };
    let counts = db.raw(&tables.iter().map(count).collect::<Vec<_>>().join(" UNION ALL ")).await;
    let cells = counts.into_iter().map(|row| row.into_iter().map(Option::unwrap).collect::<Vec<_>>());
    cells.map(|row| (row[0].clone(), row[1].parse().unwrap())).collect()
}

/// Cuts the nth write at its nth statement. Every write adds the same rows as the one without a cut, or none.
async fn adds_all_rows_or_none<O: Op>(db: &Db, behind: &Behind, write: impl AsyncFn(usize) -> O) {
    let mut added: Vec<BTreeMap<String, i64>> = Vec::new();
    for statement in 0..200 {
        let op = write(statement).await;
        let before = rows(db).await;
        behind.proxy.cut_at(statement);
        let outcome = behind.db.write(op).await;
        let was_cut = behind.proxy.disarm();
        let mut change = rows(db).await;
        for (table, count) in &mut change {
            *count -= before[table];
        }
        change.retain(|_, count| *count != 0);
        match outcome {
            Ok(_) if !was_cut => {
                assert!(!change.is_empty());
                assert!(added.iter().all(|other| *other == change), "{added:?} {change:?}");
                assert!(statement >= 4 || !behind.proxy.counts(), "{statement} statements were cut");
                return;
            }
            Ok(_) | Err(Error::Unavailable(_)) => {
                added.extend(Some(change).filter(|change| !change.is_empty()));
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("the write never ends");
}

/// A database through a proxy.
struct Behind {
    proxy: CuttingProxy,
    db: portico_store::Db,
}

impl Behind {
    async fn new(db: &Db) -> Self {
        let proxy = CuttingProxy::start(&db.place().location).await;
        let opened = portico_store::Db::open(&proxy.location, Role::Tool).await.unwrap();
        Self { proxy, db: opened }
    }
}

async fn every_other_write_leaves_all_of_its_rows_or_none_when_cut(db: Db) {
    let behind = Behind::new(&db).await;
    // The first use of a counter adds its row.
    db.write(create_template(template("first"))).await.unwrap();
    db.write(create_portfolio(portfolio("first"))).await.unwrap();

    adds_all_rows_or_none(&db, &behind, async |n| create_template(template(&format!("t{n}")))).await;
    adds_all_rows_or_none(&db, &behind, async |n| create_portfolio(portfolio(&format!("p{n}")))).await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let id = format!("gone{n}");
        db.write(create_portfolio(portfolio(&id))).await.unwrap();
        DeletePortfolio { id: text(&id), by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let id = format!("k{n}");
        CreateKey { key: key(&id, ann()), limit: None, entry: Some(entry("key.created", &id)), by: by() }
    })
    .await;
    let case_of = |n: usize| {
        let id = format!("c{n}");
        case(&id, &format!("ann{n}"), u8::try_from(n).unwrap())
    };
    adds_all_rows_or_none(&db, &behind, async |n| OpenCase {
        new: NewCase { case: case_of(n), of: CaseSelector::Named },
        lifetime: Lifetime::new(&case_of(n).user, 0),
        entry: entry("case.opened", "c"),
        by: by(),
    })
    .await;
    let opened = async |n: usize| open(&db, case_of(n + 100), CaseSelector::Named).await.unwrap();
    adds_all_rows_or_none(&db, &behind, async |n| {
        let case = opened(n).await;
        Begin { case: case.id, ..begin(1, &format!("r{n}"), "acme") }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| result(&format!("v{n}"), &opened(n).await)).await;
}

async fn changes_leave_all_of_their_rows_or_none_when_cut(db: Db) {
    let behind = Behind::new(&db).await;
    db.write(create_template(template("t"))).await.unwrap();
    adds_all_rows_or_none(&db, &behind, async |n| {
        let id = format!("l{n}");
        db.write(create(listing(&id))).await.unwrap();
        let change = ListingChange { rent: Change::Set(money("900")), ..ListingChange::default() };
        let (id, owner) = (text(&id), text("ann"));
        EditListing { id, owner, change, expected: None, salt: [1; 32], editor: Editor::Owner, by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let devices = ["a", "b"].map(|name| device(&format!("{name}{n}")));
        RegisterDevices { devices: devices.into(), by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let change = TemplateChange { name: Some(text(&format!("n{n}"))), ..TemplateChange::default() };
        ChangeTemplate { id: text("t"), change, by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let (template, id, user) = (text("t"), text(&format!("copy{n}")), text("ann"));
        CopyTemplate { template, id, user, custom: false, by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let id = format!("p{n}");
        db.write(create_portfolio(portfolio(&id))).await.unwrap();
        let change = PortfolioChange { name: Some(text("New")), ..PortfolioChange::default() };
        ChangePortfolio { id: text(&id), change, by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let id = format!("k{n}");
        db.write(CreateKey { key: key(&id, ann()), limit: None, entry: None, by: by() }).await.unwrap();
        RevokeKey { id: text(&id), entry: entry("key.revoked", &id), by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| SaveListing {
        user: text("ann"),
        listing: text(&format!("l{n}")),
        by: by(),
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let change = Pipeline { client: Some(text(&format!("client{n}"))), ..Pipeline::default() };
        PutPipeline { tenant: account(&format!("account{n}")), change, by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let listing = SafeInteger::from_units(i64::try_from(n).unwrap());
        let record = RequirementsRecord { listing, applicant: listing, met: vec![true] };
        PutRequirements { record, by: by() }
    })
    .await;
}

async fn writes_for_the_chain_leave_all_of_their_rows_or_none_when_cut(db: Db) {
    let behind = Behind::new(&db).await;
    let lease = lease(&db).await;
    let item = |n: usize| [u8::try_from(n).unwrap(); 32];
    adds_all_rows_or_none(&db, &behind, async |n| {
        let id = format!("l{n}");
        let record = NewRecord {
            listing: listing(&id),
            desired: DesiredItem { payload: vec![1], deleted: false, ..retired_listing(&text(&id), NOW) },
            by: by(),
            idempotency_key: None,
            budget: Budget::default(),
            payer: None,
        };
        let (records, waiting) = (Arc::from([record]), Payers::default());
        RecordListings {
            records,
            max_waiting_per_payer: 100,
            waiting,
            lease,
            signer: Arc::new(Unsigned),
            at: NOW,
        }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let first = DesiredItem {
            kind: KIND,
            key: item(n + 100),
            deleted: false,
            ..retired_listing(&text("oak"), NOW)
        };
        PutItems(vec![DesiredItem { key: item(n + 150), ..first.clone() }, first])
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let key = u8::try_from(n + 1).unwrap();
        put(&db, &[key]).await;
        let items = vec![first_version(key)];
        db.write(RejectItems { items, at: NOW }).await.unwrap();
        RetryItems { items: vec![(first_version(key), 41)], entry: entry("chain.retried", "an item") }
    })
    .await;
}

async fn writes_about_people_leave_all_of_their_rows_or_none_when_cut(db: Db) {
    let behind = Behind::new(&db).await;
    // Of a new person, with a minted token.
    let opened = async |name: &str, token: usize| {
        let token = u8::try_from(token).unwrap();
        let new = case(&format!("{name}-case{token}"), &format!("{name}{token}"), token);
        let opened = open(&db, new, CaseSelector::Named).await.unwrap();
        db.write(Mint { case: opened.id.clone(), at: NOW }).await.unwrap();
        (opened, token)
    };
    adds_all_rows_or_none(&db, &behind, async |n| {
        let (case, _) = opened("ann", n + 1).await;
        let entry = entry("identity.revoked", case.id.as_str());
        RevokeIdentity { token: case.token, entry, by: by() }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let (case, token) = opened("bob", n + 50).await;
        let (user, nonce) = (case.user.clone(), [token; 32]);
        let claim = WalletClaim {
            token: case.token,
            user: user.clone(),
            nonce,
            message: vec![1],
            expires_at: later(1000),
        };
        db.write(BeginClaim { claim, entry: entry("claim.opened", case.id.as_str()) }).await.unwrap();
        ClaimIdentity {
            token: case.token,
            user,
            nonce,
            wallet: [9; 20],
            entry: entry("identity.claimed", case.id.as_str()),
            by: by(),
        }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let who = u8::try_from(n + 1).unwrap();
        apply(&db, who, &["elm"]).await.unwrap();
        let found = db.applications_of(&person(who)).await.unwrap().remove(0);
        ChangeApplication {
            id: found.id.clone(),
            version: found.version,
            status: ApplicationStatus::Withdrawn,
            sharing: SharingChange::End,
            document: vec![2],
            entry: entry("application.withdrawn", found.id.as_str()),
            by: by(),
        }
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let who = u8::try_from(n + 1).unwrap();
        apply(&db, who, &["ash"]).await.unwrap();
        new_report(&db.applications_of(&person(who)).await.unwrap().pop().unwrap(), None, 5)
    })
    .await;
    adds_all_rows_or_none(&db, &behind, async |n| {
        let (case, token) = opened("carl", n + 150).await;
        db.write(result(&format!("v{n}"), &case)).await.unwrap();
        apply(&db, token, &["elm"]).await.unwrap();
        let erasure = i64::from(token);
        ErasePerson { user: case.user, person: Some(person(token)), ..erase(erasure) }
    })
    .await;
}

/// Writes an event that exists.
struct Again(Arc<AtomicUsize>);

impl Op for Again {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        static ADD: Sql = sql("INSERT INTO events (seq, kind, subject, at) VALUES (1, 'test', '', 0)");
        self.0.fetch_add(1, Ordering::Relaxed);
        tx.exec(&ADD, &[]).await
    }
}

async fn a_duplicate_that_is_no_race_is_a_bug(db: Db) {
    let attempts = Arc::new(AtomicUsize::new(0));
    db.write(Again(attempts.clone())).await.unwrap();
    let again = db.write(Again(attempts.clone())).await;
    assert!(matches!(again, Err(Error::Bug(_))), "{again:?}");
    assert!(attempts.load(Ordering::Relaxed) <= 4, "{attempts:?}");
}

/// How commits of a write are made durable.
struct Durability;

impl Op for Durability {
    type Out = String;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<String> {
        static SETTING: Sql = dialects("SELECT 'on'", "SELECT current_setting('synchronous_commit')");
        Ok(tx.one::<(String,)>(&SETTING, &[]).await?.map_or_else(String::new, |(setting,)| setting))
    }
}

/// Of a new database whose sessions begin with this setting.
async fn with_setting(place: Place, setting: &str) -> String {
    if place.path().is_none() {
        let name = place.raw("SELECT current_database()").await[0][0].clone().unwrap();
        place.batch(&format!("ALTER DATABASE {name} SET synchronous_commit = {setting}")).await;
    }
    place.open(Role::Server).await.write(Durability).await.unwrap()
}

async fn commits_wait_for_the_disk_whatever_the_session_says(db: Db) {
    assert_eq!(with_setting(db.fresh_place().await, "off").await, "on");
    let safer = with_setting(db.fresh_place().await, "remote_apply").await;
    assert_eq!(safer, if db.place().path().is_some() { "on" } else { "remote_apply" });
}

async fn a_migration_outlasts_the_statement_timeout(db: Db) {
    const LONGER: Duration = Duration::from_millis(9_500);
    let place = db.fresh_place().await;
    if place.path().is_some() {
        place.open(Role::Server).await;
        return;
    }
    place.batch("CREATE TABLE portico_migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL)").await;
    place.batch("INSERT INTO portico_migrations VALUES (0, 'lock', '')").await;
    // Another replica migrates.
    let other = place.begin("", "SELECT 1 FROM portico_migrations WHERE version = 0 FOR UPDATE").await;
    let began = Instant::now();
    let opened = tokio::join!(place.try_open(Role::Server), async {
        tokio::time::sleep(LONGER).await;
        other.commit().await;
    });
    opened.0.unwrap();
    assert!(began.elapsed() >= LONGER);
}
