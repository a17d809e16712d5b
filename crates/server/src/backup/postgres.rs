//! PostgreSQL: its own programs copy and restore, in the snapshot and the transaction that we give them.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use portico_store::backup::{ClientEnvironment, PostgresSnapshot, Target, inspect_target, make_room};

use super::manifest::Manifest;
use crate::tell;

pub(super) const DUMP: &str = "database.dump";
/// Connections of commands that have just ended disappear within this time.
const MAX_USER_POLLS: u32 = 25;
const USER_POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A program of PostgreSQL's client: the newest installed one, else the one on PATH.
fn program(name: &str) -> PathBuf {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| {
            Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin").join(name)))
        })
        .filter(|(_, path): &(u32, PathBuf)| path.exists())
        .collect();
    versions.sort();
    versions.pop().map_or_else(|| name.into(), |(_, path)| path)
}

fn command(name: &str, environment: &ClientEnvironment) -> Command {
    let mut command = Command::new(program(name));
    command.envs(environment.0.iter().map(|(name, value)| (name, value))).stdin(Stdio::null());
    command
}

fn missing(name: &str) -> String {
    format!("{name} cannot be started: install PostgreSQL's client programs")
}

/// Dumps the state of a snapshot; the keystore and what earlier restores replaced stay out.
pub(super) fn dump(url: &str, snapshot: &PostgresSnapshot, folder: &Path) -> Result<()> {
    let path = folder.join(DUMP);
    let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    created.with_context(|| format!("{} cannot be written", path.display()))?;
    tell("pg_dump copies the database");
    let status = command("pg_dump", &ClientEnvironment::new(url)?)
        .args(["--format=custom", "--no-owner", "--no-privileges", "--no-comments", "--no-password"])
        .args(["--exclude-schema=portico_keys", "--exclude-schema=portico_replaced*"])
        .arg(format!("--snapshot={}", snapshot.id()))
        .arg("--file")
        .arg(&path)
        .status()
        .with_context(|| missing("pg_dump"))?;
    if !status.success() {
        bail!("pg_dump has failed");
    }
    File::open(&path)
        .and_then(|file| file.sync_all())
        .with_context(|| format!("{} cannot be synced", path.display()))
}

/// Whether the archive has a readable table of contents, if there is a program that can tell.
pub(super) fn check_dump(folder: &Path) -> Result<()> {
    let listed = Command::new(program("pg_restore")).arg("--list").arg(folder.join(DUMP)).output();
    match listed {
        Ok(output) if !output.status.success() => bail!("{DUMP} is no archive of pg_dump"),
        Ok(output) if !String::from_utf8_lossy(&output.stdout).contains("portico_migrations") => {
            bail!("{DUMP} holds no database of portico")
        }
        _ => Ok(()),
    }
}

/// The database, which nobody else may use meanwhile.
pub(super) async fn unused(url: &str) -> Result<Target> {
    let mut target = inspect_target(url).await.context("the database cannot be read")?;
    for _ in 0..MAX_USER_POLLS {
        if target.users == 0 {
            break;
        }
        tokio::time::sleep(USER_POLL_INTERVAL).await;
        target = inspect_target(url).await.context("the database cannot be read")?;
    }
    if target.users > 0 {
        bail!("portico is using this database ({} connections): stop every server first", target.users);
    }
    Ok(target)
}

/// The database to restore into.
pub(super) async fn target(url: &str, manifest: &Manifest) -> Result<Target> {
    let target = unused(url).await?;
    if !target.relations.is_empty() && !target.is_ours {
        bail!(
            "the database has tables that are not portico's: name an empty one, or portico's own, with --database"
        );
    }
    if let (Some(current), Some(profile)) = (&target.profile, &manifest.database.profile)
        && current != profile
    {
        bail!(
            "this is a backup of a {profile} instance, and the database here belongs to a {current} instance: name \
             another one with --database"
        );
    }
    Ok(target)
}

/// Moves the tables to another schema and restores the dump, in one transaction.
pub(super) fn replace(
    url: &str,
    folder: &Path,
    target: &Target,
    replaced: Option<&str>,
    backup: &str,
) -> Result<()> {
    let environment = ClientEnvironment::new(url)?;
    tell("pg_restore reads the backup, and psql restores it");
    let mut script = Command::new(program("pg_restore"))
        .args(["--no-owner", "--no-privileges", "--no-comments", "--file=-"])
        .arg(folder.join(DUMP))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| missing("pg_restore"))?;
    let mut restore = command("psql", &environment)
        .args(["--no-psqlrc", "--quiet", "--no-password", "--set=ON_ERROR_STOP=1", "--file=-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| missing("psql"))?;
    let fed = feed(&mut script, &mut restore, &make_room(target, replaced, backup));
    let (script, restore) = (script.wait()?, restore.wait()?);
    if !restore.success() {
        bail!("psql could not restore the database: it is as it was");
    }
    if !(fed? && script.success()) {
        bail!("pg_restore could not read the backup: the database is as it was");
    }
    Ok(())
}

/// Commits only if the whole script arrived.
fn feed(script: &mut std::process::Child, restore: &mut std::process::Child, first: &str) -> Result<bool> {
    let mut input = restore.stdin.take().context("psql reads nothing")?;
    let mut output = script.stdout.take().context("pg_restore writes nothing")?;
    input.write_all(b"BEGIN;\n")?;
    input.write_all(first.as_bytes())?;
    std::io::copy(&mut output, &mut input)?;
    let complete = script.wait()?.success();
    input.write_all(if complete { b"\nCOMMIT;\n" } else { b"\nROLLBACK;\n" })?;
    Ok(complete)
}
