//! The replacement of an `ApplicationChecks` of versions before 0.3, on databases and chains as they left them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use alloy_primitives::{Address, Bytes, TxKind};
use alloy_sol_types::{SolCall, SolValue as _, sol};
use portico_chain::contracts::{Content, Contracts, ItemKind, check_key};
use portico_chain::deploy::DeployOptions;
use portico_chain::migration::{Migration, migrate_with_failpoints};
use portico_chain::signer::{CallSigner, gas};
use portico_chain::writer::{Failpoint, FailpointHook, NoFailpoints};
use portico_chain::{AnyNode, Error, Node as _, binding, reads, setup};
use portico_store::Db;
use portico_store::chain::{
    AdoptChain, ChainIdentity, DesiredItem, Heartbeat, ItemStatus, Lease, PutItems, ReleaseLease,
    RetireItems, SealWaiting, Sign, SignedTransaction, TakeLease, VersionedItem, Word,
};

use crate::node_fixture::{NodeFixture, follow_all, now};
use crate::samples;

super::on_both_nodes! {
    old_flags_are_cleared_and_the_contract_is_replaced,
    interrupted_migration_is_finished_by_the_next,
    only_an_embedded_chain_migrates_at_the_start,
    live_signer_stops_the_migration,
    former_contracts_without_flags_stay_in_use,
}

sol! {
    interface FormerChecks {
        struct Item { bytes32 listing; bytes32 applicant; uint64 version; bool cleared; uint8 flags; }
        struct Record { uint64 version; bool cleared; uint8 flags; }
        function record(Item[] calldata items) external;
        function recordOf(bytes32 listing, bytes32 applicant) external view returns (Record memory);
    }
}

const LISTING: Word = [6; 32];
const FLAG: u8 = 0b0101;

/// The creation code of a version before 0.3.
fn former_code(kind: ItemKind) -> Bytes {
    let code = match kind {
        ItemKind::Listing => include_str!("../former/ListingRegistry.hex"),
        ItemKind::Identity => include_str!("../former/IdentityToken.hex"),
        ItemKind::Check => include_str!("../former/ApplicationChecks.hex"),
        ItemKind::Anchor => include_str!("../former/AuditAnchor.hex"),
    };
    code.trim().parse().unwrap()
}

/// Signs as versions before 0.3 did.
#[derive(Debug)]
struct FormerSigner(CallSigner);

impl Sign for FormerSigner {
    fn sign(
        &self,
        nonce: i64,
        kind: i64,
        items: &[VersionedItem],
    ) -> portico_store::Result<SignedTransaction> {
        assert_eq!(kind, ItemKind::Check.number());
        let item = |item: &VersionedItem| FormerChecks::Item {
            listing: LISTING.into(),
            applicant: item.payload[32..64].try_into().unwrap(),
            version: item.version.unsigned_abs(),
            cleared: item.payload.len() == 64,
            flags: item.payload.get(64).copied().unwrap_or_default(),
        };
        let data = FormerChecks::recordCall { items: items.iter().map(item).collect() }.abi_encode();
        let (to, gas_limit) = (self.0.contracts.of(ItemKind::Check), gas(ItemKind::Check, items.len()));
        let transaction = self.0.transaction(nonce.unsigned_abs(), TxKind::Call(to), gas_limit, data.into());
        Ok(self.0.key.sign(transaction))
    }
}

fn former_item(applicant: u8, flags: Option<u8>) -> DesiredItem {
    let applicant = [applicant; 32];
    let mut payload = [LISTING, applicant].concat();
    payload.extend(flags);
    let content = Content::Check { listing: LISTING, applicant, flags: None };
    let desired = content.desired(check_key(&LISTING, &applicant), now());
    DesiredItem { payload, deleted: flags.is_none(), batch_limit: 128, ..desired }
}

/// A database and contracts of a version before 0.3, with flags of applicants 1 to 5:
/// 1 is recorded, 2 is signed and not sent, 3 is recorded and its end waits, 4 is recorded and cleared, 5 waits.
struct Former {
    db: Db,
    contracts: Contracts,
}

impl Former {
    async fn new(fixture: &NodeFixture, name: &str) -> Self {
        let db = fixture.database(name).await;
        let mut contracts = Contracts([Address::ZERO; 4]);
        for (at, kind) in ItemKind::ALL.into_iter().enumerate() {
            let account = fixture.key.address();
            let signer = fixture.signer(&fixture.key, contracts).await;
            let data = [former_code(kind).to_vec(), (account, vec![account]).abi_encode_params()].concat();
            let nonce = fixture.node.nonce(account).await.unwrap();
            let transaction = signer.transaction(nonce, TxKind::Create, 6_000_000, data.into());
            let signed = signer.key.sign(transaction);
            fixture.node.send(&signed.raw).await.unwrap();
            contracts.0[at] = fixture.mined(signed.hash).await.contract.unwrap();
        }
        let identity = ChainIdentity {
            chain_id: 31337,
            genesis: fixture.node.genesis().await.unwrap().0,
            contracts: contracts.0.map(|address| address.0.0).to_vec(),
            checks_version: 1,
        };
        db.write(AdoptChain(identity)).await.unwrap();
        let former = Self { db, contracts };
        former.write_flags(fixture).await;
        former
    }

