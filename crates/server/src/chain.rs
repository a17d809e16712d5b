//! The configured chain: its node, keys and writer, and the commands for operators.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use portico_app::audit::Anchor;
use portico_app::chain::ChainWriter;
use portico_app::clock::{CalendarClock, Clock, SystemClock};
use portico_app::{Actor, Profile};
use portico_chain::catch_up::{self, CatchUpSummary};
use portico_chain::contracts::{Contracts, ItemKind};
use portico_chain::deploy::{self, DeployOptions};
use portico_chain::embedded::{Address, Embedded, Genesis, U256};
use portico_chain::remote::Remote;
use portico_chain::signer::Key;
use portico_chain::writer::{Engine, NoFailpoints, Settings, Writer};
use portico_chain::{AnyNode, Error, Node, binding, orphans, reads, reconcile, setup};
use portico_domain::Timestamp;
use portico_store::audit::{Append, Entry, RESTORED, superseding};
use portico_store::chain::Word;
use portico_store::{Db, Role};

use crate::config::ChainUrl;
use crate::config::Config;
use crate::tell;

/// The usual id of development chains.
const EMBEDDED_CHAIN_ID: u64 = 31337;
/// 2026-01-01, in seconds since 1970.
const EMBEDDED_GENESIS_TIME: u64 = 1_767_225_600;

/// For the writer's timers and leases.
fn now() -> Timestamp {
    SystemClock.now()
}

/// For commands. They can ignore a moved sandbox clock, since block timestamps never decrease.
fn machine_clock() -> CalendarClock {
    CalendarClock::new(Arc::new(SystemClock))
}

fn keys(config: &Config) -> Result<Vec<Key>> {
    let given = &config.chain.keys;
    let texts = match (&config.chain.url, given.is_empty()) {
        (ChainUrl::Embedded, true) => vec![config.data.chain_key()?],
        _ => given.clone(),
    };
    Ok(texts.iter().map(Key::parse).collect::<portico_chain::Result<_>>()?)
}

fn node(config: &Config, keys: &[Key], clock: CalendarClock) -> Result<AnyNode> {
    node_at(config, &config.data.chain(), keys, clock)
}

/// The node; an embedded one is in this file. The genesis of the embedded chain funds the signers.
fn node_at(config: &Config, file: &Path, keys: &[Key], clock: CalendarClock) -> Result<AnyNode> {
    match &config.chain.url {
        ChainUrl::Remote(urls) => Ok(AnyNode::Remote(Remote::new(urls.clone(), config.chain.confirmations)?)),
        ChainUrl::Embedded => {
            config.data.create()?;
            let balance = U256::from(1_000_000_000_u64) * U256::from(10).pow(U256::from(18));
            let alloc: Vec<(Address, U256)> = keys.iter().map(|key| (key.address(), balance)).collect();
            let genesis = Genesis { chain_id: EMBEDDED_CHAIN_ID, timestamp: EMBEDDED_GENESIS_TIME, alloc };
            let seconds = Arc::new(move || u64::try_from(clock.now().micros() / 1_000_000).unwrap_or(0));
            let opened = Embedded::open(file, &genesis, seconds);
            Ok(AnyNode::Embedded(opened.context(
                "the embedded chain cannot be opened (a running server answers at /v1/chain/status instead)",
            )?))
        }
    }
}

fn deploy_options(config: &Config, deploy: bool) -> DeployOptions {
    DeployOptions {
        chain_id: config.chain.id,
        contracts: config.chain.contracts,
        deploy,
        owner: config.chain.owner,
        is_embedded: config.chain.url == ChainUrl::Embedded,
        fee_cap: config.chain.fee_cap,
    }
}

/// Opens the chain and starts the writer. All checks come before the first signature.
pub(crate) async fn open(
    config: &Config,
    profile: Profile,
    db: &Db,
    clock: CalendarClock,
) -> Result<ChainWriter> {
    let keys = keys(config)?;
    let node = node(config, &keys, clock)?;
    let is_embedded = matches!(node, AnyNode::Embedded(_));
    let deploy_options = deploy_options(config, profile == Profile::Sandbox);
    let mut is_reachable = true;
    let found = match setup::establish(&node, db, &keys, &deploy_options).await {
        Err(Error::Unreachable(why)) => {
            let Some(known) = binding::stored_chain(db).await? else {
                bail!("the chain's node does not answer ({why}): check --chain");
            };
            tracing::warn!(why, "the chain's node does not answer; listings are taken and sent later");
            is_reachable = false;
            known
        }
        established => established.context("the chain cannot be used")?,
    };
    if is_embedded {
        check_not_older_than_database(&node, db).await?;
    }
    if is_reachable {
        catch_up_if_behind(&node, db, found.1).await?;
    }
    let settings =
        Settings { fee_cap: config.chain.fee_cap, is_only_process: is_embedded, ..Settings::default() };
    let engine = Engine::new(node, db.clone(), keys, found, settings, Arc::new(NoFailpoints));
    if let Err(error) = engine.follow(now()).await {
        tracing::warn!(%error, "the chain cannot be written at the moment");
    }
    Ok(Writer::start(engine, now()))
}

