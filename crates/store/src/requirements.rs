//! Requirements records, one per listing and applicant.

use portico_domain::SafeInteger;
use portico_domain::requirements::RequirementsRecord;

use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, sql, statements};

static PUT: Sql = sql("INSERT INTO requirements (listing_id, applicant_id, met) VALUES (?1, ?2, ?3) \
     ON CONFLICT (listing_id, applicant_id) DO UPDATE SET met = excluded.met");
static GET: Sql = sql("SELECT met FROM requirements WHERE listing_id = ?1 AND applicant_id = ?2");

/// Replaces an existing record.
#[derive(Debug)]
pub struct PutRequirements {
    pub record: RequirementsRecord,
    pub by: ChangeContext,
}

impl Op for PutRequirements {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let RequirementsRecord { listing, applicant, met } = &self.record;
        let met = serde_json::to_string(met).map_err(|error| Error::Bug(error.to_string()))?;
        tx.exec(&PUT, &[(*listing).into(), (*applicant).into(), met.as_str().into()]).await?;
        record(tx, &self.by, "requirements.recorded", &listing.to_string(), &[]).await
    }
}

impl Db {
    pub async fn requirements(
        &self,
        listing: SafeInteger,
        applicant: SafeInteger,
    ) -> Result<Option<RequirementsRecord>> {
        let Some((met,)) = self.one::<(String,)>(&GET, &[listing.into(), applicant.into()]).await? else {
            return Ok(None);
        };
        let met = serde_json::from_str(&met).map_err(|error| Error::Bug(error.to_string()))?;
        Ok(Some(RequirementsRecord { listing, applicant, met }))
    }
}

statements! { PUT, GET }
