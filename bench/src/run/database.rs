//! Full databases of both engines, and the raw inserts that posts are compared with.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use tokio::process::Command;

use super::options::Common;
use super::process;

/// The row of `portico-bench raw`, for pgbench; its numbers are above those of the listings that are there.
const PGBENCH_INSERT: &str = r#"\set n random(1000000000, 1000000000000)
\set u random(0, 49999)
INSERT INTO listings (seq, id, user_id, document, created_at, city_fold, postal, rent, bedrooms, bathrooms, search_fold)
VALUES (:n, 'pg-' || :n, 'user-' || :u, '{"id":"pg-' || :n || '","user":"user-' || :u || '","street":"' || :u
|| ' Maple Avenue Apt 12","city":"Seattle","state":"WA","postal":"98101","country":"US","rent":2450,"bedrooms":3,"bathrooms":2}',
0, 'seattle', '98101', 24500000, 3, 2,
'pg-' || :n || E'\n' || :u || E' maple avenue apt 12\nseattle\nwa\n98101\nuser-' || :u || E'\nus\n\n\n') ON CONFLICT (id) DO NOTHING;
"#;

pub(super) enum Database {
    Sqlite { data: PathBuf },
    Postgres { data: PathBuf, url: String },
}

impl Database {
    /// A copy of a filled database, because every run adds listings. The original is kept until the number of rows, the
    /// tables or the search index change.
    pub(super) async fn sqlite(common: &Common, rows: u64) -> Result<Self> {
        let original = common.work.join(format!("filled-{rows}-{:016x}", schema_hash()?));
        if !original.exists() {
            remove_filled(&common.work)?;
            let folder = common.empty_folder("filling")?;
            fill("SQLite", &format!("sqlite:{}", folder.join("portico.db").display()), rows).await?;
            fs::rename(folder, &original)?;
        }
        let data = common.empty_folder("SQLite")?;
        copy_durably(&original, &data)?;
        Ok(Self::Sqlite { data })
    }

    /// A new database of a server.
    pub(super) async fn postgres(common: &Common, server_url: &str, rows: u64) -> Result<Self> {
        let (client, connection) = tokio_postgres::connect(server_url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute("CREATE DATABASE portico_bench").await?;
        let (server, _) = server_url.rsplit_once('/').context("the URL of PostgreSQL names no database")?;
        let url = format!("{server}/portico_bench");
        fill("PostgreSQL", &url, rows).await?;
        Ok(Self::Postgres { data: common.empty_folder("PostgreSQL")?, url })
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SQLite",
            Self::Postgres { .. } => "PostgreSQL",
        }
    }

    /// As `--database` takes it.
    pub(super) fn location(&self) -> String {
        match self {
            Self::Sqlite { data } => format!("sqlite:{}", data.join("portico.db").display()),
            Self::Postgres { url, .. } => url.clone(),
        }
    }

    /// The server's data folder.
    pub(super) fn data(&self) -> &Path {
        match self {
            Self::Sqlite { data } | Self::Postgres { data, .. } => data,
        }
    }

    /// Rows per second without the service.
    pub(super) async fn raw_inserts(&self, common: &Common) -> Result<f64> {
        let seconds = common.seconds.to_string();
        match self {
            Self::Sqlite { data } => {
                let mut raw = process::this_program()?;
                raw.arg("raw").arg(data.join("portico.db")).args(["--seconds", &seconds]);
                Ok(process::output(&mut raw).await?.parse()?)
            }
            Self::Postgres { url, .. } => pgbench_inserts(common, url).await,
        }
    }
}

async fn fill(engine: &str, location: &str, rows: u64) -> Result<()> {
    eprintln!("filling {engine} with {rows} listings and devices");
    let rows = rows.to_string();
    let arguments = ["load", location, "--listings", &rows, "--devices", &rows];
    process::output(process::this_program()?.args(arguments)).await.map(drop)
}

/// Changes with everything that decides how a filled SQLite database looks.
fn schema_hash() -> Result<u64> {
    let mut files = Vec::new();
    for entry in fs::read_dir("crates/store/migrations/sqlite")? {
        files.push(entry?.path());
    }
    files.sort();
    files.push("crates/store/src/engine/sqlite/search_index.rs".into());
    let mut hasher = DefaultHasher::new();
    for file in files {
        fs::read(&file).with_context(|| file.display().to_string())?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

fn remove_filled(work: &Path) -> Result<()> {
    for entry in fs::read_dir(work)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("filled-") {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

/// Copies the files of a folder and waits for the disk, which would be busy with them during the measurement.
fn copy_durably(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let copy = to.join(entry.file_name());
        fs::copy(entry.path(), &copy)?;
        File::open(copy)?.sync_all()?;
    }
    Ok(())
}

/// Inserts by pgbench: as many clients, prepared statements.
async fn pgbench_inserts(common: &Common, url: &str) -> Result<f64> {
    let script = common.work.join("insert.sql");
    fs::write(&script, PGBENCH_INSERT)?;
    let (clients, seconds) = (common.connections.to_string(), common.seconds.to_string());
    let mut pgbench = Command::new(newest_pgbench()?);
    pgbench
        .args(["-n", "-M", "prepared", "-c", &clients, "-j", "1", "-T", &seconds, "-f"])
        .arg(script)
        .arg(url);
    let printed = process::output(&mut pgbench).await?;
    let rate = printed.lines().find_map(|line| line.strip_prefix("tps = ")?.split(' ').next());
    let rate: f64 = rate.with_context(|| format!("no result from pgbench:\n{printed}"))?.parse()?;
    Ok(rate.trunc())
}

fn newest_pgbench() -> Result<PathBuf> {
    let mut newest = None;
    for entry in fs::read_dir("/usr/lib/postgresql").context("PostgreSQL is not installed")? {
        let folder = entry?;
        let version = folder.file_name().to_string_lossy().parse::<u32>().ok();
        let pgbench = folder.path().join("bin/pgbench");
        newest = newest.max(version.filter(|_| pgbench.exists()).map(|version| (version, pgbench)));
    }
    newest.map(|(_, pgbench)| pgbench).context("pgbench is not installed")
}
