//! Applications of a user to listings. Creating one and reading one have different rules.

use portico_chain::contracts::cleared_check;
use portico_domain::applications::{Application, ApplicationMapping};
use portico_domain::keys::KeyScope;
use portico_domain::{ListingId, UserId};
use portico_store::{Apply, ChangeContext, Cursor, EndOrphanedApplications, Page};

use crate::{Actor, Call, Error, Portico, Result};

/// Listings whose orphaned applications are ended between two looks.
const ORPHAN_BATCH: i64 = 256;

/// Creating an application is the applicant's and the operator's alone. An account's key manages listings; it
/// never applies for people, and neither does the owner of a listing.
fn may_apply_for(actor: &Actor, user: &UserId) -> Result<()> {
    let allowed = match actor {
        // Where nobody need sign in, nobody is refused: the surface's table says where that is.
        Actor::Anonymous => true,
        Actor::User { user: own, .. } | Actor::Key { scope: KeyScope::User(own), .. } if own == user => true,
        actor => actor.is_operator(),
    };
    if allowed { Ok(()) } else { Err(Error::Forbidden("only the applicant or the operator may apply")) }
}

impl Portico {
    /// Adds listings to what a user applied to. If one of them does not exist, none is added.
    pub async fn apply(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        may_apply_for(&call.actor, &user)?;
        let by = self.by(call);
        self.write(call, Apply { user: user.clone(), listings, by }).await?;
        self.attest_soon(&user).await;
        Ok(())
    }

    /// Reading an application is for the applicant, the listing's owner and the operator.
    pub(crate) async fn may_see_application(
        &self,
        call: &Call,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<()> {
        match self.may_act_for(&call.actor, user).await {
            Err(Error::Forbidden(why)) => match self.own_listing(call, listing).await {
                Err(Error::NotFound(_)) => Err(Error::Forbidden(why)),
                owned => owned.map(drop),
            },
            allowed => allowed,
        }
    }

    /// Ends applications to listings that do not exist: before version 0.2 they outlived their listing, and
    /// could be made in advance. Tells how many listings that concerned.
    pub async fn end_orphaned_applications(&self) -> Result<usize> {
        let mut ended = 0;
        loop {
            let listings = self.db.orphaned_applications(ORPHAN_BATCH).await?;
            if listings.is_empty() {
                return Ok(ended);
            }
            for listing in listings {
                let by = ChangeContext { account: None, at: self.clock.now() };
                self.db.write(EndOrphanedApplications { listing, clear: cleared_check, by }).await?;
                ended += 1;
            }
        }
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
