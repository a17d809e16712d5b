//! The surface without a prefix.

mod applications;
mod listings;
mod pipelines;
mod requirements;

use crate::operation::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    [listings::operations(), pipelines::operations(), requirements::operations(), applications::operations()]
        .into_iter()
        .flatten()
        .collect()
}
