//! The database's chain, and the leases that let processes sign.
//!
//! A lease is an epoch, not a time: every signing statement names the epoch, so a replaced process cannot sign,
//! however late it notices.

use crate::chain::signing::Address;
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{
    Columns, FromRow, Op, Row, Sql, Tx, Weight, dialects, row, select, sql, statements,
};
use crate::engine::word::{Word, word};

/// The chain that a database is bound to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainIdentity {
    pub chain_id: i64,
    /// The hash of block 0.
    pub genesis: Word,
    /// In the order of their kinds.
    pub contracts: Vec<Address>,
}

impl FromRow for ChainIdentity {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (chain_id, genesis) = (c.get()?, c.get()?);
        let contracts = c.get::<Vec<u8>>()?.chunks(20).map(word).collect::<Result<_>>()?;
        Ok(Self { chain_id, genesis, contracts })
    }
}

pub(crate) static IDENTITY: Sql = sql("SELECT chain_id, genesis, contracts FROM chain WHERE id = 1");
static ADOPT: Sql = sql("INSERT INTO chain (id, chain_id, genesis, contracts) \
     VALUES (1, ?1, ?2, ?3) ON CONFLICT (id) DO NOTHING");

/// Binds the database to a chain; returns the chain that it is bound to, which may be an earlier one.
#[derive(Debug)]
pub struct AdoptChain(pub ChainIdentity);

impl Op for AdoptChain {
    type Out = ChainIdentity;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<ChainIdentity> {
        let contracts = self.0.contracts.concat();
        let params = [self.0.chain_id.into(), self.0.genesis.as_slice().into(), contracts.as_slice().into()];
        tx.exec(&ADOPT, &params).await?;
        tx.one(&IDENTITY, &[]).await?.ok_or_else(|| Error::Bug("the chain's row is missing".into()))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SignerRow {
    pub id: i64,
    pub address: Address,
    /// Signing requires this epoch.
    pub epoch: i64,
    /// The holder's heartbeat counter.
    pub beat: i64,
    pub next_nonce: i64,
}

row!(SignerRow { id, address, epoch, beat, next_nonce });

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    pub signer: i64,
    pub epoch: i64,
}

static SIGNERS: Sql = select::<SignerRow>("SELECT {columns} FROM chain_signers ORDER BY id");
static ADD_SIGNER: Sql = dialects(
    "INSERT INTO chain_signers (id, address, epoch, beat, next_nonce) VALUES (NULL, ?1, 0, 0, ?2) \
     ON CONFLICT (address) DO NOTHING",
    "INSERT INTO chain_signers (id, address, epoch, beat, next_nonce) \
     SELECT coalesce(max(id), 0) + 1, ?1, 0, 0, ?2 FROM chain_signers ON CONFLICT (address) DO NOTHING",
);
static TAKE: Sql = select::<SignerRow>(
    "UPDATE chain_signers SET epoch = epoch + 1, beat = 0 \
     WHERE address = ?1 AND epoch = ?2 AND beat = ?3 RETURNING {columns}",
);
static BEAT: Sql = sql("UPDATE chain_signers SET beat = beat + 1 WHERE id = ?1 AND epoch = ?2");
static RELEASE: Sql = sql("UPDATE chain_signers SET beat = -1 WHERE id = ?1 AND epoch = ?2");
static RAISE: Sql =
    sql("UPDATE chain_signers SET next_nonce = ?3 WHERE id = ?1 AND epoch = ?2 AND next_nonce < ?3");
static NEXT_NONCE: Sql = sql("UPDATE chain_signers SET next_nonce = next_nonce + 1 \
     WHERE id = ?1 AND epoch = ?2 RETURNING next_nonce - 1");
static RETURN_NONCE: Sql =
    sql("UPDATE chain_signers SET next_nonce = next_nonce - 1 WHERE id = ?1 AND epoch = ?2");
static HELD: Sql = dialects(
    "SELECT epoch FROM chain_signers WHERE id = ?1 AND epoch = ?2",
    // Shared: a process that takes the lease meanwhile waits for this commit.
    "SELECT epoch FROM chain_signers WHERE id = ?1 AND epoch = ?2 FOR SHARE",
);

/// Takes the lease, unless its holder has moved since it was observed.
#[derive(Debug)]
pub struct TakeLease {
    pub address: Address,
    /// Observed epoch and beat; both are 0 for an unknown signer.
    pub seen: (i64, i64),
    /// The first nonce of an unknown signer.
    pub first_nonce: i64,
}

impl Op for TakeLease {
    type Out = Option<SignerRow>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<SignerRow>> {
        tx.exec(&ADD_SIGNER, &[self.address.as_slice().into(), self.first_nonce.into()]).await?;
        let (epoch, beat) = self.seen;
        tx.one(&TAKE, &[self.address.as_slice().into(), epoch.into(), beat.into()]).await
    }
}

/// Returns whether the lease is still held.
#[derive(Debug)]
pub struct Heartbeat(pub Lease);

impl Op for Heartbeat {
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        Ok(tx.exec(&BEAT, &[self.0.signer.into(), self.0.epoch.into()]).await? > 0)
    }
}

/// Sets the beat to -1 until somebody takes the lease.
#[derive(Debug)]
pub struct ReleaseLease(pub Lease);

impl Op for ReleaseLease {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&RELEASE, &[self.0.signer.into(), self.0.epoch.into()]).await.map(drop)
    }
}

/// Skips nonces that the chain has already seen from this account.
#[derive(Debug)]
pub struct RaiseNonce {
    pub lease: Lease,
    /// The next free nonce.
    pub to: i64,
}

impl Op for RaiseNonce {
    type Out = bool;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        let params = [self.lease.signer.into(), self.lease.epoch.into(), self.to.into()];
        Ok(tx.exec(&RAISE, &params).await? > 0)
    }
}

impl Lease {
    /// Takes the next nonce, if the lease still holds.
    pub(super) async fn next_nonce<T: Tx>(self, tx: &mut T) -> Result<i64> {
        let row: Option<(i64,)> = tx.one(&NEXT_NONCE, &[self.signer.into(), self.epoch.into()]).await?;
        row.map(|(nonce,)| nonce).ok_or(Error::LeaseLost)
    }

    /// Returns the nonce that this transaction took.
    pub(super) async fn return_nonce<T: Tx>(self, tx: &mut T) -> Result<()> {
        tx.exec(&RETURN_NONCE, &[self.signer.into(), self.epoch.into()]).await.map(drop)
    }

    /// Rejects a process that was replaced.
    pub(super) async fn check<T: Tx>(self, tx: &mut T) -> Result<()> {
        let row: Option<(i64,)> = tx.one(&HELD, &[self.signer.into(), self.epoch.into()]).await?;
        row.map(drop).ok_or(Error::LeaseLost)
    }
}

impl Db {
    /// `None`: the database is not bound to a chain yet.
    pub async fn chain_identity(&self) -> Result<Option<ChainIdentity>> {
        self.one(&IDENTITY, &[]).await
    }

    pub async fn chain_signers(&self) -> Result<Vec<SignerRow>> {
        self.read(&SIGNERS, &[], Weight::Point).await
    }
}

statements! {
    IDENTITY, ADOPT, SIGNERS, ADD_SIGNER, TAKE, BEAT, RELEASE, RAISE, NEXT_NONCE, RETURN_NONCE, HELD
}
