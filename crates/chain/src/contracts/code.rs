//! The contracts' code and addresses.

use alloy_primitives::{Address, Bytes};
use alloy_sol_types::SolValue;
use portico_records::ItemKind;

use crate::{Error, Result};

fn artefact(kind: ItemKind) -> &'static str {
    match kind {
        ItemKind::Listing => include_str!("../../../../contracts/artifacts/ListingRegistry.json"),
        ItemKind::Identity => include_str!("../../../../contracts/artifacts/IdentityToken.json"),
        ItemKind::Check => include_str!("../../../../contracts/artifacts/ApplicationChecks.json"),
        ItemKind::Anchor => include_str!("../../../../contracts/artifacts/AuditAnchor.json"),
    }
}

fn code_of(kind: ItemKind, field: &str) -> Result<Bytes> {
    let wrong = |why: &str| Error::Bug(format!("the artefact of {} is wrong: {why}", kind.contract()));
    let artefact: serde_json::Value =
        serde_json::from_str(artefact(kind)).map_err(|error| wrong(&error.to_string()))?;
    let code = artefact[field].as_str().ok_or_else(|| wrong(field))?;
    code.parse().map_err(|_| wrong(field))
}

/// The runtime code.
pub fn deployed_code(kind: ItemKind) -> Result<Bytes> {
    code_of(kind, "deployedBytecode")
}

/// The deployment transaction's data.
pub fn deployment(kind: ItemKind, owner: Address, recorders: &[Address]) -> Result<Bytes> {
    let mut data = code_of(kind, "bytecode")?.to_vec();
    data.extend((owner, recorders.to_vec()).abi_encode_params());
    Ok(data.into())
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
