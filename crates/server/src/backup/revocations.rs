//! What people have taken back since the backup: keys that were revoked, applications that were withdrawn.

use anyhow::{Context as _, Result};
use portico_app::Database;
use portico_app::restoration::Revocations;

use crate::database::OPERATOR;

/// Ids of keys in the output, which also names the command that lists all of them.
const MAX_LISTED_KEYS: usize = 20;

/// Returns what was done, and what the operator has to do.
pub(super) async fn revoke_again(
    database: &Database,
    source: &str,
    revocations: Revocations,
) -> Result<Vec<String>> {
    let is_known = matches!(revocations, Revocations::Known(_));
    let unknown = |why: &str| {
        format!(
            "{why}: API keys that were revoked since the backup are VALID AGAIN, and have to be revoked again"
        )
    };
    let mut said = vec![match revocations {
        Revocations::Known(revoked) => {
            let again = database.revoke_again(&OPERATOR, source, revoked).await?;
            format!("{again} API keys that were revoked since the backup are revoked again")
        }
        Revocations::Unreadable => unknown("the database that was replaced cannot be read"),
        Revocations::NothingReplaced => unknown("there was no database here that knew of later changes"),
        Revocations::InPlace => unknown("another tool has replaced the database"),
    }];
    said.extend(still_valid(database, is_known).await?);
    let open = database.count_shared_applications().await.context("the applications cannot be read")?;
    if open > 0 {
        said.push(format!(
            "{open} applications are shared with their listings' owners: what was withdrawn or decided since the \
             backup has to be withdrawn or decided again"
        ));
    }
    Ok(said)
}

/// Ids, never secrets.
async fn still_valid(database: &Database, is_known: bool) -> Result<Option<String>> {
    let keys = database.valid_keys().await?;
    let valid: Vec<&str> = keys.iter().map(portico_domain::Text::as_str).collect();
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
