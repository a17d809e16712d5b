//! An Ethereum chain inside one process: real blocks, signed transactions, receipts and logs, durable in one
//! file. It knows nothing of the contracts that run on it.

mod block;
mod cache;
mod call;
mod chain;
mod changes;
mod error;
mod execute;
mod file;
mod history;
mod logs;
mod machine;
mod receipt;
mod rpc;
mod state;
mod transaction;

pub use alloy_consensus::Header;
pub use alloy_primitives::{Address, B256, Bytes, Log, Sealed, U256};

pub use block::Genesis;
pub use call::Call;
pub use chain::Chain;
pub use error::{CallError, ChainError, OpenError, Refused};
pub use history::{Block, Transaction};
pub use logs::{LOGS_BLOCK_CAP, LOGS_CAP, LogEntry, LogFilter, LogsError};
pub use receipt::Receipt;
pub use transaction::Envelope;

/// What a unit of gas costs at least, in wei. On Ethereum this is where the fee of a chain settles whose
/// blocks are never more than half full.
pub const BASE_FEE: u64 = 7;
/// The gas of a block.
pub const BLOCK_GAS_LIMIT: u64 = 480_000_000;
/// The gas that a transaction may ask for.
pub const TRANSACTION_GAS_CAP: u64 = 36_000_000;
/// The gas that a call may use.
pub const CALL_GAS_CAP: u64 = 36_000_000;
