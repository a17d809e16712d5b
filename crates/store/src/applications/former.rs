//! Applications of versions before 0.3, which named the applicant and the listing in the clear.

use portico_domain::{ListingId, Timestamp, UserId};

use super::{NO_LISTING, NewApplication, insert};
use crate::engine::counters::{ChangeContext, record};
use crate::engine::sql::{Columns, FromRow, Op, Row, Sql, Tx, Weight, sql};
use crate::engine::{Db, Result};
use crate::keystore::PersonId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormerApplication {
    pub user: UserId,
    pub listing: ListingId,
    pub created_at: Timestamp,
}

impl FromRow for FormerApplication {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self { user: c.get()?, listing: c.get()?, created_at: c.get()? })
    }
}

static FORMER: Sql =
    sql("SELECT user_id, listing_id, created_at FROM former_applications ORDER BY seq LIMIT ?1");
static TAKE: Sql = sql("DELETE FROM former_applications WHERE user_id = ?1 AND listing_id = ?2");
static FORGET: Sql = sql("DELETE FROM former_applications WHERE user_id = ?1");

/// Replaces a former application.
#[derive(Debug)]
pub struct AdoptFormerApplication {
    pub former: FormerApplication,
    pub person: PersonId,
    pub new: NewApplication,
    pub by: ChangeContext,
}

impl AdoptFormerApplication {
    /// The listing of a former application to an unknown listing.
    pub const NO_LISTING: i64 = NO_LISTING;
}

impl Op for AdoptFormerApplication {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        // Another replica may have been faster.
        let former = [(&self.former.user).into(), (&self.former.listing).into()];
        if tx.exec(&TAKE, &former).await? == 0 || !insert(tx, &self.person, &self.new).await? {
            return Ok(());
        }
        let ended = ("applications", "total", -i64::from(!self.new.status.is_shared()));
        record(tx, &self.by, "application.adopted", self.new.id.as_str(), &[ended]).await
    }
}

/// Part of an erasure.
pub(crate) async fn forget_former_applications<T: Tx>(tx: &mut T, user: &UserId) -> Result<()> {
    tx.exec(&FORGET, &[user.into()]).await.map(drop)
}

impl Db {
    pub async fn former_applications(&self, limit: i64) -> Result<Vec<FormerApplication>> {
        self.read(&FORMER, &[limit.into()], Weight::Scan).await
    }
}
