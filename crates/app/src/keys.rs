//! API keys: made from 256 random bits, shown once, kept as a digest, compared in constant time.

use std::sync::Arc;

use std::time::Duration;

use aws_lc_rs::constant_time::verify_slices_are_equal;
use aws_lc_rs::digest::{SHA256, digest};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine};
use portico_domain::keys::{Key, KeyScope};
use portico_domain::{ErrorCode, KeyId, Label, UserId};
use portico_store::{CreateKey, RevokeKey, StoredKey};
use serde::{Deserialize, Serialize};

use crate::access::{must_be_operator, signed_in};
use crate::core::answering;
use crate::tokens::NewToken;
use crate::vault::ROOT_BYTES;
use crate::{Actor, Call, Core, Error, Profile, Result};

const NOT_VALID: Error = Error::Unauthenticated("the API key is not valid");

/// A new key. The secret is never shown again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct NewKey {
    pub id: KeyId,
    /// The whole key, as it is presented.
    pub secret: String,
}

/// How many working keys one user or account may have.
const MAX_KEYS: i64 = 100;
/// How long a session of the sandbox lasts.
const SESSION: Duration = Duration::from_hours(12);

/// What the sandbox gives to whoever wants to act as a user.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    pub token: String,
    /// A key that is bound to the user.
    pub key: NewKey,
}

fn sha256(text: &str) -> Vec<u8> {
    digest(&SHA256, text.as_bytes()).as_ref().to_vec()
}

/// Credentials: API keys and tokens.
#[derive(Debug)]
pub struct Keys {
    pub(crate) core: Arc<Core>,
}

impl Keys {
    /// Creates a key: people for themselves, the operator for everybody.
    pub async fn create(&self, call: &Call, name: Label, scope: KeyScope) -> Result<NewKey> {
        match (&call.actor, &scope) {
            (Actor::User { user: own, .. }, KeyScope::User(user)) if own == user => {}
            (actor, _) => must_be_operator(actor)?,
        }
        // The sandbox makes a key per session, so that counting them would only get in the way.
        let limit = (self.core.profile == Profile::Live).then_some(MAX_KEYS);
        let (op, key) = self.new_key(call, name, scope, limit)?;
        let bound = match &op.key.key.scope {
            KeyScope::Operator => "to nobody".to_owned(),
            KeyScope::Account(account) => format!("to account {account}"),
            KeyScope::User(user) => format!("to user {user}"),
        };
        let entry = Some(self.core.entry(call, "key.created", key.id.as_str(), bound));
        self.core.write(call, answering(CreateKey { entry, ..op }, key)).await
    }

    /// A token and a key for any user: the sandbox's way of signing in.
    pub async fn open_session(&self, call: &Call, user: UserId) -> Result<Session> {
        if self.core.profile != Profile::Sandbox {
            return Err(Error::NotFound(ErrorCode::NotFound));
        }
        let token = NewToken { user: user.clone(), account: None, admin: false, ttl: SESSION };
        let token = self.core.tokens.issue(&token, self.core.clock.now())?;
        let (op, key) = self.new_key(call, Label::stored("Sandbox session"), KeyScope::User(user), None)?;
        self.core.write(call, answering(op, Session { token, key })).await
    }

    /// A key that is to be stored, and what its owner is told.
    fn new_key(
        &self,
        call: &Call,
        name: Label,
        scope: KeyScope,
        limit: Option<i64>,
    ) -> Result<(CreateKey, NewKey)> {
        let id = format!("{:016x}", u64::from_be_bytes(self.core.random()?));
        let mode = self.core.profile.key_prefix();
        let secret =
            format!("{mode}_{id}_{}", BASE64_URL_SAFE_NO_PAD.encode(self.core.random::<ROOT_BYTES>()?));
        let id = KeyId::stored(id);
        let by = self.core.context(call);
        let key = Key { id: id.clone(), name, scope, created_at: by.at, revoked_at: None };
        let op = CreateKey { key: StoredKey { digest: sha256(&secret), key }, limit, entry: None, by };
        Ok((op, NewKey { id, secret }))
    }

    /// The keys that are bound to the caller.
    pub async fn own(&self, call: &Call) -> Result<Vec<Key>> {
        let (user, _) = signed_in(&call.actor)?;
        Ok(self.core.db.keys(Some(user)).await?)
    }

    /// All keys.
    pub async fn all(&self, call: &Call) -> Result<Vec<Key>> {
        must_be_operator(&call.actor)?;
        Ok(self.core.db.keys(None).await?)
    }

    /// Revokes a key. People may revoke only keys that are bound to themselves.
    pub async fn revoke(&self, call: &Call, id: KeyId) -> Result<()> {
        if !call.actor.is_operator() {
            let (user, _) = signed_in(&call.actor)?;
            let key = self.core.db.key(&id).await?;
            if !key.is_some_and(|stored| stored.key.scope == KeyScope::User(user.clone())) {
                return Err(Error::NotFound(ErrorCode::KeyNotFound));
            }
        }
        let (by, entry) = (self.core.context(call), self.core.entry(call, "key.revoked", id.as_str(), ""));
        self.core.write(call, RevokeKey { id, entry, by }).await
    }

    /// Whose token this is, if it is valid.
    pub async fn verify_token(&self, token: &str) -> Result<Actor> {
        self.core.tokens.verify(token, self.core.clock.now()).await
    }

    /// The public keys of the instance's own tokens.
    pub fn jwks(&self) -> serde_json::Value {
        self.core.tokens.jwks()
    }

    /// Whose key this is, if it is valid and not revoked.
    pub async fn verify(&self, presented: &str) -> Result<Actor> {
        // A sandbox gives keys to anybody: none of them works on a live instance.
        let (prefix, rest) = presented.split_once('_').ok_or(NOT_VALID)?;
        if prefix != self.core.profile.key_prefix() {
            return Err(NOT_VALID);
        }
        let id = rest.split('_').next().ok_or(NOT_VALID)?;
        let id = KeyId::parse(id).map_err(|_| NOT_VALID)?;
        let stored = self.core.db.key(&id).await?.ok_or(NOT_VALID)?;
        verify_slices_are_equal(&stored.digest, &sha256(presented)).map_err(|_| NOT_VALID)?;
        match stored.key.revoked_at {
            None => Ok(Actor::Key { id: stored.key.id, scope: stored.key.scope }),
            Some(_) => Err(NOT_VALID),
        }
    }
}
