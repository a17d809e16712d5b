//! The contracts, as this program speaks to them: their interface, their code, and the items that go in.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::{SolCall, SolEvent, SolValue, sol};
use portico_domain::chain::{Passes, Terms};
use portico_domain::listings::Listing;
use portico_domain::{Credit, Income, ListingId, Timestamp};
use portico_store::chain::{DesiredItem, ItemVersion, Versioned, Word};

use crate::{Error, Result};

/// The listing registry, as `contracts/src/IListingRegistry.sol` describes it.
pub mod registry {
    alloy_sol_types::sol! {
        #[derive(Debug, PartialEq, Eq)]
        struct Item {
            bytes32 key;
            uint64 version;
            bool retired;
            uint16 minCredit;
            uint16 prefCredit;
            uint64 minIncome;
            uint64 prefIncome;
            bytes32 digest;
        }
        #[derive(Debug, PartialEq, Eq)]
        struct Record {
            uint64 version;
            bool retired;
            uint16 minCredit;
            uint16 prefCredit;
            uint64 minIncome;
            uint64 prefIncome;
            bytes32 digest;
        }
        function record(Item[] items);
        function requirementsOf(bytes32 key) returns (uint16 minCredit, uint16 prefCredit, uint64 minIncome, uint64 prefIncome);
        function recordOf(bytes32 key) returns (Record);
        function recordsOf(bytes32[] keys) returns (Record[]);
        error UnknownListing(bytes32 key);
    }
}

/// The identity token, as `contracts/src/IIdentityToken.sol` describes it.
pub mod identity {
    alloy_sol_types::sol! {
        #[derive(Debug, PartialEq, Eq)]
        struct Item { uint256 tokenId; uint64 version; bool revoked; address holder; bytes32 commitment; }
        #[derive(Debug, PartialEq, Eq)]
        struct Identity { uint64 version; bool revoked; address holder; bytes32 commitment; }
        function record(Item[] items);
        function identityOf(uint256 tokenId) returns (Identity);
        function identitiesOf(uint256[] tokenIds) returns (Identity[]);
    }
}

/// The application checks, as `contracts/src/IApplicationChecks.sol` describes them.
pub mod checks {
    alloy_sol_types::sol! {
        #[derive(Debug, PartialEq, Eq)]
        struct Item { bytes32 listing; bytes32 applicant; uint64 version; bool cleared; uint8 flags; }
        #[derive(Debug, PartialEq, Eq)]
        struct Record { uint64 version; bool cleared; uint8 flags; }
        #[derive(Debug, PartialEq, Eq)]
        struct Pair { bytes32 listing; bytes32 applicant; }
        function record(Item[] items);
        function recordOf(bytes32 listing, bytes32 applicant) returns (Record);
        function recordsOf(Pair[] pairs) returns (Record[]);
    }
}

/// The anchor of the audit log, as `contracts/src/IAuditAnchor.sol` describes it.
pub mod anchor {
    alloy_sol_types::sol! {
        #[derive(Debug, PartialEq, Eq)]
        struct Item { bytes32 log; uint64 version; bytes32 head; }
        #[derive(Debug, PartialEq, Eq)]
        struct Anchor { uint64 version; bytes32 head; }
        function record(Item[] items);
        function anchorOf(bytes32 log) returns (Anchor);
        function anchorsOf(bytes32[] logs) returns (Anchor[]);
    }
}

sol! {
    /// What every contract says of an item that it cannot take.
    event Rejected(bytes32 indexed key, uint64 version, uint8 reason);
}

/// What kind of thing an item is; each kind has its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// A listing's terms and digest.
    Listing,
    /// A person's soulbound token.
    Identity,
    /// The flags of an application.
    Check,
    /// The head of the audit log.
    Anchor,
}

impl Kind {
    /// All of them, in the order in which their contracts are deployed.
    pub const ALL: [Self; 4] = [Self::Listing, Self::Identity, Self::Check, Self::Anchor];

    /// Its number in the database.
    pub fn number(self) -> i64 {
        match self {
            Self::Listing => 0,
            Self::Identity => 1,
            Self::Check => 2,
            Self::Anchor => 3,
        }
    }

