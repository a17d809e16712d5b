//! One run: processes, clients and a chain, driven by a seed.

mod calm;
mod events;
mod summary;

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Poll;

use alloy_primitives::{Address, B256};
use portico_chain::contracts::Contracts;
use portico_chain::signer::{CallSigner, Key, Price};
use portico_chain::writer::{CommittedGroup, Engine};
use portico_chain::{Error, Result};
use portico_domain::{ListingId, Timestamp};
use portico_records::{Content, DesiredItem};
use portico_store::chain::{AcceptedListing, BatchUpdate, PutItems, Refusal};
use portico_store::{ChangeContext, Db, DeleteListing};

pub(crate) use self::summary::Summary;
use super::clients::{Clients, Request};
use super::ledger::{Ledger, Tx};
use super::node::{Faults, Network, ProcessFailpoints, Shared, SimNode, World};
use super::plan::{Event, Plan};
use super::rng::Rng;
use crate::samples;

pub(crate) const CHAIN_ID: u64 = 31337;
const SECOND: i64 = 1_000_000;

/// The description of a violated invariant.
pub(crate) type Broken = String;

type Answers = Vec<(Request, Result<AcceptedListing, Refusal>)>;

enum Outcome {
    Followed(Result<()>),
    Committed(Vec<Request>, Result<CommittedGroup>),
    Delivered(Answers, Result<Option<BatchUpdate>>),
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
                let (update, error) = match delivered {
                    Ok(update) => (update, None),
                    Err(error) => (None, Some(error)),
                };
                self.accept(replica, error)?;
                self.reply(answers).await?;
                let Some(process) = &mut self.replicas[replica].process else { return Ok(()) };
                if let Some(update) = update {
                    let engine = process.engine.clone();
                    let future =
                        Box::pin(async move { Outcome::Captured(engine.note_delivered(vec![update]).await) });
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
}
