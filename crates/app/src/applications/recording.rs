//! Computes what applications share, and commits to their flags on the chain. Scores and incomes never leave the
//! database, and flags only to those who may see them.

use portico_domain::applications::ApplicationStatus;
use portico_domain::{Timestamp, UserId};
use portico_records::{CheckFlags, Content, ItemKind};
use portico_store::audit::{Entry, SERVICE};
use portico_store::chain::RetireItems;
use portico_store::keystore::PersonId;
use portico_store::{
    ChangeContext, DeleteOrphanedApplications, Disclosure, FlagRecord, ReportOutcome, StoreReport,
    StoredApplication,
};

use super::document::{Document, OpenedApplication, sealed_salt};
use super::evaluation::Evaluation;
use super::report::ReportFindings;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::keystore::PersonKey;

const MAX_APPLICATIONS_PER_BATCH: i64 = 256;
const PEOPLE_PER_PAGE: i64 = 256;
const ITEMS_PER_PAGE: i64 = 256;
/// The maximum of different sets of terms per account and person within [`DISCLOSURE_WINDOW_SECONDS`].
const MAX_DISCLOSED_TERMS: i64 = 5;
const DISCLOSURE_WINDOW_SECONDS: i64 = 30 * 24 * 60 * 60;

impl Core {
    /// Records one user's flags. Failures stay due and are retried later.
    pub(crate) async fn record_flags_or_defer(&self, user: &UserId) {
        let recorded = async {
            let Some(key) = self.keystore()?.person(user).await? else { return Ok(0) };
            self.record_flags(Some(&key.id())).await
        };
        if let Err(error) = recorded.await {
            tracing::warn!(%error, "flags could not be recorded; they are retried later");
        }
    }

    /// Records the flags of applications that are due, of one person or of all; returns how many.
    pub(crate) async fn record_flags(&self, of: Option<&PersonId>) -> Result<u64> {
        let mut recorded = 0;
        for stored in self.db.due_applications(of, MAX_APPLICATIONS_PER_BATCH).await? {
            let id = stored.id.clone();
            match self.record_report(stored).await {
                Ok(is_recorded) => recorded += u64::from(is_recorded),
                // One that cannot be read must not hold up the others.
                Err(Error::Bug(error)) => {
                    tracing::error!(application = %id, error, "its flags cannot be computed");
                }
                Err(error) => return Err(error),
            }
        }
        if recorded > 0 {
            self.chain.wake();
        }
        Ok(recorded)
    }

    async fn record_report(&self, stored: StoredApplication) -> Result<bool> {
        let person = stored.person;
        let Some(application) = self.open_application(stored).await? else {
            let is_left = self.orphans.are_left(person);
            if is_left {
                self.db.write(DeleteOrphanedApplications { person, by: self.by_itself() }).await?;
            }
            return Ok(is_left);
        };
        let outcome = self.db.write(self.new_report(&application).await?).await?;
        Ok(outcome != ReportOutcome::Outdated)
    }

    /// What an application shares now, and what the chain is to say about it.
    async fn new_report(&self, application: &OpenedApplication) -> Result<StoreReport> {
        let OpenedApplication { stored, key, document } = application;
        let newest = self.db.newest_application(&stored.person, stored.listing).await?;
        let is_newest = newest.is_some_and(|newest| newest.id == stored.id);
        let mut after = document.clone();
        let (mut disclosure, mut record, mut is_complete) = (None, FlagRecord::Clear, stored.is_complete);
        if stored.is_shared() && is_newest {
            if stored.status.open().is_ok() && !stored.is_complete {
                let results = self.valid_results(&document.user, key).await?;
                after.report = after.report.extended(&results, &document.required(), self.clock.now());
            }
            let findings = self.report_findings(key, &after.report, &after.country).await?;
            let evaluation = self.evaluate(&after, &findings);
            // What requires nothing takes no findings.
            is_complete |= evaluation.complete;
            disclosure = evaluation.discloses.then(|| self.disclosure(document, key));
            if let Some(flags) = evaluation.flags {
                record = self.flag_record(application, flags)?;
            }
        } else if stored.status == ApplicationStatus::Closed && !stored.is_withheld {
            self.notify_of_closing(&mut after, key).await?;
        }
        let is_changed = after != *document;
        let document = is_changed.then(|| after.seal(key, &stored.id)).transpose()?;
        Ok(StoreReport {
            id: stored.id.clone(),
            person: stored.person,
            generation: stored.generation,
            status: stored.status,
            chain_key: stored.chain_key,
            disclosure,
            document,
            is_complete,
            record,
            at: self.next_flag_batch(),
        })
    }

