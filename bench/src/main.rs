//! Fills databases for `bench/run`, and measures what the service is compared with: a raw insert loop, and a
//! scan without an index.

mod bureau;
mod chain;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::Parser;
use futures_util::SinkExt as _;
use portico_domain::devices::Device;
use portico_domain::geo::Point;
use portico_domain::listings::Listing;
use portico_domain::listings::document;
use portico_domain::text::fold;
use portico_domain::{Degrees, Money, Text, Timestamp, Whole};
use portico_store::sql::{Op, Tx};
use portico_store::{ChangeContext, CreateListing, Db, Location, RegisterDevice, Role};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[derive(Parser)]
enum Command {
    /// Fills a database with listings and devices
    Load {
        database: String,
        #[arg(long, default_value_t = 1_000_000)]
        listings: i64,
        #[arg(long, default_value_t = 1_000_000)]
        devices: i64,
    },
    /// Fills a database with the listings of another server's file (bench/peers/run rows)
    Copy { rows: PathBuf, database: String },
    /// Inserts listings in a bare loop, 64 a transaction, with the schema, durability and bookkeeping of the
    /// service, and waits until all indexes hold them; prints rows per second
    Raw {
        file: PathBuf,
        #[arg(long, default_value_t = 8)]
        seconds: u64,
    },
    /// Records listings on a node by itself, so many a transaction, each followed to its receipt; prints
    /// listings per second
    Node {
        url: String,
        #[arg(long, default_value_t = 1)]
        batch: usize,
        #[arg(long, default_value_t = 6)]
        seconds: u64,
    },
    /// Prints a new private key that has funds on a node which gives them to whoever asks
    Fund { url: String },
    /// Answers checks of applicants, each after a while; prints its address
    Bureau {
        #[arg(long, default_value_t = 2000)]
        delay_ms: u64,
    },
    /// Looks for a text with LIKE and no index; prints milliseconds
    Scan { database: String, term: String },
}

#[tokio::main]
async fn main() -> Result<()> {
    match Command::parse() {
        Command::Load { database, listings, devices } => {
            let location = Location::parse(&database).map_err(anyhow::Error::msg)?;
            let db = Db::open(&location, Role::Server).await?;
            let started = Instant::now();
            match &location {
                Location::Sqlite(_) => load_sqlite(&db, listings, devices).await?,
                Location::Postgres(url) => load_postgres(url, listings, devices).await?,
            }
            db.settle().await?;
            eprintln!(
                "{listings} listings and {devices} devices in {:.0} s",
                started.elapsed().as_secs_f64()
            );
        }
        Command::Copy { rows, database } => {
            let location = Location::parse(&database).map_err(anyhow::Error::msg)?;
            let db = Db::open(&location, Role::Server).await?;
            store(&db, peers_listings(&rows)?).await?;
            db.settle().await?;
        }
        Command::Raw { file, seconds } => {
            println!("{:.0}", raw(&file, Duration::from_secs(seconds)).await?);
        }
        Command::Node { url, batch, seconds } => {
            let key = chain::funded_key(&url)?;
            println!("{:.0}", chain::measure(&url, &key, batch, Duration::from_secs(seconds)).await?);
        }
        Command::Bureau { delay_ms } => bureau::serve(Duration::from_millis(delay_ms)).await?,
        Command::Fund { url } => println!("{}", chain::funded_key(&url)?),
        Command::Scan { database, term } => println!("{:.2}", scan(&database, &term).await?),
    }
    Ok(())
}

const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

fn by() -> ChangeContext {
    ChangeContext { account: None, at: NOW }
}

/// A number that looks random but is the same every time (SplitMix64).
fn mixed(n: i64) -> u64 {
    let mut z = n.cast_unsigned().wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn pick<'a>(from: &[&'a str], n: u64) -> &'a str {
    from[usize::try_from(n % from.len() as u64).unwrap_or(0)]
}

/// A name made of syllables.
fn name(seed: u64) -> String {
    const SYLLABLES: [&str; 24] = [
        "al", "ber", "cas", "dor", "el", "fen", "gar", "hol", "in", "jas", "kel", "lor", "mar", "nor", "os",
        "pel", "quin", "ros", "sal", "tor", "ul", "ven", "wes", "yor",
    ];
    let (a, b, c) = (pick(&SYLLABLES, seed), pick(&SYLLABLES, seed >> 8), pick(&SYLLABLES, seed >> 16));
    let mut name = format!("{a}{b}{c}");
    name[..1].make_ascii_uppercase();
    name
}

