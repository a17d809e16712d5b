//! Applications as they are stored.

use portico_domain::applications::ApplicationStatus;
use portico_domain::{ApplicationId, Timestamp};

use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{FromColumn, Row, Sql, Weight, row, select, sql, statements};
use crate::engine::word::Word;
use crate::keystore::store::PersonId;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredApplication {
    pub id: ApplicationId,
    pub person: PersonId,
    /// The listing's creation number: a later listing with the same id is another one.
    pub listing: i64,
    pub status: ApplicationStatus,
    /// Increases with every change of status or document.
    pub version: i64,
    /// Increases with every cause to compute the report again.
    pub generation: i64,
    /// The generation that the report was last computed for.
    pub computed: i64,
    /// When the owner's account last learned something about these terms.
    pub disclosed_at: Option<Timestamp>,
    /// The owner's account learns nothing: too many different terms were asked for.
    pub is_withheld: bool,
    /// Only the applicant changes the report any more.
    pub is_complete: bool,
    /// The applicant has ended the sharing after a decision.
    pub has_ended: bool,
    /// Of the record on the chain: random bytes.
    pub chain_key: Word,
    /// Opens the record; sealed. `None`: there is no record.
    pub salt: Option<Vec<u8>>,
    /// Sealed.
    pub document: Vec<u8>,
    pub created_at: Timestamp,
}

macro_rules! visible_to_owner {
    () => {
        "ended = 0 AND status IN ('submitted', 'approved', 'conditional', 'declined')"
    };
}
pub(super) use visible_to_owner;

impl StoredApplication {
    /// Whether the listing's owner sees the report.
    pub fn is_shared(&self) -> bool {
        self.status.is_visible_to_owner() && !self.has_ended
    }
}

row!(StoredApplication {
    id, person, listing, status, version, generation, computed, disclosed_at, is_withheld = "withheld",
    is_complete = "complete", has_ended = "ended", chain_key, salt, document, created_at,
});

impl FromColumn for ApplicationStatus {
    fn nullable(row: &impl Row, column: usize) -> Result<Option<Self>> {
        let unknown = || Error::Bug("an application of an unknown status".into());
        row.text(column)?.map(|name| Self::parse(name).ok_or_else(unknown)).transpose()
    }
}

static GET: Sql = select::<StoredApplication>("SELECT {columns} FROM applications WHERE id = ?1");
static NEWEST: Sql = select::<StoredApplication>(
    "SELECT {columns} FROM applications WHERE person = ?1 AND listing = ?2 ORDER BY seq DESC LIMIT 1",
);
static OF_PERSON: Sql =
    select::<StoredApplication>("SELECT {columns} FROM applications WHERE person = ?1 ORDER BY seq");
static PAGE_OF_PERSON: Sql = select::<StoredApplication>(
    "SELECT {columns}, seq, seq FROM applications WHERE person = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);
// Only the newest of each applicant.
static APPLICANTS: Sql = select::<StoredApplication>(
    "SELECT {columns}, seq, seq FROM applications AS one WHERE listing = ?3 AND seq > ?1 AND NOT EXISTS \
     (SELECT 1 FROM applications AS newer WHERE newer.person = one.person AND newer.listing = one.listing \
     AND newer.seq > one.seq) ORDER BY seq LIMIT ?2",
);
static COUNT_INCOMPLETE: Sql = sql("SELECT count(*) FROM (SELECT 1 FROM applications WHERE person = ?1 \
     AND status = 'submitted' AND complete = 0 LIMIT ?2) AS found");
static PEOPLE: Sql =
    sql("SELECT DISTINCT person FROM applications WHERE person > ?1 ORDER BY person LIMIT ?2");

static COUNT_ALL_VISIBLE: Sql = sql(concat!("SELECT count(*) FROM applications WHERE ", visible_to_owner!()));

impl Db {
    /// How many applications their listings' owners see.
    pub async fn count_shared_applications(&self) -> Result<i64> {
        Ok(self.one::<(i64,)>(&COUNT_ALL_VISIBLE, &[]).await?.map_or(0, |(count,)| count))
    }

    pub async fn application(&self, id: &ApplicationId) -> Result<Option<StoredApplication>> {
        self.one(&GET, &[id.into()]).await
    }

    /// A person's newest application to a listing.
    pub async fn newest_application(
        &self,
        person: &PersonId,
        listing: i64,
    ) -> Result<Option<StoredApplication>> {
        self.one(&NEWEST, &[person.into(), listing.into()]).await
    }

    /// Oldest first.
    pub async fn applications_of(&self, person: &PersonId) -> Result<Vec<StoredApplication>> {
        self.read(&OF_PERSON, &[person.into()], Weight::Scan).await
    }

    /// The number of a person's applications that take new findings, up to a limit.
    pub async fn incomplete_applications(&self, person: &PersonId, limit: i64) -> Result<i64> {
        let found: Option<(i64,)> = self.one(&COUNT_INCOMPLETE, &[person.into(), limit.into()]).await?;
        Ok(found.map_or(0, |(count,)| count))
    }

    pub async fn applications_page(
        &self,
        person: &PersonId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<StoredApplication>> {
        self.page(&PAGE_OF_PERSON, &[person.into()], after, limit).await
    }

    /// The newest application of everyone who applied to a listing.
    pub async fn applicants(
        &self,
        listing: i64,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<StoredApplication>> {
        self.page(&APPLICANTS, &[listing.into()], after, limit).await
    }

    /// People with an application, in the order of their ids.
    pub async fn people_who_applied(&self, after: Option<PersonId>, limit: i64) -> Result<Vec<PersonId>> {
        let after = after.map(|person| person.0.to_vec()).unwrap_or_default();
        let people: Vec<(PersonId,)> =
            self.read(&PEOPLE, &[after[..].into(), limit.into()], Weight::Scan).await?;
        Ok(people.into_iter().map(|(person,)| person).collect())
    }
}

statements! { GET, NEWEST, OF_PERSON, PAGE_OF_PERSON, APPLICANTS, COUNT_INCOMPLETE, PEOPLE, COUNT_ALL_VISIBLE }
