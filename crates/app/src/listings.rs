//! Listings, shared by all surfaces.

use std::sync::Arc;

use portico_domain::listings::{Listing, ListingFilter, ListingStatistics};
use portico_domain::{ErrorCode, ListingId};
use portico_store::{CreateListing, Cursor, DeleteListing, Page};

use crate::{Call, Core, Error, Result};

const NOT_FOUND: Error = Error::NotFound(ErrorCode::ListingNotFound);

#[derive(Debug)]
pub struct Listings {
    pub(crate) core: Arc<Core>,
}

impl Listings {
    /// For a listing that names none.
    pub fn new_id(&self) -> ListingId {
        self.core.new_id()
    }

    pub async fn create(&self, call: &Call, listing: Listing) -> Result<()> {
        self.core.may_act_for(&call.actor, &listing.user).await?;
        let by = self.core.context(call);
        self.core.write(call, CreateListing { listing, by }).await
    }

    /// Also retires the chain record and closes the applications, whose flags are cleared.
    pub async fn delete(&self, call: &Call, id: ListingId) -> Result<()> {
        let listing = self.core.own_listing(call, &id).await?;
        let (by, retired) = (self.core.context(call), self.core.retired(&id));
        let op = DeleteListing { id, owner: listing.user, retired, by };
        self.core.write(call, op).await?;
        self.core.wake_chain();
        Ok(())
    }

    /// Open to everyone.
    pub async fn get(&self, _: &Call, id: &ListingId) -> Result<Listing> {
        self.core.existing_listing(id).await
    }

    /// Open to everyone.
    pub async fn find(
        &self,
        _: &Call,
        filter: &ListingFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Listing>> {
        Ok(self.core.db.find_listings(filter, after, limit).await?)
    }

    /// Open to everyone.
    pub async fn statistics(&self, _: &Call) -> Result<ListingStatistics> {
        Ok(self.core.db.listing_statistics().await?)
    }
}

impl Core {
    async fn existing_listing(&self, id: &ListingId) -> Result<Listing> {
        self.db.listing(id).await?.ok_or(NOT_FOUND)
    }

    /// For the listing's owner.
    pub(crate) async fn own_listing(&self, call: &Call, id: &ListingId) -> Result<Listing> {
        let listing = self.existing_listing(id).await?;
        self.may_act_for(&call.actor, &listing.user).await?;
        Ok(listing)
    }
}
