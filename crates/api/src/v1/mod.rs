//! The `/v1` surface.

mod applications;
mod chain;
mod consents;
mod devices;
mod identities;
mod keys;
mod listing_details;
mod listings;
mod notices;
mod portfolios;
mod sandbox;
mod screening;
mod templates;

use portico_app::Profile;

use crate::operation::Operation;

pub(crate) fn operations(profile: Profile) -> Vec<Operation> {
    [
        portfolios::operations(),
        templates::operations(),
        devices::operations(),
        listings::operations(),
        listing_details::operations(),
        applications::operations(),
        chain::operations(),
        screening::operations(),
        consents::operations(),
        identities::operations(),
        keys::operations(),
        sandbox::operations(profile),
    ]
    .into_iter()
    .flatten()
    .collect()
}
