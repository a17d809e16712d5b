//! Computing flags. A cause (a result, an application, its end) raises the application's generation in its own
//! transaction; the flags are computed outside and stored here, so that a crash in between loses nothing.

use portico_domain::applications::ApplicationStatus;
use portico_domain::{ApplicationId, ListingId, Timestamp};
use portico_records::{CheckFlags, check_item, cleared_check};

use super::stored::{StoredApplication, visible_to_owner};
use crate::audit::{Entry, append};
use crate::chain::items::{put_item, retire};
use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::sql::{Op, Sql, Tx, Weight, dialects, params, select, sql, statements};
use crate::engine::word::Word;
use crate::keystore::store::PersonId;

static RECOMPUTE: Sql = sql(concat!(
    "UPDATE applications SET generation = generation + 1 WHERE person = ?1 AND ",
    visible_to_owner!()
));

/// After a new result of the person.
pub(crate) async fn recompute_flags<T: Tx>(tx: &mut T, person: &PersonId) -> Result<()> {
    tx.exec(&RECOMPUTE, &[person.into()]).await.map(drop)
}

/// What the owner's account learns from the flags, and how much it may learn.
#[derive(Debug)]
pub struct Disclosure {
    /// Digests under the person's key: of the account, and of that with the terms.
    pub owner: Word,
    pub terms: Word,
    /// Different terms since this moment count.
    pub since: Timestamp,
    /// The most sets of terms.
    pub limit: i64,
    pub at: Timestamp,
}

/// Stores the flags of an application, as they were computed from a state of it.
#[derive(Debug)]
pub struct StoreFlags {
    pub id: ApplicationId,
    pub person: PersonId,
    /// As it was read.
    pub generation: i64,
    pub status: ApplicationStatus,
    /// `None`: the flags disclose nothing.
    pub disclosure: Option<Disclosure>,
    pub listing: ListingId,
    /// The application's reference on the chain.
    pub reference: Word,
    /// `None`: there are no flags.
    pub flags: Option<CheckFlags>,
    /// Only written if there are flags: computing them opens personal values.
    pub entry: Entry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlagsOutcome {
    Stored,
    /// The owner's account has learned about too many different terms; there are no flags.
    Withheld,
    /// The application changed meanwhile.
    Outdated,
}

static LOCK: Sql = dialects(
    "SELECT id, status, generation FROM applications WHERE id = ?1",
    "SELECT id, status, generation FROM applications WHERE id = ?1 FOR UPDATE",
);
/// Also locks the person's other applications to the owner's account, so that no two disclosures count at the same time.
static LOCK_OF_OWNER: Sql = dialects(
    "SELECT id, status, generation FROM applications WHERE person = ?1 AND owner = ?2",
    "SELECT id, status, generation FROM applications WHERE person = ?1 AND owner = ?2 ORDER BY seq FOR UPDATE",
);
static OTHER_TERMS: Sql = sql("SELECT count(DISTINCT terms) FROM applications \
     WHERE person = ?1 AND owner = ?2 AND terms <> ?3 AND disclosed_at > ?4");
static SAME: Sql = sql("SELECT version FROM chain_items \
     WHERE kind = ?1 AND key = ?2 AND payload = ?3 AND deleted = 0 AND rejected = 0");
static STORE: Sql = sql("UPDATE applications SET settled = ?2, disclosed_at = coalesce(?3, disclosed_at), \
     withheld = ?4, flags_expire_at = CASE WHEN CAST(?4 AS BIGINT) = 1 THEN flags_expire_at ELSE ?5 END \
     WHERE id = ?1 AND settled < ?2");

impl Op for StoreFlags {
    type Out = FlagsOutcome;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<FlagsOutcome> {
        let rows: Vec<(ApplicationId, String, i64)> = match &self.disclosure {
            None => tx.rows(&LOCK, &[(&self.id).into()]).await?,
            Some(Disclosure { owner, .. }) => {
                tx.rows(&LOCK_OF_OWNER, &[(&self.person).into(), owner[..].into()]).await?
            }
        };
        let is_current = |(id, status, generation): &(ApplicationId, String, i64)| {
            *id == self.id && status == self.status.name() && *generation == self.generation
        };
        if !rows.iter().any(is_current) {
            return Ok(FlagsOutcome::Outdated);
        }
        let is_withheld = match &self.disclosure {
            None => false,
            Some(Disclosure { owner, terms, since, limit, .. }) => {
                let params = [(&self.person).into(), owner[..].into(), terms[..].into(), (*since).into()];
                let others: Option<(i64,)> = tx.one(&OTHER_TERMS, &params).await?;
                others.is_some_and(|(others,)| others >= *limit)
            }
        };
        let disclosed_at = self.disclosure.as_ref().filter(|_| !is_withheld).map(|disclosure| disclosure.at);
        let at = self.entry.at;
        if let Some(flags) = self.flags.filter(|_| !is_withheld) {
            let desired = check_item(&self.listing, &self.reference, flags, at);
            let item = [desired.kind.into(), desired.key[..].into(), desired.payload[..].into()];
            if tx.one::<(i64,)>(&SAME, &item).await?.is_none() {
                put_item(tx, &desired, None).await?;
            }
            append(tx, &self.entry).await?;
        } else {
            retire(tx, &cleared_check(&self.listing, &self.reference, at)).await?;
        }
        let params = params![
            &self.id,
            self.generation,
            disclosed_at,
            is_withheld,
            self.flags.map(|flags| flags.expires_at)
        ];
        tx.exec(&STORE, &params).await?;
        Ok(if is_withheld { FlagsOutcome::Withheld } else { FlagsOutcome::Stored })
    }
}

static HAS_EXPIRED: Sql = sql("SELECT seq FROM applications WHERE flags_expire_at <= ?1 LIMIT 1");
static EXPIRE: Sql = sql("UPDATE applications SET generation = generation + 1, flags_expire_at = NULL \
     WHERE seq IN (SELECT seq FROM applications WHERE flags_expire_at <= ?1 ORDER BY flags_expire_at LIMIT ?2)");

/// Flags that have expired have to be computed again.
#[derive(Debug)]
pub struct ExpireFlags {
    pub at: Timestamp,
    pub limit: i64,
}

impl Op for ExpireFlags {
    type Out = u64;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<u64> {
        tx.exec(&EXPIRE, &[self.at.into(), self.limit.into()]).await
    }
}

static DUE: Sql = select::<StoredApplication>(
    "SELECT {columns} FROM applications WHERE generation > settled ORDER BY seq LIMIT ?1",
);
static DUE_OF: Sql = select::<StoredApplication>(
    "SELECT {columns} FROM applications WHERE person = ?1 AND generation > settled ORDER BY seq LIMIT ?2",
);

impl Db {
    pub async fn has_expired_flags(&self, at: Timestamp) -> Result<bool> {
        Ok(self.one::<(i64,)>(&HAS_EXPIRED, &[at.into()]).await?.is_some())
    }

    /// Applications whose flags have to be computed, of one person or of all.
    pub async fn due_applications(
        &self,
        of: Option<&PersonId>,
        limit: i64,
    ) -> Result<Vec<StoredApplication>> {
        match of {
            Some(person) => self.read(&DUE_OF, &[person.into(), limit.into()], Weight::Scan).await,
            None => self.read(&DUE, &[limit.into()], Weight::Scan).await,
        }
    }
}

statements! { RECOMPUTE, LOCK, LOCK_OF_OWNER, OTHER_TERMS, SAME, STORE, HAS_EXPIRED, EXPIRE, DUE, DUE_OF }
