//! Verification pipelines: an account reads and writes its own.

use portico_domain::pipelines::Pipeline;
use portico_domain::{AccountId, ClientId};
use portico_store::PutPipeline;

use crate::{Actor, Call, Error, Portico, Result};

impl Portico {
    /// The pipeline of the caller's account, which may be named by the account or by its client id. An
    /// administrator may name any account.
    pub async fn pipeline(&self, call: &Call, named: &AccountId) -> Result<Pipeline> {
        let own = signed_in(&call.actor)?;
        let pipeline = self.db.pipeline(own).await?;
        let client = pipeline.as_ref().and_then(|pipeline| pipeline.client.as_ref()).map(ClientId::as_str);
        let pipeline = if named == own || client == Some(named.as_str()) {
            pipeline
        } else if call.actor.is_operator() {
            self.db.pipeline(named).await?
        } else {
            return Err(Error::Forbidden("this is another account's pipeline"));
        };
        pipeline.ok_or(Error::NotFound("pipeline_not_found"))
    }

    /// The pipeline of the caller's account, if it has one.
    pub async fn own_pipeline(&self, call: &Call) -> Result<Option<Pipeline>> {
        Ok(self.db.pipeline(signed_in(&call.actor)?).await?)
    }

    /// Changes what the change names in the pipeline of the caller's account.
    pub async fn put_pipeline(&self, call: &Call, change: Pipeline) -> Result<()> {
        let (account, by) = (signed_in(&call.actor)?.clone(), self.by(call));
        self.write(call, PutPipeline { account, change, by }).await
    }
}

fn signed_in(actor: &Actor) -> Result<&AccountId> {
    match actor {
        Actor::User { account, .. } => Ok(account),
        _ => Err(Error::Unauthenticated("a bearer token is needed")),
    }
}