fn listing(prefix: &str, n: i64, of: i64) -> Listing {
    const STATES: [&str; 10] = ["TX", "CA", "NY", "WA", "FL", "IL", "OH", "GA", "CO", "OR"];
    const KINDS: [&str; 6] = ["Street", "Avenue", "Road", "Lane", "Drive", "Court"];
    let seed = mixed(n);
    let small = |shift: u32, below: u64| i64::try_from((seed >> shift) % below).unwrap_or(0);
    let latitude = Degrees::from_units(25_000_000_000 + small(3, 23_000_000_000));
    let longitude = Degrees::from_units(-123_000_000_000 + small(7, 55_000_000_000));
    Listing {
        id: Text::stored(format!("{prefix}-{n}")),
        user: Text::stored(format!("user-{}", n % (of / 20).max(1))),
        street: Text::stored(format!(
            "{} {} {}",
            1 + small(5, 9000),
            name(seed >> 12),
            pick(&KINDS, seed >> 40)
        )),
        city: Text::stored(name(mixed(small(20, 4000)))),
        state: Text::stored(pick(&STATES, seed >> 33)),
        postal: Text::stored(format!("{:05}", 10_000 + small(9, 80_000))),
        country: Text::stored("US"),
        rent: Some(Money::from_units((500 + small(11, 6000)) * Money::SCALE)),
        property_value: None,
        bedrooms: Some(Whole::from_units(1 + small(13, 5))),
        bathrooms: Some(Whole::from_units(1 + small(17, 3))),
        place: Point::new(latitude, longitude).ok(),
        walkthrough: None,
    }
}

/// Of ten users and ten networks, so that statistics over a million have the size of those over ten.
fn device(n: i64) -> Device {
    Device {
        id: Text::stored(format!("device-{n}")),
        user: Text::stored(format!("user-{}", n % 10)),
        network: Text::stored(format!("network-{}", n % 10)),
        identifier: Text::stored(format!("{n:016x}")),
        created_at: NOW,
        updated_at: NOW,
    }
}

/// Many small pieces of work in one transaction.
struct Many<O>(Vec<O>);

impl<O: Op<Out = ()>> Op for Many<O> {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> portico_store::Result<()> {
        for op in &self.0 {
            op.run(tx).await?;
        }
        Ok(())
    }
}

/// Stores listings, many in one transaction.
async fn store(db: &Db, listings: impl IntoIterator<Item = Listing>) -> Result<()> {
    let mut ops = listings.into_iter().map(|listing| CreateListing { listing, by: by() }).peekable();
    while ops.peek().is_some() {
        db.write(Many(ops.by_ref().take(5000).collect())).await?;
    }
    Ok(())
}

/// What `bench/peers/fastify/load.js` has written.
fn peers_listings(rows: &Path) -> Result<Vec<Listing>> {
    let connection = rusqlite::Connection::open(rows)?;
    let mut all = connection.prepare(
        "SELECT listingId, userId, streetAddress, city, state, postalCode, CAST(monthlyRent AS INTEGER), \
         bedRoomCount, bathroomCount FROM listings ORDER BY id",
    )?;
    let listings = all.query_map([], |row| {
        let text = |column| row.get::<_, String>(column);
        let whole = |column| row.get(column).map(Whole::from_units).map(Some);
        Ok(Listing {
            id: Text::stored(text(0)?),
            user: Text::stored(text(1)?),
            street: Text::stored(text(2)?),
            city: Text::stored(text(3)?),
            state: Text::stored(text(4)?),
            postal: Text::stored(text(5)?),
            country: Text::stored("US"),
            rent: Some(Money::from_units(row.get::<_, i64>(6)? * Money::SCALE)),
            property_value: None,
            bedrooms: whole(7)?,
            bathrooms: whole(8)?,
            place: None,
            walkthrough: None,
        })
    })?;
    Ok(listings.collect::<rusqlite::Result<_>>()?)
}

async fn load_sqlite(db: &Db, listings: i64, devices: i64) -> Result<()> {
    store(db, (0..listings).map(|n| listing("bench", n, listings))).await?;
    for from in (0..devices).step_by(5000) {
        let to = (from + 5000).min(devices);
        let ops = (from..to).map(|n| RegisterDevice { device: device(n), by: by() }).collect();
        db.write(Many(ops)).await?;
    }
    Ok(())
}

