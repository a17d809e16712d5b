//! One run: processes, clients and a chain, driven by a seed.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use alloy_primitives::{Address, B256};
use portico_chain::contracts::{Content, Contracts, check_key, cleared_check};
use portico_chain::signer::{CallSigner, Key, Price};
use portico_chain::writer::{Committed, Engine};
use portico_chain::{Error, Result};
use portico_domain::chain::Passes;
use portico_domain::{ListingId, Timestamp};
use portico_store::chain::{Accepted, PutItems, Refusal, Settled};
use portico_store::{ChangeContext, Db, DeleteListing};

use super::clients::{Clients, Request};
use super::ledger::{Ledger, Tx};
use super::node::{Counts, Faults, Network, ProcessFailpoints, Shared, SimNode, World};
use super::plan::{Event, Plan};
use super::rng::Rng;
use crate::samples;

pub(crate) const CHAIN_ID: u64 = 31337;
const SECOND: i64 = 1_000_000;

/// The description of a violated invariant.
pub(crate) type Broken = String;

type Answers = Vec<(Request, Result<Accepted, Refusal>)>;

enum Outcome {
    Followed(Result<()>),
    Committed(Vec<Request>, Result<Committed>),
    Delivered(Answers, Result<Option<Settled>>),
    Captured(Result<()>),
}

/// A suspended task, and the requests that depend on it.
struct Task {
    future: Pin<Box<dyn Future<Output = Outcome>>>,
    requests: Vec<Request>,
}

/// The writer's tasks; each does one thing at a time.
const FOLLOW: usize = 0;
const COMMIT: usize = 1;
const DELIVER: usize = 2;

struct Process {
    engine: Arc<Engine<SimNode>>,
    steps: Arc<ProcessFailpoints>,
    tasks: [Option<Task>; 3],
    /// The chain's change counter when the following task began.
    began: u64,
    /// Committed groups that wait for delivery.
    groups: VecDeque<(Answers, Option<i64>)>,
}

#[derive(Default)]
struct Replica {
    keys: Vec<Key>,
    process: Option<Process>,
    /// When it restarts; never, if another replica has its keys.
    back_at: i64,
    frozen_until: i64,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Summary {
    pub(crate) counts: Counts,
    pub(crate) told: u64,
    pub(crate) recorded: u64,
    pub(crate) deleted: u64,
    pub(crate) bad_items: u64,
    pub(crate) ends: u64,
    pub(crate) reorgs: u64,
    pub(crate) undone_blocks: u64,
    pub(crate) pools_lost: u64,
    pub(crate) foreign: u64,
    pub(crate) reverted: u64,
    pub(crate) failed_items: u64,
    pub(crate) takeovers: u64,
    pub(crate) replacements: u64,
    pub(crate) fillers: u64,
    pub(crate) stale: u64,
    pub(crate) blocks: u64,
    pub(crate) calls: u64,
}

impl Summary {
    fn numbers(&mut self) -> [(&'static str, &mut u64); 22] {
        let Counts { lost_requests, lost_replies, lost_commits, crashes, echoes } = &mut self.counts;
        [
            ("lost requests", lost_requests),
            ("lost replies", lost_replies),
            ("lost commits", lost_commits),
            ("crashes at a step", crashes),
            ("late duplicates", echoes),
            ("promises", &mut self.told),
            ("listings recorded", &mut self.recorded),
            ("listings deleted", &mut self.deleted),
            ("items that a contract cannot take", &mut self.bad_items),
            ("processes that ended", &mut self.ends),
            ("reorganisations", &mut self.reorgs),
            ("blocks undone", &mut self.undone_blocks),
            ("pools lost", &mut self.pools_lost),
            ("foreign transactions", &mut self.foreign),
            ("calls reverted", &mut self.reverted),
            ("items failed", &mut self.failed_items),
            ("takeovers", &mut self.takeovers),
            ("replacements", &mut self.replacements),
            ("nonces filled", &mut self.fillers),
            ("stale items", &mut self.stale),
            ("blocks", &mut self.blocks),
            ("calls", &mut self.calls),
        ]
    }

    pub(crate) fn total(summaries: &[Self]) -> Self {
        let mut total = Self::default();
        for mut summary in summaries.iter().copied() {
            for ((_, sum), (_, number)) in total.numbers().into_iter().zip(summary.numbers()) {
                *sum += *number;
            }
        }
        total
    }

    /// A fault that never occurs proves nothing.
    pub(crate) fn assert_everything_happened(mut self) {
        for (what, number) in self.numbers() {
            assert!(*number > 0, "there were no {what}");
        }
    }
}

pub(crate) struct Run {
    pub(super) world: Shared,
    pub(super) db: Db,
    pub(super) path: PathBuf,
    pub(super) plan: Plan,
    pub(super) clients: Clients,
    pub(super) contracts: Contracts,
    pub(super) summary: Summary,
    replicas: Vec<Replica>,
    revoked_until: i64,
}

impl Run {
    pub(crate) fn new(seed: u64, db: Db, path: PathBuf, traced: bool) -> Self {
        let mut rng = Rng::new(seed);
        let plan = Plan::draw(&mut rng);
        let contracts = Contracts([1, 2, 3, 4].map(Address::repeat_byte));
        let ledger = Ledger::new(plan.rules, contracts, &mut rng);
        let mut world = World::new(rng, ledger, plan.faults, plan.keys.len(), traced);
        world.note(|| format!("{plan:?}"));
        let replica = |keys: &&[u8]| Replica {
            keys: keys.iter().map(|number| samples::key(*number)).collect(),
            ..Replica::default()
        };
        Self {
            world: Arc::new(Mutex::new(world)),
            db,
            path,
            clients: Clients::new(plan.slots),
            replicas: plan.keys.iter().map(replica).collect(),
            plan,
            contracts,
            summary: Summary::default(),
            revoked_until: 0,
        }
    }

