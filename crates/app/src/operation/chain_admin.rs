//! The configured chain for an operator: starting the writer, deploying, comparing, and catching up.

use std::path::PathBuf;
use std::sync::Arc;

use portico_chain::catch_up::{self, CatchUpSummary};
use portico_chain::contracts::{Contracts, ItemKind};
use portico_chain::deploy::{self, DeployOptions};
use portico_chain::embedded::{Address, Embedded, Genesis, U256};
use portico_chain::node::Block;
pub use portico_chain::orphans::Orphan;
use portico_chain::reconcile::{self, ReconcileSummary};
use portico_chain::remote::Remote;
use portico_chain::signer::Key;
use portico_chain::writer::{Engine, NoFailpoints, Writer, WriterSettings};
use portico_chain::{AnyNode, Error as ChainError, Node, binding, orphans, reads, setup};
use portico_domain::Timestamp;
use portico_store::Db;
use portico_store::chain::{Backlog, Word};

use super::audit::Anchor;
use super::chain::ChainWriter;
use crate::caller::{CallContext, require_operator};
use crate::clock::{CalendarClock, Clock as _, SystemClock};
use crate::database::{Database, failed};
use crate::error::{Error, Result};
use crate::profile::Profile;

/// The usual id of development chains.
const EMBEDDED_CHAIN_ID: u64 = 31337;
/// 2026-01-01, in seconds since 1970.
const EMBEDDED_GENESIS_TIME: u64 = 1_767_225_600;
const UNUSABLE: &str = "the chain cannot be used";

#[derive(Debug, Clone)]
pub enum ChainLocation {
    /// In this file.
    Embedded(PathBuf),
    Remote {
        urls: Vec<String>,
        confirmations: u64,
    },
}

/// How an instance reaches its chain and signs.
#[derive(Debug)]
pub struct ChainSettings {
    pub location: ChainLocation,
    /// The expected chain id.
    pub id: Option<u64>,
    pub contracts: Option<Contracts>,
    /// The owner of contracts that are deployed. `None`: the first key's account.
    pub owner: Option<Address>,
    pub keys: Vec<Key>,
    /// The highest fee per gas, in wei.
    pub fee_cap: u64,
}

/// Only an operator connects, so its methods need no caller.
#[derive(Debug)]
pub struct ChainAdmin {
    db: Db,
    node: AnyNode,
    keys: Vec<Key>,
    options: DeployOptions,
}

#[derive(Debug)]
pub struct Deployed {
    pub chain_id: u64,
    pub contracts: Contracts,
    /// What is not safe about who owns new contracts.
    pub warning: Option<String>,
}

#[derive(Debug)]
pub struct NodeStatus {
    pub chain_id: u64,
    pub head: Block,
    /// `None`: none are deployed.
    pub contracts: Option<Contracts>,
    /// Address, next nonce and balance of each signer.
    pub signers: Vec<(Address, i64, U256)>,
    pub backlog: Backlog,
}

/// The database compared with the chain.
#[derive(Debug)]
pub struct Reconciliation {
    pub findings: ReconcileSummary,
    /// Records that the database does not know. `Err`: why the node does not give the contracts' events.
    pub orphans: Result<Vec<Orphan>, String>,
}

/// A restored database that has caught up with its chain.
#[derive(Debug)]
pub struct RestoredChain {
    /// Version and hash of the audit log's anchor.
    pub anchored: Option<(u64, Word)>,
    pub summary: CatchUpSummary,
}

/// For the writer's timers and leases.
fn now() -> Timestamp {
    SystemClock.now()
}

fn log_progress(compared: u64) {
    if compared.is_multiple_of(10_000) {
        tracing::info!(compared, "comparing");
    }
}

