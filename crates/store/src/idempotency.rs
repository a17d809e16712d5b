//! Doing a thing once although it is asked for several times: the first answer is kept in the transaction
//! that earned it, and given again.

use std::marker::PhantomData;
use std::sync::Arc;

use portico_domain::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::sql::{Op, Sql, Tx, sql};
use crate::{Error, Result};

static EXPIRE: Sql = sql("DELETE FROM idempotency WHERE scope = ?1 AND created_at < ?2");
static CLAIM: Sql =
    sql("INSERT INTO idempotency (scope, fingerprint, answer, created_at) VALUES (?1, ?2, NULL, ?3) \
     ON CONFLICT (scope) DO NOTHING");
static ANSWER: Sql = sql("UPDATE idempotency SET answer = ?2 WHERE scope = ?1");
static RELEASE: Sql = sql("DELETE FROM idempotency WHERE scope = ?1");
static FIRST: Sql = sql("SELECT fingerprint, answer FROM idempotency WHERE scope = ?1");
static FORGET: Sql = sql(
    "DELETE FROM idempotency WHERE scope IN (SELECT scope FROM idempotency WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)",
);

/// How long a first answer is kept.
const KEPT_SECONDS: i64 = 24 * 60 * 60;
/// How many old answers one [`Forget`] removes.
const FORGET_AT_ONCE: i64 = 1000;

/// Encrypts what is kept, so that answers cannot be read in the database.
pub trait Seal: Send + Sync + std::fmt::Debug + 'static {
    /// Encrypts; `context` must be the same when it is opened.
    fn seal(&self, context: &[u8], plain: &[u8]) -> Result<Vec<u8>>;
    fn open(&self, context: &[u8], sealed: &[u8]) -> Result<Vec<u8>>;
}

/// Under which key something is done once, and for which request.
#[derive(Debug, Clone)]
pub struct IdempotencyKey {
    /// A digest of caller, route and key.
    pub scope: [u8; 32],
    /// A digest of the request.
    pub fingerprint: [u8; 32],
    pub at: Timestamp,
    /// What keeps the answers.
    pub seal: Arc<dyn Seal>,
}

impl IdempotencyKey {
    /// Claims the key for this transaction, or finds the first answer.
    pub(crate) async fn claim<T: Tx, A: DeserializeOwned>(&self, tx: &mut T) -> Result<Option<A>> {
        let scope = self.scope.as_slice();
        tx.exec(&EXPIRE, &[scope.into(), self.at.minus_seconds(KEPT_SECONDS).into()]).await?;
        // Of two that run at once, the second waits here until the first has committed.
        let params = [scope.into(), self.fingerprint.as_slice().into(), self.at.into()];
        if tx.exec(&CLAIM, &params).await? > 0 {
            return Ok(None);
        }
        let first = tx.one::<(Vec<u8>, Vec<u8>)>(&FIRST, &[scope.into()]).await?;
        let (fingerprint, answer) = first.ok_or_else(|| Error::Again("a key was just forgotten".into()))?;
        if fingerprint != self.fingerprint {
            return Err(Error::KeyReused);
        }
        let answer = self.seal.open(scope, &answer)?;
        serde_json::from_slice(&answer).map(Some).map_err(|error| Error::Bug(error.to_string()))
    }

    /// Keeps the answer that the claim was for.
    pub(crate) async fn keep<T: Tx>(&self, tx: &mut T, answer: &impl Serialize) -> Result<()> {
        let scope = self.scope.as_slice();
        let answer = serde_json::to_vec(answer).map_err(|error| Error::Bug(error.to_string()))?;
        tx.exec(&ANSWER, &[scope.into(), self.seal.seal(scope, &answer)?.as_slice().into()]).await.map(drop)
    }

    /// Gives the claim back: nothing was done under it.
    pub(crate) async fn release<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&RELEASE, &[self.scope.as_slice().into()]).await.map(drop)
    }
}

/// The first answer under a key, if there is one: for work that is more than one unit.
#[derive(Debug)]
pub struct StoredReply<A> {
    pub key: IdempotencyKey,
    answer: PhantomData<fn() -> A>,
}

impl<A> StoredReply<A> {
    /// What was answered under this key.
    pub fn new(key: IdempotencyKey) -> Self {
        Self { key, answer: PhantomData }
    }
}

impl<A: DeserializeOwned + Send + 'static> Op for StoredReply<A> {
    type Out = Option<A>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<A>> {
        let first = self.key.claim(tx).await?;
        if first.is_none() {
            self.key.release(tx).await?;
        }
        Ok(first)
    }
}

/// A unit of work that is done once per key.
#[derive(Debug)]
pub struct Idempotent<O> {
    pub op: O,
    pub key: IdempotencyKey,
}

impl<O: Op<Out: Serialize + DeserializeOwned + Sync>> Op for Idempotent<O> {
    type Out = O::Out;

    async fn run<T: Tx>(&self, tx: &mut T) -> Result<O::Out> {
        if let Some(first) = self.key.claim(tx).await? {
            return Ok(first);
        }
        let out = self.op.run(tx).await?;
        self.key.keep(tx, &out).await?;
        Ok(out)
    }
}

/// Work whose answer is known beforehand, such as a new id. Under [`Once`] the first one is kept.
#[derive(Debug)]
pub struct Answering<O, A> {
    pub op: O,
    pub answer: A,
}

impl<O: Op<Out = ()>, A: Clone + Send + Sync + 'static> Op for Answering<O, A> {
    type Out = A;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<A> {
        self.op.run(tx).await?;
        Ok(self.answer.clone())
    }
}

/// Removes some of the answers that are no longer kept; tells how many.
#[derive(Debug)]
pub struct Forget {
    pub at: Timestamp,
}

impl Op for Forget {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        tx.exec(&FORGET, &[self.at.minus_seconds(KEPT_SECONDS).into(), FORGET_AT_ONCE.into()]).await
    }
}