    pub(super) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }

    /// Accounts with a holder.
    pub(super) fn held(&self) -> Vec<Address> {
        let processes = self.replicas.iter().filter_map(|replica| replica.process.as_ref());
        processes.filter_map(|process| process.engine.status().signer).collect()
    }

    /// The number of mined transactions of an account.
    pub(super) fn used(&self, account: Address) -> u64 {
        let world = self.world();
        world.ledger.nonce(account, world.ledger.height())
    }

    fn draw(&self, low: u64, high: u64) -> u64 {
        self.world().rng.between(low, high)
    }

    fn clock(&self) -> i64 {
        self.world().clock
    }

    /// The replica's own clock.
    fn now(&self, replica: usize) -> Timestamp {
        Timestamp::from_micros(self.clock() + self.plan.skews[replica])
    }

    /// Runs the seed's events, then until nothing is left to do.
    pub(crate) async fn run(&mut self) -> Result<(), Broken> {
        for _ in 0..self.plan.events {
            let event = self.plan.next(&mut self.world().rng);
            self.happen(event).await?;
            self.run_timed_events();
        }
        self.run_without_faults().await?;
        super::check::everything(self)
    }

    /// Timed events: processes restart, roles are granted again.
    fn run_timed_events(&mut self) {
        let clock = self.clock();
        for replica in 0..self.replicas.len() {
            if self.replicas[replica].process.is_none() && self.replicas[replica].back_at <= clock {
                self.start(replica);
            }
        }
        if !self.world().ledger.granted && self.revoked_until <= clock {
            self.world().note(|| "the role is granted again".into());
            self.world().ledger.granted = true;
        }
    }

    fn start(&mut self, replica: usize) {
        let steps = Arc::new(ProcessFailpoints {
            world: self.world.clone(),
            replica,
            crashed: AtomicBool::new(false),
        });
        let node = SimNode { world: self.world.clone(), replica, confirmations: self.plan.confirmations };
        let engine = Engine::new(
            node,
            self.db.clone(),
            self.replicas[replica].keys.clone(),
            (CHAIN_ID, self.contracts),
            self.plan.settings,
            steps.clone(),
        );
        self.world().note(|| format!("r{replica} starts"));
        let (tasks, groups) = ([None, None, None], VecDeque::new());
        self.replicas[replica].process =
            Some(Process { engine: Arc::new(engine), steps, tasks, began: 0, groups });
    }

