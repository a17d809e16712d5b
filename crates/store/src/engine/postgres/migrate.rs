//! Running the migrations of `PostgreSQL`.

use tokio_postgres::Client;

use crate::engine::error::Result;
use crate::engine::migrate::{
    Migration, MigrationStatus, RECORDED, Recorded, TABLE, numbered, pending, status, unknown_table,
};

async fn recorded(client: &impl tokio_postgres::GenericClient) -> Result<Vec<Recorded>> {
    let columns = "SELECT count(*), count(*) FILTER (WHERE attname = 'sha256') FROM pg_catalog.pg_attribute \
         WHERE attrelid = to_regclass('portico_migrations') AND attnum > 0 AND NOT attisdropped";
    let row = client.query_one(columns, &[]).await?;
    match (row.get::<_, i64>(0), row.get::<_, i64>(1)) {
        (0, _) => return Ok(Vec::new()),
        (_, 0) => return Err(unknown_table()),
        _ => {}
    }
    let rows = client.query(RECORDED, &[]).await?;
    Ok(rows.into_iter().map(|row| Recorded::new((row.get(0), row.get(1), row.get(2)))).collect())
}

pub(crate) async fn read_status(client: &Client, steps: &[Migration]) -> Result<MigrationStatus> {
    status(&recorded(client).await?, steps)
}

pub(crate) async fn run(client: &mut Client, steps: &[Migration]) -> Result<()> {
    if pending(&recorded(client).await?, steps)?.is_empty() {
        return Ok(());
    }
    // `IF NOT EXISTS` is not atomic: one of two concurrent creators may fail.
    for _ in 0..3 {
        if client.batch_execute(TABLE).await.is_ok() {
            break;
        }
    }
    // Replicas queue at the row of version 0: a lock that every compatible engine supports.
    client
        .execute(
            "INSERT INTO portico_migrations (version, name, sha256) VALUES (0, 'lock', '') ON CONFLICT DO NOTHING",
            &[],
        )
        .await?;
    let tx = client.transaction().await?;
    // A step may rewrite every row of a large table.
    tx.batch_execute("SET LOCAL statement_timeout = 0").await?;
    tx.execute("SELECT 1 FROM portico_migrations WHERE version = 0 FOR UPDATE", &[]).await?;
    let recorded_steps = recorded(&tx).await?;
    for (version, step) in numbered(recorded_steps.len() + 1, pending(&recorded_steps, steps)?) {
        tx.batch_execute(step.sql).await?;
        let insert = "INSERT INTO portico_migrations (version, name, sha256) VALUES ($1, $2, $3)";
        tx.execute(insert, &[&version, &step.name, &step.sha256()]).await?;
    }
    tx.commit().await?;
    Ok(())
}
