//! `/v1/keys`: a user's own API keys.

use portico_app::Actor;
use portico_domain::keys::{Key, KeyScope};
use portico_domain::{KeyId, Label, Timestamp, UserId};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::BEARER;
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post};
use crate::problem::{Problem, Result};
use crate::reply::{Created, Json, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    let all = vec![
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
