//! Item kinds with their contracts, and the contracts' addresses.

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolValue;
use portico_store::chain::{NO_BATCH_LIMIT, Word};

use crate::{Error, Result};

/// Each kind has its own contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ItemKind {
    /// Terms and digest.
    Listing,
    /// A soulbound token.
    Identity,
    /// An application's flags.
    Check,
    /// The head of the audit log.
    Anchor,
}

impl ItemKind {
    /// In deployment order.
    pub const ALL: [Self; 4] = [Self::Listing, Self::Identity, Self::Check, Self::Anchor];

    /// In the database.
    pub const fn number(self) -> i64 {
        match self {
            Self::Listing => 0,
            Self::Identity => 1,
            Self::Check => 2,
            Self::Anchor => 3,
        }
    }

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

    /// The highest gas use of one item in a batch, with a reserve; never estimated.
    pub fn gas_per_item(self) -> u64 {
        match self {
            Self::Listing => 55_000,
            Self::Identity => 110_000,
            Self::Check => 32_000,
            Self::Anchor => 52_000,
        }
    }

    /// The maximum of items per transaction. 1 for checks, so that a transaction cannot link two applications of one
    /// person.
    pub(crate) fn batch_limit(self) -> i64 {
        match self {
            Self::Check => 1,
            Self::Listing | Self::Identity | Self::Anchor => NO_BATCH_LIMIT,
        }
    }

    /// Whether an end on the chain outlives what an older copy of the database says. A listing's does not: the database
    /// has the listing.
    pub(crate) fn ends_for_good(self) -> bool {
        match self {
            Self::Identity | Self::Check => true,
            Self::Listing | Self::Anchor => false,
        }
    }

    /// The number of a token, from its key.
    pub(crate) fn token_of(self, key: &Word) -> Option<[u8; 16]> {
        (self == Self::Identity).then(|| key[16..].try_into().ok()).flatten()
    }

    fn artefact(self) -> &'static str {
        match self {
            Self::Listing => include_str!("../../../../contracts/artifacts/ListingRegistry.json"),
            Self::Identity => include_str!("../../../../contracts/artifacts/IdentityToken.json"),
            Self::Check => include_str!("../../../../contracts/artifacts/ApplicationChecks.json"),
            Self::Anchor => include_str!("../../../../contracts/artifacts/AuditAnchor.json"),
        }
    }

    fn code_of(self, field: &str) -> Result<Bytes> {
        let wrong = |why: &str| Error::Bug(format!("the artefact of {} is wrong: {why}", self.contract()));
        let artefact: serde_json::Value =
            serde_json::from_str(self.artefact()).map_err(|error| wrong(&error.to_string()))?;
        let code = artefact[field].as_str().ok_or_else(|| wrong(field))?;
        code.parse().map_err(|_| wrong(field))
    }

    /// The runtime code.
    pub fn deployed_code(self) -> Result<Bytes> {
        self.code_of("deployedBytecode")
    }

    /// The deployment transaction's data.
    pub fn deployment(self, owner: Address, recorders: &[Address]) -> Result<Bytes> {
        let mut data = self.code_of("bytecode")?.to_vec();
        data.extend((owner, recorders.to_vec()).abi_encode_params());
        Ok(data.into())
    }
}

/// In the order of [`ItemKind::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contracts(pub [Address; 4]);

impl Contracts {
    pub fn of(&self, kind: ItemKind) -> Address {
        match kind {
            ItemKind::Listing => self.0[0],
            ItemKind::Identity => self.0[1],
            ItemKind::Check => self.0[2],
            ItemKind::Anchor => self.0[3],
        }
    }

    pub fn kind_at(&self, address: Address) -> Option<ItemKind> {
        ItemKind::ALL.into_iter().find(|kind| self.of(*kind) == address)
    }
}
