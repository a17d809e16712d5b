//! Applications of users to listings. Applying, reading and deciding have different rules.

use std::sync::Arc;

use portico_chain::reads;
use portico_domain::applications::ApplicationMapping;
use portico_domain::chain::Passes;
use portico_domain::{ErrorCode, FaultCode, ListingId, UserId, ValidationError};
use portico_records::ItemKind;
use portico_store::{ListingSubmission, StoredApplication, SubmitApplications};

use super::conditions::SeenConditions;
use super::decisions::NOT_FOUND;
use super::document::{Document, OpenedApplication, Party, open_document};
use crate::caller::{Actor, CallContext};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::operation::chain::{PENDING, Record};
use crate::people::keystore::PersonKey;

/// Attempts to submit while the listing is replaced.
const MAX_ATTEMPTS: u32 = 10;

#[derive(Debug)]
pub struct Applications {
    pub(crate) core: Arc<Core>,
}

impl Applications {
    /// All or nothing: if one listing does not exist, none is added. An open application stays as it is.
    /// Conditions that the applicant has seen must still hold.
    pub async fn apply(
        &self,
        call: &CallContext,
        user: UserId,
        listings: Vec<ListingId>,
        seen: SeenConditions,
    ) -> Result<()> {
        self.may_apply_for(&call.actor, &user)?;
        self.core.remember_tenant(&call.actor).await?;
        for _ in 0..MAX_ATTEMPTS {
            let (key, lifetime) = self.core.person_key(&user).await?;
            let (mut wanted, mut changed) = (Vec::with_capacity(listings.len()), Vec::new());
            for (index, listing) in listings.iter().enumerate() {
                match self.new_submission(call, &key, &user, listing, seen.get(listing.as_str())).await {
                    Err(Error::ConditionsChanged(_)) => changed.push(index),
                    submission => wanted.push(submission?),
                }
            }
            if !changed.is_empty() {
                return Err(Error::ConditionsChanged(changed));
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
        self.core.may_read_person(&call.actor, &user)?;
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

    /// Which of a listing's terms an applicant meets, as the chain attests it; none once that has expired.
    pub async fn check(&self, call: &CallContext, user: &UserId, listing: &ListingId) -> Result<Passes> {
        let application = self.visible_application(call, user, listing).await?;
        let (stored, salt) = (&application.stored, application.salt()?);
        let Some(salt) = salt.filter(|_| stored.is_shared()) else { return Ok(Passes::default()) };
        let (node, contracts) = self.core.chain.reader()?;
        let read = || reads::application(node, contracts, &stored.chain_key);
        let commitment = self.core.on_chain(call, ItemKind::Check, &stored.chain_key, read).await?;
        let Some(commitment) = commitment else { return Ok(Passes::default()) };
        match commitment.open(&stored.chain_key, &salt) {
            Some(flags) if flags.expires_at() > self.core.clock.now() => Ok(flags.passes),
            Some(_) => Ok(Passes::default()),
            None => Err(self.unopened(stored).await?),
        }
    }

    /// The chain has something else than this state of the application commits to.
    async fn unopened(&self, seen: &StoredApplication) -> Result<Error> {
        let present = self.core.db.application(&seen.id).await?;
        if present.is_none_or(|present| present.salt != seen.salt) {
            return Ok(PENDING);
        }
        Ok(Error::Bug(format!("the salt of application {} does not open its record", seen.id)))
    }

    /// The chain record of an application's flags; `None`: nothing is attested.
    pub async fn record(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<Option<Record>> {
        let application = self.visible_application(call, user, listing).await?;
        self.core.record_of(call, ItemKind::Check, application.stored.chain_key).await
    }

    /// The newest application to a listing, for those who may see it. For the applicant and the operator also one to a
    /// listing that was deleted: its notice stays readable.
    pub(super) async fn visible_application(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<OpenedApplication> {
        match self.core.may_read_person(&call.actor, user) {
            Err(Error::Forbidden(why)) => {
                let number = match self.core.own_listing_number(call, listing).await {
                    Err(Error::NotFound(_)) => return Err(Error::Forbidden(why)),
                    owned => owned?,
                };
                self.core.newest_application(user, number).await
            }
            allowed => {
                allowed?;
                let present = match self.core.db.listing_number(listing).await? {
                    Some(number) => self.core.newest_application(user, number).await,
                    None => Err(NOT_FOUND),
                };
                match present {
                    Err(Error::NotFound(_)) => self.application_to_deleted(user, listing).await,
                    present => present,
                }
            }
        }
    }

    /// The newest of a person's applications to listings that had this id.
    async fn application_to_deleted(&self, user: &UserId, listing: &ListingId) -> Result<OpenedApplication> {
        let key = self.core.keystore()?.person(user).await?.ok_or(NOT_FOUND)?;
        for stored in self.core.db.applications_of(&key.id()).await?.into_iter().rev() {
            let application = OpenedApplication::new(key.clone(), stored)?;
            if application.document.listing == *listing {
                return Ok(application);
            }
        }
        Err(NOT_FOUND)
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

    /// A new application to a listing, with what it freezes.
    async fn new_submission(
        &self,
        call: &CallContext,
        key: &PersonKey,
        user: &UserId,
        id: &ListingId,
        seen: Option<&String>,
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
        let conditions = self.conditions_of(&stored).await?;
        match seen {
            Some(tag) if *tag != self.tag(&conditions, &stored) => {
                return Err(Error::ConditionsChanged(Vec::new()));
            }
            None if self.core.screening.requires_conditions => {
                let fault = ValidationError::new(FaultCode::Missing, "is required for every listing");
                return Err(Error::Invalid { pointer: "/conditions", fault });
            }
            _ => {}
        }
        let document = Document::new(user, id, conditions, seen.is_some(), (party, now));
        let new = self.core.new_application(key, &document, stored.version.seq, now)?;
        Ok(ListingSubmission { listing: id.clone(), new: Some((new, stored.version)), refusal })
    }
}
