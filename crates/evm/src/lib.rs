//! An Ethereum chain inside one process: real blocks, signed transactions, receipts and logs, durable in one
//! file. It knows nothing of the contracts that run on it.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! use portico_evm::{Address, Chain, Genesis, U256};
//!
//! let rich = Address::repeat_byte(1);
//! let genesis = Genesis { chain_id: 4242, timestamp: 1_700_000_000, alloc: vec![(rich, U256::from(1000))] };
//! let chain = Chain::open(&folder.path().join("chain.db"), &genesis)?;
//! assert_eq!(chain.head().hash(), chain.genesis_hash());
//! assert_eq!(chain.balance(rich)?, U256::from(1000));
//!
//! let answers = chain.submit(&[b"not a transaction".into()], 1_700_000_001)?;
//! assert!(answers[0].is_err(), "it says why");
//! # Ok(())
//! # }
//! ```
//!
//! # What is as on Ethereum
//!
//! revm executes transactions by the rules of the Prague fork. Transactions are signed (types 0, 1 and 2), validated
//! as on any node, and pay for their gas: a constant base fee, which is burned, and a tip, which goes to the zero
//! address. A block's hash is the hash of its header; transactions root, receipts root, bloom filter and gas in the
//! header can be verified by anyone.
//!
//! # What is not
//!
//! - **One process produces all blocks.** There are no peers, no forks and no mempool: [`Chain::submit`] mines its
//!   transactions into one block at once, and refuses a transaction whose nonce is not the next one. Every block is
//!   final.
//! - **Timestamps** come from the caller but never decrease; several blocks may share a second.
//! - **The state root is not a trie root.** A trie of all accounts and slots would cost more than everything else
//!   together, and `eth_getProof` is not served. The header's `stateRoot` is a running commitment instead:
//!
//!   ```text
//!   stateRoot = keccak256(stateRoot of the parent ‖ account* ‖ slot*)
//!   account   = 0x01 ‖ address (20) ‖ nonce (8) ‖ balance (32) ‖ keccak256(code) (32)
//!   slot      = 0x02 ‖ address (20) ‖ key (32) ‖ value (32)
//!   ```
//!
//!   First come the accounts whose nonce, balance or code the block sets, ordered by address, then the slots it sets,
//!   ordered by address and key; numbers are big-endian. A deleted account has zeros and the hash of empty code. For
//!   the genesis block the parent's root is the chain id as 32 bytes, and the accounts are those of [`Genesis`].
//!   Replaying the transactions gives the same roots; two files with the same head hash went through the same changes.
//! - **State is kept for the latest block only**; history (blocks, transactions, receipts, logs) is kept for ever.
//! - **No system contracts** (EIPs 4788, 2935, 7002, 7251), no withdrawals, no blobs; `PREVRANDAO` is zero.
//!
//! # How it is built
//!
//! `file` is a SQLite database: one database transaction per block, durable before `submit` returns. `state` gives
//! every reader a consistent view of one block while blocks are added. `execute` runs transactions and collects
//! `changes`, `block` builds the block; `history` and `logs` read past blocks; `rpc` is a read-only JSON-RPC server.

mod block;
mod call;
mod chain;
mod changes;
mod error;
mod execute;
mod executor;
mod file;
mod history;
mod logs;
mod receipt;
mod rpc;
mod state;
mod transaction;

pub use alloy_consensus::Header;
pub use alloy_primitives::{Address, B256, Bytes, Log, Sealed, U256};
pub use alloy_rpc_types_eth::Filter;

pub use block::Genesis;
pub use call::Call;
pub use chain::Chain;
pub use error::{CallError, ChainError, OpenError, Refused};
pub use file::snapshot::{ChainFacts, ChainSnapshot, inspect};
pub use history::{Block, Transaction};
pub use logs::{LOGS_BLOCK_CAP, LOGS_CAP, LogsError};
pub use receipt::Receipt;
pub use transaction::Envelope;

/// Wei per gas. Ethereum's base fee falls to this value when blocks stay less than half full.
pub const BASE_FEE: u64 = 7;
pub const BLOCK_GAS_LIMIT: u64 = 480_000_000;
/// The highest gas limit of a transaction.
pub const TRANSACTION_GAS_CAP: u64 = 36_000_000;
pub const CALL_GAS_CAP: u64 = 36_000_000;
