//! Measures the embedded chain: `cargo run --release -p portico-evm --example speed [batches] [calls] [many]`.
//!
//! A record models a listing: 256 bytes of call data, two new storage slots, one event.

#[path = "../tests/evm/contract.rs"]
#[expect(clippy::unwrap_used, reason = "shared with the tests")]
mod contract;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use alloy_primitives::{Address, Bytes, U256};
use contract::{Wallet, data, record};
use portico_evm::{Call, Chain, Genesis};

const CHAIN_ID: u64 = 4242;
const NOW: u64 = 1_700_000_000;
const BATCH_RECORDS: u64 = 64;
const BLOCK_TRANSACTIONS: usize = 100;
const TRANSACTIONS: u64 = 100_000;
const BATCHES: u64 = 4_000;
/// Records that calls read.
const READ_RECORDS: u64 = 32_000;

fn main() {
    let parts: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |part: &str| parts.is_empty() || parts.iter().any(|name| name == part);
    let folder = tempfile::tempdir().expect("a folder to write in");
    let path = folder.path().join("chain.db");
    let wallet = Wallet::new(1, CHAIN_ID);
    let genesis = Genesis {
        chain_id: CHAIN_ID,
        timestamp: NOW,
        alloc: vec![(wallet.address, U256::from(10).pow(U256::from(30)))],
    };
    let chain = Chain::open(&path, &genesis).expect("a new chain");
    let (raw, contract) = wallet.deploy(contract::init());
    submit(&chain, &[raw]);
    show("memory, empty", &format!("{} MiB", resident()));

    batches(
        &chain,
        &wallet,
        contract,
        if wanted("batches") { BATCHES } else { READ_RECORDS / BATCH_RECORDS },
    );
    if wanted("calls") {
        for threads in [1, 2] {
            let figure = calls(&chain, &wallet, contract, threads, false);
            show(&format!("calls, {threads} thread(s)"), &figure);
        }
        show("calls beside submits, 1 thread", &calls(&chain, &wallet, contract, 1, true));
    }
    if wanted("many") {
        many(&chain, &wallet, contract);
    }
    show("memory, full", &format!("{} MiB", resident()));
    // The files as a killed process leaves them.
    let killed = folder.path().join("killed.db");
    for suffix in ["", "-wal"] {
        let file = |name: &str| folder.path().join(format!("{name}{suffix}"));
        std::fs::copy(file("chain.db"), file("killed.db")).expect("room for a copy");
    }
    drop(chain);
    opening("opening", &path, &genesis, wallet.nonce.get());
    opening("opening after a kill", &killed, &genesis, wallet.nonce.get());
}

fn show(what: &str, figure: &str) {
    println!("{what:<34} {figure}");
}

fn submit(chain: &Chain, raw: &[Bytes]) {
    for outcome in chain.submit(raw, NOW).expect("a chain that works") {
        outcome.expect("a good transaction");
    }
}

fn per_second(count: u64, time: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    let count = count as f64;
    count / time.as_secs_f64()
}

/// One transaction of 64 records per block.
fn batches(chain: &Chain, wallet: &Wallet, contract: Address, batches: u64) {
    let mut key = 0;
    let mut spent = Duration::ZERO;
    let mut worked = Duration::ZERO;
    let mut tenths = Vec::new();
    for _ in 0..10 {
        let raws: Vec<Bytes> = (0..batches / 10)
            .map(|_| {
                key += BATCH_RECORDS;
                wallet.call(contract, record(key - BATCH_RECORDS..key))
            })
            .collect();
        let (start, busy) = (Instant::now(), cpu());
        for raw in &raws {
            submit(chain, std::slice::from_ref(raw));
        }
        let time = start.elapsed();
        worked += cpu().saturating_sub(busy);
        spent += time;
        tenths.push(format!("{:.0}k", per_second(batches / 10 * BATCH_RECORDS, time) / 1000.0));
    }
    let receipt = chain.block_by_number(chain.head().number).expect("it works").expect("the head");
    let receipt = chain.receipt(receipt.transactions[0]).expect("it works").expect("mined");
    assert!(receipt.success && receipt.logs.len() as u64 == BATCH_RECORDS);
    let records = per_second(batches * BATCH_RECORDS, spent);
    show(
        "batches of 64, one a block",
        &format!(
            "{:.0} submits/s, {records:.0} records/s, {:.0} slots/s; {:.2} ms of processor each (records/s in \
             tenths: {})",
            per_second(batches, spent),
            records * 2.0,
            1000.0 / per_second(batches, worked),
            tenths.join(" ")
        ),
    );
}

/// Each call reads the two slots of one record.
fn calls(chain: &Chain, wallet: &Wallet, contract: Address, threads: u64, with_writer: bool) -> String {
    let stop = AtomicBool::new(false);
    let made = AtomicU64::new(0);
    let (start, busy) = (Instant::now(), cpu());
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (stop, made) = (&stop, &made);
            scope.spawn(move || {
                let mut key = thread;
                while !stop.load(Ordering::Relaxed) {
                    for _ in 0..100 {
                        key = (key * 31 + 7) % READ_RECORDS;
                        let data = data("get(uint256)", &[U256::from(key)]).into();
                        let answer = chain
                            .call(&Call { to: Some(contract), data, ..Call::default() })
                            .expect("a good call");
                        assert_eq!(answer[31], U256::from(key + 1).byte(0));
                    }
                    made.fetch_add(100, Ordering::Relaxed);
                }
            });
        }
        while start.elapsed() < Duration::from_secs(3) {
            if with_writer {
                let key = 1_000_000_000 + wallet.nonce.get() * BATCH_RECORDS;
                submit(chain, &[wallet.call(contract, record(key..key + BATCH_RECORDS))]);
            } else {
                std::thread::park_timeout(Duration::from_millis(100));
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    let (time, worked) = (start.elapsed(), cpu().saturating_sub(busy));
    let made = made.into_inner();
    if with_writer {
        return format!("{:.0}/s", per_second(made, time));
    }
    format!("{:.0}/s, {:.1} µs of processor each", per_second(made, time), 1e6 / per_second(made, worked))
}

/// Small transactions, many in a block, until there are a hundred thousand.
fn many(chain: &Chain, wallet: &Wallet, contract: Address) {
    let mut spent = Duration::ZERO;
    let first = wallet.nonce.get();
    while wallet.nonce.get() < TRANSACTIONS {
        let raws: Vec<Bytes> = (0..BLOCK_TRANSACTIONS)
            .map(|_| wallet.call(contract, record([2_000_000_000 + wallet.nonce.get()])))
            .collect();
        let start = Instant::now();
        submit(chain, &raws);
        spent += start.elapsed();
    }
    let made = per_second(wallet.nonce.get() - first, spent);
    show("transactions, 100 a block", &format!("{made:.0}/s"));
}

fn opening(what: &str, path: &Path, genesis: &Genesis, transactions: u64) {
    let start = Instant::now();
    let chain = Chain::open(path, genesis).expect("the same chain");
    let time = start.elapsed();
    let size = std::fs::metadata(path).map_or(0, |file| file.len()) >> 20;
    show(
        what,
        &format!("{time:.1?} with {} blocks, {transactions} transactions, {size} MiB", chain.head().number),
    );
}

/// CPU time of this process.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let ticks = stat.rsplit(')').next().unwrap_or_default().split(' ').skip(12).take(2);
    Duration::from_millis(ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>() * 10)
}

/// Memory of this process, in MiB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap_or_default() >> 10
}
