//! Infrastructure devices.

use std::sync::Arc;

use portico_domain::devices::Device;
use portico_domain::{DeviceId, DeviceIdentifier, ErrorCode, Network, UserId};
use portico_store::{Cursor, DeleteDevice, Page, RegisterDevice, RegisterDevices};

use crate::caller::CallContext;
use crate::core::Core;
use crate::core::answering;
use crate::error::{Error, Result};

/// Names are sorted; the users with most devices come first if only some are asked for.
#[derive(Debug)]
pub struct DeviceStatistics {
    pub total: i64,
    pub by_network: Vec<(String, i64)>,
    pub by_user: Vec<(String, i64)>,
}

#[derive(Debug)]
pub struct Devices {
    pub(crate) core: Arc<Core>,
}

impl Devices {
    /// Returns the new id.
    pub async fn register(
        &self,
        call: &CallContext,
        user: UserId,
        network: Network,
        identifier: DeviceIdentifier,
    ) -> Result<DeviceId> {
        self.core.may_act_for(&call.actor, &user).await?;
        let by = self.core.context(call);
        let id: DeviceId = self.core.new_id();
        let device =
            Device { id: id.clone(), user, network, identifier, created_at: by.at, updated_at: by.at };
        self.core.write(call, answering(RegisterDevice { device, by }, id)).await
    }

    /// Registers all devices of a user or none; returns the new ids in the same order.
    pub async fn register_all(
        &self,
        call: &CallContext,
        user: UserId,
        devices: Vec<(Network, DeviceIdentifier)>,
    ) -> Result<Vec<DeviceId>> {
        self.core.may_act_for(&call.actor, &user).await?;
        let by = self.core.context(call);
        let at = by.at;
        let new = |(network, identifier)| Device {
            id: self.core.new_id(),
            user: user.clone(),
            network,
            identifier,
            created_at: at,
            updated_at: at,
        };
        let devices: Vec<Device> = devices.into_iter().map(new).collect();
        let ids = devices.iter().map(|device| device.id.clone()).collect::<Vec<_>>();
        self.core.write(call, answering(RegisterDevices { devices, by }, ids)).await
    }

    /// For its owner.
    pub async fn get(&self, call: &CallContext, id: &DeviceId) -> Result<Device> {
        let device = self.core.db.device(id).await?.ok_or(Error::NotFound(ErrorCode::DeviceNotFound))?;
        self.core.may_act_for(&call.actor, &device.user).await?;
        Ok(device)
    }

    pub async fn delete(&self, call: &CallContext, id: DeviceId) -> Result<()> {
        self.get(call, &id).await?;
        let by = self.core.context(call);
        self.core.write(call, DeleteDevice { id, by }).await
    }

    pub async fn of_user(
        &self,
        call: &CallContext,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Device>> {
        self.core.may_act_for(&call.actor, user).await?;
        Ok(self.core.db.devices_of(user, after, limit).await?)
    }

    pub async fn on_network(
        &self,
        call: &CallContext,
        network: &Network,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Device>> {
        self.core.may_see_all_users(&call.actor)?;
        Ok(self.core.db.devices_on(network, after, limit).await?)
    }

    /// Of all users, or of so many with most devices.
    pub async fn statistics(&self, call: &CallContext, top: Option<usize>) -> Result<DeviceStatistics> {
        self.core.may_see_all_users(&call.actor)?;
        let db = &self.core.db;
        Ok(DeviceStatistics {
            total: db.device_total().await?,
            by_network: db.devices_by_network().await?,
            by_user: db.devices_by_user(top).await?,
        })
    }
}