    async fn write_flags(&self, fixture: &NodeFixture) {
        let first_nonce = fixture.node.nonce(fixture.key.address()).await.unwrap().cast_signed();
        let take = TakeLease { address: fixture.key.address().0.0, seen: (0, 0), first_nonce };
        let row = self.db.write(take).await.unwrap().unwrap();
        let lease = Lease { signer: row.id, epoch: row.epoch };
        let put = async |items: Vec<DesiredItem>| self.db.write(PutItems(items)).await.unwrap();
        let retire = async |item| self.db.write(RetireItems(vec![item])).await.unwrap();
        put([1, 3, 4].map(|applicant| former_item(applicant, Some(FLAG))).to_vec()).await;
        self.seal(fixture, lease, true).await;
        retire(former_item(4, None)).await;
        self.seal(fixture, lease, true).await;
        put(vec![former_item(2, Some(FLAG))]).await;
        self.seal(fixture, lease, false).await;
        put(vec![former_item(5, Some(FLAG))]).await;
        retire(former_item(3, None)).await;
        self.db.write(ReleaseLease(lease)).await.unwrap();
    }

    async fn seal(&self, fixture: &NodeFixture, lease: Lease, is_sent: bool) {
        let signer = Arc::new(FormerSigner(fixture.signer(&fixture.key, self.contracts).await));
        let op = SealWaiting { lease, signer, limit: 128, at: now() };
        let batch = self.db.write(op).await.unwrap().unwrap();
        if is_sent {
            fixture.node.send(&batch.signed.raw).await.unwrap();
            assert!(fixture.mined(batch.signed.hash).await.success);
        }
    }

    /// Whether the old contract attests an applicant's flags.
    async fn attests(&self, node: &AnyNode, applicant: u8) -> bool {
        let call = FormerChecks::recordOfCall { listing: LISTING.into(), applicant: [applicant; 32].into() };
        let to = self.contracts.of(ItemKind::Check);
        let answer = node.call(Address::ZERO, to, call.abi_encode().into()).await.unwrap();
        let record = FormerChecks::recordOfCall::abi_decode_returns(&answer).unwrap();
        record.version > 0 && !record.cleared
    }

    async fn attested(&self, node: &AnyNode) -> Vec<u8> {
        let mut attested = Vec::new();
        for applicant in 1..=5 {
            if self.attests(node, applicant).await {
                attested.push(applicant);
            }
        }
        attested
    }

    async fn migrate(
        &self,
        fixture: &NodeFixture,
        failpoints: &dyn FailpointHook,
    ) -> portico_chain::Result<Option<Migration>> {
        let keys = [fixture.key.clone()];
        migrate_with_failpoints(&fixture.node, &self.db, &keys, &fixture.options(true), failpoints).await
    }

    /// Nothing of the old flags is left, and new ones are recorded on the new contract.
    async fn check(self, fixture: &NodeFixture) {
        assert_eq!(self.attested(&fixture.node).await, Vec::<u8>::new());
        let bound = self.db.chain_identity().await.unwrap().unwrap();
        assert_eq!(bound.checks_version, 2);
        let former = self.contracts.0.map(|address| address.0.0);
        assert_ne!(bound.contracts[2], former[2]);
        for kept in [0, 1, 3] {
            assert_eq!(bound.contracts[kept], former[kept]);
        }
        let code = fixture.node.code(Address::from(bound.contracts[2])).await.unwrap();
        assert_eq!(code, ItemKind::Check.deployed_code().unwrap());
        assert_eq!(self.db.chain_items_after(ItemKind::Check.number(), &[], 10).await.unwrap(), []);
        assert_eq!(self.migrate(fixture, &NoFailpoints).await.unwrap(), None, "it is done once");
    }
}

async fn old_flags_are_cleared_and_the_contract_is_replaced(fixture: NodeFixture) {
    let former = Former::new(&fixture, "former").await;
    assert_eq!(former.attested(&fixture.node).await, [1, 3]);
    let record = samples::record("oak", [1; 32], now());
    former.db.write(PutItems(vec![record.desired.clone()])).await.unwrap();
    let migration = former.migrate(&fixture, &NoFailpoints).await.unwrap().unwrap();
    assert_eq!((migration.from, migration.cleared), (former.contracts.of(ItemKind::Check), 3));
    let db = former.db.clone();
    former.check(&fixture).await;
    let keys = [fixture.key.clone()];
    let options = fixture.options(false);
    let (_, contracts) = setup::establish(&fixture.node, &db, &keys, &options).await.unwrap();
    assert_eq!(contracts.of(ItemKind::Check), migration.to);
    // The writer goes on, with what it signed before and with what waits.
    let engine = fixture.engine_on(&db, contracts);
    let flags = samples::flags(FLAG);
    let content = Content::Check { listing: LISTING, applicant: [1; 32], flags: Some(flags) };
    let desired = samples::desired(check_key(&LISTING, &[1; 32]), content, now());
    db.write(PutItems(vec![desired])).await.unwrap();
    follow_all(&engine, &db).await;
    let found = reads::application(engine.node(), contracts, &LISTING, &[1; 32]).await.unwrap();
    assert_eq!(found, (1, Some(flags)));
    let listing = db.chain_item(samples::LISTING, &record.desired.key).await.unwrap().unwrap();
    assert_eq!(listing.status, ItemStatus::Mined);
}

