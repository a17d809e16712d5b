//! Brings a file of an older format up to date.

use alloy_primitives::U256;
use rusqlite::Connection;

use super::FORMAT;
use super::reads::account_id;
use super::writes::slots;
use crate::changes::SlotKey;
use crate::error::ChainError;

type Result<T> = std::result::Result<T, ChainError>;

pub(super) fn from_format(connection: &Connection, format: i64) -> Result<()> {
    match format {
        1 => {}
        2 => place_recent_slots(connection)?,
        _ => return Err(ChainError::Corrupt("a format that there never was")),
    }
    connection.execute_batch(&format!("PRAGMA user_version = {FORMAT}"))?;
    Ok(())
}

/// In format 2 the newest blocks had their slots in a table of its own: account (4 bytes), key (32), the length of the
/// value (1) and the value, again and again.
fn place_recent_slots(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare("SELECT slots FROM recent ORDER BY block")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut bytes = row.get_ref(0)?.as_blob().map_err(|_| UNREADABLE)?;
        let changed = std::iter::from_fn(|| (!bytes.is_empty()).then(|| first_slot(&mut bytes)));
        slots(connection, changed.collect::<Result<Vec<_>>>()?.into_iter())?;
    }
    drop(rows);
    drop(statement);
    connection.execute_batch("DROP TABLE recent")?;
    Ok(())
}

const UNREADABLE: ChainError = ChainError::Corrupt("the slots of a block cannot be read");

/// Takes the first slot off.
fn first_slot(bytes: &mut &[u8]) -> Result<(SlotKey, U256)> {
    let mut cut = || {
        let (account, key) = (bytes.split_off(..4)?, bytes.split_off(..32)?);
        let length = usize::from(*bytes.split_off_first()?);
        let account = account_id(u32::from_be_bytes(account.try_into().ok()?).into())?;
        Some(((account, U256::try_from_be_slice(key)?), U256::try_from_be_slice(bytes.split_off(..length)?)?))
    };
    cut().ok_or(UNREADABLE)
}
