//! Applications of a user to listings.

use portico_domain::applications::{Application, ApplicationMapping};
use portico_domain::{ListingId, UserId};
use portico_store::{Apply, Cursor, Page};

use crate::{Call, Error, Portico, Profile, Result};

impl Portico {
    /// Adds listings to what a user applied to.
    pub async fn apply(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        self.may_act_for(&call.actor, &user).await?;
        self.add_applications(call, user, listings).await
    }

    /// Adds one listing, and perhaps more, by the listing's own address. On a live instance the listings'
    /// owner may do that too.
    pub async fn apply_to(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        self.may_see_application(call, &user, &listings).await?;
        self.add_applications(call, user, listings).await
    }

    /// The applicant's own affair; on a live instance the listings' owner's too.
    pub(crate) async fn may_see_application(
        &self,
        call: &Call,
        user: &UserId,
        listings: &[ListingId],
    ) -> Result<()> {
        match self.may_act_for(&call.actor, user).await {
            Err(Error::Forbidden(why)) if self.profile == Profile::Live => {
                for listing in listings {
                    match self.own_listing(call, listing).await {
                        Err(Error::NotFound(_)) => return Err(Error::Forbidden(why)),
                        owned => drop(owned?),
                    }
                }
                Ok(())
            }
            allowed => allowed,
        }
    }

    async fn add_applications(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        let by = self.by(call);
        self.write(call, Apply { user: user.clone(), listings, by }).await?;
        self.attest_soon(&user).await;
        Ok(())
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

    /// A piece of what a user applied to, which may be nothing.
    pub async fn applications_of(
        &self,
        call: &Call,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Application>> {
        self.may_act_for(&call.actor, user).await?;
        Ok(self.db.applications_of(user, after, limit).await?)
    }
}
