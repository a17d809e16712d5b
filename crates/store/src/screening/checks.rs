//! The checks of a case. A check's reference is stored before the bureau request and its finding as soon as it
//! arrives, so that nothing is paid for twice.

use portico_domain::{CaseId, Timestamp};

use super::cases::lock_case;
use crate::budgets::Budget;
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, dialects, params, row, select, sql, statements};
use crate::engine::word::Word;
use crate::idempotency::Seal;

#[derive(Debug, Clone)]
pub struct NewCheck {
    pub kind: &'static str,
    /// A digest of the inputs.
    pub inputs: Word,
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

row!(StoredCheck { kind, reference, bureau, finding, finished_at });

static INSERT: Sql = sql("INSERT INTO checks (case_id, kind, inputs, reference, bureau, started_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (case_id, kind) DO NOTHING");
static RESTART: Sql = sql("UPDATE checks SET inputs = ?3, reference = ?4, bureau = ?5, started_at = ?6, \
     finding = NULL, finished_at = NULL WHERE case_id = ?1 AND kind = ?2");
static INPUTS: Sql = dialects(
    "SELECT inputs, bureau, finished_at FROM checks WHERE case_id = ?1 AND kind = ?2",
    "SELECT inputs, bureau, finished_at FROM checks WHERE case_id = ?1 AND kind = ?2 FOR UPDATE",
);
static GET: Sql = select::<StoredCheck>("SELECT {columns} FROM checks WHERE case_id = ?1 AND kind = ?2");
static FINISH: Sql = sql("UPDATE checks SET finding = ?4, finished_at = ?5 \
     WHERE case_id = ?1 AND kind = ?2 AND reference = ?3 AND finding IS NULL");

/// Starts checks of a case, or returns their progress. A check with the same inputs at the same bureau continues unless
/// its finding is too old; otherwise it starts again.
#[derive(Debug)]
pub struct BeginChecks<S> {
    pub case: CaseId,
    pub checks: Vec<NewCheck>,
    /// The person's key: it seals the digests of the inputs.
    pub seal: S,
    /// Older findings are no longer valid.
    pub valid_since: Timestamp,
    /// Pays for each check that starts.
    pub budget: Budget,
    /// What the result costs in the end, and how much: it must be left.
    pub needed: (Budget, u32),
    pub at: Timestamp,
}

impl<S: Seal> BeginChecks<S> {
    /// False: it continues.
    async fn begin<T: Tx>(&self, tx: &mut T, check: &NewCheck) -> Result<bool> {
        let place = format!("checks {} {}", self.case, check.kind).into_bytes();
        let inputs = self.seal.seal(&place, &check.inputs)?;
        let params = params![
            &self.case,
            check.kind,
            &inputs[..],
            check.reference.as_str(),
            check.bureau.as_str(),
            self.at
        ];
        if tx.exec(&INSERT, &params).await? > 0 {
            return Ok(true);
        }
        let found = tx.one(&INPUTS, &[(&self.case).into(), check.kind.into()]).await?;
        let (stored, bureau, finished): (Vec<u8>, String, Option<Timestamp>) =
            found.ok_or_else(|| Error::Again("a check was deleted meanwhile".into()))?;
        let unchanged = self.seal.open(&place, &stored).is_ok_and(|opened| opened == check.inputs);
        if unchanged && bureau == check.bureau && finished.is_none_or(|at| at >= self.valid_since) {
            return Ok(false);
        }
        tx.exec(&RESTART, &params).await.map(|_| true)
    }
}

impl<S: Seal + 'static> Op for BeginChecks<S> {
    type Out = Vec<StoredCheck>;
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<Vec<StoredCheck>> {
        lock_case(tx, &self.case).await?;
        self.needed.0.check(tx, self.needed.1).await?;
        let (mut stored, mut begun) = (Vec::with_capacity(self.checks.len()), 0);
        for check in &self.checks {
            begun += i64::from(self.begin(tx, check).await?);
            let found: Option<StoredCheck> = tx.one(&GET, &[(&self.case).into(), check.kind.into()]).await?;
            stored.push(found.ok_or_else(|| Error::Bug("a check that was begun is not there".into()))?);
        }
        self.budget.take(tx, begun).await?;
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
        let params = params![&self.case, self.kind, self.reference.as_str(), &self.finding[..], self.at];
        tx.exec(&FINISH, &params).await.map(drop)
    }
}

statements! { INSERT, RESTART, INPUTS, GET, FINISH }
