//! `portico restore`: prepares everything next to the files in use, and then exchanges them.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use portico_app::audit::Anchor;
use portico_app::chain_admin::RestoredChain;
use portico_app::clock::{Clock as _, SystemClock};
use portico_app::restoration::Revocations;
use portico_app::{Database, Location, Portico, Role, keystore};
use portico_store::backup::{
    PostgresSnapshot, SqliteSnapshot, complete_postgres_restore, undo_postgres_restore,
};
use secrecy::SecretSlice;

use super::manifest::{Engine, FileMark, Manifest};
use super::postgres;
use super::revocations::revoke_again;
use super::staging::Staging;
use super::swap::{Move, Plan, check_not_interrupted, complete_interrupted};
use super::verify::{check_facts, verified};
use super::{CHAIN, DATABASE, digest, parent};
use crate::application::assemble;
use crate::config::{ChainUrl, Config};
use crate::database::{OPERATOR, keystore_location};
use crate::{chain, tell};

/// What the audit log names instead of a backup.
const IN_PLACE: &str = "in place";

pub(crate) async fn restore(config: &Config, folder: &Path) -> Result<String> {
    let _lock = config.data.lock_for_restore(&config.database)?;
    let completed = complete_interrupted(config.data.path())?;
    let manifest = verified(folder)?;
    let is_sqlite = manifest.database.engine == Engine::Sqlite;
    if is_sqlite && completed.as_ref() == Some(&manifest.id) {
        return Ok(format!("the interrupted restore of backup {} is complete", manifest.id));
    }
    check_profile(config, &manifest)?;
    let root = check_keystore(config, &manifest).await?;
    check_chain(config, &manifest)?;
    match (&config.database, manifest.database.engine) {
        (Location::Sqlite(path), Engine::Sqlite) => {
            restore_sqlite(config, path, folder, &manifest, root.as_ref()).await
        }
        (Location::Sqlite(_), Engine::Postgres) => {
            bail!("this is a backup of a PostgreSQL database: name one with --database")
        }
        (Location::Postgres(url), Engine::Postgres) => {
            restore_postgres(config, url, folder, &manifest, root.as_ref()).await
        }
        (Location::Postgres(_), Engine::Sqlite) => {
            bail!("this is a backup of a SQLite database: omit --database, or name a file")
        }
    }
}

/// Joins a database that another tool has put back with the present.
pub(crate) async fn restore_in_place(config: &Config) -> Result<String> {
    let _lock = config.data.lock_for_restore(&config.database)?;
    check_not_interrupted(config.data.path())?;
    match &config.database {
        Location::Sqlite(path) if !path.exists() => bail!("there is no database at {}", path.display()),
        Location::Sqlite(path) => remove_search_index(path)?,
        Location::Postgres(url) => _ = postgres::unused(url).await?,
    }
    let db = Database::open(&OPERATOR, &config.database, Role::Tool).await?;
    let root = if db.has_keystore().await? { Some(root_secret(config)?) } else { None };
    let mut said = vec!["the database is joined with the present".to_owned()];
    said.extend(
        prepare(config, IN_PLACE, &db, &config.data.chain(), root.as_ref(), Revocations::InPlace).await?,
    );
    db.close()?;
    Ok(said.join("\n"))
}

fn check_profile(config: &Config, manifest: &Manifest) -> Result<()> {
    let Some(profile) = &manifest.database.profile else { return Ok(()) };
    if let Some(asked) = config.profile.filter(|asked| asked.name() != profile) {
        bail!("this is a backup of a {profile} instance, and --profile says {}", asked.name());
    }
    // A damaged database says nothing, and is replaced all the same.
    if let Location::Sqlite(path) = &config.database
        && path.exists()
        && let Ok(facts) = SqliteSnapshot::open(path).and_then(|mut current| current.facts())
        && let Some(current) = facts.deployment.profile.filter(|current| current != profile)
    {
        bail!(
            "this is a backup of a {profile} instance, and the database here belongs to a {current} instance: name \
             another place with --data or --database"
        );
    }
    Ok(())
}

/// The keystore must be the backup's own, and know every erasure that it knew then. Returns the root secret.
async fn check_keystore(config: &Config, manifest: &Manifest) -> Result<Option<SecretSlice<u8>>> {
    let Some(mark) = &manifest.keystore else { return Ok(None) };
    let keystore = keystore::mark(&OPERATOR, &keystore_location(config)).await?.context(
        "the keystore of this backup is missing: put the current one back, or name its place with --keystore. \
         Without it nothing personal in the backup can be read",
    )?;
    if keystore.id != mark.id {
        bail!("the keystore belongs to another database than the backup: name the right one with --keystore");
    }
    if keystore.erasures < mark.erasures {
        bail!(
            "the keystore is an older copy than the backup: it lacks erasures, and would bring erased people back. Put \
             the current one in its place"
        );
    }
    root_secret(config).map(Some)
}

fn root_secret(config: &Config) -> Result<SecretSlice<u8>> {
    let root = config.data.existing_root_secret(config.encryption_key.as_ref())?;
    let missing = "the encryption key is missing: give the one that the keystore was made with (PORTICO_ENCRYPTION_KEY, \
                   or encryption.key in the data folder)";
    root.context(missing)
}

