//! Screening: cases and their tokens, checks, results, and the chain items that follow from them.
//!
//! Personal data is sealed bytes here; `portico-app` has the keys. Use cases pass chain items together with the rows,
//! so that both change in one transaction.

pub(crate) mod cases;
pub(crate) mod checks;
pub(crate) mod claims;
pub(crate) mod guesses;
pub(crate) mod lifetimes;
pub(crate) mod people;
pub(crate) mod verifications;

pub use cases::{Case, CaseSelector, Mint, NewCase, OpenCase, RevokeIdentity, WishWallet};
pub use checks::{BeginChecks, FinishCheck, NewCheck, StoredCheck};
pub use claims::{BeginClaim, ClaimIdentity, WalletClaim};
pub use guesses::{FinishGuess, Guess, TakeGuess};
pub use lifetimes::Lifetime;
pub use people::{AdvanceErasures, ErasePerson, ForgetAppliedErasures, ForgetInputs};
pub use verifications::{Dispute, StoreVerification, StoredVerification};
