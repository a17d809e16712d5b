//! Infrastructure devices.

use portico_domain::devices::Device;
use portico_domain::{DeviceId, DeviceIdentifier, Network, UserId};
use portico_store::{Cursor, DeleteDevice, Page, RegisterDevice};

use crate::{Call, Error, Portico, Result, answering};

impl Portico {
    /// Registers a device; answers its id.
    pub async fn register_device(
        &self,
        call: &Call,
        user: UserId,
        network: Network,
        identifier: DeviceIdentifier,
    ) -> Result<DeviceId> {
        self.may_act_for(&call.actor, &user).await?;
        let by = self.by(call);
        let id: DeviceId = self.new_id();
        let device =
            Device { id: id.clone(), user, network, identifier, created_at: by.at, updated_at: by.at };
        self.write(call, answering(RegisterDevice { device, by }, id)).await
    }

    /// One device, if it is the caller's.
    pub async fn device(&self, call: &Call, id: &DeviceId) -> Result<Device> {
        let device = self.db.device(id).await?.ok_or(Error::NotFound("device_not_found"))?;
        self.may_act_for(&call.actor, &device.user).await?;
        Ok(device)
    }

    pub async fn delete_device(&self, call: &Call, id: DeviceId) -> Result<()> {
        self.device(call, &id).await?;
        let by = self.by(call);
        self.write(call, DeleteDevice { id, by }).await
    }

    /// A piece of a user's devices.
    pub async fn devices_of(
        &self,
        user: &UserId,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Device>> {
        Ok(self.db.devices_of(user, after, limit).await?)
    }

    /// A piece of a network's devices.
    pub async fn devices_on(
        &self,
        network: &Network,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<Device>> {
        Ok(self.db.devices_on(network, after, limit).await?)
    }

    /// How many devices there are.
    pub async fn device_total(&self) -> Result<i64> {
        Ok(self.db.device_total().await?)
    }

    /// How many devices each network has, by name.
    pub async fn devices_by_network(&self) -> Result<Vec<(String, i64)>> {
        Ok(self.db.devices_by_network().await?)
    }

    /// How many devices each user has, by id.
    pub async fn devices_by_user(&self) -> Result<Vec<(String, i64)>> {
        Ok(self.db.devices_by_user().await?)
    }
}
