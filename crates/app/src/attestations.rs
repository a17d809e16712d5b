//! The four flags of an application: computed from the listing's terms and the applicant's newest result, and
//! attested on the chain. Scores and incomes never leave the database.

use portico_chain::contracts::{Content, Kind, check_key, cleared_check, listing_key};
use portico_domain::UserId;
use portico_domain::chain::Passes;
use portico_store::audit::Entry;
use portico_store::chain::{DesiredItem, Refer, Word};
use portico_store::screening::{Attest, Flags, Intent};

use crate::results::findings;
use crate::{Core, Error, Result};

/// Flags that are computed in one go.
const FLAGS_PER_ROUND: i64 = 256;

impl Core {
    /// Attests what is due of one user. Whatever fails stays due, and is seen to later.
    pub(crate) async fn attest_soon(&self, user: &UserId) {
        if let Err(error) = self.attest(Some(user)).await {
            tracing::warn!(%error, "flags could not be attested; they will be");
        }
    }

    /// Attests what is due, of one user or of all; tells how much it was.
    pub(crate) async fn attest(&self, of: Option<&UserId>) -> Result<u64> {
        let intents = self.db.intents(of, FLAGS_PER_ROUND).await?;
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

    /// The flags that an application has now; none, if the listing asks for nothing on the chain, or nothing is
    /// known about the applicant.
    pub(crate) async fn flags(&self, intent: &Intent) -> Result<Option<Flags>> {
        let listing = listing_key(&intent.listing);
        let Some(item) = self.db.chain_item(Kind::Listing.number(), &listing).await? else { return Ok(None) };
        let Content::Listing { terms, .. } = Content::decode(Kind::Listing, &item.payload)? else {
            return Ok(None);
        };
        let now = self.clock.now();
        let Some(latest) = self.db.latest_verification(&intent.user, now).await? else { return Ok(None) };
        let Some(key) = self.keystore()?.person(&intent.user).await? else { return Ok(None) };
        let findings = findings(&key, &latest)?;
        let passes = Passes::of(&terms, findings.credit(), findings.income());
        let applicant = self.reference(&intent.user).await?;
        let content = Content::Check { listing, applicant, passes: Some(passes) };
        let wanted = content.wanted(check_key(&listing, &applicant), now);
        let terms = (Kind::Listing.number(), listing, item.version);
        Ok(Some(Flags { wanted, applicant, terms }))
    }

    /// That the flags of a user's applications are to be gone.
    pub(crate) async fn cleared_flags(&self, user: &UserId) -> Result<Vec<DesiredItem>> {
        let Some(applicant) = self.db.chain_reference(user).await? else { return Ok(Vec::new()) };
        let now = self.clock.now();
        let listings = self.db.applications(user).await?;
        Ok(listings.iter().map(|listing| cleared_check(listing, &applicant, now)).collect())
    }

    /// By what the chain knows an applicant: drawn on first use.
    pub(crate) async fn reference(&self, user: &UserId) -> Result<Word> {
        if let Some(reference) = self.db.chain_reference(user).await? {
            return Ok(reference);
        }
        self.db.write(Refer { user: user.clone(), reference: self.random()? }).await?;
        let drawn = self.db.chain_reference(user).await?;
        drawn.ok_or_else(|| Error::Unavailable("a reference was forgotten at once".into()))
    }
}
