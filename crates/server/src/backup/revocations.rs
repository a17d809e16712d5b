//! What people have taken back since the backup: keys that were revoked, applications that were withdrawn.

use std::path::Path;

use anyhow::{Context as _, Result};
use portico_app::Actor;
use portico_app::clock::{Clock as _, SystemClock};
use portico_domain::Timestamp;
use portico_store::audit::Entry;
use portico_store::backup::{SqliteSnapshot, replaced_revocations};
use portico_store::{ChangeContext, Db, Revocation, RevokeAgain};

/// Ids of keys in the output, which also names the command that lists all of them.
const MAX_LISTED_KEYS: usize = 20;

/// The keys that were revoked in the database that is replaced.
pub(super) enum Revocations {
    Known(Vec<Revocation>),
    /// It cannot be read.
    Unreadable,
    /// Nothing is replaced: the place is new.
    NothingReplaced,
    /// Another tool replaced it.
    InPlace,
}

impl Revocations {
    pub(super) fn in_sqlite(replaced: &Path) -> Self {
        if !replaced.exists() {
            return Self::NothingReplaced;
        }
        let read = SqliteSnapshot::open(replaced).and_then(|mut replaced| replaced.revocations());
        read.inspect_err(not_read).map_or(Self::Unreadable, Self::Known)
    }

    /// After the replaced tables were moved aside.
    pub(super) async fn in_postgres(url: &str) -> Self {
        match replaced_revocations(url).await {
            Ok(Some(revoked)) => Self::Known(revoked),
            Ok(None) => Self::NothingReplaced,
            Err(error) => {
                not_read(&error);
                Self::Unreadable
            }
        }
    }
}

fn not_read(error: &portico_store::Error) {
    tracing::warn!(%error, "the revoked keys of the replaced database cannot be read");
}

/// Returns what was done, and what the operator has to do.
pub(super) async fn revoke_again(db: &Db, source: &str, revocations: Revocations) -> Result<Vec<String>> {
    let at = SystemClock.now();
    let is_known = matches!(revocations, Revocations::Known(_));
    let unknown = |why: &str| {
        format!(
            "{why}: API keys that were revoked since the backup are VALID AGAIN, and have to be revoked again"
        )
    };
    let mut said = vec![match revocations {
        Revocations::Known(revoked) => {
            let entry = Entry {
                at,
                actor: Actor::Operator.audit_name(),
                action: "key.revoked",
                subject: String::new(),
                detail: format!("again, after the restore of {source}"),
            };
            let revoke = RevokeAgain { revoked, entry, by: ChangeContext { account: None, at } };
            let again = db.write(revoke).await.context("keys could not be revoked again")?;
            format!("{again} API keys that were revoked since the backup are revoked again")
        }
        Revocations::Unreadable => unknown("the database that was replaced cannot be read"),
        Revocations::NothingReplaced => unknown("there was no database here that knew of later changes"),
        Revocations::InPlace => unknown("another tool has replaced the database"),
    }];
    said.extend(still_valid(db, at, is_known).await?);
    said.extend(still_open(db).await?);
    Ok(said)
}

/// Ids, never secrets.
async fn still_valid(db: &Db, now: Timestamp, is_known: bool) -> Result<Option<String>> {
    let keys = db.keys(None).await.context("the keys cannot be read")?;
    let valid: Vec<&str> = keys.iter().filter(|key| key.is_valid(now)).map(|key| key.id.as_str()).collect();
    if valid.is_empty() {
        return Ok(None);
    }
    let listed = match valid.len() {
        _ if is_known => String::new(),
        count if count > MAX_LISTED_KEYS => format!(" ({}, …)", valid[..MAX_LISTED_KEYS].join(", ")),
        _ => format!(" ({})", valid.join(", ")),
    };
    Ok(Some(format!("{} API keys are valid{listed}: check them with `portico key list`", valid.len())))
}

async fn still_open(db: &Db) -> Result<Option<String>> {
    let open = db.count_shared_applications().await.context("the applications cannot be read")?;
    Ok((open > 0).then(|| {
        format!(
            "{open} applications are shared with their listings' owners: what was withdrawn or decided since the backup \
             has to be withdrawn or decided again"
        )
    }))
}
