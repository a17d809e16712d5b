//! What the chain says of a listing: its record, its terms, and the proof that it was not altered.

use portico_chain::contracts::{Content, Kind, listing_digest, listing_key, public_content};
use portico_chain::reads;
use portico_domain::Timestamp;
use portico_domain::chain::Terms;
use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, ListingId};
use portico_store::chain::{Accepted, DesiredItem, NewRecord, Word};

use crate::chain::{PENDING, Record};
use crate::{Call, Core, Error, Listings, Result};

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

impl Listings {
    /// Stores a listing for its owner, and records its terms and digest on the chain.
    pub async fn record(&self, call: &Call, listing: Listing, terms: Terms) -> Result<Accepted> {
        self.core.may_act_for(&call.actor, &listing.user).await?;
        self.core.remember_account(&call.actor).await?;
        let by = self.core.context(call);
        let wanted = self.core.wanted_listing(&listing, terms, by.at)?;
        let once = call.once.map(|once| self.core.once(once));
        Ok(self.core.chain_writer()?.record(NewRecord { listing, wanted, by, once }).await?)
    }

    /// What a listing asks of an applicant, as the chain says. Open to everybody.
    pub async fn terms(&self, _: &Call, id: &ListingId) -> Result<Terms> {
        let (_, terms, _) = self.core.listing_on_chain(&listing_key(id)).await?;
        Ok(terms)
    }

    /// Where a listing stands on the chain, if it was recorded at all. Open to everybody.
    pub async fn record_status(&self, call: &Call, id: &ListingId) -> Result<Option<Record>> {
        self.get(call, id).await?;
        self.core.record_of(Kind::Listing, listing_key(id)).await
    }

    /// Proves a listing's content by its digest on the chain. Open to everybody.
    pub async fn proof(&self, call: &Call, id: &ListingId) -> Result<Proof> {
        let (listing, key) = (self.get(call, id).await?, listing_key(id));
        let (version, _, on_chain) = self.core.listing_on_chain(&key).await?;
        let item = self.core.db.chain_item(Kind::Listing.number(), &key).await?;
        let item = item.ok_or(Error::NotFound(ErrorCode::RecordNotFound))?;
        let salt = item.salt.ok_or(PENDING)?;
        Ok(Proof {
            digest: listing_digest(&salt, &listing),
            content: public_content(&listing),
            salt,
            on_chain,
            record: Record { version, ..self.core.standing(Kind::Listing, key, &item).await? },
        })
    }
}

impl Core {
    /// What is wanted on the chain of a listing, with a new salt.
    pub(crate) fn wanted_listing(
        &self,
        listing: &Listing,
        terms: Terms,
        at: Timestamp,
    ) -> Result<DesiredItem> {
        let salt = self.random()?;
        let content = Content::Listing { terms, digest: listing_digest(&salt, listing) };
        Ok(DesiredItem { salt: Some(salt), ..content.wanted(listing_key(&listing.id), at) })
    }

    /// What is wanted on the chain of a listing that is deleted.
    pub(crate) fn retired(&self, id: &ListingId) -> DesiredItem {
        Content::RetiredListing.wanted(listing_key(id), self.clock.now())
    }

    async fn listing_on_chain(&self, key: &Word) -> Result<(u64, Terms, Word)> {
        let (node, contracts) = self.reading()?;
        let read = || async {
            let record = reads::listing(node, contracts, key).await?;
            let content = record.content.map(|(terms, digest)| (record.version, terms, digest));
            Ok((record.version, content))
        };
        self.on_chain(Kind::Listing, key, read).await?.ok_or(Error::NotFound(ErrorCode::RecordNotFound))
    }
}
