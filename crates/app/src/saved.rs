//! Saved listings of a user.

use portico_domain::listings::Listing;
use portico_domain::{ListingId, UserId};
use portico_store::{SaveListing, UnsaveListing};

use crate::{Call, Portico, Result};

impl Portico {
    /// The ids a user has saved, and the details of those that exist.
    pub async fn saved_listings(&self, call: &Call, user: &UserId) -> Result<(Vec<ListingId>, Vec<Listing>)> {
        self.may_act_for(&call.actor, user).await?;
        Ok(self.db.saved_listings(user).await?)
    }

    pub async fn save_listing(&self, call: &Call, user: UserId, listing: ListingId) -> Result<()> {
        self.may_act_for(&call.actor, &user).await?;
        let by = self.by(call);
        self.write(call, SaveListing { user, listing, by }).await
    }

    /// Takes a listing off the list.
    pub async fn unsave_listing(&self, call: &Call, user: UserId, listing: ListingId) -> Result<()> {
        self.may_act_for(&call.actor, &user).await?;
        let by = self.by(call);
        self.write(call, UnsaveListing { user, listing, by }).await
    }
}
