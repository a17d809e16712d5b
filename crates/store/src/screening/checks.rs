//! The checks of a case. A check's reference is stored before the bureau request and its finding as soon as it
//! arrives, so that nothing is paid for twice.

use portico_domain::{CaseId, Timestamp};

use crate::sql::{Columns, FromRow, Op, Row, Sql, Tx, sql};
use crate::{Error, Result};

#[derive(Debug, Clone)]
pub struct NewCheck {
    pub kind: &'static str,
    /// Changes with the inputs.
    pub tag: i64,
    /// For the first request with these inputs.
    pub reference: String,
    pub bureau: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCheck {
    pub kind: String,
    pub reference: String,
    pub bureau: String,
    /// Sealed.
    pub finding: Option<Vec<u8>>,
    pub finished_at: Option<Timestamp>,
}

impl FromRow for StoredCheck {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self {
            kind: c.get()?,
            reference: c.get()?,
            bureau: c.get()?,
            finding: c.get()?,
            finished_at: c.get()?,
        })
    }
}

/// A check with the same inputs continues unless it is too old; otherwise it starts again.
static BEGIN: Sql = sql("INSERT INTO checks (case_id, kind, tag, reference, bureau, started_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (case_id, kind) DO UPDATE SET \
     tag = excluded.tag, reference = excluded.reference, bureau = excluded.bureau, \
     started_at = excluded.started_at, finding = NULL, finished_at = NULL \
     WHERE checks.tag <> excluded.tag OR checks.bureau <> excluded.bureau OR checks.finished_at < ?7");
static GET: Sql =
    sql("SELECT kind, reference, bureau, finding, finished_at FROM checks WHERE case_id = ?1 AND kind = ?2");
static FINISH: Sql = sql("UPDATE checks SET finding = ?4, finished_at = ?5 \
     WHERE case_id = ?1 AND kind = ?2 AND reference = ?3 AND finding IS NULL");

/// Starts checks of a case, or returns their progress.
#[derive(Debug)]
pub struct BeginChecks {
    pub case: CaseId,
    pub checks: Vec<NewCheck>,
    /// Older findings are no longer valid.
    pub valid_since: Timestamp,
    pub at: Timestamp,
}

impl Op for BeginChecks {
    type Out = Vec<StoredCheck>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<StoredCheck>> {
        let mut stored = Vec::with_capacity(self.checks.len());
        for check in &self.checks {
            let params = [
                (&self.case).into(),
                check.kind.into(),
                check.tag.into(),
                check.reference.as_str().into(),
                check.bureau.as_str().into(),
                self.at.into(),
                self.valid_since.into(),
            ];
            tx.exec(&BEGIN, &params).await?;
            let found: Option<StoredCheck> = tx.one(&GET, &[(&self.case).into(), check.kind.into()]).await?;
            stored.push(found.ok_or_else(|| Error::Bug("a check that was begun is not there".into()))?);
        }
        Ok(stored)
    }
}

/// Stores a bureau's finding.
#[derive(Debug)]
pub struct FinishCheck {
    pub case: CaseId,
    pub kind: &'static str,
    pub reference: String,
    /// Sealed.
    pub finding: Vec<u8>,
    pub at: Timestamp,
}

impl Op for FinishCheck {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let params = [
            (&self.case).into(),
            self.kind.into(),
            self.reference.as_str().into(),
            self.finding[..].into(),
            self.at.into(),
        ];
        tx.exec(&FINISH, &params).await.map(drop)
    }
}
