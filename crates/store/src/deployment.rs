//! The database's deployment: the profile of its first server and its keystore.

use portico_domain::Timestamp;

use crate::audit::{Entry, append};
use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::sql::{Op, Sql, Tx, row, select, sql, statements};

/// Empty until a server has used the database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deployment {
    pub profile: Option<String>,
    pub keystore: Option<String>,
}

row!(Deployment { profile, keystore });

pub(crate) static DEPLOYMENT: Sql = select::<Deployment>("SELECT {columns} FROM deployment WHERE id = 1");
static ADOPT: Sql = sql("UPDATE deployment SET profile = coalesce(profile, ?1), \
     keystore = coalesce(keystore, ?2) WHERE id = 1");
static REPLACE_KEYSTORE: Sql = sql("UPDATE deployment SET keystore = ?1 WHERE id = 1");
static CLOCK: Sql = sql("SELECT clock_ahead FROM deployment WHERE id = 1");
static ADVANCE_CLOCK: Sql = sql("UPDATE deployment SET clock_ahead = clock_ahead + ?1 \
     WHERE id = 1 AND clock_ahead + ?1 <= ?2 RETURNING clock_ahead");
static PROBE: Sql = sql("UPDATE write_probe SET at = ?1 WHERE id = 1");

/// Records only what is not recorded yet.
#[derive(Debug)]
pub struct AdoptDeployment {
    /// `None`: not to be recorded.
    pub profile: Option<&'static str>,
    pub keystore: String,
}

impl Op for AdoptDeployment {
    type Out = Deployment;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Deployment> {
        tx.exec(&ADOPT, &[self.profile.into(), self.keystore.as_str().into()]).await?;
        Ok(tx.one(&DEPLOYMENT, &[]).await?.unwrap_or_default())
    }
}

/// Records another keystore in place of a lost one.
#[derive(Debug)]
pub struct ReplaceKeystore {
    pub keystore: String,
    pub entry: Entry,
}

impl Op for ReplaceKeystore {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&REPLACE_KEYSTORE, &[self.keystore.as_str().into()]).await?;
        append(tx, &self.entry).await
    }
}

/// Moves calendar time ahead of the machine's clock.
#[derive(Debug)]
pub struct AdvanceClock {
    pub micros: i64,
    pub max_ahead_micros: i64,
}

impl Op for AdvanceClock {
    /// How far it is ahead now; `None` if that would be too far.
    type Out = Option<i64>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Option<i64>> {
        let params = [self.micros.into(), self.max_ahead_micros.into()];
        Ok(tx.one::<(i64,)>(&ADVANCE_CLOCK, &params).await?.map(|(ahead,)| ahead))
    }
}

/// Writes a row that nobody reads, to prove that writes work.
#[derive(Debug)]
pub struct ProbeWrite(pub Timestamp);

impl Op for ProbeWrite {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        tx.exec(&PROBE, &[self.0.into()]).await.map(drop)
    }
}

impl Db {
    pub async fn deployment(&self) -> Result<Deployment> {
        Ok(self.one(&DEPLOYMENT, &[]).await?.unwrap_or_default())
    }

    /// How far calendar time is ahead of the machine's clock, in microseconds.
    pub async fn clock_ahead(&self) -> Result<i64> {
        Ok(self.one::<(i64,)>(&CLOCK, &[]).await?.map_or(0, |(ahead,)| ahead))
    }
}

statements! { DEPLOYMENT, ADOPT, REPLACE_KEYSTORE, CLOCK, ADVANCE_CLOCK, PROBE }
