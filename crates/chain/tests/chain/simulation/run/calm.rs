//! The end of a run: no more faults, until nothing is left to do.

use super::*;

impl Run {
    /// No more faults; time passes until nothing is left to do.
    pub(super) async fn run_without_faults(&mut self) -> Result<(), Broken> {
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
            if round > 0 && self.all_told() && crate::simulation::check::is_idle(self) {
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
        if crate::simulation::check::is_idle(self) { Ok(()) } else { Err("it does not stay at rest".into()) }
    }
}
