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
//! The rules are those of the Prague fork, run by revm. Transactions are signed (types 0, 1 and 2), checked like
//! anywhere, and pay for their gas: a constant base fee, which is burned, and a tip, which goes to the zero
//! address. A block's hash is the hash of its header, and the header's transactions' root, receipts' root, bloom
//! filter and gas are what they claim to be, so that anyone can check them.
//!
//! # What is not
//!
//! - **One process makes all blocks.** There are no peers, no forks and no pool: [`Chain::submit`] makes one block
//!   of what it is given, at once, and a transaction whose nonce is not the next one is refused. A block is
//!   final when it is there.
//! - **Time** is what the caller says, but never goes back; several blocks may share a second.
//! - **The state root is not the root of a trie.** A trie of all accounts and slots would cost more than
//!   everything else together, and nobody asks for proofs here (`eth_getProof` is not served). The header's
//!   `stateRoot` is a running commitment instead:
//!
//!   ```text
//!   stateRoot = keccak256(stateRoot of the parent ‖ account* ‖ slot*)
//!   account   = 0x01 ‖ address (20) ‖ nonce (8) ‖ balance (32) ‖ keccak256(code) (32)
//!   slot      = 0x02 ‖ address (20) ‖ key (32) ‖ value (32)
//!   ```
//!
//!   with the accounts whose nonce, balance or code the block has set, ordered by address, then the slots that
//!   it has set, ordered by address and key; numbers are big-endian. An account that is gone has zeros and the
//!   hash of no code. The first block's "parent" is the chain id as 32 bytes, and its accounts are those of the
//!   [`Genesis`]. Whoever runs the transactions again gets the same roots; two files with the same head
//!   hash went through the same changes.
//! - **The state is kept for the latest block only**; history (blocks, transactions, receipts, logs) is kept for ever.
//! - **No system contracts** (EIPs 4788, 2935, 7002, 7251), no withdrawals, no blobs; `PREVRANDAO` is zero.
//!
//! # How it is built
//!
//! `file` keeps everything in a SQLite database: one transaction of the database for each block, on the disk
//! before `submit` returns; slots that have just changed are in `fresh` until they are in their places. `state`
//! gives every reader one block's state, from caches of fixed size that `submit` keeps up to date, so that a call
//! takes microseconds on any number of threads while blocks are added. `execute` runs transactions into `changes`,
//! `block` makes blocks of them; `history` and `logs` read what was; `rpc` answers Ethereum's JSON-RPC, for reading.

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
