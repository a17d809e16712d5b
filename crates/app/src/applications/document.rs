//! What is stored about an application, sealed with the applicant's key.

use portico_domain::applications::{ApplicationStatus, Decision};
use portico_domain::chain::Terms;
use portico_domain::{
    AccountId, ApplicationId, ClientId, Country, Description, ListingId, Timestamp, UserId,
};
use portico_screening::Check;
use portico_store::chain::Word;
use portico_store::{NewApplication, StoredApplication};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::conditions::Conditions;
use super::notice::Notice;
use super::report::{Report, Required};
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::keystore::PersonKey;
use crate::screening::results::{opened, sealed};

/// Frozen at submission, apart from what happens to the application afterwards.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) user: UserId,
    pub(crate) listing: ListingId,
    /// The listing's owner, and the account with whom the applicant shares flags and checks.
    pub(crate) owner: UserId,
    pub(crate) account: AccountId,
    /// `None`: the listing has no terms.
    terms: Option<[i64; 4]>,
    /// Required of the applicant.
    pub(crate) checks: Vec<Check>,
    /// Where the bureaus have to have searched.
    pub(crate) country: Country,
    /// The client id of the pipeline that requires the checks.
    pub(crate) client: Option<ClientId>,
    /// Whether the applicant has seen what is frozen here.
    pub(crate) conditions_seen: bool,
    pub(crate) report: Report,
    /// The newest of them.
    pub(crate) name_checks: Vec<NameCheck>,
    pub(crate) timeline: Vec<TimelineEntry>,
    pub(crate) decision: Option<RecordedDecision>,
    pub(crate) notice: Option<Notice>,
}

/// The owner asked whether the report is about a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameCheck {
    at: i64,
    pub matches: bool,
}

impl NameCheck {
    pub(crate) fn new(at: Timestamp, matches: bool) -> Self {
        Self { at: at.micros(), matches }
    }

    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at)
    }
}

/// One change of an application.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimelineEntry {
    at: i64,
    /// What the application became.
    pub status: ApplicationStatus,
    pub by: Party,
}

impl TimelineEntry {
    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at)
    }
}

/// Who acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Party {
    Applicant,
    Owner,
    Operator,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedDecision {
    pub decision: Decision,
    /// The checks that it is based on.
    pub reasons: Vec<Check>,
    /// It is based on no report.
    pub is_without_report: bool,
    pub note: Option<Description>,
    at: i64,
}

impl RecordedDecision {
    pub(crate) fn new(
        decision: Decision,
        reasons: Vec<Check>,
        note: Option<Description>,
        at: Timestamp,
    ) -> Self {
        let is_without_report = decision.is_adverse() && reasons.is_empty();
        Self { decision, reasons, is_without_report, note, at: at.micros() }
    }

    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at)
    }
}

impl Document {
    pub(crate) fn new(
        user: &UserId,
        listing: &ListingId,
        conditions: Conditions,
        conditions_seen: bool,
        submitted: (Party, Timestamp),
    ) -> Self {
        let mut document = Self {
            user: user.clone(),
            listing: listing.clone(),
            conditions_seen,
            checks: conditions.required(),
            owner: conditions.owner,
            account: conditions.account,
            terms: conditions.terms.map(|terms| terms.units()),
            country: conditions.country,
            client: conditions.client,
            report: Report::default(),
            name_checks: Vec::new(),
            timeline: Vec::new(),
            decision: None,
            notice: None,
        };
        document.changed(ApplicationStatus::Submitted, submitted);
        document
    }

    pub(crate) fn changed(&mut self, status: ApplicationStatus, (by, at): (Party, Timestamp)) {
        self.timeline.push(TimelineEntry { at: at.micros(), status, by });
    }

    pub(crate) fn terms(&self) -> Option<Terms> {
        self.terms.and_then(Terms::from_units)
    }

    pub(crate) fn required(&self) -> Required<'_> {
        Required { checks: &self.checks, country: &self.country }
    }

    /// The owner's account, and that with the terms, as digests that only the applicant's key can make. By name: a
    /// user and an account of one name share the limit.
    pub(crate) fn disclosure_digests(&self, key: &PersonKey) -> (Word, Word) {
        let account = self.account.as_str().as_bytes();
        let terms = self.terms.unwrap_or_default().map(i64::to_be_bytes).concat();
        (key.digest(&[b"owner", account]), key.digest(&[b"terms", account, &terms]))
    }

    pub(crate) fn seal(&self, key: &PersonKey, id: &ApplicationId) -> Result<Vec<u8>> {
        sealed(key, &context(id, b"document"), self)
    }
}

fn context<'a>(id: &'a ApplicationId, column: &'a [u8]) -> [&'a [u8]; 3] {
    [b"applications", id.as_str().as_bytes(), column]
}

pub(crate) fn sealed_salt(key: &PersonKey, id: &ApplicationId, salt: &Word) -> Result<Vec<u8>> {
    key.seal(&context(id, b"salt"), salt)
}

/// A stored application whose document is open.
#[derive(Debug, Clone)]
pub(crate) struct OpenedApplication {
    pub(crate) stored: StoredApplication,
    pub(crate) key: PersonKey,
    pub(crate) document: Document,
}

impl OpenedApplication {
    pub(crate) fn new(key: PersonKey, stored: StoredApplication) -> Result<Self> {
        let document = open_document(&key, &stored)?;
        Ok(Self { stored, key, document })
    }

    /// Opens the record on the chain; `None`: there is none.
    pub(crate) fn salt(&self) -> Result<Option<Word>> {
        let Some(sealed) = &self.stored.salt else { return Ok(None) };
        let plain = self.key.open(&context(&self.stored.id, b"salt"), sealed)?;
        let salt = Word::try_from(&plain[..]).map_err(|_| Error::Bug("a salt of another length".into()))?;
        Ok(Some(salt))
    }
}

pub(crate) fn open_document(key: &PersonKey, stored: &StoredApplication) -> Result<Document> {
    opened(key, &context(&stored.id, b"document"), &stored.document)
}

impl Core {
    /// `None`: the applicant was erased.
    pub(crate) async fn open_application(
        &self,
        stored: StoredApplication,
    ) -> Result<Option<OpenedApplication>> {
        let person = self.keystore()?.person_of(&stored.person).await?;
        person.map(|(_, key)| OpenedApplication::new(key, stored)).transpose()
    }

    /// The row of a new application.
    pub(crate) fn new_application(
        &self,
        key: &PersonKey,
        document: &Document,
        listing: i64,
        created_at: Timestamp,
    ) -> Result<NewApplication> {
        let id = self.new_id();
        let (owner, terms) = document.disclosure_digests(key);
        let (status, chain_key) = (ApplicationStatus::Submitted, self.random()?);
        let document = document.seal(key, &id)?;
        Ok(NewApplication { id, listing, status, owner, terms, chain_key, document, created_at })
    }
}
