//! Devices, unique per network, indexed by user and by network.

use portico_domain::devices::Device;
use portico_domain::{DeviceId, ErrorCode, Network, UserId};

use crate::engine::counters::{ChangeContext, record};
use crate::engine::creation_number::creation_number;
use crate::engine::db::Db;
use crate::engine::error::{Error, Result};
use crate::engine::page::{Cursor, Page};
use crate::engine::sql::{Op, Sql, Tx, params, row, select, sql, statements};
use crate::engine::totals::total;

static INSERT: Sql =
    sql("INSERT INTO devices (seq, id, user_id, network, identifier, created_at, updated_at) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (network, identifier) DO NOTHING");
static DELETE: Sql = sql("DELETE FROM devices WHERE id = ?1 RETURNING user_id, network");
static GET: Sql = select::<Device>("SELECT {columns} FROM devices WHERE id = ?1");
static OF_USER: Sql = select::<Device>(
    "SELECT {columns}, seq, seq FROM devices WHERE user_id = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);
static ON_NETWORK: Sql = select::<Device>(
    "SELECT {columns}, seq, seq FROM devices WHERE network = ?3 AND seq > ?1 ORDER BY seq LIMIT ?2",
);

row!(Device { id, user = "user_id", network, identifier, created_at, updated_at });

#[derive(Debug)]
pub struct RegisterDevice {
    pub device: Device,
    pub by: ChangeContext,
}

impl Op for RegisterDevice {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        register(tx, &self.device, &self.by).await
    }
}

/// Registers all devices or none.
#[derive(Debug)]
pub struct RegisterDevices {
    pub devices: Vec<Device>,
    pub by: ChangeContext,
}

impl Op for RegisterDevices {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let mut taken = Vec::new();
        for (index, device) in self.devices.iter().enumerate() {
            match register(tx, device, &self.by).await {
                Err(Error::Conflict(ErrorCode::DeviceExists)) => taken.push(index),
                done => done?,
            }
        }
        if taken.is_empty() { Ok(()) } else { Err(Error::DevicesTaken(taken)) }
    }
}

async fn register<T: Tx>(tx: &mut T, device: &Device, by: &ChangeContext) -> Result<()> {
    let Device { id, user, network, identifier, created_at, updated_at } = device;
    let params = params![creation_number(tx).await?, id, user, network, identifier, *created_at, *updated_at];
    if tx.exec(&INSERT, &params).await? == 0 {
        return Err(Error::Conflict(ErrorCode::DeviceExists));
    }
    count(tx, by, "device.registered", id, user.as_str(), network.as_str(), 1).await
}

async fn count<T: Tx>(
    tx: &mut T,
    by: &ChangeContext,
    kind: &'static str,
    id: &DeviceId,
    user: &str,
    network: &str,
    one: i64,
) -> Result<()> {
    let counts = [("devices", "total", one), ("devices.network", network, one), ("devices.user", user, one)];
    record(tx, by, kind, id.as_str(), &counts).await
}

#[derive(Debug)]
pub struct DeleteDevice {
    pub id: DeviceId,
    pub by: ChangeContext,
}

impl Op for DeleteDevice {
    type Out = ();
    async fn run<T: Tx>(&self, tx: &mut T) -> Result<()> {
        let deleted = tx.one::<(String, String)>(&DELETE, &[(&self.id).into()]).await?;
        let (user, network) = deleted.ok_or(Error::Missing(ErrorCode::DeviceNotFound))?;
        count(tx, &self.by, "device.deleted", &self.id, &user, &network, -1).await
    }
}

impl Db {
    pub async fn device(&self, id: &DeviceId) -> Result<Option<Device>> {
        self.one(&GET, &[id.into()]).await
    }

    pub async fn devices_of(
        &self,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Device>> {
        self.page(&OF_USER, &[user.into()], after, limit).await
    }

    pub async fn devices_on(
        &self,
        network: &Network,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Device>> {
        self.page(&ON_NETWORK, &[network.into()], after, limit).await
    }

    pub async fn device_total(&self) -> Result<i64> {
        Ok(total(&self.totals("devices").await?, "total"))
    }

    /// By name.
    pub async fn devices_by_network(&self) -> Result<Vec<(String, i64)>> {
        self.totals("devices.network").await
    }

    /// By user id; or so many users, those with most devices first.
    pub async fn devices_by_user(&self, top: Option<usize>) -> Result<Vec<(String, i64)>> {
        match top {
            Some(count) => self.largest_totals("devices.user", count).await,
            None => self.totals("devices.user").await,
        }
    }
}

statements! { INSERT, DELETE, GET, OF_USER, ON_NETWORK }