    /// The kind of a number.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.number() == number)
    }

    pub fn contract(self) -> &'static str {
        match self {
            Self::Listing => "ListingRegistry",
            Self::Identity => "IdentityToken",
            Self::Check => "ApplicationChecks",
            Self::Anchor => "AuditAnchor",
        }
    }

    /// The most gas that one item of the kind takes in a batch, with a reserve; never estimated.
    pub fn gas_per_item(self) -> u64 {
        match self {
            Self::Listing => 55_000,
            Self::Identity => 110_000,
            Self::Check => 32_000,
            Self::Anchor => 52_000,
        }
    }

    fn artefact(self) -> &'static str {
        match self {
            Self::Listing => include_str!("../../../contracts/artifacts/ListingRegistry.json"),
            Self::Identity => include_str!("../../../contracts/artifacts/IdentityToken.json"),
            Self::Check => include_str!("../../../contracts/artifacts/ApplicationChecks.json"),
            Self::Anchor => include_str!("../../../contracts/artifacts/AuditAnchor.json"),
        }
    }

    fn code_of(self, field: &str) -> Result<Bytes> {
        let wrong = |why: &str| Error::Bug(format!("the artefact of {} is wrong: {why}", self.contract()));
        let artefact: serde_json::Value =
            serde_json::from_str(self.artefact()).map_err(|error| wrong(&error.to_string()))?;
        let code = artefact[field].as_str().ok_or_else(|| wrong(field))?;
        code.parse().map_err(|_| wrong(field))
    }

    /// The code that stands at the contract's address.
    pub fn deployed_code(self) -> Result<Bytes> {
        self.code_of("deployedBytecode")
    }

    /// The data of the transaction that deploys the contract.
    pub fn deployment(self, owner: Address, recorders: &[Address]) -> Result<Bytes> {
        let mut data = self.code_of("bytecode")?.to_vec();
        data.extend((owner, recorders.to_vec()).abi_encode_params());
        Ok(data.into())
    }
}

/// Where the contracts are, in the order of [`Kind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contracts(pub [Address; 4]);

impl Contracts {
    pub fn of(&self, kind: Kind) -> Address {
        match kind {
            Kind::Listing => self.0[0],
            Kind::Identity => self.0[1],
            Kind::Check => self.0[2],
            Kind::Anchor => self.0[3],
        }
    }

    /// The kind of a contract.
    pub fn kind_at(&self, address: Address) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| self.of(*kind) == address)
    }
}

/// By what the chain knows a listing.
pub fn listing_key(id: &ListingId) -> Word {
    keccak256(id.as_str()).0
}

/// By what the chain knows the flags of an applicant (a random reference) for a listing.
pub fn check_key(listing: &Word, applicant: &Word) -> Word {
    keccak256((B256::from(*listing), B256::from(*applicant)).abi_encode()).0
}

/// What is wanted on the chain of the flags of an application that has ended.
pub fn cleared_check(listing: &ListingId, applicant: &Word, at: Timestamp) -> DesiredItem {
    let listing = listing_key(listing);
    let content = Content::Check { listing, applicant: *applicant, passes: None };
    content.wanted(check_key(&listing, applicant), at)
}

/// By what the chain knows a token: its number.
pub fn token_key(token: &[u8; 16]) -> Word {
    let mut key = Word::default();
    key[16..].copy_from_slice(token);
    key
}

/// The digest of a listing's public content under a salt: anyone who is given both can compute it with
/// `cast keccak $(cast abi-encode "f(bytes32,string,string,…)" …)`.
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

/// What a listing's digest covers, in its order: everything public that was recorded, and not its owner.
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

/// What an item says. In the database it is a few bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// A listing's terms and the digest of its content.
    Listing {
        /// What it asks for.
        terms: Terms,
        digest: Word,
    },
    /// A listing that is gone.
    RetiredListing,
    Identity {
        holder: Address,
        /// The commitment to the name; zero while nothing is verified.
        commitment: Word,
    },
    /// A token that is gone.
    RevokedIdentity,
    /// The flags of an application; none: they are cleared.
    Check { listing: Word, applicant: Word, passes: Option<Passes> },
    /// The head of the audit log.
    Anchor { head: Word },
}

