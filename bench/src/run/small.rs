//! The section `small`: an empty server, and statistics over a few devices.

use std::time::Instant;

use anyhow::Result;
use serde_json::json;

use super::Bench;
use super::server::{Memory, Server};
use super::wrk::Wrk;

pub(super) const DEVICE_STATISTICS: &str = "/v1/depin-devices/stats/overview?{i}";

impl Bench {
    pub(super) async fn small(&self) -> Result<()> {
        let data = self.common.empty_folder("empty")?;
        let started = Instant::now();
        let server = Server::start(&self.common, &data, &[]).await?;
        let ready = format!("ready after {} ms", started.elapsed().as_millis());
        self.figure_row("empty and idle", &format!("{} MB", server.memory(Memory::Resident)?), &ready);
        for n in 1..=10 {
            let device = json!({
                "userId": format!("user-{n}"), "network": format!("network-{n}"), "deviceIdentifier": n.to_string(),
            });
            server.http.post("/v1/depin-device", None, device.to_string()).await?;
        }
        let load = Wrk::read(&server.url, self.common.connections, DEVICE_STATISTICS).expect("totalDevices");
        self.read_row("statistics over 10 devices", &load).await?;
        server.stop().await
    }
}
