//! What a backup says about itself.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use portico_chain::embedded::ChainFacts;
use portico_store::backup::Facts;
use serde::{Deserialize, Serialize};

const NAME: &str = "manifest.json";
const FORMAT: u32 = 1;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    pub(super) format: u32,
    pub(super) id: String,
    pub(super) created_at: String,
    /// The version of portico that made it.
    pub(super) version: String,
    pub(super) database: DatabaseMark,
    /// `None`: no server has used the database yet.
    pub(super) keystore: Option<KeystoreMark>,
    pub(super) embedded_chain: Option<EmbeddedChainMark>,
    pub(super) files: Vec<FileMark>,
}

/// What the database says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DatabaseMark {
    pub(super) engine: Engine,
    pub(super) migration: usize,
    pub(super) profile: Option<String>,
    pub(super) audit_log: String,
    pub(super) audit_seq: i64,
    pub(super) audit_hash: String,
    pub(super) chain: Option<ChainMark>,
    pub(super) signers: Vec<SignerMark>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Engine {
    Sqlite,
    Postgres,
}

/// The chain that the database is bound to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ChainMark {
    pub(super) chain_id: i64,
    pub(super) genesis: String,
    pub(super) contracts: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SignerMark {
    pub(super) address: String,
    pub(super) next_nonce: i64,
}

/// The keystore that the database is sealed with, and its last erasure when the backup began.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct KeystoreMark {
    pub(super) id: String,
    pub(super) erasures: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct EmbeddedChainMark {
    pub(super) chain_id: u64,
    pub(super) genesis: String,
    pub(super) head: u64,
    pub(super) head_hash: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileMark {
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) sha256: String,
}

impl DatabaseMark {
    pub(super) fn new(engine: Engine, facts: &Facts) -> Self {
        let chain = facts.chain.as_ref().map(|chain| ChainMark {
            chain_id: chain.chain_id,
            genesis: hex::encode_prefixed(chain.genesis),
            contracts: chain.contracts.iter().map(hex::encode_prefixed).collect(),
        });
        let signer = |signer: &portico_store::backup::SignerFacts| SignerMark {
            address: hex::encode_prefixed(signer.address),
            next_nonce: signer.next_nonce,
        };
        Self {
            engine,
            migration: facts.migration,
            profile: facts.deployment.profile.clone(),
            audit_log: hex::encode_prefixed(facts.audit.log),
            audit_seq: facts.audit.seq,
            audit_hash: hex::encode_prefixed(facts.audit.hash),
            chain,
            signers: facts.signers.iter().map(signer).collect(),
        }
    }
}

impl From<ChainFacts> for EmbeddedChainMark {
    fn from(facts: ChainFacts) -> Self {
        Self {
            chain_id: facts.chain_id,
            genesis: facts.genesis.to_string(),
            head: facts.head,
            head_hash: facts.head_hash.to_string(),
        }
    }
}

impl Manifest {
    pub(super) fn new(
        id: String,
        created_at: String,
        database: DatabaseMark,
        keystore: Option<KeystoreMark>,
        embedded_chain: Option<EmbeddedChainMark>,
        files: Vec<FileMark>,
    ) -> Self {
        let version = env!("CARGO_PKG_VERSION").into();
        Self { format: FORMAT, id, created_at, version, database, keystore, embedded_chain, files }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.files.iter().any(|file| file.name == name)
    }

    /// Writes the file, which is durable when this returns.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(NAME);
        let cannot = || format!("{} cannot be written", path.display());
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let created = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
        let mut file = created.with_context(cannot)?;
        file.write_all(&text).with_context(cannot)?;
        file.sync_all().with_context(cannot)
    }

    pub(super) fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(NAME);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                bail!("{} is no complete backup: it has no {NAME}, which is written last", folder.display())
            }
            text => text.with_context(|| format!("{} cannot be read", path.display()))?,
        };
        let wrong = || format!("{} is no manifest of a backup", path.display());
        let value: serde_json::Value = serde_json::from_slice(&text).with_context(wrong)?;
        match value["format"].as_u64() {
            Some(format) if format == u64::from(FORMAT) => {}
            Some(format) => {
                bail!("the backup has format {format}, and this portico knows {FORMAT}: use a newer one")
            }
            None => bail!("{}", wrong()),
        }
        serde_json::from_value(value).with_context(wrong)
    }
}
