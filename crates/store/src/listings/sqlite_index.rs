//! Finding listings in `SQLite`: by table for owners, by the search index for everything else.

use portico_domain::listings::Listing;

use crate::engine::error::{Error, Result};
use crate::engine::page::{Keyed, as_limit, weight};
use crate::engine::sql::{Param, Sql, params, sql, statements};
use crate::engine::sqlite::database::Sqlite;
use crate::engine::sqlite::index_entries::{EntryKind, hash_key, match_expression};
use crate::engine::sqlite::statement::rows;
use crate::listings::search::{AccessPath, KeyRange, ListingIndex, newest_bounds};

/// In creation order: after (`?1`), to (`?2`), limit (`?3`).
static ALL: Sql =
    sql("SELECT document, seq, seq FROM listings WHERE seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3");
/// Newest first: creation numbers below (`?1`), from (`?2`), limit (`?3`).
static NEWEST: Sql =
    sql("SELECT document, -seq, seq FROM listings WHERE seq < ?1 AND seq >= ?2 ORDER BY seq DESC LIMIT ?3");
/// Like `ALL`, with the owner (`?4`).
static BY_OWNER: Sql = sql(
    "SELECT document, seq, seq FROM listings WHERE user_id = ?4 AND seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3",
);
/// Additionally the newest revision (`?4`), the entry kind (`?5`) and its key (`?6`).
static BY_ENTRY: Sql = sql("SELECT document, listings.seq, listings.seq \
     FROM search.entries CROSS JOIN listings USING (seq) \
     WHERE kind = ?5 AND key = ?6 AND sort = 0 AND entries.seq > ?1 AND entries.seq <= ?2 AND revision <= ?4 \
     ORDER BY entries.seq LIMIT ?3");
/// By a sort key: after (`?1` and `?2`), to (`?3`), limit (`?4`), newest revision (`?5`), kind (`?6`), key (`?7`).
static BY_SORTED_ENTRY: Sql = sql("SELECT document, sort, entries.seq \
     FROM search.entries CROSS JOIN listings USING (seq) \
     WHERE kind = ?6 AND key = ?7 AND sort <= ?3 AND (sort, entries.seq) > (?1, ?2) AND revision <= ?5 \
     ORDER BY sort, entries.seq LIMIT ?4");
/// In creation order, with the newest revision (`?4`) and an FTS5 expression (`?5`).
static BY_TEXT: Sql = sql("SELECT document, listings.seq, listings.seq \
     FROM search.documents CROSS JOIN listings ON listings.seq = documents.rowid \
     WHERE documents MATCH ?5 AND documents.rowid > ?1 AND documents.rowid <= ?2 AND revision <= ?4 \
     ORDER BY documents.rowid LIMIT ?3");
/// After a revision (`?1`), with a creation number between two bounds (`?2`, `?3`), limit (`?4`). The plus signs keep
/// the planner from scanning the bounds instead of the few newest revisions.
static CHANGED_AFTER: Sql = sql("SELECT document, revision, seq FROM listings \
     WHERE revision > ?1 AND +seq >= ?2 AND +seq <= ?3 ORDER BY revision LIMIT ?4");

impl ListingIndex for Sqlite {
    fn indexed_revision(&self, path: &AccessPath<'_>) -> Option<i64> {
        match path {
            AccessPath::All | AccessPath::Newest | AccessPath::Owner(_) => None,
            _ => Some(self.search_revision()),
        }
    }

    async fn candidates(&self, path: &AccessPath<'_>, range: KeyRange) -> Result<Vec<Keyed<Listing>>> {
        let is_indexed = self.indexed_revision(path).is_some();
        match self.find_candidates(path, range).await {
            // Again from the beginning, without the index.
            Err(Error::Bug(why)) if is_indexed => {
                self.report_damaged_index(&why);
                Err(Error::Again(why))
            }
            found => found,
        }
    }

    async fn changed_after(
        &self,
        revision: i64,
        (from, to): (i64, i64),
        limit: usize,
    ) -> Result<Vec<Keyed<Listing>>> {
        let params = [revision.into(), from.into(), to.into(), as_limit(limit).into()];
        self.read(&CHANGED_AFTER, &params, weight(limit)).await
    }
}

