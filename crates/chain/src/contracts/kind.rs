//! The kinds of items, each with its contract, and where the contracts are.

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolValue;

use crate::{Error, Result};

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
