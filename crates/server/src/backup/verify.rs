//! `portico backup verify`: everything that can be checked without the data folder and its keys.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use portico_chain::embedded::{self, Address};
use portico_store::backup::{Facts, inspect_sqlite, latest_migration, newer};

use super::manifest::{DatabaseMark, EmbeddedChainMark, Engine, Manifest};
use super::postgres::{DUMP, check_dump};
use super::{CHAIN, DATABASE, digest};

/// Proves a backup; fails with the first thing that is wrong.
pub(crate) fn verify(folder: &Path) -> Result<String> {
    let manifest = verified(folder)?;
    let DatabaseMark { migration, audit_seq, profile, .. } = &manifest.database;
    let chain = match &manifest.embedded_chain {
        Some(chain) => format!(", the embedded chain up to block {}", chain.head),
        None => String::new(),
    };
    Ok(format!(
        "backup {} of {} is intact: {} database, version {migration}, profile {}, {audit_seq} audit entries{chain}",
        manifest.id,
        manifest.created_at,
        match manifest.database.engine {
            Engine::Sqlite => "SQLite",
            Engine::Postgres => "PostgreSQL",
        },
        profile.as_deref().unwrap_or("not chosen yet"),
    ))
}

pub(super) fn verified(folder: &Path) -> Result<Manifest> {
    let manifest = Manifest::read(folder)?;
    let latest = latest_migration();
    if manifest.database.migration > latest {
        bail!("the backup cannot be used: {}", newer(manifest.database.migration, latest));
    }
    for file in &manifest.files {
        // The name comes from a file that anybody may have written.
        if ![DATABASE, DUMP, CHAIN].contains(&file.name.as_str()) {
            bail!("the manifest names a file that is not part of a backup");
        }
        let (bytes, sha256) = digest(&folder.join(&file.name), |_| Ok(()))?;
        if bytes != file.bytes {
            bail!("{} is damaged: it has {bytes} bytes, and had {} when it was made", file.name, file.bytes);
        }
        if sha256 != file.sha256 {
            bail!("{} is damaged: its checksum is not the one in the manifest", file.name);
        }
    }
    let facts = match manifest.database.engine {
        Engine::Sqlite => Some(check_sqlite(folder, &manifest)?),
        Engine::Postgres => {
            if !manifest.has(DUMP) {
                bail!("the manifest does not name {DUMP}");
            }
            check_dump(folder)?;
            None
        }
    };
    if let Some(mark) = &manifest.embedded_chain {
        check_chain(folder, mark, facts.as_ref())?;
    }
    Ok(manifest)
}

fn check_sqlite(folder: &Path, manifest: &Manifest) -> Result<Facts> {
    if !manifest.has(DATABASE) {
        bail!("the manifest does not name {DATABASE}");
    }
    let (facts, faults) =
        inspect_sqlite(&folder.join(DATABASE)).with_context(|| format!("{DATABASE} cannot be used"))?;
    if let Some(fault) = faults.first() {
        bail!("{DATABASE} cannot be used: {fault}");
    }
    check_facts(&facts, manifest)?;
    Ok(facts)
}

pub(super) fn check_facts(facts: &Facts, manifest: &Manifest) -> Result<()> {
    let engine = manifest.database.engine;
    let name = if engine == Engine::Sqlite { DATABASE } else { DUMP };
    if DatabaseMark::new(engine, facts) != manifest.database {
        bail!("{name} is not the database that the manifest describes");
    }
    if facts.deployment.keystore.as_ref() != manifest.keystore.as_ref().map(|keystore| &keystore.id) {
        bail!("{name} belongs to another keystore than the manifest says");
    }
    Ok(())
}

fn check_chain(folder: &Path, mark: &EmbeddedChainMark, database: Option<&Facts>) -> Result<()> {
    let signers = database.map(|facts| facts.signers.as_slice()).unwrap_or_default();
    let accounts: Vec<Address> = signers.iter().map(|signer| Address::from(signer.address)).collect();
    let (facts, nonces, faults) = embedded::inspect(&folder.join(CHAIN), &accounts)
        .with_context(|| format!("{CHAIN} cannot be used"))?;
    if let Some(fault) = faults.first() {
        bail!("{CHAIN} is damaged: {fault}");
    }
    if EmbeddedChainMark::from(facts) != *mark {
        bail!("{CHAIN} is not the chain that the manifest describes");
    }
    let lacks = |(signer, used): (&portico_store::backup::SignerFacts, &u64)| {
        signer.last_final.is_some_and(|last| last.unsigned_abs() >= *used)
    };
    if signers.iter().zip(&nonces).any(lacks) {
        bail!("{CHAIN} is older than {DATABASE}, which has later transactions as final");
    }
    Ok(())
}
