//! Fills a database: with sample data, or with the rows of another server.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use futures_util::SinkExt as _;
use portico_domain::listings::Listing;
use portico_domain::listings::searchable_text;
use portico_domain::text::fold;
use portico_domain::{Money, Text, Whole};
use portico_store::sql::{Op, Tx};
use portico_store::{ChangeContext, CreateListing, Db, Location, RegisterDevice, Role};

use crate::sample_data::{NOW, device, listing};

const ROWS_PER_TRANSACTION: usize = 5000;

/// Fills a database with sample data and waits until all indexes hold it.
pub(crate) async fn load(database: &str, listings: i64, devices: i64) -> Result<()> {
    let location = Location::parse(database).map_err(anyhow::Error::msg)?;
    let db = Db::open(&location, Role::Server).await?;
    let started = Instant::now();
    match &location {
        Location::Sqlite(_) => load_sqlite(&db, listings, devices).await?,
        Location::Postgres(url) => load_postgres(url, listings, devices).await?,
    }
    db.wait_for_index().await?;
    let seconds = started.elapsed().as_secs_f64();
    eprintln!("{listings} listings and {devices} devices in {seconds:.0} s");
    Ok(())
}

/// Fills a database with the rows that the peers have (`bench/peers/run rows`).
pub(crate) async fn copy(rows: &Path, database: &str) -> Result<()> {
    let location = Location::parse(database).map_err(anyhow::Error::msg)?;
    let db = Db::open(&location, Role::Server).await?;
    write_all(&db, peer_listings(rows)?.into_iter().map(create_listing)).await?;
    db.wait_for_index().await?;
    Ok(())
}

fn change_context() -> ChangeContext {
    ChangeContext { account: None, at: NOW }
}

/// Runs many operations in one transaction.
struct Batch<O>(Vec<O>);

impl<O: Op<Out = ()>> Op for Batch<O> {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> portico_store::Result<()> {
        for op in &self.0 {
            op.run(tx).await?;
        }
        Ok(())
    }
}

async fn write_all<O: Op<Out = ()> + 'static>(db: &Db, ops: impl Iterator<Item = O>) -> Result<()> {
    let mut ops = ops.peekable();
    while ops.peek().is_some() {
        db.write(Batch(ops.by_ref().take(ROWS_PER_TRANSACTION).collect())).await?;
    }
    Ok(())
}

fn create_listing(listing: Listing) -> CreateListing {
    CreateListing { listing, by: change_context() }
}

/// Reads the listings that `bench/peers/fastify/load.js` has written.
fn peer_listings(rows: &Path) -> Result<Vec<Listing>> {
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
            description: None,
            available_from: None,
            status: portico_domain::listings::ListingStatus::Active,
        })
    })?;
    Ok(listings.collect::<rusqlite::Result<_>>()?)
}

async fn load_sqlite(db: &Db, listings: i64, devices: i64) -> Result<()> {
    write_all(db, (0..listings).map(|n| create_listing(listing("bench", n, listings)))).await?;
    write_all(db, (0..devices).map(|n| RegisterDevice { device: device(n), by: change_context() })).await
}

/// COPY, and the text index built afterwards, is the fastest way to fill PostgreSQL.
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
            searchable_text(&l).replace('\n', "\\n"),
        ))
    });
    let columns = "seq, id, user_id, document, created_at, city_fold, postal, rent, bedrooms, bathrooms, morton, search_fold";
    copy_in(&client, &format!("COPY listings ({columns}) FROM STDIN"), rows).await?;
    let rows = (0..devices).map(|n| {
        let d = device(n);
        let at = NOW.micros();
        Ok(format!("{}\t{}\t{}\t{}\t{}\t{at}\t{at}\n", n + 1, d.id, d.user, d.network, d.identifier))
    });
    copy_in(&client, "COPY devices FROM STDIN", rows).await?;
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

async fn copy_in(
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