    async fn happen(&mut self, event: Event) -> Result<(), Broken> {
        match event {
            Event::Work => self.work().await?,
            Event::Record => self.record().await?,
            Event::Delete => self.delete().await?,
            Event::PutItems => self.put_item().await?,
            Event::Moment => self.pass(self.draw(1, 2_000_000)),
            Event::LongTime => self.pass(self.draw(5_000_000, 40_000_000)),
            Event::Crash => {
                let replica = self.some_replica();
                self.world().note(|| format!("r{replica} is killed"));
                self.end(replica).await?;
            }
            Event::Leave => self.leave().await?,
            Event::Freeze => {
                let (replica, clock) = (self.some_replica(), self.clock());
                let length = i64::try_from(self.draw(1, 40)).unwrap() * SECOND;
                self.world().note(|| format!("r{replica} stands still for {}s", length / SECOND));
                self.replicas[replica].frozen_until = clock + length;
            }
            Event::Revoke => {
                let length = i64::try_from(self.draw(1, 40)).unwrap() * SECOND;
                self.world().note(|| format!("the role is revoked for {}s", length / SECOND));
                self.revoked_until = self.clock() + length;
                self.world().ledger.granted = false;
            }
            event => self.on_chain(event),
        }
        Ok(())
    }

    fn pass(&mut self, micros: u64) {
        self.world().clock += i64::try_from(micros).unwrap();
    }

    fn some_replica(&self) -> usize {
        self.world().rng.index(self.replicas.len())
    }

    /// Events of the chain and the network.
    fn on_chain(&mut self, event: Event) {
        let replica = self.some_replica();
        let foreign = self.replicas[replica].keys[0].clone();
        let mut guard = self.world();
        let World { rng, ledger, lines, echoes, counts, clock, .. } = &mut *guard;
        let (mut undone, mut lost) = (0, 0);
        let said = match event {
            Event::Mine => {
                ledger.mine(rng);
                format!("block {}", ledger.height())
            }
            Event::ForgetPool => {
                lost = u64::from(ledger.pool_size() > 0);
                ledger.forget_pool();
                "the node starts again without its pool".into()
            }
            Event::Outage => {
                let seconds = rng.between(1, 30);
                lines[replica].down_until = *clock + i64::try_from(seconds).unwrap() * SECOND;
                format!("r{replica} does not reach the node for {seconds}s")
            }
            Event::Lag => {
                lines[replica].behind = rng.pick(&[0, 0, 1, 2, 3, 14]);
                format!("r{replica} asks a node that is {} blocks behind", lines[replica].behind)
            }
            Event::Reorg => {
                let (depth, kept) = (rng.between(1, 12), rng.pick(&[0, 500, 900, 1000]));
                let grown = rng.pick(&[0, depth, depth, depth + 1]);
                undone = ledger.reorg(depth, kept, grown, rng);
                format!("{undone} blocks are undone, {grown} others come, up to block {}", ledger.height())
            }
            Event::Fee => {
                ledger.base_fee = rng.pick(&[1, 2, 3, 5, 20, 100, 700]) * 1_000_000_000;
                format!("the base fee is {}", ledger.base_fee)
            }
            Event::Echo => {
                if echoes.is_empty() {
                    return;
                }
                let echo = echoes.swap_remove(rng.index(echoes.len()));
                counts.echoes += 1;
                let sent = ledger.submit(&echo, rng);
                format!("a late #{} {:.4} arrives: {sent:?}", echo.nonce, echo.hash)
            }
            _ => {
                let next = if rng.chance(500) {
                    ledger.next_pending(foreign.address())
                } else {
                    ledger.nonce(foreign.address(), ledger.height())
                };
                let signer = CallSigner {
                    key: foreign,
                    chain_id: CHAIN_ID,
                    contracts: Contracts([Address::ZERO; 4]),
                    price: Price { max_fee: 800_000_000_000 + rng.below(1_000_000), tip: 9_000_000_000 },
                };
                let tx = Arc::new(Tx::read(&signer.filler(next).raw));
                let said = format!("somebody else sends {} #{} {:.4}", tx.from, tx.nonce, tx.hash);
                guard.foreign.insert(tx.hash);
                let World { rng, ledger, .. } = &mut *guard;
                ledger.force(tx, rng);
                said
            }
        };
        guard.note(|| said);
        drop(guard);
        self.summary.reorgs += u64::from(undone > 0);
        self.summary.undone_blocks += undone;
        self.summary.pools_lost += lost;
    }

