//! The writer, its database and a model of a chain, with fault injection. A seed determines a run, so that a failing
//! run can be replayed exactly.
//!
//!     PORTICO_SIM_SEEDS=10000 cargo test -p portico-chain --test chain simulation -- --nocapture
//!     PORTICO_SIM_FIRST=10000 PORTICO_SIM_SEEDS=10000 cargo test … # other seeds
//!     PORTICO_SIM_SEED=42     cargo test -p portico-chain --test chain simulation -- --nocapture

mod check;
mod clients;
mod ledger;
mod node;
mod plan;
mod rng;
mod run;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use portico_store::{Db, Location, Role};
use tempfile::TempDir;

use run::{Broken, Run, Summary};

const SEEDS: u64 = 500;

/// Uses a RAM disk if there is one.
fn temporary() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory).unwrap() } else { tempfile::tempdir().unwrap() }
}

/// Copies a prepared database, which is faster than migrating a new one.
fn database(folder: &Path) -> PathBuf {
    static EMPTY: OnceLock<Vec<u8>> = OnceLock::new();
    let empty = EMPTY.get_or_init(|| {
        let folder = temporary();
        let path = folder.path().join("portico.db");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let db = runtime.block_on(Db::open(&Location::Sqlite(path.clone()), Role::Tool)).unwrap();
        db.close().unwrap();
        drop(db);
        std::fs::read(path).unwrap()
    });
    let path = folder.join("portico.db");
    std::fs::write(&path, empty).unwrap();
    path
}

struct Ended {
    broken: Option<Broken>,
    summary: Summary,
    trace: Vec<String>,
}

/// Runs a seed on its own thread: the database keeps connections per thread.
fn simulate(seed: u64, traced: bool) -> Ended {
    let body = move || {
        let folder = temporary();
        let path = database(folder.path());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let db = Db::open(&Location::Sqlite(path.clone()), Role::Tool).await.unwrap();
            let mut run = Run::new(seed, db, path, traced);
            let broken = run.run().await.err();
            let trace = run.world.lock().unwrap().trace.take().unwrap_or_default();
            Ended { broken, summary: run.summary, trace }
        })
    };
    let thread = std::thread::Builder::new().name(format!("seed {seed}")).spawn(body).unwrap();
    thread.join().unwrap_or_else(|_| Ended {
        broken: Some("it panicked".into()),
        summary: Summary::default(),
        trace: Vec::new(),
    })
}

fn replay(seed: u64) -> String {
    format!("PORTICO_SIM_SEED={seed} cargo test -p portico-chain --test chain simulation -- --nocapture")
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable} is not a number")))
}

#[test]
fn simulation_keeps_all_invariants() {
    if let Some(seed) = number("PORTICO_SIM_SEED") {
        let ended = simulate(seed, true);
        ended.trace.iter().for_each(|line| println!("{line}"));
        println!("{:#?}", ended.summary);
        assert_eq!(ended.broken, None, "seed {seed}");
        return;
    }
    let seeds = number("PORTICO_SIM_SEEDS").unwrap_or(SEEDS);
    let first = number("PORTICO_SIM_FIRST").unwrap_or(0);
    let (next, all) = (AtomicU64::new(first), Mutex::new((Vec::new(), Vec::new())));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= first + seeds {
                        return;
                    }
                    let ended = simulate(seed, false);
                    let mut all = all.lock().unwrap();
                    all.0.extend(ended.broken.map(|broken| (seed, broken)));
                    all.1.push(ended.summary);
                }
            });
        }
    });
    let (mut broken, summaries) = all.into_inner().unwrap();
    broken.sort();
    for (seed, broken) in broken.iter().take(1000) {
        println!("seed {seed}: {broken}\n    {}", replay(*seed));
    }
    let total = Summary::total(&summaries);
    println!("{seeds} seeds from {first}, {} broken: {total:#?}", broken.len());
    assert!(
        broken.is_empty(),
        "{} of {seeds} seeds broke a promise, the first: {}",
        broken.len(),
        replay(broken[0].0)
    );
    if seeds >= SEEDS {
        total.assert_everything_happened();
    }
}

#[test]
fn simulation_a_seed_replays_exactly() {
    for seed in [1, 2, 3, 5, 8, 13] {
        let (first, second) = (simulate(seed, true), simulate(seed, true));
        assert!(first.trace.len() > 10);
        assert_eq!(first.trace, second.trace, "seed {seed}");
    }
}
