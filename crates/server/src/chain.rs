//! The configured chain, and the commands about it.

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use portico_app::chain::{Contracts, ItemKind, Key};
use portico_app::chain_admin::{ChainAdmin, ChainLocation, ChainSettings, Deployed, Orphan};
use portico_app::clock::CalendarClock;
use portico_app::{Database, Profile, Role};

use crate::config::{ChainUrl, Config};
use crate::database::{OPERATOR, database, machine_clock};
use crate::tell;

/// The configured chain; an embedded one is in this file.
fn settings(config: &Config, file: PathBuf) -> Result<ChainSettings> {
    let chain = &config.chain;
    let (location, texts) = match &chain.url {
        ChainUrl::Remote(urls) => {
            let (urls, confirmations) = (urls.clone(), chain.confirmations);
            (ChainLocation::Remote { urls, confirmations }, chain.keys.clone())
        }
        ChainUrl::Embedded => {
            config.data.create()?;
            let own = || Ok::<_, anyhow::Error>(vec![config.data.chain_key()?]);
            let texts = if chain.keys.is_empty() { own()? } else { chain.keys.clone() };
            (ChainLocation::Embedded(file), texts)
        }
    };
    let keys = texts.iter().map(|text| Key::parse(text).map_err(portico_app::Error::from));
    let (id, contracts, owner, fee_cap) = (chain.id, chain.contracts, chain.owner, chain.fee_cap);
    Ok(ChainSettings { location, id, contracts, owner, keys: keys.collect::<Result<_, _>>()?, fee_cap })
}

/// The chain of a server.
pub(crate) fn connect(config: &Config, database: &Database, clock: CalendarClock) -> Result<ChainAdmin> {
    let settings = settings(config, config.data.chain())?;
    Ok(ChainAdmin::connect(&OPERATOR, database, settings, clock)?)
}

/// The chain of a command, which need not be told that the instance is a live one. An embedded one is in this file.
pub(crate) async fn admin(config: &Config, database: &Database, file: PathBuf) -> Result<ChainAdmin> {
    if database.profile().await? == Some(Profile::Live)
        && let Err(fault) = config.chain.url.check_live()
    {
        bail!("chain {fault}");
    }
    // A command can ignore a moved sandbox clock, since block timestamps never decrease.
    Ok(ChainAdmin::connect(&OPERATOR, database, settings(config, file)?, machine_clock())?)
}

async fn configured(config: &Config) -> Result<ChainAdmin> {
    let database = database(config, Role::Tool).await?;
    admin(config, &database, config.data.chain()).await
}

fn contract_lines(contracts: Contracts) -> [String; 4] {
    ItemKind::ALL.map(|kind| format!("{:<19}{}", kind.contract(), contracts.of(kind)))
}

/// `portico chain deploy`: deploys the contracts once, and prints the addresses.
pub(crate) async fn deploy(config: &Config) -> Result<String> {
    let Deployed { chain_id, contracts, warning } = configured(config).await?.deploy().await?;
    let mut lines = vec![format!("chain              {chain_id}")];
    lines.extend(contract_lines(contracts));
    let list: Vec<String> = contracts.0.iter().map(ToString::to_string).collect();
    lines.push(format!(
        "\nFor another database on the same contracts:\n  --chain-contracts {}",
        list.join(",")
    ));
    lines.extend(warning.map(|warning| format!("\nWarning: {warning}")));
    Ok(lines.join("\n"))
}

/// `portico chain status`: the chain's head, contracts and signers, and the queue.
pub(crate) async fn status(config: &Config) -> Result<String> {
    let status = configured(config).await?.status().await?;
    let mut lines = vec![
        format!("chain              {}", status.chain_id),
        format!("head               {} {}", status.head.number, status.head.hash),
    ];
    match status.contracts {
        None => {
            lines.push("contracts          none: run `portico chain deploy`, or start the sandbox".into());
        }
        Some(contracts) => lines.extend(contract_lines(contracts)),
    }
    for (address, nonce, balance) in status.signers {
        lines.push(format!("signer             {address} next nonce {nonce} balance {balance} wei"));
    }
    let backlog = status.backlog;
    lines.push(format!(
        "items              {} waiting, {} signed, {} refused",
        backlog.waiting, backlog.signed, backlog.rejected
    ));
    Ok(lines.join("\n"))
}

/// `portico chain reconcile`: compares every item with the chain; `repair` queues the different ones again.
pub(crate) async fn reconcile(config: &Config, repair: bool) -> Result<String> {
    let compared = configured(config).await?.reconcile(repair).await?;
    let compared = compared.context("this database has not met a chain yet: nothing to compare")?;
    let found = &compared.findings;
    for (label, items) in [("differs", &found.different), ("refused", &found.rejected)] {
        for (contract, key) in items {
            tell(&format!("{label}: {contract} {}", hex::encode_prefixed(key)));
        }
    }
    match &compared.orphans {
        Ok(orphans) => orphans.iter().for_each(tell_unknown),
        Err(why) => {
            tell(&format!("records that the database does not know were not searched: the node says {why}"));
        }
    }
    let unknown = compared.unknown();
    let summary = format!(
        "{} compared, {} unknown to the database, {} on their way, {} different, {} refused by the chain",
        found.compared,
        unknown,
        found.in_flight,
        found.different.len(),
        found.rejected.len()
    );
    match (found.different.is_empty() && found.rejected.is_empty() && unknown == 0, repair) {
        (true, _) => Ok(summary),
        (false, true) => Ok(format!("{summary}: sent by the running server or the next start")),
        (false, false) => bail!(
            "{summary}: run `portico chain reconcile --repair` to record again what differs, and to retire, revoke or \
             clear what the database does not know"
        ),
    }
}

fn tell_unknown(orphan: &Orphan) {
    let stays = match (orphan.is_ours, orphan.kind) {
        (true, ItemKind::Anchor) => " (anchor of another audit log; it stays)".to_owned(),
        (true, _) => String::new(),
        (false, _) => format!(" (by {}, which is not ours; it stays)", orphan.signer),
    };
    tell(&format!("unknown: {} {}{stays}", orphan.kind.contract(), hex::encode_prefixed(orphan.key)));
}