    /// Some task continues.
    async fn work(&mut self) -> Result<(), Broken> {
        let replica = self.some_replica();
        let clock = self.clock();
        if self.replicas[replica].frozen_until > clock {
            return Ok(());
        }
        let Some(process) = &self.replicas[replica].process else { return Ok(()) };
        let busy = process.tasks.iter().map(Option::is_some).collect::<Vec<_>>();
        let waits = !process.groups.is_empty();
        let choices: Vec<usize> = [FOLLOW, COMMIT, DELIVER]
            .into_iter()
            .filter(|task| busy[*task] || *task == FOLLOW || (*task == DELIVER && waits))
            .collect();
        let task = self.world().rng.pick(&choices);
        if task == DELIVER && !busy[DELIVER] {
            self.deliver(replica);
        } else if task == FOLLOW && !busy[FOLLOW] {
            self.follow(replica);
        }
        self.advance(replica, task).await
    }

    fn follow(&mut self, replica: usize) {
        let (now, changes) = (self.now(replica), self.world().ledger.changes);
        let Some(process) = &mut self.replicas[replica].process else { return };
        process.began = changes;
        let engine = process.engine.clone();
        let future = Box::pin(async move { Outcome::Followed(engine.follow(now).await) });
        process.tasks[FOLLOW] = Some(Task { future, requests: Vec::new() });
    }

    fn deliver(&mut self, replica: usize) {
        let now = self.now(replica);
        let Some(process) = &mut self.replicas[replica].process else { return };
        let Some((answers, nonce)) = process.groups.pop_front() else { return };
        let engine = process.engine.clone();
        let requests = answers.iter().map(|(request, _)| request.clone()).collect();
        let future = Box::pin(async move {
            let delivered = match nonce {
                Some(nonce) => engine.deliver_now(nonce, now).await,
                None => Ok(None),
            };
            Outcome::Delivered(answers, delivered)
        });
        process.tasks[DELIVER] = Some(Task { future, requests });
    }

    /// Clients send requests to a replica.
    async fn record(&mut self) -> Result<(), Broken> {
        let (replica, clock) = (self.some_replica(), self.clock());
        let now = self.now(replica);
        if self.replicas[replica].frozen_until > clock {
            return Ok(());
        }
        let Some(process) = self.replicas[replica].process.as_mut().filter(|up| up.tasks[COMMIT].is_none())
        else {
            return Ok(());
        };
        let requests = {
            let mut world = self.world.lock().unwrap();
            self.clients.ask(self.plan.settings.batch as u64, self.plan.bad, &mut world.rng)
        };
        if requests.is_empty() {
            return Ok(());
        }
        let records: Vec<_> = requests.iter().map(|request| self.clients.record(request, now)).collect();
        let (engine, group) = (process.engine.clone(), requests.clone());
        let future = Box::pin(async move {
            let committed = engine.commit(records.into(), now).await;
            Outcome::Committed(group, committed)
        });
        process.tasks[COMMIT] = Some(Task { future, requests });
        self.advance(replica, COMMIT).await
    }

