//! Every change writes one event row in its own transaction, without personal data.

use std::sync::Arc;

use portico_domain::keys::{Key, KeyScope};
use portico_domain::pipelines::Pipeline;
use portico_domain::portfolios::{PortfolioChange, Template, TemplateChange};
use portico_domain::requirements::RequirementsRecord;
use portico_domain::{SafeInteger, Timestamp};
use portico_store::{
    Answering, ChangeContext, ChangePortfolio, ChangeTemplate, CopyTemplate, CreateKey, CreateListing,
    DeleteDevice, DeletePortfolio, IdempotencyClaim, Idempotent, JoinTenant, PutPipeline, PutRequirements,
    Result, RevokeKey, SaveListing, Seal, StoredKey, UnsaveListing,
};

use crate::engines::Db;
use crate::samples::{
    NOW, account, apply, by, conflict, create, create_portfolio, create_template, delete, device, entry,
    later, listing, missing, offer, person, portfolio, register, template, text,
};

on_both_engines! {
    there_are_no_events_at_first,
    event_names_action_subject_account_and_time,
    listings_leave_events,
    saving_leaves_events,
    applying_leaves_an_event_for_each_new_application,
    requirements_leave_events,
    pipelines_leave_events,
    templates_leave_events,
    portfolios_leave_events,
    devices_leave_events,
    keys_and_accounts_leave_events,
    work_done_once_leaves_its_event_once,
    events_stay_in_the_order_of_the_changes,
    events_hold_nothing_personal,
}

/// Kind and subject of the events since the last call.
struct Journal {
    seen: usize,
}

impl Journal {
    async fn expect(&mut self, db: &Db, new: &[(&str, &str)]) {
        let rows = db.raw("SELECT kind, subject FROM events ORDER BY seq").await;
        let events: Vec<(String, String)> =
            rows.into_iter().map(|row| (row[0].clone().unwrap(), row[1].clone().unwrap())).collect();
        let expected: Vec<(String, String)> =
            new.iter().map(|&(kind, subject)| (kind.to_owned(), subject.to_owned())).collect();
        assert_eq!(events[self.seen..], expected);
        self.seen = events.len();
    }
}

fn journal() -> Journal {
    Journal { seen: 0 }
}

async fn there_are_no_events_at_first(db: Db) {
    journal().expect(&db, &[]).await;
}

async fn event_names_action_subject_account_and_time(db: Db) {
    let nobody = ChangeContext { account: None, at: Timestamp::from_micros(-5) };
    db.write(create(listing("a"))).await.unwrap();
    db.write(CreateListing { listing: listing("b"), by: nobody }).await.unwrap();
    let row = |subject: &str, account: Option<&str>, at: i64| {
        vec![
            Some("listing.created".to_owned()),
            Some(subject.to_owned()),
            account.map(str::to_owned),
            Some(at.to_string()),
        ]
    };
    assert_eq!(
        db.raw("SELECT kind, subject, account, at FROM events ORDER BY seq").await,
        [row("a", Some("account:acme"), NOW.micros()), row("b", None, -5)]
    );
}

async fn listings_leave_events(db: Db) {
    let mut journal = journal();
    db.write(create(listing("a"))).await.unwrap();
    journal.expect(&db, &[("listing.created", "a")]).await;
    conflict(db.write(create(listing("a"))).await);
    missing(db.write(delete("b")).await);
    journal.expect(&db, &[]).await;
    db.write(delete("a")).await.unwrap();
    journal.expect(&db, &[("listing.deleted", "a")]).await;
}

async fn saving_leaves_events(db: Db) {
    let mut journal = journal();
    let save = || db.write(SaveListing { user: text("ann"), listing: text("a"), by: by() });
    let unsave = || db.write(UnsaveListing { user: text("ann"), listing: text("a"), by: by() });
    missing(unsave().await);
    journal.expect(&db, &[]).await;
    save().await.unwrap();
    journal.expect(&db, &[("listing.saved", "a")]).await;
    save().await.unwrap();
    journal.expect(&db, &[]).await;
    unsave().await.unwrap();
    journal.expect(&db, &[("listing.unsaved", "a")]).await;
}

