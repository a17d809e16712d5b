//! What became of a transaction, ours or foreign.

use alloy_primitives::{Address, Bytes};
use portico_chain::node::{NodeTransaction, Receipt};
use portico_records::ItemKind;
use portico_store::chain::{BatchStatus, StoredAttempt, Word};

#[derive(Debug)]
pub struct TracedTransaction {
    pub status: TransactionStatus,
    pub from: Address,
    pub nonce: u64,
    pub block: Option<u64>,
    /// Kind and number of its items, if it is one of ours.
    pub items: Option<(ItemKind, i64)>,
}

/// A transaction as the node has it.
#[derive(Debug)]
pub struct TransactionContent {
    /// `None`: it deploys a contract.
    pub to: Option<Address>,
    pub input: Bytes,
}

/// A transaction with all that is known of it.
#[derive(Debug)]
pub struct TransactionDetails {
    pub traced: TracedTransaction,
    /// `None`: the node does not have it, or does not answer.
    pub content: Option<TransactionContent>,
    /// `None`: it is not in a block, or the node does not answer.
    pub receipt: Option<Receipt>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransactionStatus {
    Pending,
    Mined,
    Replaced(Option<Word>),
    /// It reverted.
    Failed,
}

/// What became of one of our transactions, according to the database, and to its receipt while that is newer.
pub(crate) fn attempt_status(
    attempt: &StoredAttempt,
    hash: Word,
    receipt: Option<&Receipt>,
) -> TracedTransaction {
    let status = match (attempt.status, attempt.mined) {
        (BatchStatus::Signed, _) => match receipt {
            Some(receipt) => outcome(receipt),
            None if attempt.newest != hash => TransactionStatus::Replaced(Some(attempt.newest)),
            None => TransactionStatus::Pending,
        },
        (BatchStatus::Mined | BatchStatus::Final | BatchStatus::Reverted, Some(mined)) if mined != hash => {
            TransactionStatus::Replaced(Some(mined))
        }
        (BatchStatus::Mined | BatchStatus::Final, _) => TransactionStatus::Mined,
        (BatchStatus::Reverted, _) => TransactionStatus::Failed,
        (BatchStatus::Foreign, _) => TransactionStatus::Replaced(None),
    };
    let is_newer = attempt.status == BatchStatus::Signed;
    let block = receipt.filter(|_| is_newer).map(|receipt| receipt.block);
    TracedTransaction {
        status,
        from: Address::from(attempt.signer),
        nonce: attempt.nonce.unsigned_abs(),
        block: block.or(attempt.block.map(i64::unsigned_abs)),
        items: attempt.kind.map(|kind| (kind, attempt.items)),
    }
}

pub(crate) fn trace_foreign(found: &NodeTransaction, receipt: Option<&Receipt>) -> TracedTransaction {
    TracedTransaction {
        status: receipt.map_or(TransactionStatus::Pending, outcome),
        from: found.from,
        nonce: found.nonce,
        block: found.block,
        items: None,
    }
}

fn outcome(receipt: &Receipt) -> TransactionStatus {
    if receipt.success { TransactionStatus::Mined } else { TransactionStatus::Failed }
}
