//! Replaces the `ApplicationChecks` of versions before 0.3, whose flags have no expiry, by this version's.
//!
//! A crash leaves either the old contract bound, with some of its flags cleared, or the new one; running it again
//! finishes. A contract that was deployed and not bound is forgotten and costs its gas. Nothing else may sign
//! meanwhile: all leases are taken, and binding the new contract checks that they still hold.

use std::time::Duration;

use alloy_primitives::{Address, B256, Bytes, TxKind};
use alloy_sol_types::SolCall;
use portico_store::Db;
use portico_store::chain::{
    BatchStatus, ChainIdentity, ItemStatus, Lease, ListedItem, RaiseNonce, ReleaseLease,
    ReplaceChecksContract, SignerRow, TakeLease,
};

use crate::binding::{CHECKS_VERSION, bound_identity, contracts_of, identity_of};
use crate::contracts::{Contracts, ItemKind, former_checks};
use crate::deploy::{DeployOptions, MAX_POLLS, POLL_INTERVAL, deploy_contract, price, send};
use crate::node::Node;
use crate::signer::{CallSigner, Key, gas};
use crate::writer::{Failpoint, FailpointHook, NoFailpoints};
use crate::{Error, Result};

/// Flags per transaction. On the old contract all flags of a person carry one reference: clearing them together
/// reveals nothing new.
const FLAGS_PER_CALL: usize = 128;
const ITEMS_PER_PAGE: i64 = 128;
/// A live holder of a lease renews it several times within this time.
const MAX_LEASE_POLLS: u32 = 24;
const LEASE_POLL_INTERVAL: Duration = Duration::from_millis(500);

const ANOTHER_PROCESS: &str =
    "another process signs for this database: stop every server that uses it, then start again";

/// What was done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Migration {
    pub from: Address,
    pub to: Address,
    /// How many flags were cleared on the old contract now; those of an interrupted run do not count.
    pub cleared: usize,
}

/// `None`: there was nothing to do.
pub async fn migrate<N: Node>(
    node: &N,
    db: &Db,
    keys: &[Key],
    options: &DeployOptions,
) -> Result<Option<Migration>> {
    migrate_with_failpoints(node, db, keys, options, &NoFailpoints).await
}

/// The same; tests let it fail before and after each step.
pub async fn migrate_with_failpoints<N: Node>(
    node: &N,
    db: &Db,
    keys: &[Key],
    options: &DeployOptions,
    failpoints: &dyn FailpointHook,
) -> Result<Option<Migration>> {
    let Some(from) = db.chain_identity().await?.filter(|known| known.checks_version < CHECKS_VERSION) else {
        return Ok(None);
    };
    bound_identity(node, &from, options).await?;
    check_former_contract(node, &from).await?;
    let key = keys.first().ok_or_else(|| Error::Setup("a chain needs a key to sign with".into()))?;
    let leases = take_leases(node, db, key, options.is_embedded).await?;
    let migration = Steps { node, db, keys, options, key, from, leases: &leases, failpoints };
    let outcome = migration.run().await;
    if !options.is_embedded {
        for lease in &leases {
            db.write(ReleaseLease(*lease)).await?;
        }
    }
    outcome
}

async fn check_former_contract<N: Node>(node: &N, bound: &ChainIdentity) -> Result<()> {
    let address = contracts_of(bound)?.of(ItemKind::Check);
    if ItemKind::Check.is_former(&node.code(address).await?) {
        return Ok(());
    }
    Err(Error::Setup(format!(
        "at {address} there is not the ApplicationChecks that this database was used with: use the chain where it was, \
         or another database"
    )))
}

