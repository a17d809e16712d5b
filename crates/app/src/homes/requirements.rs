//! Requirements records of listings and applicants.

use portico_domain::requirements::RequirementsRecord;
use portico_domain::{ErrorCode, SafeInteger};
use portico_store::PutRequirements;

use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::screening::service::Screening;

impl Screening {
    /// Replaces an existing record.
    pub async fn put_requirements(&self, call: &CallContext, record: RequirementsRecord) -> Result<()> {
        self.core.may_see_all_users(&call.actor)?;
        let by = self.core.context(call);
        self.core.write(call, PutRequirements { record, by }).await
    }

    pub async fn requirements(
        &self,
        call: &CallContext,
        listing: SafeInteger,
        applicant: SafeInteger,
    ) -> Result<RequirementsRecord> {
        self.core.may_see_all_users(&call.actor)?;
        self.core
            .db
            .requirements(listing, applicant)
            .await?
            .ok_or(Error::NotFound(ErrorCode::RequirementsNotFound))
    }
}
