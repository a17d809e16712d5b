//! The surface under `/v1`.

mod devices;
mod keys;
mod listings;
mod portfolios;
mod templates;

use portico_app::Profile;

use crate::operation::Operation;

pub(crate) fn operations(profile: Profile) -> Vec<Operation> {
    [
        portfolios::operations(),
        templates::operations(),
        devices::operations(),
        listings::operations(),
        keys::operations(profile),
    ]
    .into_iter()
    .flatten()
    .collect()
}
