//! The data folder: the database, the instance's keys, and a lock that admits one server at a time.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portico_app::Location;
use portico_app::Profile;
use portico_app::tokens::{ExternalIssuer, Tokens};
use portico_app::vault::ROOT_BYTES;
use portico_sqlite::{DatabaseLock, FileLock};
use secrecy::{ExposeSecret, SecretSlice, SecretString};

use crate::backup::check_not_interrupted;

/// What a lock does to a SQLite database that does not exist.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IfMissing {
    Create,
    Skip,
}

/// The data folder, created on first use and readable only by its owner.
#[derive(Debug, Clone)]
pub struct DataFolder(PathBuf);

impl DataFolder {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("portico.db")
    }

    pub(crate) fn chain(&self) -> PathBuf {
        self.0.join("chain.db")
    }

    pub(crate) fn keystore(&self) -> PathBuf {
        self.0.join("keys.db")
    }

    pub(crate) fn basemap(&self) -> PathBuf {
        self.0.join("basemap.pmtiles")
    }

    /// The signing key of the embedded chain, created on first use.
    pub(crate) fn chain_key(&self) -> Result<SecretString> {
        Ok(hex::encode(self.secret("chain.key")?.expose_secret()).into())
    }

    pub(crate) fn has_chain_key(&self) -> bool {
        self.0.join("chain.key").exists()
    }

    /// Fails while an interrupted restore waits to be completed.
    pub(crate) fn create(&self) -> Result<()> {
        check_not_interrupted(&self.0)?;
        self.make()
    }

    fn make(&self) -> Result<()> {
        if self.0.is_dir() {
            return Ok(());
        }
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.with_context(|| format!("the data folder {} cannot be made", self.0.display()))?;
        // Otherwise the folder may be lost with the power, and the keys in it.
        match self.0.parent() {
            Some(parent) if parent.as_os_str().is_empty() => sync_folder(Path::new(".")),
            Some(parent) => sync_folder(parent),
            None => Ok(()),
        }
    }

    /// Restricts the folder and its files to their owner; returns how many were accessible to others.
    pub(crate) fn tighten(&self) -> Result<usize> {
        let mut tightened = usize::from(tighten(&self.0, 0o700)?);
        for entry in std::fs::read_dir(&self.0)? {
            let entry = entry?;
            let mode = match entry.file_type()? {
                kind if kind.is_file() => 0o600,
                kind if kind.is_dir() => 0o700,
                _ => continue,
            };
            tightened += usize::from(tighten(&entry.path(), mode)?);
        }
        Ok(tightened)
    }

    /// Keeps every other server away from the folder and from a SQLite database, and commands that need it stopped. A
    /// server holds the lock until it exits.
    pub(crate) fn lock(&self, database: &Location) -> Result<InstanceLock> {
        self.create()?;
        self.take_lock(database, IfMissing::Create)
    }

    /// The same, although a restore was interrupted, and without making a database.
    pub(crate) fn lock_for_restore(&self, database: &Location) -> Result<InstanceLock> {
        self.make()?;
        self.take_lock(database, IfMissing::Skip)
    }

    fn take_lock(&self, database: &Location, missing: IfMissing) -> Result<InstanceLock> {
        let folder = FileLock::try_acquire(&self.0.join("lock"))?.with_context(|| {
            format!(
                "another portico is using the data folder {}: stop it, or choose another with --data",
                self.0.display()
            )
        })?;
        let database = match database {
            Location::Sqlite(path) if missing == IfMissing::Create || path.exists() => {
                Some(lock_database(path)?)
            }
            _ => None,
        };
        Ok(InstanceLock { _folder: folder, _database: database })
    }

    /// Issues and verifies tokens; the signing key is created on first use.
    pub(crate) fn tokens(&self, external: Option<ExternalIssuer>, profile: Profile) -> Result<Tokens> {
        Ok(Tokens::new(&self.secret("issuer.key")?, external, profile)?)
    }

    /// The given root secret, or the one in the folder, created on first use.
    pub(crate) fn root_secret(&self, given: Option<&SecretString>) -> Result<SecretSlice<u8>> {
        match given {
            Some(hex) => given_secret(hex),
            None => self.secret("encryption.key"),
        }
    }

    /// The same, without creating one.
    pub(crate) fn existing_root_secret(
        &self,
        given: Option<&SecretString>,
    ) -> Result<Option<SecretSlice<u8>>> {
        let path = self.0.join("encryption.key");
        match given {
            Some(hex) => given_secret(hex).map(Some),
            None if path.exists() => Self::root_secret_in(&path).map(Some),
            None => Ok(None),
        }
    }

    pub(crate) fn root_secret_in(path: &Path) -> Result<SecretSlice<u8>> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        parse_hex(text.trim()).with_context(|| format!("{} must hold 64 hexadecimal digits", path.display()))
    }

    fn secret(&self, name: &str) -> Result<SecretSlice<u8>> {
        self.create()?;
        let path = self.0.join(name);
        if !path.exists() {
            self.make_secret(&path)?;
        }
        Self::root_secret_in(&path)
    }

    /// Writes a temporary file and links it into place, so that nobody reads half a key. If two processes race, the
    /// first one wins.
    fn make_secret(&self, path: &Path) -> Result<()> {
        let hex = hex::encode(random()?);
        let temporary = self.0.join(format!(".{}.new", std::process::id()));
        let mut file =
            OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
        file.write_all(hex.as_bytes())?;
        file.sync_all()?;
        let linked = std::fs::hard_link(&temporary, path);
        std::fs::remove_file(&temporary)?;
        // Otherwise the name may be lost with the power, after data was sealed with the key.
        sync_folder(&self.0)?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error.into()),
            _ => Ok(()),
        }
    }
}