fn check_chain(config: &Config, manifest: &Manifest) -> Result<()> {
    match (&manifest.embedded_chain, &config.chain.url) {
        (Some(_), ChainUrl::Embedded) if config.chain.keys.is_empty() && !config.data.has_chain_key() => {
            bail!("chain.key is missing in the data folder: the embedded chain cannot be opened without it")
        }
        (Some(_), ChainUrl::Remote(_)) => {
            bail!("this backup has an embedded chain: omit --chain, or use another backup")
        }
        (None, ChainUrl::Embedded) if manifest.database.chain.is_some() => {
            bail!("the database in this backup belongs to a chain that is not embedded: name it with --chain")
        }
        _ => Ok(()),
    }
}

async fn restore_sqlite(
    config: &Config,
    place: &Path,
    folder: &Path,
    manifest: &Manifest,
    root: Option<&SecretSlice<u8>>,
) -> Result<String> {
    let staging = Staging::new(place, config.data.path())?;
    let (database, chain_file) = (staging.database.join(DATABASE), staging.chain.join(CHAIN));
    for file in &manifest.files {
        let to = if file.name == CHAIN { &chain_file } else { &database };
        copy(&folder.join(&file.name), to, file)?;
    }
    let revocations = Revocations::in_sqlite(place);
    let mut said = {
        let opened = Database::open(&OPERATOR, &Location::Sqlite(database.clone()), Role::Tool).await;
        let db = opened.context("the database in the backup cannot be used")?;
        let source = format!("backup {}", manifest.id);
        let said = prepare(config, &source, &db, &chain_file, root, revocations).await?;
        db.close().context("the restored database is still in use")?;
        said
    };
    check_is_one_file(&database)?;
    let kept_at = kept_name();
    let mut moves = Vec::new();
    let mut exchange = |place: &Path, staged: PathBuf, others: &[String]| {
        let kept_at = parent(place).join(&kept_at);
        for name in others {
            moves.push(Move { staged: None, place: parent(place).join(name), kept_at: kept_at.join(name) });
        }
        let name = place.file_name().unwrap_or_default();
        moves.push(Move { staged: Some(staged), place: place.to_owned(), kept_at: kept_at.join(name) });
    };
    if manifest.embedded_chain.is_some() {
        check_is_one_file(&chain_file)?;
        exchange(&config.data.chain(), chain_file, &[format!("{CHAIN}-wal"), format!("{CHAIN}-shm")]);
    }
    exchange(place, database, &files_beside(place));
    let replaced = moves.iter().any(|one| one.place.exists());
    Plan { backup: manifest.id.clone(), moves, staging: staging.folders() }.run(config.data.path())?;
    said.insert(0, format!("backup {} of {} is restored", manifest.id, manifest.created_at));
    if replaced {
        said.push(format!(
            "what was replaced is in {}: delete it when it is not needed any more",
            parent(place).join(&kept_at).display()
        ));
    }
    Ok(said.join("\n"))
}

/// The tables are exchanged in one transaction, which also marks the database as not ready. What follows is undone if
/// it fails, and repeated by the next restore if it is cut off.
async fn restore_postgres(
    config: &Config,
    url: &str,
    folder: &Path,
    manifest: &Manifest,
    root: Option<&SecretSlice<u8>>,
) -> Result<String> {
    let target = postgres::target(url, manifest).await?;
    let name = kept_name();
    let mut said = vec![format!("backup {} of {} is restored", manifest.id, manifest.created_at)];
    let is_resumed = target.pending.as_ref() == Some(&manifest.id);
    if !is_resumed {
        let schema = format!("portico_{}", name.replace('-', "_").to_lowercase());
        let kept_at = Some(schema).filter(|_| !target.relations.is_empty());
        postgres::replace(url, folder, &target, kept_at.as_deref(), &manifest.id)?;
        said.extend(kept_at.map(|kept_at| {
            format!("what was replaced is in the schema {kept_at}: drop it when it is not needed any more")
        }));
    }
    let data = config.data.path();
    let staging = Staging::new(&config.data.chain(), data)?;
    let chain_file = staging.chain.join(CHAIN);
    let prepare = async {
        if !is_resumed {
            check_facts(&PostgresSnapshot::open(url).await?.facts().await?, manifest)?;
        }
        prepare_postgres(config, url, folder, manifest, &chain_file, root).await
    };
    match prepare.await {
        Ok(done) => said.extend(done),
        Err(error) => {
            undo_postgres_restore(url).await.context("the restore failed, and cannot be undone")?;
            return Err(error.context("the restore failed, and the database is as it was"));
        }
    }
    let mut moves = Vec::new();
    if manifest.embedded_chain.is_some() {
        check_is_one_file(&chain_file)?;
        let kept_at = data.join(&name);
        for name in [format!("{CHAIN}-wal"), format!("{CHAIN}-shm")] {
            moves.push(Move { staged: None, place: data.join(&name), kept_at: kept_at.join(&name) });
        }
        let place = config.data.chain();
        moves.push(Move { staged: Some(chain_file), place, kept_at: kept_at.join(CHAIN) });
    }
    Plan { backup: manifest.id.clone(), moves, staging: staging.folders() }.run(data)?;
    complete_postgres_restore(url).await.context("the restore cannot be completed")?;
    Ok(said.join("\n"))
}

