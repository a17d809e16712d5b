//! Verification pipelines, one per tenant. A `ClientId` belongs to the tenant who chose it first, for good: applicants know it.

use portico_domain::pipelines::Pipeline;
use portico_domain::{ClientId, ErrorCode, Tenant};

use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, params, row, select, sql, statements};

static CHOOSE: Sql =
    sql("INSERT INTO client_ids (client_id, account) VALUES (?1, ?2) ON CONFLICT (client_id) DO NOTHING");
static CHOSEN_BY: Sql = sql("SELECT client_id FROM client_ids WHERE client_id = ?1 AND account = ?2");
static COUNT_CHOSEN: Sql = sql("SELECT count(*) FROM client_ids WHERE account = ?1");

/// Client ids per tenant. The limit keeps a tenant from reserving the names of others.
const MAX_CLIENT_IDS: i64 = 20;
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
static GET: Sql = select::<Pipeline>("SELECT {columns} FROM pipelines WHERE account = ?1");

/// Changes only the fields that are set; creates the pipeline if there is none.
#[derive(Debug)]
pub struct PutPipeline {
    pub tenant: Tenant,
    pub change: Pipeline,
    pub by: ChangeContext,
}

impl Op for PutPipeline {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let (change, account) = (&self.change, self.tenant.stored());
        if let Some(client) = &change.client {
            choose(tx, client, &account).await?;
        }
        let params = params![
            account.as_str(),
            change.client.as_ref(),
            change.eviction,
            change.income,
            change.soft_credit,
            change.criminal_background,
            change.country.as_ref()
        ];
        tx.exec(&PUT, &params).await?;
        record(tx, &self.by, "pipeline.changed", &account, &[]).await
    }
}

async fn choose<T: Tx>(tx: &mut T, client: &ClientId, account: &str) -> Result<()> {
    if tx.exec(&CHOOSE, &[client.into(), account.into()]).await? == 0 {
        let own: Option<(String,)> = tx.one(&CHOSEN_BY, &[client.into(), account.into()]).await?;
        return own.map(drop).ok_or(Error::Conflict(ErrorCode::ClientIdTaken));
    }
    let chosen: Option<(i64,)> = tx.one(&COUNT_CHOSEN, &[account.into()]).await?;
    match chosen {
        Some((many,)) if many > MAX_CLIENT_IDS => Err(Error::Conflict(ErrorCode::TooManyClientIds)),
        _ => Ok(()),
    }
}

row!(Pipeline { client = "client_id", eviction, income, soft_credit, criminal_background, country });

static OF_CLIENT: Sql = select::<Pipeline>("SELECT {columns} FROM pipelines WHERE client_id = ?1");

impl Db {
    pub async fn pipeline_of_client(&self, client: &ClientId) -> Result<Option<Pipeline>> {
        self.one(&OF_CLIENT, &[client.into()]).await
    }

    pub async fn pipeline(&self, tenant: &Tenant) -> Result<Option<Pipeline>> {
        self.one(&GET, &[tenant.stored().as_str().into()]).await
    }
}

statements! { CHOOSE, CHOSEN_BY, COUNT_CHOSEN, PUT, GET, OF_CLIENT }
