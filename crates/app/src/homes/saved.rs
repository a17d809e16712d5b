//! Saved listings of a user.

use portico_domain::listings::Listing;
use portico_domain::{ListingId, UserId};
use portico_store::{SaveListing, UnsaveListing};

use crate::caller::CallContext;
use crate::error::Result;
use crate::homes::listings::Listings;

impl Listings {
    /// The saved ids, and the listings among them that exist.
    pub async fn saved(&self, call: &CallContext, user: &UserId) -> Result<(Vec<ListingId>, Vec<Listing>)> {
        self.core.may_act_for(&call.actor, user).await?;
        Ok(self.core.db.saved_listings(user).await?)
    }

    pub async fn save(&self, call: &CallContext, user: UserId, listing: ListingId) -> Result<()> {
        self.core.may_act_for(&call.actor, &user).await?;
        let by = self.core.context(call);
        self.core.write(call, SaveListing { user, listing, by }).await
    }

    pub async fn unsave(&self, call: &CallContext, user: UserId, listing: ListingId) -> Result<()> {
        self.core.may_act_for(&call.actor, &user).await?;
        let by = self.core.context(call);
        self.core.write(call, UnsaveListing { user, listing, by }).await
    }
}
