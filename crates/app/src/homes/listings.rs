//! Listings, shared by all surfaces.

use std::sync::Arc;

use portico_domain::chain::Terms;
use portico_domain::clusters::Zoom;
use portico_domain::geo::Point;
use portico_domain::listing_changes::{Editor, ListingChange, ListingEdit};
use portico_domain::listings::{Address, Listing, ListingFilter, ListingStatistics};
use portico_domain::{Country, ErrorCode, Link, ListingId, Money, Timestamp, UserId, Whole};
use portico_store::{
    CreateListing, Cursor, DeleteListing, EditListing, ListingClusters, ListingItem, ListingVersion, Page,
    StoredListing,
};

use tokio::sync::Semaphore;
use tracing::Instrument as _;

use crate::caller::CallContext;
use crate::core::{Core, answering};
use crate::error::{Error, Result};

/// Groupings of listings for maps that may run at once; more wait for their turn.
const MAX_CONCURRENT_MAPS: usize = 2;
const NOT_FOUND: Error = Error::NotFound(ErrorCode::ListingNotFound);

/// A listing with everything that is public about it.
#[derive(Debug)]
pub struct ListingDetails {
    pub listing: Listing,
    pub version: ListingVersion,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// `None`: the listing is not on the chain.
    pub terms: Option<Terms>,
}

/// A listing as a request describes it.
#[derive(Debug, Clone)]
pub struct NewListing {
    /// `None`: a new one.
    pub id: Option<ListingId>,
    pub user: UserId,
    pub address: Address,
    /// `None`: the service's own.
    pub country: Option<Country>,
    /// Monthly.
    pub rent: Option<Money>,
    pub property_value: Option<Money>,
    pub bedrooms: Option<Whole>,
    pub bathrooms: Option<Whole>,
    pub place: Option<Point>,
    pub walkthrough: Option<Link>,
}

#[derive(Debug)]
pub struct Listings {
    pub(crate) core: Arc<Core>,
    /// Each grouping reads up to 250,000 rows.
    map_permits: Arc<Semaphore>,
}

impl Listings {
    pub(crate) fn new(core: Arc<Core>) -> Self {
        Self { core, map_permits: Arc::new(Semaphore::new(MAX_CONCURRENT_MAPS)) }
    }

    /// Returns its id.
    pub async fn create(&self, call: &CallContext, new: NewListing) -> Result<ListingId> {
        self.core.may_act_for(&call.actor, &new.user).await?;
        let (listing, by) = (self.complete_listing(new), self.core.context(call));
        let id = listing.id.clone();
        self.core.write(call, answering(CreateListing { listing, by }, id)).await
    }

    /// Also retires the chain record and closes the applications, whose flags are cleared.
    pub async fn delete(&self, call: &CallContext, id: ListingId) -> Result<()> {
        let listing = self.own_listing(call, &id).await?;
        let op = DeleteListing { id, owner: listing.user, by: self.core.context(call) };
        self.core.write(call, op).await?;
        self.core.chain.wake();
        Ok(())
    }

    /// For the owner and the operator. `expected`: only if the listing still has one of these versions; otherwise the
    /// newest is changed. Applications keep the terms that they froze.
    pub async fn edit(
        &self,
        call: &CallContext,
        id: ListingId,
        change: ListingChange,
        expected: Option<Vec<ListingVersion>>,
    ) -> Result<ListingDetails> {
        let stored = self.core.stored_listing(&id).await?;
        let owner = stored.listing.user;
        self.core.may_act_for(&call.actor, &owner).await?;
        let is_recorded = stored.item.is_some() || change.terms.sets_any();
        let is_operator = call.actor.is_operator() && !call.actor.is_user(&owner);
        let edit = EditListing {
            id: id.clone(),
            owner,
            change,
            expected,
            salt: self.core.random()?,
            editor: if is_operator { Editor::Operator } else { Editor::Owner },
            by: self.core.context(call),
        };
        self.core.write_recorded(call, edit, usize::from(is_recorded)).await?;
        self.core.chain.wake();
        self.details(call, &id).await
    }

