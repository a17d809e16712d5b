//! Verification pipelines, one per account.

use portico_domain::pipelines::Pipeline;
use portico_domain::{AccountId, ClientId, ErrorCode};

use crate::counters::{ChangeContext, record};
use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, sql};
use crate::{Db, Error, Result};

static TAKEN: Sql = sql("SELECT client_id FROM pipelines WHERE client_id = ?1 AND account <> ?2");
static PUT: Sql = sql(
    "INSERT INTO pipelines (account, client_id, eviction, income, soft_credit, criminal_background, country) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (account) DO UPDATE SET \
     client_id = coalesce(excluded.client_id, pipelines.client_id), \
     eviction = coalesce(excluded.eviction, pipelines.eviction), \
     income = coalesce(excluded.income, pipelines.income), \
     soft_credit = coalesce(excluded.soft_credit, pipelines.soft_credit), \
     criminal_background = coalesce(excluded.criminal_background, pipelines.criminal_background), \
     country = coalesce(excluded.country, pipelines.country)",
);
static GET: Sql = sql(
    "SELECT client_id, eviction, income, soft_credit, criminal_background, country FROM pipelines WHERE account = ?1",
);

/// Changes only the fields that are set; creates the pipeline if there is none.
#[derive(Debug)]
pub struct PutPipeline {
    pub account: AccountId,
    pub change: Pipeline,
    pub by: ChangeContext,
}

impl Op for PutPipeline {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let change = &self.change;
        if let Some(client) = &change.client
            && tx.one::<(String,)>(&TAKEN, &[client.into(), (&self.account).into()]).await?.is_some()
        {
            return Err(Error::Conflict(ErrorCode::ClientIdTaken));
        }
        let params = [
            (&self.account).into(),
            change.client.as_ref().into(),
            change.eviction.into(),
            change.income.into(),
            change.soft_credit.into(),
            change.criminal_background.into(),
            change.country.as_ref().into(),
        ];
        tx.exec(&PUT, &params).await?;
        record(tx, &self.by, "pipeline.changed", self.account.as_str(), &[]).await
    }
}

impl FromRow for Pipeline {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self {
            client: c.get()?,
            eviction: c.get()?,
            income: c.get()?,
            soft_credit: c.get()?,
            criminal_background: c.get()?,
            country: c.get()?,
        })
    }
}

static OF_CLIENT: Sql = sql(
    "SELECT client_id, eviction, income, soft_credit, criminal_background, country FROM pipelines WHERE client_id = ?1",
);

impl Db {
    pub async fn pipeline_of_client(&self, client: &ClientId) -> Result<Option<Pipeline>> {
        self.one(&OF_CLIENT, &[client.into()]).await
    }

    pub async fn pipeline(&self, account: &AccountId) -> Result<Option<Pipeline>> {
        self.one(&GET, &[account.into()]).await
    }
}
