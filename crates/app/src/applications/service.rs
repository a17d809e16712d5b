//! Applications of users to listings. Applying, reading and deciding have different rules.

use std::sync::Arc;

use portico_chain::reads;
use portico_domain::applications::ApplicationMapping;
use portico_domain::chain::Passes;
use portico_domain::{AccountId, ErrorCode, ListingId, UserId};
use portico_records::{ItemKind, listing_key};
use portico_screening::Check;
use portico_store::{ListingItem, ListingSubmission, StoredListing, SubmitApplications};

use super::document::{Conditions, Document, OpenedApplication, Party, open_document};
use super::evaluation::checks_of_terms;
use crate::caller::{Actor, CallContext};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::operation::chain::Record;
use crate::people::keystore::PersonKey;

/// Attempts to submit while the listing is replaced.
const MAX_ATTEMPTS: u32 = 10;

#[derive(Debug)]
pub struct Applications {
    pub(crate) core: Arc<Core>,
}

impl Applications {
    /// All or nothing: if one listing does not exist, none is added. An open application stays as it is.
    pub async fn apply(&self, call: &CallContext, user: UserId, listings: Vec<ListingId>) -> Result<()> {
        self.may_apply_for(&call.actor, &user)?;
        self.core.remember_tenant(&call.actor).await?;
        for _ in 0..MAX_ATTEMPTS {
            let (key, lifetime) = self.core.person_key(&user).await?;
            let mut wanted = Vec::with_capacity(listings.len());
            for listing in &listings {
                wanted.push(self.new_submission(call, &key, &user, listing).await?);
            }
            // Neither the event nor the audit entry links the applicant to the application.
            let op = SubmitApplications {
                user: user.clone(),
                person: key.id(),
                lifetime,
                wanted,
                budget: self.core.record_budget(call).await?,
                by: self.core.by_itself(),
            };
            match self.core.write(call, op).await {
                // `IdentityRevoked`: the person was erased and starts again.
                Err(Error::Outdated | Error::Conflict(ErrorCode::IdentityRevoked)) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    self.core.record_flags_or_defer(&user).await;
                    return Ok(());
                }
            }
        }
        Err(Error::Unavailable("a listing is replaced all the time".into()))
    }

    /// The listings of a user's open and decided applications.
    pub async fn of_user(&self, call: &CallContext, user: UserId) -> Result<ApplicationMapping> {
        self.core.may_act_for(&call.actor, &user).await?;
        let mut listings = Vec::new();
        if let Some(key) = self.core.keystore()?.person(&user).await? {
            for stored in self.core.db.applications_of(&key.id()).await? {
                let listing = open_document(&key, &stored)?.listing;
                // The newest application to a listing counts.
                let is_listed = listings.contains(&listing);
                match stored.status.is_visible_to_owner() {
                    true if !is_listed => listings.push(listing),
                    false if is_listed => listings.retain(|other| *other != listing),
                    _ => {}
                }
            }
        }
        if listings.is_empty() {
            return Err(Error::NotFound(ErrorCode::ApplicationNotFound));
        }
        Ok(ApplicationMapping { user, listings })
    }

    /// Which of a listing's terms an applicant meets, as recorded on the chain; none once that has expired.
    pub async fn check(&self, call: &CallContext, user: &UserId, listing: &ListingId) -> Result<Passes> {
        let application = self.visible_application(call, user, listing).await?;
        if !application.stored.status.is_visible_to_owner() {
            return Ok(Passes::default());
        }
        let now = self.core.clock.now();
        if application.stored.flags_expire_at.is_some_and(|at| at <= now) {
            return Ok(Passes::default());
        }
        let Document { listing, reference, .. } = &application.document;
        let listing = listing_key(listing);
        let (node, contracts) = self.core.chain.reader()?;
        let read = || reads::application(node, contracts, &listing, reference);
        let flags =
            self.core.on_chain(call, ItemKind::Check, &application.document.chain_key(), read).await?;
        Ok(flags.filter(|flags| flags.expires_at > now).map(|flags| flags.passes).unwrap_or_default())
    }

    /// The chain record of an application's flags; `None` before a verification.
    pub async fn record(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<Option<Record>> {
        let application = self.visible_application(call, user, listing).await?;
        self.core.record_of(call, ItemKind::Check, application.document.chain_key()).await
    }

    /// The newest application to a listing, for those who may see it.
    pub(super) async fn visible_application(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<OpenedApplication> {
        let number = self.visible_listing_number(call, user, listing).await?;
        self.core.newest_application(user, number).await
    }

    /// Only the applicant and the operator may apply. An account's key manages listings but never applies for people;
    /// neither does a listing's owner.
    fn may_apply_for(&self, actor: &Actor, user: &UserId) -> Result<()> {
        match actor {
            Actor::Anonymous => self.core.allow_anonymous(),
            actor if actor.is_user(user) || actor.is_operator() => Ok(()),
            _ => Err(Error::Forbidden("only the applicant or the operator may apply")),
        }
    }

    /// The listing whose applications of a user the caller may see: the applicant, the listing's owner and the
    /// operator.
    async fn visible_listing_number(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<i64> {
        match self.core.may_act_for(&call.actor, user).await {
            Err(Error::Forbidden(why)) => match self.core.own_listing_number(call, listing).await {
                Err(Error::NotFound(_)) => Err(Error::Forbidden(why)),
                owned => owned,
            },
            allowed => {
                allowed?;
                self.core.listing_number(listing).await
            }
        }
    }

    /// A new application to a listing, with what it freezes.
    async fn new_submission(
        &self,
        call: &CallContext,
        key: &PersonKey,
        user: &UserId,
        id: &ListingId,
    ) -> Result<ListingSubmission> {
        let Some(stored) = self.core.db.stored_listing(id).await? else {
            return Ok(ListingSubmission { listing: id.clone(), new: None, refusal: None });
        };
        let listing = &stored.listing;
        let refusal = match listing.user == *user {
            true => Some(ErrorCode::OwnListing),
            false if !listing.status.is_available() => Some(ErrorCode::ListingNotAvailable),
            false => None,
        };
        let party = if call.actor.is_user(user) { Party::Applicant } else { Party::Operator };
        let now = self.core.clock.now();
        let conditions = self.conditions(&stored).await?;
        let document = Document::new(user, id, conditions, self.core.random()?, (party, now));
        let new = self.core.new_application(key, &document, stored.version.seq, now)?;
        Ok(ListingSubmission { listing: id.clone(), new: Some((new, stored.version)), refusal })
    }

    /// What an application to this listing freezes: the terms, and the checks of the pipeline of the owner's account,
    /// or else those that the terms need.
    pub(super) async fn conditions(
        &self,
        StoredListing { listing, item, .. }: &StoredListing,
    ) -> Result<Conditions> {
        let terms = item.as_ref().map(ListingItem::terms).transpose()?;
        let tenant = self.core.db.tenant_of(&listing.user).await?;
        let (checks, country, client) = match self.core.db.pipeline(&tenant).await? {
            Some(pipeline) => {
                let checks = Check::ALL.into_iter().filter(|check| check.required_by(&pipeline)).collect();
                (checks, pipeline.country, pipeline.client)
            }
            None => (terms.as_ref().map(checks_of_terms).unwrap_or_default(), None, None),
        };
        let country = country.unwrap_or_else(|| self.core.country.clone());
        let account = AccountId::stored(tenant.name());
        Ok(Conditions { owner: listing.user.clone(), account, terms, checks, country, client })
    }
}
