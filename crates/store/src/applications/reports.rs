//! What applications share. A cause (a result, a renewal, the end of the sharing) raises the application's generation in
//! its own transaction; report and flags are computed outside and stored here, so that a crash in between loses nothing.

use portico_domain::applications::ApplicationStatus;
use portico_domain::{ApplicationId, Timestamp};
use portico_records::{Commitment, Content, DesiredItem};

use super::stored::StoredApplication;
use crate::audit::{Entry, append};
use crate::chain::items::{put_item, retire};
use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::sql::{Op, Sql, Tx, Weight, dialects, params, select, sql, statements};
use crate::engine::word::Word;
use crate::keystore::store::PersonId;

static EXTEND: Sql = sql("UPDATE applications SET generation = generation + 1 \
     WHERE person = ?1 AND status = 'submitted' AND complete = 0");

/// After a new result of the person: reports that are not complete may take it. Complete ones stay as they are.
pub(crate) async fn extend_reports<T: Tx>(tx: &mut T, person: &PersonId) -> Result<()> {
    tx.exec(&EXTEND, &[person.into()]).await.map(drop)
}

/// What an owner's account learns from a report, and how much it may learn about the person.
#[derive(Debug)]
pub struct Disclosure {
    /// Digests under the person's key: of the account, and of that with the terms.
    pub owner: Word,
    pub terms: Word,
    /// Different terms since this moment count.
    pub since: Timestamp,
    /// The most sets of terms of the account.
    pub limit: i64,
    /// The most of all accounts together.
    pub total_limit: i64,
    pub at: Timestamp,
}

/// The application's record on the chain.
#[derive(Debug)]
pub enum FlagRecord {
    Clear,
    Write {
        commitment: Commitment,
        /// Sealed.
        salt: Vec<u8>,
        /// Whoever opens personal values leaves a trace.
        entry: Entry,
    },
}

