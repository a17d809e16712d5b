//! `portico backup create`.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::{Database, Location, keystore};
use portico_chain::embedded::{Address, ChainSnapshot};
use portico_store::backup::{Facts, PostgresSnapshot, SqliteSnapshot};

use super::manifest::{DatabaseMark, EmbeddedChainMark, Engine, FileMark, KeystoreMark, Manifest};
use super::postgres::{self, DUMP};
use super::{CHAIN, DATABASE, Progress, digest, make_private_folder, parent, random_id, sync_folder};
use crate::config::Config;
use crate::database::{OPERATOR, keystore_location};

/// Attempts to see the chain and the database at the same point. Each takes less than a millisecond.
const MAX_ALIGN_ATTEMPTS: u32 = 500;

/// A folder under a temporary name, removed again unless it is completed.
struct NewFolder {
    partial: PathBuf,
    target: PathBuf,
}

impl NewFolder {
    fn new(target: &Path, id: &str) -> Result<Self> {
        if let Ok(mut entries) = std::fs::read_dir(target)
            && entries.next().is_some()
        {
            bail!("{} exists and is not empty: a backup is a new folder", target.display());
        }
        if target.is_file() {
            bail!("{} is a file: a backup is a new folder", target.display());
        }
        let Some(name) = target.file_name() else {
            bail!("{} is no name for a new folder", target.display());
        };
        let partial = parent(target).join(format!("{}.partial-{}", name.to_string_lossy(), &id[..8]));
        make_private_folder(&partial)?;
        Ok(Self { partial, target: target.to_owned() })
    }

    fn complete(self) -> Result<()> {
        sync_folder(&self.partial)?;
        let named = std::fs::rename(&self.partial, &self.target);
        named.with_context(|| format!("the backup cannot be renamed to {}", self.target.display()))?;
        sync_folder(parent(&self.target))
    }
}

impl Drop for NewFolder {
    fn drop(&mut self) {
        // After completion it is not there any more.
        let _ = std::fs::remove_dir_all(&self.partial);
    }
}

/// Makes a backup next to a running server.
pub(crate) async fn create(config: &Config, target: &Path) -> Result<String> {
    let id = random_id()?;
    check_migrated(config).await?;
    let folder = NewFolder::new(target, &id)?;
    let created_at = SystemClock.now().to_string();
    // Before the database: its erasures are applied with the current keystore, whatever it has erased since.
    let keystore = keystore_mark(config).await?;
    let (database, chain) = match &config.database {
        Location::Sqlite(path) => copy_sqlite(config, path, &folder.partial)?,
        Location::Postgres(url) => dump_postgres(config, url, &folder.partial).await?,
    };
    let keystore = match (&database.1.deployment.keystore, keystore) {
        (None, _) => None,
        (Some(known), Some(mark)) if *known == mark.id => Some(mark),
        (Some(_), Some(_)) => {
            bail!("the keystore belongs to another database: name its place with --keystore")
        }
        (Some(_), None) => {
            bail!("the keystore of this database is missing: name its place with --keystore")
        }
    };
    let mark = DatabaseMark::new(database.0, &database.1);
    let files = marks(&folder.partial)?;
    let size: u64 = files.iter().map(|file| file.bytes).sum();
    Manifest::new(id.clone(), created_at, mark, keystore, chain, files).write(&folder.partial)?;
    folder.complete()?;
    Ok(format!("backup {id} is complete: {} ({size} bytes)", target.display()))
}

async fn check_migrated(config: &Config) -> Result<()> {
    if let Location::Sqlite(path) = &config.database
        && !path.exists()
    {
        bail!("there is no database at {}", path.display());
    }
    let status = Database::status(&OPERATOR, &config.database).await?;
    if status.current != status.latest {
        bail!(
            "the database is at version {} of {}: use the portico that it was last served with, or run \
             `portico migrate up`",
            status.current,
            status.latest
        );
    }
    Ok(())
}

async fn keystore_mark(config: &Config) -> Result<Option<KeystoreMark>> {
    let found = keystore::mark(&OPERATOR, &keystore_location(config)).await?;
    Ok(found.map(|found| KeystoreMark { id: found.id, erasures: found.erasures }))
}

