//! How much there is of a user.

use portico_domain::{Timestamp, UserId};

use crate::engine::db::Db;
use crate::engine::error::Result;
use crate::engine::sql::{Param, Sql, Weight, row, select, statements};
use crate::keystore::store::PersonId;

static COUNT: Sql = select::<UserCounts>("SELECT {columns}");

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

row!(UserCounts {
    listings = "(SELECT count(*) FROM listings WHERE user_id = ?1)",
    saved_listings = "(SELECT count(*) FROM saved_listings WHERE user_id = ?1)",
    portfolios = "(SELECT count(*) FROM portfolios WHERE user_id = ?1)",
    devices = "(SELECT count(*) FROM devices WHERE user_id = ?1)",
    verifications = "(SELECT count(*) FROM verifications WHERE user_id = ?1)",
    keys = "(SELECT count(*) FROM api_keys WHERE scope = 2 AND subject = ?1 AND revoked_at IS NULL \
            AND (expires_at IS NULL OR expires_at > ?2))",
    applications = "(SELECT count(*) FROM applications WHERE person = ?3)",
});

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

statements! { COUNT }