/// Another data folder may lead to the same database.
fn lock_database(path: &Path) -> Result<DatabaseLock> {
    let lock = DatabaseLock::try_acquire(path);
    lock.with_context(|| format!("the database cannot be opened: {}", path.display()))?.with_context(|| {
        format!(
            "another portico is using the database {}, through another data folder or a link: stop it, or choose \
             another database with --database or --data",
            path.display()
        )
    })
}

/// Held while this process uses the data folder and database.
#[derive(Debug)]
pub(crate) struct InstanceLock {
    _folder: FileLock,
    _database: Option<DatabaseLock>,
}

fn sync_folder(path: &Path) -> Result<()> {
    Ok(File::open(path)?.sync_all()?)
}

/// Returns whether others had access. A file may disappear in the meantime, such as those of a closed database.
pub(crate) fn tighten(path: &Path, mode: u32) -> Result<bool> {
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        found => found?,
    };
    let of_others = found.permissions().mode() & 0o077;
    if found.is_symlink() || of_others == 0 {
        return Ok(false);
    }
    match std::fs::set_permissions(path, Permissions::from_mode(found.permissions().mode() & mode)) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        set => set.map(|()| true).map_err(Into::into),
    }
}

fn given_secret(hex: &SecretString) -> Result<SecretSlice<u8>> {
    parse_hex(hex.expose_secret()).context("the encryption key must be 64 hexadecimal digits")
}

pub(crate) fn random_secret() -> Result<SecretSlice<u8>> {
    Ok(random()?.to_vec().into())
}

fn random() -> Result<[u8; ROOT_BYTES]> {
    let mut secret = [0; ROOT_BYTES];
    aws_lc_rs::rand::fill(&mut secret).map_err(|_| anyhow::anyhow!("no randomness"))?;
    Ok(secret)
}

fn parse_hex(text: &str) -> Option<SecretSlice<u8>> {
    // The decoder also takes `0x`, which is no part of a key.
    let digits = Some(text).filter(|text| text.len() == 2 * ROOT_BYTES)?;
    hex::decode_to_array::<_, ROOT_BYTES>(digits).ok().map(|key| key.to_vec().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_secret_is_64_hexadecimal_digits() {
        assert!(parse_hex(&"aF".repeat(32)).is_some());
        let digits = |count: usize| "a".repeat(count);
        for wrong in
            [digits(63), digits(62), digits(66), format!("0x{}", digits(62)), format!("0x{}", digits(64))]
        {
            assert!(parse_hex(&wrong).is_none(), "{wrong}");
        }
        assert!(parse_hex(&"+f".repeat(32)).is_none());
    }
}
