//! Applications as their applicant, the listing's owner and the operator see them.

use portico_domain::applications::ApplicationStatus;
use portico_domain::chain::Terms;
use portico_domain::{AccountId, ApplicationId, ClientId, ListingId, Timestamp, UserId};
use portico_store::{Cursor, Page, StoredApplication};

use super::document::{OpenedApplication, RecordedDecision, TimelineEntry, open_document};
use super::evaluation::Evaluation;
use super::notice::Notice;
use super::service::Applications;
use crate::caller::CallContext;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::access::require_credential;

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
    /// The owner's account has asked about the applicant by too many different terms: there are no flags.
    pub is_withheld: bool,
    pub sharing: Sharing,
    pub decision: Option<RecordedDecision>,
    /// Complete only for the applicant; others see its date and the named checks.
    pub notice: Option<Notice>,
    pub is_applicant: bool,
    pub timeline: Vec<TimelineEntry>,
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
        let is_applicant = call.actor.is_user(user);
        let evaluation = self.core.shown_to_owner(&application).await?;
        let OpenedApplication { stored, document, .. } = application;
        let is_shared = stored.status.is_visible_to_owner();
        Ok(ApplicationView {
            terms: document.terms(),
            tag: stored.tag(),
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
            timeline: document.timeline,
        })
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
        self.core.may_act_for(&call.actor, user).await?;
        let Some(key) = self.core.keystore()?.person(user).await? else {
            return Ok(Page::of(Vec::new()));
        };
        let page = self.core.db.applications_page(&key.id(), after, limit).await?;
        let is_applicant = call.actor.is_user(user);
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
                evaluation => evaluation?,
            };
            let OpenedApplication { stored, document, .. } = application;
            items.push(Applicant {
                user: document.user,
                applied_at: stored.created_at,
                status: stored.status,
                evaluation,
                is_withheld: stored.status.is_visible_to_owner() && stored.is_withheld,
            });
        }
        Ok(Page { items, next, stable_up_to })
    }
}

impl Core {
    /// The flags and checks that the owner may see: none after the application has ended, and nothing about score or
    /// income before the disclosure is counted.
    pub(crate) async fn shown_to_owner(&self, application: &OpenedApplication) -> Result<Evaluation> {
        let OpenedApplication { stored, key, document } = application;
        if !stored.status.is_visible_to_owner() {
            return Ok(Evaluation::nothing());
        }
        let evaluation = self.evaluate(document, key).await?;
        // After the findings: a result that came after `stored` was read is not counted as disclosed yet.
        let is_disclosed = match self.db.application(&stored.id).await? {
            Some(present) if present.status.is_visible_to_owner() => present.is_disclosed(),
            _ => return Ok(Evaluation::nothing()),
        };
        let hides = evaluation.discloses && !is_disclosed;
        Ok(if hides { evaluation.undisclosed() } else { evaluation })
    }
}
