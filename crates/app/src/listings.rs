//! Listings: both surfaces show the same ones.

use portico_chain::contracts::cleared_check;
use portico_domain::listings::{Listing, ListingFilter, ListingStatistics};
use portico_domain::{ListingId, applications::Applicant};
use portico_store::{CreateListing, Cursor, DeleteListing, Page};

use crate::{Call, Error, Portico, Result};

const NOT_FOUND: Error = Error::NotFound("listing_not_found");

impl Portico {
    /// Stores a listing for its owner.
    pub async fn create_listing(&self, call: &Call, listing: Listing) -> Result<()> {
        self.may_act_for(&call.actor, &listing.user).await?;
        let by = self.by(call);
        self.write(call, CreateListing { listing, by }).await
    }

    /// Deletes a listing: its record on the chain is retired, its applications end and their flags are cleared.
    pub async fn delete_listing(&self, call: &Call, id: ListingId) -> Result<()> {
        let listing = self.db.listing(&id).await?.ok_or(NOT_FOUND)?;
        self.may_act_for(&call.actor, &listing.user).await?;
        let (by, retired) = (self.by(call), self.retired(&id));
        let op = DeleteListing { id, owner: listing.user, retired, clear: cleared_check, by };
        self.write(call, op).await?;
        if let Some(chain) = &self.chain {
            chain.wake();
        }
        Ok(())
    }

    pub async fn listing(&self, id: &ListingId) -> Result<Listing> {
        self.db.listing(id).await?.ok_or(NOT_FOUND)
    }

    /// A piece of the listings that fit.
    pub async fn find_listings(
        &self,
        filter: &ListingFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Listing>> {
        Ok(self.db.find_listings(filter, after, limit).await?)
    }

    /// A listing that the caller may look behind: its owner or a key.
    pub async fn own_listing(&self, call: &Call, id: &ListingId) -> Result<Listing> {
        let listing = self.listing(id).await?;
        self.may_act_for(&call.actor, &listing.user).await?;
        Ok(listing)
    }

    /// A piece of those who applied to a listing.
    pub async fn applicants(
        &self,
        id: &ListingId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Applicant>> {
        Ok(self.db.applicants(id, after, limit).await?)
    }

    /// Totals over all listings.
    pub async fn listing_statistics(&self) -> Result<ListingStatistics> {
        Ok(self.db.listing_statistics().await?)
    }
}
