//! Running the migrations of `SQLite`.

use crate::engine::error::Result;
use crate::engine::migrate::{
    Migration, MigrationStatus, RECORDED, Recorded, TABLE, numbered, pending, status, unknown_table,
};

fn recorded(connection: &rusqlite::Connection) -> Result<Vec<Recorded>> {
    let columns =
        "SELECT count(*), coalesce(sum(name = 'sha256'), 0) FROM pragma_table_info('portico_migrations')";
    match connection.query_row(columns, [], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?)))? {
        (0, _) => return Ok(Vec::new()),
        (_, 0) => return Err(unknown_table()),
        _ => {}
    }
    let mut statement = connection.prepare(RECORDED)?;
    let rows = statement.query_map([], |row| Ok(Recorded::new((row.get(0)?, row.get(1)?, row.get(2)?))))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

pub(crate) fn read_status(connection: &rusqlite::Connection, steps: &[Migration]) -> Result<MigrationStatus> {
    status(&recorded(connection)?, steps)
}

pub(crate) fn run(connection: &mut rusqlite::Connection, steps: &[Migration]) -> Result<()> {
    if pending(&recorded(connection)?, steps)?.is_empty() {
        return Ok(());
    }
    // Sorts large indexes through a file, not in memory.
    connection.execute_batch("PRAGMA temp_store = FILE")?;
    // Locks before the steps are read again, so that a second process finds nothing to do.
    let tx = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    let recorded_steps = recorded(&tx)?;
    tx.execute_batch(TABLE)?;
    for (version, step) in numbered(recorded_steps.len() + 1, pending(&recorded_steps, steps)?) {
        tx.execute_batch(step.sql)?;
        let insert = "INSERT INTO portico_migrations (version, name, sha256) VALUES (?1, ?2, ?3)";
        tx.execute(insert, (version, step.name, step.sha256()))?;
    }
    tx.commit()?;
    connection.execute_batch("PRAGMA temp_store = MEMORY")?;
    Ok(())
}