/// A database that was restored without `portico restore` lacks transactions that the chain has.
async fn catch_up_if_behind(node: &AnyNode, db: &Db, contracts: Contracts) -> Result<()> {
    if !catch_up::is_behind(node, db).await? {
        return Ok(());
    }
    tracing::warn!(
        "the chain has transactions of this service that the database lacks: every item is compared"
    );
    let done = catch_up::catch_up(node, db, contracts, now(), progress).await;
    let CatchUpSummary { compared, raised, again, ended } =
        done.context("the database is behind the chain, and could not catch up")?;
    tracing::info!(compared, raised, again, ended, "the database has caught up with the chain");
    Ok(())
}

fn progress(compared: u64) {
    if compared.is_multiple_of(10_000) {
        tracing::info!(compared, "comparing");
    }
}

/// The result of reconciling a restored database with its chain.
pub(crate) struct Restored {
    /// Version and hash of the audit log's anchor.
    pub(crate) anchored: Option<(u64, Word)>,
    pub(crate) done: CatchUpSummary,
}

/// Brings a restored database up to its chain; an embedded one is in this file. `None`: it has not met a chain.
pub(crate) async fn restored(config: &Config, db: &Db, file: &Path) -> Result<Option<Restored>> {
    if db.chain_identity().await?.is_none() {
        return Ok(None);
    }
    check_url(config, db).await?;
    let node = node_at(config, file, &keys(config)?, machine_clock())?;
    let bound = binding::bound_chain(&node, db, &deploy_options(config, false)).await;
    let Some((_, contracts)) = bound.context("the chain of this backup cannot be used")? else {
        return Ok(None);
    };
    if matches!(node, AnyNode::Embedded(_)) {
        check_not_older_than_database(&node, db).await?;
    }
    let log = match db.audit_key() {
        Some(key) => key.log(),
        None => db.audit_head().await?.log,
    };
    let anchored = reads::anchor(&node, contracts, &log).await?;
    let told = |compared: u64| {
        if compared.is_multiple_of(10_000) {
            tell(&format!("{compared} items are compared with the chain"));
        }
    };
    let done = catch_up::catch_up(&node, db, contracts, now(), told).await?;
    Ok(Some(Restored { anchored, done }))
}

/// Appends a restore to the audit log, with the anchored end of the history that it supersedes.
pub(crate) async fn record_restore(db: &Db, source: &str, superseded: Option<(u64, Word)>) -> Result<()> {
    let detail = match superseded {
        Some((version, hash)) => format!("{source}, anchor {version}; {}", superseding(&[hash])),
        None => format!("{source}, nothing anchored"),
    };
    let entry = Entry {
        at: now(),
        actor: Actor::Operator.audit_name(),
        action: RESTORED,
        subject: source.into(),
        detail,
    };
    db.write(Append(entry)).await.context("the restore could not be put on record")
}

/// The embedded chain loses no blocks: if it lacks a transaction that the database has as final, it is an older copy,
/// and the writer would wait for ever.
async fn check_not_older_than_database(node: &AnyNode, db: &Db) -> Result<()> {
    for signer in db.chain_signers().await? {
        let used = node.nonce(Address::from(signer.address)).await?;
        let last = db.last_final_nonce(signer.id).await?;
        if last.is_some_and(|last| last.unsigned_abs() >= used) {
            bail!(
                "chain.db is older than the database: it has transactions up to nonce {used}, and the database knows \
                 later ones to be final. Put back a copy of chain.db that was made after the database's"
            );
        }
    }
    Ok(())
}

async fn database(config: &Config) -> Result<Db> {
    config.data.create()?;
    let db = Db::open(&config.database, Role::Tool).await.context("the database cannot be opened")?;
    check_url(config, &db).await?;
    Ok(db)
}

/// A command need not be told that the instance is a live one.
async fn check_url(config: &Config, db: &Db) -> Result<()> {
    let profile = db.deployment().await?.profile;
    if profile.as_deref() == Some(Profile::Live.name())
        && let Err(fault) = config.chain.url.check_live()
    {
        bail!("chain {fault}");
    }
    Ok(())
}

/// The audit log's anchor on the chain, if there is one.
pub(crate) async fn audit_anchor(config: &Config, db: &Db, log: &Word) -> Result<Anchor> {
    let Some((_, contracts)) = binding::stored_chain(db).await? else { return Ok(Anchor::Missing) };
    check_url(config, db).await?;
    let node = node(config, &keys(config)?, machine_clock())?;
    let anchor = reads::anchor(&node, contracts, log).await?;
    Ok(anchor.map_or(Anchor::Missing, |(_, head)| Anchor::Entry(head)))
}

