//! The digest that proves a listing's content.

use alloy_primitives::keccak256;
use portico_domain::geo::Point;
use portico_domain::listings::Listing;

use crate::word::Word;

/// Field names and values, in the order of the digest.
pub type PublicContent = Vec<(&'static str, String)>;

/// The digest of a listing's public content under a salt.
pub fn listing_digest(salt: &Word, listing: &Listing) -> Word {
    content_digest(salt, &public_content(listing))
}

/// The Keccak-256 hash of the ABI encoding of salt and values. Anyone who has both can compute it with `cast keccak
/// $(cast abi-encode "f(bytes32,string,string,…)" …)`, with one `string` per value.
pub fn content_digest(salt: &Word, content: &[(&'static str, String)]) -> Word {
    // Heads: the salt, then each text's offset. Tails: each text's length and its bytes, padded to 32.
    let word = |number: usize| {
        let mut word = [0; 32];
        word[24..].copy_from_slice(&(number as u64).to_be_bytes());
        word
    };
    let (mut heads, mut tails) = (salt.to_vec(), Vec::new());
    for (_, text) in content {
        heads.extend(word(32 * (content.len() + 1) + tails.len()));
        tails.extend(word(text.len()));
        tails.extend(text.as_bytes());
        tails.resize(tails.len().next_multiple_of(32), 0);
    }
    keccak256([heads, tails].concat()).0
}

/// The digest's input: every public field but the owner and the status, an empty text for one without a value. The status
/// changes often and without effect on what is offered; a transaction for each change would only cost.
///
/// The number of texts identifies the fields: a field that is added later is left out of the input of a listing without
/// it, so that digests of earlier records stay valid.
pub fn public_content(listing: &Listing) -> PublicContent {
    vec![
        ("listingId", listing.id.to_string()),
        ("streetAddress", listing.street.to_string()),
        ("city", listing.city.to_string()),
        ("state", listing.state.to_string()),
        ("postalCode", listing.postal.to_string()),
        ("country", listing.country.to_string()),
        ("monthlyRent", text(listing.rent)),
        ("propertyValue", text(listing.property_value)),
        ("latitude", text(listing.place.map(Point::latitude))),
        ("longitude", text(listing.place.map(Point::longitude))),
        ("walkthroughLink", text(listing.walkthrough.as_ref())),
        ("bedRoomCount", text(listing.bedrooms)),
        ("bathroomCount", text(listing.bathrooms)),
        ("description", text(listing.description.as_ref())),
        ("availableFrom", text(listing.available_from)),
    ]
}

fn text(value: Option<impl std::fmt::Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;
    use alloy_sol_types::SolValue;
    use portico_domain::listing_changes::{Change, ListingChange};
    use portico_domain::listings::{Address, ListingStatus};
    use portico_domain::{
        City, Country, Date, Link, ListingDescription, ListingId, Money, PostalCode, State, Street, UserId,
        Whole,
    };

    use super::*;

    fn listing(id: &str, city: &str) -> Listing {
        let address = Address {
            street: Street::stored("12 Oak Street"),
            city: City::stored(city),
            state: State::stored("TX"),
            postal: PostalCode::stored("78701"),
        };
        Listing::new(ListingId::stored(id), UserId::stored("ada"), address, Country::stored("US"))
    }

    fn digest(change: &ListingChange) -> Word {
        listing_digest(&[1; 32], &change.applied_to(listing("a", "Austin")))
    }

    #[test]
    fn digest_depends_on_salt_and_every_public_field() {
        let none = ListingChange::default;
        let rooms = || Change::Set(Whole::from_units(2));
        let digests = [
            none(),
            ListingChange { street: Some(Street::stored("1 Elm")), ..none() },
            ListingChange { city: Some(City::stored("Dallas")), ..none() },
            ListingChange { state: Some(State::stored("OK")), ..none() },
            ListingChange { postal: Some(PostalCode::stored("1")), ..none() },
            ListingChange { country: Some(Country::stored("CA")), ..none() },
            ListingChange { rent: Change::Set(Money::from_units(1)), ..none() },
            ListingChange { property_value: Change::Set(Money::from_units(1)), ..none() },
            ListingChange { place: Change::Set(Point::parse("1,2").unwrap()), ..none() },
            ListingChange { walkthrough: Change::Set(Link::stored("https://a.b")), ..none() },
            ListingChange { bedrooms: rooms(), ..none() },
            ListingChange { bathrooms: rooms(), ..none() },
            ListingChange { bedrooms: rooms(), bathrooms: rooms(), ..none() },
            ListingChange { description: Change::Set(ListingDescription::stored("2")), ..none() },
            ListingChange { available_from: Change::Set(Date::parse("2026-01-31").unwrap()), ..none() },
        ]
        .map(|change| digest(&change));
        let distinct: std::collections::BTreeSet<Word> = digests.into_iter().collect();
        assert_eq!(distinct.len(), digests.len());
        assert!(!distinct.contains(&listing_digest(&[2; 32], &listing("a", "Austin"))));
        assert!(!distinct.contains(&listing_digest(&[1; 32], &listing("b", "Austin"))));
    }

    #[test]
    fn digest_does_not_cover_owner_and_status() {
        let plain = listing_digest(&[1; 32], &listing("a", "Austin"));
        let other_owner = Listing { user: UserId::stored("grace"), ..listing("a", "Austin") };
        assert_eq!(plain, listing_digest(&[1; 32], &other_owner));
        let rented = ListingChange { status: Some(ListingStatus::Rented), ..ListingChange::default() };
        assert_eq!(plain, digest(&rented));
    }

    /// Encoded by an independent implementation.
    #[test]
    fn digest_is_the_hash_of_the_abi_encoding() {
        let change = ListingChange {
            rent: Change::Set(Money::parse("2100.25").unwrap()),
            bedrooms: Change::Set(Whole::from_units(2)),
            ..ListingChange::default()
        };
        let listing = change.applied_to(listing("a", "Österreich"));
        let none = String::new;
        let texts =
            ["a", "12 Oak Street", "Österreich", "TX", "78701", "US", "2100.25", "2"].map(str::to_owned);
        let [id, street, city, state, postal, country, rent, bedrooms] = texts;
        let (value, latitude, longitude, walkthrough) = (none(), none(), none(), none());
        let (bathrooms, description, available) = (none(), none(), none());
        let salt = B256::from([7; 32]);
        let encoded = (
            salt,
            id,
            street,
            city,
            state,
            postal,
            country,
            rent,
            value,
            latitude,
            longitude,
            walkthrough,
            bedrooms,
            bathrooms,
            description,
            available,
        )
            .abi_encode_params();
        assert_eq!(listing_digest(&[7; 32], &listing), keccak256(encoded).0);
    }
}
