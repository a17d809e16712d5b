//! `/v1/depin-device` and `/v1/depin-devices`: infrastructure devices and their statistics.

use std::collections::BTreeMap;

use portico_domain::devices::Device;
use portico_domain::{DeviceId, DeviceIdentifier, Network, Timestamp, UserId};
use serde::{Serialize, Serializer};
use serde_json::{Value, json};
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::Schema;

use crate::access::{OPERATORS, OWNED};
use crate::input::{Field, Input, Json as JsonInput, JsonPointer, NonEmptyVec, Object, Reader};
use crate::operation::{Context, Operation, delete, get, post, with_tag};
use crate::paging::{Limit, PagedResponse, Paging};
use crate::problem::Result;
use crate::reply::{Created, Json, Message, message};

const NOT_FOUND: &str = "There is no such device";

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Devices",
        vec![
            post("/v1/depin-device", OWNED, register)
                .id("registerDevice")
                .about("A network's identifier can be registered once.")
                .summary("Registers a device")
                .conflict("The device is registered on its network already"),
            post("/v1/depin-devices", OWNED, register_all)
                .id("registerDevices")
                .about("At most 1,000, in one step: if one of them is taken, none is registered.")
                .summary("Registers several devices, all or none")
                .conflict("Devices are registered on their network already; `errors` names each"),
            get("/v1/depin-device/{deviceId}", OWNED, read)
                .id("getDevice")
                .about("For its owner and the operator.")
                .summary("One device")
                .not_found(NOT_FOUND),
            delete("/v1/depin-device/{deviceId}", OWNED, remove)
                .id("deleteDevice")
                .about("For its owner and the operator. The identifier is free again.")
                .summary("Deletes a device")
                .not_found(NOT_FOUND),
            get("/v1/depin-devices/user/{userId}", OWNED, list_of_user)
                .id("listDevicesByUser")
                .about("For the owner and the operator, in the order of registration.")
                .summary("A user's devices"),
            get("/v1/depin-devices/network/{network}", OPERATORS, list_on_network)
                .id("listDevicesByNetwork")
                .about("In the order of registration.")
                .summary("A network's devices"),
            get("/v1/depin-devices/stats/overview", OPERATORS, statistics)
                .id("getDeviceStatistics")
                .about("Counts by network and by user.")
                .summary("Totals over all devices"),
        ],
    )
}

/// A device.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Device)]
struct DeviceOut {
    depin_device_id: String,
    user_id: String,
    network: String,
    device_identifier: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    updated_at: Timestamp,
}

impl From<Device> for DeviceOut {
    fn from(device: Device) -> Self {
        Self {
            depin_device_id: device.id.into(),
            user_id: device.user.into(),
            network: device.network.into(),
            device_identifier: device.identifier.into(),
            created_at: device.created_at,
            updated_at: device.updated_at,
        }
    }
}

struct Register {
    user: UserId,
    network: Network,
    identifier: DeviceIdentifier,
}

impl Input for Register {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let user = body.required("userId", "Owner");
        let network = body.required("network", "The network it belongs to");
        let identifier = body.required("deviceIdentifier", "Its own identifier on the network");
        Some(Self { user: user?, network: network?, identifier: identifier? })
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada", "network": "Helium", "deviceIdentifier": "112qB3YaH5bZkCnKA5uRH"}))
    }
}

/// A device that was registered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeviceRegistered {
    message: &'static str,
    depin_device_id: String,
    user_id: String,
    network: String,
    device_identifier: String,
}

async fn register(cx: Context, input: Register) -> Result<Created<DeviceRegistered>> {
    let Register { user, network, identifier } = input;
    let (user_id, network_name, device_identifier) =
        (user.as_str().into(), network.as_str().into(), identifier.as_str().into());
    let id = cx.app().devices.register(&cx.call, user, network, identifier).await?;
    let body = DeviceRegistered {
        message: "Device registered",
        depin_device_id: id.as_str().into(),
        user_id,
        network: network_name,
        device_identifier,
    };
    Ok(Created::at(&["v1", "depin-device", id.as_str()], body))
}

struct NewDevice {
    network: Network,
    identifier: DeviceIdentifier,
}

impl NewDevice {
    fn members(object: &mut Object<'_, '_>) -> Option<Self> {
        let network = object.required("network", "The network it belongs to");
        let identifier = object.required("deviceIdentifier", "Its own identifier on the network");
        Some(Self { network: network?, identifier: identifier? })
    }
}

