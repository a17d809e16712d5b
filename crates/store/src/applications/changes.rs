//! Deciding, closing and deleting applications.

use portico_domain::applications::ApplicationStatus;
use portico_domain::{ApplicationId, Timestamp};
use portico_records::Content;

use super::stored::{StoredApplication, visible_to_owner};
use crate::audit::{Entry, append};
use crate::chain::items::retire;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, params, select, sql, statements};
use crate::keystore::store::PersonId;

/// What a change does to what is shared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharingChange {
    /// A decision: it stays as it is, for good.
    Keep,
    /// The applicant shares their present results.
    Renew,
    End,
}

/// Changes an application, unless it changed since it was read.
#[derive(Debug)]
pub struct ChangeApplication {
    pub id: ApplicationId,
    /// The version that was read.
    pub version: i64,
    pub status: ApplicationStatus,
    pub sharing: SharingChange,
    pub document: Vec<u8>,
    pub entry: Entry,
    pub by: ChangeContext,
}

static CHANGE: Sql = sql("UPDATE applications SET status = ?3, document = ?4, version = version + 1, \
     complete = CASE WHEN CAST(?5 AS BIGINT) = 1 THEN 0 ELSE complete END, ended = CAST(?6 AS BIGINT), \
     generation = generation + CAST(?5 AS BIGINT) + CAST(?6 AS BIGINT) \
     WHERE id = ?1 AND version = ?2 AND ended = 0");

impl Op for ChangeApplication {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let (is_renewed, has_ended) =
            (self.sharing == SharingChange::Renew, self.sharing == SharingChange::End);
        let params = params![
            &self.id,
            self.version,
            self.status.name(),
            &self.document[..],
            i64::from(is_renewed),
            i64::from(has_ended)
        ];
        if tx.exec(&CHANGE, &params).await? == 0 {
            return Err(Error::Outdated);
        }
        append(tx, &self.entry).await?;
        let ended = ("applications", "total", -i64::from(has_ended));
        record(tx, &self.by, self.entry.action, self.id.as_str(), &[ended]).await
    }
}

static CLOSE: Sql = sql(concat!(
    "UPDATE applications SET status = 'closed', version = version + 1, generation = generation + 1 \
     WHERE listing = ?1 AND ",
    visible_to_owner!(),
    " RETURNING id"
));

/// Closes every application to a deleted listing. Their flags are cleared, and their applicants notified, when their
/// reports are next computed.
pub(crate) async fn close_applications<T: Tx>(tx: &mut T, listing: i64, by: &ChangeContext) -> Result<()> {
    let closed: Vec<(ApplicationId,)> = tx.rows(&CLOSE, &[listing.into()]).await?;
    for (id,) in closed {
        record(tx, by, "application.closed", id.as_str(), &[("applications", "total", -1)]).await?;
    }
    Ok(())
}

static DELETE: Sql =
    select::<StoredApplication>("DELETE FROM applications WHERE person = ?1 RETURNING {columns}");

/// Deletes every application of a person who is being erased, and clears their flags. Returns the number of those that
/// counted.
pub(crate) async fn delete_applications<T: Tx>(tx: &mut T, person: &PersonId, at: Timestamp) -> Result<i64> {
    let deleted: Vec<StoredApplication> = tx.rows(&DELETE, &[person.into()]).await?;
    for application in &deleted {
        retire(tx, &Content::ClearedCheck.desired(application.chain_key, at)).await?;
    }
    Ok(deleted.iter().map(|application| i64::from(application.is_shared())).sum())
}

/// Deletes the applications of someone whose key no longer exists: an erasure was interrupted, or the database is an
/// older copy.
#[derive(Debug)]
pub struct DeleteOrphanedApplications {
    pub person: PersonId,
    pub by: ChangeContext,
}

impl Op for DeleteOrphanedApplications {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let shared = delete_applications(tx, &self.person, self.by.at).await?;
        record(tx, &self.by, "person.erased", "", &[("applications", "total", -shared)]).await
    }
}

statements! { CHANGE, CLOSE, DELETE }
