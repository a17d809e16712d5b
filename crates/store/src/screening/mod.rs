//! Screening: cases and their tokens, the checks of a case, results, and what follows from them on the chain.
//!
//! Whatever says something about a person is sealed bytes here; `portico-app` has the keys. A use case hands
//! in what is wanted on the chain together with the rows, so that both change in one transaction.

mod attestations;
mod cases;
mod checks;
mod guesses;
mod people;
mod verifications;

pub(crate) use attestations::intend;
pub use attestations::{Attest, Flags, Intent};
pub use cases::{Case, CaseOf, Mint, NewCase, OpenCase, RevokeIdentity};
pub use checks::{BeginChecks, FinishCheck, NewCheck, StoredCheck};
pub use guesses::{Guess, Guessed, TakeGuess};
pub use people::{AdvanceErasures, ErasePerson, ErasureToApply, ForgetInputs};
pub use verifications::{StoreVerification, StoredVerification};
