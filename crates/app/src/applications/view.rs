//! Applications as their applicant, the listing's owner and the operator see them.

use portico_domain::applications::ApplicationStatus;
use portico_domain::chain::Terms;
use portico_domain::{AccountId, ApplicationId, ClientId, ListingId, Timestamp, UserId};
use portico_screening::Check;
use portico_store::{Cursor, Page, StoredApplication};

use super::document::{NameCheck, OpenedApplication, RecordedDecision, TimelineEntry, open_document};
use super::evaluation::Evaluation;
use super::notice::Notice;
use super::report::ReportFindings;
use super::service::Applications;
use super::tag::tag_of;
use crate::caller::CallContext;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::access::require_credential;
use crate::screening::results::CheckReport;

#[derive(Debug)]
pub struct ApplicationView {
    pub id: ApplicationId,
    pub user: UserId,
    pub listing: ListingId,
    pub status: ApplicationStatus,
    /// The ETag of this version.
    pub tag: String,
    pub applied_at: Timestamp,
    /// `None`: the listing had no terms.
    pub terms: Option<Terms>,
    pub evaluation: Evaluation,
    /// What is shared; empty once the sharing has ended.
    pub findings: Vec<SharedFinding>,
    /// Too many different terms were asked for: there are no flags.
    pub is_withheld: bool,
    pub sharing: Sharing,
    pub decision: Option<RecordedDecision>,
    /// Complete only for the applicant; others see its date and the named checks.
    pub notice: Option<Notice>,
    pub is_applicant: bool,
    pub conditions_seen: bool,
    /// When the owner checked a name, and whether it was that of the report.
    pub name_checks: Vec<NameCheck>,
    pub timeline: Vec<TimelineEntry>,
}

/// A finding of the report that is shared, without its value.
#[derive(Debug)]
pub struct SharedFinding {
    pub check: Check,
    pub bureau: String,
    pub reported_at: Timestamp,
    pub expires_at: Timestamp,
}

/// Who reads an application. Only its applicant sees a whole notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reader {
    Applicant,
    Other,
}

/// The owner and the account that see the applicant's flags and checks.
#[derive(Debug)]
pub struct Sharing {
    pub owner: UserId,
    pub account: AccountId,
    /// Whose pipeline requires the checks.
    pub client: Option<ClientId>,
    /// False: the sharing has ended.
    pub is_active: bool,
}

/// One of a user's applications.
#[derive(Debug)]
pub struct ApplicationSummary {
    pub id: ApplicationId,
    pub listing: ListingId,
    pub status: ApplicationStatus,
    pub applied_at: Timestamp,
    pub decision: Option<RecordedDecision>,
    /// For the applicant alone.
    pub notice: Option<Notice>,
}

/// Someone who applied to a listing.
#[derive(Debug)]
pub struct Applicant {
    pub user: UserId,
    pub applied_at: Timestamp,
    pub status: ApplicationStatus,
    pub evaluation: Evaluation,
    pub is_withheld: bool,
}

impl Applications {
    /// For the applicant, the listing's owner and the operator.
    pub async fn view(
        &self,
        call: &CallContext,
        user: &UserId,
        listing: &ListingId,
    ) -> Result<ApplicationView> {
        require_credential(&call.actor)?;
        let application = self.visible_application(call, user, listing).await?;
        let reader = if call.actor.is_signed_in_as(user) { Reader::Applicant } else { Reader::Other };
        let (evaluation, findings) = self.core.shown_to_owner(&application).await?;
        Ok(ApplicationView::new(application, evaluation, &findings, reader))
    }

