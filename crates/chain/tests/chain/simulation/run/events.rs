//! What happens to a run: on the chain, in the network, by clients and to processes.

use portico_records::ItemKind;

use super::*;

impl Run {
    /// Events of the chain and the network.
    pub(super) fn on_chain(&mut self, event: Event) {
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

    /// Clients send requests to a replica.
    pub(super) async fn record(&mut self) -> Result<(), Broken> {
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

    pub(super) async fn delete(&mut self) -> Result<(), Broken> {
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
            by: ChangeContext { account: None, at },
        };
        self.db.write(op).await.map_err(|error| format!("{id} could not be deleted: {error}"))?;
        self.clients.deleted(slot);
        self.summary.deleted += 1;
        Ok(())
    }

    pub(super) async fn put_item(&mut self) -> Result<(), Broken> {
        let at = self.now(0);
        let (key, content, due_at) = {
            let rng = &mut self.world().rng;
            let number = u8::try_from(rng.between(1, 3)).unwrap();
            let (key, word) = ([number; 32], rng.word());
            let content = match rng.below(4) {
                0 => Content::Anchor { head: word },
                1 => Content::Identity { holder: Address::from_slice(&word[..20]), commitment: word },
                2 => Content::RevokedIdentity,
                _ if rng.chance(700) => {
                    let flags = samples::flags(u8::try_from(rng.below(16)).unwrap());
                    Content::Check(flags.commit(&key, &word))
                }
                _ => Content::ClearedCheck,
            };
            let delay = rng.chance(400).then(|| i64::try_from(rng.between(1, 60)).unwrap() * SECOND);
            (key, content, delay.map(|delay| Timestamp::from_micros(at.micros() + delay)))
        };
        self.world().note(|| format!("wanted: {:?} {:02x}", content.kind(), key[0]));
        let desired = DesiredItem { due_at, ..content.desired(key, at) };
        self.db.write(PutItems(vec![desired])).await.map_err(|error| error.to_string())?;
        self.clients.put_item(key, &content);
        Ok(())
    }

    /// A replica shuts down properly and restarts later.
    pub(super) async fn leave(&mut self) -> Result<(), Broken> {
        let replica = self.some_replica();
        let Some(process) = &self.replicas[replica].process else { return Ok(()) };
        self.world().note(|| format!("r{replica} gives its signer back and ends"));
        let engine = process.engine.clone();
        engine.release().await.map_err(|error| error.to_string())?;
        drop(engine);
        self.end(replica).await
    }

    /// The process dies and loses its memory.
    pub(super) async fn end(&mut self, replica: usize) -> Result<(), Broken> {
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

    pub(super) async fn unheard(&mut self, requests: Vec<Request>) -> Result<(), Broken> {
        for request in requests {
            let key = self.clients.slots[request.slot].key;
            let item =
                self.db.chain_item(ItemKind::Listing, &key).await.map_err(|error| error.to_string())?;
            self.world().note(|| format!("{request}: nothing is heard"));
            let mut world = self.world.lock().unwrap();
            self.clients.unheard(&request, item, &mut world.rng)?;
            self.clients.slots[request.slot].busy = false;
        }
        Ok(())
    }
}
