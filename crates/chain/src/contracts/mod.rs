//! The contracts: their interfaces, their code, and the calls that record items.

mod calls;
mod code;

pub(crate) use calls::written;
pub use calls::{calldata, items_in_call, rejected, stale};
pub use code::{Contracts, deployed_code, deployment};
pub use portico_records::ItemKind;

pub mod registry {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        ListingRegistry,
        "../../contracts/artifacts/ListingRegistry.json"
    );
    pub use IListingRegistry::{Item, Record};
    pub use ListingRegistry::*;
}

pub mod identity {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        IdentityToken,
        "../../contracts/artifacts/IdentityToken.json"
    );
    pub use IIdentityToken::{Identity, Item};
    pub use IdentityToken::*;
}

pub mod checks {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        ApplicationChecks,
        "../../contracts/artifacts/ApplicationChecks.json"
    );
    pub use ApplicationChecks::*;
    pub use IApplicationChecks::{Item, Record};
}

pub mod anchor {
    alloy_sol_types::sol!(
        #[derive(Debug, PartialEq, Eq)]
        AuditAnchor,
        "../../contracts/artifacts/AuditAnchor.json"
    );
    pub use AuditAnchor::*;
    pub use IAuditAnchor::{Anchor, Item};
}
