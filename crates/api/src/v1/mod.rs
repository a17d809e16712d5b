//! The `/v1` surface.

mod applications;
mod audit;
mod bureaus;
mod chain;
mod chain_queue;
mod conditions;
mod configuration;
mod consents;
mod devices;
mod field_changes;
mod identities;
mod keys;
mod listing_clusters;
mod listing_details;
mod listings;
mod notices;
mod portfolios;
mod qualification;
mod sandbox;
mod screening;
mod templates;
mod transactions;
mod users;

use portico_app::Profile;

use crate::operation::Operation;

pub(crate) fn operations(profile: Profile) -> Vec<Operation> {
    [
        portfolios::operations(),
        templates::operations(),
        devices::operations(),
        listings::operations(),
        listing_clusters::operations(),
        listing_details::operations(),
        applications::operations(),
        conditions::operations(),
        qualification::operations(),
        chain::operations(),
        transactions::operations(),
        screening::operations(),
        consents::operations(),
        identities::operations(),
        keys::operations(),
        users::operations(),
        audit::operations(),
        chain_queue::operations(),
        bureaus::operations(),
        configuration::operations(),
        sandbox::operations(profile),
    ]
    .into_iter()
    .flatten()
    .collect()
}
