//! Records the flags of applications on the chain. Scores and incomes never leave the database.

use portico_domain::UserId;
use portico_records::{Content, DesiredItem, ItemKind};
use portico_store::audit::{Entry, SERVICE};
use portico_store::chain::RetireItems;
use portico_store::keystore::PersonId;
use portico_store::{
    ChangeContext, DeleteOrphanedApplications, Disclosure, ExpireFlags, FlagsOutcome, StoreFlags,
    StoredApplication,
};

use super::document::{Document, OpenedApplication, open_document};
use super::evaluation::Evaluation;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::keystore::PersonKey;

const MAX_APPLICATIONS_PER_BATCH: i64 = 256;
/// A batch of one maintenance step.
const MAX_EXPIRED_PER_BATCH: i64 = 256;
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
            match self.store_flags(stored).await {
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

    /// Applications whose flags have expired become due: what is still valid is recorded again, the rest is cleared.
    pub(crate) async fn expire_flags(&self) -> Result<()> {
        let at = self.clock.now();
        if self.db.has_expired_flags(at).await? {
            self.db.write(ExpireFlags { at, limit: MAX_EXPIRED_PER_BATCH }).await?;
        }
        Ok(())
    }

    async fn store_flags(&self, stored: StoredApplication) -> Result<bool> {
        let person = stored.person;
        let Some(application) = self.open_application(stored).await? else {
            let is_left = self.orphans.are_left(person);
            if is_left {
                self.db.write(DeleteOrphanedApplications { person, by: self.by_itself() }).await?;
            }
            return Ok(is_left);
        };
        let outcome = self.db.write(self.new_flags(&application).await?).await?;
        Ok(outcome != FlagsOutcome::Outdated)
    }

    async fn new_flags(&self, application: &OpenedApplication) -> Result<StoreFlags> {
        let OpenedApplication { stored, key, document } = application;
        let now = self.clock.now();
        let newest = self.db.newest_application(&stored.person, stored.listing).await?;
        let has_flags =
            stored.status.is_visible_to_owner() && newest.is_some_and(|newest| newest.id == stored.id);
        let evaluation = if has_flags { Some(self.evaluate(document, key).await?) } else { None };
        let disclosure = evaluation.as_ref().filter(|evaluation| evaluation.discloses).map(|_| {
            let (owner, terms) = document.disclosure_digests(key);
            let since = now.minus_seconds(DISCLOSURE_WINDOW_SECONDS);
            // The terms themselves are one of them.
            Disclosure { owner, terms, since, limit: MAX_DISCLOSED_TERMS, at: now }
        });
        Ok(StoreFlags {
            id: stored.id.clone(),
            person: stored.person,
            generation: stored.generation,
            status: stored.status,
            disclosure,
            listing: document.listing.clone(),
            reference: document.reference,
            flags: evaluation.and_then(|evaluation| evaluation.flags),
            entry: Entry {
                at: now,
                actor: SERVICE.into(),
                action: "application.flags_recorded",
                subject: stored.id.as_str().into(),
                detail: String::new(),
            },
        })
    }

    /// An application's current flags and checks, without access rules.
    pub(crate) async fn evaluate(&self, document: &Document, key: &PersonKey) -> Result<Evaluation> {
        let findings = self.person_findings(&document.user, &document.country, key).await?;
        let terms = document.terms();
        Ok(Evaluation::new(terms.as_ref(), &document.checks, &findings, self.clock.now()))
    }

    /// The chain items that clear the flags of a person's applications.
    pub(crate) async fn cleared_flags(&self, key: &PersonKey) -> Result<Vec<DesiredItem>> {
        let now = self.clock.now();
        let stored = self.db.applications_of(&key.id()).await?;
        stored.iter().map(|stored| Ok(open_document(key, stored)?.cleared_flags(now))).collect()
    }

    /// Clears every flag on the chain, because the keys that identify their owners were lost.
    pub(crate) async fn clear_all_flags(&self) -> Result<()> {
        let mut after = Vec::new();
        loop {
            let page = self.db.chain_items_after(ItemKind::Check, &after, ITEMS_PER_PAGE).await?;
            let Some(last) = page.last() else { return Ok(()) };
            after = last.item.key.to_vec();
            let cleared = page.iter().map(|listed| {
                let content = Content::decode(ItemKind::Check, &listed.item.payload)?;
                Ok(content.cleared().desired(listed.item.key, self.clock.now()))
            });
            self.db.write(RetireItems(cleared.collect::<Result<_>>()?)).await?;
        }
    }

    /// Deletes the applications of people whose key no longer exists: an erasure was interrupted, or the database is
    /// an older copy. Nobody can open them; their flags expire on the chain. Returns how many people there were.
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
