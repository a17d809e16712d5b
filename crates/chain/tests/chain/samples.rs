//! Sample data.

use alloy_primitives::keccak256;
use portico_chain::signer::Key;
use portico_domain::chain::{Passes, Terms};
use portico_domain::listings::{Address, Listing};
use portico_domain::{
    City, Country, Credit, Income, ListingId, PostalCode, State, Street, Timestamp, UserId,
};
use portico_records::{CheckFlags, Commitment, Content, DesiredItem, listing_key};
use portico_store::chain::{NewRecord, Word};
use portico_store::{Budget, ChangeContext};

/// Deterministic.
pub(crate) fn key(number: u8) -> Key {
    Key::from_bytes(keccak256([number]).0).unwrap()
}

pub(crate) fn listing(id: &str) -> Listing {
    let address = Address {
        street: Street::stored("12 Oak Street"),
        city: City::stored("Austin"),
        state: State::stored("TX"),
        postal: PostalCode::stored("78701"),
    };
    Listing::new(ListingId::stored(id), UserId::stored("ada"), address, Country::stored("US"))
}

pub(crate) fn terms(credit: i64, income: i64) -> Terms {
    let credit = (Some(Credit::from_units(credit)), Some(Credit::from_units(credit + 50)));
    Terms::new(credit, (Some(Income::from_units(income)), None)).unwrap()
}

/// They expire in the year 2100.
pub(crate) fn flags(bits: u8) -> CheckFlags {
    let expires_at = Timestamp::from_micros(4_102_444_800_000_000);
    CheckFlags::expiring(Passes::from_bits(bits), expires_at)
}

pub(crate) const SALT: Word = [5; 32];

/// Opens with [`SALT`].
pub(crate) fn commitment(key: &Word, bits: u8) -> Commitment {
    flags(bits).commit(key, &SALT)
}

fn content(digest: Word) -> Content {
    Content::Listing { terms: terms(620, 4_000_050), digest }
}

pub(crate) fn payload(digest: Word) -> Vec<u8> {
    content(digest).encode()
}

pub(crate) fn record(id: &str, digest: Word, at: Timestamp) -> NewRecord {
    let listing = listing(id);
    let desired = content(digest).desired(listing_key(&listing.id), at);
    let desired = DesiredItem { salt: Some([7; 32]), ..desired };
    NewRecord {
        listing,
        desired,
        by: ChangeContext { account: None, at },
        idempotency_key: None,
        budget: Budget::default(),
        payer: None,
    }
}

pub(crate) fn key_of(id: &str) -> Word {
    listing_key(&ListingId::stored(id))
}
