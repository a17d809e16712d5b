//! What can go wrong: opening the file, running the chain, and a transaction that is not taken.

use std::path::PathBuf;

use alloy_primitives::{B256, Bytes, U256};

/// Why a chain could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is open already, most likely in another process.
    #[error("the chain in {} is in use by another process", path.display())]
    Locked { path: PathBuf },
    /// The file is a database of something else.
    #[error("{} is not a chain of this service", path.display())]
    NotAChain { path: PathBuf },
    /// A newer version of this service wrote the file.
    #[error("{} was written by a newer version (format {found})", path.display())]
    Newer { path: PathBuf, found: i64 },
    /// The file holds a chain with another id.
    #[error("{} holds chain {found}, not chain {wanted}", path.display())]
    OtherChain {
        path: PathBuf,
        /// The chain that it holds.
        found: u64,
        /// The chain that was asked for.
        wanted: u64,
    },
    /// The file holds a chain that began otherwise.
    #[error("{} begins with block {found}, not with {wanted}: its genesis is another one", path.display())]
    OtherGenesis {
        path: PathBuf,
        /// The hash of its first block.
        found: B256,
        /// The hash that the genesis asked for gives.
        wanted: B256,
    },
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        /// What the file system said.
        source: std::io::Error,
    },
    /// The database inside could not be read or written.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The chain itself is in trouble: nothing that the caller sent is at fault.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The file could not be read or written. After a failed write it is not known whether the block was
    /// kept: ask for the receipts.
    #[error("the chain's file: {0}")]
    File(#[from] rusqlite::Error),
    /// The file holds something that this crate does not write.
    #[error("the chain's file is damaged: {0}")]
    Corrupt(&'static str),
    /// The machine failed in a way that no transaction may cause.
    #[error("the virtual machine: {0}")]
    Executor(String),
}

impl revm::database_interface::DBErrorMarker for ChainError {}

/// Why a transaction was not taken. Nothing of it is on the chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// This very transaction is on the chain already.
    #[error("already known")]
    AlreadyKnown,
    /// Another transaction has used the nonce.
    #[error("nonce too low: next nonce {next}, tx nonce {given}")]
    NonceTooLow {
        /// The nonce that the sender's next transaction must have.
        next: u64,
        /// The nonce that it has.
        given: u64,
    },
    /// An earlier transaction of the sender is missing. There is no pool in which to wait for it.
    #[error("nonce too high: next nonce {next}, tx nonce {given}")]
    NonceTooHigh {
        /// The nonce that the sender's next transaction must have.
        next: u64,
        /// The nonce that it has.
        given: u64,
    },
    /// The sender cannot pay.
    #[error("insufficient funds for gas * price + value: balance {balance}, tx cost {cost}")]
    Underfunded {
        /// What the sender has.
        balance: U256,
        /// What it could cost at most.
        cost: U256,
    },
    /// It offers less than the base fee.
    #[error("max fee per gas less than block base fee: maxFeePerGas: {offered}, baseFee: {base_fee}")]
    FeeTooLow {
        /// What it offers for a unit of gas.
        offered: u128,
        /// What a unit of gas costs at least.
        base_fee: u64,
    },
    /// It was signed for another chain, or for any chain.
    #[error("invalid chain id for signer: have {} want {wanted}", given.map_or("none".to_owned(), |id| id.to_string()))]
    WrongChainId {
        /// The chain that it was signed for.
        given: Option<u64>,
        wanted: u64,
    },
    /// It asks for more gas than a transaction may have.
    #[error("transaction gas limit too high (cap: {cap}, tx: {given})")]
    GasTooHigh {
        /// What a transaction may have.
        cap: u64,
        /// What it asks for.
        given: u64,
    },
    /// It does not bring the gas that it needs before its first instruction.
    #[error("intrinsic gas too low: have {given}, want {needed}")]
    GasTooLow {
        /// What it needs at least.
        needed: u64,
        given: u64,
    },
    /// The block that is being made has no room left. It may be sent again at once.
    #[error("gas limit reached: the block has no room for it")]
    BlockFull,
    /// It cannot be read, or its signature is not one.
    #[error("malformed transaction: {0}")]
    Malformed(String),
    /// It can be read but breaks another rule.
    #[error("invalid transaction: {0}")]
    Invalid(String),
}

/// Why a call gave no result.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The contract reverted, with these data.
    #[error("execution reverted{}", reason(.0).map(|reason| format!(": {reason}")).unwrap_or_default())]
    Reverted(Bytes),
    /// The machine stopped it: no gas left, a wrong instruction, and the like.
    #[error("execution halted: {0}")]
    Halted(String),
    /// The call could not even begin.
    #[error("{0}")]
    Refused(Refused),
    /// The chain is in trouble.
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The text of a Solidity `revert("…")`, if that is what the data hold.
pub(crate) fn reason(data: &[u8]) -> Option<String> {
    /// The selector of `Error(string)`.
    const SELECTOR: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];
    let body = data.strip_prefix(&SELECTOR)?;
    let length: usize = U256::from_be_slice(body.get(32..64)?).try_into().ok()?;
    let text = body.get(64..)?.get(..length)?;
    Some(String::from_utf8_lossy(text).into_owned())
}
