//! Takes over the applications of versions before 0.3: they freeze today's terms and pipeline.

use portico_domain::Timestamp;
use portico_domain::applications::ApplicationStatus;
use portico_store::{AdoptFormerApplication, FormerApplication};

use super::document::{Conditions, Document, Party};
use crate::core::Core;
use crate::error::Result;

const APPLICATIONS_PER_BATCH: i64 = 256;

impl Core {
    /// Returns how many there were.
    pub(crate) async fn adopt_former_applications(&self) -> Result<u64> {
        let mut adopted = 0;
        loop {
            let former = self.db.former_applications(APPLICATIONS_PER_BATCH).await?;
            if former.is_empty() {
                return Ok(adopted);
            }
            for former in former {
                self.adopt(former).await?;
                adopted += 1;
            }
        }
    }

    async fn adopt(&self, former: FormerApplication) -> Result<()> {
        let (key, _) = self.person_key(&former.user).await?;
        let FormerApplication { user, listing, created_at } = &former;
        // A listing that is younger than the application is another one, which took over the id.
        let stored = self.listing_on_record(listing).await?;
        let stored = stored.filter(|stored| stored.created_at <= *created_at);
        let conditions = match &stored {
            Some(stored) => self.conditions(stored).await?,
            None => Conditions::none(user, self.country.clone()),
        };
        let submitted = (Party::Applicant, *created_at);
        let mut document = Document::new(user, listing, conditions, self.random()?, submitted);
        if stored.is_none() {
            document.changed(ApplicationStatus::Closed, (Party::Operator, self.clock.now()));
        }
        let number = stored.map_or(AdoptFormerApplication::NO_LISTING, |stored| stored.version.seq);
        let created_at: Timestamp = *created_at;
        let new = self.new_application(&key, &document, number, created_at)?;
        let by = self.by_itself();
        self.db.write(AdoptFormerApplication { person: key.id(), new, former, by }).await?;
        Ok(())
    }
}
