//! Upgrades files of older formats.

use alloy_primitives::U256;
use rusqlite::Connection;

use super::FORMAT_VERSION;
use super::reads::account_id;
use super::writes::slots;
use crate::changes::SlotKey;
use crate::error::ChainError;

type Result<T> = std::result::Result<T, ChainError>;

pub(super) fn from_format(connection: &Connection, format: i64) -> Result<()> {
    match format {
        1 => {}
        2 => merge_recent_slots(connection)?,
        _ => return Err(ChainError::Corrupt("a format that there never was")),
    }
    connection.execute_batch(&format!("PRAGMA user_version = {FORMAT_VERSION}"))?;
    Ok(())
}

/// Format 2 has the slots of the newest blocks in the table `recent`, as a sequence of account (4 bytes), key (32),
/// length of the value (1), value.
fn merge_recent_slots(connection: &Connection) -> Result<()> {
    let mut statement = connection.prepare("SELECT slots FROM recent ORDER BY block")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let mut bytes = row.get_ref(0)?.as_blob().map_err(|_| UNREADABLE)?;
        let changed = std::iter::from_fn(|| (!bytes.is_empty()).then(|| take_slot(&mut bytes)));
        slots(connection, changed.collect::<Result<Vec<_>>>()?.into_iter())?;
    }
    drop(rows);
    drop(statement);
    connection.execute_batch("DROP TABLE recent")?;
    Ok(())
}

const UNREADABLE: ChainError = ChainError::Corrupt("the slots of a block cannot be read");

fn take_slot(bytes: &mut &[u8]) -> Result<(SlotKey, U256)> {
    let mut decode = || {
        let (account, key) = (bytes.split_off(..4)?, bytes.split_off(..32)?);
        let length = usize::from(*bytes.split_off_first()?);
        let account = account_id(u32::from_be_bytes(account.try_into().ok()?).into())?;
        Some(((account, U256::try_from_be_slice(key)?), U256::try_from_be_slice(bytes.split_off(..length)?)?))
    };
    decode().ok_or(UNREADABLE)
}