async fn prepare_postgres(
    config: &Config,
    url: &str,
    folder: &Path,
    manifest: &Manifest,
    chain_file: &Path,
    root: Option<&SecretSlice<u8>>,
) -> Result<Vec<String>> {
    if let Some(file) = manifest.files.iter().find(|file| file.name == CHAIN) {
        copy(&folder.join(CHAIN), chain_file, file)?;
    }
    let revocations = Revocations::in_postgres(url).await;
    let db = Database::open_restored(&OPERATOR, &config.database).await?;
    let source = format!("backup {}", manifest.id);
    let done = prepare(config, &source, &db, chain_file, root, revocations).await;
    db.close().context("the restored database is still in use")?;
    done
}

/// Copies a file of the backup, and proves again what was copied.
fn copy(from: &Path, to: &Path, mark: &FileMark) -> Result<()> {
    let cannot = || format!("{} cannot be written", to.display());
    let mut file =
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(to).with_context(cannot)?;
    let (_, sha256) = digest(from, |piece| file.write_all(piece))?;
    if sha256 != mark.sha256 {
        bail!("{} has changed while it was copied", from.display());
    }
    file.sync_all().with_context(cannot)
}

/// The write-ahead log and the search index of a database.
fn files_beside(database: &Path) -> Vec<String> {
    let name = database.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut names = vec![format!("{name}-wal"), format!("{name}-shm")];
    names.extend(search_index(database));
    names
}

fn search_index(database: &Path) -> [String; 3] {
    let file = database.with_extension("search.db");
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    ["", "-wal", "-shm"].map(|suffix| format!("{name}{suffix}"))
}

/// It is made again, from the database that is there now.
fn remove_search_index(database: &Path) -> Result<()> {
    for name in search_index(database) {
        let file = parent(database).join(name);
        match std::fs::remove_file(&file) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(|| format!("{} cannot be removed", file.display()));
            }
            _ => (),
        }
    }
    Ok(())
}

/// All changes are in the file itself; its log is empty, and is left behind.
fn check_is_one_file(path: &Path) -> Result<()> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    match std::fs::metadata(&log) {
        Ok(found) if found.len() > 0 => bail!("{} is still in use", path.display()),
        _ => Ok(()),
    }
}

/// Names the time, such as `replaced-20260131T120000Z`.
fn kept_name() -> String {
    let moment = SystemClock.now().to_string();
    let (seconds, _) = moment.split_once('.').unwrap_or((&moment, ""));
    format!("replaced-{}Z", seconds.replace(['-', ':'], ""))
}

/// With its key, the log proves itself.
async fn check_audit_log(app: &Portico) -> Result<()> {
    let found = app.audit.inspect(&OPERATOR, Anchor::Unknown, |_| ()).await?;
    match found.faults.first() {
        Some(fault) => bail!("the audit log in the backup is not intact: {fault}"),
        None => Ok(()),
    }
}

/// Joins the restored database with the present: the chain, an entry in the audit log, revoked keys, and the keystore's
/// erasures.
/// `source` is what was restored. Returns what was done.
async fn prepare(
    config: &Config,
    source: &str,
    db: &Database,
    chain_file: &Path,
    root: Option<&SecretSlice<u8>>,
    revocations: Revocations,
) -> Result<Vec<String>> {
    let mut said = Vec::new();
    let app = match root {
        Some(root) => {
            let keystore = db.keystore(&keystore_location(config), root).await?;
            let secrets = db.secrets(keystore).await?;
            let app = assemble(config, Role::Tool, Some(secrets), db.clone()).await?;
            check_audit_log(&app).await?;
            Some(app)
        }
        None => None,
    };
    let mut superseded = None;
    if db.has_chain().await?
        && let Some(restored) = catch_up(config, db, chain_file).await?
    {
        let done = restored.summary;
        said.push(format!(
            "{} items are compared with the chain: {} take over its version, {} are written again when the server \
             starts, {} are revoked or cleared as there",
            done.compared, done.raised, done.again, done.ended
        ));
        superseded = restored.anchored;
    }
    let recorded = db.record_restore(&OPERATOR, source, superseded).await;
    recorded.context("the restore could not be put on record")?;
    said.extend(revoke_again(db, source, revocations).await?);
    if let Some(app) = app {
        let applied = app.maintenance.apply_erasures().await.context("erasures could not be applied")?;
        said.push(format!("{applied} erasures since the backup are applied"));
    }
    Ok(said)
}

async fn catch_up(config: &Config, db: &Database, chain_file: &Path) -> Result<Option<RestoredChain>> {
    let chain = chain::admin(config, db, chain_file.to_owned()).await?;
    let progress = |compared: u64| {
        if compared.is_multiple_of(10_000) {
            tell(&format!("{compared} items are compared with the chain"));
        }
    };
    Ok(chain.catch_up_restored(progress).await?)
}
