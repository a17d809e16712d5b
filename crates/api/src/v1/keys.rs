//! `/v1/keys`: a user's own API keys, and everybody's for the operator.

use portico_app::Actor;
use portico_domain::keys::{Key, KeyFilter, KeyScope, ScopeKind};
use portico_domain::{KeyId, Label, Timestamp, UserId};
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::access::{BEARER, BEARER_OR_OPERATOR, OPERATORS_ONLY};
use crate::input::{Input, Reader};
use crate::operation::{Context, Operation, delete, get, post, with_tag};
use crate::paging::{PagedResponse, Paging};
use crate::problem::{Problem, Result};
use crate::reply::{Created, Json, Message, message};

pub(crate) fn operations() -> Vec<Operation> {
    with_tag(
        "Keys",
        vec![
            post("/v1/keys", BEARER, create)
                .id("createKey")
                .about("Send an `Idempotency-Key`: a retry then makes no second key.")
                .summary("Makes an API key that is bound to the caller; its secret is shown once")
                .conflict("The caller has as many keys as is possible"),
            get("/v1/keys", BEARER, list)
                .id("listKeys")
                .about("Without secrets, oldest first.")
                .summary("The caller's keys"),
            delete("/v1/keys/{id}", BEARER_OR_OPERATOR, revoke)
                .id("revokeKey")
                .about("A revoked key is refused from the next request on.")
                .summary("Revokes one of the caller's keys, or for an operator any, at once and for good")
                .not_found("The caller has no such key"),
            get("/v1/keys/all", OPERATORS_ONLY, list_all)
                .id("listAllKeys")
                .about("Without secrets.")
                .summary("Everybody's keys, or those of one scope or owner, the newest first"),
        ],
    )
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
    /// From when on it is not accepted, if it expires
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    expires_at: Option<Timestamp>,
    /// When it was last used, to about a minute
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    last_used_at: Option<Timestamp>,
    /// When it was revoked, if it was
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>, format = DateTime, nullable = false)]
    revoked_at: Option<Timestamp>,
    scope: ScopeKind,
    /// The account or the user that it is bound to
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    owner: Option<String>,
}

impl From<Key> for KeyOut {
    fn from(key: Key) -> Self {
        Self {
            scope: key.scope.kind(),
            owner: key.scope.owner().map(Into::into),
            id: key.id.into(),
            name: key.name.into(),
            created_at: key.created_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
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
    /// The whole key, for `X-API-Key`. It is shown once: a retry with the same `Idempotency-Key` gets only the id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    api_key: Option<String>,
}

/// The access rule admits only bearers.
fn user(cx: &Context) -> Result<UserId> {
    match &cx.call.actor {
        Actor::User { user, .. } => Ok(user.clone()),
        _ => Err(Problem::internal("an operation for users was called by someone else")),
    }
}

struct Create {
    name: Label,
    expires_at: Option<Timestamp>,
}

impl Input for Create {
    const BODY: bool = true;
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let mut body = from.body();
        let name = body.required("name", "What the key is for");
        let expires_at = body.optional("expiresAt", "From when on it is not accepted; never if absent");
        Some(Self { name: name?, expires_at })
    }
    fn example() -> Option<Value> {
        Some(json!({"name": "my laptop", "expiresAt": "2099-12-31T23:59:59Z"}))
    }
}

async fn create(cx: Context, Create { name, expires_at }: Create) -> Result<Created<KeyCreated>> {
    let key = cx.app().keys.create(&cx.call, name, KeyScope::User(user(&cx)?), expires_at).await?;
    let api_key = key.expose_secret().map(Into::into);
    let message = match api_key {
        Some(_) => "Key created",
        None => "Key created before: its secret was shown once",
    };
    Ok(Created::at(&["v1", "keys"], KeyCreated { message, id: key.id.into(), api_key }))
}

/// The caller's keys, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Keys)]
struct KeyList(Vec<KeyOut>);

async fn list(cx: Context, (): ()) -> Result<Json<KeyList>> {
    let keys = cx.app().keys.own(&cx.call).await?;
    Ok(Json(KeyList(keys.into_iter().map(Into::into).collect())))
}

struct ListAll(KeyFilter, Paging);

impl Input for ListAll {
    fn read(from: &mut Reader<'_>) -> Option<Self> {
        let scope = from.query("scope", "Only keys of this scope");
        let owner = from.query("owner", "Only keys that are bound to this account or user");
        Some(Self(KeyFilter { scope, owner }, Paging::read(from)))
    }
}

async fn list_all(cx: Context, ListAll(filter, paging): ListAll) -> Result<PagedResponse<KeyOut>> {
    let reader = cx.app().keys.reader(&cx.call, filter).await?;
    PagedResponse::read(cx, reader, paging, async |_, reader, after, limit| {
        Ok(reader.page(after, limit).await?.map(Into::into))
    })
    .await
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
