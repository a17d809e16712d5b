//! How much there is of a user.

use portico_domain::{Timestamp, UserId};

use crate::engine::sql::{Columns, FromRow, Param, Row, Sql, Weight, sql};
use crate::engine::{Db, Result};
use crate::keystore::PersonId;

static COUNT: Sql = sql("SELECT (SELECT count(*) FROM listings WHERE user_id = ?1), \
     (SELECT count(*) FROM saved_listings WHERE user_id = ?1), \
     (SELECT count(*) FROM portfolios WHERE user_id = ?1), \
     (SELECT count(*) FROM devices WHERE user_id = ?1), \
     (SELECT count(*) FROM verifications WHERE user_id = ?1), \
     (SELECT count(*) FROM api_keys WHERE scope = 2 AND subject = ?1 AND revoked_at IS NULL \
     AND (expires_at IS NULL OR expires_at > ?2)), \
     (SELECT count(*) FROM applications WHERE person = ?3)");

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UserCounts {
    pub listings: i64,
    pub saved_listings: i64,
    pub portfolios: i64,
    pub devices: i64,
    pub verifications: i64,
    /// Those that are accepted.
    pub keys: i64,
    pub applications: i64,
}

impl FromRow for UserCounts {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        Ok(Self {
            listings: c.get()?,
            saved_listings: c.get()?,
            portfolios: c.get()?,
            devices: c.get()?,
            verifications: c.get()?,
            keys: c.get()?,
            applications: c.get()?,
        })
    }
}

impl Db {
    /// `person`: the user's id in applications, if they have a key.
    pub async fn user_counts(
        &self,
        user: &UserId,
        person: Option<&PersonId>,
        now: Timestamp,
    ) -> Result<UserCounts> {
        let person = person.map_or(Param::Bytes(&[]), Into::into);
        let counts = self.read(&COUNT, &[user.into(), now.into(), person], Weight::Scan).await?;
        Ok(counts.into_iter().next().unwrap_or_default())
    }
}