    /// Open to everyone.
    pub async fn details(&self, _: &CallContext, id: &ListingId) -> Result<ListingDetails> {
        let stored = self.core.stored_listing(id).await?;
        let terms = stored.item.as_ref().map(ListingItem::terms).transpose()?;
        let StoredListing { listing, version, created_at, updated_at, item: _ } = stored;
        Ok(ListingDetails { listing, version, created_at, updated_at, terms })
    }

    /// A page of the edits, oldest first. Open to everyone: all of it was public.
    pub async fn history(
        &self,
        _: &CallContext,
        id: &ListingId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<ListingEdit>> {
        self.existing_listing(id).await?;
        Ok(self.core.db.listing_history(id, after, limit).await?)
    }

    /// Open to everyone.
    pub async fn get(&self, _: &CallContext, id: &ListingId) -> Result<Listing> {
        self.existing_listing(id).await
    }

    /// Open to everyone.
    pub async fn find(
        &self,
        _: &CallContext,
        filter: &ListingFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Listing>> {
        Ok(self.core.db.find_listings(filter, after, limit).await?)
    }

    /// What [`Self::find`] finds, grouped for a map. Open to everyone.
    pub async fn clusters(
        &self,
        _: &CallContext,
        filter: &ListingFilter,
        zoom: Zoom,
    ) -> Result<ListingClusters> {
        let permit =
            self.map_permits.clone().acquire_owned().await.map_err(|_| Error::Bug("no permits".into()))?;
        let (core, filter) = (self.core.clone(), filter.clone());
        // The permit belongs to the work, which goes on when the caller does not wait any more.
        let work = async move {
            let _permit = permit;
            core.db.listing_clusters(&filter, zoom).await
        };
        let work = tokio::spawn(work.in_current_span());
        Ok(work.await.map_err(|panic| Error::Bug(panic.to_string()))??)
    }

    /// Open to everyone.
    pub async fn statistics(&self, _: &CallContext) -> Result<ListingStatistics> {
        Ok(self.core.db.listing_statistics().await?)
    }

    pub(super) fn complete_listing(&self, new: NewListing) -> Listing {
        let NewListing { id, user, address, country, rent, property_value, bedrooms, bathrooms, .. } = new;
        let id = id.unwrap_or_else(|| self.core.new_id());
        let country = country.unwrap_or_else(|| self.core.country.clone());
        let (place, walkthrough) = (new.place, new.walkthrough);
        let required = Listing::new(id, user, address, country);
        Listing { rent, property_value, bedrooms, bathrooms, place, walkthrough, ..required }
    }

    async fn existing_listing(&self, id: &ListingId) -> Result<Listing> {
        self.core.db.listing(id).await?.ok_or(NOT_FOUND)
    }

    /// For the listing's owner.
    async fn own_listing(&self, call: &CallContext, id: &ListingId) -> Result<Listing> {
        let listing = self.existing_listing(id).await?;
        self.core.may_act_for(&call.actor, &listing.user).await?;
        Ok(listing)
    }
}

impl Core {
    /// With its chain item, both at one moment.
    pub(crate) async fn stored_listing(&self, id: &ListingId) -> Result<StoredListing> {
        self.db.stored_listing(id).await?.ok_or(NOT_FOUND)
    }

    /// The creation number of the listing that has this id now, for its owner. Continue with this number instead
    /// of the id: it never refers to a later listing with another owner.
    pub(crate) async fn own_listing_number(&self, call: &CallContext, id: &ListingId) -> Result<i64> {
        let StoredListing { listing, version, .. } = self.stored_listing(id).await?;
        self.may_act_for(&call.actor, &listing.user).await?;
        Ok(version.seq)
    }
}
