//! Applications of a user to listings. Creating one and reading one have different rules.

use std::sync::Arc;

use portico_chain::contracts::{Kind, check_key, cleared_check, listing_key};
use portico_chain::reads;
use portico_domain::applications::{Applicant, Application, ApplicationMapping};
use portico_domain::chain::Passes;
use portico_domain::{ErrorCode, ListingId, UserId};
use portico_store::chain::Word;
use portico_store::{Apply, ChangeContext, Cursor, EndOrphanedApplications, Page};

use crate::chain::Record;
use crate::{Actor, Call, Core, Error, Result};

/// Listings whose orphaned applications are ended between two looks.
const ORPHAN_BATCH: i64 = 256;

/// Applications of people to listings.
#[derive(Debug)]
pub struct Applications {
    pub(crate) core: Arc<Core>,
}

impl Applications {
    /// Adds listings to what a user applied to. If one of them does not exist, none is added.
    pub async fn apply(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        self.core.may_apply_for(&call.actor, &user)?;
        let by = self.core.context(call);
        self.core.write(call, Apply { user: user.clone(), listings, by }).await?;
        self.core.attest_soon(&user).await;
        Ok(())
    }

    /// What a user applied to.
    pub async fn of_user(&self, call: &Call, user: UserId) -> Result<ApplicationMapping> {
        self.core.may_act_for(&call.actor, &user).await?;
        let listings = self.core.db.applications(&user).await?;
        if listings.is_empty() {
            return Err(Error::NotFound(ErrorCode::ApplicationNotFound));
        }
        Ok(ApplicationMapping { user, listings })
    }

    /// A piece of what a user applied to, which may be nothing.
    pub async fn page(
        &self,
        call: &Call,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Application>> {
        self.core.may_act_for(&call.actor, user).await?;
        Ok(self.core.db.applications_of(user, after, limit).await?)
    }

    /// A piece of those who applied to a listing, for its owner.
    pub async fn applicants(
        &self,
        call: &Call,
        listing: &ListingId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Applicant>> {
        self.core.own_listing(call, listing).await?;
        Ok(self.core.db.applicants(listing, after, limit).await?)
    }

    /// Which of a listing's terms an applicant meets, as the chain says; before a verification, none.
    pub async fn check(&self, call: &Call, user: &UserId, listing: &ListingId) -> Result<Passes> {
        let applicant = self.core.applicant_on_chain(call, user, listing).await?;
        let Some(applicant) = applicant else { return Ok(Passes::default()) };
        let listing = listing_key(listing);
        let (node, contracts) = self.core.reading()?;
        let read = || reads::application(node, contracts, &listing, &applicant);
        let passes = self.core.on_chain(Kind::Check, &check_key(&listing, &applicant), read).await?;
        Ok(passes.unwrap_or_default())
    }

    /// Where the four flags of an application stand on the chain; before a verification, nowhere.
    pub async fn record(&self, call: &Call, user: &UserId, listing: &ListingId) -> Result<Option<Record>> {
        let applicant = self.core.applicant_on_chain(call, user, listing).await?;
        let Some(applicant) = applicant else { return Ok(None) };
        self.core.record_of(Kind::Check, check_key(&listing_key(listing), &applicant)).await
    }
}

impl Core {
    /// By what the chain knows one who applied to a listing, if it does.
    pub(crate) async fn applicant_on_chain(
        &self,
        call: &Call,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<Option<Word>> {
        self.may_see_application(call, user, listing).await?;
        if !self.db.has_applied(user, listing).await? {
            return Err(Error::NotFound(ErrorCode::ApplicationNotFound));
        }
        Ok(self.db.chain_reference(user).await?)
    }

    /// Creating an application is the applicant's and the operator's alone. An account's key manages listings; it
    /// never applies for people, and neither does the owner of a listing.
    fn may_apply_for(&self, actor: &Actor, user: &UserId) -> Result<()> {
        match actor {
            Actor::Anonymous => self.allow_anonymous(),
            actor if actor.is_user(user) || actor.is_operator() => Ok(()),
            _ => Err(Error::Forbidden("only the applicant or the operator may apply")),
        }
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
    pub(crate) async fn end_orphaned_applications(&self) -> Result<usize> {
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
}