impl Field for NewDevice {
    fn schema() -> RefOr<Schema> {
        Object::schema_of(Self::members)
    }
    fn from_json(json: JsonInput<'_>, at: &mut JsonPointer<'_>) -> Option<Self> {
        Self::members(&mut Object::nested(json, at)?)
    }
}

struct RegisterAll {
    user: UserId,
    devices: Vec<NewDevice>,
}

impl Input for RegisterAll {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let user = body.required("userId", "Owner of all of them");
        let devices = body.required::<NonEmptyVec<_>>("devices", "The devices");
        Some(Self { user: user?, devices: devices?.0 })
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada", "devices": [
            {"network": "Helium", "deviceIdentifier": "112qB3YaH5bZkCnKA5uRH"},
            {"network": "DIMO", "deviceIdentifier": "dimo-4471"},
        ]}))
    }
}

/// Devices that were registered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DevicesRegistered {
    message: &'static str,
    /// In the order of the request
    depin_device_ids: Vec<String>,
}

async fn register_all(cx: Context, input: RegisterAll) -> Result<Created<DevicesRegistered>> {
    let devices = input.devices.into_iter().map(|device| (device.network, device.identifier)).collect();
    let ids = cx.app().devices.register_all(&cx.call, input.user.clone(), devices).await?;
    let depin_device_ids = ids.into_iter().map(Into::into).collect();
    let body = DevicesRegistered { message: "Devices registered", depin_device_ids };
    Ok(Created::at(&["v1", "depin-devices", "user", input.user.as_str()], body))
}

struct DevicePath(DeviceId);

impl Input for DevicePath {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("deviceId", "The device").map(Self)
    }
}

async fn read(cx: Context, DevicePath(id): DevicePath) -> Result<Json<DeviceOut>> {
    Ok(Json(cx.app().devices.get(&cx.call, &id).await?.into()))
}

async fn remove(cx: Context, DevicePath(id): DevicePath) -> Result<Json<Message>> {
    cx.app().devices.delete(&cx.call, id).await?;
    Ok(Json(message("Device deleted")))
}

struct DevicesOfUser(UserId, Paging);

impl Input for DevicesOfUser {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (user, paging) = (from.path("userId", "Owner"), Paging::read(from));
        Some(Self(user?, paging))
    }
}

async fn list_of_user(
    cx: Context,
    DevicesOfUser(user, paging): DevicesOfUser,
) -> Result<PagedResponse<DeviceOut>> {
    PagedResponse::read(cx, user, paging, async |cx, user, after, limit| {
        Ok(cx.app().devices.of_user(&cx.call, &user, after, limit).await?.map(Into::into))
    })
    .await
}

struct DevicesOnNetwork(Network, Paging);

impl Input for DevicesOnNetwork {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let (network, paging) = (from.path("network", "The network"), Paging::read(from));
        Some(Self(network?, paging))
    }
}

async fn list_on_network(
    cx: Context,
    DevicesOnNetwork(network, paging): DevicesOnNetwork,
) -> Result<PagedResponse<DeviceOut>> {
    PagedResponse::read(cx, network, paging, async |cx, network, after, limit| {
        Ok(cx.app().devices.on_network(&cx.call, &network, after, limit).await?.map(Into::into))
    })
    .await
}

/// Totals over all devices.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DeviceStatistics {
    total_devices: i64,
    network_distribution: BTreeMap<String, i64>,
    /// By user; with `top` those with most devices first
    #[serde(serialize_with = "in_order")]
    #[schema(value_type = BTreeMap<String, i64>)]
    user_distribution: Vec<(String, i64)>,
}

fn in_order<S: Serializer>(counts: &[(String, i64)], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(counts.iter().map(|(name, count)| (name, count)))
}

struct Top(Option<usize>);

impl Input for Top {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let top = from.query::<Limit<1000>>("top", "Only so many users, those with most devices");
        Some(Self(top.map(|top| top.0)))
    }
}

async fn statistics(cx: Context, Top(top): Top) -> Result<Json<DeviceStatistics>> {
    let statistics = cx.app().devices.statistics(&cx.call, top).await?;
    Ok(Json(DeviceStatistics {
        total_devices: statistics.total,
        network_distribution: statistics.by_network.into_iter().collect(),
        user_distribution: statistics.by_user,
    }))
}