impl Sqlite {
    async fn find_candidates(&self, path: &AccessPath<'_>, range: KeyRange) -> Result<Vec<Keyed<Listing>>> {
        let KeyRange { after, to, limit, revision } = range;
        let created: [Param<'_>; 4] = [after.seq.into(), to.into(), as_limit(limit).into(), revision.into()];
        let by_entry = async |kind: EntryKind, key: i64| {
            let params = [created.as_slice(), &[(kind as i64).into(), key.into()]].concat();
            self.read(&BY_ENTRY, &params, weight(limit)).await
        };
        let by_sorted_entry = async |kind: EntryKind, key: i64| {
            let params = params![after.key, after.seq, to, as_limit(limit), revision, kind as i64, key];
            self.read(&BY_SORTED_ENTRY, &params, weight(limit)).await
        };
        match path {
            AccessPath::All => self.read(&ALL, &created[..3], weight(limit)).await,
            AccessPath::Newest => {
                let (below, from) = newest_bounds(range);
                self.read(&NEWEST, &[below.into(), from.into(), as_limit(limit).into()], weight(limit)).await
            }
            AccessPath::Owner(user) => {
                let params = [created[0], created[1], created[2], (*user).into()];
                self.read(&BY_OWNER, &params, weight(limit)).await
            }
            AccessPath::City(folded) => by_entry(EntryKind::City, hash_key(folded)).await,
            AccessPath::Postal(postal) => by_entry(EntryKind::Postal, hash_key(postal.as_str())).await,
            AccessPath::Bedrooms(rooms) => by_sorted_entry(EntryKind::Bedrooms, rooms.units()).await,
            AccessPath::Bathrooms(rooms) => by_sorted_entry(EntryKind::Bathrooms, rooms.units()).await,
            AccessPath::Rent => by_sorted_entry(EntryKind::Rent, 0).await,
            AccessPath::Size => by_sorted_entry(EntryKind::Size, 0).await,
            AccessPath::Place(_) => by_sorted_entry(EntryKind::Place, 0).await,
            AccessPath::Text(term) => {
                let term = (*term).clone();
                self.scan(move |connection| {
                    let Some(expression) = match_expression(connection, &term)? else {
                        return Ok(Vec::new());
                    };
                    let params = params![after.seq, to, as_limit(limit), revision, expression.as_str()];
                    rows(connection, BY_TEXT.sqlite(), &params)
                })
                .await
            }
        }
    }
}

statements! { ALL, NEWEST, BY_OWNER, BY_ENTRY, BY_SORTED_ENTRY, BY_TEXT, CHANGED_AFTER }

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_statement_uses_its_index() {
        let folder = tempfile::tempdir().unwrap();
        let sqlite =
            Sqlite::open(&folder.path().join("plan.db"), crate::engine::location::Role::Server).unwrap();
        for (statement, access) in [
            (ALL.sqlite(), "SEARCH listings USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (NEWEST.sqlite(), "SEARCH listings USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
            (BY_OWNER.sqlite(), "SEARCH listings USING INDEX listings_user (user_id=? AND seq>? AND seq<?)"),
            (
                BY_ENTRY.sqlite(),
                "SEARCH search.entries USING PRIMARY KEY (kind=? AND key=? AND sort=? AND seq>? AND seq<?)",
            ),
            (
                BY_SORTED_ENTRY.sqlite(),
                "SEARCH search.entries USING PRIMARY KEY (kind=? AND key=? AND (sort,seq)>(?,?) AND sort<?)",
            ),
            (BY_TEXT.sqlite(), "SCAN search.documents VIRTUAL TABLE INDEX"),
            (CHANGED_AFTER.sqlite(), "SEARCH listings USING INDEX sqlite_autoindex_listings_2 (revision>?)"),
        ] {
            let plan: Vec<String> = sqlite
                .scan(move |connection| {
                    let mut plan = connection.prepare(&format!("EXPLAIN QUERY PLAN {statement}"))?;
                    let params = vec![1; plan.parameter_count()];
                    let steps =
                        plan.query_map(rusqlite::params_from_iter(params), |row| row.get("detail"))?;
                    Ok(steps.collect::<std::result::Result<_, _>>()?)
                })
                .await
                .unwrap();
            assert!(plan[0].starts_with(access), "{statement}: {plan:?}");
            assert!(plan.iter().all(|step| !step.contains("TEMP B-TREE")), "{statement}: {plan:?}");
        }
    }
}