/// Fails at one of the points.
#[derive(Debug)]
struct FailAt {
    point: usize,
    passed: AtomicUsize,
}

impl FailpointHook for FailAt {
    fn at(&self, step: Failpoint) -> portico_chain::Result<()> {
        if self.passed.fetch_add(1, Ordering::Relaxed) == self.point {
            return Err(Error::Unreachable(format!("on purpose, {step:?}")));
        }
        Ok(())
    }
}

async fn interrupted_migration_is_finished_by_the_next(fixture: NodeFixture) {
    for point in 0.. {
        let former = Former::new(&fixture, &point.to_string()).await;
        let failpoints = FailAt { point, passed: AtomicUsize::new(0) };
        let was_interrupted = former.migrate(&fixture, &failpoints).await.is_err();
        if was_interrupted {
            // Done already if only the answer to the last step was lost.
            former.migrate(&fixture, &NoFailpoints).await.unwrap();
        }
        former.check(&fixture).await;
        if !was_interrupted {
            assert!(point >= 6, "two transactions and a commit, before and after each");
            return;
        }
    }
}

async fn only_an_embedded_chain_migrates_at_the_start(fixture: NodeFixture) {
    let former = Former::new(&fixture, "former").await;
    let keys = [fixture.key.clone()];
    let options = fixture.options(false);
    let bound = binding::bound_chain(&fixture.node, &former.db, &options).await.unwrap_err().to_string();
    assert!(bound.contains("portico chain deploy"), "{bound}");
    let offline = binding::offline_chain(&former.db).await.unwrap_err().to_string();
    assert!(offline.contains("portico chain deploy"), "{offline}");
    let started = setup::establish(&fixture.node, &former.db, &keys, &options).await;
    if options.is_embedded {
        assert_ne!(started.unwrap().1.of(ItemKind::Check), former.contracts.of(ItemKind::Check));
    } else {
        let said = started.unwrap_err().to_string();
        assert!(said.contains("portico chain deploy"), "{said}");
        assert_eq!(former.attested(&fixture.node).await, [1, 3], "nothing was done");
        former.migrate(&fixture, &NoFailpoints).await.unwrap().unwrap();
    }
    former.check(&fixture).await;
}

async fn live_signer_stops_the_migration(fixture: NodeFixture) {
    if fixture.options(true).is_embedded {
        // Its file is locked: no other process can sign.
        return;
    }
    let former = Former::new(&fixture, "former").await;
    let row = former.db.chain_signers().await.unwrap()[0];
    let take = TakeLease { address: row.address, seen: (row.epoch, row.beat), first_nonce: 0 };
    let row = former.db.write(take).await.unwrap().unwrap();
    let (db, lease) = (former.db.clone(), Lease { signer: row.id, epoch: row.epoch });
    let holder = tokio::spawn(async move {
        while db.write(Heartbeat(lease)).await.unwrap() {
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    });
    let said = former.migrate(&fixture, &NoFailpoints).await.unwrap_err().to_string();
    assert!(said.contains("another process signs"), "{said}");
    assert_eq!(former.attested(&fixture.node).await, [1, 3]);
    holder.abort();
    let _ = holder.await;
    former.db.write(ReleaseLease(lease)).await.unwrap();
    former.migrate(&fixture, &NoFailpoints).await.unwrap().unwrap();
    former.check(&fixture).await;
}

async fn former_contracts_without_flags_stay_in_use(fixture: NodeFixture) {
    let former = Former::new(&fixture, "former").await;
    let Contracts([listings, identities, checks, anchors]) = former.contracts;
    let new = fixture.deployed().await.of(ItemKind::Check);
    let keys = [fixture.key.clone()];
    let establish = async |contracts: [Address; 4]| {
        let options = DeployOptions { contracts: Some(Contracts(contracts)), ..fixture.options(false) };
        setup::establish(&fixture.node, &fixture.other_database().await, &keys, &options).await
    };
    let said = establish([listings, identities, checks, anchors]).await.unwrap_err().to_string();
    assert!(said.contains("one of an earlier version, not this version's ApplicationChecks"), "{said}");
    assert!(establish([listings, identities, new, anchors]).await.is_ok());
}
