//! What is on the chain: recording listings there, reading it back, and how the chain itself stands.

use std::sync::Arc;

use std::time::Duration;

use alloy_primitives::{Address, B256, U256};
use portico_chain::contracts::Contracts;
pub use portico_chain::contracts::Kind;
use portico_chain::node::At;
pub use portico_chain::node::Block;
use portico_chain::writer::{Status, Writer};
use portico_chain::{AnyNode, Node};
use portico_domain::ErrorCode;
pub use portico_store::chain::ItemStatus;
use portico_store::chain::{Backlog, BatchStatus, StoredItem, Word};

use crate::{Call, Core, Error, Profile, Result};

/// What signs and sends, on whichever node there is.
pub type ChainWriter = Writer<AnyNode>;

/// How long a read waits for an item that is on its way.
const RECORD_WAIT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);
/// An item that the chain does not show yet.
pub(crate) const PENDING: Error = Error::Pending(ErrorCode::RecordPending);

impl From<portico_chain::Error> for Error {
    fn from(error: portico_chain::Error) -> Self {
        use portico_chain::Error as Chain;
        match error {
            Chain::Store(error) => error.into(),
            Chain::Bug(why) => Self::Bug(why),
            Chain::Reverted(_) => Self::Bug("a contract refused a call that it must not refuse".into()),
            other => Self::Unavailable(other.to_string()),
        }
    }
}

/// Where something stands on the chain.
#[derive(Debug)]
pub struct Record {
    /// How far it has come.
    pub standing: ItemStatus,
    /// Its key on the chain.
    pub key: Word,
    pub version: u64,
    /// The transaction that carries it.
    pub transaction: Option<Word>,
    /// The block of that.
    pub block: Option<u64>,
    /// Where it can be read.
    pub contract: Address,
    pub chain_id: u64,
}

/// How the chain stands.
#[derive(Debug)]
pub struct ChainStatus {
    pub chain_id: u64,
    /// Whether the node answers.
    pub reachable: bool,
    /// Whether the node is inside this process.
    pub embedded: bool,
    pub contracts: Contracts,
    pub writer: Status,
    /// Every signer: its account, its next nonce, what it owns.
    pub signers: Vec<(Address, i64, Option<U256>)>,
    /// What is still to be done.
    pub backlog: Backlog,
}

/// A transaction and what became of it.
#[derive(Debug)]
pub struct Traced {
    /// What became of it.
    pub fate: TracedFate,
    pub from: Address,
    pub nonce: u64,
    /// The block it is in.
    pub block: Option<u64>,
    /// What kind of items it carries, and how many, if it is one of ours.
    pub items: Option<(Kind, i64)>,
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TracedFate {
    /// It is on its way.
    Pending,
    /// It is in a block.
    Mined,
    /// Another one took its place.
    Replaced(Option<Word>),
    /// The chain undid it.
    Failed,
}

/// The chain itself, as far as anybody may look.
#[derive(Debug)]
pub struct Chain {
    pub(crate) core: Arc<Core>,
}

impl Chain {
    /// How the chain stands. A node that does not answer is no error here. Open to everybody, as all here.
    pub async fn status(&self, _: &Call) -> Result<ChainStatus> {
        let chain = self.core.chain_writer()?;
        let (node, contracts) = self.core.reading()?;
        let head = node.head().await;
        let mut signers = Vec::new();
        for row in self.core.db.chain_signers().await? {
            let address = Address::from(row.address);
            let balance = if head.is_ok() { node.balance(address).await.ok() } else { None };
            signers.push((address, row.next_nonce, balance));
        }
        let mut writer = chain.status();
        let reachable = head.is_ok();
        writer.head = head.ok().or(writer.head);
        Ok(ChainStatus {
            chain_id: chain.engine().chain_id(),
            reachable,
            embedded: matches!(node, AnyNode::Embedded(_)),
            contracts,
            writer,
            signers,
            backlog: self.core.db.chain_backlog().await?,
        })
    }

    /// Blocks from the newest, or from below a number, downwards.
    pub async fn blocks(&self, _: &Call, below: Option<u64>, limit: usize) -> Result<Vec<Block>> {
        let (node, _) = self.core.reading()?;
        let top = match below {
            Some(below) => below.checked_sub(1),
            None => Some(node.head().await?.number),
        };
        let Some(top) = top else { return Ok(Vec::new()) };
        let lowest = top.saturating_sub((limit as u64).saturating_sub(1));
        let asked = (lowest..=top).rev().map(|number| node.block(At::Number(number)));
        let blocks = futures_util::future::try_join_all(asked).await?;
        Ok(blocks.into_iter().flatten().collect())
    }

    pub async fn block(&self, _: &Call, number: u64) -> Result<Block> {
        let (node, _) = self.core.reading()?;
        node.block(At::Number(number)).await?.ok_or(Error::NotFound(ErrorCode::BlockNotFound))
    }

    /// A transaction, of ours or of anybody's, and what became of it.
    pub async fn transaction(&self, _: &Call, hash: Word) -> Result<Traced> {
        self.core.transaction(hash).await
    }

    /// Answers JSON-RPC, of the embedded node of a sandbox only; read-only, and open to everybody.
    pub fn rpc(&self, _: &Call) -> Result<impl FnOnce(&[u8]) -> Vec<u8> + Send + use<>> {
        match self.core.chain_writer()?.engine().node() {
            AnyNode::Embedded(node) if self.core.profile == Profile::Sandbox => {
                let chain = node.chain().clone();
                Ok(move |request: &[u8]| chain.rpc(request))
            }
            _ => Err(Error::NotFound(ErrorCode::NotFound)),
        }
    }
}

impl Core {
    pub(crate) fn chain_writer(&self) -> Result<&ChainWriter> {
        self.chain.as_ref().ok_or_else(|| Error::Unavailable("there is no chain here".into()))
    }

