//! A listing on the chain: its record, its terms, and the proof that it was not altered.

use portico_chain::contracts::{Content, ItemKind, listing_digest, listing_key, public_content};
use portico_chain::reads;
use portico_domain::Timestamp;
use portico_domain::chain::Terms;
use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, ListingId};
use portico_store::chain::{Accepted, DesiredItem, NewRecord, Word};

use crate::chain::{PENDING, Record};
use crate::{Call, Core, Error, Listings, Result};

/// Proves that a listing was not altered since it was recorded.
#[derive(Debug)]
pub struct Proof {
    /// The digest's input, in order.
    pub content: [(&'static str, String); 11],
    pub salt: Word,
    /// The digest of the stored listing.
    pub digest: Word,
    /// The digest on the chain.
    pub on_chain: Word,
    pub record: Record,
}

impl Listings {
    /// Stores a listing for its owner and records its terms and digest on the chain.
    pub async fn record(&self, call: &Call, listing: Listing, terms: Terms) -> Result<Accepted> {
        self.core.may_act_for(&call.actor, &listing.user).await?;
        self.core.remember_account(&call.actor).await?;
        let by = self.core.context(call);
        let desired = self.core.desired_listing(&listing, terms, by.at)?;
        let idempotency_key =
            call.idempotency_key.map(|idempotency_key| self.core.store_key(idempotency_key));
        Ok(self.core.chain_writer()?.record(NewRecord { listing, desired, by, idempotency_key }).await?)
    }

    /// A listing's terms on the chain. Open to everyone.
    pub async fn terms(&self, _: &Call, id: &ListingId) -> Result<Terms> {
        let (_, terms, _) = self.core.listing_on_chain(&listing_key(id)).await?;
        Ok(terms)
    }

    /// `None`: the listing was never recorded. Open to everyone.
    pub async fn record_status(&self, call: &Call, id: &ListingId) -> Result<Option<Record>> {
        self.get(call, id).await?;
        self.core.record_of(ItemKind::Listing, listing_key(id)).await
    }

    /// Open to everyone.
    pub async fn proof(&self, call: &Call, id: &ListingId) -> Result<Proof> {
        let (listing, key) = (self.get(call, id).await?, listing_key(id));
        let (version, _, on_chain) = self.core.listing_on_chain(&key).await?;
        let item = self.core.db.chain_item(ItemKind::Listing.number(), &key).await?;
        let item = item.ok_or(Error::NotFound(ErrorCode::RecordNotFound))?;
        let salt = item.salt.ok_or(PENDING)?;
        Ok(Proof {
            digest: listing_digest(&salt, &listing),
            content: public_content(&listing),
            salt,
            on_chain,
            record: Record { version, ..self.core.build_record(ItemKind::Listing, key, &item).await? },
        })
    }
}

impl Core {
    /// A listing's terms, as they are or will be on the chain; `None` if it has none.
    pub(crate) async fn listing_terms(&self, id: &ListingId) -> Result<Option<Terms>> {
        let item = self.db.chain_item(ItemKind::Listing.number(), &listing_key(id)).await?;
        let Some(item) = item else { return Ok(None) };
        match Content::decode(ItemKind::Listing, &item.payload)? {
            Content::Listing { terms, .. } => Ok(Some(terms)),
            _ => Ok(None),
        }
    }

    /// The chain item of a listing, with a new salt.
    pub(crate) fn desired_listing(
        &self,
        listing: &Listing,
        terms: Terms,
        at: Timestamp,
    ) -> Result<DesiredItem> {
        let salt = self.random()?;
        let content = Content::Listing { terms, digest: listing_digest(&salt, listing) };
        Ok(DesiredItem { salt: Some(salt), ..content.desired(listing_key(&listing.id), at) })
    }

    /// The chain item that retires a deleted listing.
    pub(crate) fn retired(&self, id: &ListingId) -> DesiredItem {
        Content::RetiredListing.desired(listing_key(id), self.clock.now())
    }

    async fn listing_on_chain(&self, key: &Word) -> Result<(u64, Terms, Word)> {
        let (node, contracts) = self.chain_reader()?;
        let read = || async {
            let record = reads::listing(node, contracts, key).await?;
            let content = record.content.map(|(terms, digest)| (record.version, terms, digest));
            Ok((record.version, content))
        };
        self.on_chain(ItemKind::Listing, key, read).await?.ok_or(Error::NotFound(ErrorCode::RecordNotFound))
    }
}
