//! Applications to listings. A row names the applicant by the id of their key in the keystore; who that is, and
//! everything else about the application, is sealed in its document.

mod flags;

use portico_domain::applications::ApplicationStatus;
use portico_domain::{ApplicationId, CaseId, ErrorCode, ListingId, Timestamp, UserId};

use crate::audit::{Entry, append};
use crate::budgets::Budget;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{FromColumn, Op, Row, Sql, Tx, Weight, dialects, row, select, sql};
use crate::engine::word::Word;
use crate::engine::{Db, Error, Result};
use crate::keystore::PersonId;
use crate::listings::ListingVersion;
use crate::screening::lifetimes::Lifetime;

pub(crate) use flags::recompute_flags;
pub use flags::{Disclosure, ExpireFlags, SettleFlags, Settlement};

/// Applications per person, in any status.
const MAX_APPLICATIONS: i64 = 10_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredApplication {
    pub id: ApplicationId,
    pub person: PersonId,
    /// The listing's creation number: a later listing with the same id is another one.
    pub listing: i64,
    pub status: ApplicationStatus,
    /// Increases with every change of status or document.
    pub version: i64,
    /// Increases with every cause to compute the flags again.
    pub generation: i64,
    /// The generation that the flags were last computed for.
    pub settled: i64,
    /// When the owner's account last learned something about these terms.
    pub disclosed_at: Option<Timestamp>,
    /// When the flags on the chain expire; `None`: there are none.
    pub flags_expire_at: Option<Timestamp>,
    /// The owner's account learns nothing: it has asked by too many different terms.
    pub is_withheld: bool,
    /// Sealed.
    pub document: Vec<u8>,
    pub created_at: Timestamp,
}

macro_rules! shared {
    () => {
        "status IN ('submitted', 'approved', 'conditional', 'declined')"
    };
}
use shared;

impl StoredApplication {
    /// Identifies this version of the application and the findings behind it.
    pub fn tag(&self) -> String {
        format!("{}.{}-{}", self.version, self.generation, self.id)
    }

    /// Whether the owner may see what the flags were computed from.
    pub fn is_disclosed(&self) -> bool {
        self.settled == self.generation && !self.is_withheld && self.disclosed_at.is_some()
    }
}

row!(StoredApplication {
    id,
    person,
    listing,
    status,
    version,
    generation,
    settled,
    disclosed_at,
    flags_expire_at,
    is_withheld = "withheld",
    document,
    created_at
});

impl FromColumn for ApplicationStatus {
    fn from_column(row: &impl Row, column: usize) -> Result<Self> {
        Self::parse(&String::from_column(row, column)?)
            .ok_or_else(|| Error::Bug("an application of an unknown status".into()))
    }
}

/// An application that is not stored yet.
#[derive(Debug, Clone)]
pub struct NewApplication {
    pub id: ApplicationId,
    pub listing: i64,
    pub status: ApplicationStatus,
    /// Digests under the person's key: of the owner's account, and of that with the terms.
    pub owner: Word,
    pub terms: Word,
    /// Sealed.
    pub document: Vec<u8>,
    pub created_at: Timestamp,
}

static INSERT: Sql = sql("INSERT INTO applications (seq, id, person, listing, status, version, generation, \
     settled, owner, terms, document, created_at) VALUES (?1, ?2, ?3, ?4, ?5, 1, 1, 0, ?6, ?7, ?8, ?9) \
     ON CONFLICT (person, listing) WHERE status = 'submitted' DO NOTHING");

/// False: the person has an open application to this listing.
async fn insert<T: Tx>(tx: &mut T, person: &PersonId, new: &NewApplication) -> Result<bool> {
    let params = [
        tx.creation_number().await?,
        (&new.id).into(),
        person.into(),
        new.listing.into(),
        new.status.name().into(),
        new.owner[..].into(),
        new.terms[..].into(),
        new.document[..].into(),
        new.created_at.into(),
    ];
    Ok(tx.exec(&INSERT, &params).await? > 0)
}

/// One listing of a submission.
#[derive(Debug)]
pub struct ListingSubmission {
    pub listing: ListingId,
    /// With the state of the listing that it was made from; `None`: the listing does not exist.
    pub new: Option<(NewApplication, ListingVersion)>,
    /// Why no new application can be made. An open one is kept in any case.
    pub refusal: Option<ErrorCode>,
}

/// Submits applications, all or none. Listings with an open application are skipped.
#[derive(Debug)]
pub struct SubmitApplications {
    pub user: UserId,
    pub person: PersonId,
    pub lifetime: Lifetime,
    pub wanted: Vec<ListingSubmission>,
    /// Pays a record for each new application.
    pub budget: Budget,
    pub by: ChangeContext,
}

static COUNT: Sql =
    sql("SELECT count(*) FROM (SELECT 1 FROM applications WHERE person = ?1 LIMIT ?2) AS submitted");
