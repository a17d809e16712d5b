//! What is stored about an application, sealed with the applicant's key.

use portico_domain::applications::{ApplicationStatus, Decision};
use portico_domain::chain::Terms;
use portico_domain::{
    AccountId, ApplicationId, ClientId, Country, Description, ListingId, Timestamp, UserId,
};
use portico_records::{DesiredItem, check_key, cleared_check, listing_key};
use portico_screening::Check;
use portico_store::chain::Word;
use portico_store::{NewApplication, StoredApplication};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::notice::Notice;
use crate::core::Core;
use crate::error::{Error, Result};
use crate::people::keystore::PersonKey;
use crate::screening::results::{opened, sealed};

/// Frozen at submission, apart from what happens to the application afterwards.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Document {
    pub(crate) user: UserId,
    pub(crate) listing: ListingId,
    /// The listing's owner, and the account with whom the applicant shares flags and checks.
    pub(crate) owner: UserId,
    pub(crate) account: AccountId,
    /// The application's reference on the chain.
    pub(crate) reference: Word,
    /// `None`: the listing has no terms.
    terms: Option<[i64; 4]>,
    /// Required of the applicant.
    pub(crate) checks: Vec<Check>,
    /// Where the bureaus have to have searched.
    pub(crate) country: Country,
    /// The client id of the pipeline that requires the checks.
    pub(crate) client: Option<ClientId>,
    pub(crate) timeline: Vec<TimelineEntry>,
    pub(crate) decision: Option<RecordedDecision>,
    pub(crate) notice: Option<Notice>,
}

/// One change of an application.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TimelineEntry {
    at: i64,
    status: String,
    pub by: Party,
}

impl TimelineEntry {
    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at)
    }

    /// What the application became.
    pub fn status(&self) -> &str {
        &self.status
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

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RecordedDecision {
    decision: String,
    pub reasons: Vec<Check>,
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
        Self { decision: decision.name().into(), reasons, note, at: at.micros() }
    }

    pub fn decision(&self) -> &str {
        &self.decision
    }

    pub fn at(&self) -> Timestamp {
        Timestamp::from_micros(self.at)
    }
}

/// What an application freezes of its listing.
pub(crate) struct Conditions {
    pub(crate) owner: UserId,
    pub(crate) account: AccountId,
    pub(crate) terms: Option<Terms>,
    pub(crate) checks: Vec<Check>,
    pub(crate) country: Country,
    pub(crate) client: Option<ClientId>,
}

impl Document {
    pub(crate) fn new(
        user: &UserId,
        listing: &ListingId,
        conditions: Conditions,
        reference: Word,
        submitted: (Party, Timestamp),
    ) -> Self {
        let mut document = Self {
            user: user.clone(),
            listing: listing.clone(),
            owner: conditions.owner,
            account: conditions.account,
            reference,
            terms: conditions.terms.map(|terms| terms.units()),
            checks: conditions.checks,
            country: conditions.country,
            client: conditions.client,
            timeline: Vec::new(),
            decision: None,
            notice: None,
        };
        document.changed(ApplicationStatus::Submitted, submitted);
        document
    }

    pub(crate) fn changed(&mut self, status: ApplicationStatus, (by, at): (Party, Timestamp)) {
        self.timeline.push(TimelineEntry { at: at.micros(), status: status.name().into(), by });
    }

    pub(crate) fn terms(&self) -> Option<Terms> {
        self.terms.and_then(Terms::from_units)
    }

    pub(crate) fn chain_key(&self) -> Word {
        check_key(&listing_key(&self.listing), &self.reference)
    }

    pub(crate) fn cleared_flags(&self, at: Timestamp) -> DesiredItem {
        cleared_check(&self.listing, &self.reference, at)
    }

    /// The owner's account, and that with the terms, as digests that only the applicant's key can make. By name: a
    /// user and an account of one name share the limit.
    pub(crate) fn disclosure_digests(&self, key: &PersonKey) -> (Word, Word) {
        let account = self.account.as_str().as_bytes();
        let terms = self.terms.unwrap_or_default().map(i64::to_be_bytes).concat();
        (key.digest(&[b"owner", account]), key.digest(&[b"terms", account, &terms]))
    }

    pub(crate) fn seal(&self, key: &PersonKey, id: &ApplicationId) -> Result<Vec<u8>> {
        sealed(key, &context(id), self)
    }
}

fn context(id: &ApplicationId) -> [&[u8]; 3] {
    [b"applications", id.as_str().as_bytes(), b"document"]
}

/// A stored application whose document is open.
#[derive(Debug)]
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
}

pub(crate) fn open_document(key: &PersonKey, stored: &StoredApplication) -> Result<Document> {
    opened(key, &context(&stored.id), &stored.document)
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
        let status = document.timeline.last().and_then(|step| ApplicationStatus::parse(&step.status));
        let status = status.ok_or_else(|| Error::Bug("an application without a status".into()))?;
        let sealed = document.seal(key, &id)?;
        Ok(NewApplication { id, listing, status, owner, terms, document: sealed, created_at })
    }
}
