//! Idempotency keys: the first reply is stored in the transaction that produced it, and returned for every repeat.

use std::marker::PhantomData;
use std::sync::Arc;

use portico_domain::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, sql, statements};

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

const REPLY_LIFETIME_SECONDS: i64 = 24 * 60 * 60;
const MAX_FORGOTTEN_REPLIES: i64 = 1000;

/// Encrypts stored replies.
pub trait Seal: Send + Sync + std::fmt::Debug + 'static {
    /// `open` needs the same `context`.
    fn seal(&self, context: &[u8], plain: &[u8]) -> Result<Vec<u8>>;
    fn open(&self, context: &[u8], sealed: &[u8]) -> Result<Vec<u8>>;
}

#[derive(Debug, Clone)]
pub struct IdempotencyClaim {
    /// A digest of caller, route and key.
    pub scope: [u8; 32],
    /// A digest of the request.
    pub fingerprint: [u8; 32],
    pub at: Timestamp,
    pub seal: Arc<dyn Seal>,
}

impl IdempotencyClaim {
    /// Claims the key for this transaction, or returns the first reply.
    pub(crate) async fn claim<T: Tx, A: DeserializeOwned>(&self, tx: &mut T) -> Result<Option<A>> {
        let scope = self.scope.as_slice();
        tx.exec(&EXPIRE, &[scope.into(), self.at.minus_seconds(REPLY_LIFETIME_SECONDS).into()]).await?;
        // A concurrent request waits here until the first one commits.
        let params = [scope.into(), self.fingerprint.as_slice().into(), self.at.into()];
        if tx.exec(&CLAIM, &params).await? > 0 {
            return Ok(None);
        }
        let first = tx.one::<(Vec<u8>, Vec<u8>)>(&FIRST, &[scope.into()]).await?;
        let (fingerprint, answer) =
            first.ok_or_else(|| Error::Again("an idempotency key expired concurrently".into()))?;
        if fingerprint != self.fingerprint {
            return Err(Error::KeyReused);
        }
        let answer = self.seal.open(scope, &answer)?;
        serde_json::from_slice(&answer).map(Some).map_err(|error| Error::Bug(error.to_string()))
    }

    /// Stores the reply of the claim.
    pub(crate) async fn keep<T: Tx>(&self, tx: &mut T, answer: &impl Serialize) -> Result<()> {
        let scope = self.scope.as_slice();
        let answer = serde_json::to_vec(answer).map_err(|error| Error::Bug(error.to_string()))?;
        tx.exec(&ANSWER, &[scope.into(), self.seal.seal(scope, &answer)?.as_slice().into()]).await.map(drop)
    }

    /// Releases the claim: no work was done under it.
    pub(crate) async fn release<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&RELEASE, &[self.scope.as_slice().into()]).await.map(drop)
    }
}

/// The stored reply of a key: for work that spans several units.
#[derive(Debug)]
pub struct StoredReply<A> {
    pub key: IdempotencyClaim,
    answer: PhantomData<fn() -> A>,
}

impl<A> StoredReply<A> {
    pub fn new(key: IdempotencyClaim) -> Self {
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

/// Runs a unit of work once per key.
#[derive(Debug)]
pub struct Idempotent<O> {
    pub op: O,
    pub key: IdempotencyClaim,
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

/// Adds a known result, such as a new id. Under [`Idempotent`] the first one is stored.
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

/// Removes expired replies; returns how many.
#[derive(Debug)]
pub struct ForgetReplies {
    pub at: Timestamp,
}

impl Op for ForgetReplies {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        tx.exec(
            &FORGET,
            &[self.at.minus_seconds(REPLY_LIFETIME_SECONDS).into(), MAX_FORGOTTEN_REPLIES.into()],
        )
        .await
    }
}

statements! { EXPIRE, CLAIM, ANSWER, RELEASE, FIRST, FORGET }