impl Content {
    /// The kind of the item.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Listing { .. } | Self::RetiredListing => Kind::Listing,
            Self::Identity { .. } | Self::RevokedIdentity => Kind::Identity,
            Self::Check { .. } => Kind::Check,
            Self::Anchor { .. } => Kind::Anchor,
        }
    }

    /// Whether the item is to be gone.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::RetiredListing | Self::RevokedIdentity | Self::Check { passes: None, .. })
    }

    /// What the database is told to want of a key.
    pub fn wanted(&self, key: Word, at: Timestamp) -> DesiredItem {
        let (kind, payload, gone) = (self.kind().number(), self.encode(), self.is_gone());
        DesiredItem { kind, key, payload, gone, salt: None, above: 0, at }
    }

    /// The bytes that are kept in the database.
    pub fn encode(&self) -> Vec<u8> {
        match self {
            Self::RetiredListing | Self::RevokedIdentity => Vec::new(),
            Self::Listing { terms, digest } => {
                let numbers = [
                    terms.min_credit().units(),
                    terms.pref_credit().units(),
                    terms.min_income().units(),
                    terms.pref_income().units(),
                ];
                let mut bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
                bytes.extend(digest);
                bytes
            }
            Self::Identity { holder, commitment } => [holder.as_slice(), commitment].concat(),
            Self::Check { listing, applicant, passes } => {
                let mut bytes = [*listing, *applicant].concat();
                bytes.extend(passes.map(Passes::bits));
                bytes
            }
            Self::Anchor { head } => head.to_vec(),
        }
    }

    /// Reads what [`encode`](Self::encode) has written.
    pub fn decode(kind: Kind, bytes: &[u8]) -> Result<Self> {
        let wrong = || Error::Bug(format!("an item of {} is {} bytes long", kind.contract(), bytes.len()));
        let word = |at: usize| -> Result<Word> {
            bytes.get(at..at + 32).and_then(|word| word.try_into().ok()).ok_or_else(wrong)
        };
        let number = |at: usize| -> Result<i64> {
            let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
            eight.map(i64::from_be_bytes).ok_or_else(wrong)
        };
        Ok(match (kind, bytes.len()) {
            (Kind::Listing, 0) => Self::RetiredListing,
            (Kind::Listing, 64) => {
                let credit = |at| number(at).map(|points| Some(Credit::from_units(points)));
                let income = |at| number(at).map(|cents| Some(Income::from_units(cents)));
                let terms = Terms::new((credit(0)?, credit(8)?), (income(16)?, income(24)?));
                Self::Listing { terms: terms.map_err(|_| wrong())?, digest: word(32)? }
            }
            (Kind::Identity, 0) => Self::RevokedIdentity,
            (Kind::Identity, 52) => {
                Self::Identity { holder: Address::from_slice(&bytes[..20]), commitment: word(20)? }
            }
            (Kind::Check, 64 | 65) => Self::Check {
                listing: word(0)?,
                applicant: word(32)?,
                passes: bytes.get(64).map(|bits| Passes::from_bits(*bits)),
            },
            (Kind::Anchor, 32) => Self::Anchor { head: word(0)? },
            _ => return Err(wrong()),
        })
    }
}

fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}

fn points(credit: Credit) -> u16 {
    u16::try_from(credit.units()).unwrap_or(u16::MAX)
}

fn listing_item(item: &Versioned) -> Result<registry::Item> {
    let (key, version) = (item.key.into(), unsigned(item.version));
    Ok(match Content::decode(Kind::Listing, &item.payload)? {
        Content::Listing { terms, digest } => registry::Item {
            key,
            version,
            retired: false,
            minCredit: points(terms.min_credit()),
            prefCredit: points(terms.pref_credit()),
            minIncome: unsigned(terms.min_income().units()),
            prefIncome: unsigned(terms.pref_income().units()),
            digest: digest.into(),
        },
        _ => registry::Item {
            key,
            version,
            retired: true,
            minCredit: 0,
            prefCredit: 0,
            minIncome: 0,
            prefIncome: 0,
            digest: B256::ZERO,
        },
    })
}

