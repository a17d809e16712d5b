//! Deciding, closing and deleting applications.

use portico_domain::ApplicationId;
use portico_domain::applications::ApplicationStatus;

use super::stored::{StoredApplication, visible_to_owner};
use crate::audit::{Entry, append};
use crate::engine::counters::{ChangeContext, record};
use crate::engine::error::{Error, Result};
use crate::engine::sql::{Op, Sql, Tx, select, sql, statements};
use crate::keystore::store::PersonId;

/// Withdraws or decides an application, unless it changed since it was read.
#[derive(Debug)]
pub struct ChangeApplication {
    pub id: ApplicationId,
    /// The version that was read.
    pub version: i64,
    pub status: ApplicationStatus,
    pub document: Vec<u8>,
    pub entry: Entry,
    pub by: ChangeContext,
}

static CHANGE: Sql = sql("UPDATE applications SET status = ?3, document = ?4, version = version + 1, \
     generation = generation + 1 WHERE id = ?1 AND version = ?2");

impl Op for ChangeApplication {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let params =
            [(&self.id).into(), self.version.into(), self.status.name().into(), self.document[..].into()];
        if tx.exec(&CHANGE, &params).await? == 0 {
            return Err(Error::Outdated);
        }
        append(tx, &self.entry).await?;
        let ended = ("applications", "total", -i64::from(!self.status.is_visible_to_owner()));
        record(tx, &self.by, self.entry.action, self.id.as_str(), &[ended]).await
    }
}

static CLOSE: Sql = sql(concat!(
    "UPDATE applications SET status = 'closed', version = version + 1, generation = generation + 1 \
     WHERE listing = ?1 AND ",
    visible_to_owner!(),
    " RETURNING id"
));

/// Closes every application to a deleted listing. Their flags are cleared when they are next computed.
pub(crate) async fn close_applications<T: Tx>(tx: &mut T, listing: i64, by: &ChangeContext) -> Result<()> {
    let closed: Vec<(ApplicationId,)> = tx.rows(&CLOSE, &[listing.into()]).await?;
    for (id,) in closed {
        record(tx, by, "application.closed", id.as_str(), &[("applications", "total", -1)]).await?;
    }
    Ok(())
}

static DELETE: Sql =
    select::<StoredApplication>("DELETE FROM applications WHERE person = ?1 RETURNING {columns}");

/// Deletes every application of a person who is being erased. Returns them, with the number of those that counted.
pub(crate) async fn delete_applications<T: Tx>(
    tx: &mut T,
    person: &PersonId,
) -> Result<(Vec<StoredApplication>, i64)> {
    let deleted: Vec<StoredApplication> = tx.rows(&DELETE, &[person.into()]).await?;
    let visible = deleted.iter().map(|application| i64::from(application.status.is_visible_to_owner())).sum();
    Ok((deleted, visible))
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
        let (_, visible) = delete_applications(tx, &self.person).await?;
        record(tx, &self.by, "person.erased", "", &[("applications", "total", -visible)]).await
    }
}

statements! { CHANGE, CLOSE, DELETE }
