//! What the service is compared with: a raw insert loop, and a scan without an index.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use portico_store::{Db, Location, Role};

use crate::sample_data::{NOW, listing};

/// Rows per second of a bare insert loop: what the service's writer does, without everything around it.
pub(crate) async fn raw_inserts(file: &Path, time: Duration) -> Result<f64> {
    let db = Db::open(&Location::Sqlite(file.into()), Role::Server).await?;
    db.wait_for_index().await?;
    let (started, rows) = (Instant::now(), insert_for(file, time)?);
    db.wait_for_index().await?;
    Ok(f64::from(rows) / started.elapsed().as_secs_f64())
}

/// Inserts until the time is over and returns the number of rows.
fn insert_for(file: &Path, time: Duration) -> Result<u32> {
    let connection = rusqlite::Connection::open(file)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 20000; \
         PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
    )?;
    let mut insert = connection.prepare(
        "INSERT INTO listings (id, user_id, document, created_at, revision) VALUES (?1, ?2, ?3, ?4, \
         (SELECT coalesce(max(seq), 0) + 1 FROM sqlite_sequence WHERE name = 'listings')) ON CONFLICT (id) DO NOTHING",
    )?;
    let mut event =
        connection.prepare("INSERT INTO events (kind, subject, at) VALUES ('listing.created', ?1, ?2)")?;
    let mut count = connection.prepare(
        "INSERT INTO counters (scope, name, shard, n) VALUES (?1, ?2, 0, 1) \
         ON CONFLICT (scope, name, shard) DO UPDATE SET n = n + 1",
    )?;
    let (started, mut rows) = (Instant::now(), 0_u32);
    while started.elapsed() < time {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for _ in 0..64 {
            let l = listing("raw", 2_000_000 + i64::from(rows), 1_000_000);
            let document = serde_json::to_string(&l)?;
            insert.execute(rusqlite::params![l.id.as_str(), l.user.as_str(), document, NOW.micros()])?;
            event.execute(rusqlite::params![l.id.as_str(), NOW.micros()])?;
            count.execute(["listings", "total"])?;
            count.execute(["listings.state", l.state.as_str()])?;
            rows += 1;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(rows)
}

/// Milliseconds of the fastest of three scans.
pub(crate) async fn scan(database: &str, term: &str) -> Result<f64> {
    let mut best = f64::MAX;
    let pattern = format!("%{term}%");
    for _ in 0..3 {
        let started;
        match Location::parse(database).map_err(anyhow::Error::msg)? {
            Location::Sqlite(file) => {
                let connection = rusqlite::Connection::open(file)?;
                let sql = "SELECT count(*) FROM listings WHERE document LIKE ?1";
                started = Instant::now();
                connection.query_row(sql, [&pattern], |_| Ok(()))?;
            }
            Location::Postgres(url) => {
                let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
                tokio::spawn(connection);
                client.batch_execute("SET enable_indexscan = off; SET enable_bitmapscan = off").await?;
                started = Instant::now();
                let sql = "SELECT count(*) FROM listings WHERE search_fold LIKE $1";
                client.query_one(sql, &[&pattern]).await?;
            }
        }
        best = best.min(started.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(best)
}
