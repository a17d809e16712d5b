//! Applications of a user to listings.

use portico_domain::applications::ApplicationMapping;
use portico_domain::{ListingId, UserId};
use portico_store::Apply;

use crate::{Call, Error, Portico, Profile, Result};

impl Portico {
    /// Adds listings to what a user applied to.
    pub async fn apply(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        self.may_act_for(&call.actor, &user).await?;
        let by = self.by(call);
        self.write(call, Apply { user, listings, by }).await
    }

    /// Adds one listing, and perhaps more, by the listing's own address. On a live instance the listings'
    /// owner may do that too.
    pub async fn apply_to(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        if let Err(refused) = self.may_act_for(&call.actor, &user).await {
            if self.profile != Profile::Live {
                return Err(refused);
            }
            for listing in &listings {
                self.own_listing(call, listing)
                    .await
                    .map_err(|_| Error::Forbidden("this belongs to someone else"))?;
            }
        }
        let by = self.by(call);
        self.write(call, Apply { user, listings, by }).await
    }

    /// What a user applied to.
    pub async fn applications(&self, call: &Call, user: UserId) -> Result<ApplicationMapping> {
        self.may_act_for(&call.actor, &user).await?;
        let listings = self.db.applications(&user).await?;
        if listings.is_empty() {
            return Err(Error::NotFound("application_not_found"));
        }
        Ok(ApplicationMapping { user, listings })
    }
}
