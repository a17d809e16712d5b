//! Things to record.

use alloy_primitives::keccak256;
use portico_chain::contracts::{Content, Kind, listing_key};
use portico_chain::signer::Key;
use portico_domain::chain::Terms;
use portico_domain::listings::Listing;
use portico_domain::{
    City, Country, Credit, Income, ListingId, PostalCode, State, Street, Timestamp, UserId,
};
use portico_store::ChangeContext;
use portico_store::chain::{DesiredItem, NewRecord, Word};

/// A key that is the same every time.
pub(crate) fn key(number: u8) -> Key {
    Key::from_bytes(keccak256([number]).0).unwrap()
}

pub(crate) fn listing(id: &str) -> Listing {
    Listing {
        id: ListingId::stored(id),
        user: UserId::stored("ada"),
        street: Street::stored("12 Oak Street"),
        city: City::stored("Austin"),
        state: State::stored("TX"),
        postal: PostalCode::stored("78701"),
        country: Country::stored("US"),
        rent: None,
        property_value: None,
        bedrooms: None,
        bathrooms: None,
        place: None,
        walkthrough: None,
    }
}

pub(crate) fn terms(credit: i64, income: i64) -> Terms {
    let credit = (Some(Credit::from_units(credit)), Some(Credit::from_units(credit + 50)));
    Terms::new(credit, (Some(Income::from_units(income)), None)).unwrap()
}

/// What is wanted of an item.
pub(crate) fn wanted(key: Word, content: Content, at: Timestamp) -> DesiredItem {
    let (kind, payload, gone) = (content.kind().number(), content.encode(), content.is_gone());
    DesiredItem { kind, key, payload, gone, salt: None, above: 0, at }
}

fn content(digest: Word) -> Content {
    Content::Listing { terms: terms(620, 4_000_050), digest }
}

/// What the database keeps of a listing's record.
pub(crate) fn payload(digest: Word) -> Vec<u8> {
    content(digest).encode()
}

/// A listing with its record.
pub(crate) fn record(id: &str, digest: Word, at: Timestamp) -> NewRecord {
    let content = content(digest);
    let listing = listing(id);
    let mut wanted = wanted(listing_key(&listing.id), content, at);
    wanted.salt = Some([7; 32]);
    NewRecord { listing, wanted, by: ChangeContext { account: None, at }, once: None }
}

/// The key under which the chain knows a listing.
pub(crate) fn key_of(id: &str) -> Word {
    listing_key(&ListingId::stored(id))
}

/// What a listing's deletion wants.
pub(crate) fn retired(id: &str, at: Timestamp) -> DesiredItem {
    wanted(key_of(id), Content::RetiredListing, at)
}

/// The number of a kind, for the database.
pub(crate) const LISTING: i64 = 0;

#[test]
fn the_number_of_listings_is_the_databases() {
    assert_eq!(Kind::Listing.number(), LISTING);
}