/// The genesis of the embedded chain funds the signers.
fn open_node(location: ChainLocation, keys: &[Key], clock: CalendarClock) -> Result<AnyNode> {
    let file = match location {
        ChainLocation::Remote { urls, confirmations } => {
            return Ok(AnyNode::Remote(Remote::new(urls, confirmations)?));
        }
        ChainLocation::Embedded(file) => file,
    };
    let balance = U256::from(1_000_000_000_u64) * U256::from(10).pow(U256::from(18));
    let alloc: Vec<(Address, U256)> = keys.iter().map(|key| (key.address(), balance)).collect();
    let genesis = Genesis { chain_id: EMBEDDED_CHAIN_ID, timestamp: EMBEDDED_GENESIS_TIME, alloc };
    let seconds = Arc::new(move || u64::try_from(clock.now().micros() / 1_000_000).unwrap_or(0));
    Embedded::open(&file, &genesis, seconds).map(AnyNode::Embedded).map_err(failed(
        "the embedded chain cannot be opened (a running server answers at /v1/chain/status instead)",
    ))
}

impl ChainAdmin {
    pub fn connect(
        call: &CallContext,
        database: &Database,
        settings: ChainSettings,
        clock: CalendarClock,
    ) -> Result<Self> {
        require_operator(&call.actor)?;
        let ChainSettings { location, id, contracts, owner, keys, fee_cap } = settings;
        let is_embedded = matches!(location, ChainLocation::Embedded(_));
        let node = open_node(location, &keys, clock)?;
        let options = DeployOptions { chain_id: id, contracts, deploy: false, owner, is_embedded, fee_cap };
        Ok(Self { db: database.0.clone(), node, keys, options })
    }

    async fn bound_contracts(&self) -> Result<Option<Contracts>> {
        let bound = binding::bound_chain(&self.node, &self.db, &self.options).await;
        Ok(bound.map_err(failed(UNUSABLE))?.map(|(_, contracts)| contracts))
    }

    /// Starts the writer; a sandbox deploys its contracts. All checks come before the first signature.
    pub async fn start_writer(self, profile: Profile) -> Result<ChainWriter> {
        let Self { db, node, keys, options } = &self;
        let options = DeployOptions { deploy: profile == Profile::Sandbox, ..options.clone() };
        let mut is_reachable = true;
        let found = match setup::establish(node, db, keys, &options).await {
            Err(ChainError::Unreachable(why)) => {
                let Some(known) = binding::stored_chain(db).await? else {
                    let why = format!("the chain's node does not answer ({why}): check --chain");
                    return Err(Error::Setup(why));
                };
                tracing::warn!(why, "the chain's node does not answer; listings are taken and sent later");
                is_reachable = false;
                known
            }
            established => established.map_err(failed(UNUSABLE))?,
        };
        self.check_not_older_than_database().await?;
        if is_reachable {
            self.catch_up_if_behind(found.1).await?;
        }
        let Self { db, node, keys, options } = self;
        let settings = WriterSettings {
            fee_cap: options.fee_cap,
            is_only_process: options.is_embedded,
            ..WriterSettings::default()
        };
        let engine = Engine::new(node, db, keys, found, settings, Arc::new(NoFailpoints));
        if let Err(error) = engine.follow(now()).await {
            tracing::warn!(%error, "the chain cannot be written at the moment");
        }
        Ok(Writer::start(engine, now()))
    }

    /// A database that was restored without `portico restore` lacks transactions that the chain has.
    async fn catch_up_if_behind(&self, contracts: Contracts) -> Result<()> {
        if !catch_up::is_behind(&self.node, &self.db).await? {
            return Ok(());
        }
        tracing::warn!(
            "the chain has transactions of this service that the database lacks: every item is compared"
        );
        let done = catch_up::catch_up(&self.node, &self.db, contracts, now(), log_progress).await;
        let CatchUpSummary { compared, raised, again, ended, rejected } =
            done.map_err(failed("the database is behind the chain, and could not catch up"))?;
        tracing::info!(compared, raised, again, ended, rejected, "the database has caught up with the chain");
        Ok(())
    }

