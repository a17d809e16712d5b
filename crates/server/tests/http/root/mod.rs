//! The surface without a prefix.

mod applications;
mod listings;
mod pipelines;
mod requirements;