    async fn delete(&mut self) -> Result<(), Broken> {
        let idle = self.clients.idle(true);
        if idle.is_empty() {
            return Ok(());
        }
        let slot = self.world().rng.pick(&idle);
        let (id, at) = (self.clients.slots[slot].id.clone(), self.now(0));
        self.world().note(|| format!("{id} is deleted"));
        let op = DeleteListing {
            id: ListingId::stored(id.as_str()),
            owner: samples::listing(&id).user,
            retired: samples::retired(&id, at),
            clear: cleared_check,
            by: ChangeContext { account: None, at },
        };
        self.db.write(op).await.map_err(|error| format!("{id} could not be deleted: {error}"))?;
        self.clients.deleted(slot);
        self.summary.deleted += 1;
        Ok(())
    }

    async fn put_item(&mut self) -> Result<(), Broken> {
        let at = self.now(0);
        let (key, content) = {
            let rng = &mut self.world().rng;
            let number = u8::try_from(rng.between(1, 3)).unwrap();
            let word = rng.word();
            match rng.below(4) {
                0 => ([number; 32], Content::Anchor { head: word }),
                1 => (
                    [number; 32],
                    Content::Identity { holder: Address::from_slice(&word[..20]), commitment: word },
                ),
                2 => ([number; 32], Content::RevokedIdentity),
                _ => {
                    let (listing, applicant) = ([number; 32], [9; 32]);
                    let passes =
                        rng.chance(700).then(|| Passes::from_bits(u8::try_from(rng.below(16)).unwrap()));
                    (check_key(&listing, &applicant), Content::Check { listing, applicant, passes })
                }
            }
        };
        self.world().note(|| format!("wanted: {:?} {:02x}", content.kind(), key[0]));
        let desired = samples::desired(key, content, at);
        self.db.write(PutItems(vec![desired])).await.map_err(|error| error.to_string())?;
        self.clients.put_item(key, &content);
        Ok(())
    }

    /// A replica shuts down properly and restarts later.
    async fn leave(&mut self) -> Result<(), Broken> {
        let replica = self.some_replica();
        let Some(process) = &self.replicas[replica].process else { return Ok(()) };
        self.world().note(|| format!("r{replica} gives its signer back and ends"));
        let engine = process.engine.clone();
        engine.release().await.map_err(|error| error.to_string())?;
        drop(engine);
        self.end(replica).await
    }

    /// The process dies and loses its memory.
    async fn end(&mut self, replica: usize) -> Result<(), Broken> {
        let Some(process) = self.replicas[replica].process.take() else { return Ok(()) };
        let clock = self.clock();
        self.summary.ends += 1;
        // If another replica can take over, it may stay down.
        let seconds = self.draw(0, 30) + if self.draw(0, 3) == 0 { 1_000_000 } else { 0 };
        self.replicas[replica].back_at = clock + i64::try_from(seconds).unwrap() * SECOND;
        let Process { tasks, groups, engine, .. } = process;
        drop(engine);
        let unheard: Vec<Request> = tasks
            .into_iter()
            .flatten()
            .flat_map(|task| task.requests)
            .chain(
                groups.into_iter().flat_map(|(answers, _)| answers.into_iter().map(|(request, _)| request)),
            )
            .collect();
        self.unheard(unheard).await
    }

    async fn unheard(&mut self, requests: Vec<Request>) -> Result<(), Broken> {
        for request in requests {
            let key = self.clients.slots[request.slot].key;
            let item = self.db.chain_item(samples::LISTING, &key).await.map_err(|error| error.to_string())?;
            self.world().note(|| format!("{request}: nothing is heard"));
            let mut world = self.world.lock().unwrap();
            self.clients.unheard(&request, item, &mut world.rng)?;
            self.clients.slots[request.slot].busy = false;
        }
        Ok(())
    }

