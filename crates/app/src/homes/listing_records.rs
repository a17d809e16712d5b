//! A listing on the chain: its record, its terms, and the proof that it was not altered.

use alloy_primitives::B256;
use portico_chain::reads;
use portico_domain::chain::Terms;
use portico_domain::{ErrorCode, ListingId};
use portico_records::{ItemKind, PublicContent, content_digest, listing_item, listing_key, public_content};
use portico_store::chain::{AcceptedListing, ItemStatus, NewRecord, Word};

use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::homes::listings::{Listings, NewListing};
use crate::operation::chain::{PENDING, Record};
use crate::people::budgets::Cost;

/// Attempts to read the listing and its record in the same version.
const MAX_PROOF_READS: usize = 5;

/// Proves that a listing was not altered since it was recorded.
#[derive(Debug)]
pub struct Proof {
    /// The digest's input, in order.
    pub content: PublicContent,
    pub salt: Word,
    /// The digest of the stored listing.
    pub digest: Word,
    /// The digest on the chain.
    pub on_chain: Word,
    pub record: Record,
}

impl Listings {
    /// Stores a listing for its owner and records its terms and digest on the chain.
    pub async fn record(&self, call: &CallContext, new: NewListing, terms: Terms) -> Result<AcceptedListing> {
        self.core.may_act_for(&call.actor, &new.user).await?;
        let listing = self.complete_listing(new);
        self.core.remember_tenant(&call.actor).await?;
        let by = self.core.context(call);
        let desired = listing_item(&listing, terms, self.core.random()?, by.at);
        let idempotency_key =
            call.idempotency_key.map(|idempotency_key| self.core.store_key(idempotency_key));
        let payer = self.core.paying_account(&call.actor).await?;
        let budget = self.core.budget(&call.actor, payer, Cost::Record);
        let record = NewRecord { listing, desired, by, idempotency_key, budget, payer };
        let accepted = self.core.chain.writer()?.record(record).await?;
        let (key, transaction) = (B256::from(listing_key(&accepted.id)), B256::from(accepted.hash));
        tracing::info!(%key, %transaction, "listing recorded");
        Ok(accepted)
    }

    /// A listing's terms on the chain. Open to everyone.
    pub async fn terms(&self, call: &CallContext, id: &ListingId) -> Result<Terms> {
        let (_, terms, _) = self.listing_on_chain(call, &listing_key(id)).await?;
        Ok(terms)
    }

    /// `None`: the listing was never recorded. Open to everyone.
    pub async fn record_status(&self, call: &CallContext, id: &ListingId) -> Result<Option<Record>> {
        self.get(call, id).await?;
        self.core.record_of(call, ItemKind::Listing, listing_key(id)).await
    }

    /// Open to everyone.
    pub async fn proof(&self, call: &CallContext, id: &ListingId) -> Result<Proof> {
        let key = listing_key(id);
        // An edit between the reads is the next version: then all of them are repeated.
        for _ in 0..MAX_PROOF_READS {
            let stored = self.core.stored_listing(id).await?;
            let Some(recorded) = stored.item else { return Err(Error::NotFound(ErrorCode::RecordNotFound)) };
            let (version, _, on_chain) = self.listing_on_chain(call, &key).await?;
            let item = self.core.db.chain_item(ItemKind::Listing, &key).await?;
            let Some(item) = item.filter(|item| item.version == recorded.version) else { continue };
            if version != recorded.version.unsigned_abs() {
                continue;
            }
            let salt = recorded.salt;
            let content = public_content(&stored.listing);
            let digest = content_digest(&salt, &content);
            // The chain may know this version of an earlier listing that the database lost; then this one follows.
            if digest != on_chain && matches!(item.status, ItemStatus::Waiting | ItemStatus::Signed) {
                continue;
            }
            let record = self.core.build_record(call, ItemKind::Listing, key, &item).await?;
            return Ok(Proof { content, salt, digest, on_chain, record });
        }
        Err(PENDING)
    }

    async fn listing_on_chain(&self, call: &CallContext, key: &Word) -> Result<(u64, Terms, Word)> {
        let (node, contracts) = self.core.chain.reader()?;
        let read = || async {
            let record = reads::listing(node, contracts, key).await?;
            let content = record.content.map(|(terms, digest)| (record.version, terms, digest));
            Ok((record.version, content))
        };
        let found = self.core.on_chain(call, ItemKind::Listing, key, read).await?;
        found.ok_or(Error::NotFound(ErrorCode::RecordNotFound))
    }
}