    /// The embedded chain loses no blocks: if it lacks a transaction that the database has as final, it is an older
    /// copy, and the writer would wait for ever.
    async fn check_not_older_than_database(&self) -> Result<()> {
        if !self.options.is_embedded {
            return Ok(());
        }
        for signer in self.db.chain_signers().await? {
            let used = self.node.nonce(Address::from(signer.address)).await?;
            let last = self.db.last_final_nonce(signer.id).await?;
            if last.is_some_and(|last| last.unsigned_abs() >= used) {
                return Err(Error::Setup(format!(
                    "chain.db is older than the database: it has transactions up to nonce {used}, and the database \
                     knows later ones to be final. Put back a copy of chain.db that was made after the database's"
                )));
            }
        }
        Ok(())
    }

    /// Brings a restored database up to its chain. `None`: it has not met a chain.
    pub async fn catch_up_restored(&self, progress: impl FnMut(u64)) -> Result<Option<RestoredChain>> {
        let Some(contracts) = self.bound_contracts().await? else { return Ok(None) };
        self.check_not_older_than_database().await?;
        let log = match self.db.audit_key() {
            Some(key) => key.log(),
            None => self.db.audit_head().await?.log,
        };
        let anchored = reads::anchor(&self.node, contracts, &log).await?;
        let summary = catch_up::catch_up(&self.node, &self.db, contracts, now(), progress).await?;
        Ok(Some(RestoredChain { anchored, summary }))
    }

    /// The audit log's anchor on the chain, if there is one.
    pub async fn audit_anchor(&self, log: &Word) -> Result<Anchor> {
        let Some((_, contracts)) = binding::stored_chain(&self.db).await? else { return Ok(Anchor::Missing) };
        let anchor = reads::anchor(&self.node, contracts, log).await?;
        Ok(anchor.map_or(Anchor::Missing, |(_, head)| Anchor::Entry(head)))
    }

    /// Deploys the contracts, once for a database.
    pub async fn deploy(&self) -> Result<Deployed> {
        let options = DeployOptions { deploy: true, ..self.options.clone() };
        let is_new = self.db.chain_identity().await?.is_none();
        let (chain_id, contracts) = setup::establish(&self.node, &self.db, &self.keys, &options).await?;
        let warning = deploy::ownership_warning(&self.keys, &options);
        let warning = warning.filter(|_| is_new && options.contracts.is_none());
        Ok(Deployed { chain_id, contracts, warning })
    }

    /// The chain's head, contracts and signers, and the queue.
    pub async fn status(&self) -> Result<NodeStatus> {
        let head = self.node.head().await?;
        let mut signers = Vec::new();
        for row in self.db.chain_signers().await? {
            let address = Address::from(row.address);
            signers.push((address, row.next_nonce, self.node.balance(address).await?));
        }
        Ok(NodeStatus {
            chain_id: self.node.chain_id().await?,
            head,
            contracts: self.bound_contracts().await?,
            signers,
            backlog: self.db.chain_backlog().await?,
        })
    }

    /// Compares every item with the chain. `repair` queues what differs again, and ends what the database does not
    /// know. `None`: the database has not met a chain.
    pub async fn reconcile(&self, repair: bool) -> Result<Option<Reconciliation>> {
        let Some(contracts) = self.bound_contracts().await? else { return Ok(None) };
        let Self { db, node, keys, .. } = self;
        let at = repair.then(now);
        let findings = reconcile::reconcile(node, db, contracts, at, log_progress).await?;
        let signers: Vec<Address> = keys.iter().map(Key::address).collect();
        let orphans = match orphans::find(node, db, contracts, &signers, |_, _| ()).await {
            // Not every node keeps events, and not for ever.
            Err(ChainError::Refused(why)) => Err(why),
            found => Ok(found.map_err(failed("the contracts' events cannot be read"))?),
        };
        if let (Some(at), Ok(orphans)) = (at, &orphans) {
            orphans::end(db, orphans, at).await?;
        }
        Ok(Some(Reconciliation { findings, orphans }))
    }
}

impl Reconciliation {
    /// How many records of ours the database does not know. Anchors of other audit logs stay.
    pub fn unknown(&self) -> usize {
        let ours = |orphan: &&Orphan| orphan.is_ours && orphan.kind != ItemKind::Anchor;
        self.orphans.iter().flatten().filter(ours).count()
    }
}
