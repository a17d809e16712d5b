//! Requirements records of listings and applicants.

use portico_domain::requirements::RequirementsRecord;
use portico_domain::{ErrorCode, SafeInteger};
use portico_store::PutRequirements;

use crate::{Call, Error, Result, Screening};

impl Screening {
    /// Writes a record; one that is there is replaced.
    pub async fn put_requirements(&self, call: &Call, record: RequirementsRecord) -> Result<()> {
        self.core.may_see_everybody(&call.actor)?;
        let by = self.core.context(call);
        self.core.write(call, PutRequirements { record, by }).await
    }

    /// The record of a listing and an applicant.
    pub async fn requirements(
        &self,
        call: &Call,
        listing: SafeInteger,
        applicant: SafeInteger,
    ) -> Result<RequirementsRecord> {
        self.core.may_see_everybody(&call.actor)?;
        self.core
            .db
            .requirements(listing, applicant)
            .await?
            .ok_or(Error::NotFound(ErrorCode::RequirementsNotFound))
    }
}
