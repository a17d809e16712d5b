//! Infrastructure devices: registered per user and network, once per network.

use crate::{DeviceId, DeviceIdentifier, Network, Timestamp, UserId};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// Assigned by the service.
    pub id: DeviceId,
    pub user: UserId,
    /// The network it belongs to.
    pub network: Network,
    /// Its own identifier there.
    pub identifier: DeviceIdentifier,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}
