//! Screening: cases and their tokens, checks, results, and the chain items that follow from them.
//!
//! Personal data is sealed bytes here; `portico-app` has the keys. Use cases pass chain items together with the rows,
//! so that both change in one transaction.

mod attestations;
mod cases;
mod checks;
mod guesses;
mod people;
mod verifications;

pub use attestations::{Attest, Flags, Intent};
pub(crate) use attestations::{add_intent, add_intents_of_listing};
pub use cases::{Case, CaseSelector, Mint, NewCase, OpenCase, RevokeIdentity};
pub use checks::{BeginChecks, FinishCheck, NewCheck, StoredCheck};
pub use guesses::{Guess, Guessed, TakeGuess};
pub use people::{AdvanceErasures, ErasePerson, ErasureToApply, ForgetInputs};
pub use verifications::{StoreVerification, StoredVerification};
