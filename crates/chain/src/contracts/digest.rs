//! The digest that proves a listing's content.

use alloy_primitives::{B256, keccak256};
use alloy_sol_types::SolValue;
use portico_domain::listings::Listing;
use portico_store::chain::Word;

/// The digest of a listing's public content under a salt. Anyone who has both can compute it with `cast keccak $(cast
/// abi-encode "f(bytes32,string,string,…)" …)`.
pub fn listing_digest(salt: &Word, listing: &Listing) -> Word {
    let [id, street, city, state, postal, country, rent, value, latitude, longitude, walkthrough] =
        public_content(listing).map(|(_, text)| text);
    let content = (
        B256::from(*salt),
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
    );
    keccak256(content.abi_encode_params()).0
}

/// The digest's input in order: every public field that `POST /stage/listings` accepts, but not the owner. A field that
/// is added later must leave the digests of earlier records as they are.
pub fn public_content(listing: &Listing) -> [(&'static str, String); 11] {
    fn text(value: Option<impl std::fmt::Display>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    [
        ("listingId", listing.id.to_string()),
        ("streetAddress", listing.street.to_string()),
        ("city", listing.city.to_string()),
        ("state", listing.state.to_string()),
        ("postalCode", listing.postal.to_string()),
        ("country", listing.country.to_string()),
        ("monthlyRent", text(listing.rent)),
        ("propertyValue", text(listing.property_value)),
        ("latitude", text(listing.place.map(portico_domain::geo::Point::latitude))),
        ("longitude", text(listing.place.map(portico_domain::geo::Point::longitude))),
        ("walkthroughLink", text(listing.walkthrough.as_ref())),
    ]
}

#[cfg(test)]
mod tests {
    use portico_domain::ListingId;

    use super::*;

    #[test]
    fn digest_depends_on_salt_and_every_public_field() {
        let listing = |id: &str, city: &str| {
            use portico_domain::{City, Country, PostalCode, State, Street, UserId};
            Listing {
                id: ListingId::stored(id),
                user: UserId::stored("ada"),
                street: Street::stored("12 Oak Street"),
                city: City::stored(city),
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
        };
        let digest = listing_digest(&[1; 32], &listing("a", "Austin"));
        assert_ne!(digest, listing_digest(&[2; 32], &listing("a", "Austin")));
        assert_ne!(digest, listing_digest(&[1; 32], &listing("b", "Austin")));
        assert_ne!(digest, listing_digest(&[1; 32], &listing("a", "Dallas")));
        let mut other_owner = listing("a", "Austin");
        other_owner.user = portico_domain::UserId::stored("grace");
        assert_eq!(digest, listing_digest(&[1; 32], &other_owner));
    }
}
