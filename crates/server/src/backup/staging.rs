//! Folders for restored files, on the file systems where they go.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{make_private_folder, parent, random_id};

const STAGING_PREFIX: &str = ".restore-";

pub(super) struct Staging {
    pub(super) database: PathBuf,
    pub(super) chain: PathBuf,
}

impl Staging {
    pub(super) fn new(database: &Path, data: &Path) -> Result<Self> {
        // Other instances may have their databases in the same folder.
        let prefix = staging_prefix(data)?;
        let name = format!("{prefix}{}", &random_id()?[..8]);
        let folders = Self { database: parent(database).join(&name), chain: data.join(&name) };
        for folder in [parent(database), data] {
            remove_abandoned(folder, &prefix)?;
        }
        make_private_folder(&folders.database)?;
        if !folders.chain.exists() {
            make_private_folder(&folders.chain)?;
        }
        Ok(folders)
    }

    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let mut folders = vec![self.database.clone(), self.chain.clone()];
        folders.dedup();
        folders
    }
}

/// Of the restores into a data folder.
fn staging_prefix(data: &Path) -> Result<String> {
    let data = data.canonicalize().with_context(|| format!("{} cannot be read", data.display()))?;
    let digest = aws_lc_rs::digest::digest(&aws_lc_rs::digest::SHA256, data.as_os_str().as_encoded_bytes());
    Ok(format!("{STAGING_PREFIX}{}-", hex::encode(&digest.as_ref()[..4])))
}

/// Removes staging folders of restores that failed before the exchange.
fn remove_abandoned(folder: &Path, prefix: &str) -> Result<()> {
    for entry in std::fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(prefix) {
            std::fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}
