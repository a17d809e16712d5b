//! Editing a listing: the row with every indexed column, its history, and its next version on the chain, in one
//! transaction.

use portico_domain::chain::Terms;
use portico_domain::field_changes::FieldChange;
use portico_domain::listing_changes::{Editor, ListingChange, ListingEdit, field_changes};
use portico_domain::listings::Listing;
use portico_domain::{ErrorCode, ListingId, Timestamp, UserId};
use portico_records::{ItemKind, listing_item, listing_key, listing_terms};
use serde::{Deserialize, Serialize};

use super::row::Columns as ListingColumns;
use crate::chain::items::put_item;
use crate::engine::counters::{ChangeContext, record};
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{Columns, FromRow, Op, Param, Row, Sql, Tx, dialects, sql, statements};
use crate::engine::word::Word;

/// Identifies one state of a listing. A deleted listing's id may be used again; then `seq` differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingVersion {
    /// The creation number.
    pub seq: i64,
    /// 1 for a new listing; every edit adds one.
    pub version: i64,
}

/// A listing and its record on the chain, read at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredListing {
    pub listing: Listing,
    pub version: ListingVersion,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// `None`: the listing is not on the chain.
    pub item: Option<ListingItem>,
}

/// The chain item of a listing that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingItem {
    pub version: i64,
    pub payload: Vec<u8>,
    pub salt: Word,
}

impl ListingItem {
    pub fn terms(&self) -> Result<Terms> {
        Ok(listing_terms(&self.payload)?)
    }
}

impl FromRow for StoredListing {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let listing = Listing::from_row(c)?;
        let version = ListingVersion { seq: c.get()?, version: c.get()? };
        let (created_at, updated_at): (Timestamp, Option<Timestamp>) = (c.get()?, c.get()?);
        let item = match (c.get()?, c.get()?, c.get()?) {
            (Some(version), Some(payload), Some(salt)) => Some(ListingItem { version, payload, salt }),
            _ => None,
        };
        Ok(Self { listing, version, created_at, updated_at: updated_at.unwrap_or(created_at), item })
    }
}

static STORED: Sql = sql("SELECT l.document, l.seq, l.version, l.created_at, l.updated_at, \
     i.version, i.payload, i.salt FROM listings l \
     LEFT JOIN chain_items i ON i.kind = ?2 AND i.key = ?3 AND i.deleted = 0 WHERE l.id = ?1");
/// Locks the listing until the transaction ends. A separate statement: one that waits for a lock and then reads would
/// see the new listing with its old item.
static LOCK: Sql =
    dialects("SELECT seq FROM listings WHERE id = ?1", "SELECT seq FROM listings WHERE id = ?1 FOR UPDATE");

/// On `SQLite` the next revision, so that the search index reads the listing again. Creation numbers and revisions
/// share one sequence.
static NEXT_REVISION: Sql =
    dialects("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'listings'", "SELECT 1 WHERE false");
static UPDATE: Sql = dialects(
    "UPDATE listings SET document = ?2, version = ?3, updated_at = ?4, \
     revision = (SELECT seq FROM sqlite_sequence WHERE name = 'listings') WHERE id = ?1",
    "UPDATE listings SET document = ?2, version = ?3, updated_at = ?4, city_fold = ?5, postal = ?6, rent = ?7, \
     bedrooms = ?8, bathrooms = ?9, morton = ?10, search_fold = ?11 WHERE id = ?1",
);
static ADD_HISTORY: Sql =
    sql("INSERT INTO listing_history (listing_id, version, at, editor, changes) VALUES (?1, ?2, ?3, ?4, ?5)");
static DELETE_HISTORY: Sql = sql("DELETE FROM listing_history WHERE listing_id = ?1");
static HISTORY: Sql = sql("SELECT version, at, editor, changes, version, version FROM listing_history \
     WHERE listing_id = ?3 AND version > ?1 ORDER BY version LIMIT ?2");

/// Changes a listing. A change without effect writes nothing.
#[derive(Debug)]
pub struct EditListing {
    pub id: ListingId,
    /// Protects a newer listing with the same id and another owner.
    pub owner: UserId,
    pub change: ListingChange,
    /// The edit is rejected unless one of these is the current version; `None`: the newest version is changed.
    pub expected: Option<Vec<ListingVersion>>,
    /// For the next version on the chain.
    pub salt: Word,
    pub editor: Editor,
    pub by: ChangeContext,
}