fn identity_item(item: &Versioned) -> Result<identity::Item> {
    let (revoked, holder, commitment) = match Content::decode(Kind::Identity, &item.payload)? {
        Content::Identity { holder, commitment } => (false, holder, commitment.into()),
        _ => (true, Address::ZERO, B256::ZERO),
    };
    let token_id = U256::from_be_bytes(item.key);
    Ok(identity::Item { tokenId: token_id, version: unsigned(item.version), revoked, holder, commitment })
}

fn check_item(item: &Versioned) -> Result<checks::Item> {
    match Content::decode(Kind::Check, &item.payload)? {
        Content::Check { listing, applicant, passes } => Ok(checks::Item {
            listing: listing.into(),
            applicant: applicant.into(),
            version: unsigned(item.version),
            cleared: passes.is_none(),
            flags: passes.map_or(0, Passes::bits),
        }),
        _ => Err(Error::Bug("a check that is none".into())),
    }
}

fn anchor_item(item: &Versioned) -> Result<anchor::Item> {
    match Content::decode(Kind::Anchor, &item.payload)? {
        Content::Anchor { head } => {
            Ok(anchor::Item { log: item.key.into(), version: unsigned(item.version), head: head.into() })
        }
        _ => Err(Error::Bug("an anchor that is none".into())),
    }
}

/// The call that records items of a kind.
pub fn calldata(kind: Kind, items: &[Versioned]) -> Result<Bytes> {
    Ok(match kind {
        Kind::Listing => {
            let items = items.iter().map(listing_item).collect::<Result<_>>()?;
            registry::recordCall { items }.abi_encode()
        }
        Kind::Identity => {
            let items = items.iter().map(identity_item).collect::<Result<_>>()?;
            identity::recordCall { items }.abi_encode()
        }
        Kind::Check => {
            let items = items.iter().map(check_item).collect::<Result<_>>()?;
            checks::recordCall { items }.abi_encode()
        }
        Kind::Anchor => {
            let items = items.iter().map(anchor_item).collect::<Result<_>>()?;
            anchor::recordCall { items }.abi_encode()
        }
    }
    .into())
}

/// Which items a call carries.
pub fn carried(kind: Kind, data: &[u8]) -> Result<Vec<ItemVersion>> {
    let wrong = |error: alloy_sol_types::Error| Error::Bug(format!("a call of ours cannot be read: {error}"));
    let drawn = |key: Word, version: u64| ItemVersion {
        kind: kind.number(),
        key,
        version: i64::try_from(version).unwrap_or(i64::MAX),
    };
    Ok(match kind {
        Kind::Listing => {
            let call = registry::recordCall::abi_decode(data).map_err(wrong)?;
            call.items.iter().map(|item| drawn(item.key.0, item.version)).collect()
        }
        Kind::Identity => {
            let call = identity::recordCall::abi_decode(data).map_err(wrong)?;
            call.items.iter().map(|item| drawn(item.tokenId.to_be_bytes(), item.version)).collect()
        }
        Kind::Check => {
            let call = checks::recordCall::abi_decode(data).map_err(wrong)?;
            let key = |item: &checks::Item| check_key(&item.listing.0, &item.applicant.0);
            call.items.iter().map(|item| drawn(key(item), item.version)).collect()
        }
        Kind::Anchor => {
            let call = anchor::recordCall::abi_decode(data).map_err(wrong)?;
            call.items.iter().map(|item| drawn(item.log.0, item.version)).collect()
        }
    })
}