    fn disclosure(&self, document: &Document, key: &PersonKey) -> Disclosure {
        let (owner, terms) = document.disclosure_digests(key);
        let at = self.clock.now();
        Disclosure {
            owner,
            terms,
            since: at.minus_seconds(DISCLOSURE_WINDOW_SECONDS),
            // The terms themselves are one of them.
            limit: MAX_DISCLOSED_TERMS,
            total_limit: self.screening.disclosures_per_person,
            at,
        }
    }

    /// A record under a new salt, also for the same flags: whether they changed stays unknown to who reads the chain.
    fn flag_record(&self, application: &OpenedApplication, flags: CheckFlags) -> Result<FlagRecord> {
        let OpenedApplication { stored, key, .. } = application;
        let salt = self.random()?;
        Ok(FlagRecord::Write {
            commitment: flags.commit(&stored.chain_key, &salt),
            salt: sealed_salt(key, &stored.id, &salt)?,
            entry: Entry {
                at: self.clock.now(),
                actor: SERVICE.into(),
                action: "application.flags_recorded",
                subject: stored.id.as_str().into(),
                detail: String::new(),
            },
        })
    }

    /// When the records of flags are sent next: together with those of other people, so that their time tells less
    /// about whose they are. By the machine's clock, as the writer's.
    fn next_flag_batch(&self) -> Timestamp {
        let (now, interval) = (self.clock.machine_now(), self.chain.flag_interval_seconds * 1_000_000);
        match interval {
            0 => now,
            _ => Timestamp::from_micros((now.micros().div_euclid(interval) + 1) * interval),
        }
    }

    /// Flags and checks by an application's report, without access rules.
    pub(super) fn evaluate(&self, document: &Document, findings: &ReportFindings) -> Evaluation {
        Evaluation::new(document.terms().as_ref(), &document.checks, findings, self.clock.now())
    }

    /// Clears every flag on the chain, because the keys that identify their owners were lost.
    pub(crate) async fn clear_all_flags(&self) -> Result<()> {
        let mut after = Vec::new();
        loop {
            let page = self.db.chain_items_after(ItemKind::Check, &after, ITEMS_PER_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.item.key.to_vec();
            let cleared =
                page.iter().map(|listed| Content::ClearedCheck.desired(listed.item.key, self.clock.now()));
            self.db.write(RetireItems(cleared.collect())).await?;
        }
    }

    /// Deletes the applications of people whose key no longer exists: an erasure was interrupted, or the database is
    /// an older copy. Nobody can open them; their flags are cleared. Returns how many people there were.
    pub(crate) async fn delete_orphaned_applications(&self) -> Result<u64> {
        let (mut after, mut deleted) = (None, 0);
        loop {
            let people = self.db.people_who_applied(after, PEOPLE_PER_PAGE).await?;
            let Some(last) = people.last() else { return Ok(deleted) };
            after = Some(*last);
            for person in people {
                if self.keystore()?.person_of(&person).await?.is_none() {
                    self.db.write(DeleteOrphanedApplications { person, by: self.by_itself() }).await?;
                    deleted += 1;
                }
            }
        }
    }

    /// For changes that nobody asked for, or that must not name who did.
    pub(crate) fn by_itself(&self) -> ChangeContext {
        ChangeContext { account: None, at: self.clock.now() }
    }
}