async fn applying_leaves_an_event_for_each_new_application(db: Db) {
    let mut journal = journal();
    offer(&db, &["a", "b", "c"]).await;
    journal.expect(&db, &["a", "b", "c"].map(|id| ("listing.created", id))).await;
    let made = async || -> Vec<String> {
        let applications = db.applications_of(&person(1)).await.unwrap();
        applications.into_iter().map(|application| application.id.to_string()).collect()
    };
    apply(&db, 1, &["b", "a", "b"]).await.unwrap();
    let ids = made().await;
    journal.expect(&db, &[("application.made", &ids[0]), ("application.made", &ids[1])]).await;
    apply(&db, 1, &["a", "c"]).await.unwrap();
    let ids = made().await;
    journal.expect(&db, &[("application.made", &ids[2])]).await;
    apply(&db, 1, &["a", "b", "c"]).await.unwrap();
    apply(&db, 1, &[]).await.unwrap();
    journal.expect(&db, &[]).await;
    db.write(delete("a")).await.unwrap();
    journal.expect(&db, &[("application.closed", &ids[1]), ("listing.deleted", "a")]).await;
}

async fn requirements_leave_events(db: Db) {
    let mut journal = journal();
    for met in [vec![true], vec![false]] {
        let [listing, applicant] = [7, 8].map(SafeInteger::from_units);
        let record = RequirementsRecord { listing, applicant, met };
        db.write(PutRequirements { record, by: by() }).await.unwrap();
        journal.expect(&db, &[("requirements.recorded", "7")]).await;
    }
}

async fn pipelines_leave_events(db: Db) {
    let mut journal = journal();
    let put = |name| {
        let change = Pipeline { client: Some(text("client")), ..Pipeline::default() };
        db.write(PutPipeline { tenant: account(name), change, by: by() })
    };
    put("acme").await.unwrap();
    journal.expect(&db, &[("pipeline.changed", "account:acme")]).await;
    conflict(put("other").await);
    journal.expect(&db, &[]).await;
}

async fn templates_leave_events(db: Db) {
    let mut journal = journal();
    let change = |id, active, name: Option<&str>| {
        let change = TemplateChange { active, name: name.map(text), ..TemplateChange::default() };
        db.write(ChangeTemplate { id: text(id), change, by: by() })
    };
    db.write(create_template(Template { active: true, ..template("t") })).await.unwrap();
    journal.expect(&db, &[("template.created", "t")]).await;
    change("t", None, Some("New")).await.unwrap();
    journal.expect(&db, &[("template.changed", "t")]).await;
    change("t", Some(false), Some("Newer")).await.unwrap();
    journal.expect(&db, &[("template.deactivated", "t")]).await;
    change("t", Some(false), None).await.unwrap();
    journal.expect(&db, &[("template.changed", "t")]).await;
    change("t", Some(true), None).await.unwrap();
    journal.expect(&db, &[("template.activated", "t")]).await;
    missing(change("unknown", Some(true), None).await);
    journal.expect(&db, &[]).await;
}

async fn portfolios_leave_events(db: Db) {
    let mut journal = journal();
    let copy = |template, id| {
        let (template, id) = (text(template), text(id));
        db.write(CopyTemplate { template, id, user: text("ann"), custom: false, by: by() })
    };
    let change =
        |id| db.write(ChangePortfolio { id: text(id), change: PortfolioChange::default(), by: by() });
    let remove = |id| db.write(DeletePortfolio { id: text(id), by: by() });
    db.write(create_template(template("t"))).await.unwrap();
    db.write(create_portfolio(portfolio("p"))).await.unwrap();
    copy("t", "q").await.unwrap();
    journal
        .expect(&db, &[("template.created", "t"), ("portfolio.created", "p"), ("portfolio.created", "q")])
        .await;
    missing(copy("unknown", "r").await);
    missing(change("r").await);
    missing(remove("r").await);
    journal.expect(&db, &[]).await;
    change("p").await.unwrap();
    remove("p").await.unwrap();
    journal.expect(&db, &[("portfolio.changed", "p"), ("portfolio.deleted", "p")]).await;
}

