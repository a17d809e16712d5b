//! What a database says about itself, read at one point.

use crate::audit::Head;
use crate::chain::signers::ChainIdentity;
use crate::chain::signing::Address;
use crate::deployment::Deployment;
use crate::engine::error::Result;
use crate::engine::sql::{Op, Sql, Tx, sql, statements};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// The last migration.
    pub migration: usize,
    pub deployment: Deployment,
    /// The end of the audit log.
    pub audit: Head,
    pub chain: Option<ChainIdentity>,
    pub signers: Vec<SignerFacts>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignerFacts {
    pub address: Address,
    pub next_nonce: i64,
    /// The last nonce that is final on the chain.
    pub last_final: Option<i64>,
}

static MIGRATION: Sql = sql("SELECT coalesce(max(version), 0) FROM portico_migrations");
static LAST_FINALS: Sql = sql("SELECT s.address, s.next_nonce, \
     (SELECT max(b.nonce) FROM chain_batches b WHERE b.signer = s.id AND b.state = 2) \
     FROM chain_signers s ORDER BY s.id");

/// Reads the facts.
#[derive(Debug)]
pub(crate) struct ReadFacts;

impl Op for ReadFacts {
    type Out = Facts;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Facts> {
        let migration: Option<(i64,)> = tx.one(&MIGRATION, &[]).await?;
        let signers: Vec<(Vec<u8>, i64, Option<i64>)> = tx.rows(&LAST_FINALS, &[]).await?;
        let signer = |(address, next_nonce, last_final): (Vec<u8>, i64, Option<i64>)| {
            Ok(SignerFacts { address: crate::engine::word::word(&address)?, next_nonce, last_final })
        };
        Ok(Facts {
            migration: migration.and_then(|(number,)| usize::try_from(number).ok()).unwrap_or(0),
            deployment: tx.one(&crate::deployment::DEPLOYMENT, &[]).await?.unwrap_or_default(),
            audit: tx.one(&crate::audit::END, &[]).await?.ok_or_else(crate::audit::missing_head)?,
            chain: tx.one(&crate::chain::signers::IDENTITY, &[]).await?,
            signers: signers.into_iter().map(signer).collect::<Result<_>>()?,
        })
    }
}

statements! { MIGRATION, LAST_FINALS }
