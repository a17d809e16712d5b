//! Changing an application: deciding it, sharing new results, ending the sharing.

use portico_domain::applications::{ApplicationStatus, Decision};
use portico_domain::{Description, ErrorCode, ListingId, UserId};
use portico_screening::Check;
use portico_store::audit::{Entry, SERVICE};
use portico_store::{ChangeApplication, ChangeContext, SharingChange};

use super::document::{NameCheck, OpenedApplication, Party, RecordedDecision};
use super::service::Applications;
use super::view::{ApplicationView, Reader};
use crate::caller::{Actor, CallContext};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::access::require_credential;

pub(super) const NOT_FOUND: Error = Error::NotFound(ErrorCode::ApplicationNotFound);
/// The newest ones are kept.
const MAX_NAME_CHECKS: usize = 20;
/// Attempts of a change that conflicts with others.
const MAX_ATTEMPTS: u32 = 10;

#[derive(Debug, Clone)]
pub struct DecisionRequest {
    pub decision: Decision,
    pub basis: Basis,
    pub note: Option<Description>,
    /// The tags of the versions that the caller has read.
    pub if_match: Option<Vec<String>>,
}

/// What a decision rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Nothing that the applicant shared; an approval need not name anything.
    NoReport,
    /// These checks.
    Checks(Vec<Check>),
}

/// What happens to an application.
pub(super) enum Change {
    EndSharing,
    Renew,
    Decide(DecisionRequest, Party),
    NoteNameCheck(NameCheck),
}

/// What a change leads to.
struct Changed {
    status: ApplicationStatus,
    sharing: SharingChange,
    entry: Entry,
    by: ChangeContext,
}

impl Applications {
    /// By the applicant alone. Clears the flags, and ends the sharing with the owner; a decision stays.
    pub async fn end_sharing(&self, call: &CallContext, user: &UserId, listing: &ListingId) -> Result<()> {
        if !call.actor.is_signed_in_as(user) {
            return Err(Error::Forbidden("only the applicant may end the sharing, with their own token"));
        }
        if self.core.claim_replay(call).await? {
            return Ok(());
        }
        let number = self.core.listing_number(listing).await?;
        self.change(call, user, number, &Change::EndSharing).await
    }

    /// Shares the applicant's present results instead of those of then. By the applicant alone, while it is open.
    pub async fn renew(&self, call: &CallContext, user: &UserId, listing: &ListingId) -> Result<()> {
        if !call.actor.is_signed_in_as(user) {
            return Err(Error::Forbidden("only the applicant may share new results, with their own token"));
        }
        if self.core.claim_replay(call).await? {
            return Ok(());
        }
        let number = self.core.listing_number(listing).await?;
        self.change(call, user, number, &Change::Renew).await
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
        self.change(call, user, number, &Change::Decide(request, party)).await
    }

    /// Neither the event nor the audit entry names the applicant.
    fn by_applicant(&self, application: &OpenedApplication, action: &'static str) -> (Entry, ChangeContext) {
        let entry = Entry {
            at: self.core.clock.now(),
            actor: "the applicant".into(),
            action,
            subject: application.stored.id.as_str().into(),
            detail: String::new(),
        };
        (entry, self.core.by_itself())
    }

    fn ended(&self, application: &mut OpenedApplication) -> Result<Changed> {
        let stored = &application.stored;
        if stored.has_ended {
            return Err(Error::Conflict(ErrorCode::ApplicationWithdrawn));
        }
        let status = stored.status.end_sharing().map_err(Error::Conflict)?;
        if status == ApplicationStatus::Withdrawn {
            application.document.changed(status, (Party::Applicant, self.core.clock.now()));
        }
        let (entry, by) = self.by_applicant(application, "application.sharing_ended");
        Ok(Changed { status, sharing: SharingChange::End, entry, by })
    }

    async fn renewed(&self, application: &mut OpenedApplication) -> Result<Changed> {
        let OpenedApplication { stored, key, document } = &mut *application;
        stored.status.open().map_err(Error::Conflict)?;
        let report = self.core.present_report(&document.user, key, &document.required()).await?;
        if !report.agrees_with(&document.report) {
            return Err(Error::Conflict(ErrorCode::OtherIdentity));
        }
        document.report = report;
        let status = stored.status;
        let (entry, by) = self.by_applicant(application, "application.report_renewed");
        Ok(Changed { status, sharing: SharingChange::Renew, entry, by })
    }

    fn name_checked(&self, application: &mut OpenedApplication, check: &NameCheck) -> Changed {
        let checks = &mut application.document.name_checks;
        checks.push(check.clone());
        checks.drain(..checks.len().saturating_sub(MAX_NAME_CHECKS));
        let status = application.stored.status;
        let (entry, by) = self.by_applicant(application, "application.name_checked");
        Changed { status, sharing: SharingChange::Keep, entry: Entry { actor: SERVICE.into(), ..entry }, by }
    }

    /// Writes a decision into the document.
    async fn decided(
        &self,
        call: &CallContext,
        application: &mut OpenedApplication,
        (request, party): (&DecisionRequest, Party),
    ) -> Result<Changed> {
        let now = self.core.clock.now();
        let (shown, findings) = self.core.shown_to_owner(application).await?;
        if let Some(tags) = &request.if_match {
            let view = ApplicationView::new(application.clone(), shown.clone(), &findings, Reader::Other);
            if !tags.contains(&view.tag) {
                return Err(Error::Outdated);
            }
        }
        let status = application.stored.status.decide(request.decision).map_err(Error::Conflict)?;
        let is_valid =
            |check: &Check| shown.checks.iter().any(|state| state.check == *check && state.status.is_valid());
        let reasons = match &request.basis {
            Basis::NoReport => &[][..],
            Basis::Checks(checks) => checks,
        };
        if !reasons.iter().all(is_valid) {
            return Err(Error::Conflict(ErrorCode::CheckNotValid));
        }
        let OpenedApplication { stored, document, .. } = application;
        let is_adverse = request.decision.is_adverse() && !reasons.is_empty();
        document.notice = is_adverse.then(|| self.core.notice(reasons, &findings));
        let note = request.note.clone();
        document.decision = Some(RecordedDecision::new(request.decision, reasons.to_vec(), note, now));
        document.changed(status, (party, now));
        let entry = self.core.entry(call, "application.decided", stored.id.as_str(), request.decision.name());
        Ok(Changed { status, sharing: SharingChange::Keep, entry, by: self.core.context(call) })
    }

    /// Changes the newest application to a listing. Of two changes at once the second one sees the first.
    pub(super) async fn change(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: i64,
        change: &Change,
    ) -> Result<()> {
        for _ in 0..MAX_ATTEMPTS {
            let mut application = self.core.newest_application(user, listing).await?;
            let Changed { status, sharing, entry, by } = match change {
                Change::EndSharing => self.ended(&mut application)?,
                Change::Renew => self.renewed(&mut application).await?,
                Change::Decide(request, party) => {
                    self.decided(call, &mut application, (request, *party)).await?
                }
                Change::NoteNameCheck(check) => self.name_checked(&mut application, check),
            };
            let OpenedApplication { stored, key, document } = application;
            let (document, version) = (document.seal(&key, &stored.id)?, stored.version);
            let op = ChangeApplication { id: stored.id, version, status, sharing, document, entry, by };
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
