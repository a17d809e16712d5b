//! The sections `sqlite` and `postgres`: the same rows on a full database of either engine.

use anyhow::Result;

use super::Bench;
use super::database::Database;
use super::rows::report_errors;
use super::server::{Memory, Server};
use super::small::DEVICE_STATISTICS;
use super::wrk::{WARM_UP_SECONDS, Wrk};
use crate::baseline::scan;

/// Until what the server keeps in memory is there, as in one that has run for a while.
const FULL_WARM_UP_SECONDS: u64 = 40;

impl Bench {
    pub(super) async fn engine(&self, database: &Database) -> Result<()> {
        self.figure_row(&format!("**{}**", database.name()), "", "");
        let location = database.location();
        let rare_scan_ms = scan(&location, "quinvenyor").await?;
        let short_scan_ms = scan(&location, "qx").await?;
        let server = Server::start(&self.common, database.data(), &["--database", &location]).await?;
        self.listing_rows(&server).await?;
        self.search_row(&server, "substring, rare, 10 characters", "quinvenyor", rare_scan_ms).await?;
        self.search_row(&server, "2 characters, none found", "qx", short_scan_ms).await?;
        self.search_row(&server, "2 characters, common", "or", short_scan_ms).await?;
        self.search_row(&server, "1 character", "z", short_scan_ms).await?;
        let statistics = Wrk::read(&server.url, self.common.connections, DEVICE_STATISTICS);
        let name = format!("statistics over {} devices", self.rows);
        self.read_row(&name, &statistics.expect("totalDevices")).await?;
        self.streaming_row(&server).await?;
        self.insert_rows(server, database).await
    }

    /// People look at a part of all listings; evenly over everything is the worst case.
    async fn listing_rows(&self, server: &Server) -> Result<()> {
        let read = |path| Wrk::read(&server.url, self.common.connections, path).expect(r#""listingId""#);
        let by_id = read("/listings?listingId=bench-{i}");
        self.read_row("point read by id, a tenth of them", &by_id.clone().rows(self.rows / 10)).await?;
        let evenly = by_id.rows(self.rows);
        self.read_row_after(FULL_WARM_UP_SECONDS, "point read by id, evenly over all", &evenly).await?;
        let by_user = read("/listings?limit=20&userId=user-{i}").rows(self.rows / 20);
        self.read_row("list of 20 by user", &by_user).await
    }

    /// One client at a time, compared with a scan without an index.
    async fn search_row(&self, server: &Server, name: &str, term: &str, scan_ms: f64) -> Result<()> {
        let path = format!("/listings?limit=20&searchTerm={term}&x={{i}}");
        let load = Wrk::read(&server.url, 1, &path).expect("[");
        let sample = load.warm_up_and_measure(WARM_UP_SECONDS, self.common.seconds).await?;
        report_errors(name, sample.errors);
        let (p50, p99) = (format!("{:.2}", sample.p50_ms), format!("{:.2}", sample.p99_ms));
        let compared = format!("scan {scan_ms:.2} ms: {:.2}× quicker", scan_ms / sample.p50_ms);
        self.table.row([name, &format!("{p50} ms"), &compared, &p50, &p99]);
        Ok(())
    }

    async fn streaming_row(&self, server: &Server) -> Result<()> {
        let before = server.memory(Memory::Resident)?;
        server.http.get("/listings").await?;
        let added = server.memory(Memory::Resident)? - before;
        let name = format!("streaming all {} listings", self.rows);
        self.figure_row(&name, &format!("{added:+} MB"), &format!("resident, from {before} MB"));
        Ok(())
    }

    /// The raw inserts have the stopped server's database, and the machine, to themselves.
    async fn insert_rows(&self, server: Server, database: &Database) -> Result<()> {
        let name = "POST a listing, durable";
        let load = Wrk::write(&server.url, self.common.connections);
        let posts = load.warm_up_and_measure(WARM_UP_SECONDS, self.common.seconds).await?;
        report_errors(name, posts.errors);
        self.rate_row(name, &posts, "see below");
        self.figure_row("peak memory", &format!("{} MB", server.memory(Memory::Peak)?), "");
        server.stop().await?;
        let raw = database.raw_inserts(&self.common).await?;
        let compared = format!("POST is {:.2}× of it", posts.per_second / raw);
        self.figure_row("raw insert loop", &format!("{raw:.0}/s"), &compared);
        Ok(())
    }
}
