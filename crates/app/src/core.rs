//! What the services share, and units of work on it.

use std::sync::Arc;

use portico_domain::text::TextFormat;
use portico_domain::{Country, Text};
use portico_store::sql::Op;
use portico_store::{Answering, ChangeContext, Db, Idempotent, Paid, StoredReply};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::applications::orphans::Orphans;
use crate::caller::{CallContext, IdempotencyKey};
use crate::clock::{CalendarClock, Ids, Randomness};
use crate::error::{Error, Result};
use crate::operation::chain_parts::ChainParts;
use crate::operation::parts::OperationParts;
use crate::people::keystore::Keystore;
use crate::people::parts::PeopleParts;
use crate::people::vault::Vault;
use crate::profile::{AccessTable, Profile};
use crate::screening::parts::ScreeningParts;

/// The ground that all services stand on, and each area's own parts. [`Builder`](crate::Builder) makes them once; only
/// the services use them.
#[derive(Debug)]
pub(crate) struct Core {
    pub(crate) db: Db,
    pub(crate) clock: CalendarClock,
    pub(crate) ids: Arc<dyn Ids>,
    pub(crate) randomness: Arc<dyn Randomness>,
    pub(crate) vault: Arc<Vault>,
    pub(crate) profile: Profile,
    pub(crate) access: AccessTable,
    /// For listings that name no country.
    pub(crate) country: Country,
    pub(crate) people: PeopleParts,
    pub(crate) screening: ScreeningParts,
    pub(crate) orphans: Orphans,
    pub(crate) chain: ChainParts,
    pub(crate) operation: OperationParts,
}

/// Adds a known result, such as a new id, to work that returns nothing. A repeated idempotency key returns the first
/// result.
pub(crate) fn answering<O: Op<Out = ()>, A>(op: O, answer: A) -> Answering<O, A> {
    Answering { op, answer }
}

impl Core {
    /// Caller and time for the event row.
    pub(crate) fn context(&self, call: &CallContext) -> ChangeContext {
        ChangeContext { account: call.actor.tenant(), at: self.clock.now() }
    }

    /// Runs a unit of work; exactly once if the call has an idempotency key.
    pub(crate) async fn write<O: Op<Out: Serialize + DeserializeOwned + Sync>>(
        &self,
        call: &CallContext,
        op: O,
    ) -> Result<O::Out> {
        self.remember_tenant(&call.actor).await?;
        Ok(match call.idempotency_key {
            None => self.db.write(op).await?,
            Some(idempotency_key) => {
                self.db.write(Idempotent { op, key: self.store_key(idempotency_key) }).await?
            }
        })
    }

    /// The same for work that writes this many items to the chain.
    pub(crate) async fn write_recorded<O: Op<Out: Serialize + DeserializeOwned + Sync>>(
        &self,
        call: &CallContext,
        op: O,
        amount: usize,
    ) -> Result<O::Out> {
        let amount = i64::try_from(amount).unwrap_or(i64::MAX);
        self.write(call, Paid { op, budget: self.record_budget(call).await?, amount }).await
    }

    pub(crate) fn store_key(
        &self,
        IdempotencyKey { scope, fingerprint }: IdempotencyKey,
    ) -> portico_store::IdempotencyClaim {
        portico_store::IdempotencyClaim { scope, fingerprint, at: self.clock.now(), seal: self.vault.clone() }
    }

    /// Claims the call's idempotency key if it is new; `true`: a call with this key succeeded before.
    pub(crate) async fn claim_replay(&self, call: &CallContext) -> Result<bool> {
        let Some(idempotency_key) = call.idempotency_key else { return Ok(false) };
        let reply = self.db.write(StoredReply::<()>::new(self.store_key(idempotency_key))).await?;
        Ok(reply.is_some())
    }

    pub(crate) fn keystore(&self) -> Result<&Keystore> {
        self.people.keystore.as_ref().ok_or_else(|| Error::Unavailable("there is no keystore here".into()))
    }

    pub(crate) fn new_id<K: TextFormat>(&self) -> Text<K> {
        Text::stored(self.ids.next())
    }

    pub(crate) fn random<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.randomness.fill(&mut bytes)?;
        Ok(bytes)
    }
}
