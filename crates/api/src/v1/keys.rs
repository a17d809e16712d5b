//! `/v1/keys`: a user's own API keys, and the sandbox's sign-in.

use portico_app::{Actor, Profile};
use portico_domain::keys::{Key, KeyScope};
use portico_domain::{KeyId, Label, Timestamp, UserId};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::{BEARER, PUBLIC};
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post};
use crate::problem::{Problem, Result};
use crate::reply::{Created, Json, Message, message};

pub(crate) fn operations(profile: Profile) -> Vec<Operation> {
    let mut all = vec![
        post("/v1/keys", BEARER, create)
            .id("createKey")
            .summary("Makes an API key that is bound to the caller; its secret is shown once")
            .conflict("The caller has as many keys as is possible"),
        get("/v1/keys", BEARER, list).id("listKeys").summary("The caller's keys"),
        delete("/v1/keys/{id}", BEARER, revoke)
            .id("revokeKey")
            .summary("Revokes one of the caller's keys, at once and for good")
            .not_found("The caller has no such key"),
    ];
    if profile == Profile::Sandbox {
        all.push(
            post("/v1/sandbox/sessions", PUBLIC, open_session)
                .id("openSandboxSession")
                .summary("A token and a key for any user; in the sandbox only"),
        );
        all.push(
            post("/v1/sandbox/demo", PUBLIC, seed)
                .id("seedDemo")
                .summary("Makes demonstration data, once; in the sandbox only"),
        );
    }
    all.into_iter().map(|operation| operation.tagged("Keys")).collect()
}

/// A key without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Key)]
struct KeyOut {
    id: String,
    name: String,
    #[schema(value_type = String, format = DateTime)]
    created_at: Timestamp,
    /// When it was revoked, if it was
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    revoked_at: Option<Timestamp>,
}

impl From<Key> for KeyOut {
    fn from(key: Key) -> Self {
        Self {
            id: key.id.into(),
            name: key.name.into(),
            created_at: key.created_at,
            revoked_at: key.revoked_at,
        }
    }
}

/// A new key.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct KeyCreated {
    message: &'static str,
    id: String,
    /// The whole key, for `X-API-Key`. It is not shown again.
    api_key: String,
}

/// The access rule admits only bearers.
fn user(cx: &Context) -> Result<UserId> {
    match &cx.call.actor {
        Actor::User { user, .. } => Ok(user.clone()),
        _ => Err(Problem::internal("an operation for users was called by someone else")),
    }
}

struct Create(Label);

impl Input for Create {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.body().required("name", "What the key is for").map(Self)
    }
    fn example() -> Option<Value> {
        Some(json!({"name": "my laptop"}))
    }
}

async fn create(cx: Context, Create(name): Create) -> Result<Created<KeyCreated>> {
    let key = cx.app().keys.create(&cx.call, name, KeyScope::User(user(&cx)?)).await?;
    Ok(Created(KeyCreated { message: "Key created", id: key.id.into(), api_key: key.secret }))
}

/// The caller's keys, oldest first.
#[derive(Debug, Serialize, ToSchema)]
struct Keys(Vec<KeyOut>);

async fn list(cx: Context, (): ()) -> Result<Json<Keys>> {
    let keys = cx.app().keys.own(&cx.call).await?;
    Ok(Json(Keys(keys.into_iter().map(Into::into).collect())))
}

struct Revoke(KeyId);

impl Input for Revoke {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.path("id", "The key's id").map(Self)
    }
}

async fn revoke(cx: Context, Revoke(id): Revoke) -> Result<Json<Message>> {
    cx.app().keys.revoke(&cx.call, id).await?;
    Ok(Json(message("Key revoked")))
}

/// What was made.
#[derive(Debug, Serialize, ToSchema)]
struct Seeded {
    message: &'static str,
    /// Listings
    listings: u64,
    /// People with a result
    people: u64,
    /// Applications
    applications: u64,
    /// Templates and portfolios
    portfolios: u64,
    /// Devices
    devices: u64,
}

async fn seed(cx: Context, (): ()) -> Result<Created<Seeded>> {
    let seeded = cx.app().seed_demo(&cx.call, |_, _| ()).await?;
    Ok(Created(Seeded {
        message: "Demonstration data is there",
        listings: seeded.listings,
        people: seeded.people,
        applications: seeded.applications,
        portfolios: seeded.portfolios,
        devices: seeded.devices,
    }))
}

struct OpenSession(UserId);

impl Input for OpenSession {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        from.body().required("userId", "Whom to act as").map(Self)
    }
    fn example() -> Option<Value> {
        Some(json!({"userId": "ada"}))
    }
}

/// Credentials of a user.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct Session {
    /// For `Authorization: Bearer`
    token: String,
    /// For `X-API-Key`
    api_key: String,
}

async fn open_session(cx: Context, OpenSession(user): OpenSession) -> Result<Created<Session>> {
    let session = cx.app().keys.open_session(&cx.call, user).await?;
    Ok(Created(Session { token: session.token, api_key: session.key.secret }))
}