/// `portico chain deploy`: deploys the contracts once, and prints the addresses.
pub(crate) async fn deploy(config: &Config) -> Result<String> {
    let (db, keys) = (database(config).await?, keys(config)?);
    let node = node(config, &keys, machine_clock())?;
    let options = deploy_options(config, true);
    let is_new = db.chain_identity().await?.is_none();
    let (chain_id, contracts) = setup::establish(&node, &db, &keys, &options).await?;
    let mut lines = vec![format!("chain              {chain_id}")];
    lines.extend(ItemKind::ALL.map(|kind| format!("{:<19}{}", kind.contract(), contracts.of(kind))));
    let list: Vec<String> = contracts.0.iter().map(ToString::to_string).collect();
    lines.push(format!(
        "\nFor another database on the same contracts:\n  --chain-contracts {}",
        list.join(",")
    ));
    let warning =
        deploy::ownership_warning(&keys, &options).filter(|_| is_new && options.contracts.is_none());
    lines.extend(warning.map(|warning| format!("\nWarning: {warning}")));
    Ok(lines.join("\n"))
}

/// `portico chain status`: the chain's head, contracts and signers, and the queue.
pub(crate) async fn status(config: &Config) -> Result<String> {
    let (db, keys) = (database(config).await?, keys(config)?);
    let node = node(config, &keys, machine_clock())?;
    let head = node.head().await.context("the chain's node does not answer")?;
    let (chain_id, backlog) = (node.chain_id().await?, db.chain_backlog().await?);
    let mut lines = vec![
        format!("chain              {chain_id}"),
        format!("head               {} {}", head.number, head.hash),
    ];
    match binding::bound_chain(&node, &db, &deploy_options(config, false)).await? {
        None => {
            lines.push("contracts          none: run `portico chain deploy`, or start the sandbox".into());
        }
        Some((_, contracts)) => {
            lines.extend(ItemKind::ALL.map(|kind| format!("{:<19}{}", kind.contract(), contracts.of(kind))));
        }
    }
    for row in db.chain_signers().await? {
        let address = Address::from(row.address);
        let balance = node.balance(address).await?;
        lines.push(format!(
            "signer             {address} next nonce {} balance {balance} wei",
            row.next_nonce
        ));
    }
    lines.push(format!(
        "items              {} waiting, {} signed, {} refused",
        backlog.waiting, backlog.signed, backlog.failed
    ));
    Ok(lines.join("\n"))
}

/// `portico chain reconcile`: compares every item with the chain; `repair` queues the different ones again.
pub(crate) async fn reconcile(config: &Config, repair: bool) -> Result<String> {
    let (db, keys) = (database(config).await?, keys(config)?);
    let node = node(config, &keys, machine_clock())?;
    let Some((_, contracts)) = binding::bound_chain(&node, &db, &deploy_options(config, false)).await? else {
        bail!("this database has not met a chain yet: nothing to compare");
    };
    let at = repair.then(now);
    let found = reconcile::reconcile(&node, &db, contracts, at, progress).await?;
    for (label, items) in [("differs", &found.different), ("refused", &found.refused)] {
        for (contract, key) in items {
            tell(&format!("{label}: {contract} {}", hex::encode_prefixed(key)));
        }
    }
    let unknown = unknown_records(&node, &db, contracts, &keys, at).await?;
    let summary = format!(
        "{} compared, {} unknown to the database, {} on their way, {} different, {} refused by the chain",
        found.compared,
        unknown,
        found.in_flight,
        found.different.len(),
        found.refused.len()
    );
    match (found.different.is_empty() && found.refused.is_empty() && unknown == 0, repair) {
        (true, _) => Ok(summary),
        (false, true) => Ok(format!("{summary}: sent by the running server or the next start")),
        (false, false) => bail!(
            "{summary}: run `portico chain reconcile --repair` to record again what differs, and to retire, revoke or \
             clear what the database does not know"
        ),
    }
}

/// Shows the records that the database does not know, and ends them if `end_at` is given; returns how many are ours.
async fn unknown_records(
    node: &AnyNode,
    db: &Db,
    contracts: Contracts,
    keys: &[Key],
    end_at: Option<Timestamp>,
) -> Result<usize> {
    let signers: Vec<Address> = keys.iter().map(Key::address).collect();
    let orphans = match orphans::find(node, db, contracts, &signers, |_, _| ()).await {
        // Not every node keeps events, and not for ever.
        Err(Error::Refused(why)) => {
            tell(&format!("records that the database does not know were not searched: the node says {why}"));
            return Ok(0);
        }
        found => found.context("the contracts' events cannot be read")?,
    };
    let mut ours = 0;
    for orphan in &orphans {
        let (contract, key) = (orphan.kind.contract(), hex::encode_prefixed(orphan.key));
        match (orphan.is_ours, orphan.kind) {
            (true, ItemKind::Anchor) => {
                tell(&format!("unknown: {contract} {key} (anchor of another audit log; it stays)"));
            }
            (true, _) => {
                ours += 1;
                tell(&format!("unknown: {contract} {key}"));
            }
            (false, _) => tell(&format!(
                "unknown: {contract} {key} (by {}, which is not ours; it stays)",
                orphan.signer
            )),
        }
    }
    if let Some(at) = end_at {
        orphans::end(db, &orphans, at).await?;
    }
    Ok(ours)
}