/// Stores what an application shares, as it was computed from a state of it.
#[derive(Debug)]
pub struct StoreReport {
    pub id: ApplicationId,
    pub person: PersonId,
    /// As it was read.
    pub generation: i64,
    pub status: ApplicationStatus,
    pub chain_key: Word,
    /// `None`: nothing is disclosed about score or income.
    pub disclosure: Option<Disclosure>,
    /// Sealed; `None`: it stays as it is.
    pub document: Option<Vec<u8>>,
    /// From now on only its applicant changes the report.
    pub is_complete: bool,
    pub record: FlagRecord,
    /// When the record is to be sent, by the machine's clock.
    pub at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReportOutcome {
    Stored,
    /// Too many different terms were disclosed; there are no flags.
    Withheld,
    /// The application changed meanwhile, or another server has stored its report.
    Outdated,
}

static LOCK: Sql = dialects(
    "SELECT id, status, generation FROM applications WHERE id = ?1",
    "SELECT id, status, generation FROM applications WHERE id = ?1 FOR UPDATE",
);
/// Locks all of the person's applications, so that no two disclosures count at the same time.
static LOCK_OF_PERSON: Sql = dialects(
    "SELECT id, status, generation FROM applications WHERE person = ?1",
    "SELECT id, status, generation FROM applications WHERE person = ?1 ORDER BY seq FOR UPDATE",
);
static OTHER_TERMS: Sql =
    sql("SELECT count(DISTINCT CASE WHEN owner = ?2 THEN terms END), count(DISTINCT terms) \
     FROM applications WHERE person = ?1 AND terms <> ?3 AND disclosed_at > ?4");
static STORE: Sql = sql("UPDATE applications SET computed = ?2, disclosed_at = coalesce(?3, disclosed_at), \
     withheld = ?4, complete = ?5, document = coalesce(?6, document), \
     version = version + CASE WHEN ?6 IS NULL THEN 0 ELSE 1 END WHERE id = ?1 AND computed < ?2");
static STORE_SALT: Sql = sql("UPDATE applications SET salt = ?2 WHERE id = ?1");

impl Op for StoreReport {
    type Out = ReportOutcome;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<ReportOutcome> {
        let rows: Vec<(ApplicationId, String, i64)> = match &self.disclosure {
            None => tx.rows(&LOCK, &[(&self.id).into()]).await?,
            Some(_) => tx.rows(&LOCK_OF_PERSON, &[(&self.person).into()]).await?,
        };
        let is_current = |(id, status, generation): &(ApplicationId, String, i64)| {
            *id == self.id && status == self.status.name() && *generation == self.generation
        };
        if !rows.iter().any(is_current) {
            return Ok(ReportOutcome::Outdated);
        }
        let is_withheld = self.is_withheld(tx).await?;
        let disclosed_at = self.disclosure.as_ref().filter(|_| !is_withheld).map(|disclosure| disclosure.at);
        let document = self.document.as_deref();
        let params =
            params![&self.id, self.generation, disclosed_at, is_withheld, self.is_complete, document];
        if tx.exec(&STORE, &params).await? == 0 {
            return Ok(ReportOutcome::Outdated);
        }
        if is_withheld {
            self.clear(tx).await?;
            return Ok(ReportOutcome::Withheld);
        }
        match &self.record {
            FlagRecord::Clear => self.clear(tx).await?,
            FlagRecord::Write { commitment, salt, entry } => {
                put_item(tx, &self.desired(Content::Check(*commitment)), None).await?;
                tx.exec(&STORE_SALT, &params![&self.id, &salt[..]]).await?;
                append(tx, entry).await?;
            }
        }
        Ok(ReportOutcome::Stored)
    }
}

impl StoreReport {
    async fn is_withheld<T: Tx>(&self, tx: &mut T) -> Result<bool> {
        let Some(disclosure) = &self.disclosure else { return Ok(false) };
        let Disclosure { owner, terms, since, limit, total_limit, .. } = disclosure;
        let params = [(&self.person).into(), owner[..].into(), terms[..].into(), (*since).into()];
        let others: Option<(i64, i64)> = tx.one(&OTHER_TERMS, &params).await?;
        Ok(others.is_some_and(|(of_owner, of_all)| of_owner >= *limit || of_all >= *total_limit))
    }

    fn desired(&self, content: Content) -> DesiredItem {
        DesiredItem { due_at: Some(self.at), ..content.desired(self.chain_key, self.at) }
    }

    async fn clear<T: Tx>(&self, tx: &mut T) -> Result<()> {
        retire(tx, &self.desired(Content::ClearedCheck)).await?;
        tx.exec(&STORE_SALT, &params![&self.id, None::<&[u8]>]).await.map(drop)
    }
}

static DUE: Sql = select::<StoredApplication>(
    "SELECT {columns} FROM applications WHERE generation > computed ORDER BY seq LIMIT ?1",
);
static DUE_OF: Sql = select::<StoredApplication>(
    "SELECT {columns} FROM applications WHERE person = ?1 AND generation > computed ORDER BY seq LIMIT ?2",
);
static COUNT_DISCLOSED: Sql =
    sql("SELECT count(DISTINCT terms) FROM applications WHERE person = ?1 AND disclosed_at > ?2");

impl Db {
    /// Applications whose report has to be computed, of one person or of all.
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

    /// How many different terms owners have learned something about since then.
    pub async fn count_disclosed_terms(&self, person: &PersonId, since: Timestamp) -> Result<i64> {
        let found: Option<(i64,)> = self.one(&COUNT_DISCLOSED, &[person.into(), since.into()]).await?;
        Ok(found.map_or(0, |(count,)| count))
    }
}

statements! { EXTEND, LOCK, LOCK_OF_PERSON, OTHER_TERMS, STORE, STORE_SALT, DUE, DUE_OF, COUNT_DISCLOSED }
