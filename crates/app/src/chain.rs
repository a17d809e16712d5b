//! What is on the chain: recording listings there, reading it back, and how the chain itself stands.

use std::time::Duration;

use alloy_primitives::{Address, B256, U256};
use portico_chain::contracts::{
    Content, Contracts, Kind, check_key, listing_digest, listing_key, public_content,
};
use portico_chain::node::{At, Block};
use portico_chain::writer::{Status, Writer};
use portico_chain::{AnyNode, Node, reads};
use portico_domain::chain::{Passes, Terms};
use portico_domain::listings::Listing;
use portico_domain::{ListingId, Timestamp, UserId};
use portico_store::chain::{
    Accepted, Backlog, BatchStatus, DesiredItem, ItemStatus, NewRecord, StoredItem, Word,
};

use crate::{Call, Error, Portico, Result};

/// The chain and the writer on it.
pub type Chain = Writer<AnyNode>;

/// How long a read waits for an item that is on its way.
const RECORD_WAIT: Duration = Duration::from_secs(2);
const POLL: Duration = Duration::from_millis(20);
/// An item that the chain does not show yet.
const PENDING: Error = Error::Pending("record_pending");

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

/// What proves that a listing was not altered since it was recorded.
#[derive(Debug)]
pub struct Proof {
    /// What the digest covers, in its order.
    pub content: [(&'static str, String); 11],
    pub salt: Word,
    /// The digest of what the database says now.
    pub digest: Word,
    /// The digest on the chain.
    pub on_chain: Word,
    pub record: Record,
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

/// What is wanted on the chain of a listing, with a new salt.
pub(crate) fn wanted_listing(listing: &Listing, terms: Terms, at: Timestamp) -> Result<DesiredItem> {
    let salt = crate::keys::random()?;
    let content = Content::Listing { terms, digest: listing_digest(&salt, listing) };
    Ok(DesiredItem { salt: Some(salt), ..content.wanted(listing_key(&listing.id), at) })
}

impl Portico {
    /// The chain, where there is one.
    pub fn chain(&self) -> Result<&Chain> {
        self.chain.as_ref().ok_or_else(|| Error::Unavailable("there is no chain here".into()))
    }

    /// Something waits for the chain. Beside a server nobody need be told: it looks by itself.
    pub(crate) fn wake_chain(&self) {
        if let Some(chain) = &self.chain {
            chain.wake();
        }
    }

    pub(crate) fn reading(&self) -> Result<(&AnyNode, Contracts)> {
        let engine = self.chain()?.engine();
        Ok((engine.node(), engine.contracts()))
    }

    /// Whether everything that was acknowledged before this process started is on the chain again. A chain
    /// elsewhere may be away for long, and nobody waits for it.
    pub fn chain_is_ready(&self) -> bool {
        let Some(chain) = &self.chain else { return true };
        chain.engine().caught_up() || !matches!(chain.engine().node(), AnyNode::Embedded(_))
    }

    /// Stores a listing for its owner, and records its terms and digest on the chain.
    pub async fn record_listing(&self, call: &Call, listing: Listing, terms: Terms) -> Result<Accepted> {
        self.may_act_for(&call.actor, &listing.user).await?;
        self.remember_account(&call.actor).await?;
        let by = self.by(call);
        let wanted = wanted_listing(&listing, terms, by.at)?;
        let once = call.once.map(|once| self.once(once));
        Ok(self.chain()?.record(NewRecord { listing, wanted, by, once }).await?)
    }

    /// What is wanted on the chain of a listing that is deleted.
    pub(crate) fn retired(&self, id: &ListingId) -> DesiredItem {
        Content::RetiredListing.wanted(listing_key(id), self.clock.now())
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
                Some((_, _, true)) => return Err(Error::Pending("record_failed")),
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

    async fn listing_on_chain(&self, key: &Word) -> Result<(u64, Terms, Word)> {
        let (node, contracts) = self.reading()?;
        let read = || async {
            let record = reads::listing(node, contracts, key).await?;
            let content = record.content.map(|(terms, digest)| (record.version, terms, digest));
            Ok((record.version, content))
        };
        self.on_chain(Kind::Listing, key, read).await?.ok_or(Error::NotFound("record_not_found"))
    }

    /// What a listing asks of an applicant, as the chain says.
    pub async fn listing_terms(&self, id: &ListingId) -> Result<Terms> {
        let (_, terms, _) = self.listing_on_chain(&listing_key(id)).await?;
        Ok(terms)
    }

    /// Which of a listing's terms an applicant meets, as the chain says; before a verification, none.
    pub async fn application_check(&self, call: &Call, user: &UserId, listing: &ListingId) -> Result<Passes> {
        let applicant = self.applicant_on_chain(call, user, listing).await?;
        let Some(applicant) = applicant else { return Ok(Passes::default()) };
        let listing = listing_key(listing);
        let (node, contracts) = self.reading()?;
        let read = || reads::application(node, contracts, &listing, &applicant);
        let passes = self.on_chain(Kind::Check, &check_key(&listing, &applicant), read).await?;
        Ok(passes.unwrap_or_default())
    }

    /// By what the chain knows one who applied to a listing, if it does.
    async fn applicant_on_chain(
        &self,
        call: &Call,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<Option<Word>> {
        self.may_see_application(call, user, listing).await?;
        if !self.db.has_applied(user, listing).await? {
            return Err(Error::NotFound("application_not_found"));
        }
        Ok(self.db.chain_reference(user).await?)
    }

    /// Where the four flags of an application stand on the chain; before a verification, nowhere.
    pub async fn application_record(
        &self,
        call: &Call,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<Option<Record>> {
        let applicant = self.applicant_on_chain(call, user, listing).await?;
        let Some(applicant) = applicant else { return Ok(None) };
        self.record_of(Kind::Check, check_key(&listing_key(listing), &applicant)).await
    }

    /// Where a listing stands on the chain, if it was recorded at all.
    pub async fn listing_record(&self, id: &ListingId) -> Result<Option<Record>> {
        self.listing(id).await?;
        self.record_of(Kind::Listing, listing_key(id)).await
    }

    async fn record_of(&self, kind: Kind, key: Word) -> Result<Option<Record>> {
        match self.db.chain_item(kind.number(), &key).await? {
            Some(item) if !item.gone => Ok(Some(self.standing(kind, key, &item).await?)),
            _ => Ok(None),
        }
    }

    async fn standing(&self, kind: Kind, key: Word, item: &StoredItem) -> Result<Record> {
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
            chain_id: self.chain()?.engine().chain_id(),
        })
    }

    /// Proves a listing's content by its digest on the chain.
    pub async fn listing_proof(&self, id: &ListingId) -> Result<Proof> {
        let (listing, key) = (self.listing(id).await?, listing_key(id));
        let (version, _, on_chain) = self.listing_on_chain(&key).await?;
        let item = self.db.chain_item(Kind::Listing.number(), &key).await?;
        let item = item.ok_or(Error::NotFound("record_not_found"))?;
        let salt = item.salt.ok_or(PENDING)?;
        Ok(Proof {
            digest: listing_digest(&salt, &listing),
            content: public_content(&listing),
            salt,
            on_chain,
            record: Record { version, ..self.standing(Kind::Listing, key, &item).await? },
        })
    }

    /// How the chain stands. A node that does not answer is no error here.
    pub async fn chain_status(&self) -> Result<ChainStatus> {
        let chain = self.chain()?;
        let (node, contracts) = self.reading()?;
        let head = node.head().await;
        let mut signers = Vec::new();
        for row in self.db.chain_signers().await? {
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
            backlog: self.db.chain_backlog().await?,
        })
    }

    /// Blocks from the newest, or from below a number, downwards.
    pub async fn blocks(&self, below: Option<u64>, limit: usize) -> Result<Vec<Block>> {
        let (node, _) = self.reading()?;
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

    pub async fn block(&self, number: u64) -> Result<Block> {
        let (node, _) = self.reading()?;
        node.block(At::Number(number)).await?.ok_or(Error::NotFound("block_not_found"))
    }

    /// A transaction, of ours or of anybody's, and what became of it.
    pub async fn transaction(&self, hash: Word) -> Result<Traced> {
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

    async fn foreign(&self, hash: Word) -> Result<Traced> {
        let (node, _) = self.reading()?;
        let found = node.transaction(B256::from(hash)).await?;
        let found = found.ok_or(Error::NotFound("transaction_not_found"))?;
        let receipt = node.receipt(B256::from(hash)).await?;
        let fate = match receipt {
            None => TracedFate::Pending,
            Some(receipt) if receipt.success => TracedFate::Mined,
            Some(_) => TracedFate::Failed,
        };
        Ok(Traced { fate, from: found.from, nonce: found.nonce, block: found.block, items: None })
    }
}