    /// Runs a task until it ends or stops at a call.
    async fn advance(&mut self, replica: usize, task: usize) -> Result<(), Broken> {
        let Some(process) = &mut self.replicas[replica].process else { return Ok(()) };
        let Some(mut running) = process.tasks[task].take() else { return Ok(()) };
        let (world, steps) = (self.world.clone(), process.steps.clone());
        let outcome = poll_fn(|context| match running.future.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending if world.lock().unwrap().take_pause() => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        })
        .await;
        let Some(outcome) = outcome else {
            process.tasks[task] = Some(running);
            return Ok(());
        };
        if steps.crashed.load(Ordering::Relaxed) {
            process.tasks[task] = Some(Task { future: Box::pin(std::future::pending()), ..running });
            return self.end(replica).await;
        }
        self.conclude(replica, outcome).await
    }

    async fn conclude(&mut self, replica: usize, outcome: Outcome) -> Result<(), Broken> {
        match outcome {
            Outcome::Followed(Ok(())) => self.no_reorganised_block_is_believed(replica).await,
            Outcome::Followed(done) | Outcome::Captured(done) => self.accept(replica, done.err()),
            Outcome::Committed(requests, Ok(committed)) => {
                let answers: Answers = requests.into_iter().zip(committed.answers).collect();
                self.world()
                    .note(|| format!("r{replica} commits {} at {:?}", answers.len(), committed.nonce));
                if !self.plan.rules.instant {
                    return self.reply(answers).await;
                }
                if let Some(process) = &mut self.replicas[replica].process {
                    process.groups.push_back((answers, committed.nonce));
                }
                Ok(())
            }
            Outcome::Committed(requests, Err(error)) => {
                self.accept(replica, Some(error))?;
                self.unheard(requests).await
            }
            Outcome::Delivered(answers, delivered) => {
                let (settled, error) = match delivered {
                    Ok(settled) => (settled, None),
                    Err(error) => (None, Some(error)),
                };
                self.accept(replica, error)?;
                self.reply(answers).await?;
                let Some(process) = &mut self.replicas[replica].process else { return Ok(()) };
                if let Some(settled) = settled {
                    let engine = process.engine.clone();
                    let future =
                        Box::pin(
                            async move { Outcome::Captured(engine.note_delivered(vec![settled]).await) },
                        );
                    process.tasks[DELIVER] = Some(Task { future, requests: Vec::new() });
                }
                Ok(())
            }
        }
    }

    /// After a complete look at an unchanged chain, the writer must not believe in reorganised blocks.
    async fn no_reorganised_block_is_believed(&self, replica: usize) -> Result<(), Broken> {
        let Some(process) = &self.replicas[replica].process else { return Ok(()) };
        let Some(account) = process.engine.status().signer else { return Ok(()) };
        let still = {
            let world = self.world();
            world.ledger.changes == process.began && world.lines[replica].behind == 0
        };
        if !still || self.plan.rules.instant {
            return Ok(());
        }
        let signers = self.db.chain_signers().await.map_err(|error| error.to_string())?;
        let signer = signers.iter().find(|signer| signer.address == account.0.0);
        let signer = signer.ok_or("a signer that nobody knows")?;
        let open = self.db.open_batches(signer.id).await.map_err(|error| error.to_string())?;
        for (nonce, (number, hash)) in open.iter().filter_map(|batch| Some((batch.nonce, batch.block?))) {
            let block = self.world().ledger.block(usize::try_from(number).unwrap());
            if block.is_none_or(|block| block.hash.0 != hash) {
                return Err(format!("{account} #{nonce} is believed to be in a block that is gone"));
            }
        }
        Ok(())
    }

    /// A process may be unable to work, but must not report a bug.
    fn accept(&self, replica: usize, error: Option<Error>) -> Result<(), Broken> {
        use portico_store::Error::{Busy, Unavailable};
        let Some(error) = error else { return Ok(()) };
        self.world().note(|| format!("r{replica} says: {error}"));
        match error {
            Error::Unreachable(_) | Error::Stopped(_) | Error::Busy | Error::Store(Busy | Unavailable(_)) => {
                Ok(())
            }
            error => Err(format!("replica {replica} says: {error}")),
        }
    }

