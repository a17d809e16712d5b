//! The four flags of an application: computed from the listing's terms and the applicant's latest result, and
//! attested on the chain. Scores and incomes never leave the database.

use portico_chain::contracts::{Content, ItemKind, check_key, cleared_check, listing_key};
use portico_domain::UserId;
use portico_domain::chain::Passes;
use portico_store::audit::Entry;
use portico_store::chain::{DesiredItem, Refer, Word};
use portico_store::screening::{Attest, Flags, Intent};

use crate::results::findings;
use crate::{Core, Error, Result};

/// Intents per batch.
const MAX_INTENTS_PER_BATCH: i64 = 256;

impl Core {
    /// Attests one user's pending flags. Failures stay pending and are retried later.
    pub(crate) async fn attest_or_defer(&self, user: &UserId) {
        if let Err(error) = self.attest(Some(user)).await {
            tracing::warn!(%error, "flags could not be attested; they are retried later");
        }
    }

    /// Attests pending flags of one user or of all; returns how many.
    pub(crate) async fn attest(&self, of: Option<&UserId>) -> Result<u64> {
        let intents = self.db.intents(of, MAX_INTENTS_PER_BATCH).await?;
        let mut settled = 0;
        for intent in intents {
            let flags = self.flags(&intent).await?;
            let entry = Entry {
                at: self.clock.now(),
                actor: "the service itself".into(),
                action: "verification.used_for_flags",
                subject: intent.user.as_str().into(),
                detail: intent.listing.as_str().into(),
            };
            settled += u64::from(self.db.write(Attest { intent, flags, entry }).await?);
        }
        if settled > 0 {
            self.wake_chain();
        }
        Ok(settled)
    }

    /// The current flags of an application; none if the listing has no terms on the chain or the applicant has no
    /// valid result.
    pub(crate) async fn flags(&self, intent: &Intent) -> Result<Option<Flags>> {
        let listing = listing_key(&intent.listing);
        let Some(item) = self.db.chain_item(ItemKind::Listing.number(), &listing).await? else {
            return Ok(None);
        };
        let Content::Listing { terms, .. } = Content::decode(ItemKind::Listing, &item.payload)? else {
            return Ok(None);
        };
        let now = self.clock.now();
        let Some(latest) = self.db.latest_verification(&intent.user, now).await? else { return Ok(None) };
        let Some(key) = self.keystore()?.person(&intent.user).await? else { return Ok(None) };
        let findings = findings(&key, &latest)?;
        let passes = Passes::of(&terms, findings.credit(), findings.income());
        let applicant = self.reference(&intent.user).await?;
        let content = Content::Check { listing, applicant, passes: Some(passes) };
        let desired = content.desired(check_key(&listing, &applicant), now);
        let terms = (ItemKind::Listing.number(), listing, item.version);
        Ok(Some(Flags { desired, applicant, terms }))
    }

    pub(crate) async fn cleared_flags(&self, user: &UserId) -> Result<Vec<DesiredItem>> {
        let Some(applicant) = self.db.chain_reference(user).await? else { return Ok(Vec::new()) };
        let now = self.clock.now();
        let listings = self.db.applications(user).await?;
        Ok(listings.iter().map(|listing| cleared_check(listing, &applicant, now)).collect())
    }

    /// The applicant's reference on the chain: random, created on first use.
    pub(crate) async fn reference(&self, user: &UserId) -> Result<Word> {
        if let Some(reference) = self.db.chain_reference(user).await? {
            return Ok(reference);
        }
        self.db.write(Refer { user: user.clone(), reference: self.random()? }).await?;
        let drawn = self.db.chain_reference(user).await?;
        drawn.ok_or_else(|| Error::Unavailable("a chain reference was deleted concurrently".into()))
    }
}
