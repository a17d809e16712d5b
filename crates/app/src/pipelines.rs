//! Verification pipelines: an account reads and writes its own.

use portico_domain::pipelines::Pipeline;
use portico_domain::{AccountId, ClientId, ErrorCode};
use portico_store::PutPipeline;

use crate::access::signed_in;
use crate::{Call, Error, Result, Screening};

impl Screening {
    /// The pipeline of the caller's account, named by the account or by its client id. An administrator may name any
    /// account.
    pub async fn pipeline(&self, call: &Call, named: &AccountId) -> Result<Pipeline> {
        let (_, own) = signed_in(&call.actor)?;
        let pipeline = self.core.db.pipeline(own).await?;
        let client = pipeline.as_ref().and_then(|pipeline| pipeline.client.as_ref()).map(ClientId::as_str);
        let pipeline = if named == own || client == Some(named.as_str()) {
            pipeline
        } else if call.actor.is_operator() {
            self.core.db.pipeline(named).await?
        } else {
            return Err(Error::Forbidden("this is another account's pipeline"));
        };
        pipeline.ok_or(Error::NotFound(ErrorCode::PipelineNotFound))
    }

    pub async fn own_pipeline(&self, call: &Call) -> Result<Option<Pipeline>> {
        let (_, account) = signed_in(&call.actor)?;
        Ok(self.core.db.pipeline(account).await?)
    }

    /// Changes only the fields that are set.
    pub async fn put_pipeline(&self, call: &Call, change: Pipeline) -> Result<()> {
        let (_, account) = signed_in(&call.actor)?;
        let (account, by) = (account.clone(), self.core.context(call));
        self.core.write(call, PutPipeline { account, change, by }).await
    }
}
