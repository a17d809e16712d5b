//! Applications of users to listings. Creating and reading have different rules.

use std::sync::Arc;

use portico_chain::contracts::{ItemKind, check_key, cleared_check, listing_key};
use portico_chain::reads;
use portico_domain::applications::{Applicant, Application, ApplicationMapping};
use portico_domain::chain::Passes;
use portico_domain::{ErrorCode, ListingId, UserId};
use portico_store::chain::Word;
use portico_store::{Apply, ChangeContext, Cursor, EndOrphanedApplications, Page};

use crate::chain::Record;
use crate::{Actor, Call, Core, Error, Result};

/// Listings per batch when orphaned applications are removed.
const ORPHAN_BATCH: i64 = 256;

#[derive(Debug)]
pub struct Applications {
    pub(crate) core: Arc<Core>,
}

impl Applications {
    /// All or nothing: if one listing does not exist, none is added.
    pub async fn apply(&self, call: &Call, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        self.core.may_apply_for(&call.actor, &user)?;
        let by = self.core.context(call);
        self.core.write(call, Apply { user: user.clone(), listings, by }).await?;
        self.core.attest_or_defer(&user).await;
        Ok(())
    }

    pub async fn of_user(&self, call: &Call, user: UserId) -> Result<ApplicationMapping> {
        self.core.may_act_for(&call.actor, &user).await?;
        let listings = self.core.db.applications(&user).await?;
        if listings.is_empty() {
            return Err(Error::NotFound(ErrorCode::ApplicationNotFound));
        }
        Ok(ApplicationMapping { user, listings })
    }

    /// A page of a user's applications; may be empty.
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

    /// A page of a listing's applicants, for its owner.
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

    /// Which of a listing's terms an applicant meets, as recorded on the chain; none before a verification.
    pub async fn check(&self, call: &Call, user: &UserId, listing: &ListingId) -> Result<Passes> {
        let applicant = self.core.applicant_on_chain(call, user, listing).await?;
        let Some(applicant) = applicant else { return Ok(Passes::default()) };
        let listing = listing_key(listing);
        let (node, contracts) = self.core.chain_reader()?;
        let read = || reads::application(node, contracts, &listing, &applicant);
        let passes = self.core.on_chain(ItemKind::Check, &check_key(&listing, &applicant), read).await?;
        Ok(passes.unwrap_or_default())
    }

    /// The chain record of an application's flags; `None` before a verification.
    pub async fn record(&self, call: &Call, user: &UserId, listing: &ListingId) -> Result<Option<Record>> {
        let applicant = self.core.applicant_on_chain(call, user, listing).await?;
        let Some(applicant) = applicant else { return Ok(None) };
        self.core.record_of(ItemKind::Check, check_key(&listing_key(listing), &applicant)).await
    }
}

impl Core {
    /// The applicant's reference on the chain, if there is one.
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

    /// Only the applicant and the operator may apply. An account's key manages listings but never applies for people;
    /// neither does a listing's owner.
    fn may_apply_for(&self, actor: &Actor, user: &UserId) -> Result<()> {
        match actor {
            Actor::Anonymous => self.allow_anonymous(),
            actor if actor.is_user(user) || actor.is_operator() => Ok(()),
            _ => Err(Error::Forbidden("only the applicant or the operator may apply")),
        }
    }

    /// For the applicant, the listing's owner and the operator.
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

    /// Removes applications to listings that do not exist; returns the number of listings. Before version 0.2,
    /// applications outlived their listing and could precede it.
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