/// PostgreSQL takes rows quickest by COPY, with its text index made afterwards.
async fn load_postgres(url: &str, listings: i64, devices: i64) -> Result<()> {
    let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute("DROP INDEX listings_search").await?;
    let rows = (0..listings).map(|n| {
        let l = listing("bench", n, listings);
        let place = l.place.context("a bench listing has a place")?;
        let units = |units: Option<i64>| units.map_or("\\N".into(), |units| units.to_string());
        Ok(format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n",
            n + 1,
            l.id,
            l.user,
            serde_json::to_string(&l)?,
            NOW.micros(),
            fold(l.city.as_str()),
            l.postal,
            units(l.rent.map(Money::units)),
            units(l.bedrooms.map(Whole::units)),
            units(l.bathrooms.map(Whole::units)),
            place.morton(),
            document(&l).replace('\n', "\\n"),
        ))
    });
    let columns = "seq, id, user_id, document, created_at, city_fold, postal, rent, bedrooms, bathrooms, morton, search_fold";
    copy(&client, &format!("COPY listings ({columns}) FROM STDIN"), rows).await?;
    let rows = (0..devices).map(|n| {
        let d = device(n);
        let at = NOW.micros();
        Ok(format!("{}\t{}\t{}\t{}\t{}\t{at}\t{at}\n", n + 1, d.id, d.user, d.network, d.identifier))
    });
    copy(&client, "COPY devices FROM STDIN", rows).await?;
    client
        .batch_execute(
            "CREATE INDEX listings_search ON listings USING gin (search_fold gin_trgm_ops);
             INSERT INTO counters SELECT 'listings', 'total', 0, count(*) FROM listings;
             INSERT INTO counters SELECT 'listings.state', document::json ->> 'state', 0, count(*) FROM listings GROUP BY 2;
             INSERT INTO counters SELECT 'devices', 'total', 0, count(*) FROM devices;
             INSERT INTO counters SELECT 'devices.network', network, 0, count(*) FROM devices GROUP BY network;
             INSERT INTO counters SELECT 'devices.user', user_id, 0, count(*) FROM devices GROUP BY user_id",
        )
        .await?;
    client.batch_execute("VACUUM ANALYZE").await?;
    Ok(())
}

async fn copy(
    client: &tokio_postgres::Client,
    statement: &str,
    rows: impl Iterator<Item = Result<String>>,
) -> Result<()> {
    let mut sink = std::pin::pin!(client.copy_in(statement).await?);
    let mut chunk = String::new();
    for row in rows {
        chunk.push_str(&row?);
        if chunk.len() > 1 << 20 {
            sink.send(axum::body::Bytes::from(std::mem::take(&mut chunk))).await?;
        }
    }
    sink.send(axum::body::Bytes::from(chunk)).await?;
    sink.close().await?;
    Ok(())
}

/// What the writer of the service does, without everything around it.
async fn raw(file: &Path, time: Duration) -> Result<f64> {
    let db = Db::open(&Location::Sqlite(file.into()), Role::Server).await?;
    db.settle().await?;
    let (started, rows) = (Instant::now(), insert_for(file, time)?);
    db.settle().await?;
    Ok(f64::from(rows) / started.elapsed().as_secs_f64())
}

/// Inserts for some time; tells how many.
fn insert_for(file: &Path, time: Duration) -> Result<u32> {
    let connection = rusqlite::Connection::open(file)?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 20000; \
         PRAGMA cache_size = -65536; PRAGMA temp_store = MEMORY",
    )?;
    let mut insert = connection.prepare(
        "INSERT INTO listings (id, user_id, document, created_at, revision) VALUES (?1, ?2, ?3, ?4, \
         (SELECT seq + 1 FROM sqlite_sequence WHERE name = 'listings')) ON CONFLICT (id) DO NOTHING",
    )?;
    let mut event =
        connection.prepare("INSERT INTO events (kind, subject, at) VALUES ('listing.created', ?1, ?2)")?;
    let mut count = connection.prepare(
        "INSERT INTO counters (scope, name, shard, n) VALUES (?1, ?2, 0, 1) \
         ON CONFLICT (scope, name, shard) DO UPDATE SET n = n + 1",
    )?;
    let (started, mut rows) = (Instant::now(), 0_u32);
    while started.elapsed() < time {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for _ in 0..64 {
            let l = listing("raw", 2_000_000 + i64::from(rows), 1_000_000);
            let document = serde_json::to_string(&l)?;
            insert.execute(rusqlite::params![l.id.as_str(), l.user.as_str(), document, NOW.micros()])?;
            event.execute(rusqlite::params![l.id.as_str(), NOW.micros()])?;
            count.execute(["listings", "total"])?;
            count.execute(["listings.state", l.state.as_str()])?;
            rows += 1;
        }
        connection.execute_batch("COMMIT")?;
    }
    Ok(rows)
}

/// The quickest of three.
async fn scan(database: &str, term: &str) -> Result<f64> {
    let mut best = f64::MAX;
    let pattern = format!("%{term}%");
    for _ in 0..3 {
        let started;
        match Location::parse(database).map_err(anyhow::Error::msg)? {
            Location::Sqlite(file) => {
                let connection = rusqlite::Connection::open(file)?;
                let sql = "SELECT count(*) FROM listings WHERE document LIKE ?1";
                started = Instant::now();
                connection.query_row(sql, [&pattern], |_| Ok(()))?;
            }
            Location::Postgres(url) => {
                let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
                tokio::spawn(connection);
                client.batch_execute("SET enable_indexscan = off; SET enable_bitmapscan = off").await?;
                started = Instant::now();
                let sql = "SELECT count(*) FROM listings WHERE search_fold LIKE $1";
                client.query_one(sql, &[&pattern]).await?;
            }
        }
        best = best.min(started.elapsed().as_secs_f64() * 1000.0);
    }
    Ok(best)
}
