//! `portico backup` and `portico restore`: copies of the database and the embedded chain at one point in time.
//!
//! A backup is a folder with one file for each of them and a manifest, which is written last. It holds no key: a
//! restored database is read with the keystore that is in use then, which knows the erasures since.

mod create;
mod manifest;
mod postgres;
mod restore;
mod revocations;
mod staging;
mod swap;
mod verify;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use aws_lc_rs::digest::{Context as Digest, SHA256};

pub(crate) use create::create;
pub(crate) use restore::{restore, restore_in_place};
pub(crate) use swap::check_not_interrupted;
pub(crate) use verify::verify;

use crate::tell;

const DATABASE: &str = "portico.db";
const CHAIN: &str = "chain.db";
const BUFFER_BYTES: usize = 1 << 20;

/// Writes a line to stderr now and then.
struct Progress<'a> {
    what: &'a str,
    told: Instant,
}

impl<'a> Progress<'a> {
    const INTERVAL: Duration = Duration::from_secs(2);

    fn new(what: &'a str) -> Self {
        Self { what, told: Instant::now() }
    }

    fn at(&mut self, done: u64, all: u64) {
        if self.told.elapsed() >= Self::INTERVAL {
            self.told = Instant::now();
            tell(&format!("{}: {} %", self.what, done * 100 / all.max(1)));
        }
    }
}

/// Size and SHA-256 of a file; what is read goes to `each`.
fn digest(path: &Path, mut each: impl FnMut(&[u8]) -> std::io::Result<()>) -> Result<(u64, String)> {
    let cannot = || format!("{} cannot be read", path.display());
    let mut file = File::open(path).with_context(cannot)?;
    let all = file.metadata().with_context(cannot)?.len();
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (mut progress, mut digest, mut bytes) = (Progress::new(&name), Digest::new(&SHA256), 0);
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        let read = file.read(&mut buffer).with_context(cannot)?;
        if read == 0 {
            return Ok((bytes, hex::encode(digest.finish().as_ref())));
        }
        digest.update(&buffer[..read]);
        each(&buffer[..read])?;
        bytes += read as u64;
        progress.at(bytes, all);
    }
}

fn sync_folder(path: &Path) -> Result<()> {
    let synced = File::open(path).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("the folder {} cannot be synced", path.display()))
}

/// The folder that contains a path.
fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn make_private_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = std::fs::DirBuilder::new().mode(0o700).create(path);
    made.with_context(|| format!("the folder {} cannot be made", path.display()))
}

/// Random, to tell backups and temporary folders apart.
fn random_id() -> Result<String> {
    let mut id = [0; 16];
    aws_lc_rs::rand::fill(&mut id).map_err(|_| anyhow::anyhow!("no randomness"))?;
    Ok(hex::encode(id))
}