async fn devices_leave_events(db: Db) {
    let mut journal = journal();
    let remove = |id| db.write(DeleteDevice { id: text(id), by: by() });
    db.write(register(device("d"))).await.unwrap();
    journal.expect(&db, &[("device.registered", "d")]).await;
    conflict(db.write(register(device("d"))).await);
    missing(remove("e").await);
    journal.expect(&db, &[]).await;
    remove("d").await.unwrap();
    journal.expect(&db, &[("device.deleted", "d")]).await;
}

async fn keys_and_accounts_leave_events(db: Db) {
    let mut journal = journal();
    let make = |id, limit| {
        let scope = KeyScope::Operator;
        let key = Key {
            id: text(id),
            name: text("name"),
            scope,
            created_at: NOW,
            expires_at: None,
            last_used_at: None,
            revoked_at: None,
        };
        db.write(CreateKey { key: StoredKey { digest: vec![1], key }, limit, entry: None, by: by() })
    };
    let revoke = |id| db.write(RevokeKey { id: text(id), entry: entry("key.revoked", id), by: by() });
    make("k", None).await.unwrap();
    journal.expect(&db, &[("key.created", "k")]).await;
    conflict(make("l", Some(1)).await);
    missing(revoke("l").await);
    journal.expect(&db, &[]).await;
    revoke("k").await.unwrap();
    journal.expect(&db, &[("key.revoked", "k")]).await;
    revoke("k").await.unwrap();
    journal.expect(&db, &[]).await;
    db.write(JoinTenant { user: text("ann"), tenant: account("acme"), at: NOW }).await.unwrap();
    journal.expect(&db, &[("account.joined", "account:acme")]).await;
}

#[derive(Debug)]
struct Plain;

impl Seal for Plain {
    fn seal(&self, _: &[u8], plain: &[u8]) -> Result<Vec<u8>> {
        Ok(plain.to_vec())
    }
    fn open(&self, _: &[u8], sealed: &[u8]) -> Result<Vec<u8>> {
        Ok(sealed.to_vec())
    }
}

async fn work_done_once_leaves_its_event_once(db: Db) {
    let mut journal = journal();
    for id in ["a", "b"] {
        let op = Answering { op: create(listing(id)), answer: id.to_owned() };
        let (scope, fingerprint) = ([1; 32], [2; 32]);
        db.write(Idempotent {
            op,
            key: IdempotencyClaim { scope, fingerprint, at: NOW, seal: Arc::new(Plain) },
        })
        .await
        .unwrap();
    }
    journal.expect(&db, &[("listing.created", "a")]).await;
}

async fn events_stay_in_the_order_of_the_changes(db: Db) {
    let names: Vec<String> = (0..20).map(|n| format!("{}", (n * 7) % 20)).collect();
    for (n, name) in names.iter().enumerate() {
        let by = ChangeContext { account: None, at: later(-i64::try_from(n).unwrap()) };
        db.write(CreateListing { listing: listing(name), by }).await.unwrap();
    }
    let expected: Vec<(&str, &str)> = names.iter().map(|name| ("listing.created", name.as_str())).collect();
    journal().expect(&db, &expected).await;
}

async fn events_hold_nothing_personal(db: Db) {
    let (user, at) = ("person-4711", NOW);
    let by = || ChangeContext { account: None, at };
    let person = portico_domain::listings::Listing { user: text(user), ..listing("l") };
    db.write(CreateListing { listing: person, by: by() }).await.unwrap();
    db.write(SaveListing { user: text(user), listing: text("l"), by: by() }).await.unwrap();
    apply(&db, 1, &["l"]).await.unwrap();
    db.write(UnsaveListing { user: text(user), listing: text("l"), by: by() }).await.unwrap();
    let owned = portico_domain::portfolios::Portfolio { user: text(user), ..portfolio("p") };
    db.write(create_portfolio(owned)).await.unwrap();
    let owned = portico_domain::devices::Device { user: text(user), ..device("d") };
    db.write(register(owned)).await.unwrap();
    db.write(JoinTenant { user: text(user), tenant: account("acme"), at }).await.unwrap();
    let rows = db.raw("SELECT kind, subject, account FROM events").await;
    assert_eq!(rows.len(), 7);
    assert!(!rows.iter().flatten().flatten().any(|cell| cell.contains(user)), "{rows:?}");
}
