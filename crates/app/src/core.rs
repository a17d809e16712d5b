//! What the services share: the parts they are built from, and units of work on them.

use std::sync::Arc;

use portico_domain::text::Kind;
use portico_domain::{Country, Text};
use portico_store::sql::Op;
use portico_store::{Answering, ChangeContext, Db, Idempotent};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::chain::ChainWriter;
use crate::clock::{Clock, Ids, Randomness};
use crate::keystore::Keystore;
use crate::readiness::WriteProof;
use crate::tokens::Tokens;
use crate::vault::Vault;
use crate::verifications::Bureaus;
use crate::{Call, Error, IdempotencyKey, Profile, Result};

/// The parts of the application. The server builds them once; only the services use them.
#[derive(Debug)]
pub struct Core {
    pub db: Db,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn Ids>,
    pub randomness: Arc<dyn Randomness>,
    pub vault: Arc<Vault>,
    pub tokens: Tokens,
    pub profile: Profile,
    /// The country of listings that name none.
    pub country: Country,
    /// The keys of people; a command that needs none has none.
    pub keystore: Option<Keystore>,
    /// What runs the checks of applicants.
    pub bureaus: Bureaus,
    /// For how many days the inputs of a verification are kept.
    pub retention_days: i64,
    /// Commands beside the server have none.
    pub chain: Option<ChainWriter>,
    /// The last proof that the database can be written.
    pub write_proof: WriteProof,
}

/// Work whose answer is known beforehand, such as a new id: if it is asked for again under the same key, the
/// first answer is given, not the new one.
pub(crate) fn answering<O: Op<Out = ()>, A>(op: O, answer: A) -> Answering<O, A> {
    Answering { op, answer }
}

impl Core {
    /// Who changes something, and when, for the event row.
    pub(crate) fn context(&self, call: &Call) -> ChangeContext {
        ChangeContext { account: call.actor.account(), at: self.clock.now() }
    }

    /// Runs a unit of work; once only, if the call has an idempotency key.
    pub(crate) async fn write<O: Op<Out: Serialize + DeserializeOwned + Sync>>(
        &self,
        call: &Call,
        op: O,
    ) -> Result<O::Out> {
        self.remember_account(&call.actor).await?;
        Ok(match call.once {
            None => self.db.write(op).await?,
            Some(once) => self.db.write(Idempotent { op, key: self.once(once) }).await?,
        })
    }

    /// The idempotency key as the store takes it.
    pub(crate) fn once(
        &self,
        IdempotencyKey { scope, fingerprint }: IdempotencyKey,
    ) -> portico_store::IdempotencyKey {
        portico_store::IdempotencyKey { scope, fingerprint, at: self.clock.now(), seal: self.vault.clone() }
    }

    pub(crate) fn keystore(&self) -> Result<&Keystore> {
        self.keystore.as_ref().ok_or_else(|| Error::Unavailable("there is no keystore here".into()))
    }

    pub(crate) fn new_id<K: Kind>(&self) -> Text<K> {
        Text::stored(self.ids.next())
    }

    pub(crate) fn random<const N: usize>(&self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.randomness.fill(&mut bytes)?;
        Ok(bytes)
    }
}
