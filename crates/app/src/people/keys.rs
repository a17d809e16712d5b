//! API keys: 256 random bits, shown once, stored as a digest, compared in constant time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use portico_domain::keys::{Key, KeyFilter, KeyScope, ScopeKind};
use portico_domain::{ErrorCode, FaultCode, KeyId, Label, Timestamp, UserId, ValidationError};
use portico_store::{ChangeContext, CreateKey, NoteKeyUse, RevokeKey, StoredKey};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use tracing::Instrument as _;

use crate::caller::{Actor, CallContext, require_operator};
use crate::core::Core;
use crate::core::answering;
use crate::error::{Error, Result};
use crate::people::access::signed_in;
use crate::people::tokens::NewToken;
use crate::people::vault::ROOT_BYTES;
use crate::profile::Profile;
use portico_store::{Cursor, Page};

const NOT_VALID: Error = Error::Unauthenticated(Cow::Borrowed("the API key is not valid"));

/// A key that was made.
#[derive(Debug)]
pub struct NewKey {
    pub id: KeyId,
    /// `None`: it was made by an earlier call with the same idempotency key, which got the secret.
    secret: Option<SecretString>,
}

impl NewKey {
    /// The whole key, as clients present it.
    pub fn expose_secret(&self) -> Option<&str> {
        self.secret.as_ref().map(ExposeSecret::expose_secret)
    }
}

/// The reply that is stored for an idempotency key: never the secret.
#[derive(Clone, Serialize, Deserialize)]
struct CreatedKey {
    id: KeyId,
}

/// Active keys per user or account.
const MAX_KEYS: i64 = 100;
const SESSION_LIFETIME: Duration = Duration::from_hours(12);

/// Of one key, by one process: how often its last use is stored.
const KEY_USE_INTERVAL_SECONDS: i64 = 60;
const MAX_NOTED_KEYS: usize = 10_000;

/// Credentials for any user of the sandbox.
pub struct Session {
    pub token: String,
    /// Bound to the user.
    pub key: NewKey,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Session")
    }
}

