//! Sample data, helpers that read it, and short accessors for errors.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::{self, StreamExt as _};
use portico_domain::applications::ApplicationStatus;
use portico_domain::devices::Device;
use portico_domain::listings::{Address, Listing, ListingFilter};
use portico_domain::portfolios::{Portfolio, ProtocolItem, ProtocolItems, RiskLevel, Template};
use portico_domain::search::SearchTerm;
use portico_domain::text::{Text, TextFormat};
use portico_domain::{Allocation, ErrorCode, ListingId, Money, Tenant, Timestamp, Whole};
use portico_records::Word;
use portico_store::audit::Entry;
use portico_store::keystore::PersonId;
use portico_store::screening::Lifetime;
use portico_store::{
    Budget, ChangeContext, CreateListing, CreatePortfolio, CreateTemplate, Cursor, DeleteListing, Error,
    ListingSubmission, NewApplication, Page, RegisterDevice, Result, SubmitApplications,
};

use crate::engines::Db;

pub(crate) const NOW: Timestamp = Timestamp::from_micros(1_760_000_000_000_000);

pub(crate) fn text<K: TextFormat>(raw: &str) -> Text<K> {
    Text::parse(raw).unwrap()
}

pub(crate) fn term(raw: &str) -> SearchTerm {
    SearchTerm::parse(raw).unwrap()
}

pub(crate) fn money(raw: &str) -> Money {
    Money::parse(raw).unwrap()
}

pub(crate) fn rooms(count: i64) -> Whole {
    Whole::from_units(count)
}

pub(crate) fn later(micros: i64) -> Timestamp {
    Timestamp::from_micros(NOW.micros() + micros)
}

pub(crate) fn account(name: &str) -> Tenant {
    Tenant::Account(text(name))
}

pub(crate) fn by() -> ChangeContext {
    ChangeContext { account: Some(account("acme")), at: NOW }
}

pub(crate) fn by_at(at: Timestamp) -> ChangeContext {
    ChangeContext { at, ..by() }
}

pub(crate) fn entry(action: &'static str, subject: &str) -> Entry {
    Entry { at: NOW, actor: "user ann".into(), action, subject: subject.into(), detail: String::new() }
}

/// Without optional fields.
pub(crate) fn listing(id: &str) -> Listing {
    let address = Address {
        street: text("12 Elm Avenue"),
        city: text("Austin"),
        state: text("TX"),
        postal: text("78701"),
    };
    Listing::new(text(id), text("ann"), address, text("US"))
}

pub(crate) fn create(listing: Listing) -> CreateListing {
    CreateListing { listing, by: by() }
}

/// Ann's listing.
pub(crate) fn delete(id: &str) -> DeleteListing {
    DeleteListing { id: text(id), owner: text("ann"), by: by() }
}

/// A person's id in the keystore.
pub(crate) fn person(n: u8) -> PersonId {
    PersonId([n; 16])
}

/// Another one for each application.
fn chain_key(application: &str) -> Word {
    let mut key = [0; 32];
    for (at, byte) in application.bytes().enumerate() {
        key[at % 32] ^= byte;
    }
    key
}

/// An application that is not stored yet.
pub(crate) fn application(id: &str, listing: i64, created_at: Timestamp) -> NewApplication {
    NewApplication {
        id: text(id),
        listing,
        status: ApplicationStatus::Submitted,
        owner: [1; 32],
        terms: [1; 32],
        chain_key: chain_key(id),
        document: vec![1],
        created_at,
    }
}

/// An application to each listing, as they are now. Their ids are new.
pub(crate) async fn submission(db: &Db, who: u8, ids: &[&str], at: Timestamp) -> SubmitApplications {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let mut wanted = Vec::with_capacity(ids.len());
    for id in ids {
        let stored = db.stored_listing(&text(id)).await.unwrap();
        let new = stored.map(|stored| {
            let id = format!("application-{}", NEXT.fetch_add(1, Ordering::Relaxed));
            (application(&id, stored.version.seq, at), stored.version)
        });
        wanted.push(ListingSubmission { listing: text(id), new, refusal: None });
    }
    let user = text("ann");
    let lifetime = Lifetime::new(&user, 0);
    SubmitApplications {
        user,
        person: person(who),
        lifetime,
        wanted,
        budget: Budget::default(),
        by: by_at(at),
    }
}

/// Applies to listings, which are created if they do not exist.
pub(crate) async fn apply_at(db: &Db, who: u8, ids: &[&str], at: Timestamp) -> Result<()> {
    offer(db, ids).await;
    db.write(submission(db, who, ids, at).await).await
}

pub(crate) async fn apply(db: &Db, who: u8, ids: &[&str]) -> Result<()> {
    apply_at(db, who, ids, NOW).await
}