impl Op for EditListing {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let key = listing_key(&self.id);
        let params = [(&self.id).into(), ItemKind::Listing.into(), key[..].into()];
        tx.one::<(i64,)>(&LOCK, &params[..1]).await?;
        let before: Option<StoredListing> = tx.one(&STORED, &params).await?;
        let before = before.filter(|stored| stored.listing.user == self.owner);
        let before = before.ok_or(Error::Missing(ErrorCode::ListingNotFound))?;
        if self.expected.as_ref().is_some_and(|expected| !expected.contains(&before.version)) {
            return Err(Error::Outdated);
        }
        let terms_before = before.item.as_ref().map(ListingItem::terms).transpose()?;
        let terms = self.change.terms.applied_to(terms_before).map_err(Error::TermsContradict)?;
        let after = self.change.applied_to(before.listing.clone());
        let changes = field_changes((&before.listing, terms_before.as_ref()), (&after, terms.as_ref()));
        if changes.is_empty() {
            return Ok(());
        }
        let version = before.version.version + 1;
        let at = self.by.at.after(before.updated_at);
        self.update(tx, &after, version, at).await?;
        self.add_history(tx, version, at, &changes).await?;
        if let Some(terms) = terms {
            self.update_chain(tx, &before, &after, terms, at).await?;
        }
        let moved = i64::from(before.listing.state != after.state);
        let counts = [
            ("listings.state", before.listing.state.as_str(), -moved),
            ("listings.state", after.state.as_str(), moved),
            ("listings", "on_chain", i64::from(terms_before.is_none() && terms.is_some())),
        ];
        record(tx, &self.by, "listing.edited", self.id.as_str(), &counts).await
    }
}

impl EditListing {
    async fn update<T: Tx>(&self, tx: &mut T, after: &Listing, version: i64, at: Timestamp) -> Result<()> {
        tx.exec(&NEXT_REVISION, &[]).await?;
        let columns = ListingColumns::of(after)?;
        let mut params: Vec<Param<'_>> =
            vec![(&self.id).into(), columns.document.as_str().into(), version.into(), at.into()];
        params.extend(columns.indexed(after));
        tx.exec(&UPDATE, &params).await.map(drop)
    }

    async fn add_history<T: Tx>(
        &self,
        tx: &mut T,
        version: i64,
        at: Timestamp,
        changes: &[FieldChange],
    ) -> Result<()> {
        let changes = serde_json::to_string(changes).map_err(|error| Error::Bug(error.to_string()))?;
        let params = [
            (&self.id).into(),
            version.into(),
            at.into(),
            self.editor.into_str().into(),
            changes.as_str().into(),
        ];
        tx.exec(&ADD_HISTORY, &params).await.map(drop)
    }

    /// Writes the item's next version if the change concerns it. Compares the two states under one salt, not the new
    /// state with the stored item: an edit of other fields must not record a row that was altered behind our back.
    async fn update_chain<T: Tx>(
        &self,
        tx: &mut T,
        before: &StoredListing,
        after: &Listing,
        terms: Terms,
        at: Timestamp,
    ) -> Result<()> {
        let desired = listing_item(after, terms, self.salt, at);
        if let Some(item) = &before.item {
            let was = listing_item(&before.listing, item.terms()?, self.salt, at);
            if was.payload == desired.payload {
                return Ok(());
            }
        }
        put_item(tx, &desired, None).await.map(drop)
    }
}

/// The id may be used again by somebody else.
pub(super) async fn delete_history<T: Tx>(tx: &mut T, id: &ListingId) -> Result<()> {
    tx.exec(&DELETE_HISTORY, &[id.into()]).await.map(drop)
}

impl FromRow for ListingEdit {
    fn from_row<R: Row>(c: &mut Columns<'_, R>) -> Result<Self> {
        let (version, at) = (c.get()?, c.get()?);
        let by = match c.text()? {
            "owner" => Editor::Owner,
            "operator" => Editor::Operator,
            other => return Err(Error::Bug(format!("a listing was edited by {other}"))),
        };
        let changes = serde_json::from_str(c.text()?)
            .map_err(|error| Error::Bug(format!("a listing's history: {error}")))?;
        Ok(Self { version, at, by, changes })
    }
}

impl Db {
    /// With its chain item, both at one moment.
    pub async fn stored_listing(&self, id: &ListingId) -> Result<Option<StoredListing>> {
        let key = listing_key(id);
        self.one(&STORED, &[id.into(), ItemKind::Listing.into(), key[..].into()]).await
    }

    /// A page of a listing's edits, oldest first.
    pub async fn listing_history(
        &self,
        id: &ListingId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<ListingEdit>> {
        self.page(&HISTORY, &[id.into()], after, limit).await
    }
}

statements! { STORED, LOCK, NEXT_REVISION, UPDATE, ADD_HISTORY, DELETE_HISTORY, HISTORY }