    async fn reply(&mut self, answers: Answers) -> Result<(), Broken> {
        for (request, answer) in answers {
            self.world().note(|| match &answer {
                Ok(accepted) => format!("{request}: {:.4}", B256::from(accepted.hash)),
                Err(refusal) => format!("{request}: {refusal:?}"),
            });
            self.clients.told(&request, &answer)?;
            self.clients.slots[request.slot].busy = false;
            self.summary.told += u64::from(answer.is_ok());
            if let Ok(accepted) = &answer {
                let known = self.db.chain_attempt(&accepted.hash).await.map_err(|error| error.to_string())?;
                known.ok_or_else(|| format!("{:?} was told a hash that nobody knows", accepted.id))?;
            }
        }
        Ok(())
    }

    /// No more faults; time passes until nothing is left to do.
    async fn run_without_faults(&mut self) -> Result<(), Broken> {
        {
            let mut world = self.world();
            world.note(|| "nothing goes wrong any more".into());
            world.faults = Faults::default();
            world.lines.fill(Network::default());
            world.ledger.base_fee = 1_000_000_000;
            world.ledger.granted = true;
            let World { rng, ledger, echoes, .. } = &mut *world;
            for echo in echoes.drain(..) {
                ledger.submit(&echo, rng);
            }
        }
        // A replica that died while one of its tasks was suspended is removed now.
        for replica in 0..self.replicas.len() {
            let process = self.replicas[replica].process.as_ref();
            if process.is_some_and(|process| process.steps.crashed.load(Ordering::Relaxed)) {
                self.end(replica).await?;
            }
        }
        let clock = self.clock();
        for replica in 0..self.replicas.len() {
            self.replicas[replica].frozen_until = 0;
            if self.replicas[replica].back_at > clock + 100 * SECOND && self.has_successor(replica) {
                continue;
            }
            self.replicas[replica].back_at = clock;
        }
        self.run_timed_events();
        for round in 0..400 {
            self.run_calm_second().await?;
            if round > 0 && self.all_told() && super::check::is_idle(self) {
                return self.assert_stays_idle().await;
            }
        }
        Err("it does not come to rest".into())
    }

    fn all_told(&self) -> bool {
        self.clients.slots.iter().all(|slot| !slot.busy)
    }

    /// Whether a running replica has all keys of this one.
    fn has_successor(&self, replica: usize) -> bool {
        let runs = |other: &Replica| other.process.is_some();
        let has = |other: &Replica, key: &Key| other.keys.iter().any(|own| own.address() == key.address());
        let heirs: Vec<&Replica> = self.replicas.iter().filter(|other| runs(other)).collect();
        self.replicas[replica].keys.iter().all(|key| heirs.iter().any(|heir| has(heir, key)))
    }

    /// One second without faults.
    async fn run_calm_second(&mut self) -> Result<(), Broken> {
        self.pass(1_000_000);
        if !self.plan.rules.instant {
            self.on_chain(Event::Mine);
        }
        for replica in 0..self.replicas.len() {
            for task in [COMMIT, DELIVER, DELIVER, FOLLOW] {
                if task == DELIVER
                    && self.replicas[replica].process.as_ref().is_some_and(|up| up.tasks[DELIVER].is_none())
                {
                    self.deliver(replica);
                }
                self.advance(replica, task).await?;
            }
            self.follow(replica);
            self.advance(replica, FOLLOW).await?;
        }
        Ok(())
    }

    /// Nothing happens any more.
    async fn assert_stays_idle(&mut self) -> Result<(), Broken> {
        for _ in 0..3 {
            self.run_calm_second().await?;
        }
        for replica in self.replicas.iter().filter_map(|replica| replica.process.as_ref()) {
            let status = replica.engine.status();
            if status.stopped || status.unmined > 0 {
                return Err(format!("a process has not come to rest: {status:?}"));
            }
        }
        if super::check::is_idle(self) { Ok(()) } else { Err("it does not stay at rest".into()) }
    }
}
