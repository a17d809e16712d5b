//! The surface without a prefix.

mod applications;
mod attestations;
mod identities;
mod listings;
mod pipelines;
mod requirements;
mod verifications;