/// Takes the leases of all signers, and of the key's account even if it has not signed yet.
async fn take_leases<N: Node>(node: &N, db: &Db, key: &Key, is_only_process: bool) -> Result<Vec<Lease>> {
    let mut seen = db.chain_signers().await?;
    let is_held = |row: &SignerRow| !is_only_process && row.epoch > 0 && row.beat >= 0;
    if seen.iter().any(is_held) {
        for _ in 0..MAX_LEASE_POLLS {
            tokio::time::sleep(LEASE_POLL_INTERVAL).await;
            if db.chain_signers().await?.iter().map(holder).ne(seen.iter().map(holder)) {
                return Err(Error::Setup(ANOTHER_PROCESS.into()));
            }
        }
    }
    let address = key.address().0.0;
    if !seen.iter().any(|row| row.address == address) {
        let next_nonce = i64::try_from(node.nonce(key.address()).await?).unwrap_or(i64::MAX);
        seen.push(SignerRow { id: 0, address, epoch: 0, beat: 0, next_nonce });
    }
    let mut leases = Vec::with_capacity(seen.len());
    for row in seen {
        let take =
            TakeLease { address: row.address, seen: (row.epoch, row.beat), first_nonce: row.next_nonce };
        let taken = db.write(take).await?.ok_or_else(|| Error::Setup(ANOTHER_PROCESS.into()))?;
        leases.push(Lease { signer: taken.id, epoch: taken.epoch });
    }
    Ok(leases)
}

fn holder(row: &SignerRow) -> (i64, i64, i64) {
    (row.id, row.epoch, row.beat)
}

struct Steps<'m, N> {
    node: &'m N,
    db: &'m Db,
    keys: &'m [Key],
    options: &'m DeployOptions,
    key: &'m Key,
    from: ChainIdentity,
    leases: &'m [Lease],
    failpoints: &'m dyn FailpointHook,
}