/// Creates the listings that do not exist yet.
pub(crate) async fn offer(db: &Db, ids: &[&str]) {
    for id in ids {
        match db.write(create(listing(id))).await {
            Ok(()) | Err(Error::Conflict(ErrorCode::ListingExists)) => {}
            Err(error) => panic!("{id}: {error}"),
        }
    }
}

pub(crate) fn items(shares: &[(&str, i64)]) -> ProtocolItems {
    let item = |&(name, share): &(&str, i64)| ProtocolItem {
        protocol_name: text(name),
        protocol_identifier: text(&format!("{name}-id")),
        allocation_percentage: Allocation::from_units(share),
    };
    ProtocolItems::new(shares.iter().map(item).collect()).unwrap()
}

pub(crate) fn template(id: &str) -> Template {
    Template {
        id: text(id),
        name: text("Balanced"),
        description: Some(text("Half of each")),
        risk: RiskLevel::Moderate,
        items: items(&[("Helium", 500_000), ("Render", 333_333)]),
        active: true,
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(crate) fn create_template(template: Template) -> CreateTemplate {
    CreateTemplate { template, by: by() }
}

/// Ann's, without a template.
pub(crate) fn portfolio(id: &str) -> Portfolio {
    Portfolio {
        id: text(id),
        user: text("ann"),
        name: Some(text("Mine")),
        description: Some(text("All of it")),
        risk: RiskLevel::Aggressive,
        items: items(&[("Filecoin", 1_000_000)]),
        based_on: None,
        custom: true,
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(crate) fn create_portfolio(portfolio: Portfolio) -> CreatePortfolio {
    CreatePortfolio { portfolio, by: by() }
}

/// Ann's, on the network `helium`, with its id as identifier.
pub(crate) fn device(id: &str) -> Device {
    Device {
        id: text(id),
        user: text("ann"),
        network: text("helium"),
        identifier: text(id),
        created_at: NOW,
        updated_at: NOW,
    }
}

pub(crate) fn register(device: Device) -> RegisterDevice {
    RegisterDevice { device, by: by() }
}

/// Concurrently: on SQLite in this order, on PostgreSQL in any.
pub(crate) async fn store_all(db: &Db, listings: impl IntoIterator<Item = Listing>) {
    // Not all at once: a write that waits too long for a connection fails.
    let writes = stream::iter(listings).map(|listing| db.write(create(listing))).buffered(256);
    writes.for_each(async |stored| stored.unwrap()).await;
}

/// A whole list from a cursor on, read in pages; asserts the paging rules.
pub(crate) async fn in_pieces<T, F: Future<Output = Result<Page<T>>>>(
    limit: usize,
    mut after: Option<Cursor>,
    read: impl Fn(Option<Cursor>) -> F,
) -> Vec<T> {
    let mut all = Vec::new();
    loop {
        let Page { items, next, .. } = read(after).await.unwrap();
        assert!(items.len() <= limit, "at most as many as asked for");
        assert!(!items.is_empty() || after.is_none(), "a cursor leads to something");
        if next.is_some() {
            assert_eq!(items.len(), limit, "only the last piece is short");
            assert!(next > after, "cursors grow");
        }
        all.extend(items);
        after = next;
        if after.is_none() {
            return all;
        }
    }
}

pub(crate) async fn find_all(db: &Db, filter: &ListingFilter, limit: usize) -> Vec<Listing> {
    find_after(db, filter, None, limit).await
}

pub(crate) async fn find_after(
    db: &Db,
    filter: &ListingFilter,
    after: Option<Cursor>,
    limit: usize,
) -> Vec<Listing> {
    in_pieces(limit, after, |after| db.find_listings(filter, after, limit)).await
}

pub(crate) async fn found(db: &Db, filter: &ListingFilter) -> Vec<String> {
    ids(&find_all(db, filter, 100).await)
}

pub(crate) fn ids(listings: &[Listing]) -> Vec<String> {
    listings.iter().map(|listing| listing.id.to_string()).collect()
}

pub(crate) fn listing_ids(ids: &[&str]) -> Vec<ListingId> {
    ids.iter().map(|id| text(id)).collect()
}

pub(crate) fn conflict<T: std::fmt::Debug>(outcome: Result<T>) -> &'static str {
    match outcome {
        Err(Error::Conflict(code)) => code.name(),
        other => panic!("a conflict was expected, not {other:?}"),
    }
}

pub(crate) fn missing<T: std::fmt::Debug>(outcome: Result<T>) -> &'static str {
    match outcome {
        Err(Error::Missing(code)) => code.name(),
        other => panic!("something missing was expected, not {other:?}"),
    }
}

pub(crate) fn totals(pairs: &[(&str, i64)]) -> Vec<(String, i64)> {
    pairs.iter().map(|&(name, n)| (name.to_owned(), n)).collect()
}