// Locks the listing until this transaction ends, so that deleting it also closes the application made here.
static LOCK_LISTING: Sql = dialects(
    "SELECT seq, version FROM listings WHERE id = ?1",
    "SELECT seq, version FROM listings WHERE id = ?1 FOR SHARE",
);
static OPEN: Sql =
    sql("SELECT id FROM applications WHERE person = ?1 AND listing = ?2 AND status = 'submitted'");

/// Recomputes the flags of earlier applications to the listing: only the newest one has flags.
static SUPERSEDE: Sql = sql(concat!(
    "UPDATE applications SET generation = generation + 1 WHERE person = ?1 AND listing = ?2 AND id <> ?3 AND ",
    shared!()
));
/// Locks the person's cases until this transaction ends: a result that is being stored comes before this, and has the
/// flags of what is submitted here computed, or after it.
static LOCK_CASES: Sql = dialects(
    "SELECT id FROM cases WHERE user_id = ?1 AND false",
    "SELECT id FROM cases WHERE user_id = ?1 ORDER BY id FOR SHARE",
);

impl Op for SubmitApplications {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        self.lifetime.check(tx).await?;
        tx.rows::<(CaseId,)>(&LOCK_CASES, &[(&self.user).into()]).await?;
        let limit = MAX_APPLICATIONS + 1;
        let count = tx.one::<(i64,)>(&COUNT, &[(&self.person).into(), limit.into()]).await?;
        let before = count.map_or(0, |(count,)| count);
        let mut submitted = before;
        let (mut unknown, mut listings) = (Vec::new(), Vec::with_capacity(self.wanted.len()));
        for (index, wanted) in self.wanted.iter().enumerate() {
            match tx.one::<(i64, i64)>(&LOCK_LISTING, &[(&wanted.listing).into()]).await? {
                Some((seq, version)) => listings.push(ListingVersion { seq, version }),
                None => unknown.push(index),
            }
        }
        if !unknown.is_empty() {
            return Err(Error::UnknownListings(unknown));
        }
        for (wanted, listing) in self.wanted.iter().zip(listings) {
            let open = [(&self.person).into(), listing.seq.into()];
            if tx.one::<(ApplicationId,)>(&OPEN, &open).await?.is_some() {
                continue;
            }
            // The listing was edited or replaced after it was read.
            let Some((new, _)) = wanted.new.as_ref().filter(|(_, seen)| *seen == listing) else {
                return Err(Error::Outdated);
            };
            if let Some(refusal) = wanted.refusal {
                return Err(Error::Conflict(refusal));
            }
            if !insert(tx, &self.person, new).await? {
                continue;
            }
            tx.exec(&SUPERSEDE, &[(&self.person).into(), listing.seq.into(), (&new.id).into()]).await?;
            submitted += 1;
            if submitted > MAX_APPLICATIONS {
                return Err(Error::Conflict(ErrorCode::TooManyApplications));
            }
            record(tx, &self.by, "application.made", new.id.as_str(), &[("applications", "total", 1)])
                .await?;
        }
        self.budget.take(tx, submitted - before).await
    }
}

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
        let ended = ("applications", "total", -i64::from(!self.status.is_shared()));
        record(tx, &self.by, self.entry.action, self.id.as_str(), &[ended]).await
    }
}

static CLOSE: Sql = sql(concat!(
    "UPDATE applications SET status = 'closed', version = version + 1, generation = generation + 1 \
     WHERE listing = ?1 AND ",
    shared!(),
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
    let shared = deleted.iter().map(|application| i64::from(application.status.is_shared())).sum();
    Ok((deleted, shared))
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
        let (_, shared) = delete_applications(tx, &self.person).await?;
        record(tx, &self.by, "person.erased", "", &[("applications", "total", -shared)]).await
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
static COUNT_SHARED: Sql = sql(concat!(
    "SELECT count(*) FROM (SELECT 1 FROM applications WHERE person = ?1 AND ",
    shared!(),
    " LIMIT ?2) AS found"
));
static PEOPLE: Sql =
    sql("SELECT DISTINCT person FROM applications WHERE person > ?1 ORDER BY person LIMIT ?2");

static COUNT_ALL_SHARED: Sql = sql(concat!("SELECT count(*) FROM applications WHERE ", shared!()));

impl Db {
    /// How many applications their listings' owners see.
    pub async fn count_shared_applications(&self) -> Result<i64> {
        Ok(self.one::<(i64,)>(&COUNT_ALL_SHARED, &[]).await?.map_or(0, |(count,)| count))
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

    /// The number of a person's applications that are shared with owners, up to a limit.
    pub async fn shared_applications(&self, person: &PersonId, limit: i64) -> Result<i64> {
        let found: Option<(i64,)> = self.one(&COUNT_SHARED, &[person.into(), limit.into()]).await?;
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
