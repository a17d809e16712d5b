//! The plan of a run: each seed has its own probabilities and omits some faults, so that every fault also occurs in
//! runs where little else goes wrong.

use std::time::Duration;

use portico_chain::writer::WriterSettings;

use super::ledger::Rules;
use super::node::Faults;
use super::rng::Rng;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Event {
    /// A task of some replica continues.
    Work,
    Record,
    Delete,
    PutItems,
    Mine,
    Moment,
    LongTime,
    Crash,
    Leave,
    Freeze,
    ForgetPool,
    Outage,
    Lag,
    Reorg,
    Foreign,
    Revoke,
    Fee,
    Echo,
}

/// The numbers of each replica's keys.
type Keys = &'static [&'static [u8]];

#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) rules: Rules,
    pub(crate) confirmations: u64,
    pub(crate) keys: Keys,
    pub(crate) skews: Vec<i64>,
    pub(crate) settings: WriterSettings,
    pub(crate) faults: Faults,
    pub(crate) events: u64,
    pub(crate) slots: usize,
    pub(crate) bad: u64,
    odds: Vec<(Event, u64)>,
}

impl Plan {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let instant = rng.chance(300);
        let layouts: [Keys; 6] =
            [&[&[1]], &[&[1, 2]], &[&[1], &[1]], &[&[1], &[2]], &[&[1, 2], &[1, 2]], &[&[1, 2], &[2, 1]]];
        let keys = if rng.chance(300) { layouts[0] } else { rng.pick(&layouts) };
        let mut some = |most: u64| if rng.chance(500) { rng.between(1, most) } else { 0 };
        let faults = Faults {
            pause: some(400),
            lost_request: some(60),
            lost_reply: some(60),
            echo: some(300),
            crash: some(12),
            lost_commit: some(40),
            no_database: some(20),
        };
        let chain_only = |odds: u64| if instant { 0 } else { odds };
        let odds = vec![
            (Event::Work, 500),
            (Event::Record, 80 + some(120)),
            (Event::Delete, some(60)),
            (Event::PutItems, some(40)),
            (Event::Mine, chain_only(150)),
            (Event::Moment, 150),
            (Event::LongTime, some(30)),
            (Event::Crash, some(15)),
            (Event::Leave, some(8)),
            (Event::Freeze, some(20)),
            (Event::ForgetPool, chain_only(some(20))),
            (Event::Outage, some(20)),
            (Event::Lag, chain_only(some(20))),
            (Event::Reorg, chain_only(some(40))),
            (Event::Foreign, some(30)),
            (Event::Revoke, some(10)),
            (Event::Fee, chain_only(some(40))),
            (Event::Echo, 20),
        ];
        let bad = some(30);
        let is_only_process = instant && keys.len() == 1 && rng.chance(500);
        Self {
            rules: Rules {
                instant,
                capacity: if instant { 1 } else { rng.index(6) + 1 },
                strict_fees: instant || rng.chance(500),
                refuses_gaps: instant || rng.chance(500),
                depth: 12,
            },
            confirmations: if instant { 0 } else { 12 },
            keys,
            skews: keys.iter().map(|_| rng.pick(&[0, 0, 1_500_000, -40_000_000])).collect(),
            settings: WriterSettings {
                batch: rng.index(6) + 1,
                window: rng.pick(&[1, 2, 4, 16]),
                backlog: rng.pick(&[4, 1000]),
                max_waiting_per_payer: usize::MAX,
                resend: Duration::from_secs(3),
                replace: Duration::from_secs(20),
                lease_timeout: Duration::from_secs(10),
                fee_cap: 500_000_000_000,
                is_only_process,
            },
            faults,
            events: rng.between(60, 220),
            slots: rng.index(10) + 2,
            bad,
            odds,
        }
    }

    pub(crate) fn next(&self, rng: &mut Rng) -> Event {
        let mut at = rng.below(self.odds.iter().map(|(_, odds)| odds).sum());
        for (event, odds) in &self.odds {
            if at < *odds {
                return *event;
            }
            at -= odds;
        }
        Event::Work
    }
}
