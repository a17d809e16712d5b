//! The `/stage` surface: stored records with typed attributes, for programs with an API key.

mod listings;
mod saved;

use crate::operation::Operation;

pub(crate) fn operations() -> Vec<Operation> {
    let mut all = listings::operations();
    all.extend(saved::operations());
    all
}
