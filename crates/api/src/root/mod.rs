//! The surface without a prefix.

pub(crate) mod applications;
mod identities;
pub(crate) mod listings;
mod pipelines;
mod requirements;
mod verifications;

use crate::operation::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    [
        listings::operations(),
        pipelines::operations(),
        identities::operations(),
        verifications::operations(),
        requirements::operations(),
        applications::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
