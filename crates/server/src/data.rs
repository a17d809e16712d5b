//! The data folder: the database, the instance's keys, and a lock that admits one server at a time.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use portico_app::Profile;
use portico_app::tokens::{ExternalIssuer, Tokens};
use portico_app::vault::ROOT_BYTES;
use portico_sqlite::FileLock;
use portico_store::Role;
use secrecy::{ExposeSecret, SecretSlice, SecretString};

/// The data folder, created on first use and readable only by its owner.
#[derive(Debug, Clone)]
pub struct Data(PathBuf);

impl Data {
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

    /// The signing key of the embedded chain, created on first use.
    pub(crate) fn chain_key(&self) -> Result<SecretString> {
        Ok(hex::encode(self.secret("chain.key")?.expose_secret()).into())
    }

    pub(crate) fn create(&self) -> Result<()> {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.0);
        made.with_context(|| format!("the data folder {} cannot be made", self.0.display()))
    }

    /// A server holds the lock until it exits.
    pub(crate) fn lock(&self) -> Result<FileLock> {
        self.create()?;
        FileLock::try_acquire(&self.0.join("lock"))?.with_context(|| {
            format!(
                "another portico is using the data folder {}: stop it, or choose another with --data",
                self.0.display()
            )
        })
    }

    /// Issues and verifies tokens; the signing key is created on first use.
    pub(crate) fn tokens(&self, external: Option<ExternalIssuer>, profile: Profile) -> Result<Tokens> {
        Ok(Tokens::new(&self.secret("issuer.key")?, external, profile)?)
    }

    /// The given root secret, or the one in the folder, created on first use. Commands get a random one: they seal
    /// nothing that outlives them.
    pub(crate) fn root_secret(&self, given: Option<&SecretString>, role: Role) -> Result<SecretSlice<u8>> {
        match given {
            _ if role == Role::Tool => Ok(random()?.to_vec().into()),
            Some(hex) => {
                parse_hex(hex.expose_secret()).context("the encryption key must be 64 hexadecimal digits")
            }
            None => self.secret("encryption.key"),
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
        let fresh = self.0.join(format!(".{}.new", std::process::id()));
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&fresh)?;
        file.write_all(hex.as_bytes())?;
        file.sync_all()?;
        let linked = std::fs::hard_link(&fresh, path);
        std::fs::remove_file(&fresh)?;
        match linked {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error.into()),
            _ => Ok(()),
        }
    }
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