type Copied = ((Engine, Facts), Option<EmbeddedChainMark>);

fn copy_sqlite(config: &Config, path: &Path, folder: &Path) -> Result<Copied> {
    let read = || "the database cannot be read";
    let mut database = SqliteSnapshot::open(path).with_context(read)?;
    let mut facts = database.facts().with_context(read)?;
    let mut chain = embedded_chain(config, &facts)?;
    if let Some(chain) = &mut chain {
        for _ in 0..MAX_ALIGN_ATTEMPTS {
            // The chain first: then it has no block whose transactions the database has not signed.
            chain.renew().context("the chain cannot be read")?;
            database.renew().with_context(read)?;
            facts = database.facts().with_context(read)?;
            if has_all_final(chain, &facts)? {
                break;
            }
        }
        if !has_all_final(chain, &facts)? {
            // A newer chain: the database learns what it lacks from the receipts.
            chain.renew().context("the chain cannot be read")?;
        }
    }
    let mut progress = Progress::new("the database");
    database.copy_to(&folder.join(DATABASE), |done, all| progress.at(done, all)).with_context(read)?;
    let mark = chain.map(|mut chain| copy_chain(&mut chain, folder)).transpose()?;
    Ok(((Engine::Sqlite, facts), mark))
}

async fn dump_postgres(config: &Config, url: &str, folder: &Path) -> Result<Copied> {
    let read = || "the database cannot be read";
    let mut database = PostgresSnapshot::open(url).await.with_context(read)?;
    let mut facts = database.facts().await.with_context(read)?;
    let mut chain = embedded_chain(config, &facts)?;
    if let Some(chain) = &mut chain {
        for _ in 0..MAX_ALIGN_ATTEMPTS {
            chain.renew().context("the chain cannot be read")?;
            database = PostgresSnapshot::open(url).await.with_context(read)?;
            facts = database.facts().await.with_context(read)?;
            if has_all_final(chain, &facts)? {
                break;
            }
        }
        if !has_all_final(chain, &facts)? {
            chain.renew().context("the chain cannot be read")?;
        }
    }
    postgres::dump(url, &database, folder)?;
    let mark = chain.map(|mut chain| copy_chain(&mut chain, folder)).transpose()?;
    Ok(((Engine::Postgres, facts), mark))
}

fn copy_chain(chain: &mut ChainSnapshot, folder: &Path) -> Result<EmbeddedChainMark> {
    let mut progress = Progress::new("the chain");
    let copied = chain.copy_to(&folder.join(CHAIN), |done, all| progress.at(done, all));
    copied.context("the chain cannot be copied")?;
    Ok(chain.facts().context("the chain cannot be read")?.into())
}

/// The data folder's chain, if the database is bound to it.
fn embedded_chain(config: &Config, facts: &Facts) -> Result<Option<ChainSnapshot>> {
    let path = config.data.chain();
    let Some(bound) = facts.chain.as_ref().filter(|_| path.exists()) else { return Ok(None) };
    let mut chain = ChainSnapshot::open(&path).context("the embedded chain cannot be read")?;
    let found = chain.facts().context("the embedded chain cannot be read")?;
    Ok((found.genesis.0 == bound.genesis).then_some(chain))
}

/// Whether the chain has every transaction that the database has as final.
fn has_all_final(chain: &mut ChainSnapshot, facts: &Facts) -> Result<bool> {
    for signer in &facts.signers {
        let used = chain.nonce(Address::from(signer.address)).context("the chain cannot be read")?;
        if signer.last_final.is_some_and(|last| last.unsigned_abs() >= used) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn marks(folder: &Path) -> Result<Vec<FileMark>> {
    let mut marks = Vec::new();
    for name in [DATABASE, DUMP, CHAIN] {
        let path = folder.join(name);
        if path.exists() {
            let (bytes, sha256) = digest(&path, |_| Ok(()))?;
            marks.push(FileMark { name: name.into(), bytes, sha256 });
        }
    }
    Ok(marks)
}