    /// Whether everything that was acknowledged before this process started is on the chain again. A chain
    /// elsewhere may be away for long, and nobody waits for it.
    pub(crate) fn chain_is_ready(&self) -> bool {
        let Some(chain) = &self.chain else { return true };
        chain.engine().caught_up() || !matches!(chain.engine().node(), AnyNode::Embedded(_))
    }

    /// Something waits for the chain. Beside a server nobody need be told: it looks by itself.
    pub(crate) fn wake_chain(&self) {
        if let Some(chain) = &self.chain {
            chain.wake();
        }
    }

    pub(crate) fn reading(&self) -> Result<(&AnyNode, Contracts)> {
        let engine = self.chain_writer()?.engine();
        Ok((engine.node(), engine.contracts()))
    }

    /// What the chain says of an item, once it is there; `None`: it was never wanted, or is to be gone.
    ///
    /// The chain itself is asked, so that nothing is shown before it is there, nor held back afterwards.
    pub(crate) async fn on_chain<T, F>(
        &self,
        kind: Kind,
        key: &Word,
        read: impl Fn() -> F,
    ) -> Result<Option<T>>
    where
        F: Future<Output = portico_chain::Result<(u64, Option<T>)>>,
    {
        let mut waited = Duration::ZERO;
        loop {
            match self.db.chain_wanted(kind.number(), key).await? {
                None | Some((_, true, _)) => return Ok(None),
                Some((_, _, true)) => return Err(Error::Pending(ErrorCode::RecordFailed)),
                Some((wanted, ..)) => {
                    let (version, content) = read().await?;
                    if version >= wanted.unsigned_abs()
                        && let Some(content) = content
                    {
                        return Ok(Some(content));
                    }
                }
            }
            if waited >= RECORD_WAIT {
                return Err(PENDING);
            }
            tokio::time::sleep(POLL).await;
            waited += POLL;
        }
    }

    pub(crate) async fn record_of(&self, kind: Kind, key: Word) -> Result<Option<Record>> {
        match self.db.chain_item(kind.number(), &key).await? {
            Some(item) if !item.gone => Ok(Some(self.standing(kind, key, &item).await?)),
            _ => Ok(None),
        }
    }

    pub(crate) async fn standing(&self, kind: Kind, key: Word, item: &StoredItem) -> Result<Record> {
        // What was just mined may not be written down yet.
        let traced = match item.hash {
            Some(hash) => Some(self.transaction(hash).await?),
            None => None,
        };
        let mined = traced.as_ref().is_some_and(|traced| traced.fate == TracedFate::Mined);
        Ok(Record {
            standing: if mined { ItemStatus::Mined } else { item.standing },
            key,
            version: item.version.unsigned_abs(),
            transaction: item.hash,
            block: traced.and_then(|traced| traced.block),
            contract: self.reading()?.1.of(kind),
            chain_id: self.chain_writer()?.engine().chain_id(),
        })
    }

    /// A transaction, of ours or of anybody's, and what became of it.
    pub(crate) async fn transaction(&self, hash: Word) -> Result<Traced> {
        let Some(attempt) = self.db.chain_attempt(&hash).await? else { return self.foreign(hash).await };
        let fate = match (attempt.fate, attempt.mined) {
            (BatchStatus::Signed, _) if attempt.newest != hash => TracedFate::Replaced(Some(attempt.newest)),
            (BatchStatus::Signed, _) => TracedFate::Pending,
            (BatchStatus::Mined | BatchStatus::Final, Some(mined)) if mined != hash => {
                TracedFate::Replaced(Some(mined))
            }
            (BatchStatus::Mined | BatchStatus::Final, _) => TracedFate::Mined,
            (BatchStatus::Reverted, Some(mined)) if mined != hash => TracedFate::Replaced(Some(mined)),
            (BatchStatus::Reverted, _) => TracedFate::Failed,
            (BatchStatus::Foreign, _) => TracedFate::Replaced(None),
        };
        // What was just mined may not be written down yet.
        let receipt = match fate {
            TracedFate::Pending => self.reading()?.0.receipt(B256::from(hash)).await.ok().flatten(),
            _ => None,
        };
        let fate = match &receipt {
            Some(receipt) if receipt.success => TracedFate::Mined,
            Some(_) => TracedFate::Failed,
            None => fate,
        };
        Ok(Traced {
            fate,
            from: Address::from(attempt.signer),
            nonce: attempt.nonce.unsigned_abs(),
            block: receipt.map(|receipt| receipt.block).or(attempt.block.map(i64::unsigned_abs)),
            items: Kind::from_number(attempt.kind).map(|kind| (kind, attempt.items)),
        })
    }

    pub(crate) async fn foreign(&self, hash: Word) -> Result<Traced> {
        let (node, _) = self.reading()?;
        let found = node.transaction(B256::from(hash)).await?;
        let found = found.ok_or(Error::NotFound(ErrorCode::TransactionNotFound))?;
        let receipt = node.receipt(B256::from(hash)).await?;
        let fate = match receipt {
            None => TracedFate::Pending,
            Some(receipt) if receipt.success => TracedFate::Mined,
            Some(_) => TracedFate::Failed,
        };
        Ok(Traced { fate, from: found.from, nonce: found.nonce, block: found.block, items: None })
    }
}
