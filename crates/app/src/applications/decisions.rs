//! Withdrawing and deciding an application.

use portico_domain::applications::{ApplicationStatus, Decision};
use portico_domain::{Description, ErrorCode, ListingId, UserId};
use portico_screening::Check;
use portico_store::ChangeApplication;
use portico_store::audit::Entry;

use super::document::{OpenedApplication, Party, RecordedDecision};
use super::service::Applications;
use crate::caller::{Actor, CallContext};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::access::require_credential;

const NOT_FOUND: Error = Error::NotFound(ErrorCode::ApplicationNotFound);
/// Attempts of a change that conflicts with others.
const MAX_ATTEMPTS: u32 = 10;

#[derive(Debug, Clone)]
pub struct DecisionRequest {
    pub decision: Decision,
    /// The checks that it is based on.
    pub reasons: Vec<Check>,
    pub note: Option<Description>,
    /// The tags of the versions that the caller has read.
    pub if_match: Option<Vec<String>>,
}

/// What happens to an open application.
enum Change {
    Withdraw,
    Decide(DecisionRequest, Party),
}

impl Applications {
    /// By the applicant alone. Clears the flags, and ends the sharing with the owner.
    pub async fn withdraw(&self, call: &CallContext, user: &UserId, listing: &ListingId) -> Result<()> {
        if !call.actor.is_user(user) {
            return Err(Error::Forbidden("only the applicant may withdraw an application"));
        }
        if self.core.claim_replay(call).await? {
            return Ok(());
        }
        let number = self.core.listing_number(listing).await?;
        self.change(call, user, number, Change::Withdraw).await
    }

    /// By the listing's owner or the operator. A decline or a condition that names checks notifies the applicant.
    pub async fn decide(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: &ListingId,
        request: DecisionRequest,
    ) -> Result<()> {
        require_credential(&call.actor)?;
        let number = self.core.own_listing_number(call, listing).await?;
        if self.core.claim_replay(call).await? {
            return Ok(());
        }
        let party = deciding_party(&call.actor);
        self.change(call, user, number, Change::Decide(request, party)).await
    }

    fn withdrawn(&self, application: &mut OpenedApplication) -> Result<(ApplicationStatus, Entry)> {
        let status = application.stored.status.withdraw().map_err(Error::Conflict)?;
        let now = self.core.clock.now();
        application.document.changed(status, (Party::Applicant, now));
        let entry = Entry {
            at: now,
            actor: "the applicant".into(),
            action: "application.withdrawn",
            subject: application.stored.id.as_str().into(),
            detail: String::new(),
        };
        Ok((status, entry))
    }

    /// Writes a decision into the document.
    async fn decided(
        &self,
        call: &CallContext,
        application: &mut OpenedApplication,
        (request, party): (&DecisionRequest, Party),
    ) -> Result<(ApplicationStatus, Entry)> {
        if request.if_match.as_ref().is_some_and(|tags| !tags.contains(&application.stored.tag())) {
            return Err(Error::Outdated);
        }
        let status = application.stored.status.decide(request.decision).map_err(Error::Conflict)?;
        let now = self.core.clock.now();
        let shown = self.core.shown_to_owner(application).await?;
        let is_valid =
            |check: &Check| shown.checks.iter().any(|state| state.check == *check && state.status.is_valid());
        if !request.reasons.iter().all(is_valid) {
            return Err(Error::Conflict(ErrorCode::CheckNotValid));
        }
        let document = &mut application.document;
        let findings = self.core.person_findings(&document.user, &document.country, &application.key).await?;
        let is_adverse = request.decision.is_adverse() && !request.reasons.is_empty();
        document.notice = is_adverse.then(|| self.core.notice(&request.reasons, &findings));
        let (reasons, note) = (request.reasons.clone(), request.note.clone());
        document.decision = Some(RecordedDecision::new(request.decision, reasons, note, now));
        document.changed(status, (party, now));
        let id = application.stored.id.as_str();
        Ok((status, self.core.entry(call, "application.decided", id, request.decision.name())))
    }

    /// Changes the newest application to a listing. Of two changes at once the second one sees the first.
    async fn change(&self, call: &CallContext, user: &UserId, listing: i64, change: Change) -> Result<()> {
        for _ in 0..MAX_ATTEMPTS {
            let mut application = self.core.newest_application(user, listing).await?;
            let ((status, entry), by) = match &change {
                Change::Withdraw => (self.withdrawn(&mut application)?, self.core.by_itself()),
                Change::Decide(request, party) => {
                    let decided = self.decided(call, &mut application, (request, *party)).await?;
                    (decided, self.core.context(call))
                }
            };
            let OpenedApplication { stored, key, document } = application;
            let (document, version) = (document.seal(&key, &stored.id)?, stored.version);
            let op = ChangeApplication { id: stored.id, version, status, document, entry, by };
            match self.core.write(call, op).await {
                Err(Error::Outdated) => {}
                Err(error) => return Err(error),
                Ok(()) => {
                    self.core.record_flags_or_defer(user).await;
                    self.core.chain.wake();
                    return Ok(());
                }
            }
        }
        Err(Error::Unavailable("an application changes all the time".into()))
    }
}

fn deciding_party(actor: &Actor) -> Party {
    if actor.is_operator() { Party::Operator } else { Party::Owner }
}

impl Core {
    /// The creation number of the listing that has this id now.
    pub(crate) async fn listing_number(&self, listing: &ListingId) -> Result<i64> {
        self.db.listing_number(listing).await?.ok_or(NOT_FOUND)
    }

    /// The person's newest application to a listing.
    pub(crate) async fn newest_application(&self, user: &UserId, listing: i64) -> Result<OpenedApplication> {
        let key = self.keystore()?.person(user).await?.ok_or(NOT_FOUND)?;
        let stored = self.db.newest_application(&key.id(), listing).await?.ok_or(NOT_FOUND)?;
        OpenedApplication::new(key, stored)
    }
}