/// The item that a log says was refused.
pub fn rejected(kind: Kind, topics: &[B256], data: &[u8]) -> Option<ItemVersion> {
    let log = Rejected::decode_raw_log(topics.iter().copied(), data).ok()?;
    let version = i64::try_from(log.version).unwrap_or(i64::MAX);
    Some(ItemVersion { kind: kind.number(), key: log.key.0, version })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms() -> Terms {
        let credit = (Some(Credit::from_units(620)), Some(Credit::from_units(700)));
        Terms::new(credit, (Some(Income::from_units(4_000_050)), None)).unwrap()
    }

    fn one_of_each() -> Vec<Content> {
        vec![
            Content::Listing { terms: terms(), digest: [7; 32] },
            Content::RetiredListing,
            Content::Identity { holder: Address::repeat_byte(3), commitment: [9; 32] },
            Content::RevokedIdentity,
            Content::Check { listing: [1; 32], applicant: [2; 32], passes: Some(Passes::from_bits(5)) },
            Content::Check { listing: [1; 32], applicant: [2; 32], passes: None },
            Content::Anchor { head: [4; 32] },
        ]
    }

    #[test]
    fn every_content_survives_the_database() {
        for content in one_of_each() {
            assert_eq!(Content::decode(content.kind(), &content.encode()).unwrap(), content);
        }
    }

    #[test]
    fn a_call_tells_which_items_it_carries() {
        for content in one_of_each() {
            let key = match content {
                Content::Check { listing, applicant, .. } => check_key(&listing, &applicant),
                _ => [5; 32],
            };
            let item = Versioned { key, version: 3, payload: content.encode() };
            let data = calldata(content.kind(), &[item]).unwrap();
            let drawn = ItemVersion { kind: content.kind().number(), key, version: 3 };
            assert_eq!(carried(content.kind(), &data).unwrap(), [drawn]);
        }
    }

    #[test]
    fn the_functions_called_are_those_of_the_compiled_contracts() {
        type Functions = &'static [(&'static str, [u8; 4])];
        let selectors: [(Kind, Functions); 4] = [
            (
                Kind::Listing,
                &[
                    ("record", registry::recordCall::SELECTOR),
                    ("requirementsOf", registry::requirementsOfCall::SELECTOR),
                    ("recordOf", registry::recordOfCall::SELECTOR),
                    ("recordsOf", registry::recordsOfCall::SELECTOR),
                ],
            ),
            (
                Kind::Identity,
                &[
                    ("record", identity::recordCall::SELECTOR),
                    ("identityOf", identity::identityOfCall::SELECTOR),
                    ("identitiesOf", identity::identitiesOfCall::SELECTOR),
                ],
            ),
            (
                Kind::Check,
                &[
                    ("record", checks::recordCall::SELECTOR),
                    ("recordOf", checks::recordOfCall::SELECTOR),
                    ("recordsOf", checks::recordsOfCall::SELECTOR),
                ],
            ),
            (
                Kind::Anchor,
                &[
                    ("record", anchor::recordCall::SELECTOR),
                    ("anchorOf", anchor::anchorOfCall::SELECTOR),
                    ("anchorsOf", anchor::anchorsOfCall::SELECTOR),
                ],
            ),
        ];
        for (kind, functions) in selectors {
            let artefact: serde_json::Value = serde_json::from_str(kind.artefact()).unwrap();
            for (name, selector) in functions {
                let signature = signature(&artefact["abi"], name);
                assert_eq!(keccak256(&signature)[..4], *selector, "{signature}");
            }
        }
    }

    /// The canonical signature of a function or event in an ABI.
    fn signature(abi: &serde_json::Value, name: &str) -> String {
        fn kind(input: &serde_json::Value) -> String {
            let text = input["type"].as_str().unwrap();
            match text.strip_prefix("tuple") {
                None => text.to_owned(),
                Some(array) => {
                    let parts: Vec<String> =
                        input["components"].as_array().unwrap().iter().map(kind).collect();
                    format!("({}){array}", parts.join(","))
                }
            }
        }
        let entry = abi.as_array().unwrap().iter().find(|entry| entry["name"] == name).unwrap();
        let inputs: Vec<String> = entry["inputs"].as_array().unwrap().iter().map(kind).collect();
        format!("{name}({})", inputs.join(","))
    }

    #[test]
    fn a_refusal_is_read_from_the_event_of_the_compiled_contracts() {
        for kind in Kind::ALL {
            let artefact: serde_json::Value = serde_json::from_str(kind.artefact()).unwrap();
            let topic = keccak256(signature(&artefact["abi"], "Rejected"));
            assert_eq!(topic, Rejected::SIGNATURE_HASH, "{}", kind.contract());
            let data = (3_u64, U256::from(1)).abi_encode();
            let drawn = ItemVersion { kind: kind.number(), key: [8; 32], version: 3 };
            assert_eq!(rejected(kind, &[topic, B256::repeat_byte(8)], &data), Some(drawn));
        }
    }

    #[test]
    fn a_digest_changes_with_the_salt_and_with_every_public_field() {
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
