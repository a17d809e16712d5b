//! Items for the chain, the leases to sign them, and the progress of signed transactions.
//!
//! Calldata, hashes and receipts are opaque bytes here; `portico-chain` interprets them. An item is the desired state
//! of one key, with an increasing version; a batch is one contract call at one nonce of one signer; an attempt is one
//! signed transaction for a batch.

pub(crate) mod batches;
pub(crate) mod history;
pub(crate) mod items;
pub(crate) mod queue;
pub(crate) mod record;
pub(crate) mod signers;
pub(crate) mod signing;
pub(crate) mod state;

pub use crate::engine::word::Word;
pub use batches::{
    BatchStatus, BatchUpdate, CloseBatches, FillNonce, Payers, ReplaceAttempt, Requeue, SignedBatch,
};
pub use history::BatchTransaction;
pub use items::{
    AdoptEnds, EndUnknownItems, EndedItem, ItemVersion, PutItems, PutItemsAgain, RaiseVersions, RejectItems,
    RetireItems, RetryItems,
};
pub use queue::{QueuedBatch, RejectedItem, WaitingItems};
pub use record::{AcceptedListing, NewRecord, QueueRecord, RecordListings, Recorded, Refusal, SealWaiting};
pub use signers::{
    AdoptChain, ChainIdentity, Heartbeat, Lease, RaiseNonce, ReleaseLease, SignerRow, TakeLease,
};
pub use signing::{Address, Sign, SignedTransaction, Signer, VersionedItem};
pub use state::{Backlog, ItemStatus, ListedItem, OpenBatch, StoredAttempt, StoredItem};
