//! Verification pipelines: a tenant reads and writes its own.

use portico_domain::pipelines::Pipeline;
use portico_domain::{AccountId, ClientId, ErrorCode, Tenant, UserId};
use portico_store::PutPipeline;

use crate::caller::CallContext;
use crate::error::{Error, Result};
use crate::people::access::signed_in;
use crate::screening::service::Screening;

impl Screening {
    /// The pipeline of the caller's tenant, named by the account (or the user, if the token names no account) or by its
    /// client id. An administrator may name any account, or a user if there is no pipeline of an account of that name.
    pub async fn pipeline(&self, call: &CallContext, named: &AccountId) -> Result<Pipeline> {
        let (_, own) = signed_in(&call.actor)?;
        self.core.resolve_tenant(&call.actor).await?;
        let pipeline = self.core.db.pipeline(own).await?;
        let client = pipeline.as_ref().and_then(|pipeline| pipeline.client.as_ref()).map(ClientId::as_str);
        let pipeline = if named.as_str() == own.name() || client == Some(named.as_str()) {
            pipeline
        } else if call.actor.is_operator() {
            match self.core.db.pipeline(&Tenant::Account(named.clone())).await? {
                None => self.core.db.pipeline(&Tenant::User(UserId::stored(named.as_str()))).await?,
                pipeline => pipeline,
            }
        } else {
            return Err(Error::Forbidden("this is another account's pipeline"));
        };
        pipeline.ok_or(Error::NotFound(ErrorCode::PipelineNotFound))
    }

    pub async fn own_pipeline(&self, call: &CallContext) -> Result<Option<Pipeline>> {
        let (_, tenant) = signed_in(&call.actor)?;
        self.core.resolve_tenant(&call.actor).await?;
        Ok(self.core.db.pipeline(tenant).await?)
    }

    /// Changes only the fields that are set.
    pub async fn put_pipeline(&self, call: &CallContext, change: Pipeline) -> Result<()> {
        let (_, tenant) = signed_in(&call.actor)?;
        let (tenant, by) = (tenant.clone(), self.core.context(call));
        self.core.write(call, PutPipeline { tenant, change, by }).await
    }
}