fn sha256(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

/// Reads everybody's keys, without their secrets.
#[derive(Debug)]
pub struct KeyReader {
    core: Arc<Core>,
    filter: KeyFilter,
}

impl KeyReader {
    pub async fn page(&self, after: Option<Cursor>, limit: usize) -> Result<Page<Key>> {
        Ok(self.core.db.newest_keys(&self.filter, after, limit).await?)
    }
}

#[derive(Debug)]
pub struct Keys {
    pub(crate) core: Arc<Core>,
    /// When the last use of a key was stored.
    pub(crate) uses_noted: Mutex<HashMap<KeyId, Timestamp>>,
}

impl Keys {
    /// Users create keys for themselves, the operator for everyone.
    pub async fn create(
        &self,
        call: &CallContext,
        name: Label,
        scope: KeyScope,
        expires_at: Option<Timestamp>,
    ) -> Result<NewKey> {
        match (&call.actor, &scope) {
            (Actor::User { user: own, .. }, KeyScope::User(user)) if own == user => {}
            (actor, _) => require_operator(actor)?,
        }
        if expires_at.is_some_and(|at| at <= self.core.clock.machine_now()) {
            let fault = ValidationError::new(FaultCode::InThePast, "must be in the future");
            return Err(Error::Invalid { pointer: "/expiresAt", fault });
        }
        // The sandbox creates a key per session, so it has no limit.
        let limit = (self.core.profile == Profile::Live).then_some(MAX_KEYS);
        let (op, mut key) = self.new_key(call, name, scope, expires_at, limit)?;
        let bound = match &op.key.key.scope {
            KeyScope::Operator => "to nobody".to_owned(),
            KeyScope::Account(account) => format!("to account {account}"),
            KeyScope::User(user) => format!("to user {user}"),
        };
        let entry = Some(self.core.entry(call, "key.created", key.id.as_str(), bound));
        let reply = CreatedKey { id: key.id.clone() };
        let created = self.core.write(call, answering(CreateKey { entry, ..op }, reply)).await?;
        if created.id != key.id {
            key = NewKey { id: created.id, secret: None };
        }
        Ok(key)
    }

    /// A token for any user. The audit entry has the token's id, but neither user nor account.
    pub async fn issue_token(&self, call: &CallContext, token: &NewToken) -> Result<String> {
        require_operator(&call.actor)?;
        let id = self.random_id()?;
        let issued = self.core.people.tokens.issue(token, id.clone(), self.core.clock.machine_now())?;
        let whose = if token.admin { "an administrator's" } else { "a user's" };
        let detail = format!("{whose}, for {} s", token.ttl.as_secs());
        self.core.append_audit_entry(self.core.entry(call, "token.issued", id, detail)).await?;
        Ok(issued)
    }

    /// The sandbox's sign-in: a token and a key for any user. A retry opens another session, because no secret is stored.
    /// `admin`: the token is an operator's; the key stays bound to the user.
    pub async fn open_session(&self, call: &CallContext, user: UserId, admin: bool) -> Result<Session> {
        if self.core.profile != Profile::Sandbox {
            return Err(Error::NotFound(ErrorCode::NotFound));
        }
        let token = NewToken { user: user.clone(), account: None, admin, ttl: SESSION_LIFETIME };
        let token =
            self.core.people.tokens.issue(&token, self.random_id()?, self.core.clock.machine_now())?;
        let (op, key) =
            self.new_key(call, Label::stored("Sandbox session"), KeyScope::User(user), None, None)?;
        self.core.db.write(op).await?;
        Ok(Session { token, key })
    }

    fn random_id(&self) -> Result<String> {
        Ok(format!("{:016x}", u64::from_be_bytes(self.core.random()?)))
    }

    fn new_key(
        &self,
        call: &CallContext,
        name: Label,
        scope: KeyScope,
        expires_at: Option<Timestamp>,
        limit: Option<i64>,
    ) -> Result<(CreateKey, NewKey)> {
        let id = self.random_id()?;
        let mode = self.core.profile.key_prefix();
        let secret =
            format!("{mode}_{id}_{}", BASE64_URL_SAFE_NO_PAD.encode(self.core.random::<ROOT_BYTES>()?));
        let id = KeyId::stored(id);
        let by = self.context(call);
        let key = Key {
            id: id.clone(),
            name,
            scope,
            created_at: by.at,
            expires_at,
            last_used_at: None,
            revoked_at: None,
        };
        let op = CreateKey { key: StoredKey { digest: sha256(&secret), key }, limit, entry: None, by };
        Ok((op, NewKey { id, secret: Some(secret.into()) }))
    }

    pub async fn own(&self, call: &CallContext) -> Result<Vec<Key>> {
        let (user, _) = signed_in(&call.actor)?;
        Ok(self.core.db.keys(Some(user)).await?)
    }

    pub async fn all(&self, call: &CallContext) -> Result<Vec<Key>> {
        require_operator(&call.actor)?;
        Ok(self.core.db.keys(None).await?)
    }

    /// Opens the matching keys for reading, newest first, and audits the read.
    pub async fn reader(&self, call: &CallContext, filter: KeyFilter) -> Result<KeyReader> {
        require_operator(&call.actor)?;
        let whose = filter.owner.as_ref().map_or("every key", Label::as_str);
        let scope = filter.scope.map_or("", ScopeKind::as_str);
        self.core.append_audit_entry(self.core.entry(call, "keys.listed", whose, scope)).await?;
        Ok(KeyReader { core: self.core.clone(), filter })
    }

    /// Users may revoke only their own keys.
    pub async fn revoke(&self, call: &CallContext, id: KeyId) -> Result<()> {
        if !call.actor.is_operator() {
            let (user, _) = signed_in(&call.actor)?;
            let key = self.core.db.key(&id).await?;
            if !key.is_some_and(|stored| stored.key.scope == KeyScope::User(user.clone())) {
                return Err(Error::NotFound(ErrorCode::KeyNotFound));
            }
        }
        let (by, entry) = (self.context(call), self.core.entry(call, "key.revoked", id.as_str(), ""));
        self.core.write(call, RevokeKey { id, entry, by }).await
    }

    /// With the machine's time: a sandbox's clock that is moved changes no key.
    fn context(&self, call: &CallContext) -> ChangeContext {
        ChangeContext { account: call.actor.tenant(), at: self.core.clock.machine_now() }
    }

    pub async fn verify_token(&self, token: &str) -> Result<Actor> {
        self.core.people.tokens.verify(token, self.core.clock.machine_now()).await
    }

    /// The public keys of the instance's own issuer.
    pub fn jwks(&self) -> serde_json::Value {
        self.core.people.tokens.jwks()
    }

    /// Rejects invalid, expired and revoked keys.
    pub async fn verify(&self, presented: &str) -> Result<Actor> {
        // A sandbox gives keys to anyone, so none of them works on a live instance.
        let (prefix, rest) = presented.split_once('_').ok_or(NOT_VALID)?;
        if prefix != self.core.profile.key_prefix() {
            return Err(NOT_VALID);
        }
        let id = rest.split('_').next().ok_or(NOT_VALID)?;
        let id = KeyId::parse(id).map_err(|_| NOT_VALID)?;
        let stored = self.core.db.key(&id).await?.ok_or(NOT_VALID)?;
        verify_slices_are_equal(&stored.digest, &sha256(presented)).map_err(|_| NOT_VALID)?;
        let now = self.core.clock.machine_now();
        if !stored.key.is_valid(now) {
            return Err(NOT_VALID);
        }
        self.note_use(&stored.key.id, now);
        Ok(Actor::Key { id: stored.key.id, scope: stored.key.scope })
    }

    /// In the background: a request must not wait for it, or fail with it.
    fn note_use(&self, id: &KeyId, now: Timestamp) {
        let mut noted = self.uses_noted.lock().unwrap_or_else(PoisonError::into_inner);
        if noted.get(id).is_some_and(|at| *at > now.minus_seconds(KEY_USE_INTERVAL_SECONDS)) {
            return;
        }
        if noted.len() >= MAX_NOTED_KEYS {
            noted.clear();
        }
        noted.insert(id.clone(), now);
        drop(noted);
        let (core, op) = (self.core.clone(), NoteKeyUse { id: id.clone(), at: now });
        let noted = async move {
            if let Err(error) = core.db.write(op).await {
                tracing::debug!(%error, "the use of a key was not noted");
            }
        };
        tokio::spawn(noted.in_current_span());
    }
}
