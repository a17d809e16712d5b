//! Infrastructure devices. A device is registered once per network.

use crate::{DeviceId, DeviceIdentifier, Network, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    pub id: DeviceId,
    pub user: UserId,
    pub network: Network,
    /// The device's identifier on its network.
    pub identifier: DeviceIdentifier,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}
