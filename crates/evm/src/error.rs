//! Errors of opening the file, of the chain itself, and of transactions and calls.

use std::path::PathBuf;

use alloy_primitives::{B256, Bytes, U256};

#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the chain in {} is in use by another process", path.display())]
    Locked { path: PathBuf },
    #[error("{} is not a chain of this service", path.display())]
    NotAChain { path: PathBuf },
    #[error(
        "{} was made by another version of portico, and cannot be upgraded: start with an empty --data folder, or use the \
         portico that made it",
        path.display()
    )]
    OtherFormat { path: PathBuf },
    #[error("{} holds chain {found}, not chain {wanted}", path.display())]
    OtherChain { path: PathBuf, found: u64, wanted: u64 },
    #[error("{} begins with block {found}, not with {wanted}: its genesis is another one", path.display())]
    OtherGenesis { path: PathBuf, found: B256, wanted: B256 },
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The chain itself failed, through no fault of the caller.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// After a failed write it is unknown whether the block is stored: ask for the receipts.
    #[error("the chain's file: {0}")]
    File(#[from] rusqlite::Error),
    #[error("the chain's file is damaged: {0}")]
    Corrupt(&'static str),
    /// The EVM failed in a way that no transaction can cause.
    #[error("the virtual machine: {0}")]
    Executor(String),
}

impl revm::database_interface::DBErrorMarker for ChainError {}

/// Why a transaction was refused. It has no effect on the chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    #[error("already known")]
    AlreadyKnown,
    #[error("nonce too low: next nonce {next}, tx nonce {given}")]
    NonceTooLow { next: u64, given: u64 },
    /// There is no mempool in which the transaction could wait.
    #[error("nonce too high: next nonce {next}, tx nonce {given}")]
    NonceTooHigh { next: u64, given: u64 },
    /// `cost` is the maximum: gas limit * max fee + value.
    #[error("insufficient funds for gas * price + value: balance {balance}, tx cost {cost}")]
    Underfunded { balance: U256, cost: U256 },
    #[error("max fee per gas less than block base fee: maxFeePerGas: {offered}, baseFee: {base_fee}")]
    FeeTooLow { offered: u128, base_fee: u64 },
    /// `given` is `None` for a signature without a chain id, which is valid on any chain.
    #[error("invalid chain id for signer: have {} want {wanted}", given.map_or("none".to_owned(), |id| id.to_string()))]
    WrongChainId { given: Option<u64>, wanted: u64 },
    #[error("transaction gas limit too high (cap: {cap}, tx: {given})")]
    GasTooHigh { cap: u64, given: u64 },
    #[error("intrinsic gas too low: have {given}, want {needed}")]
    GasTooLow { needed: u64, given: u64 },
    /// The transaction can be sent again at once, for the next block.
    #[error("gas limit reached: the block has no room for it")]
    BlockFull,
    /// It cannot be decoded, or its signature is invalid.
    #[error("malformed transaction: {0}")]
    Malformed(String),
    #[error("invalid transaction: {0}")]
    Invalid(String),
}

#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("execution reverted{}", reason(.0).map(|reason| format!(": {reason}")).unwrap_or_default())]
    Reverted(Bytes),
    /// Out of gas, an invalid opcode, and the like.
    #[error("execution halted: {0}")]
    Halted(String),
    /// The call did not start.
    #[error("{0}")]
    Refused(Refused),
    #[error(transparent)]
    Chain(#[from] ChainError),
}

/// The text of a Solidity `revert("…")`, if the data is one.
pub(crate) fn reason(data: &[u8]) -> Option<String> {
    /// The selector of `Error(string)`.
    const SELECTOR: [u8; 4] = [0x08, 0xc3, 0x79, 0xa0];
    let body = data.strip_prefix(&SELECTOR)?;
    let length: usize = U256::from_be_slice(body.get(32..64)?).try_into().ok()?;
    let text = body.get(64..)?.get(..length)?;
    Some(String::from_utf8_lossy(text).into_owned())
}