    /// A page of a user's applications; may be empty.
    pub async fn page(
        &self,
        call: &CallContext,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<ApplicationSummary>> {
        require_credential(&call.actor)?;
        self.core.may_read_person(&call.actor, user)?;
        let Some(key) = self.core.keystore()?.person(user).await? else {
            return Ok(Page::of(Vec::new()));
        };
        let page = self.core.db.applications_page(&key.id(), after, limit).await?;
        let is_applicant = call.actor.is_signed_in_as(user);
        let summary = |stored: StoredApplication| {
            let document = open_document(&key, &stored)?;
            Ok(ApplicationSummary {
                id: stored.id,
                listing: document.listing,
                status: stored.status,
                applied_at: stored.created_at,
                decision: document.decision,
                notice: document.notice.filter(|_| is_applicant),
            })
        };
        let Page { items, next, stable_up_to } = page;
        Ok(Page { items: items.into_iter().map(summary).collect::<Result<_>>()?, next, stable_up_to })
    }

    /// A page of a listing's applicants, for its owner.
    pub async fn applicants(
        &self,
        call: &CallContext,
        listing: &ListingId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Applicant>> {
        require_credential(&call.actor)?;
        let number = self.core.own_listing_number(call, listing).await?;
        let Page { items: found, next, stable_up_to } = self.core.db.applicants(number, after, limit).await?;
        let mut items = Vec::with_capacity(found.len());
        for stored in found {
            let Some(application) = self.core.open_application(stored).await? else { continue };
            let evaluation = match self.core.shown_to_owner(&application).await {
                Err(Error::Bug(error)) => {
                    tracing::error!(application = %application.stored.id, error, "it cannot be read");
                    Evaluation::nothing()
                }
                shown => shown?.0,
            };
            let OpenedApplication { stored, document, .. } = application;
            items.push(Applicant {
                user: document.user,
                applied_at: stored.created_at,
                status: stored.status,
                evaluation,
                is_withheld: stored.is_shared() && stored.is_withheld,
            });
        }
        Ok(Page { items, next, stable_up_to })
    }
}

impl ApplicationView {
    pub(super) fn new(
        OpenedApplication { stored, document, .. }: OpenedApplication,
        evaluation: Evaluation,
        findings: &ReportFindings,
        reader: Reader,
    ) -> Self {
        let (is_shared, is_applicant) = (stored.is_shared(), reader == Reader::Applicant);
        let mut view = Self {
            tag: String::new(),
            terms: document.terms(),
            findings: shared_findings(findings),
            id: stored.id,
            status: stored.status,
            applied_at: stored.created_at,
            evaluation,
            is_withheld: is_shared && stored.is_withheld,
            sharing: Sharing {
                owner: document.owner,
                account: document.account,
                client: document.client,
                is_active: is_shared,
            },
            user: document.user,
            listing: document.listing,
            decision: document.decision,
            notice: document.notice.map(|notice| if is_applicant { notice } else { notice.outline() }),
            is_applicant,
            conditions_seen: document.conditions_seen,
            name_checks: document.name_checks,
            timeline: document.timeline,
        };
        view.tag = view.digest();
        view
    }

    /// Identifies what is shown here, and depends on nothing else.
    fn digest(&self) -> String {
        let sharing = (&self.evaluation, &self.findings, self.is_withheld, self.sharing.is_active);
        let events = (&self.decision, &self.notice, &self.timeline, &self.name_checks);
        tag_of(&(&self.id, self.status, self.is_applicant, sharing, events))
    }
}

fn shared_findings(findings: &ReportFindings) -> Vec<SharedFinding> {
    let shared = |report: &CheckReport| SharedFinding {
        check: report.check,
        bureau: report.bureau.clone(),
        reported_at: report.finished_at(),
        expires_at: report.expires_at(),
    };
    findings.reports().map(shared).collect()
}

impl Core {
    /// The flags and checks that the owner may see, and the findings behind them: none after the sharing has ended, and
    /// nothing about score and income in the flags and checks if that is withheld.
    pub(crate) async fn shown_to_owner(
        &self,
        application: &OpenedApplication,
    ) -> Result<(Evaluation, ReportFindings)> {
        let OpenedApplication { stored, key, document } = application;
        if !stored.is_shared() {
            return Ok((Evaluation::nothing(), ReportFindings::default()));
        }
        let findings = self.report_findings(key, &document.report, &document.country).await?;
        let evaluation = self.evaluate(document, &findings);
        // A report is stored together with its disclosure; a renewed one may wait for that.
        let is_disclosed = !stored.is_withheld && stored.generation == stored.computed;
        let hides = evaluation.discloses && !is_disclosed;
        Ok((if hides { evaluation.undisclosed() } else { evaluation }, findings))
    }
}