impl<N: Node> Steps<'_, N> {
    async fn run(&self) -> Result<Option<Migration>> {
        let mut contracts = contracts_of(&self.from)?;
        let former = contracts.of(ItemKind::Check);
        self.deliver_signed().await?;
        let cleared = self.clear_flags(contracts).await?;
        let signer = self.signer(contracts).await?;
        let deployed =
            deploy_contract(self.node, &signer, self.keys, self.options, ItemKind::Check, self.failpoints)
                .await?;
        contracts.0[2] = deployed;
        self.skip_used_nonces().await?;
        let to = identity_of((self.from.chain_id.unsigned_abs(), self.from.genesis.into()), contracts)?;
        let bind = ReplaceChecksContract {
            leases: self.leases.to_vec(),
            from: self.from.clone(),
            to,
            kind: ItemKind::Check.number(),
        };
        self.failpoints.at(Failpoint::Writing)?;
        let is_bound = self.db.write(bind).await.map_err(|error| match error {
            portico_store::Error::LeaseLost => Error::Setup(ANOTHER_PROCESS.into()),
            other => other.into(),
        })?;
        self.failpoints.at(Failpoint::Written)?;
        tracing::info!(from = %former, to = %deployed, cleared, "ApplicationChecks was replaced");
        Ok(is_bound.then_some(Migration { from: former, to: deployed, cleared }))
    }

    async fn signer(&self, contracts: Contracts) -> Result<CallSigner> {
        let (chain_id, price) = (self.node.chain_id().await?, price(self.node, self.options.fee_cap).await?);
        Ok(CallSigner { key: self.key.clone(), chain_id, contracts, price })
    }

    /// Sends what was signed for our account before: the nonces after that are free. The writer finds the receipts
    /// later.
    async fn deliver_signed(&self) -> Result<()> {
        let account = self.key.address();
        let rows = self.db.chain_signers().await?;
        let Some(row) = rows.into_iter().find(|row| row.address == account.0.0) else { return Ok(()) };
        let mut unmined = self.db.open_batches(row.id).await?;
        unmined.retain(|batch| batch.status == BatchStatus::Signed);
        for attempt in unmined.iter().filter_map(|batch| batch.attempts.last()) {
            if let Err(Error::Refused(why)) = self.node.send(&attempt.raw).await {
                tracing::warn!(why, "the node refused a transaction");
            }
        }
        for _ in 0..MAX_POLLS {
            if self.node.nonce(account).await? >= row.next_nonce.unsigned_abs() {
                return Ok(());
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        Err(Error::Setup(format!(
            "transactions of {account} are not mined yet: start again in a moment, with a higher --chain-fee-cap if they \
             pay too little"
        )))
    }

    /// Clears every flag that the old contract still has, each as its next version.
    async fn clear_flags(&self, contracts: Contracts) -> Result<usize> {
        let (mut after, mut cleared) = (Vec::new(), 0);
        loop {
            let kind = ItemKind::Check.number();
            let page = self.db.chain_items_after(kind, &after, ITEMS_PER_PAGE).await?;
            let Some(last) = page.last() else { return Ok(cleared) };
            after = last.item.key.to_vec();
            let items = self.uncleared(contracts, &page).await?;
            for items in items.chunks(FLAGS_PER_CALL) {
                self.clear(contracts, items.to_vec()).await?;
                cleared += items.len();
            }
        }
    }

    async fn uncleared(&self, contracts: Contracts, page: &[ListedItem]) -> Result<Vec<former_checks::Item>> {
        let pair = |listed: &ListedItem| -> Result<former_checks::Pair> {
            let word = |at: usize| listed.item.payload.get(at..at + 32).map(B256::from_slice);
            let (listing, applicant) = word(0).zip(word(32)).ok_or_else(|| {
                Error::Bug(format!("an application's item is {} bytes long", listed.item.payload.len()))
            })?;
            Ok(former_checks::Pair { listing, applicant })
        };
        let pairs: Vec<_> = page.iter().map(pair).collect::<Result<_>>()?;
        let call = former_checks::recordsOfCall { pairs: pairs.clone() };
        let answer =
            self.node.call(Address::ZERO, contracts.of(ItemKind::Check), call.abi_encode().into()).await?;
        let records = former_checks::recordsOfCall::abi_decode_returns(&answer)
            .map_err(|error| Error::Refused(format!("the old contract's answer makes no sense: {error}")))?;
        let item = |((listed, pair), record): ((&ListedItem, former_checks::Pair), former_checks::Record)| {
            let version = listed.item.version.unsigned_abs();
            let has_flags = record.version > 0 && !record.cleared;
            // Of another account: it may be mined later, and must come too late.
            let is_unmined = listed.status == ItemStatus::Signed && record.version < version;
            (has_flags || is_unmined).then_some(former_checks::Item {
                listing: pair.listing,
                applicant: pair.applicant,
                version: version.max(record.version) + 1,
                cleared: true,
                flags: 0,
            })
        };
        Ok(page.iter().zip(pairs).zip(records).filter_map(item).collect())
    }

    async fn clear(&self, contracts: Contracts, items: Vec<former_checks::Item>) -> Result<()> {
        let (account, to) = (self.key.address(), contracts.of(ItemKind::Check));
        let gas_limit = gas(ItemKind::Check, items.len());
        let data: Bytes = former_checks::recordCall { items }.abi_encode().into();
        // A call that would revert is not sent.
        match self.node.call(account, to, data.clone()).await {
            Err(Error::Reverted(_)) => {
                return Err(Error::Setup(format!(
                    "the signer {account} may not record in ApplicationChecks: its owner must grant it RECORDER_ROLE"
                )));
            }
            answered => drop(answered?),
        }
        let signer = self.signer(contracts).await?;
        let receipt = send(self.node, &signer, (TxKind::Call(to), gas_limit, data), self.failpoints).await?;
        if !receipt.success {
            return Err(Error::Setup("the old flags could not be cleared: the chain undid the call".into()));
        }
        Ok(())
    }

    /// So that the writer does not take these transactions for foreign ones.
    async fn skip_used_nonces(&self) -> Result<()> {
        let used = i64::try_from(self.node.nonce(self.key.address()).await?).unwrap_or(i64::MAX);
        let rows = self.db.chain_signers().await?;
        let row = rows.into_iter().find(|row| row.address == self.key.address().0.0);
        let lease = row.and_then(|row| self.leases.iter().find(|lease| lease.signer == row.id));
        if let Some(lease) = lease {
            self.db.write(RaiseNonce { lease: *lease, to: used }).await?;
        }
        Ok(())
    }
}
