//! Requirements records of listings and applicants.

use portico_domain::SafeInteger;
use portico_domain::requirements::RequirementsRecord;
use portico_store::PutRequirements;

use crate::{Call, Error, Portico, Result};

impl Portico {
    /// Writes a record; one that is there is replaced.
    pub async fn put_requirements(&self, call: &Call, record: RequirementsRecord) -> Result<()> {
        let by = self.by(call);
        self.write(call, PutRequirements { record, by }).await
    }

    /// The record of a listing and an applicant.
    pub async fn requirements(
        &self,
        listing: SafeInteger,
        applicant: SafeInteger,
    ) -> Result<RequirementsRecord> {
        self.db.requirements(listing, applicant).await?.ok_or(Error::NotFound("requirements_not_found"))
    }
}
